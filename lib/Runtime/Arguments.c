/* The checks between a caller's DLPack tensors and a signature. Order: count, then each argument by itself, which makes it a
 * value; then what needs the others: dims (Dims.c), layouts, overlaps. Values of inner launches and calls go the same way
 * from their addresses on. Every message names the parameter, what was expected and what came. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

/* Its address stands for the strides of a tensor that says no more than that it lies in C order. */
static const int64_t c_order[1];

/* ---- One tensor by itself ---------------------------------------------------------------------------------------- */

static tf_status check_dtype(const tf_mparam *p, DLDataType have, const tf_why *why) {
  DLDataType want = p->dlpack;
  if (have.code == want.code && have.bits == want.bits && have.lanes == want.lanes) return TF_OK;
  char text[64];
  tf_dlpack_describe(have, text, sizeof text);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor's dtype is %s, expected %s", p->name, text,
                    tf_element_name(p->element));
}

static void describe_device(DLDevice device, char *text, size_t size) {
  static const char *const names[] = {[kDLCPU] = "cpu",
                                      [kDLCUDA] = "cuda",
                                      [kDLCUDAHost] = "pinned host memory",
                                      [kDLCUDAManaged] = "cuda managed memory"};
  unsigned type = (unsigned)device.device_type;
  if (type < sizeof names / sizeof *names && names[type])
    snprintf(text, size, "%s:%d", names[type], device.device_id);
  else
    snprintf(text, size, "DLPack device type %u:%d", type, device.device_id);
}

static tf_status check_device(const tf_runtime *rt, const tf_mparam *p, DLDevice have, const tf_why *why) {
  int type = (int)have.device_type;
  bool on_host = type == kDLCPU || type == kDLCUDAHost;
  bool on_device = type == kDLCUDAManaged || (type == kDLCUDA && have.device_id == rt->info.device.device_id);
  if (p->host ? on_host : on_device) return TF_OK;
  char want[32] = "host memory", got[64];
  describe_device(have, got, sizeof got);
  if (!p->host) snprintf(want, sizeof want, "cuda:%d", rt->info.device.device_id);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor is on %s, expected %s", p->name, got, want);
}

static bool is_empty(const int64_t *shape, unsigned rank) {
  for (unsigned axis = 0; axis < rank; axis++)
    if (shape[axis] == 0) return true;
  return false;
}

tf_status tf_tensor_check_address(const tf_mparam *param, const tf_tensor *tensor, const tf_why *why) {
  uint64_t address = tensor->data;
  bool aligned = (address & (param->alignment - 1)) == 0; /* a power of two */
  if ((address && aligned) || is_empty(tensor->shape, param->rank)) return TF_OK;
  if (!address) return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor's data is null", param->name);
  return tf_why_set(why, TF_LAUNCH,
                    "argument '%s': the first element is at address 0x%" PRIx64 ", expected a multiple of %" PRIu64,
                    param->name, address, param->alignment);
}

static tf_status read_address(const tf_mparam *p, const DLTensor *t, tf_tensor *out, const tf_why *why) {
  uint64_t data = (uint64_t)(uintptr_t)t->data;
  *out = (tf_tensor){.data = data ? data + t->byte_offset : 0, .shape = t->shape};
  if (out->data < data && !is_empty(t->shape, p->rank))
    return tf_why_set(why, TF_LAUNCH, "argument '%s': a byte offset of %" PRIu64 " leaves the address space", p->name,
                      t->byte_offset);
  return tf_tensor_check_address(p, out, why);
}

static tf_status read_tensor(const tf_runtime *rt, const tf_mparam *p, const tf_argument *a, tf_tensor *out,
                             const int64_t **strides, const tf_why *why) {
  const DLTensor *t = a->value.tensor;
  if (a->kind == TF_ARGUMENT_OUTPUT)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': only entries make their outputs, a kernel needs a tensor",
                      p->name);
  if (a->kind != TF_ARGUMENT_TENSOR)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': expected a tensor, got a scalar", p->name);
  if (!t) return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor is null", p->name);
  if (t->ndim < 0 || (unsigned)t->ndim != p->rank)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor has %d axes, expected %u", p->name, t->ndim, p->rank);
  if (!t->shape) return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor's shape is null", p->name);
  tf_status status = check_dtype(p, t->dtype, why);
  if (status == TF_OK) status = check_device(rt, p, t->device, why);
  if (status == TF_OK) status = read_address(p, t, out, why);
  *strides = t->strides ? t->strides : p->strides ? c_order : NULL;
  return status;
}

/* ---- One scalar -------------------------------------------------------------------------------------------------- */

static const char *convert_scalar(const tf_mparam *p, const tf_argument *a, uint64_t *bits) {
  int64_t i = a->value.i;
  switch (a->kind) {
  case TF_ARGUMENT_INT:
    return tf_element_from_int(p->element, i < 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, bits);
  case TF_ARGUMENT_UINT:
    return tf_element_from_int(p->element, false, a->value.u, bits);
  case TF_ARGUMENT_FLOAT:
    return tf_element_from_float(p->element, a->value.f, bits);
  case TF_ARGUMENT_BITS:
    return tf_element_from_bits(p->element, a->value.u, bits);
  case TF_ARGUMENT_TENSOR:
  case TF_ARGUMENT_OUTPUT:
    return "expected a scalar";
  }
  return "unknown kind of argument";
}

/* What came, in words. */
static void describe_scalar(const tf_argument *a, char *text, size_t size) {
  switch (a->kind) {
  case TF_ARGUMENT_INT:
    snprintf(text, size, "%" PRId64, a->value.i);
    break;
  case TF_ARGUMENT_UINT:
    snprintf(text, size, "%" PRIu64, a->value.u);
    break;
  case TF_ARGUMENT_FLOAT:
    snprintf(text, size, "%.17g", a->value.f);
    break;
  case TF_ARGUMENT_BITS:
    snprintf(text, size, "the bits 0x%" PRIx64, a->value.u);
    break;
  case TF_ARGUMENT_TENSOR:
  case TF_ARGUMENT_OUTPUT:
    snprintf(text, size, "a tensor");
    break;
  default:
    snprintf(text, size, "%d", (int)a->kind);
  }
}

tf_status tf_argument_read_scalar(const tf_mparam *param, const tf_argument *argument, uint64_t *bits,
                                  const tf_why *why) {
  const char *error = convert_scalar(param, argument, bits);
  if (!error) return TF_OK;
  char got[64];
  describe_scalar(argument, got, sizeof got);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': %s (%s): got %s", param->name, error,
                    tf_element_name(param->element), got);
}

/* ---- Layout of a tensor ------------------------------------------------------------------------------------------ */

/* Elements of a tensor with extents below 2^31; -1: more than can be addressed, beyond which the arithmetic of strides would
 * wrap. */
static int64_t count_elements(const int64_t *shape, unsigned rank) {
  int64_t count = 1;
  bool wraps = false;
  for (unsigned axis = 0; axis < rank; axis++)
    wraps = __builtin_mul_overflow(count, shape[axis], &count) || wraps;
  for (unsigned axis = 0; wraps && axis < rank; axis++)
    if (shape[axis] == 0) return 0;
  return wraps || count > INT64_MAX / 8 ? -1 : count;
}

static tf_status check_strides(const tf_mparam *p, const int64_t *shape, const int64_t *strides, const tf_menv *env,
                               const tf_why *why) {
  int64_t dense = 1; /* C-order stride of the axis */
  for (unsigned axis = p->rank; axis-- > 0; dense *= shape[axis]) {
    int64_t want = dense, have = strides == c_order ? dense : strides[axis];
    const char *error = p->strides ? tf_mexpr_eval(&p->strides[axis], env, &want) : NULL;
    if (error) return tf_why_set(why, TF_LAUNCH, "argument '%s': the stride of axis %u: %s", p->name, axis, error);
    if (shape[axis] != 1 && have != want)
      return tf_why_set(why, TF_LAUNCH, "argument '%s': axis %u has stride %" PRId64 ", expected %" PRId64 "%s",
                        p->name, axis, have, want, p->strides ? "" : " (C order)");
  }
  return TF_OK;
}

static tf_status check_layout(const tf_mparam *p, const tf_tensor *t, const int64_t *strides, const tf_menv *env,
                              const tf_why *why) {
  int64_t count = count_elements(t->shape, p->rank);
  if (count == 0) return TF_OK;
  if (count < 0)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor has more elements than memory can hold", p->name);
  return strides ? check_strides(p, t->shape, strides, env, why) : TF_OK;
}

/* ---- Overlaps ---------------------------------------------------------------------------------------------------- */

typedef struct range {
  uint64_t begin, end; /* bytes, half-open */
} range;

/* First to last byte of a tensor that has elements, with strides of the parameter's own. Strides that leave 64 bits give
 * everything. */
static range strided_range(const tf_mparam *p, const tf_tensor *t, const tf_menv *env) {
  static const range everything = {0, UINT64_MAX};
  int64_t last = 0, first = 0, stride, reach;
  for (unsigned axis = 0; axis < p->rank; axis++) {
    if (tf_mexpr_eval(&p->strides[axis], env, &stride)) return everything;
    if (__builtin_mul_overflow(t->shape[axis] - 1, stride, &reach)) return everything;
    if (__builtin_add_overflow(reach < 0 ? first : last, reach, reach < 0 ? &first : &last)) return everything;
  }
  if (first < -INT64_MAX / 8 || last > INT64_MAX / 8) return everything;
  uint64_t before = tf_element_bytes(p->element, (uint64_t)-first);
  return (range){t->data - before, t->data + tf_element_bytes(p->element, (uint64_t)last + 1)};
}

static range byte_range(const tf_mparam *p, const tf_tensor *t, const tf_menv *env) {
  int64_t count = count_elements(t->shape, p->rank);
  if (count == 0) return (range){t->data, t->data};
  if (p->strides) return strided_range(p, t, env);
  return (range){t->data, t->data + tf_element_bytes(p->element, (uint64_t)count)};
}

/* The const_tensor that shares bytes with a written tensor; -1 if none does. */
static int overlapped(const tf_msignature *signature, unsigned written, range bytes, const tf_menv *env, range *out) {
  for (unsigned c = 0; c < signature->declared_count; c++) {
    const tf_mparam *p = &signature->params[c];
    if (p->kind != TF_MPARAM_CONST_TENSOR || p->host != signature->params[written].host) continue;
    *out = byte_range(p, &env->values[c].tensor, env);
    if (out->begin < bytes.end && bytes.begin < out->end) return (int)c;
  }
  return -1;
}

tf_status tf_values_check_overlap(const tf_msignature *signature, const tf_menv *env, const tf_why *why) {
  for (unsigned w = 0; signature->has_const && w < signature->declared_count; w++) {
    const tf_mparam *p = &signature->params[w];
    if (p->kind != TF_MPARAM_TENSOR) continue;
    range b = byte_range(p, &env->values[w].tensor, env), a;
    int c = overlapped(signature, w, b, env, &a);
    if (c >= 0)
      return tf_why_set(why, TF_LAUNCH,
                        "argument '%s': [0x%" PRIx64 ", 0x%" PRIx64 ") overlaps '%s' [0x%" PRIx64 ", 0x%" PRIx64
                        "), which is a ConstTensor",
                        p->name, b.begin, b.end, signature->params[c].name, a.begin, a.end);
  }
  return TF_OK;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* What needs all values. */
static tf_status solve_and_check(const tf_manifest *manifest, const tf_msignature *signature, const tf_value *values,
                                 const int64_t *const *strides, int64_t *dims, const tf_why *why) {
  tf_status status = tf_dims_solve(manifest, signature, values, dims, why);
  const tf_menv env = {.dims = dims, .values = values};
  for (unsigned i = 0; i < signature->declared_count && status == TF_OK; i++)
    if (tf_mparam_is_tensor(&signature->params[i]))
      status = check_layout(&signature->params[i], &values[i].tensor, strides ? strides[i] : NULL, &env, why);
  return status == TF_OK ? tf_values_check_overlap(signature, &env, why) : status;
}

tf_status tf_values_bind(const tf_manifest *manifest, const tf_msignature *signature, const tf_value *values,
                         const int64_t *const *strides, int64_t *dims, const tf_why *why) {
  tf_status status = TF_OK;
  for (unsigned i = 0; i < signature->declared_count && status == TF_OK; i++)
    if (tf_mparam_is_tensor(&signature->params[i]))
      status = tf_tensor_check_address(&signature->params[i], &values[i].tensor, why);
  return status == TF_OK ? solve_and_check(manifest, signature, values, strides, dims, why) : status;
}

static tf_status bind(const tf_runtime *rt, const tf_manifest *manifest, const tf_msignature *signature,
                      const tf_argument *arguments, unsigned count, tf_value *values, const int64_t **strides,
                      int64_t *dims, const tf_why *why) {
  if (count != signature->declared_count)
    return tf_why_set(why, TF_LAUNCH, "got %u arguments, expected %u", count, signature->declared_count);
  for (unsigned i = 0; i < count; i++) {
    const tf_mparam *p = &signature->params[i];
    tf_status status = tf_mparam_is_tensor(p) ? read_tensor(rt, p, &arguments[i], &values[i].tensor, &strides[i], why)
                                              : tf_argument_read_scalar(p, &arguments[i], &values[i].bits, why);
    if (status != TF_OK) return status;
  }
  return solve_and_check(manifest, signature, values, strides, dims, why);
}

tf_status tf_arguments_bind(tf_runtime *rt, const tf_manifest *manifest, const tf_msignature *signature,
                            const tf_argument *arguments, unsigned count, tf_value *values, const int64_t **strides,
                            int64_t *dims) {
  char text[512];
  tf_status status =
      bind(rt, manifest, signature, arguments, count, values, strides, dims, &(tf_why){text, sizeof text});
  return status == TF_OK ? TF_OK : tf_runtime_fail(rt, status, "%s: %s", signature->name, text);
}
