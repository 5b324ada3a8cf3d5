// SPDX-License-Identifier: Apache-2.0
//
// Memory of a program that is watched, allocation by allocation, and whose it is.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/watched.h"

namespace steelyard {

// Bytes that came or went.
struct MemoryMoment {
  std::uint64_t tick = 0;  // 0: they were there before
  std::int64_t bytes = 0;  // negative: they went
  Category category = Category::kTemporaries;
};

class MemoryLog {
 public:
  // When what follows happens.
  void SetTime(std::uint64_t tick) { now_ = tick; }
  void Allocate(std::uint64_t address, std::int64_t bytes, std::uint32_t place, Phase phase);
  // Nothing where it is not known what lay there.
  void Free(std::uint64_t address, std::uint32_t place);
  // Says what lies there. What was not seen being allocated has been there from the beginning; but
  // an input may lie in another process's memory, or a file, whose end nobody tells: it is there
  // until the step ends. Of two that say it of one block the one that comes first in `Rank` is
  // right. A parameter whose memory is another one now has that alone.
  struct Marked {
    std::int64_t bytes = 0;
    Category category = Category::kTemporaries;
    std::uint32_t tensor = SY_NO_ID;
    std::uint32_t place = SY_NO_ID;  // where it is said
  };
  void Mark(std::uint64_t address, const Marked& marked);
  // All that is there, and of which nothing is known, was made before any model was called: data.
  void TakeForInputs();
  // All that this phase has made, and that is still there, is kept for the backward pass.
  void KeepAllOf(Phase phase);
  // What a device's allocator holds of the device, changed by so much.
  void Reserve(std::int64_t bytes);
  void EndStep();

  // Peaks of steps, one for each call of `EndStep`; of what is reserved, too.
  std::vector<std::int64_t> Peaks() const;
  const std::vector<std::int64_t>& reserved_peaks() const { return reserved_peaks_; }
  bool is_empty() const { return blocks_.empty(); }
  // What happens in one of them, into the result.
  void Tell(std::size_t step, Watched& result) const;
  // All that happened, after what was there before.
  std::vector<MemoryMoment> History() const;

 private:
  void ReturnInputs();
  // What a parameter had before, and nobody allocated, went when its new block came.
  void EndReplaced(std::uint32_t block, std::uint32_t by);
  // Whether a process can hold so much more: what a damaged record says is not to be summed.
  bool IsBelievable(std::int64_t bytes) const;

  struct Held {
    std::int64_t bytes = 0;
    std::uint32_t tensor = SY_NO_ID;
    std::uint32_t place = SY_NO_ID;
    Category category = Category::kTemporaries;
    Phase phase = Phase::kForward;
    bool from_before = false;
  };
  struct Change {
    std::int64_t bytes = 0;  // signed
    std::uint64_t tick = 0;
    std::uint32_t block = 0;
    std::uint32_t place = 0;
  };
  std::uint64_t now_ = 0;
  std::int64_t allocated_ = 0, from_before_ = 0;  // bytes that are held, and that ever were
  std::vector<Held> blocks_;
  std::vector<Change> changes_;
  std::vector<std::size_t> ends_;                  // of steps, in changes_
  std::int64_t reserved_ = 0, reserved_peak_ = 0;  // bytes, the latter of this step
  std::vector<std::int64_t> reserved_peaks_;
  std::map<std::uint64_t, std::uint32_t> live_;               // by address
  std::vector<std::uint64_t> lent_;                           // addresses of inputs of this step
  std::unordered_map<std::uint32_t, std::uint32_t> outside_;  // by parameter: its block of before
};

}  // namespace steelyard
