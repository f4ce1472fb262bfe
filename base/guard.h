/*
 * States which lock guards what. clang's thread-safety analysis checks it (tests/lint/guard.sh,
 * which sets RF_GUARD_CHECK); a build sees nothing but the calls of pthread.
 *
 * In C the analysis cannot name a member of the same struct. So a lock is named by its class: all
 * mutexes that are the same member of a struct. Two locks of one class at a time are a fault.
 *
 *	RF_LOCK_CLASS(hub_class);
 *	struct hub {
 *		pthread_mutex_t lock;
 *		unsigned int frames RF_GUARDED_BY(hub_class);
 *	};
 *	static void deliver(struct hub *hub) RF_REQUIRES(hub_class);
 *	...
 *	rf_mutex_lock(&hub->lock, hub_class);
 *	deliver(hub);
 *	rf_mutex_unlock(&hub->lock, hub_class);
 */
#ifndef RF_BASE_GUARD_H
#define RF_BASE_GUARD_H

#include <pthread.h>
#include <stdbool.h>

#ifdef RF_GUARD_CHECK
#define RF_GUARD(x) __attribute__((x))
#else
#define RF_GUARD(x)
#endif

struct RF_GUARD(capability("mutex")) rf_lock_class {
	char unused;
};

/* Only a name: there is no such object. */
#define RF_LOCK_CLASS(name) extern struct rf_lock_class name

/* A variable or member that may be used only while a lock of the class is held. */
#define RF_GUARDED_BY(class) RF_GUARD(guarded_by(class))
/* The same for what a pointer points to. */
#define RF_TARGET_GUARDED_BY(class) RF_GUARD(pt_guarded_by(class))
/* A function whose caller holds a lock of the class; or one whose caller must not hold one. */
#define RF_REQUIRES(class) RF_GUARD(requires_capability(class))
#define RF_EXCLUDES(class) RF_GUARD(locks_excluded(class))
/* A function that locks, or unlocks, and one that locks if it returns true. */
#define RF_ACQUIRES(class) RF_GUARD(acquire_capability(class))
#define RF_RELEASES(class) RF_GUARD(release_capability(class))
#define RF_TRIES(class) RF_GUARD(try_acquire_capability(true, class))
/* Not checked: the object is not shared yet, or no longer. Say why in a comment. */
#define RF_UNSHARED RF_GUARD(no_thread_safety_analysis)

#ifdef RF_GUARD_CHECK
/* Declared only: what the calls below do, for the analysis. */
void rf_class_lock(pthread_mutex_t *m, struct rf_lock_class *class) RF_ACQUIRES(*class);
void rf_class_unlock(pthread_mutex_t *m, struct rf_lock_class *class) RF_RELEASES(*class);
bool rf_class_trylock(pthread_mutex_t *m, struct rf_lock_class *class) RF_TRIES(*class);
#define rf_mutex_lock(mutex, class) rf_class_lock(mutex, &class)
#define rf_mutex_unlock(mutex, class) rf_class_unlock(mutex, &class)
#define rf_mutex_trylock(mutex, class) rf_class_trylock(mutex, &class)
#else
#define rf_mutex_lock(mutex, class) ((void)pthread_mutex_lock(mutex))
#define rf_mutex_unlock(mutex, class) ((void)pthread_mutex_unlock(mutex))
/* True: locked. */
#define rf_mutex_trylock(mutex, class) (pthread_mutex_trylock(mutex) == 0)
#endif

#endif
