// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS: a handle, and no arithmetic. PyTorch chooses the size of its workspace itself.
#include <cstdlib>
#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT int cublasCreate_v2(void **handle) { return *handle = calloc(1, 8192), 0; }
EXPORT int cublasGetMathMode(void *, int *mode) { return *mode = 0, 0; }
EXPORT int cublasGetPointerMode_v2(void *, int *mode) { return *mode = 0, 0; }
