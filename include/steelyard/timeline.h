// SPDX-License-Identifier: Apache-2.0
//
// What happened to memory, in order: the common form of a predicted, a measured and a recorded run.
// Every analysis reads a Timeline and nothing knows where it came from.
//
//   const Timeline& timeline = weighing.timeline;  // weigh.h
//   std::int64_t now = timeline.resident_bytes();
//   for (const Event& event : timeline.events) now += event.bytes;
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/tables.h"

namespace steelyard {

// Every byte is reported under exactly one of these.
enum class Category : std::uint8_t {
  kParameters,      // tied tensors once
  kBuffers,         // tensor constants included
  kInputs,          // what the caller passes
  kGradients,       // of parameters
  kOptimizerState,  // moments, master weights, the gradient scaler
  kActivations,     // saved for the backward pass
  kTemporaries,     // all else that the step allocates
  kOutputs,         // what the caller holds when the step has run, saved or not
  kCache,           // what a model keeps from one call to the next: of tokens, in attributes
  kLibraries,       // what libraries keep from one call of them to the next
};
inline constexpr std::size_t kCategoryCount = 10;
// The key of a category in reports: "optimizer_state".
std::string_view NameOf(Category category);

using ByCategory = std::array<std::int64_t, kCategoryCount>;  // bytes
inline std::int64_t& Of(ByCategory& bytes, Category c) {
  return bytes[static_cast<std::size_t>(c)];
}
inline std::int64_t Of(const ByCategory& bytes, Category c) {
  return bytes[static_cast<std::size_t>(c)];
}

// One allocation (bytes > 0) or free (bytes < 0). `label` is the innermost operator, as PyTorch's
// profiler names it, empty where the program itself (Python) frees. `node` is the node of the
// program that runs during which it happens.
struct Event {
  std::int64_t bytes = 0;
  std::uint32_t block = 0;
  StringId label = kNoString;
  std::uint32_t node = 0;
};

// One stretch of memory from its allocation to its free. `value` is the first value that lived in
// it, kNoValue for a kernel's scratch.
struct Block {
  static constexpr std::uint32_t kNoValue = 0xffffffffu;
  static constexpr std::uint32_t kNever = 0xffffffffu;
  std::int64_t bytes = 0;
  std::uint32_t value = kNoValue;
  std::uint32_t allocated = 0;   // index of the event
  std::uint32_t freed = kNever;  // index of the event; kNever: still there at the end
  Category category = Category::kTemporaries;
  bool resident = false;    // there before the first event, and counted in `Timeline::resident`
  std::uint8_t stream = 0;  // of the device that it was allocated on; 0: the one that computes
};

// Events that happen several times, one run of them after the other. Each run frees what it
// allocates and nothing else.
struct RepeatedEvents {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int64_t times = 1;
};

struct Timeline {
  StringTable labels;
  std::vector<Event> events;
  std::vector<Block> blocks;
  RepeatedEvents repeat;
  // Before which events an allocator gives back what it keeps free (torch.cuda.empty_cache), in
  // order; none of those that repeat.
  std::vector<std::uint32_t> emptied;
  ByCategory resident{};  // bytes that are there before the first event

  // Of all events, with repeated ones as often as they happen; and where among these the first run
  // of `event` stands.
  std::int64_t length() const { return Place(events.size()); }
  std::int64_t Place(std::size_t event) const {
    const bool after = event >= std::size_t{repeat.first} + repeat.count;
    const std::int64_t more = after ? (repeat.times - 1) * std::int64_t{repeat.count} : 0;
    return static_cast<std::int64_t>(event) + more;
  }
  std::int64_t resident_bytes() const {
    std::int64_t sum = 0;
    for (std::int64_t bytes : resident) sum += bytes;
    return sum;
  }
};

// What the same costs without mixed precision, to tell what that saves.
struct Baseline {
  std::int64_t peak_bytes = 0;
  ByCategory at_peak{};          // sums to it
  std::int64_t moved_bytes = 0;  // read and written by all kernels
};

// How long a part of a weighing took.
struct StageTime {
  std::string_view stage;  // the name of a pass, or of what comes before and after them
  double seconds = 0;
};

// What a program takes of a device: bytes.
struct DeviceFit {
  std::string_view name;       // of its row
  std::int64_t total = 0;      // what programs may take of it
  std::int64_t allocated = 0;  // as torch.cuda.max_memory_allocated tells it,
  std::int64_t reserved = 0;   // max_memory_reserved,
  std::int64_t low = 0;        // and NVML, of the process: between these
  std::int64_t high = 0;
  bool fits = false;  // even if it takes the most of them
};

// What PyTorch's allocator makes of the same steps, set up in one way: bytes.
struct AllocatorTrial {
  std::string settings;       // as PYTORCH_ALLOC_CONF has them; empty: as PyTorch has them itself
  std::int64_t reserved = 0;  // as torch.cuda.max_memory_reserved tells it
  std::int64_t inactive = 0;  // of it free, in segments that are in use, when the step is over
  std::int64_t retries = 0;   // after what was free had been given back to the device
  bool fits = false;          // as of a `DeviceFit`
};

// What a search for the largest size of the inputs whose run fits in a given memory has found.
struct Fit {
  std::int64_t limit = 0;      // bytes, as asked for
  std::string dimension;       // "batch", "seq" or else the name of a size in the file: "s77"
  std::string place;           // where inputs have that other size: "dimension 2 of x"
  std::int64_t size = 0;       // the largest that fits
  std::int64_t next_size = 0;  // the next, which does not; 0 where there is none
  std::int64_t next_peak = 0;  // its peak in bytes
  std::string refusal;         // why a larger one cannot be weighed; empty where none was tried
  int weighings = 0;
};

// A change of a training step, and what the step is with it: weighed anew, not estimated.
struct Advice {
  std::string change;               // what to type: "--recompute 'encoder.layer.*'"
  std::string words;                // "computes 12 BertLayer once more in the backward pass"
  std::int64_t peak = 0;            // bytes, with the change
  std::int64_t less = 0;            // bytes, than without it
  std::int64_t extra_flops = 0;     // arithmetic of every operator more than without it; may be < 0
  std::int64_t executed_flops = 0;  // of the whole step
  bool changes_training = false;    // what the model learns is not the same: another optimizer
};

}  // namespace steelyard
