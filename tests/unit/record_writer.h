// SPDX-License-Identifier: Apache-2.0
//
// Records as the observer writes them, made by hand: events of threads at given times, one tick of
// which is a microsecond, and entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/format.h"
#include "record/packed_event.h"
#include "steelyard/timeline.h"

namespace steelyard {

class RecordWriter {
 public:
  explicit RecordWriter(SyLevel level = SY_LIGHT) : level_(level) {}

  RecordWriter& On(std::uint64_t thread) {
    thread_ = thread;
    return *this;
  }
  RecordWriter& At(std::uint64_t time) {
    time_ = time;
    return *this;
  }
  // An event one tick after the last.
  RecordWriter& Add(SyEventKind kind, std::uint32_t id = 0, std::uint64_t key = 0,
                    std::uint64_t amount = 0, std::uint16_t thread = 0, std::uint8_t flags = 0) {
    const SyEvent event{.time = time_++,
                        .key = key,
                        .amount = amount,
                        .id = id,
                        .kind = static_cast<std::uint8_t>(kind),
                        .flags = flags,
                        .thread = thread};
    events_[thread_].push_back(event);
    return *this;
  }
  // Events are written whole, as versions before 4 did.
  RecordWriter& Whole() {
    whole_ = true;
    return *this;
  }
  RecordWriter& Mark(std::uint64_t address, std::uint64_t bytes, Category category,
                     std::uint32_t tensor = SY_NO_ID) {
    return Add(SY_MARK, tensor, address, bytes, 0, static_cast<std::uint8_t>(category));
  }

  RecordWriter& Entry(SyEntryKind kind, std::uint64_t id, std::string text, std::uint64_t first = 0,
                      std::uint64_t second = 0, std::uint64_t third = 0, std::uint64_t fourth = 0,
                      std::uint32_t spare = 0) {
    const auto text_size = static_cast<std::uint32_t>(text.size());
    text.resize((text.size() + 7) / 8 * 8);
    const SyEntry entry{.size = static_cast<std::uint32_t>(sizeof(SyEntry) + text.size()),
                        .kind = static_cast<std::uint32_t>(kind),
                        .id = id,
                        .numbers = {first, second, third, fourth},
                        .text_size = text_size,
                        .spare = spare};
    Append(entries_, entry);
    entries_ += text;
    return *this;
  }
  RecordWriter& Module(std::uint32_t id, std::uint32_t parent, std::string_view path,
                       std::string_view class_name) {
    return Entry(SY_MODULE, id, Joined(path, class_name), parent);
  }
  // One more place of a module.
  RecordWriter& Place(std::uint32_t id, std::uint32_t parent, std::uint32_t first,
                      std::string_view path, std::string_view class_name) {
    return Entry(SY_MODULE, id, Joined(path, class_name), parent, 0, std::uint64_t{first} + 1);
  }
  RecordWriter& Parameter(std::uint32_t id, std::uint32_t module, std::uint64_t elements,
                          std::string_view name, std::uint64_t address = 0) {
    return Entry(SY_TENSOR, id, Joined(name, "float32"), module, elements, 4 * elements, address);
  }

  // What a device ran because the thread asked for it at that time.
  RecordWriter& Kernel(std::uint32_t name, std::uint64_t asked, std::uint64_t begin,
                       std::uint64_t end, SyKernelKind kind = SY_COMPUTE, std::uint64_t bytes = 0) {
    const SyKernel kernel{.asked = asked,
                          .asked_end = asked,
                          .begin = begin,
                          .end = end,
                          .bytes = bytes,
                          .name = name,
                          .call = kLaunch,
                          .thread = static_cast<std::uint32_t>(SystemThread(thread_)),
                          .stream = 7,
                          .device = 0,
                          .kind = static_cast<std::uint16_t>(kind),
                          .spare = 0};
    Append(kernels_, kernel);
    return *this;
  }

  static constexpr std::uint32_t kLaunch = 1000;  // the name of what asks for kernels

  // Steps that do not count.
  RecordWriter& WarmUp(std::uint32_t steps) {
    warmup_ = steps + 1;
    return *this;
  }
  // So many events up to that time gave way; what has been added until now has not.
  RecordWriter& LetGo(std::uint64_t count, std::uint64_t until) {
    dropped_ = count;
    dropped_until_ = until;
    kept_.swap(events_);
    return *this;
  }

  std::string Bytes() const {
    SyRecordHeader header{};
    std::memcpy(header.magic, SY_RECORD_MAGIC, sizeof header.magic);
    header.version = SY_RECORD_VERSION;
    header.level = level_;
    header.every = 1;
    header.parts = SY_PART_INPUTS | SY_PART_MEMORY;
    header.warmup = warmup_;
    header.dropped = dropped_;
    header.dropped_until = dropped_until_;
    header.last_ticks = 1000;
    header.last_nanoseconds = 1000 * 1000;
    std::strncpy(header.torch, "2.15.0", sizeof header.torch - 1);
    std::string out;
    Append(out, header);
    out.resize(SY_RECORD_PAGE);
    std::uint32_t order = 0;
    AppendChunk(out, SY_ENTRY_CHUNK, 0, order++, entries_);
    for (const auto& [thread, events] : kept_) {
      AppendChunk(out, SY_KEPT_CHUNK, thread, order++, WholeEvents(events));
    }
    for (const auto& [thread, events] : events_) {
      AppendChunk(out, whole_ ? SY_EVENT_CHUNK : SY_PACKED_CHUNK, thread, order++,
                  whole_ ? WholeEvents(events) : PackedEvents(events));
    }
    if (!kernels_.empty()) AppendChunk(out, SY_KERNEL_CHUNK, 0, order++, kernels_);
    return out;
  }

 private:
  // Another number than PyTorch's.
  static std::uint64_t SystemThread(std::uint64_t thread) { return thread + 1000; }
  template <class T>
  static void Append(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static std::string WholeEvents(const std::vector<SyEvent>& events) {
    std::string out;
    for (const SyEvent& event : events) Append(out, event);
    return out;
  }
  static std::string PackedEvents(const std::vector<SyEvent>& events) {
    std::string out;
    std::uint64_t last = 0;
    for (const SyEvent& event : events) {
      std::array<std::uint64_t, kMostPackedWords> words{};
      const std::size_t count = PackEvent(event, last, words.data());
      out.append(reinterpret_cast<const char*>(words.data()), count * sizeof(std::uint64_t));
    }
    return out;
  }
  static std::string Joined(std::string_view first, std::string_view second) {
    return std::string(first).append(1, '\0').append(second);
  }
  static void AppendChunk(std::string& out, SyChunkKind kind, std::uint64_t thread,
                          std::uint32_t order, const std::string& bytes) {
    const SyChunk head{.kind = kind,
                       .order = order,
                       .thread = thread,
                       .used = bytes.size(),
                       .system_thread = SystemThread(thread),
                       .spare = {}};
    const std::size_t end = out.size() + SY_CHUNK_SIZE;
    Append(out, head);
    out += bytes;
    out.resize(end);
  }

  SyLevel level_;
  std::uint64_t thread_ = 1, time_ = 0;
  std::uint64_t dropped_ = 0, dropped_until_ = 0;
  std::uint32_t warmup_ = 0;
  bool whole_ = false;
  std::map<std::uint64_t, std::vector<SyEvent>> events_, kept_;
  std::string entries_, kernels_;
};

}  // namespace steelyard
