// SPDX-License-Identifier: Apache-2.0
//
// Feeds entries and events to the reader of records (record/format.h), in a record whose header and
// chunks are right: these are large, and a fuzzer would hardly find one. What is read goes to all
// that tells of a record. The first two bytes say how many of the others are entries.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "record/format.h"
#include "record/recording.h"
#include "record/replay.h"
#include "record/spans.h"

namespace {

template <class T>
void Append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendChunk(std::string& out, SyChunkKind kind, std::uint32_t order, std::string_view bytes) {
  SyChunk head{};
  bytes = bytes.substr(0, SY_CHUNK_SIZE - sizeof head);
  head.kind = kind;
  head.order = order;
  head.thread = 1;
  head.used = bytes.size();
  const std::size_t end = out.size() + SY_CHUNK_SIZE;
  Append(out, head);
  out += bytes;
  out.resize(end);
}

std::string RecordOf(std::string_view bytes) {
  std::uint16_t entries = 0;
  if (bytes.size() < sizeof entries) return std::string(bytes);
  std::memcpy(&entries, bytes.data(), sizeof entries);
  bytes.remove_prefix(sizeof entries);
  const std::size_t cut = std::min<std::size_t>(entries, bytes.size());
  SyRecordHeader header{};
  std::memcpy(header.magic, SY_RECORD_MAGIC, sizeof header.magic);
  header.version = SY_RECORD_VERSION;
  header.level = SY_PROFILE;
  header.every = 1;
  header.parts = SY_PART_INPUTS | SY_PART_MEMORY;
  header.last_ticks = 1000;
  header.last_nanoseconds = 1'000'000;
  std::string out;
  Append(out, header);
  out.resize(SY_RECORD_PAGE);
  AppendChunk(out, SY_ENTRY_CHUNK, 0, bytes.substr(0, cut));
  AppendChunk(out, SY_EVENT_CHUNK, 1, bytes.substr(cut));
  AppendChunk(out, SY_PACKED_CHUNK, 2, bytes.substr(cut));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto recording = steelyard::ReadRecording(RecordOf(bytes), "input");
  if (!recording) {
    if (recording.error().code == steelyard::ErrorCode::kInternal) std::abort();
    return 0;
  }
  steelyard::Replay(*recording,
                    [](const steelyard::RecordedCall&) { return steelyard::CallIs::kWorking; });
  steelyard::ReplayMemory(*recording);
  steelyard::FindSpans(*recording);
  return 0;
}
