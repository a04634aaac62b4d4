/* From TIR to LLVM IR, PTX and the launch manifest. */
#ifndef TILEFOUNDRY_LOWER_H
#define TILEFOUNDRY_LOWER_H

#include <tilefoundry/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LLVM's opaque objects, so that this header needs none of LLVM's. */
struct LLVMOpaqueContext;
struct LLVMOpaqueModule;

typedef struct tf_lower_options {
  size_t size;
  const tf_target *target; /* overrides the functions' CUDA targets; null: theirs, else sm_80 */
  const char *entry;       /* the module's entry if it names none; may be null */
  unsigned ptx_version;    /* least PTX ISA version times 10, a TF_PTX_VERSION of Targets.def; 0: the smallest that serves */
  unsigned opt_level;      /* 0 … 3: LLVM's pipeline; INIT gives 3 */
  bool debug_lines;        /* .loc lines of the source */
  bool contract;           /* -ffp-contract=fast: a*b + c may be fused */
  bool flush_denormals;    /* -fdenormal=ftz */
  bool fast_math;          /* -ffast-math: approximate functions, reassociation */
  bool check_div;          /* -fcheck=div: integer division by zero traps */
  bool check_bounds;       /* -fcheck=bounds: windows that leave their source trap */
  bool host_abort_traps;   /* -fhost-abort=trap */
  bool linear_launches;    /* -flaunch=linear: blocks and grids have one axis, of known size where the kernel has one; others are
                              refused at launch */
  /* Called after a pass with its output if its name equals print_after (or that is "all"). A name that is no pass of
   * Passes.def with something to show is TF_INVALID_ARGUMENT. */
  const char *print_after;
  void (*print)(void *user, const char *pass, const char *text);
  void (*time)(void *user, const char *pass, double seconds); /* after each pass; null: not measured */
  void *user;
} tf_lower_options;
#define TF_LOWER_OPTIONS_INIT {sizeof(tf_lower_options), 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* All of these verify the module first (TF_VERIFY with diagnostics), refuse an entry that the module lacks (TF_VERIFY), and
 * report what the target lacks as diagnostics with TF_UNSUPPORTED. They may be called from several threads for different contexts. */

/* Adds every kernel to the caller's LLVM module, which takes its triple and data layout if it has none, and else needs the same
 * (TF_INVALID_ARGUMENT with a diagnostic; the module is as it was). A kernel is a function of the ptx_kernel calling convention
 * with its own name (what PTX cannot spell is escaped: the manifest's ptx_name) and the parameters that its .entry has: `ptr
 * addrspace(1)` for tensors, scalars in their dtypes (bool and the 8-bit floats i8, bf16 bfloat, tf32 float), then i32 extents and the
 * grid barrier's pointer. It takes the place of a declaration of this name and type; anything else of the name is TF_UNSUPPORTED with a
 * diagnostic. After that or any later failure some kernels may have been added: throw the LLVM module away.
 *
 * The LLVM context may serve any number of modules of any number of tf_contexts. */
TF_API TF_NODISCARD tf_status tf_lower_to_llvm(const tf_module *module, const tf_lower_options *options,
                                               struct LLVMOpaqueContext *llvm_context,
                                               struct LLVMOpaqueModule *llvm_module);
/* LLVM IR as text, before LLVM's own passes. Strings belong to the context. */
TF_API TF_NODISCARD tf_status tf_emit_llvm(const tf_module *module, const tf_lower_options *options, const char **out);
TF_API TF_NODISCARD tf_status tf_emit_ptx(const tf_module *module, const tf_lower_options *options, const char **out);
/* The manifest (docs/manifest.schema.json): what a runtime needs to know to launch the PTX of the same options. */
TF_API TF_NODISCARD tf_status tf_emit_manifest(const tf_module *module, const tf_lower_options *options,
                                               const char **out);

#ifdef __cplusplus
}
#endif
#endif
