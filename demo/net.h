/*
 * A multilayer perceptron in fp32: one hidden layer of rectifiers, softmax, cross entropy, gradient
 * descent with momentum. Only +, -, *, / and comparisons, so that the same inputs give the same
 * bits with every compiler and C library.
 */
#ifndef RF_DEMO_NET_H
#define RF_DEMO_NET_H

#include <stddef.h>
#include <stdint.h>

#include "demo/digits.h"

struct net {
	unsigned int hidden;
	size_t count;    /* number of parameters */
	float *weight;   /* count: hidden x 64, hidden, 10 x hidden, 10 */
	float *velocity; /* count */
	float *unit;     /* hidden: activations */
	float *delta;    /* hidden */
};

/* Returns 0, or -1 if out of memory. Weights are drawn from the seed. */
int net_init(struct net *net, unsigned int hidden, uint64_t seed);
void net_free(struct net *net);

/*
 * Adds the gradient of one digit's loss, times scale, to gradient[count], and the loss itself,
 * times scale, to gradient[count].
 */
void net_gradient(struct net *net, const struct digit *digit, float scale, float *gradient);

/* Takes one step along the gradient. */
void net_step(struct net *net, const float *gradient, float rate, float momentum);

/* The digit recognised by the net. */
int net_answer(struct net *net, const struct digit *digit);

/*
 * A hash that is equal for two sets of weights only if they are equal bit for bit (FNV-1a, 64
 * bits).
 */
uint64_t net_digest(const struct net *net);

/* xorshift64*; the state must not be 0. */
uint64_t net_random(uint64_t *state);

#endif
