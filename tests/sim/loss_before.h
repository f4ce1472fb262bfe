/*
 * What loss cost a selective group before there were mirror connections and directed groups: mean
 * of 20 seeds with the model, 16 MB over 8 ranks, in percent of the time without loss. Commit
 * 28a4ae9 has the build, `bench_loss FILE 20 - - selective` the figures:
 *
 *	MTU     1e-5    1e-4    1e-3    1e-2
 *	1024    0.337   0.518   1.850   12.622
 *	4096    0.283   0.823   2.758   20.202
 *
 * They are the limits of today's build, rounded up to a tenth of a percent: a cycle more or less in
 * the box changes which packet a timer finds, and so the second digit.
 */
#ifndef RF_TESTS_LOSS_BEFORE_H
#define RF_TESTS_LOSS_BEFORE_H

/* Largest cost in percent of a mean of few seeds, which varies more. 0: no limit for such a loss.
 */
static inline double loss_before_few(double loss)
{
	return loss == 1e-4 ? 5 : loss == 1e-3 ? 10 : loss == 1e-2 ? 25 : 0;
}

/* The same of a mean of as many seeds as above. */
static inline double loss_before(unsigned int mtu, double loss)
{
	static const struct {
		double loss, percent[2]; /* MTU 1024, 4096 */
	} at[] = {{1e-5, {0.4, 0.3}}, {1e-4, {0.6, 0.9}}, {1e-3, {1.9, 2.8}}, {1e-2, {12.7, 20.3}}};

	for (unsigned int k = 0; k < sizeof(at) / sizeof(at[0]); k++)
		if (loss == at[k].loss)
			return at[k].percent[mtu == 4096];
	return 0;
}

#endif
