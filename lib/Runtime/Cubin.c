/* Looking for the tools, running them, and the cache's key. */
#include "Runtime/Cubin.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef TF_VERSION
#error "the build defines TF_VERSION"
#endif

extern char **environ;

/* ---- The target -------------------------------------------------------------------------------------------------- */

/* "sm_90": the device's architecture; "sm_90a": the PTX's own, when it is of the kind that only runs there. False for
 * text that names none. */
static bool choose_arch(const char *ptx, unsigned compute, char arch[16]) {
  const char *target = strstr(ptx, ".target");
  target = target ? target + strlen(".target") : "";
  target += strspn(target, " \t");
  size_t digits = strncmp(target, "sm_", 3) == 0 ? strspn(target + 3, "0123456789") : 0;
  if (digits == 0 || digits > 4) return false;
  if (isalpha((unsigned char)target[3 + digits]))
    snprintf(arch, 16, "%.*s", (int)digits + 4, target);
  else
    snprintf(arch, 16, "sm_%u", compute);
  return true;
}

/* ---- The tools --------------------------------------------------------------------------------------------------- */

typedef struct tool {
  bool is_library;
  char path[4096];
  struct stat info; /* of the file: another version has another size or date */
} tool;

static bool is_tool(tool *t, const char *folder, size_t length, const char *below) {
  int n = snprintf(t->path, sizeof t->path, "%.*s%s", (int)length, folder, below);
  return n > 0 && (size_t)n < sizeof t->path && stat(t->path, &t->info) == 0 && S_ISREG(t->info.st_mode) &&
         access(t->path, t->is_library ? R_OK : X_OK) == 0;
}

static bool is_in_toolkit(tool *t, const char *below) {
  const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
    if (homes[i] && *homes[i] && is_tool(t, homes[i], strlen(homes[i]), below)) return true;
  return false;
}

static bool is_on_path(tool *t, const char *below) {
  const char *path = getenv("PATH");
  while (path && *path) {
    size_t length = strcspn(path, ":");
    if (length && is_tool(t, path, length, below)) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

static bool find_library(tool *t) {
  const char *named = getenv("TF_NVJITLINK");
  *t = (tool){.is_library = true};
  if (named && *named) return is_tool(t, named, strlen(named), "");
  return is_in_toolkit(t, "/lib64/libnvJitLink.so") || is_in_toolkit(t, "/lib/libnvJitLink.so");
}

static bool find_program(tool *t) {
  const char *named = getenv("TF_PTXAS");
  *t = (tool){.is_library = false};
  if (named && *named) return is_tool(t, named, strlen(named), "");
  return is_on_path(t, "/ptxas") || is_in_toolkit(t, "/bin/ptxas");
}

/* ---- nvJitLink --------------------------------------------------------------------------------------------------- */

enum { NVJITLINK_SUCCESS = 0, NVJITLINK_INPUT_PTX = 2 };

typedef struct nvjitlink {
  int (*create)(void **handle, uint32_t count, const char **options);
  int (*destroy)(void **handle);
  int (*add)(void *handle, int type, const void *data, size_t size, const char *name);
  int (*complete)(void *handle);
  int (*size)(void *handle, size_t *size);
  int (*get)(void *handle, void *cubin);
} nvjitlink;

static bool load_symbol(void *library, const char *symbol, void *member) {
  void *address = dlsym(library, symbol);
  memcpy(member, &address, sizeof address);
  return address != NULL;
}

static bool load_nvjitlink(void *library, nvjitlink *api) {
  return load_symbol(library, "nvJitLinkCreate", &api->create) &&
         load_symbol(library, "nvJitLinkDestroy", &api->destroy) &&
         load_symbol(library, "nvJitLinkAddData", &api->add) &&
         load_symbol(library, "nvJitLinkComplete", &api->complete) &&
         load_symbol(library, "nvJitLinkGetLinkedCubinSize", &api->size) &&
         load_symbol(library, "nvJitLinkGetLinkedCubin", &api->get);
}

static bool allocate(tf_cubin *out, size_t size) {
  out->bytes = calloc(1, size + 1);
  out->size = size;
  return out->bytes != NULL;
}

static void discard(tf_cubin *out) {
  free(out->bytes);
  out->bytes = NULL;
}

static bool link_ptx(const nvjitlink *api, const char *ptx, const char *arch, tf_cubin *out) {
  char option[32];
  void *handle = NULL;
  size_t size = 0;
  snprintf(option, sizeof option, "-arch=%s", arch);
  const char *options[] = {option, "-lineinfo"};
  if (api->create(&handle, 2, options) != NVJITLINK_SUCCESS) return false;
  bool made = api->add(handle, NVJITLINK_INPUT_PTX, ptx, strlen(ptx) + 1, "ptx") == NVJITLINK_SUCCESS &&
              api->complete(handle) == NVJITLINK_SUCCESS && api->size(handle, &size) == NVJITLINK_SUCCESS && size > 0 &&
              allocate(out, size);
  if (made && api->get(handle, out->bytes) != NVJITLINK_SUCCESS) {
    discard(out);
    made = false;
  }
  (void)api->destroy(&handle);
  return made;
}

static bool make_by_library(const tool *t, const char *ptx, const char *arch, tf_cubin *out) {
  nvjitlink api;
  /* NVIDIA's library does not free its tables when it is unloaded, so it stays: a second load then costs nothing. */
  void *library = dlopen(t->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return false;
  bool made = load_nvjitlink(library, &api) && link_ptx(&api, ptx, arch, out);
  dlclose(library);
  return made;
}

/* ---- ptxas ------------------------------------------------------------------------------------------------------- */

static bool write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wbe");
  if (!file) return false;
  bool written = fputs(text, file) >= 0;
  return fclose(file) == 0 && written;
}

static bool read_cubin(const char *path, tf_cubin *out) {
  struct stat info;
  FILE *file = fopen(path, "rbe");
  if (!file) return false;
  bool read = fstat(fileno(file), &info) == 0 && info.st_size > 0 && allocate(out, (size_t)info.st_size);
  if (read && fread(out->bytes, 1, out->size, file) != out->size) {
    discard(out);
    read = false;
  }
  fclose(file);
  return read;
}

/* Its words go nowhere: if it fails, the driver tells what is wrong with the PTX. */
static bool run_program(const char *program, const char *arch, const char *input, const char *output) {
  char option[32], *words[] = {(char *)(uintptr_t)program,
                               option,
                               (char *)(uintptr_t) "-lineinfo",
                               (char *)(uintptr_t) "-o",
                               (char *)(uintptr_t)output,
                               (char *)(uintptr_t)input,
                               NULL};
  snprintf(option, sizeof option, "-arch=%s", arch);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  pid_t child;
  bool started = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                 posix_spawn(&child, program, &actions, NULL, words, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  return started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool make_by_program(const tool *t, const char *ptx, const char *arch, tf_cubin *out) {
  const char *parent = getenv("TMPDIR");
  char folder[1024], input[1100], output[1100];
  int n = snprintf(folder, sizeof folder, "%s/tilefoundry-XXXXXX", parent && *parent ? parent : "/tmp");
  if (n < 0 || (size_t)n >= sizeof folder || !mkdtemp(folder)) return false;
  snprintf(input, sizeof input, "%s/in.ptx", folder);
  snprintf(output, sizeof output, "%s/out.cubin", folder);
  bool made = write_text(input, ptx) && run_program(t->path, arch, input, output) && read_cubin(output, out);
  (void)unlink(input);
  (void)unlink(output);
  (void)rmdir(folder);
  return made;
}

/* ---- The key ----------------------------------------------------------------------------------------------------- */

/* Everything that the cubin depends on: the PTX, the architecture, the tool's file, this library. */
static void choose_name(const char *ptx, const char *arch, const tool *t, char name[64]) {
  char options[4352];
  int n = snprintf(options, sizeof options, "%s|%s|%d|%s|%lld|%lld.%09ld|", TF_VERSION, arch, t->is_library, t->path,
                   (long long)t->info.st_size, (long long)t->info.st_mtim.tv_sec, t->info.st_mtim.tv_nsec);
  tf_cache_part parts[] = {{options, (size_t)n}, {ptx, strlen(ptx)}};
  tf_cache_name(parts, 2, ".cubin", name);
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

/* One tool's cubin, from the cache or made now. */
static bool try_tool(const tool *t, const char *ptx, const char *arch, tf_cubin *out) {
  choose_name(ptx, arch, t, out->name);
  out->cached = out->has_cache && tf_cache_get(&out->cache, out->name, &out->bytes, &out->size);
  return out->cached || (t->is_library ? make_by_library(t, ptx, arch, out) : make_by_program(t, ptx, arch, out));
}

bool tf_cubin_of_ptx(const char *ptx, unsigned compute, tf_cubin *out) {
  tool t;
  char arch[16];
  *out = (tf_cubin){0};
  if (!choose_arch(ptx, compute, arch)) return false;
  out->has_cache = tf_cache_open(&out->cache);
  return (find_library(&t) && try_tool(&t, ptx, arch, out)) || (find_program(&t) && try_tool(&t, ptx, arch, out));
}

void tf_cubin_close(tf_cubin *cubin, bool accepted) {
  if (accepted && cubin->has_cache && !cubin->cached)
    tf_cache_put(&cubin->cache, cubin->name, cubin->bytes, cubin->size);
  if (!accepted && cubin->cached) tf_cache_remove(&cubin->cache, cubin->name);
  discard(cubin);
}
