// SPDX-License-Identifier: Apache-2.0
//
// Feeds bytes as a trace of PyTorch's profiler to what turns it into a record's kernels, and the
// record with them to its reader, which must take what was written. The first bytes are the
// record's clock.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "record/format.h"
#include "record/recording.h"
#include "session/kernel_chunks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint64_t clock[3] = {};
  if (bytes.size() < sizeof clock) return 0;
  std::memcpy(clock, bytes.data(), sizeof clock);
  bytes.remove_prefix(sizeof clock);
  SyRecordHeader header{};
  std::memcpy(header.magic, SY_RECORD_MAGIC, sizeof header.magic);
  header.version = SY_RECORD_VERSION;
  header.level = SY_PROFILE;
  header.every = 1;
  header.unix_nanoseconds = clock[0];
  header.last_ticks = clock[1];
  header.last_nanoseconds = clock[2];
  std::string record(reinterpret_cast<const char*>(&header), sizeof header);
  record.resize(SY_RECORD_PAGE);
  const auto chunks = steelyard::KernelChunks(record, bytes, "trace");
  if (!chunks) {
    if (chunks.error().code == steelyard::ErrorCode::kInternal) std::abort();
    return 0;
  }
  if (!steelyard::ReadRecording(record + *chunks, "input")) std::abort();
  return 0;
}
