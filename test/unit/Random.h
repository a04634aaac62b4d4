/* A small deterministic generator for random data and property tests (splitmix64). */
#ifndef TF_TEST_RANDOM_H
#define TF_TEST_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *seed) {
  uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform enough in [0, bound), bound > 0. */
static inline uint64_t random_below(uint64_t *seed, uint64_t bound) {
  return random_next(seed) % bound;
}

#endif
