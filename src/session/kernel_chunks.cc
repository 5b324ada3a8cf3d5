// SPDX-License-Identifier: Apache-2.0
//
// Times of the trace are of the clock of the day, and those of the record ticks: its header has
// both at its beginning, and how fast ticks are. Chunks of kernels come last, so that a record
// without them is the same record.
#include "session/kernel_chunks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "import/device_events.h"
#include "record/format.h"
#include "support/hash.h"

namespace steelyard {
namespace {

// From the clock of the day to the record's.
class Clock {
 public:
  explicit Clock(const SyRecordHeader& header)
      : first_(header.first_ticks), unix_(header.unix_nanoseconds) {
    const auto ticks = static_cast<double>(header.last_ticks - header.first_ticks);
    const auto passed = static_cast<double>(header.last_nanoseconds - header.first_nanoseconds);
    if (passed > 0) ticks_per_nanosecond_ = ticks / passed;
  }
  std::uint64_t Ticks(std::int64_t nanoseconds) const {
    constexpr double kMost = 1e18;
    const auto passed = static_cast<std::int64_t>(static_cast<std::uint64_t>(nanoseconds) - unix_);
    const double since = static_cast<double>(passed) * ticks_per_nanosecond_;
    return first_ + static_cast<std::uint64_t>(std::clamp(since, 0.0, kMost));
  }

 private:
  std::uint64_t first_;
  std::uint64_t unix_;
  double ticks_per_nanosecond_ = 0;
};

// One after the other, of one kind.
class Chunks {
 public:
  Chunks(SyChunkKind kind, std::string& out) : kind_(kind), out_(out) {}

  // What is written stands in one chunk.
  void Add(std::string_view bytes) {
    if (body_.size() + bytes.size() > SY_CHUNK_SIZE - sizeof(SyChunk)) End();
    body_ += bytes;
  }
  void End() {
    if (body_.empty()) return;
    const SyChunk head{.kind = kind_,
                       .order = UINT32_MAX,  // behind all others
                       .thread = 0,
                       .used = body_.size(),
                       .system_thread = 0,
                       .spare = {}};
    body_.insert(0, reinterpret_cast<const char*>(&head), sizeof head);
    body_.resize(SY_CHUNK_SIZE);
    out_ += std::exchange(body_, {});
  }

 private:
  SyChunkKind kind_;
  std::string& out_;
  std::string body_;
};

template <class T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Names of kernels may be as long as the types in them.
constexpr std::size_t kLongestName = 4096;

// The most of a name that is kept, and no part of a character.
std::string_view Kept(std::string_view name) {
  std::size_t size = std::min(name.size(), kLongestName);
  while (size > 0 && size < name.size() && (static_cast<unsigned char>(name[size]) >> 6U) == 2) {
    --size;
  }
  return name.substr(0, size);
}

// Returns what the name goes by.
std::uint32_t AddName(std::string_view name, Chunks& chunks) {
  const auto id = static_cast<std::uint32_t>(HashText(name) >> 32U);
  std::string text(Kept(name));
  const auto size = static_cast<std::uint32_t>(text.size());
  text.resize((text.size() + 7) / 8 * 8);
  const SyEntry entry{.size = static_cast<std::uint32_t>(sizeof(SyEntry) + text.size()),
                      .kind = SY_NAME,
                      .id = id,
                      .numbers = {},
                      .text_size = size,
                      .spare = 0};
  chunks.Add(std::string(BytesOf(entry)) + text);
  return id;
}

SyKernelKind KindOf(DeviceWork work) {
  switch (work) {
    case DeviceWork::kKernel:
      return SY_COMPUTE;
    case DeviceWork::kCopy:
      return SY_COPY;
    case DeviceWork::kFill:
      return SY_FILL;
  }
  return SY_COMPUTE;
}

}  // namespace

Result<std::string> KernelChunks(std::string_view record, std::string_view trace,
                                 std::string_view where) {
  if (record.size() < sizeof(SyRecordHeader)) {
    return Unexpected(InvalidInput("there is no record", std::string(where)));
  }
  SyRecordHeader header;
  std::memcpy(&header, record.data(), sizeof header);
  const Clock clock(header);
  Result<DeviceEvents> read = ReadDeviceEvents(trace, where);
  if (!read) return Unexpected(std::move(read).error());
  std::string out;
  Chunks names(SY_ENTRY_CHUNK, out), kernels(SY_KERNEL_CHUNK, out);
  std::vector<std::uint32_t> ids;
  for (const std::string& name : read->names) ids.push_back(AddName(name, names));
  names.End();
  for (const DeviceEvent& event : read->events) {
    const bool asked = event.asked != 0;
    const SyKernel kernel{.asked = asked ? clock.Ticks(event.asked) : 0,
                          .asked_end = asked ? clock.Ticks(event.asked_end) : 0,
                          .begin = clock.Ticks(event.begin),
                          .end = clock.Ticks(event.end),
                          .bytes = static_cast<std::uint64_t>(event.bytes),
                          .name = ids[event.name],
                          .call = asked ? ids[event.call] : 0,
                          .thread = event.thread,
                          .stream = event.stream,
                          .device = event.device,
                          .kind = static_cast<std::uint16_t>(KindOf(event.work)),
                          .spare = 0};
    kernels.Add(BytesOf(kernel));
  }
  kernels.End();
  return out;
}

}  // namespace steelyard
