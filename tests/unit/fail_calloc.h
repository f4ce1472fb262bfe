/* A calloc() that fails when a test wants it to; the program is linked with --wrap=calloc. */
#ifndef FAIL_CALLOC_H
#define FAIL_CALLOC_H

/* Allocation number fail_at (1 is the next) fails; 0: none does. */
extern int fail_at;

#endif
