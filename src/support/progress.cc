// SPDX-License-Identifier: Apache-2.0
#include "support/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace steelyard {
namespace {

// The clock is looked at this many times per stage at most, when its length is known; else after
// as many units as are already done are done again, divided by this.
constexpr std::int64_t kLooks = 1000;

}  // namespace

Progress::Progress(ProgressCallback callback, std::chrono::milliseconds interval)
    : callback_(std::move(callback)), interval_(interval) {}

void Progress::Begin(std::string_view stage, std::int64_t total) {
  current_ = {.stage = stage, .done = 0, .total = total};
  if (callback_) Report();
}

void Progress::End() {
  current_.total = std::max(current_.total, current_.done);
  current_.done = current_.total;
  if (callback_) Report();
  next_look_ = std::numeric_limits<std::int64_t>::max();
}

void Progress::Look() {
  if (!callback_) return;
  if (std::chrono::steady_clock::now() - last_ >= interval_) {
    Report();
  } else {
    next_look_ =
        current_.done + std::max<std::int64_t>(1, std::max(current_.total, current_.done) / kLooks);
  }
}

void Progress::Report() {
  last_ = std::chrono::steady_clock::now();
  next_look_ =
      current_.done + std::max<std::int64_t>(1, std::max(current_.total, current_.done) / kLooks);
  callback_(current_);
}

}  // namespace steelyard
