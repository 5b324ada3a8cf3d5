// SPDX-License-Identifier: Apache-2.0
//
// The driver: enough for frameworks and Triton to find one device, one context, modules and
// functions.
#define EXPORT extern "C" __attribute__((visibility("default")))
extern "C" int cudaDeviceGetAttribute(int *, int, int) __attribute__((weak));
EXPORT int cuDriverGetVersion(int *v) { return *v = CUDA_VERSION_NUMBER, 0; }
EXPORT int cuDeviceGetCount(int *n) { return *n = 1, 0; }
EXPORT int cuDeviceGet(int *v, int d) { return *v = d, 0; }
EXPORT int cuDeviceGetAttribute(int *v, int a, int d) {
  *v = 0;
  return cudaDeviceGetAttribute ? cudaDeviceGetAttribute(v, a, d) : 0;
}
EXPORT int cuDevicePrimaryCtxGetState(int, unsigned *flags, int *active) {
  return *flags = 0, *active = 1, 0;
}
EXPORT int cuCtxGetCurrent(void **c) { return *c = (void *)0x50, 0; }
EXPORT int cuCtxGetDevice(int *d) { return *d = 0, 0; }
EXPORT int cuModuleLoadData(void **m, const void *) { return *m = (void *)0x60, 0; }
EXPORT int cuModuleGetFunction(void **f, void *, const char *) { return *f = (void *)0x70, 0; }
EXPORT int cuFuncGetAttribute(int *v, int a, void *) {
  const int max_threads = 0, registers = 4;
  return *v = a == max_threads ? 1024 : a == registers ? 32 : 0, 0;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, ...) { return *n = 2, 0; }
EXPORT int cuGetErrorName(int, const char **s) { return *s = "fake", 0; }
EXPORT int cuGetErrorString(int, const char **s) { return *s = "fake", 0; }
