// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: every plan exists and needs FAKE_CUDNN_WS bytes of workspace (0 unless set). Attention
// graphs are not answered sensibly: torch.backends.cuda.enable_cudnn_sdp(False). Of RNNs the
// weights lie as cuDNN documents it, and training keeps what no gradient can do without; cuDNN
// keeps more.
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

// --- Recurrent networks ---
namespace {
struct Rnn {
  int mode, bias, directions, element, input, hidden, projected, layers;
  int gates() const { return mode == 2 ? 4 : mode == 3 ? 3 : 1; }  // LSTM, GRU, else plain
  int products() const { return 2 * gates(); }
  int state() const { return projected < hidden ? projected : hidden; }
  int inputs(int cell) const { return cell < directions ? input : state() * directions; }
  size_t matrices(int cell) const {
    size_t projection = projected < hidden ? (size_t)projected * hidden : 0;
    return (size_t)gates() * hidden * (inputs(cell) + state()) + projection;
  }
  int cells() const { return layers * directions; }
  size_t all_matrices() const {
    size_t sum = 0;
    for (int i = 0; i < cells(); i++) sum += matrices(i);
    return sum;
  }
  size_t biases() const { return bias ? (size_t)products() * hidden : 0; }
};
struct Sequences {
  int time, batch;
};
struct Dimensions {
  int type, count, sizes[8];
};
int width(int type) { return type == 1 ? 8 : type == 0 ? 4 : 2; }
void describe(void *desc, const Rnn &r, int rows, int columns) {
  int type = r.element == 8 ? 1 : r.element == 4 ? 0 : 2;
  *(Dimensions *)desc = {type, 3, {1, rows, columns}};
}
}  // namespace
EXPORT int cudnnSetRNNDescriptor_v8(void *desc, int, int mode, int bias, int direction, int,
                                    int type, int, int, int input, int hidden, int projected,
                                    int layers, void *, unsigned) {
  *(Rnn *)desc = {mode, bias, direction ? 2 : 1, width(type), input, hidden, projected, layers};
  return 0;
}
EXPORT int cudnnSetRNNDataDescriptor(void *desc, int, int, int time, int batch, int, const int *,
                                     void *) {
  return *(Sequences *)desc = {time, batch}, 0;
}
EXPORT int cudnnGetRNNWeightSpaceSize(void *, void *desc, size_t *n) {
  const Rnn &r = *(Rnn *)desc;
  return *n = (r.all_matrices() + r.cells() * r.biases()) * r.element, 0;
}
EXPORT int cudnnGetRNNWeightParams(void *, void *desc, int cell, size_t, const void *space, int i,
                                   void *matrix, void **matrix_at, void *bias, void **bias_at) {
  const Rnn &r = *(Rnn *)desc;
  size_t at = 0;
  for (int c = 0; c < cell; c++) at += r.matrices(c);
  int of_input = i < r.gates() ? i : r.gates(), of_state = i < r.gates() ? 0 : i - r.gates();
  at += (size_t)r.hidden * (of_input * r.inputs(cell) + of_state * r.state());
  bool projects = i == r.products();
  if (matrix)
    describe(matrix, r, projects ? r.projected : r.hidden,
             projects        ? r.hidden
             : i < r.gates() ? r.inputs(cell)
                             : r.state());
  if (matrix_at) *matrix_at = (char *)space + at * r.element;
  if (bias_at) *bias_at = nullptr;
  if (!r.bias || projects || !bias_at) return 0;
  if (bias) describe(bias, r, r.hidden, 1);
  at = r.all_matrices() + cell * r.biases() + (size_t)i * r.hidden;
  *bias_at = (char *)space + at * r.element;
  return 0;
}
EXPORT int cudnnGetTensorNdDescriptor(void *desc, int, int *type, int *count, int *sizes,
                                      int *strides) {
  const Dimensions &d = *(Dimensions *)desc;
  *type = d.type, *count = d.count;
  for (int i = d.count - 1, step = 1; i >= 0; step *= d.sizes[i--])
    sizes[i] = d.sizes[i], strides[i] = step;
  return 0;
}
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
// For a gradient each gate of each step is kept, of an LSTM the cells, and what lies between
// layers.
EXPORT int cudnnGetRNNTempSpaceSizes(void *, void *desc, int training, void *data, size_t *work,
                                     size_t *reserve) {
  const Rnn &r = *(Rnn *)desc;
  const Sequences &s = *(Sequences *)data;
  size_t states = (size_t)s.time * s.batch * r.directions;
  size_t kept = states * r.hidden * r.layers * (r.gates() + (r.mode == 2));
  size_t between = states * r.state() * (r.layers - 1);
  if (work) *work = workspace();
  if (reserve) *reserve = training ? (kept + between) * r.element : 0;
  return 0;
}
EXPORT int cudnnDropoutGetStatesSize(void *, size_t *n) { return *n = 1 << 20, 0; }
