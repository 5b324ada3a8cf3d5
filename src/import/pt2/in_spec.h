// SPDX-License-Identifier: Apache-2.0
//
// How torch writes down what a program is called with: a pair of the positional arguments and those
// by keyword, as a tree like that of what it returns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steelyard::pt2 {

// Of each leaf, in order, what the caller writes for it: "args[0]", "kwargs[\"mask\"]",
// "args[1][\"keys\"][0]". Of a class whose fields have no such names, how pytree finds the leaf.
// Nothing where the text is no such tree.
std::vector<std::string> ReadInSpec(std::string_view spec);

}  // namespace steelyard::pt2
