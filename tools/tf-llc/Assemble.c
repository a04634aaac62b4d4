/* cubin by ptxas: a program of its own, looked for on PATH and in CUDA's folders. */
#include "Llc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Looking for it ---- */
static bool try_folder(const char *folder, size_t length, const char *below, char *out, size_t size) {
  if (length == 0) return false;
  int written = snprintf(out, size, "%.*s%s/ptxas", (int)length, folder, below);
  return written > 0 && (size_t)written < size && access(out, X_OK) == 0;
}

static bool try_path(const char *path, char *out, size_t size) {
  while (path && *path) {
    size_t length = strcspn(path, ":");
    if (try_folder(path, length, "", out, size)) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

static bool find_ptxas(char *out, size_t size) {
  const char *home = getenv("CUDA_HOME"), *path = getenv("CUDA_PATH");
  if (try_path(getenv("PATH"), out, size)) return true;
  if (home && try_folder(home, strlen(home), "/bin", out, size)) return true;
  if (path && try_folder(path, strlen(path), "/bin", out, size)) return true;
  static const char standard[] = "/usr/local/cuda";
  return try_folder(standard, sizeof standard - 1, "/bin", out, size);
}

/* ---- Running it ---- */
static bool run(const char *ptxas, const char *target, const char *input, const char *output) {
  char arch[64];
  int status = 0;
  snprintf(arch, sizeof arch, "-arch=%s", target);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    execl(ptxas, "ptxas", arch, "-lineinfo", "-o", output, input, (char *)NULL);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0) return false;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  fprintf(stderr, "tf-llc: error: %s failed on the PTX that was emitted\n", ptxas);
  return false;
}

static bool in_folder(const char *folder, const char *ptxas, const char *ptx, size_t length, const char *target,
                      llc_text *out) {
  char input[64], output[64];
  snprintf(input, sizeof input, "%s/in.ptx", folder);
  snprintf(output, sizeof output, "%s/out.cubin", folder);
  bool fine = llc_write(input, ptx, length) && run(ptxas, target, input, output) && llc_read(output, out);
  unlink(input);
  unlink(output);
  return fine;
}

bool llc_assemble(const char *ptx, size_t length, const char *target, llc_text *out) {
  char ptxas[4096], folder[] = "/tmp/tf-llc-XXXXXX";
  if (!find_ptxas(ptxas, sizeof ptxas)) {
    fprintf(stderr, "tf-llc: error: --emit=cubin needs ptxas, which is not on PATH, nor in $CUDA_HOME/bin, "
                    "$CUDA_PATH/bin or /usr/local/cuda/bin\n");
    return false;
  }
  if (!mkdtemp(folder)) {
    fprintf(stderr, "tf-llc: error: cannot make a folder in /tmp\n");
    return false;
  }
  bool fine = in_folder(folder, ptxas, ptx, length, target, out);
  rmdir(folder);
  return fine;
}
