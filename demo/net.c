/*
 * The perceptron.
 */
#include "demo/net.h"

#include <stdlib.h>
#include <string.h>

uint64_t net_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in [-1, 1), a multiple of 2^-23. */
static float random_unit(uint64_t *state)
{
	return (float)((int)(net_random(state) >> 40) - (1 << 23)) / 8388608.0f;
}

int net_init(struct net *net, unsigned int hidden, uint64_t seed)
{
	size_t first = (size_t)hidden * DIGIT_PIXELS;
	size_t k;

	memset(net, 0, sizeof(*net));
	net->hidden = hidden;
	net->count = first + hidden + (size_t)hidden * DIGIT_CLASSES + DIGIT_CLASSES;
	net->weight = calloc(net->count, sizeof(float));
	net->velocity = calloc(net->count, sizeof(float));
	net->unit = calloc(hidden, sizeof(float));
	net->delta = calloc(hidden, sizeof(float));
	if (!net->weight || !net->velocity || !net->unit || !net->delta) {
		net_free(net);
		return -1;
	}
	seed = seed * 2 + 1;
	for (k = 0; k < first; k++)
		net->weight[k] = random_unit(&seed) * 0.25f;
	for (k = 0; k < (size_t)hidden * DIGIT_CLASSES; k++)
		net->weight[first + hidden + k] = random_unit(&seed) * 0.25f;
	return 0;
}

void net_free(struct net *net)
{
	free(net->weight);
	free(net->velocity);
	free(net->unit);
	free(net->delta);
	memset(net, 0, sizeof(*net));
}

/* e^x for x in [-80, 0]: x = n ln2 + r, a polynomial for e^r, n into the exponent. */
static float exp_of(float x)
{
	const float ln2 = 0.69314718f;
	float r, p;
	int n;

	if (x < -80.0f)
		return 0.0f;
	n = (int)(x / ln2 - 0.5f);
	r = x - (float)n * ln2;
	p = 1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6.0f + r * (1.0f / 24.0f + r / 120.0f))));
	for (; n < 0; n++)
		p *= 0.5f;
	return p;
}

/* ln x for x in (0, 1]: x = m 2^n, a series in (m - 1) / (m + 1). */
static float log_of(float x)
{
	const float ln2 = 0.69314718f;
	float t, t2;
	int n = 0;

	if (x < 1e-30f)
		x = 1e-30f;
	for (; x < 0.70710678f; n++)
		x *= 2.0f;
	t = (x - 1.0f) / (x + 1.0f);
	t2 = t * t;
	return 2.0f * t * (1.0f + t2 * (1.0f / 3.0f + t2 * (0.2f + t2 / 7.0f))) - (float)n * ln2;
}

/* Activations and probabilities of the classes. */
static void forward(struct net *net, const struct digit *digit, float probability[DIGIT_CLASSES])
{
	const float *w1 = net->weight;
	const float *b1 = w1 + (size_t)net->hidden * DIGIT_PIXELS;
	const float *w2 = b1 + net->hidden;
	const float *b2 = w2 + (size_t)net->hidden * DIGIT_CLASSES;
	float most, sum = 0.0f;
	unsigned int h, k, c;

	for (h = 0; h < net->hidden; h++) {
		float s = b1[h];

		for (k = 0; k < DIGIT_PIXELS; k++)
			s += w1[h * DIGIT_PIXELS + k] * digit->pixel[k];
		net->unit[h] = s > 0.0f ? s : 0.0f;
	}
	for (c = 0; c < DIGIT_CLASSES; c++) {
		float s = b2[c];

		for (h = 0; h < net->hidden; h++)
			s += w2[c * net->hidden + h] * net->unit[h];
		probability[c] = s;
	}
	most = probability[0];
	for (c = 1; c < DIGIT_CLASSES; c++)
		most = probability[c] > most ? probability[c] : most;
	for (c = 0; c < DIGIT_CLASSES; c++) {
		probability[c] = exp_of(probability[c] - most);
		sum += probability[c];
	}
	for (c = 0; c < DIGIT_CLASSES; c++)
		probability[c] /= sum;
}

void net_gradient(struct net *net, const struct digit *digit, float scale, float *gradient)
{
	const float *w2 = net->weight + (size_t)net->hidden * (DIGIT_PIXELS + 1);
	float *g1 = gradient;
	float *gb1 = g1 + (size_t)net->hidden * DIGIT_PIXELS;
	float *g2 = gb1 + net->hidden;
	float *gb2 = g2 + (size_t)net->hidden * DIGIT_CLASSES;
	float p[DIGIT_CLASSES];
	unsigned int h, k, c;

	forward(net, digit, p);
	gradient[net->count] -= scale * log_of(p[digit->label]);
	memset(net->delta, 0, net->hidden * sizeof(float));
	for (c = 0; c < DIGIT_CLASSES; c++) {
		float d = (p[c] - (c == (unsigned int)digit->label ? 1.0f : 0.0f)) * scale;

		gb2[c] += d;
		for (h = 0; h < net->hidden; h++) {
			g2[c * net->hidden + h] += d * net->unit[h];
			net->delta[h] += d * w2[c * net->hidden + h];
		}
	}
	for (h = 0; h < net->hidden; h++) {
		if (net->unit[h] <= 0.0f)
			continue;
		gb1[h] += net->delta[h];
		for (k = 0; k < DIGIT_PIXELS; k++)
			g1[h * DIGIT_PIXELS + k] += net->delta[h] * digit->pixel[k];
	}
}

void net_step(struct net *net, const float *gradient, float rate, float momentum)
{
	size_t k;

	for (k = 0; k < net->count; k++) {
		net->velocity[k] = momentum * net->velocity[k] - rate * gradient[k];
		net->weight[k] += net->velocity[k];
	}
}

int net_answer(struct net *net, const struct digit *digit)
{
	float p[DIGIT_CLASSES];
	int best = 0;
	int c;

	forward(net, digit, p);
	for (c = 1; c < DIGIT_CLASSES; c++)
		if (p[c] > p[best])
			best = c;
	return best;
}

uint64_t net_digest(const struct net *net)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t k;
	int b;

	for (k = 0; k < net->count; k++) {
		uint32_t bits;

		memcpy(&bits, &net->weight[k], sizeof(bits));
		for (b = 0; b < 32; b += 8) {
			hash ^= bits >> b & 255;
			hash *= UINT64_C(0x100000001b3);
		}
	}
	return hash;
}
