/* Functions that device code may call without defining them: printf, assertions, the heap.
 *
 * vprintf(format, arguments): the arguments lie one after another, each at its natural alignment, floats as doubles. */
#include "Sim/Access.h"
#include "Sim/Module.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 4096 };

static uint64_t argument(tf_warp *w, const tf_call *call, uint32_t i, unsigned lane) {
  uint64_t value = 0;
  if (i >= call->arg_count) return 0;
  const tf_param *p = &call->args[i];
  unsigned bytes = p->bytes > 8 ? 8 : (unsigned)p->bytes;
  if (p->operand == TF_NO_OPERAND)
    memcpy(&value, w->local + lane * w->local_stride + w->frame->local_base + p->offset, bytes);
  else
    memcpy(&value, (char *)tf_operand(w, p->operand) + (size_t)(p->width <= 4 ? 4 : p->width) * lane, bytes);
  return value;
}

static void give(tf_warp *w, const tf_call *call, unsigned lane, uint64_t value) {
  if (call->ret_count == 0) return;
  const tf_param *p = &call->rets[0];
  unsigned bytes = p->bytes > 8 ? 8 : (unsigned)p->bytes;
  if (p->operand == TF_NO_OPERAND) {
    uint64_t at = lane * w->local_stride + w->frame->local_base + p->offset;
    memcpy(w->local + at, &value, bytes);
    if (w->local_init) memset(w->local_init + at, 1, bytes);
  } else
    memcpy((char *)tf_operand(w, p->operand) + (size_t)(p->width <= 4 ? 4 : p->width) * lane, &value, bytes);
}

/* A null-terminated string in device memory, cut at the end of its memory. */
static void read_string(tf_warp *w, unsigned lane, uint64_t at, char *text, size_t size) {
  uint64_t n = tf_access_reach(w, lane, at, size - 1);
  const unsigned char *p = n ? tf_access_peek(w, lane, at, n) : NULL;
  *text = '\0';
  if (!p) {
    if (size > 6) memcpy(text, "(null)", 7);
    return;
  }
  memcpy(text, p, n);
  text[n] = '\0';
}

static void print(const tf_warp *w, const char *text, size_t length) {
  const tf_sim_options *o = &w->launch->device->options;
  if (!o->print) return;
  pthread_mutex_lock(&w->launch->report->lock); /* lines of several workers do not mix */
  o->print(o->user, text, length);
  pthread_mutex_unlock(&w->launch->report->lock);
}

typedef struct formatter {
  tf_warp *w;
  unsigned lane;
  uint64_t args; /* address of the next argument */
  char out[TEXT];
  size_t used;
  int printed; /* arguments */
} formatter;

static void emit(formatter *f, const char *text, size_t n) {
  if (n > sizeof f->out - f->used) n = sizeof f->out - f->used;
  memcpy(f->out + f->used, text, n);
  f->used += n;
}

static uint64_t next_argument(formatter *f, unsigned bytes) {
  uint64_t value = 0;
  f->args = (f->args + bytes - 1) & ~(uint64_t)(bytes - 1);
  const unsigned char *p = tf_access_peek(f->w, f->lane, f->args, bytes);
  if (p) memcpy(&value, p, bytes);
  f->args += bytes;
  f->printed++;
  return value;
}

/* Flags, width and precision as written, `*` replaced by its argument. Returns the end of what was read. */
static const char *read_spec(formatter *f, const char *at, char *spec, size_t size) {
  size_t n = 0;
  spec[n++] = '%';
  for (; *at && strchr("-+ #0123456789.*", *at); at++) {
    if (*at == '*') {
      int width = (int)(uint32_t)next_argument(f, 4);
      if (width > 1000 || width < -1000) width = 0;
      n += (size_t)snprintf(spec + n, size - n, "%d", width);
    } else if (n < 20)
      spec[n++] = *at;
  }
  spec[n] = '\0';
  return at;
}

static unsigned integer_bytes(const char **at) {
  unsigned bytes = 4;
  for (; **at == 'l' || **at == 'h' || **at == 'z' || **at == 'j' || **at == 't' || **at == 'L'; ++*at)
    if (**at == 'l' || **at == 'z' || **at == 'j' || **at == 't') bytes = 8;
  return bytes;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* The specification is rebuilt from checked characters, so the format matches its one argument. */
static void format_one(formatter *f, const char *spec, char conversion, unsigned bytes) {
  char full[40], text[1200], string[1024];
  int n = 0;
  const char *length = bytes == 8 && strchr("diouxX", conversion) ? "ll" : "";
  (void)snprintf(full, sizeof full, "%s%s%c", spec, length, conversion);
  if (strchr("fFeEgGaA", conversion)) {
    uint64_t bits = next_argument(f, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    n = snprintf(text, sizeof text, full, x);
  } else if (conversion == 's') {
    read_string(f->w, f->lane, next_argument(f, 8), string, sizeof string);
    n = snprintf(text, sizeof text, full, string);
  } else if (conversion == 'p') {
    n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)next_argument(f, 8));
  } else if (bytes == 8) {
    n = snprintf(text, sizeof text, full, (unsigned long long)next_argument(f, 8));
  } else {
    n = snprintf(text, sizeof text, full, (unsigned)next_argument(f, 4));
  }
  if (n > 0) emit(f, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
#pragma GCC diagnostic pop

static void format(formatter *f, const char *at) {
  char spec[40];
  while (*at) {
    const char *percent = strchr(at, '%');
    if (!percent) {
      emit(f, at, strlen(at));
      return;
    }
    emit(f, at, (size_t)(percent - at));
    at = percent + 1;
    if (*at == '%') {
      emit(f, at++, 1);
      continue;
    }
    at = read_spec(f, at, spec, sizeof spec);
    unsigned bytes = integer_bytes(&at);
    if (*at && strchr("diouxXcfFeEgGaAsp", *at))
      format_one(f, spec, *at++, bytes);
    else
      emit(f, percent, (size_t)(at - percent));
  }
}

static void native_vprintf(tf_warp *w, const tf_insn *in, const tf_call *call, uint32_t mask) {
  (void)in;
  for (uint32_t m = mask; m; m &= m - 1) {
    char text[TEXT];
    formatter f = {.w = w, .lane = (unsigned)__builtin_ctz(m)};
    read_string(w, f.lane, argument(w, call, 0, f.lane), text, sizeof text);
    f.args = argument(w, call, 1, f.lane);
    format(&f, text);
    print(w, f.out, f.used);
    give(w, call, f.lane, (uint64_t)(int64_t)f.printed);
  }
}

/* __assertfail(message, file, line, function, size of a character) */
static void native_assertfail(tf_warp *w, const tf_insn *in, const tf_call *call, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    char message[300], file[200], function[200], text[900];
    read_string(w, l, argument(w, call, 0, l), message, sizeof message);
    read_string(w, l, argument(w, call, 1, l), file, sizeof file);
    read_string(w, l, argument(w, call, 3, l), function, sizeof function);
    unsigned line = (unsigned)argument(w, call, 2, l);
    uint64_t t = (uint64_t)w->index * TF_LANES + l;
    const uint32_t *b = w->launch->block, *c = w->cta->ctaid;
    int n = snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                     file, line, function, c[0], c[1], c[2], (unsigned)(t % b[0]), (unsigned)(t / b[0] % b[1]),
                     (unsigned)(t / b[0] / b[1]), message);
    if (n > 0) print(w, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    tf_find(w, in, l, TF_FIND_assertion, 0, 0, "%s:%u: %s: assertion `%s` failed", file, line, function, message);
  }
}

/* The device heap: every block is an allocation of its own, so overruns and use after free are found. The table of
 * allocations changes here while a launch runs, which is why these functions keep the launch on one worker. */
static void native_malloc(tf_warp *w, const tf_insn *in, const tf_call *call, uint32_t mask) {
  (void)in;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    tf_alloc *a = NULL;
    tf_status status = tf_memory_alloc(&w->launch->device->memory, argument(w, call, 0, l), false, NULL, &a);
    give(w, call, l, status == TF_OK ? a->lo : 0);
  }
}

static void native_free(tf_warp *w, const tf_insn *in, const tf_call *call, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t address = argument(w, call, 0, l);
    for (unsigned i = 0; i < TF_CACHE_WAYS; i++) /* no cached interval may outlive its memory */
      w->worker->cache[i] = (tf_interval){.lo = 1};
    if (address && tf_memory_free(&w->launch->device->memory, address) != TF_OK)
      tf_find(w, in, l, TF_FIND_freed, address, 0, "free of 0x%llx, which is no live block of the device heap",
              (unsigned long long)address);
  }
}

static const tf_native natives[] = {
    {"vprintf", native_vprintf, false},
    {"__assertfail", native_assertfail, false},
    {"malloc", native_malloc, true},
    {"free", native_free, true},
};

const tf_native *tf_native_find(const char *name) {
  for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
    if (strcmp(natives[i].name, name) == 0) return &natives[i];
  return NULL;
}
