// SPDX-License-Identifier: Apache-2.0
//
// The C face of the engine: no exception passes it.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>

#include "device.h"
#include "execute/engine_abi.h"
#include "op_library.h"
#include "session.h"

struct SySession {
  steelyard::engine::Session session;
};

namespace steelyard::engine {
namespace {

void Tell(std::string_view message, std::size_t call, SyProblem problem, SyError* error) {
  const std::size_t length = std::min<std::size_t>(message.size(), SY_ERROR_SIZE - 1);
  std::memcpy(error->message, message.data(), length);
  error->message[length] = '\0';
  error->call = call;
  error->problem = problem;
}

// Whether it went well.
template <class Work>
bool Try(SyError* error, const Work& work) {
  try {
    work();
    return true;
  } catch (const CallError& problem) {
    Tell(problem.what(), problem.call, problem.problem, error);
  } catch (const c10::Error& problem) {
    Tell(problem.what_without_backtrace(), SY_NO_CALL, ProblemOf(problem), error);
  } catch (const std::exception& problem) {
    Tell(problem.what(), SY_NO_CALL, SY_OTHER_PROBLEM, error);
  }
  return false;
}

void SetThreads(int threads) { at::set_num_threads(threads); }

void SetSeed(std::uint64_t seed) { at::manual_seed(seed); }

bool LoadLibrary(const char* file, SyError* error) {
  return Try(error, [&] { LoadOperators(file); });
}

bool OpenNamed(const char* name, SyDevice* device, SyError* error) {
  return Try(error, [&] { *device = OpenDevice(name); });
}

SyDeviceMemory MemoryOfNamed(const char* name) { return MemoryOf(DeviceNamed(name)); }

void ResetPeaksOfNamed(const char* name) { ResetPeaks(DeviceNamed(name)); }

void SetDeterministic(bool on) {
  at::globalContext().setDeterministicAlgorithms(on, /*warn_only=*/false);
}

SySession* Open(const SyProgram* program, SyError* error) {
  SySession* session = nullptr;
  Try(error, [&] { session = new SySession{Session(*program)}; });
  return session;
}

void Close(SySession* session) { delete session; }

bool Reload(SySession* session, const SyProgram* program, SyError* error) {
  return Try(error, [&] { session->session.Reload(*program); });
}

bool Place(SySession* session, std::uint32_t value, bool on_host, const SyLayout* layout,
           const SyContent* content, SyError* error) {
  return Try(error, [&] { session->session.Place(value, on_host, *layout, *content); });
}

void Share(SySession* session, std::uint32_t value, std::uint32_t of) {
  session->session.Share(value, of);
}

void Keep(SySession* session, std::uint32_t value) { session->session.Keep(value); }

bool Run(SySession* session, std::size_t begin, std::size_t end, const SyRecord* record,
         SyError* error) {
  return Try(error, [&] { session->session.Run(begin, end, *record); });
}

void Release(SySession* session, const std::uint32_t* values, std::size_t count,
             const SyRecord* record) {
  session->session.Release({values, count}, *record);
}

void Clear(SySession* session) { session->session.Clear(); }

bool Read(SySession* session, std::uint32_t value, SyElements* elements, SyError* error) {
  return Try(error, [&] { *elements = session->session.Read(value); });
}

constexpr SyEngine kEngine{.abi = SY_ENGINE_ABI,
                           .torch = TORCH_VERSION,
                           .set_threads = SetThreads,
                           .set_seed = SetSeed,
                           .set_deterministic = SetDeterministic,
                           .load_library = LoadLibrary,
                           .open_device = OpenNamed,
                           .memory_of = MemoryOfNamed,
                           .reset_peaks = ResetPeaksOfNamed,
                           .open = Open,
                           .close = Close,
                           .reload = Reload,
                           .place = Place,
                           .share = Share,
                           .keep = Keep,
                           .run = Run,
                           .release = Release,
                           .clear = Clear,
                           .read = Read};

}  // namespace
}  // namespace steelyard::engine

extern "C" __attribute__((visibility("default"))) const SyEngine* steelyard_engine() {
  return &steelyard::engine::kEngine;
}
