/* Building modules: a stack of open blocks. A block becomes a statement of the block around it when it ends; lets nest as
 * in Construct.h. */
#include "IR/BuilderImpl.h"

#include <stdlib.h>
#include <string.h>

#include "IR/Belongs.h"
#include "Support/Options.h"

tf_status tf_builder_create(tf_context *context, tf_builder **out) {
  if (!context || !out) return TF_INVALID_ARGUMENT;
  tf_builder *builder = calloc(1, sizeof *builder);
  if (!builder) return TF_OUT_OF_MEMORY;
  builder->context = context;
  builder->next_serial = 1;
  *out = builder;
  return TF_OK;
}

void tf_builder_destroy(tf_builder *builder) {
  free(builder); /* the rest is the context's */
}

typedef struct guarded_call {
  tf_build build;
  tf_build_fn *fn;
} guarded_call;

static tf_status run_guarded(void *argument) {
  guarded_call *call = argument;
  call->fn(&call->build);
  return TF_OK;
}

const tf_expr *tf_build_run(tf_builder *builder, tf_build_fn *fn, const void *in) {
  if (!builder || builder->status != TF_OK) return NULL;
  guarded_call call = {{builder, in, NULL}, fn};
  tf_status status = tf_context_try(builder->context, run_guarded, &call);
  if (status != TF_OK) builder->status = status;
  return builder->status == TF_OK ? call.build.out : NULL;
}

static void set_loc(tf_build *build) {
  const tf_place *place = build->in;
  build->builder->place = *place;
  if (place->text) build->builder->place.text = tf_context_intern_cstr(build->builder->context, place->text);
}

void tf_builder_set_loc(tf_builder *builder, tf_loc loc, const char *text) {
  tf_build_run(builder, set_loc, &(tf_place){loc, text});
}

static void add_stmt(tf_builder *builder, const char *function, const tf_stmt *stmt) {
  tf_frame *frame = tf_builder_block(builder, function);
  if (frame) tf_block_add(&frame->block, stmt);
}

/* ---- Modules ---------------------------------------------------------------------------------------------------------- */
typedef struct module_in {
  const char *name, *entry;
} module_in;

static void begin_module(tf_build *build) {
  tf_builder *b = build->builder;
  const module_in *in = build->in;
  if (b->begun) {
    tf_builder_misuse(b, "begin_module", "a builder makes one module");
    return;
  }
  b->begun = true;
  b->name = in->name ? tf_context_intern_cstr(b->context, in->name) : NULL;
  b->module_loc = b->place.loc;
  b->entry = in->entry ? tf_context_intern_cstr(b->context, in->entry) : NULL;
}

void tf_builder_begin_module(tf_builder *builder, const char *name, const char *entry) {
  tf_build_run(builder, begin_module, &(module_in){name, entry});
}

/* A call in the text has to mean one thing. */
static bool names_are_apart(tf_builder *b) {
  for (size_t i = 0; i < b->intrinsics.count; i++)
    for (size_t k = 0; k < b->functions.count; k++)
      if (b->functions.items[k]->function.name == b->intrinsics.items[i]->name)
        return tf_builder_misuse(b, b->intrinsics.items[i]->name, "a function and an intrinsic have this name");
  return true;
}

static void finish_module(tf_build *build) {
  tf_builder *b = build->builder;
  const tf_module **out = (const tf_module **)(uintptr_t)build->in;
  if (!b->begun || b->finished) {
    tf_builder_misuse(b, "finish", b->begun ? "the module is finished already" : "no module was begun");
  } else if (b->depth) {
    tf_builder_misuse(b, "finish", "a block is still open: tf_builder_end is missing");
  } else if (names_are_apart(b)) {
    b->finished = true;
    *out = tf_module_new(b->context, b->name, b->entry, b->module_loc, (unsigned)b->functions.count, b->functions.items,
                         (unsigned)b->intrinsics.count, b->intrinsics.items);
  }
}

tf_status tf_builder_finish(tf_builder *builder, const tf_module **out) {
  const tf_module *module = NULL;
  if (!builder || !out) return TF_INVALID_ARGUMENT;
  tf_build_run(builder, finish_module, &module);
  if (builder->status == TF_OK) *out = module;
  return builder->status;
}

/* ---- Functions -------------------------------------------------------------------------------------------------------- */
static tf_builder_function *find_function(tf_builder *b, const char *name) {
  for (size_t i = 0; i < b->known.count; i++)
    if (strcmp(b->known.items[i].name, name) == 0) return &b->known.items[i];
  return NULL;
}

static tf_builder_function *know_function(tf_builder *b, const char *name, const tf_type *type) {
  tf_builder_function *known = find_function(b, name);
  if (known) return known;
  tf_builder_function function = {tf_context_intern_cstr(b->context, name), type};
  TF_VEC_PUSH(&b->context->arena, &b->known, function);
  return &b->known.items[b->known.count - 1];
}

typedef struct function_in {
  const char *name;
  const tf_type *type;
  const tf_function_options *options;
} function_in;

static void declare_function(tf_build *build) {
  tf_builder *b = build->builder;
  const function_in *in = build->in;
  if (!tf_builder_is_name(b, "declare_function", in->name)) return;
  bool callable = in->type && tf_type_belongs(b->context, in->type) && tf_type_get_kind(in->type) == TF_TYPE_CALLABLE;
  if (!callable) {
    tf_builder_misuse(b, "declare_function", "the type is no callable type of this context");
  } else if (find_function(b, in->name)) {
    tf_builder_misuse(b, "declare_function", "the function is known already");
  } else {
    know_function(b, in->name, in->type);
  }
}

void tf_builder_declare_function(tf_builder *builder, const char *name, const tf_type *callable) {
  tf_build_run(builder, declare_function, &(function_in){name, callable, NULL});
}

static tf_frame *open_frame(tf_builder *b, tf_frame_kind kind) {
  if (b->depth == TF_BUILDER_MAX_BLOCKS) {
    tf_builder_misuse(b, "begin", "blocks nest too deeply");
    return NULL;
  }
  if (b->depth == b->frame_capacity)
    b->frames = tf_vec_grow(&b->context->arena, b->frames, b->depth, &b->frame_capacity, sizeof *b->frames);
  tf_frame *frame = &b->frames[b->depth++];
  memset(frame, 0, sizeof *frame);
  frame->kind = kind;
  frame->serial = b->next_serial++;
  frame->place = b->place;
  tf_block_init(&frame->block, b->context);
  return frame;
}

static void begin_function(tf_build *build) {
  tf_builder *b = build->builder;
  const function_in *in = build->in;
  if (!tf_builder_is_name(b, "begin_function", in->name)) return;
  if (!b->begun || b->depth || b->finished) {
    tf_builder_misuse(b, "begin_function", "functions stand directly in a module that is open");
    return;
  }
  tf_function_options known = TF_FUNCTION_OPTIONS_INIT;
  if (!tf_options_read(&known, sizeof known, in->options)) {
    tf_builder_misuse(b, "begin_function", "the options' size is wrong");
    return;
  }
  tf_frame *frame = open_frame(b, TF_FRAME_FUNCTION);
  if (!frame) return;
  frame->name = tf_context_intern_cstr(b->context, in->name);
  frame->target = known.target;
  frame->output_count = known.output_count;
  know_function(b, in->name, NULL);
}

void tf_builder_begin_function(tf_builder *builder, const char *name, const tf_function_options *options) {
  tf_build_run(builder, begin_function, &(function_in){name, NULL, options});
}

typedef struct param_in {
  const char *name;
  const tf_type *type;
  bool is_const;
} param_in;

static bool has_param(const tf_frame *frame, const char *name) {
  for (size_t i = 0; i < frame->params.count; i++)
    if (strcmp(frame->params.items[i]->var.name, name) == 0) return true;
  return false;
}

static void add_param(tf_build *build) {
  tf_builder *b = build->builder;
  const param_in *in = build->in;
  tf_frame *frame = b->depth == 1 ? &b->frames[0] : NULL;
  if (!tf_builder_is_name(b, "param", in->name)) return;
  if (!frame || frame->block.count) {
    tf_builder_misuse(b, "param", "parameters come before a function's first statement");
  } else if (!in->type || !tf_type_belongs(b->context, in->type) || !tf_type_is_tensor(in->type)) {
    tf_builder_misuse(b, "param", "the type is no tensor type of this context");
  } else if (has_param(frame, in->name)) {
    tf_builder_misuse(b, "param", "the function has a parameter of this name");
  } else {
    build->out = tf_builder_bound(b, tf_expr_param(b->context, in->name, in->type, in->is_const, b->place.loc));
    TF_VEC_PUSH(&b->context->arena, &frame->params, build->out);
  }
}

const tf_expr *tf_builder_param(tf_builder *builder, const char *name, const tf_type *type, bool is_const) {
  return tf_build_run(builder, add_param, &(param_in){name, type, is_const});
}

static const tf_type *frame_type(tf_builder *b, const tf_frame *frame) {
  unsigned count = (unsigned)frame->params.count;
  const tf_type **types = TF_ARENA_ARRAY(&b->context->arena, const tf_type *, count);
  for (unsigned i = 0; i < count; i++)
    types[i] = frame->params.items[i]->type;
  return tf_type_callable(b->context, count, types);
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------------- */
typedef struct block_in {
  const char *name;
  const tf_expr *a, *b, *c;
  const tf_mesh *mesh;
  const char *message;
} block_in;

static void begin_for(tf_build *build) {
  tf_builder *b = build->builder;
  const block_in *in = build->in;
  const tf_expr *bounds[] = {in->a, in->b, in->c};
  if (!tf_builder_is_name(b, "begin_for", in->name) || !tf_builder_block(b, "begin_for")) return;
  if (!tf_builder_accepts_all(b, "begin_for", 3, bounds)) return;
  tf_frame *frame = open_frame(b, TF_FRAME_FOR);
  if (!frame) return;
  frame->start = in->a;
  frame->stop = in->b;
  frame->step = in->c;
  frame->var = tf_expr_var_new(b->context, in->name, tf_type_scalar(b->context, TF_DTYPE_I64), b->place.loc);
  build->out = tf_builder_bound(b, frame->var);
}

const tf_expr *tf_builder_begin_for(tf_builder *builder, const char *name, const tf_expr *start, const tf_expr *stop,
                                    const tf_expr *step) {
  return tf_build_run(builder, begin_for, &(block_in){.name = name, .a = start, .b = stop, .c = step});
}

static void begin_conditional(tf_build *build, tf_frame_kind kind, const char *function) {
  tf_builder *b = build->builder;
  const block_in *in = build->in;
  if (!tf_builder_block(b, function) || !tf_builder_accepts(b, function, in->a)) return;
  tf_frame *frame = open_frame(b, kind);
  if (frame) frame->cond = in->a;
}

static void begin_while(tf_build *build) {
  begin_conditional(build, TF_FRAME_WHILE, "begin_while");
}

static void begin_if(tf_build *build) {
  begin_conditional(build, TF_FRAME_IF, "begin_if");
}

void tf_builder_begin_while(tf_builder *builder, const tf_expr *cond) {
  tf_build_run(builder, begin_while, &(block_in){.a = cond});
}

void tf_builder_begin_if(tf_builder *builder, const tf_expr *cond) {
  tf_build_run(builder, begin_if, &(block_in){.a = cond});
}

/* The frame goes on as the else-part, under a new serial: variables of the then-part are gone. */
static void begin_else(tf_build *build) {
  tf_builder *b = build->builder;
  tf_frame *frame = b->depth ? &b->frames[b->depth - 1] : NULL;
  if (!frame || frame->kind != TF_FRAME_IF) {
    tf_builder_misuse(b, "begin_else", "the innermost block is no if without an else");
    return;
  }
  frame->then_body = tf_block_finish(&frame->block, frame->place.loc);
  frame->kind = TF_FRAME_ELSE;
  frame->serial = b->next_serial++;
  tf_block_init(&frame->block, b->context);
}

void tf_builder_begin_else(tf_builder *builder) {
  tf_build_run(builder, begin_else, NULL);
}

static void begin_mesh(tf_build *build) {
  tf_builder *b = build->builder;
  const block_in *in = build->in;
  if (!tf_builder_is_name(b, "begin_mesh", in->name) || !tf_builder_block(b, "begin_mesh")) return;
  if (!in->mesh || !tf_mesh_belongs(b->context, in->mesh)) {
    tf_builder_misuse(b, "begin_mesh", "the mesh is none of this context");
    return;
  }
  tf_frame *frame = open_frame(b, TF_FRAME_MESH);
  if (!frame) return;
  frame->var = tf_expr_mesh_var(b->context, in->name, in->mesh, b->place.loc);
  build->out = tf_builder_bound(b, frame->var);
}

const tf_expr *tf_builder_begin_mesh(tf_builder *builder, const char *name, const tf_mesh *mesh) {
  return tf_build_run(builder, begin_mesh, &(block_in){.name = name, .mesh = mesh});
}

static void begin_dispatch(tf_build *build) {
  tf_builder *b = build->builder;
  const block_in *in = build->in;
  if (!tf_builder_is_name(b, "begin_dispatch", in->name) || !tf_builder_block(b, "begin_dispatch")) return;
  if (!tf_builder_accepts(b, "begin_dispatch", in->a)) return;
  tf_frame *frame = open_frame(b, TF_FRAME_DISPATCH);
  if (!frame) return;
  frame->name = tf_context_intern_cstr(b->context, in->name);
  frame->subject = in->a;
  frame->message = in->message ? tf_context_intern_cstr(b->context, in->message) : NULL;
}

void tf_builder_begin_dispatch(tf_builder *builder, const char *name, const tf_expr *subject,
                               const char *abort_message) {
  tf_build_run(builder, begin_dispatch, &(block_in){.name = name, .a = subject, .message = abort_message});
}

/* ---- Ends --------------------------------------------------------------------------------------------------------------- */
static const tf_stmt *dispatch_of(tf_builder *b, const tf_frame *frame) {
  tf_place inside = {frame->place.loc, NULL};
  const tf_stmt *abort = tf_stmt_abort(b->context, frame->message, inside);
  const tf_stmt *fallback = tf_stmt_sequential(b->context, 1, &abort, inside);
  return tf_stmt_dispatch(b->context, frame->name, frame->subject, (unsigned)frame->calls.count, frame->patterns.items,
                          frame->calls.items, fallback, frame->place);
}

static const tf_stmt *stmt_of_frame(tf_builder *b, tf_frame *frame) {
  tf_context *context = b->context;
  if (frame->kind == TF_FRAME_DISPATCH) return dispatch_of(b, frame);
  const tf_stmt *body = tf_block_finish(&frame->block, frame->place.loc);
  switch (frame->kind) {
  case TF_FRAME_FOR:
    return tf_stmt_for(context, frame->var, frame->start, frame->stop, frame->step, body, frame->place);
  case TF_FRAME_WHILE:
    return tf_stmt_while(context, frame->cond, body, frame->place);
  case TF_FRAME_IF:
    return tf_stmt_if(context, frame->cond, body, NULL, frame->place);
  case TF_FRAME_ELSE:
    return tf_stmt_if(context, frame->cond, frame->then_body, body, frame->place);
  case TF_FRAME_MESH:
    return tf_stmt_mesh_scope(context, frame->var, body, frame->place);
  default:
    return tf_stmt_function(context, frame->name, (unsigned)frame->params.count, frame->params.items, body,
                            frame->output_count, frame->target, frame->place);
  }
}

static void end_block(tf_build *build) {
  tf_builder *b = build->builder;
  if (!b->depth) {
    tf_builder_misuse(b, "end", "no block is open");
    return;
  }
  tf_frame *frame = &b->frames[b->depth - 1];
  const tf_stmt *stmt = stmt_of_frame(b, frame);
  b->depth--;
  if (frame->kind != TF_FRAME_FUNCTION) {
    tf_block_add(&b->frames[b->depth - 1].block, stmt);
    return;
  }
  tf_builder_function *known = find_function(b, frame->name);
  if (!known->type) known->type = frame_type(b, frame);
  TF_VEC_PUSH(&b->context->arena, &b->functions, stmt);
}

void tf_builder_end(tf_builder *builder) {
  tf_build_run(builder, end_block, NULL);
}

/* ---- Statements ------------------------------------------------------------------------------------------------------------ */
static void add_return(tf_build *build) {
  add_stmt(build->builder, "return", tf_stmt_return(build->builder->context, build->builder->place));
}

void tf_builder_return(tf_builder *builder) {
  tf_build_run(builder, add_return, NULL);
}

static void add_abort(tf_build *build) {
  add_stmt(build->builder, "abort", tf_stmt_abort(build->builder->context, build->in, build->builder->place));
}

void tf_builder_abort(tf_builder *builder, const char *message) {
  tf_build_run(builder, add_abort, message);
}

static void add_let(tf_build *build) {
  tf_builder *b = build->builder;
  const block_in *in = build->in;
  tf_frame *frame = tf_builder_block(b, "let");
  if (!frame || !tf_builder_is_name(b, "let", in->name) || !tf_builder_accepts(b, "let", in->a)) return;
  build->out = tf_builder_bound(b, tf_expr_let_var(b->context, in->name, in->a, b->place.loc));
  tf_block_let(&frame->block, build->out, in->a, b->place);
}

const tf_expr *tf_builder_let(tf_builder *builder, const char *name, const tf_expr *value) {
  return tf_build_run(builder, add_let, &(block_in){.name = name, .a = value});
}

/* A function by name: declared, finished, or the one being built once its parameters are complete. */
static const tf_expr *symbol_of(tf_builder *b, const char *function, const char *name) {
  if (!tf_builder_is_name(b, function, name)) return NULL;
  const tf_builder_function *known = find_function(b, name);
  if (!known) {
    tf_builder_misuse(b, function, "the function is not known: declare it before");
    return NULL;
  }
  const tf_type *type = known->type ? known->type : frame_type(b, &b->frames[0]);
  return tf_builder_made(b, tf_expr_symbol(b->context, name, type, b->place.loc), 0, NULL);
}

typedef struct call_in {
  const char *callee;
  const tf_intrinsic *intrinsic;
  unsigned count;
  const tf_expr *const *args;
  tf_range_pattern pattern;
} call_in;

static const tf_stmt *call_of(tf_builder *b, const char *function, const call_in *in) {
  const tf_expr *callee = symbol_of(b, function, in->callee);
  if (!callee || !tf_builder_accepts_all(b, function, in->count, in->args)) return NULL;
  return tf_stmt_call(b->context, callee, in->count, in->args, b->place);
}

static void add_call(tf_build *build) {
  const tf_stmt *stmt = call_of(build->builder, "call", build->in);
  if (stmt) add_stmt(build->builder, "call", stmt);
}

void tf_builder_call(tf_builder *builder, const char *callee, unsigned count, const tf_expr *const *args) {
  tf_build_run(builder, add_call, &(call_in){.callee = callee, .count = count, .args = args});
}

static void add_case(tf_build *build) {
  tf_builder *b = build->builder;
  const call_in *in = build->in;
  tf_frame *frame = b->depth ? &b->frames[b->depth - 1] : NULL;
  if (!frame || frame->kind != TF_FRAME_DISPATCH) {
    tf_builder_misuse(b, "case", "the innermost block is no dispatch");
    return;
  }
  const tf_stmt *stmt = tf_builder_is_name(b, "case", in->pattern.name) ? call_of(b, "case", in) : NULL;
  if (!stmt) return;
  TF_VEC_PUSH(&b->context->arena, &frame->patterns, in->pattern);
  frame->patterns.items[frame->patterns.count - 1].name = tf_context_intern_cstr(b->context, in->pattern.name);
  TF_VEC_PUSH(&b->context->arena, &frame->calls, stmt);
}

void tf_builder_case(tf_builder *builder, const char *dim_var, int64_t lo, int64_t hi, const char *callee,
                     unsigned count, const tf_expr *const *args) {
  tf_build_run(builder, add_case,
               &(call_in){.callee = callee, .count = count, .args = args, .pattern = {dim_var, lo, hi}});
}

/* A module lists the intrinsics that it uses, in order of first use. */
static bool list_intrinsic(tf_builder *b, const tf_intrinsic *decl) {
  for (size_t i = 0; i < b->intrinsics.count; i++) {
    if (b->intrinsics.items[i] == decl) return true;
    if (strcmp(b->intrinsics.items[i]->name, decl->name) == 0)
      return tf_builder_misuse(b, decl->name, "two intrinsics of one name are used in the module");
  }
  TF_VEC_PUSH(&b->context->arena, &b->intrinsics, decl);
  return true;
}

static bool accepts_intrinsic(tf_builder *b, const tf_intrinsic *decl) {
  bool own = decl && tf_context_intern_cstr(b->context, decl->name) == decl->name;
  return own || tf_builder_misuse(b, "intrinsic", "the declaration is none of this context");
}

static void declare_intrinsic(tf_build *build) {
  const tf_intrinsic *decl = build->in;
  if (accepts_intrinsic(build->builder, decl)) list_intrinsic(build->builder, decl);
}

void tf_builder_declare_intrinsic(tf_builder *builder, const tf_intrinsic *decl) {
  tf_build_run(builder, declare_intrinsic, decl);
}

static void add_intrinsic(tf_build *build) {
  tf_builder *b = build->builder;
  const call_in *in = build->in;
  if (!accepts_intrinsic(b, in->intrinsic)) return;
  if (in->count != in->intrinsic->param_count) {
    tf_builder_misuse(b, in->intrinsic->name, "the number of arguments is not the declaration's");
  } else if (tf_builder_accepts_all(b, in->intrinsic->name, in->count, in->args) && list_intrinsic(b, in->intrinsic)) {
    add_stmt(b, in->intrinsic->name, tf_stmt_intrinsic(b->context, in->intrinsic, in->count, in->args, b->place));
  }
}

void tf_builder_intrinsic(tf_builder *builder, const tf_intrinsic *decl, unsigned count, const tf_expr *const *args) {
  tf_build_run(builder, add_intrinsic, &(call_in){.intrinsic = decl, .count = count, .args = args});
}

static void make_symbol(tf_build *build) {
  build->out = symbol_of(build->builder, "symbol", build->in);
}

const tf_expr *tf_builder_symbol(tf_builder *builder, const char *function) {
  return tf_build_run(builder, make_symbol, function);
}
