/* Arrays between host and device. The device's storage has the parameter's strides; gaps between its elements hold
 * zeros where the array was given and poison where it was not. */
#include <stdlib.h>
#include <string.h>

#include "Arguments.h"
#include "Message.h"

static bool is_dense(const tf_run_param *p) {
  int64_t stride = 1;
  for (unsigned axis = p->rank; axis-- > 0; stride *= p->shape[axis])
    if (p->shape[axis] != 1 && p->strides[axis] != stride) return false;
  return true;
}

static bool has_elements(const tf_run_param *p) {
  for (unsigned axis = 0; axis < p->rank; axis++)
    if (p->shape[axis] == 0) return false;
  return true;
}

/* Elements that the strides span; 0 if that overflows or a stride is negative. */
static size_t span(const tf_run_param *p) {
  int64_t last = 0, reach;
  for (unsigned axis = 0; axis < p->rank; axis++) {
    if (p->strides[axis] < 0 || __builtin_mul_overflow(p->shape[axis] - 1, p->strides[axis], &reach)) return 0;
    if (__builtin_add_overflow(last, reach, &last)) return 0;
  }
  return (size_t)last + 1;
}

/* Copies between the C-order array and storage with strides, element by element. */
static void copy_strided(tf_run_param *p, char *storage, bool to_storage) {
  size_t bytes = tf_element_bits(p->element) / 8;
  int64_t index[TF_NPY_MAX_RANK] = {0};
  for (size_t i = 0; i < p->host.count; i++) {
    int64_t offset = 0;
    for (unsigned axis = 0; axis < p->rank; axis++)
      offset += index[axis] * p->strides[axis];
    char *a = (char *)p->host.data + i * bytes, *b = storage + (size_t)offset * bytes;
    memcpy(to_storage ? b : a, to_storage ? a : b, bytes);
    for (unsigned axis = p->rank; axis-- > 0 && ++index[axis] == p->shape[axis];)
      index[axis] = 0;
  }
}

static void describe(const tf_device_info *info, tf_run_param *p) {
  DLDevice host = {.device_type = kDLCPU, .device_id = 0};
  p->tensor = (DLTensor){.data = p->storage,
                         .device = p->is_host ? host : info->device,
                         .ndim = (int)p->rank,
                         .dtype = tf_element_to_dlpack(p->element),
                         .shape = p->shape,
                         .strides = p->strides};
}

static tf_status fill_device(tf_runtime *rt, tf_run_param *p) {
  if (!p->given) return tf_device_poison(rt, p->storage, p->bytes);
  if (is_dense(p)) return tf_device_copy_in(rt, p->storage, p->host.data, p->bytes, NULL);
  char *staging = calloc(1, p->bytes + 1);
  if (!staging) return TF_OUT_OF_MEMORY;
  copy_strided(p, staging, true);
  tf_status status = tf_device_copy_in(rt, p->storage, staging, p->bytes, NULL);
  free(staging);
  return status;
}

static bool upload_host(tf_run_param *p) {
  void *storage = NULL;
  if (posix_memalign(&storage, 256, p->bytes ? p->bytes : 1) != 0) return false;
  p->storage = storage;
  memset(storage, p->given ? 0 : 0xff, p->bytes);
  if (p->given && p->bytes) copy_strided(p, storage, true);
  return true;
}

static bool upload(tf_runtime *rt, tf_run_param *p) {
  size_t elements = has_elements(p) ? span(p) : 0;
  if (has_elements(p) && (!elements || __builtin_mul_overflow(elements, tf_element_bits(p->element) / 8, &p->bytes)))
    return tf_run_error("tf-run", "argument '%s': its strides cannot be allocated", p->name);
  if (p->is_host) return upload_host(p) || tf_run_error("tf-run", "argument '%s': out of memory", p->name);
  tf_status status = tf_device_alloc(rt, p->bytes, &p->storage);
  if (status == TF_OK && p->bytes) status = fill_device(rt, p);
  return status == TF_OK || tf_run_error("tf-run", "argument '%s': %s", p->name, tf_runtime_message(rt));
}

bool tf_run_params_upload(tf_runtime *rt, tf_run_params *params) {
  tf_device_info info;
  if (tf_device_get_info(rt, &info) != TF_OK) return tf_run_error("tf-run", "%s", tf_runtime_message(rt));
  for (unsigned i = 0; i < params->count; i++) {
    tf_run_param *p = &params->items[i];
    if (p->is_scalar || p->is_bytes) continue;
    if (!upload(rt, p)) return false;
    describe(&info, p);
  }
  return true;
}

static tf_status fetch(tf_runtime *rt, tf_run_param *p) {
  if (p->is_host) {
    copy_strided(p, p->storage, false);
    return TF_OK;
  }
  if (is_dense(p)) return tf_device_copy_out(rt, p->host.data, p->storage, p->bytes, NULL);
  char *staging = malloc(p->bytes + 1);
  if (!staging) return TF_OUT_OF_MEMORY;
  tf_status status = tf_device_copy_out(rt, staging, p->storage, p->bytes, NULL);
  if (status == TF_OK) copy_strided(p, staging, false);
  free(staging);
  return status;
}

static bool download(tf_runtime *rt, tf_run_params *params, const tf_run_list *names) {
  for (unsigned i = 0; i < names->count; i++) {
    tf_run_param *p = tf_run_params_find(params, names->items[i].name);
    if (!p->host.data && !tf_run_array_create(&p->host, p->element, p->rank, p->shape))
      return tf_run_error("tf-run", "'%s': out of memory", p->name);
    if (p->bytes && fetch(rt, p) != TF_OK) return tf_run_error("tf-run", "'%s': %s", p->name, tf_runtime_message(rt));
  }
  return true;
}

bool tf_run_params_download(tf_runtime *rt, const tf_run_options *options, tf_run_params *params) {
  return download(rt, params, &options->outs) && download(rt, params, &options->prints) &&
         download(rt, params, &options->expects);
}

void tf_run_params_free(tf_runtime *rt, tf_run_params *params) {
  for (unsigned i = 0; i < params->count; i++) {
    tf_run_param *p = &params->items[i];
    if (p->is_host)
      free(p->storage);
    else if (p->storage)
      (void)tf_device_free(rt, p->storage);
    tf_run_array_free(&p->host);
    tf_npy_free(&p->npy);
  }
  free(params->items);
  *params = (tf_run_params){0};
}
