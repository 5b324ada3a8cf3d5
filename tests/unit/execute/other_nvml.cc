// SPDX-License-Identifier: Apache-2.0
//
// A machine with one device, which two processes use: this one and another.
#include <unistd.h>

#include <cstring>
#include <string_view>

#define SY_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0;
constexpr int kNotFound = 6;
int device;

struct Process {
  unsigned int pid;
  unsigned long long bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

}  // namespace

SY_EXPORT int nvmlInit_v2() { return kSuccess; }

SY_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** handle) {
  if (std::string_view(bus) != "0000:19:00.0") return kNotFound;
  *handle = &device;
  return kSuccess;
}

SY_EXPORT int nvmlDeviceGetName(void* handle, char* name, unsigned int size) {
  if (handle != &device) return kNotFound;
  std::strncpy(name, "NVIDIA H100 80GB HBM3", size);
  return kSuccess;
}

SY_EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned int size) {
  std::strncpy(version, "570.86.15", size);
  return kSuccess;
}

SY_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned int* count,
                                                      Process* processes) {
  if (handle != &device || *count < 2) return kNotFound;
  processes[0] = {1, 1000, 0, 0};
  processes[1] = {static_cast<unsigned int>(getpid()), 2000, 0, 0};
  *count = 2;
  return kSuccess;
}
