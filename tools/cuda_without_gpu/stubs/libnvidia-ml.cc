// SPDX-License-Identifier: Apache-2.0
//
// NVML: no fabric, no links, no processes.
#define EXPORT extern "C" __attribute__((visibility("default")))
static const int not_supported = 3;
EXPORT int nvmlInit_v2() { return 0; }
EXPORT int nvmlShutdown() { return 0; }
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *v) { return *v = CUDA_VERSION_NUMBER, 0; }
EXPORT int nvmlDeviceGetCount_v2(unsigned *n) { return *n = 1, 0; }
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned, void **d) { return *d = (void *)1, 0; }
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *, void **d) { return *d = (void *)1, 0; }
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType() { return not_supported; }
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2() { return not_supported; }
EXPORT int nvmlDeviceGetGpuFabricInfoV() { return not_supported; }
EXPORT int nvmlDeviceGetComputeRunningProcesses(void *, unsigned *n, void *) { return *n = 0, 0; }
