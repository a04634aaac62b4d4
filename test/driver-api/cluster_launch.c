/* cuLaunchKernelEx: clusters whose CTAs read each other's shared memory, a launch that may begin before the one before it
 * has ended, and a cooperative one. Needs a device with clusters (sm_90). */
#include "host.h"

/* Each CTA puts 100 + its rank into its shared memory; thread t of a CTA reads that of rank (t + 1) mod the cluster's size. */
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry exchange(.param .u64 out) {\n"
    ".reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<4>; .shared .align 4 .u32 mine;\n"
    "griddepcontrol.wait; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, %tid.x;\n"
    "add.u32 %r4, %r1, 100; setp.eq.u32 %p, %r3, 0; @%p st.shared.u32 [mine], %r4;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    "add.u32 %r5, %r3, 1; rem.u32 %r5, %r5, %r2; mov.u32 %r6, mine; mapa.shared::cluster.u32 %r7, %r6, %r5;\n"
    "ld.shared::cluster.u32 %r8, [%r7]; mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ntid.x;\n"
    "mad.lo.u32 %r9, %r9, %r10, %r3; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r9, 4;\n"
    "add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r8;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; griddepcontrol.launch_dependents; ret; }\n";

enum { CLUSTER = 4, GRID = 12, BLOCK = 32, N = GRID * BLOCK };

static void set_attributes(CUlaunchAttribute attributes[2]) {
  memset(attributes, 0, 2 * sizeof *attributes);
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim.x = CLUSTER;
  attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
}

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  CUfunction f;
  CUdeviceptr out = 0;
  CUstream stream = NULL;
  int clusters, most, supported;
  unsigned got[N];

  CHECK(cuInit(0));
  CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0));
  REQUIRE(supported);
  CHECK(CREATE_CONTEXT(&ctx, 0, 0));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&f, module, "exchange"));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuMemAlloc(&out, sizeof got));
  CHECK(cuMemsetD8Async(out, 0xFF, sizeof got, stream));

  CUlaunchAttribute attributes[2];
  set_attributes(attributes);
  CUlaunchConfig config = {.gridDimX = GRID,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = BLOCK,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .hStream = stream,
                           .attrs = attributes,
                           .numAttrs = 2};
  CHECK(cuOccupancyMaxActiveClusters(&clusters, f, &config));
  REQUIRE(clusters >= GRID / CLUSTER);
  CHECK(cuOccupancyMaxPotentialClusterSize(&most, f, &config));
  REQUIRE(most >= CLUSTER);
  void *params[] = {&out};
  CHECK(cuLaunchKernelEx(&config, f, params, NULL));
  CHECK(cuLaunchKernelEx(&config, f, params, NULL)); /* its dependent */
  CHECK(cuMemcpyDtoHAsync(got, out, sizeof got, stream));
  CHECK(cuStreamSynchronize(stream));
  for (unsigned i = 0; i < N; i++)
    REQUIRE(got[i] == 100 + (i % BLOCK + 1) % CLUSTER);

  attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[1].value.cooperative = 1;
  CHECK(cuLaunchKernelEx(&config, f, params, NULL));
  CHECK(cuStreamSynchronize(stream));
  config.gridDimX = GRID + 1; /* no multiple of the cluster */
  config.numAttrs = 1;
  EXPECT_EITHER(cuLaunchKernelEx(&config, f, params, NULL), CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  CHECK(cuStreamSynchronize(stream));
  printf("%d clusters of %d; up to %d CTAs fit one\n", GRID / CLUSTER, CLUSTER, most);

done:
  if (out) RELEASE(cuMemFree(out));
  if (stream) RELEASE(cuStreamDestroy(stream));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
