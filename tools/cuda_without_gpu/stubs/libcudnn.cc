// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: every plan exists and needs FAKE_CUDNN_WS bytes of workspace (0 unless set). Attention
// graphs and RNNs are not answered sensibly: torch.backends.cuda.enable_cudnn_sdp(False), and
// torch.backends.cudnn.enabled = False for RNNs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define EXPORT extern "C" __attribute__((visibility("default")))
static size_t workspace() {
  const char *s = getenv("FAKE_CUDNN_WS");
  return s ? strtoull(s, nullptr, 10) : 0;
}
static int make(void **p) { return *p = calloc(1, 4096), 0; }
EXPORT size_t cudnnGetVersion() { return CUDNN_VERSION_NUMBER; }
EXPORT size_t cudnnGetCudartVersion() { return CUDA_VERSION_NUMBER; }
EXPORT int cudnnGetProperty(int which, int *v) {
  *v = which == 0   ? CUDNN_VERSION_NUMBER / 10000
       : which == 1 ? CUDNN_VERSION_NUMBER / 100 % 100
                    : CUDNN_VERSION_NUMBER % 100;
  return 0;
}
EXPORT const char *cudnnGetErrorString(int e) { return e ? "fake cudnn error" : "ok"; }
EXPORT void cudnnGetLastErrorString(char *text, size_t n) {
  if (n) text[0] = 0;
}
EXPORT int cudnnCreate(void **p) { return make(p); }
EXPORT int cudnnBackendCreateDescriptor(int, void **p) { return make(p); }
EXPORT int cudnnBackendDestroyDescriptor(void *p) { return free(p), 0; }
EXPORT int cudnnBackendGetAttribute(void *, int name, int type, int64_t, int64_t *count,
                                    void *out) {
  const int workspace_size = 402, notes[] = {403, 404, 1302, 1303, 1304, 1305}, int64_type = 3;
  bool note = false;  // numerical and behaviour notes: none
  for (int n : notes) note |= name == n;
  if (count) *count = note ? 0 : 1;
  if (name == workspace_size && out)
    *(int64_t *)out = workspace();
  else if (type == int64_type && out)
    *(int64_t *)out = 0;
  return 0;
}
#define MAKE_AND_DESTROY(X)                                           \
  EXPORT int cudnnCreate##X##Descriptor(void **p) { return make(p); } \
  EXPORT int cudnnDestroy##X##Descriptor(void *p) { return free(p), 0; }
MAKE_AND_DESTROY(Activation)
MAKE_AND_DESTROY(CTCLoss)
MAKE_AND_DESTROY(Convolution)
MAKE_AND_DESTROY(Dropout)
MAKE_AND_DESTROY(Filter)
MAKE_AND_DESTROY(Pooling)
MAKE_AND_DESTROY(RNNData)
MAKE_AND_DESTROY(RNN)
MAKE_AND_DESTROY(SpatialTransformer)
MAKE_AND_DESTROY(Tensor)
EXPORT int cudnnGetConvolutionForwardWorkspaceSize(void *, void *, void *, void *, void *, int,
                                                   size_t *n) {
  return *n = workspace(), 0;
}
EXPORT int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *, int, int, void *,
                                                                    void *, void *, void *, void *,
                                                                    size_t *n) {
  return *n = workspace(), 0;
}
EXPORT int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void *, int, int, void *, void *,
                                                             void *, void *, void *, void *, void *,
                                                             size_t *n) {
  return *n = workspace(), 0;
}
EXPORT int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *, int, int, void *, void *,
                                                                size_t *n) {
  return *n = 0, 0;
}
EXPORT int cudnnGetRNNTempSpaceSizes(void *, void *, int, void *, size_t *work, size_t *reserve) {
  return *work = *reserve = 0, 0;
}
EXPORT int cudnnDropoutGetStatesSize(void *, size_t *n) { return *n = 1 << 20, 0; }
