/* Sets of threads as bits of the linear thread id: word t / 64, bit t % 64. */
#include "Verify/Scopes.h"

enum { WORDS = TF_MAX_BLOCK / 64 };

tf_thread_set tf_threads_interval(int64_t base, int64_t count) {
  tf_thread_set set = {{0}};
  for (int64_t thread = base; thread < base + count; thread++)
    tf_threads_add(&set, thread);
  return set;
}

bool tf_threads_has(const tf_thread_set *set, int64_t thread) {
  return thread >= 0 && thread < TF_MAX_BLOCK && (set->bits[thread / 64] >> (thread % 64) & 1) != 0;
}

void tf_threads_add(tf_thread_set *set, int64_t thread) {
  if (thread >= 0 && thread < TF_MAX_BLOCK) set->bits[thread / 64] |= UINT64_C(1) << (thread % 64);
}

int64_t tf_threads_count(const tf_thread_set *set) {
  int64_t count = 0;
  for (int word = 0; word < WORDS; word++)
    count += __builtin_popcountll(set->bits[word]);
  return count;
}

bool tf_threads_equal(const tf_thread_set *a, const tf_thread_set *b) {
  return tf_threads_subset(a, b) && tf_threads_subset(b, a);
}

bool tf_threads_subset(const tf_thread_set *inner, const tf_thread_set *outer) {
  for (int word = 0; word < WORDS; word++)
    if (inner->bits[word] & ~outer->bits[word]) return false;
  return true;
}

bool tf_threads_intersect(const tf_thread_set *a, const tf_thread_set *b) {
  for (int word = 0; word < WORDS; word++)
    if (a->bits[word] & b->bits[word]) return true;
  return false;
}

int64_t tf_threads_next(const tf_thread_set *set, int64_t from) {
  int64_t word = from / 64;
  if (word >= WORDS) return -1;
  uint64_t rest = set->bits[word] >> (from % 64) << (from % 64);
  while (rest == 0) {
    if (++word == WORDS) return -1;
    rest = set->bits[word];
  }
  return word * 64 + __builtin_ctzll(rest);
}
