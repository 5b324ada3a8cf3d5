// SPDX-License-Identifier: Apache-2.0
//
// How torch writes down the structure of what a program takes and returns (torch.utils._pytree), as
// text: the version of the form, and the tree of containers.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "import/json.h"

namespace steelyard::pt2 {

// Torch's own nest a handful of levels.
inline constexpr int kMaxDepth = 64;

// Containers whose children stand by their place, and which CPython's deallocators take apart from
// the end (Objects/tupleobject.c, listobject.c).
inline bool IsSequence(std::string_view type) {
  constexpr std::array<std::string_view, 4> kSequences = {
      "builtins.tuple", "builtins.list", "collections.namedtuple",
      "torch.fx.immutable_collections.immutable_list"};
  return std::ranges::find(kSequences, type) != kSequences.end();
}

// Calls `read` with the root of the tree. False where the text is no such tree, or `read` fails.
template <class Read>
bool ReadTree(std::string_view spec, JsonReader& json, const Read& read) {
  const PaddedText text(spec);
  const JsonText whole(text);
  int index = 0;
  return whole.ok() &&
         json.Array(whole.root(), [&](JsonValue element) { return index++ != 1 || read(element); });
}

}  // namespace steelyard::pt2
