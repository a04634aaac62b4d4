/* The file: imports, static names, functions, modules; and the entry point of the text stage.
 *
 * The first pass goes through the file in order and gives static names their values and functions their types. The second goes
 * through it again with all functions known, and reads each body with the static names that stand before it. */
#include "IR/Text/Elaborate.h"
#include "IR/Text/ElaborateIntrinsic.h"

#include <string.h>

#include "Support/Context.h"
#include "Support/Options.h"

/* What the first pass found out about each item of the file or of a class. */
typedef struct item {
  const tf_node *node;
  tf_value value; /* ASSIGN, IMPORT: of the names */
  tf_function_decl *function;
  const tf_intrinsic *intrinsic;
  struct section *section; /* CLASS */
} item;

typedef struct section {
  unsigned count;
  item *items;
  const char *name, *entry; /* of a class */
  tf_loc loc;
} section;

typedef struct unit {
  tf_elab e;
  struct {
    TF_VEC(const tf_intrinsic *);
  } intrinsics;
} unit;

/* ---- Imports: nothing is loaded, names are only renamed ---- */
static void bind_import(tf_elab *e, const tf_import_name *import, tf_loc loc) {
  static const char root[] = "tilefoundry";
  if (!import->module) return;
  const char *path = import->module, *name = import->alias;
  bool ours = strncmp(path, root, sizeof root - 1) == 0;
  if (import->name) {
    if (!name) name = import->name;
    path = ours ? tf_arena_printf(e->scratch, "%s.%s", import->module, import->name) : import->name;
  } else if (!name) { /* import a.b.c binds a */
    size_t length = strcspn(path, ".");
    name = path = tf_context_intern(e->context, path, length);
  }
  path = tf_context_intern_cstr(e->context, path);
  tf_name resolved = tf_name_resolve(e->context, path);
  tf_value value = {.kind = TF_VALUE_PATH, .path = path};
  if (resolved.kind == TF_NAME_VALUE) value = resolved.value;
  tf_bind(e, name, value, loc);
}

static void bind_imports(tf_elab *e, const tf_node *node) {
  for (unsigned i = 0; i < node->import.count; i++)
    bind_import(e, &node->import.names[i], node->loc);
}

/* ---- Static names, with -D ---- */
static bool is_number(const tf_value *value) {
  return value->kind == TF_VALUE_INT || value->kind == TF_VALUE_FLOAT || value->kind == TF_VALUE_BOOL;
}

static tf_value define_value(tf_elab *e, const tf_define *define) {
  const char *title = tf_arena_printf(e->scratch, "<-D %s>", define->name);
  uint32_t file = tf_context_add_source(e->context, title, define->value, strlen(define->value));
  const tf_node *node = tf_parse_expression(e->context, file, e->scratch);
  tf_value value = node ? tf_eval_static(e, node, "a value given by -D") : TF_VALUE_OF_ERROR;
  if (value.kind == TF_VALUE_ERROR || is_number(&value)) return value;
  tf_report(e->context, node->loc, DEFINE_VALUE, define->name, tf_value_describe(&value));
  return TF_VALUE_OF_ERROR;
}

static tf_value overridden(tf_elab *e, const char *name, tf_value value) {
  for (size_t i = 0; i < e->options->define_count; i++) {
    if (strcmp(e->options->defines[i].name, name) != 0) continue;
    if (!is_number(&value)) continue;
    e->define_used[i] = true;
    return define_value(e, &e->options->defines[i]);
  }
  return value;
}

static void check_defines(tf_elab *e) {
  for (size_t i = 0; i < e->options->define_count; i++)
    if (!e->define_used[i]) tf_report(e->context, TF_NO_LOC, DEFINE_UNKNOWN, e->options->defines[i].name);
}

static tf_value declare_static(tf_elab *e, const tf_node *node, bool top) {
  tf_value value = tf_eval_static(e, node->assign.value, "a value outside of functions");
  if (top) value = overridden(e, node->assign.name, value);
  tf_bind(e, node->assign.name, value, node->assign.name_loc);
  return value;
}

/* ---- Declarations ---- */
/* The form that a decorator names; TF_SPECIAL_COUNT after a report. */
static tf_special decorator_form(tf_elab *e, const tf_node *node, const tf_node **decorator) {
  if (node->def.decorator_count != 1) {
    tf_loc loc = node->def.decorator_count ? node->def.decorators[1]->loc : node->def.name_loc;
    tf_report(e->context, loc, DECORATOR_ONE, node->kind == TF_NODE_CLASS ? "class" : "function",
              node->kind == TF_NODE_CLASS ? "@module" : "@prim_func or @intrinsic");
    return TF_SPECIAL_COUNT;
  }
  *decorator = node->def.decorators[0];
  if ((*decorator)->kind == TF_NODE_ERROR) return TF_SPECIAL_COUNT;
  const tf_node *callee = (*decorator)->kind == TF_NODE_CALL ? (*decorator)->call.callee : *decorator;
  tf_value value = tf_eval(e, callee);
  tf_name name = {.kind = TF_NAME_UNKNOWN};
  if (value.kind == TF_VALUE_ERROR) return TF_SPECIAL_COUNT;
  if (value.kind == TF_VALUE_PATH) name = tf_name_resolve(e->context, value.path);
  if (name.kind == TF_NAME_SPECIAL) {
    bool is_class = name.index == TF_SPECIAL_MODULE;
    bool is_def = name.index == TF_SPECIAL_PRIM_FUNC || name.index == TF_SPECIAL_INTRINSIC;
    if (node->kind == TF_NODE_CLASS ? is_class : is_def) return (tf_special)name.index;
  }
  tf_report(e->context, callee->loc, DECORATOR_ONE, node->kind == TF_NODE_CLASS ? "class" : "function",
            node->kind == TF_NODE_CLASS ? "@module" : "@prim_func or @intrinsic");
  return TF_SPECIAL_COUNT;
}

/* The intrinsic of C that a declaration means; null if there is none of its name, or after a report. */
static const tf_intrinsic *given_intrinsic(tf_elab *e, const tf_intrinsic *declared) {
  for (size_t i = 0; i < e->options->intrinsic_count; i++) {
    const tf_intrinsic *given = e->options->intrinsics[i];
    if (given->name != declared->name) continue;
    if (tf_intrinsic_equal(e->context, declared, given)) return given;
    tf_report(e->context, declared->loc, INTRINSIC_DECLARATION, declared->name,
              "the parser was given one of this name that is declared in other words");
  }
  return NULL;
}

static void declare_intrinsic(unit *u, const tf_node *node, const tf_node *decorator, item *out, bool top) {
  tf_elab *e = &u->e;
  if (!top) {
    tf_report(e->context, node->loc, STMT_MISPLACED, "an @intrinsic", "the top level of the file");
    return;
  }
  const tf_intrinsic *intrinsic = tf_declare_intrinsic(e, node, decorator);
  const tf_intrinsic *given = intrinsic ? given_intrinsic(e, intrinsic) : NULL;
  if (given) intrinsic = given;
  for (size_t i = 0; intrinsic && i < u->intrinsics.count; i++) {
    if (u->intrinsics.items[i]->name != intrinsic->name) continue;
    tf_report(e->context, intrinsic->loc, INTRINSIC_TWICE, intrinsic->name);
    tf_report(e->context, u->intrinsics.items[i]->loc, NAME_FIRST, intrinsic->name);
    return;
  }
  out->intrinsic = intrinsic;
  if (intrinsic) TF_VEC_PUSH(e->scratch, &u->intrinsics, intrinsic);
}

static section *declare_section(unit *u, const tf_block_syntax *block, bool top);

static void read_module_option(tf_elab *e, const tf_argument *arg, section *out) {
  if (arg->value.kind == TF_VALUE_ERROR) return;
  bool is_entry = arg->keyword && strcmp(arg->keyword, "entry") == 0;
  bool is_target = arg->keyword && strcmp(arg->keyword, "target") == 0;
  if (is_entry && arg->value.kind == TF_VALUE_STRING)
    out->entry = arg->value.string;
  else if (is_target && arg->value.kind == TF_VALUE_TARGET)
    e->default_target = arg->value.target;
  else
    tf_report(e->context, arg->loc, DECORATOR_ARGUMENT, "@module",
              "entry= with a function's name, and target= with CudaTarget(…) or CpuTarget()");
}

static void declare_class(unit *u, const tf_node *node, item *out, bool top) {
  tf_elab *e = &u->e;
  const tf_node *decorator = NULL;
  if (!top) {
    tf_report(e->context, node->loc, STMT_MISPLACED, "a class", "the top level of the file");
    return;
  }
  bool good = decorator_form(e, node, &decorator) == TF_SPECIAL_MODULE;
  section options = {.name = strcmp(node->def.name, "_") ? node->def.name
                                                         : NULL}; /* '_' is how a class without name prints */
  if (good && decorator->kind == TF_NODE_CALL) {
    unsigned count;
    tf_argument *args = tf_eval_arguments(e, decorator, &count);
    for (unsigned i = 0; i < count; i++)
      read_module_option(e, &args[i], &options);
  }
  tf_scope_push(e, false);
  out->section = declare_section(u, &node->def.body, false);
  tf_scope_pop(e);
  out->section->name = options.name;
  out->section->loc = node->def.name_loc;
  out->section->entry = options.entry;
  e->default_target = NULL;
}

static void declare_def(unit *u, const tf_node *node, item *out, bool top) {
  const tf_node *decorator = NULL;
  tf_special form = decorator_form(&u->e, node, &decorator);
  if (form == TF_SPECIAL_PRIM_FUNC)
    out->function = tf_declare_function(&u->e, node, decorator);
  else if (form == TF_SPECIAL_INTRINSIC)
    declare_intrinsic(u, node, decorator, out, top);
}

static void declare_item(unit *u, const tf_node *node, item *out, bool top) {
  *out = (item){.node = node};
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_IMPORT:
    if (!top) tf_report(u->e.context, node->loc, STMT_MISPLACED, "an import", "the top level of the file");
    bind_imports(&u->e, node);
    return;
  case TF_NODE_ASSIGN:
    out->value = declare_static(&u->e, node, top);
    return;
  case TF_NODE_DEF:
    declare_def(u, node, out, top);
    return;
  case TF_NODE_CLASS:
    declare_class(u, node, out, top);
    return;
  case TF_NODE_EXPR:
    if (node->expr->kind == TF_NODE_STRING || node->expr->kind == TF_NODE_ELLIPSIS || node->expr->kind == TF_NODE_ERROR)
      return;
    break;
  case TF_NODE_PASS:
  case TF_NODE_BROKEN:
    return;
  default:
    break;
  }
  tf_report(u->e.context, node->loc, STMT_MISPLACED, "this statement", "the body of a function");
}

static section *declare_section(unit *u, const tf_block_syntax *block, bool top) {
  section *out = TF_ARENA_NEW(u->e.scratch, section);
  out->count = block->count;
  out->items = TF_ARENA_ARRAY(u->e.scratch, item, block->count);
  for (unsigned i = 0; i < block->count; i++)
    declare_item(u, block->items[i], &out->items[i], top);
  return out;
}

/* ---- Definitions ---- */
static void bind_given_intrinsics(tf_elab *e) {
  for (size_t i = 0; i < e->options->intrinsic_count; i++) {
    const tf_intrinsic *given = e->options->intrinsics[i];
    tf_bind(e, given->name, (tf_value){.kind = TF_VALUE_INTRINSIC, .intrinsic = given}, TF_NO_LOC);
  }
}

/* A call has to mean one thing: no function and intrinsic of one name. */
static void check_one_meaning(tf_elab *e, const item *it) {
  const char *name = it->function ? it->function->name : it->intrinsic ? it->intrinsic->name : NULL;
  const tf_binding *other = name ? tf_peek_binding(e, name) : NULL;
  if (!other || other->value.kind != (it->function ? TF_VALUE_INTRINSIC : TF_VALUE_FUNCTION)) return;
  tf_loc here = it->node->def.name_loc;
  tf_report(e->context, it->function ? other->loc : here, INTRINSIC_NAME, name, "a function has it");
  tf_report(e->context, it->function ? here : other->loc, FUNCTION_HERE, name);
}

static void bind_functions(tf_elab *e, const section *s) {
  for (unsigned i = 0; i < s->count; i++) {
    const item *it = &s->items[i];
    check_one_meaning(e, it);
    if (it->function)
      tf_bind(e, it->function->name, (tf_value){.kind = TF_VALUE_FUNCTION, .function = it->function},
              it->node->def.name_loc);
    else if (it->intrinsic)
      tf_bind(e, it->intrinsic->name, (tf_value){.kind = TF_VALUE_INTRINSIC, .intrinsic = it->intrinsic},
              it->intrinsic->loc);
    else if (it->node->kind == TF_NODE_DEF || (it->node->kind == TF_NODE_BROKEN && it->node->op && it->node->def.name))
      tf_bind(e, it->node->def.name, TF_VALUE_OF_ERROR, it->node->def.name_loc);
  }
}

/* Those that are called without a declaration stand behind the declared ones. */
static void add_given_intrinsics(unit *u) {
  for (size_t i = 0; i < u->e.options->intrinsic_count; i++) {
    const tf_intrinsic *given = u->e.options->intrinsics[i];
    bool listed = !u->e.intrinsic_used[i];
    for (size_t k = 0; k < u->intrinsics.count && !listed; k++)
      listed = u->intrinsics.items[k] == given;
    if (!listed) TF_VEC_PUSH(u->e.scratch, &u->intrinsics, given);
  }
}

static const tf_module *define_section(unit *u, const section *s, const tf_module **last_class) {
  tf_elab *e = &u->e;
  struct {
    TF_VEC(const tf_stmt *);
  } functions = {0};
  bind_functions(e, s);
  for (unsigned i = 0; i < s->count; i++) {
    const item *it = &s->items[i];
    if (it->node->kind == TF_NODE_IMPORT) bind_imports(e, it->node);
    if (it->node->kind == TF_NODE_ASSIGN) tf_bind(e, it->node->assign.name, it->value, it->node->assign.name_loc);
    if (it->function) {
      const tf_stmt *function = tf_define_function(e, it->function);
      if (function) TF_VEC_PUSH(e->scratch, &functions, function);
    }
    if (it->section) {
      tf_scope_push(e, false);
      *last_class = define_section(u, it->section, last_class);
      tf_scope_pop(e);
    }
  }
  add_given_intrinsics(u);
  return tf_module_new(e->context, s->name, s->entry, s->loc, (unsigned)functions.count, functions.items,
                       (unsigned)u->intrinsics.count, u->intrinsics.items);
}

/* ---- The entry point ---- */
typedef struct parse_job {
  tf_context *context;
  const char *name, *text;
  size_t length;
  const tf_parse_options *options;
  const tf_module **out;
  tf_arena scratch;
} parse_job;

/* Intrinsics keep their syntax as long as the context lives; nobody else does. */
static bool keeps_syntax(const parse_job *job) {
  return memmem(job->text, job->length, "intrinsic", 9) != NULL;
}

static const tf_module *elaborate(parse_job *job, const tf_block_syntax *file) {
  unit u;
  memset(&u, 0, sizeof u);
  u.e.context = job->context;
  u.e.scratch = &job->scratch;
  u.e.options = job->options;
  u.e.define_used = TF_ARENA_ARRAY(&job->scratch, bool, job->options->define_count);
  u.e.intrinsic_used = TF_ARENA_ARRAY(&job->scratch, bool, job->options->intrinsic_count);
  tf_scope_init(&u.e);
  const section *top = declare_section(&u, file, true);
  check_defines(&u.e);
  tf_scope_pop(&u.e);
  tf_scope_push(&u.e, false);
  bind_given_intrinsics(&u.e);
  const tf_module *last_class = NULL, *free_functions = define_section(&u, top, &last_class);
  return last_class ? last_class : free_functions;
}

static bool definitions_are_sound(const tf_parse_options *options) {
  if ((options->define_count && !options->defines) || (options->intrinsic_count && !options->intrinsics)) return false;
  for (size_t i = 0; i < options->define_count; i++)
    if (!options->defines[i].name || !options->defines[i].value) return false;
  return true;
}

static bool given_intrinsics_are_sound(tf_context *context, const tf_parse_options *options) {
  for (size_t i = 0; i < options->intrinsic_count; i++) {
    const tf_intrinsic *given = options->intrinsics[i];
    if (!given || tf_context_intern_cstr(context, given->name) != given->name) return false;
    for (size_t k = 0; k < i; k++)
      if (options->intrinsics[k]->name == given->name) return false;
  }
  return true;
}

static tf_status parse(void *argument) {
  parse_job *job = argument;
  if (!given_intrinsics_are_sound(job->context, job->options)) return TF_INVALID_ARGUMENT;
  size_t errors = job->context->error_count;
  uint32_t file = tf_context_add_source(job->context, job->name, job->text, job->length);
  tf_arena *arena = keeps_syntax(job) ? &job->context->arena : &job->scratch;
  tf_block_syntax syntax = tf_parse_syntax(job->context, file, arena);
  const tf_module *module = elaborate(job, &syntax);
  if (job->context->error_count > errors) return TF_PARSE;
  *job->out = module;
  return TF_OK;
}

tf_status tf_parse(tf_context *context, const char *name, const char *text, size_t length,
                   const tf_parse_options *options, const tf_module **out) {
  tf_parse_options known = TF_PARSE_OPTIONS_INIT;
  if (!context || !out || (!text && length) || length >= UINT32_MAX) return TF_INVALID_ARGUMENT;
  if (!tf_options_read(&known, sizeof known, options) || !definitions_are_sound(&known)) return TF_INVALID_ARGUMENT;
  parse_job job = {.context = context, .name = name ? name : "<text>", .text = text ? text : "", .length = length};
  job.options = &known;
  job.out = out;
  tf_arena_init(&job.scratch, &context->oom);
  tf_status status = tf_context_try(context, parse, &job);
  tf_arena_destroy(&job.scratch);
  return status;
}
