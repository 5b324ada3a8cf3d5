// SPDX-License-Identifier: Apache-2.0
#include "record/step_boundaries.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

// Where a thread calls models: each call is a step or, where there is a backward pass, all calls up
// to it.
class ModelCalls {
 public:
  void Add(const SyEvent& event) {
    if (event.kind == SY_NODE_ENTER) {
      went_back_ = trained_ = true;
      ++nodes_;
    }
    if (event.kind == SY_NODE_LEAVE && nodes_ > 0) --nodes_;
    if (nodes_ > 0) return;  // what is computed again is no call of the program's
    if (event.kind == SY_MODULE_ENTER) {
      if (open_.empty() && went_back_) {
        went_back_ = false;
        begins_.push_back(event.time - 1);
      }
      open_.push_back(event.id);
    }
    if (event.kind != SY_MODULE_LEAVE) return;
    const auto left = std::ranges::find(open_, event.id);  // and what an exception has left in it
    if (left == open_.end()) return;
    open_.erase(left, open_.end());
    if (open_.empty()) ends_.push_back(event.time);
  }
  std::vector<std::uint64_t> Times() const {
    if (!trained_) return ends_;
    std::vector<std::uint64_t> times = begins_;
    times.push_back(UINT64_MAX);  // the last one lasts to the end
    return times;
  }

 private:
  std::vector<std::uint32_t> open_;  // modules
  int nodes_ = 0;                    // that run
  bool went_back_ = false, trained_ = false;
  std::vector<std::uint64_t> begins_, ends_;
};

}  // namespace

StepBoundaries FindStepBoundaries(const Recording& recording) {
  std::map<StepBoundary, std::vector<std::uint64_t>> found;
  for (const Recording::Thread& thread : recording.threads) {
    ModelCalls calls;
    for (const SyEvent& event : thread.events) {
      if (event.kind == SY_STEP) found[StepBoundary::kGiven].push_back(event.time);
      if (event.kind == SY_OPTIMIZER_LEAVE) found[StepBoundary::kOptimizer].push_back(event.time);
      calls.Add(event);
    }
    // Of several threads the one that calls most often is the program's.
    std::vector<std::uint64_t>& most = found[StepBoundary::kModel];
    if (std::vector<std::uint64_t> times = calls.Times(); times.size() > most.size()) {
      most = std::move(times);
    }
  }
  for (auto& [kind, times] : found) {
    if (times.empty()) continue;
    std::ranges::sort(times);
    return {kind, std::move(times)};
  }
  return {};
}

}  // namespace steelyard
