// SPDX-License-Identifier: Apache-2.0
//
// Calls of operators, by step. A step stands for all that call the same.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "record/watched.h"

namespace steelyard {

class StepCalls {
 public:
  // Which call, and where.
  struct Site {
    std::uint64_t call = 0;  // as in Recording::calls
    std::uint32_t module = SY_NO_ID;
    Phase phase = Phase::kForward;

    friend auto operator<=>(const Site&, const Site&) = default;
  };

  // One more call that is weighed.
  void Count(const Site& site) { ++At(site, calls_).count; }
  // One of them did not compute after all.
  void TakeBack(const Site& site);
  // What one of them took; nothing of one that was taken back.
  void AddTime(const Site& site, double seconds, double device_seconds);
  // One more call that nobody can weigh.
  void CountUnknown(const Site& site, double seconds, double device_seconds);

  bool is_empty() const { return calls_.empty(); }
  // `whole`: all of its calls were recorded. `counts`: it is none of those that warm up.
  void EndStep(std::size_t step, bool whole, bool counts);

  // The calls of the step that most are like: neither a validation between them nor a last batch
  // that is smaller stands for a step. Where each step is another, it is one that takes about as
  // long as most. Requires: `result` has its steps.
  void Tell(Watched& result) const;

 private:
  using Counts = std::map<Site, WatchedCall>;
  // Steps that call the same, the last of which is kept.
  struct Kind {
    std::size_t steps = 0;  // that count
    std::size_t last = 0;
    Counts calls, unknown;
  };

  static WatchedCall& At(const Site& site, Counts& counts);
  static bool AreAlike(const Counts& a, const Counts& b);

  Counts calls_, unknown_;   // of this step
  std::vector<Kind> kinds_;  // the oldest first
};

}  // namespace steelyard
