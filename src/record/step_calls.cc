// SPDX-License-Identifier: Apache-2.0
#include "record/step_calls.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

// Steps that call other operators than those before, each kept.
constexpr std::size_t kMostKinds = 64;

// The median of the steps that count.
double UsualSeconds(const Watched& watched) {
  std::vector<double> seconds;
  for (std::size_t i = watched.recording.warmup; i < watched.steps.size(); ++i) {
    seconds.push_back(watched.steps[i].seconds);
  }
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

}  // namespace

WatchedCall& StepCalls::At(const Site& site, Counts& counts) {
  WatchedCall& call = counts[site];
  call.call = site.call;
  call.module = site.module;
  call.phase = site.phase;
  return call;
}

void StepCalls::TakeBack(const Site& site) {
  const auto found = calls_.find(site);
  if (found != calls_.end() && --found->second.count == 0) calls_.erase(found);
}

void StepCalls::AddTime(const Site& site, double seconds, double device_seconds) {
  const auto found = calls_.find(site);
  if (found == calls_.end()) return;
  found->second.seconds += seconds;
  found->second.device_seconds += device_seconds;
}

void StepCalls::CountUnknown(const Site& site, double seconds, double device_seconds) {
  WatchedCall& call = At(site, unknown_);
  ++call.count;
  call.seconds += seconds;
  call.device_seconds += device_seconds;
}

bool StepCalls::AreAlike(const Counts& a, const Counts& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.count == other.second.count;
  });
}

void StepCalls::EndStep(std::size_t step, bool whole, bool counts) {
  if (whole) {
    const auto same = [&](const Kind& kind) { return AreAlike(kind.calls, calls_); };
    auto kind = std::ranges::find_if(kinds_, same);
    if (kind == kinds_.end()) {
      // The rarest and oldest gives way.
      if (kinds_.size() == kMostKinds) {
        kinds_.erase(std::ranges::min_element(kinds_, {}, &Kind::steps));
      }
      kind = kinds_.emplace(kinds_.end());
    }
    kind->steps += counts ? 1 : 0;
    kind->last = step;
    kind->calls = std::move(calls_);
    kind->unknown = std::move(unknown_);
  }
  calls_.clear();
  unknown_.clear();
}

void StepCalls::Tell(Watched& result) const {
  const double usual = UsualSeconds(result);
  const auto rank = [&](const Kind& kind) {
    const double seconds = kind.last < result.steps.size() ? result.steps[kind.last].seconds : 0;
    return std::tuple(kind.steps, -std::abs(seconds - usual), kind.last);
  };
  const auto most = std::ranges::max_element(kinds_, {}, rank);
  if (most == kinds_.end()) return;
  for (const auto& [site, call] : most->calls) result.calls.push_back(call);
  for (const auto& [site, call] : most->unknown) result.unknown.push_back(call);
  result.step_of_calls = most->last;
}

}  // namespace steelyard
