// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt: the heuristic always finds one algorithm that needs no workspace.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#define EXPORT extern "C" __attribute__((visibility("default")))
static int make(void **p) { return *p = calloc(1, 1024), 0; }
EXPORT size_t cublasLtGetVersion() { return CUBLAS_VERSION_NUMBER; }
EXPORT int cublasLtCreate(void **p) { return make(p); }
EXPORT int cublasLtMatmulDescCreate(void **p, ...) { return make(p); }
EXPORT int cublasLtMatrixLayoutCreate(void **p, ...) { return make(p); }
EXPORT int cublasLtMatmulPreferenceCreate(void **p) { return make(p); }
EXPORT int cublasLtMatmulDescDestroy(void *p) { return free(p), 0; }
EXPORT int cublasLtMatrixLayoutDestroy(void *p) { return free(p), 0; }
EXPORT int cublasLtMatmulPreferenceDestroy(void *p) { return free(p), 0; }
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *,
                                          int, void *result, int *n) {
  const size_t result_bytes = 96;  // algo 64, workspace size 8, state 4, waves 4, reserved 16
  return memset(result, 0, result_bytes), *n = 1, 0;
}
