/* Soundness of buffer sharing, by brute force: random kernels over two tiles are run on paper, for several trip counts and two
 * kinds of threads, and every pair of accesses is looked at. Wherever sharing would let one tile's bytes destroy the
 * other's, the plan must keep them apart.
 *
 *   trace of a thread    W a   |   R a   |   W b   R b        | is a barrier; the intervals between are numbered
 *
 * Sharing destroys something if a write of one tile stands in one interval with an access of the other, or between a value
 * written to the other and its reading (writes are by element: thread t writes element t and reads that of another warp). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Text.h>
#include <tilefoundry/Verify.h>

#include "Harness.h"
#include "LowerToLLVM/SharedPlan.h"
#include "Random.h"

#define MAX_NODES  200
#define MAX_EVENTS 4000

typedef enum node_kind { WRITE, READ, SYNC, LOOP, UNIFORM_IF, WARP_IF, BIND } node_kind;

typedef struct node {
  node_kind kind;
  int buffer, bound; /* bound: n > bound, w == bound */
  int first_child, next;
} node;

typedef struct program {
  node nodes[MAX_NODES];
  int count, root;
} program;

static uint64_t state;

static unsigned draw(unsigned below) {
  return (unsigned)random_below(&state, below);
}

/* ---- Random programs ---- */

static int add(program *p, node_kind kind) {
  p->nodes[p->count] = (node){.kind = kind, .first_child = -1, .next = -1};
  return p->count++;
}

static int make_list(program *p, int depth, bool divergent, bool bind);

static int make_node(program *p, int depth, bool divergent) {
  unsigned what = draw(divergent || depth == 0 ? 6 : 10);
  node_kind kind = what < 2   ? WRITE
                   : what < 4 ? READ
                   : what < 6 ? SYNC
                   : what < 8 ? LOOP
                   : what < 9 ? UNIFORM_IF
                              : WARP_IF;
  if (divergent && kind == SYNC) kind = READ;
  int n = add(p, kind);
  p->nodes[n].buffer = (int)draw(2);
  p->nodes[n].bound = (int)draw(2);
  if (kind >= LOOP) {
    int children = make_list(p, depth - 1, divergent || kind == WARP_IF, false);
    p->nodes[n].first_child = children;
  }
  return n;
}

/* bind: the tiles are bound here. */
static int make_list(program *p, int depth, bool divergent, bool bind) {
  int first = -1, last = -1;
  for (int left = (bind ? 1 : 0) + 2 + (int)draw(5); left > 0 && p->count < MAX_NODES - 40; left--) {
    int n = bind ? add(p, BIND) : make_node(p, depth, divergent);
    bind = false;
    if (last >= 0)
      p->nodes[last].next = n;
    else
      first = n;
    last = n;
  }
  return first;
}

/* Tiles bound at the top, or in the body of a loop that holds everything. */
static program make_program(void) {
  program p = {.count = 0};
  if (draw(2)) {
    p.root = make_list(&p, 2, false, true);
    return p;
  }
  p.root = add(&p, LOOP);
  int children = make_list(&p, 2, false, true);
  p.nodes[p.root].first_child = children;
  return p;
}

/* ---- As text ---- */

static void print_list(const program *p, int n, int indent, char **out) {
  static const char *const names[2] = {"a", "b"};
  for (; n >= 0; n = p->nodes[n].next) {
    const node *it = &p->nodes[n];
    *out += sprintf(*out, "%*s", indent, "");
    switch (it->kind) {
    case WRITE:
      *out += sprintf(*out, "T.store(%s, T.load(x, t), t)\n", names[it->buffer]);
      continue;
    case READ:
      *out += sprintf(*out, "T.store(y, T.load(%s, 63 - t), t)\n", names[it->buffer]);
      continue;
    case SYNC:
      *out += sprintf(*out, "T.sync(m)\n");
      continue;
    case BIND:
      for (int i = 0; i < 2; i++)
        *out += sprintf(*out, "%*s%s = T.alloc_tensor(TensorType(shape=(64,), dtype=DType.f32, storage=smem))\n",
                        i * indent, "", names[i]);
      continue;
    case LOOP:
      *out += sprintf(*out, "for i%d in range(n):\n", n);
      break;
    case UNIFORM_IF:
      *out += sprintf(*out, "if n > %d:\n", it->bound);
      break;
    case WARP_IF:
      *out += sprintf(*out, "if T.coord(m.w) == %d:\n", it->bound);
      break;
    }
    *out += sprintf(*out, "%*spass\n", indent + 4, "");
    print_list(p, it->first_child, indent + 4, out);
  }
}

static const char *text_of(const program *p) {
  static char text[65536];
  char *out = text;
  out += sprintf(
      out, "from tilefoundry import *\n"
           "@prim_func(target=CudaTarget(\"sm_80\"))\n"
           "def kernel(n: Tensor[(), \"i32\"], x: Tensor[(64,), \"f32\"], y: Tensor[(64,), \"f32\"]) -> None:\n"
           "    with Mesh((Topology(\"thread\", 64),), Layout(shape=(2, 32), strides=(32, 1)), (\"w\", \"l\")) as m:\n"
           "        t = T.coord(m.w) * 32 + T.coord(m.l)\n");
  print_list(p, p->root, 8, &out);
  return text;
}

/* ---- On paper ---- */

typedef struct event {
  int interval, instance, buffer;
  bool write;
} event;

typedef struct trace {
  event events[MAX_EVENTS];
  int count, interval, instance;
} trace;

static void execute(const program *p, int n, int trips, int warp, trace *out) {
  for (; n >= 0; n = p->nodes[n].next) {
    const node *it = &p->nodes[n];
    bool enters = it->kind == UNIFORM_IF ? trips > it->bound : it->kind == WARP_IF ? warp == it->bound : false;
    if ((it->kind == WRITE || it->kind == READ) && out->count < MAX_EVENTS)
      out->events[out->count++] = (event){out->interval, out->instance, it->buffer, it->kind == WRITE};
    if (it->kind == SYNC) out->interval++;
    if (it->kind == BIND) out->instance++;
    for (int i = 0; it->kind == LOOP && i < trips; i++)
      execute(p, it->first_child, trips, warp, out);
    if (enters) execute(p, it->first_child, trips, warp, out);
  }
}

static bool meet_in_one_interval(const trace *traces) {
  for (int s = 0; s < 2; s++)
    for (int r = 0; r < 2; r++)
      for (int i = 0; i < traces[s].count; i++)
        for (int j = 0; j < traces[r].count; j++) {
          const event *a = &traces[s].events[i], *b = &traces[r].events[j];
          if (a->interval == b->interval && a->buffer != b->buffer && (a->write || b->write)) return true;
        }
  return false;
}

static bool written_between(const trace *traces, int buffer, int first, int last) {
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < traces[s].count; i++) {
      const event *it = &traces[s].events[i];
      if (it->write && it->buffer == buffer && it->interval >= first && it->interval <= last) return true;
    }
  return false;
}

/* Whether some value is read after the other tile was written over it. */
static bool loses_a_value(const trace *traces) {
  for (int reader = 0; reader < 2; reader++)
    for (int i = 0; i < traces[reader].count; i++) {
      const event *read = &traces[reader].events[i];
      const trace *other = &traces[1 - reader];
      int written = -1;
      for (int j = 0; j < other->count && !read->write; j++) {
        const event *it = &other->events[j];
        bool same = it->write && it->buffer == read->buffer && it->instance == read->instance;
        if (same && it->interval <= read->interval) written = it->interval;
      }
      if (written >= 0 && written_between(traces, 1 - read->buffer, written, read->interval)) return true;
    }
  return false;
}

static bool sharing_destroys(const program *p) {
  static trace traces[2];
  for (int trips = 0; trips <= 3; trips++) {
    for (int warp = 0; warp < 2; warp++) {
      traces[warp].count = traces[warp].interval = traces[warp].instance = 0;
      execute(p, p->root, trips, warp, &traces[warp]);
    }
    if (meet_in_one_interval(traces) || loses_a_value(traces)) return true;
  }
  return false;
}

/* ---- The plan's answer ---- */

static bool plan_shares(const char *text) {
  tf_context *context = NULL;
  const tf_module *module = NULL;
  const tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  const tf_verify_options verify = TF_VERIFY_OPTIONS_INIT;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_msg(tf_parse(context, "k", text, strlen(text), &parse, &module) == TF_OK, "does not parse:\n%s", text);
  ck_assert_msg(tf_verify(module, &verify) == TF_OK, "does not verify:\n%s", text);
  const tf_kernel *kernel = tf_kernel_of(module, tf_module_find(module, "kernel"));
  tf_shared_plan *plan = tf_shared_plan_create(module, kernel);
  ck_assert_uint_eq(plan->buffers.count, 2);
  bool shares = plan->buffers.items[0].offset == plan->buffers.items[1].offset;
  tf_context_destroy(context);
  return shares;
}

START_TEST(test_sharing_is_sound) {
  int shared = 0, harmless = 0;
  state = 20240607;
  for (int i = 0; i < 2000; i++) {
    program p = make_program();
    const char *text = text_of(&p);
    bool shares = plan_shares(text), destroys = sharing_destroys(&p);
    ck_assert_msg(!shares || !destroys, "the tiles must not share bytes:\n%s", text);
    shared += shares;
    harmless += !destroys;
  }
  /* The plan is no coward either: it finds a good part of the kernels where sharing is harmless. */
  ck_assert_int_gt(shared, 50);
  ck_assert_int_gt(4 * shared, harmless);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("overlap");
  tcase_set_timeout(tcase, 240);
  tcase_add_test(tcase, test_sharing_is_sound);
  return run_case("shared overlap", tcase);
}
