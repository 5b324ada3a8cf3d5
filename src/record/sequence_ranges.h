// SPDX-License-Identifier: Apache-2.0
//
// Which module made a node of autograd. Nodes are numbered, by thread, as they are made, and at the
// beginning and the end of every call of a module it is known which number comes next.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steelyard {

class SequenceRanges {
 public:
  // From this number on, nodes of the thread are made by this module.
  void Begin(std::uint64_t thread, std::uint64_t number, std::uint32_t module);
  // Nothing where nobody was told of the thread, or of that time.
  std::optional<std::uint32_t> Find(std::uint64_t thread, std::uint64_t number) const;

 private:
  using Range = std::pair<std::uint64_t, std::uint32_t>;
  std::unordered_map<std::uint64_t, std::vector<Range>> by_thread_;
};

}  // namespace steelyard
