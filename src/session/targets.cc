// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "steelyard/op.h"

namespace steelyard {
namespace {

constexpr std::array kTargets{
    Target{},
    Target{.device = Device::kCuda,
           .name = "h100",
           .capability = 90,
           .multiprocessors = 132,
           .multiprocessor_threads = 2048,
           .memory = std::int64_t{81079} << 20},
};

}  // namespace

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  return names;
}

std::optional<Target> TargetNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kTargets, name, &Target::name);
  if (found == kTargets.end()) return std::nullopt;
  return *found;
}

}  // namespace steelyard
