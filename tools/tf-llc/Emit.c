/* The back end's part of the job, in a child process: should LLVM end the process after all, the parent says so in a message
 * of its own. The child's diagnostics go to the common stderr, its result comes back through a pipe. */
#include "Llc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Runtime/Cubin.h"

static void print_pass(void *user, const char *pass, const char *text) {
  (void)user;
  fprintf(stderr, "# ---- after %s ----\n%s", pass, text);
}

/* The .target of the PTX, for the assembler. */
static void target_of_ptx(const char *ptx, char *out, size_t size) {
  const char *at = strstr(ptx, "\n.target ");
  size_t length = at ? strcspn(at + 9, ",\n ") : 0;
  snprintf(out, size, "%.*s", (int)length, at ? at + 9 : "");
}

static bool keep(const void *text, size_t length, llc_text *out) {
  out->bytes = malloc(length + 1);
  if (!out->bytes) return false;
  memcpy(out->bytes, text, length);
  out->bytes[length] = 0;
  out->length = length;
  return true;
}

static unsigned sm_of_ptx(const char *ptx) {
  char target[32];
  target_of_ptx(ptx, target, sizeof target);
  return strncmp(target, "sm_", 3) == 0 ? (unsigned)strtoul(target + 3, NULL, 10) : 0;
}

static bool assemble(const char *ptx, llc_text *out) {
  char target[32];
  target_of_ptx(ptx, target, sizeof target);
  return llc_assemble(ptx, strlen(ptx), target, out);
}

/* The object of the module, with a cubin of the kernels if a tool that makes one is there. */
static tf_status emit_object(const llc_options *options, const tf_module *module, const tf_lower_options *lower,
                             llc_text *out) {
  tf_object_options object = TF_OBJECT_OPTIONS_INIT;
  tf_cubin cubin = {0};
  const char *ptx = NULL;
  const void *bytes = NULL;
  size_t size = 0;
  object.prefix = options->prefix;
  tf_status status = options->no_cubin ? TF_OK : tf_emit_ptx(module, lower, &ptx);
  if (status == TF_OK && ptx && tf_cubin_of_ptx(ptx, sm_of_ptx(ptx), &cubin)) {
    object.cubin = cubin.bytes;
    object.cubin_size = cubin.size;
  }
  if (status == TF_OK) status = tf_emit_object(module, lower, &object, &bytes, &size);
  if (status == TF_OK && !keep(bytes, size, out)) status = TF_OUT_OF_MEMORY;
  if (cubin.bytes) tf_cubin_close(&cubin, true);
  return status;
}

static tf_status emit_text(const llc_options *options, const tf_module *module, const tf_lower_options *lower,
                           const char **text) {
  tf_object_options object = TF_OBJECT_OPTIONS_INIT;
  object.prefix = options->prefix;
  switch (options->emit) {
  case LLC_EMIT_TIR:
    return tf_print(module, text);
  case LLC_EMIT_LLVM:
    return tf_emit_llvm(module, lower, text);
  case LLC_EMIT_MANIFEST:
    return tf_emit_manifest(module, lower, text);
  case LLC_EMIT_HEADER:
    return tf_emit_header(module, lower, &object, text);
  default:
    return tf_emit_ptx(module, lower, text);
  }
}

static int emit_here(const llc_options *options, const tf_module *module, llc_text *out) {
  const char *text = NULL;
  tf_lower_options lower = options->lower;
  llc_times times = options->times;
  tf_status status;
  lower.print = print_pass;
  lower.time = times.wanted ? llc_times_pass : NULL;
  lower.user = &times;
  if (options->emit == LLC_EMIT_OBJ)
    status = emit_object(options, module, &lower, out);
  else
    status = emit_text(options, module, &lower, &text);
  llc_times_end(&times);
  if (status != TF_OK || options->emit == LLC_EMIT_OBJ) return status == TF_OK ? 0 : 1;
  bool fine = options->emit == LLC_EMIT_CUBIN ? assemble(text, out) : keep(text, strlen(text), out);
  return fine ? 0 : 1;
}

/* ---- The child ---- */
static bool write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(fd, bytes, length);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) {
      bytes += count;
      length -= (size_t)count;
    }
  }
  return true;
}

static _Noreturn void run_child(const llc_options *options, const tf_module *module, int fd) {
  llc_text text = {NULL, 0};
  int status = emit_here(options, module, &text);
  if (status == 0 && !write_all(fd, text.bytes, text.length)) status = 1;
  fflush(NULL);
  _exit(status);
}

static bool read_all(int fd, llc_text *out) {
  size_t capacity = 0;
  for (;;) {
    if (out->length + 1 >= capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *bytes = realloc(out->bytes, capacity);
      if (!bytes) return false;
      out->bytes = bytes;
    }
    ssize_t count = read(fd, out->bytes + out->length, capacity - 1 - out->length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    out->length += (size_t)count;
  }
  out->bytes[out->length] = 0;
  return true;
}

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fprintf(stderr, "tf-llc: error: the back end stopped with signal %d; this is a fault of tf-llc, please report it\n",
          WTERMSIG(status));
  return 1;
}

int llc_emit_module(const llc_options *options, const tf_module *module, bool isolated, llc_text *out) {
  int fds[2];
  *out = (llc_text){NULL, 0};
  if (!isolated || options->emit == LLC_EMIT_TIR || pipe(fds) != 0) return emit_here(options, module, out);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    close(fds[0]);
    close(fds[1]);
    return emit_here(options, module, out);
  }
  if (child == 0) {
    close(fds[0]);
    run_child(options, module, fds[1]);
  }
  close(fds[1]);
  bool read_fine = read_all(fds[0], out);
  close(fds[0]);
  int status = wait_for(child);
  return read_fine ? status : 1;
}
