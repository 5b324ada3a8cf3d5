// SPDX-License-Identifier: Apache-2.0
//
// How torch writes down what a program returns: a tree of tuples, lists, dictionaries and classes
// over the graph's flat list of outputs, as JSON within a string.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace steelyard::pt2 {

struct OutSpec {
  // The leaves of the tree in the order in which Python lets them go with the whole: tuples and
  // lists from their end, everything else from its beginning.
  std::vector<std::uint32_t> released;
  // The leaf that is the outermost dictionary's or class's "loss".
  std::optional<std::uint32_t> loss;
};

// Nothing where the text is no such tree.
OutSpec ReadOutSpec(std::string_view spec);

}  // namespace steelyard::pt2
