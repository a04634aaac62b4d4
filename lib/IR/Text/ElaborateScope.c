/* Lexical scopes with Python's eyes on them.
 *
 * A name bound in a block ends with it, which Python's does not. Where that difference could be seen, the rebinding is refused:
 *
 *     a = n              for …:                     if c:
 *     for …:                 use(a)   ◀─ next turn       a = 1
 *         a = 1              a = 1                  else:
 *     use(a)  ◀─ after                                  use(a)    fine: never after a = 1
 *
 * A nested block that binds a name of an outer one leaves a note on the outer binding; reading that binding while the note
 * is in force is the error. Inside a loop, reads that came before count too. */
#include "IR/Text/Elaborate.h"

#include <string.h>

#include "Support/Context.h"

/* ---- The table of names: open addressing over interned pointers ---- */
static size_t slot_of(const tf_elab *e, const char *name) {
  size_t at = ((uintptr_t)name >> 4) * 0x9E3779B97F4A7C15u >> 20;
  for (at &= e->slot_count - 1; e->slots[at]; at = (at + 1) & (e->slot_count - 1))
    if (e->symbols.items[e->slots[at] - 1].name == name) break;
  return at;
}

static void resize(tf_elab *e, size_t count) {
  e->slot_count = count;
  e->slots = TF_ARENA_ARRAY(e->scratch, uint32_t, count);
  for (size_t i = 0; i < e->symbols.count; i++)
    e->slots[slot_of(e, e->symbols.items[i].name)] = (uint32_t)i + 1;
}

static tf_symbol *find_symbol(tf_elab *e, const char *name, bool make) {
  size_t at = slot_of(e, name);
  if (e->slots[at]) return &e->symbols.items[e->slots[at] - 1];
  if (!make) return NULL;
  tf_symbol symbol = {.name = name};
  TF_VEC_PUSH(e->scratch, &e->symbols, symbol);
  e->slots[at] = (uint32_t)e->symbols.count;
  if (e->symbols.count * 2 > e->slot_count) resize(e, e->slot_count * 2);
  return &e->symbols.items[e->symbols.count - 1];
}

/* ---- Scopes ---- */
void tf_scope_init(tf_elab *e) {
  resize(e, 16);
  tf_scope_push(e, false);
}

void tf_scope_push(tf_elab *e, bool is_block) {
  tf_scope scope = {.is_block = is_block};
  TF_VEC_PUSH(e->scratch, &e->scopes, scope);
}

void tf_scope_pop(tf_elab *e) {
  const tf_scope *scope = &e->scopes.items[--e->scopes.count];
  for (const tf_binding *b = scope->bindings; b; b = b->sibling) {
    tf_symbol *symbol = find_symbol(e, b->name, true);
    symbol->top = b->outer;
    symbol->ended = scope->is_block ? b->loc : TF_NO_LOC;
    symbol->ended_in = e->functions;
  }
}

void tf_scope_loop(tf_elab *e, uint32_t start) {
  tf_scope *scope = &e->scopes.items[e->scopes.count - 1];
  scope->is_loop = true;
  scope->loop_start = start;
}

/* The outermost loop around this place that the binding stands outside of. */
static const tf_scope *loop_inside(const tf_elab *e, const tf_binding *binding) {
  for (size_t i = binding->scope + 1; i < e->scopes.count; i++)
    if (e->scopes.items[i].is_loop) return &e->scopes.items[i];
  return NULL;
}

static void report_rebinding(tf_elab *e, const tf_binding *binding, tf_loc loc, tf_loc read) {
  tf_report(e->context, loc, NAME_REBOUND, binding->name);
  if (read.line) tf_report(e->context, read, NAME_REBOUND_READ, binding->name);
}

/* `outer` is about to be hidden by a binding of the innermost scope. */
static void watch_rebinding(tf_elab *e, tf_binding *outer, tf_loc loc) {
  if (!e->scopes.items[e->scopes.count - 1].is_block || outer->scope + 1 == e->scopes.count) return;
  const tf_scope *loop = loop_inside(e, outer);
  if (loop && outer->last_read > loop->loop_start) {
    report_rebinding(e, outer, loc, TF_NO_LOC);
    return;
  }
  tf_rebinding entry = {outer, loc};
  TF_VEC_PUSH(e->scratch, &e->rebindings, entry);
}

void tf_bind(tf_elab *e, const char *name, tf_value value, tf_loc loc) {
  tf_symbol *symbol = find_symbol(e, name, true);
  tf_binding *outer = symbol->top;
  if (outer) watch_rebinding(e, outer, loc);
  tf_scope *scope = &e->scopes.items[e->scopes.count - 1];
  tf_binding *binding = TF_ARENA_NEW(e->scratch, tf_binding);
  *binding = (tf_binding){.name = name, .value = value, .loc = loc, .scope = (unsigned)e->scopes.count - 1};
  binding->outer = outer;
  binding->sibling = scope->bindings;
  scope->bindings = binding;
  symbol->top = binding;
}

tf_binding *tf_peek_binding(tf_elab *e, const char *name) {
  const tf_symbol *symbol = find_symbol(e, name, false);
  return symbol ? symbol->top : NULL;
}

tf_loc tf_ended_binding(tf_elab *e, const char *name) {
  const tf_symbol *symbol = find_symbol(e, name, false);
  return symbol && symbol->ended_in == e->functions ? symbol->ended : TF_NO_LOC;
}

tf_binding *tf_lookup(tf_elab *e, const char *name, tf_loc loc) {
  tf_binding *binding = tf_peek_binding(e, name);
  if (!binding) return NULL;
  binding->last_read = ++e->reads;
  if (!binding->rebound.line) return binding;
  report_rebinding(e, binding, binding->rebound, loc);
  binding->rebound = TF_NO_LOC;
  return binding;
}

/* Notes on bindings whose scope has ended do no harm: nobody can read those any more. */
void tf_rebindings_suspend(tf_elab *e, size_t mark) {
  for (size_t i = mark; i < e->rebindings.count; i++) {
    tf_binding *binding = e->rebindings.items[i].binding;
    bool next_turn = loop_inside(e, binding) != NULL; /* of a loop, which may take another branch */
    binding->rebound = next_turn ? e->rebindings.items[i].loc : TF_NO_LOC;
  }
}

void tf_rebindings_resume(tf_elab *e, size_t mark) {
  for (size_t i = mark; i < e->rebindings.count; i++)
    e->rebindings.items[i].binding->rebound = e->rebindings.items[i].loc;
}

void tf_rebindings_clear(tf_elab *e) {
  for (size_t i = 0; i < e->rebindings.count; i++)
    e->rebindings.items[i].binding->rebound = TF_NO_LOC;
  e->rebindings.count = 0;
  e->functions++;
}

/* ---- Suggestions ---- */
#define MAX_SUGGESTED 24

/* Edit distance (insert, delete, replace, swap of neighbours), at most `limit`, else limit + 1. */
static unsigned distance(const char *a, const char *b, unsigned limit) {
  size_t n = strlen(a), m = strlen(b);
  unsigned rows[3][MAX_SUGGESTED + 1];
  if (n > MAX_SUGGESTED || m > MAX_SUGGESTED || (n > m ? n - m : m - n) > limit) return limit + 1;
  for (unsigned j = 0; j <= m; j++)
    rows[0][j] = j;
  for (unsigned i = 1; i <= n; i++) {
    unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (unsigned j = 1; j <= m; j++) {
      unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && above2[j - 2] + 1 < best) best = above2[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[n % 3][m];
}

typedef struct suggestion {
  const char *name, *best;
  unsigned least;
} suggestion;

/* A name that differs in case alone is the nearest; one letter resembles every other. */
static void consider(void *user, const char *candidate) {
  suggestion *s = user;
  bool same_letters = strcasecmp(s->name, candidate) == 0;
  if (!same_letters && (!s->name[1] || !candidate[1])) return;
  unsigned d = same_letters ? 0 : distance(s->name, candidate, s->least - 1);
  if (d >= s->least) return;
  s->least = d;
  s->best = candidate;
}

static const char *suggestion_text(tf_elab *e, const suggestion *s) {
  return s->best ? tf_arena_printf(e->scratch, "; did you mean '%s'?", s->best) : "";
}

static suggestion suggestion_for(const char *name) {
  return (suggestion){name, NULL, strlen(name) < 4 ? 2 : 3};
}

/* What computes it, where the name is a kind of an op and not one itself. */
static const char *kind_text(tf_elab *e, const char *name) {
  tf_binary_kind binary;
  tf_unary_kind unary;
  tf_reduce_kind reduce;
  const char *op = NULL;
  if (tf_unary_from_name(name, &unary)) op = "unary(src, dst";
  if (tf_binary_from_name(name, &binary)) op = "binary(lhs, rhs, dst";
  if (tf_reduce_from_name(name, &reduce)) op = "reduce(src, dst, axes=…";
  return op ? tf_arena_printf(e->scratch, "; write T.%s, kind=\"%s\")", op, name) : NULL;
}

const char *tf_suggest(tf_elab *e, const char *name) {
  suggestion s = suggestion_for(name);
  const char *kind = kind_text(e, name);
  if (kind) return kind;
  if (strcmp(name, "where") == 0) return "; write T.select(cond, a, b, dst), or 'a if cond else b' for scalars";
  for (size_t i = 0; i < e->symbols.count && i < 1000; i++) /* a help, not a search engine */
    if (e->symbols.items[i].top) consider(&s, e->symbols.items[i].name);
  tf_name_each(consider, &s);
  return suggestion_text(e, &s);
}
