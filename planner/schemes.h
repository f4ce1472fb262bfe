/*
 * All schemes. Each is a function of scheme.h's type; scheme_run adds the steps that are common to
 * all of them.
 */
#ifndef RF_PLANNER_SCHEMES_H
#define RF_PLANNER_SCHEMES_H

#include "planner/scheme.h"

struct plan *scheme_ring(const struct topology *t, const struct scheme_options *o,
			 struct topo_error *e);
struct plan *scheme_ring_both(const struct topology *t, const struct scheme_options *o,
			      struct topo_error *e);
struct plan *scheme_hierarchical_ring(const struct topology *t, const struct scheme_options *o,
				      struct topo_error *e);
struct plan *scheme_ps(const struct topology *t, const struct scheme_options *o,
		       struct topo_error *e);
struct plan *scheme_switchml(const struct topology *t, const struct scheme_options *o,
			     struct topo_error *e);
struct plan *scheme_atp(const struct topology *t, const struct scheme_options *o,
			struct topo_error *e);
struct plan *scheme_atp_whole(const struct topology *t, const struct scheme_options *o,
			      struct topo_error *e);
struct plan *scheme_atp_bom(const struct topology *t, const struct scheme_options *o,
			    struct topo_error *e);
struct plan *scheme_netreduce_rack(const struct topology *t, const struct scheme_options *o,
				   struct topo_error *e);
struct plan *scheme_netreduce_spine(const struct topology *t, const struct scheme_options *o,
				    struct topo_error *e);
struct plan *scheme_rina_agent(const struct topology *t, const struct scheme_options *o,
			       struct topo_error *e);
struct plan *scheme_rina_switch(const struct topology *t, const struct scheme_options *o,
				struct topo_error *e);
struct plan *scheme_grid(const struct topology *t, const struct scheme_options *o,
			 struct topo_error *e);
struct plan *scheme_grid_exact(const struct topology *t, const struct scheme_options *o,
			       struct topo_error *e);
struct plan *scheme_grid_classes(const struct topology *t, const struct scheme_options *o,
				 struct topo_error *e);
struct plan *scheme_inart(const struct topology *t, const struct scheme_options *o,
			  struct topo_error *e);
struct plan *scheme_inart_equal(const struct topology *t, const struct scheme_options *o,
				struct topo_error *e);
struct plan *scheme_inart_exact(const struct topology *t, const struct scheme_options *o,
				struct topo_error *e);
struct plan *scheme_forest(const struct topology *t, const struct scheme_options *o,
			   struct topo_error *e);
struct plan *scheme_forestcoll(const struct topology *t, const struct scheme_options *o,
			       struct topo_error *e);
struct plan *scheme_best(const struct topology *t, const struct scheme_options *o,
			 struct topo_error *e);

#endif
