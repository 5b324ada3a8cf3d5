// SPDX-License-Identifier: Apache-2.0
//
// A record may come from a process that was killed, and then from a file that anybody may have
// changed: nothing in it is trusted. Sizes that do not fit end a chunk, ids that are too large are
// left out, and what was left out is told of.
#include "record/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "record/packed_event.h"
#include "record/shared_modules.h"
#include "steelyard/error.h"

namespace steelyard {
namespace {

// Modules that lie deeper within others than any program's stand for themselves.
constexpr int kDeepest = 512;
constexpr std::size_t kMostFacts = 64;

template <class T>
T Take(std::string_view bytes) {
  T out;
  bytes.copy(reinterpret_cast<char*>(&out), sizeof out);
  return out;
}

// The element of that id, which is made where there is none yet; null where the record cannot hold
// as many.
template <class T>
T* At(std::vector<T>& list, std::uint64_t id, std::uint64_t most) {
  if (id >= most) return nullptr;
  if (id >= list.size()) list.resize(static_cast<std::size_t>(id) + 1);
  return &list[static_cast<std::size_t>(id)];
}

// The part before the byte of 0, and what follows it.
std::pair<std::string, std::string> Parts(std::string_view text) {
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return {std::string(text), {}};
  return {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
}

// Numbers in brackets, such as "[2, 3]" and "[[2, 3], []]"; of anything else none.
std::string OnlyNumbers(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    const bool last = i + 1 == text.size();
    if ((open == 0) != last || std::string_view("[]-, 0123456789").find(text[i]) == text.npos) {
      return "[]";
    }
  }
  return text.empty() ? "[]" : std::string(text);
}

std::vector<RecordedInput> Inputs(std::string_view text) {
  std::vector<RecordedInput> inputs;
  // A line that was cut short is left out.
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    std::string_view line = text.substr(0, end);
    const auto next = [&line] {
      const std::size_t tab = std::min(line.find('\t'), line.size());
      const std::string_view part = line.substr(0, tab);
      line.remove_prefix(std::min(tab + 1, line.size()));
      return part;
    };
    RecordedInput& input = inputs.emplace_back();
    input.sizes = OnlyNumbers(next());
    input.strides = OnlyNumbers(next());
    input.type = next();
    input.value = line;
  }
  return inputs;
}

Category CategoryOf(std::uint32_t number) {
  return number < kCategoryCount ? static_cast<Category>(number) : Category::kTemporaries;
}

// `most` entries fit into the record.
void AddTensor(const SyEntry& entry, std::string_view text, std::uint64_t most,
               Recording& recording) {
  RecordedTensor* const tensor = At(recording.tensors, entry.id, most);
  if (tensor == nullptr) return;
  const auto [name, dtype] = Parts(text);
  *tensor = {.module = static_cast<std::uint32_t>(entry.numbers[0]),
             .elements = static_cast<std::int64_t>(entry.numbers[1]),
             .bytes = static_cast<std::int64_t>(entry.numbers[2]),
             .address = entry.numbers[3],
             .category = CategoryOf(entry.spare),
             .name = name,
             .dtype = dtype};
}

void AddModule(const SyEntry& entry, std::string_view text, std::uint64_t most,
               Recording& recording) {
  RecordedModule* const module = At(recording.modules, entry.id, most);
  if (module == nullptr) return;
  const auto [path, class_name] = Parts(text);
  const auto parent = static_cast<std::uint32_t>(entry.numbers[0]);
  // Parents come first.
  const std::uint64_t first = entry.numbers[2] - 1;
  *module = {.parent = parent < entry.id ? parent : SY_NO_ID,
             .same_as = first < entry.id ? static_cast<std::uint32_t>(first) : SY_NO_ID,
             .trains = entry.numbers[1] != 0,
             .path = path,
             .class_name = class_name};
}

void AddEntry(const SyEntry& entry, std::string_view text, std::uint64_t most,
              Recording& recording) {
  switch (static_cast<SyEntryKind>(entry.kind)) {
    case SY_NO_ENTRY:
      return;
    case SY_NAME:
      recording.names.emplace(static_cast<std::uint32_t>(entry.id), text);
      return;
    case SY_CALL:
      recording.calls.emplace(entry.id, RecordedCall{std::string(text), entry.numbers[0] != 0});
      return;
    case SY_MODULE:
      return AddModule(entry, text, most, recording);
    case SY_TENSOR:
      return AddTensor(entry, text, most, recording);
    case SY_OPTIMIZER:
      if (std::string* const optimizer = At(recording.optimizers, entry.id, most)) {
        *optimizer = text;
      }
      return;
    case SY_INPUT_LIST:
      recording.inputs.emplace(entry.id, Inputs(text));
      return;
    case SY_FACT:
      if (recording.facts.size() < kMostFacts) {
        recording.facts.insert_or_assign(std::string(text),
                                         static_cast<std::int64_t>(entry.numbers[0]));
      }
      return;
    case SY_REMARK:
      recording.remarks.emplace_back(text);
      return;
  }
}

// Returns how many bytes are no entries.
std::size_t AddEntries(std::string_view bytes, std::uint64_t most, Recording& recording) {
  while (bytes.size() >= sizeof(SyEntry)) {
    const auto entry = Take<SyEntry>(bytes);
    const std::size_t room = bytes.size() - sizeof entry;
    if (entry.size < sizeof entry || entry.size > bytes.size() || entry.text_size > room) break;
    AddEntry(entry, bytes.substr(sizeof entry, entry.text_size), most, recording);
    bytes.remove_prefix(entry.size);
  }
  return bytes.size();
}

struct Chunk {
  SyChunk head;
  std::string_view bytes;
  // That it says are in it, and are not.
  std::uint64_t missing() const {
    return head.used - std::min<std::uint64_t>(head.used, bytes.size());
  }
};

std::vector<Chunk> Chunks(std::string_view bytes) {
  std::vector<Chunk> chunks;
  while (bytes.size() > sizeof(SyChunk)) {
    const std::string_view all = bytes.substr(0, SY_CHUNK_SIZE);
    const auto head = Take<SyChunk>(all);
    const std::size_t used =
        std::min<std::uint64_t>(head.used, std::uint64_t{all.size() - sizeof head});
    chunks.push_back({head, all.substr(sizeof head, used)});
    bytes.remove_prefix(all.size());
  }
  std::ranges::stable_sort(chunks, {}, [](const Chunk& chunk) { return chunk.head.order; });
  return chunks;
}

void AddEvents(std::string_view bytes, std::vector<SyEvent>& events) {
  const std::size_t count = bytes.size() / sizeof(SyEvent);
  const std::size_t before = events.size();
  events.resize(before + count);
  if (count > 0) std::memcpy(&events[before], bytes.data(), count * sizeof(SyEvent));
}

// Returns how many bytes are no events.
std::size_t AddPackedEvents(std::string_view bytes, std::vector<SyEvent>& events) {
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  const std::size_t whole = words.size() * sizeof(std::uint64_t);
  if (whole > 0) std::memcpy(words.data(), bytes.data(), whole);
  const std::size_t left =
      UnpackEvents(words, [&events](const SyEvent& event) { events.push_back(event); });
  return left * sizeof(std::uint64_t) + bytes.size() - whole;
}

// Returns how many bytes are no kernels.
std::size_t AddKernels(std::string_view bytes, std::vector<SyKernel>& kernels) {
  for (; bytes.size() >= sizeof(SyKernel); bytes.remove_prefix(sizeof(SyKernel))) {
    auto kernel = Take<SyKernel>(bytes);
    kernel.end = std::max(kernel.begin, kernel.end);
    kernel.asked_end = std::max(kernel.asked, kernel.asked_end);
    kernels.push_back(kernel);
  }
  return bytes.size();
}

// Returns how many bytes are told of and are not there, or are nothing that is known.
std::uint64_t AddChunks(std::string_view bytes, Recording& recording) {
  const std::uint64_t most = bytes.size() / sizeof(SyEntry) + 1;
  std::uint64_t left_out = 0;
  std::map<std::uint64_t, std::vector<SyEvent>> by_thread, kept;
  std::map<std::uint64_t, std::uint64_t> system;
  for (const Chunk& chunk : Chunks(bytes)) {
    left_out += chunk.missing();
    system[chunk.head.thread] = chunk.head.system_thread;
    if (chunk.head.kind == SY_EVENT_CHUNK) {
      AddEvents(chunk.bytes, by_thread[chunk.head.thread]);
    } else if (chunk.head.kind == SY_PACKED_CHUNK) {
      left_out += AddPackedEvents(chunk.bytes, by_thread[chunk.head.thread]);
    } else if (chunk.head.kind == SY_KEPT_CHUNK) {
      AddEvents(chunk.bytes, kept[chunk.head.thread]);
    } else if (chunk.head.kind == SY_ENTRY_CHUNK) {
      left_out += AddEntries(chunk.bytes, most, recording);
    } else if (chunk.head.kind == SY_KERNEL_CHUNK) {
      left_out += AddKernels(chunk.bytes, recording.kernels);
    } else {
      left_out += chunk.bytes.size();
    }
  }
  if (recording.dropped > 0) {
    // What other threads did before that would be told without what they did it beside.
    for (auto& [id, events] : by_thread) {
      std::erase_if(events,
                    [&](const SyEvent& event) { return event.time <= recording.first_tick; });
    }
  }
  for (const auto& [id, events] : kept) {
    std::vector<SyEvent>& all = by_thread[id];
    all.insert(all.begin(), events.begin(), events.end());
    std::ranges::stable_sort(all, {}, &SyEvent::time);
  }
  for (auto& [id, events] : by_thread) {
    if (!events.empty()) recording.threads.push_back({id, system[id], std::move(events)});
  }
  std::ranges::stable_sort(recording.kernels, {}, AskedAt);
  return left_out;
}

// A module comes after what it is in.
void BoundDepth(std::vector<RecordedModule>& modules) {
  std::vector<int> depths(modules.size(), 0);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].parent == SY_NO_ID) continue;
    depths[i] = depths[modules[i].parent] + 1;
    if (depths[i] < kDeepest) continue;
    modules[i].parent = SY_NO_ID;
    depths[i] = 0;
  }
}

}  // namespace

OperatorName NameOfCall(const RecordedCall& call) {
  std::string_view text = call.text;
  // Names of the program's own functions have no colons, and may have points.
  const std::size_t colon = text.find("::");
  if (colon == text.npos) return {text, {}};
  text = text.substr(0, text.find('(', colon));
  const std::size_t point = text.find('.', text.rfind("::"));
  if (point == text.npos) return {text, {}};
  return {text.substr(0, point), text.substr(point + 1)};
}

Result<Recording> ReadRecording(std::string_view bytes, std::string_view where) {
  if (bytes.size() < SY_RECORD_PAGE ||
      std::memcmp(bytes.data(), SY_RECORD_MAGIC, sizeof(SyRecordHeader::magic)) != 0) {
    return Unexpected(InvalidInput("it is no record of a program that was watched",
                                   std::string(where), "`steelyard watch` writes them."));
  }
  const auto header = Take<SyRecordHeader>(bytes);
  if (header.version < SY_OLDEST_RECORD_VERSION || header.version > SY_RECORD_VERSION) {
    return Unexpected(Unsupported("the record is of another version of Steelyard",
                                  std::string(where), "Read it with the one that wrote it."));
  }
  Recording recording;
  recording.level = header.level == SY_LIGHT ? SY_LIGHT : SY_OPS;
  if (header.level == SY_PROFILE) {
    recording.has_ranges = true;
    recording.has_inputs = (header.parts & SY_PART_INPUTS) != 0;
    recording.has_memory = (header.parts & SY_PART_MEMORY) != 0;
  }
  recording.process = header.process;
  recording.unix_nanoseconds = static_cast<std::int64_t>(header.unix_nanoseconds);
  recording.every = std::max(header.every, 1u);
  recording.lost = static_cast<std::int64_t>(header.lost);
  recording.torch = std::string(header.torch, strnlen(header.torch, sizeof header.torch));
  recording.dropped = static_cast<std::int64_t>(header.dropped);
  recording.warmup = header.warmup > 0 ? header.warmup - 1 : 1;
  recording.first_tick = header.dropped > 0 ? header.dropped_until : header.first_ticks;
  recording.last_tick = std::max(recording.first_tick, header.last_ticks);
  const std::uint64_t ticks = std::max(header.first_ticks, header.last_ticks) - header.first_ticks;
  if (ticks > 0 && header.last_nanoseconds > header.first_nanoseconds) {
    recording.seconds_per_tick =
        static_cast<double>(header.last_nanoseconds - header.first_nanoseconds) * 1e-9 /
        static_cast<double>(ticks);
  }
  if (recording.dropped > 0) {
    // The step during which it begins is not whole.
    recording.warmup = std::max<std::size_t>(recording.warmup, 1);
    recording.remarks.push_back(
        fmt::format("{} events gave way to later ones: what is told is of the end of the program",
                    recording.dropped));
  }
  if (const std::uint64_t left_out = AddChunks(bytes.substr(SY_RECORD_PAGE), recording)) {
    recording.remarks.push_back(fmt::format(
        "the record is damaged or was cut short: {} bytes of it are left out", left_out));
  }
  if (recording.threads.empty()) {
    recording.remarks.emplace_back("the record holds no events: nothing ran, or they were cut off");
  } else if (recording.seconds_per_tick == 0) {
    recording.remarks.emplace_back("the record does not say how fast its clock is: times are 0");
  }
  BoundDepth(recording.modules);
  TellPlacesApart(recording);
  return recording;
}

}  // namespace steelyard
