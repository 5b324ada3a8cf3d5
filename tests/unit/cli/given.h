// SPDX-License-Identifier: Apache-2.0
//
// Flags of commands, given one by one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"

namespace steelyard::cli {

using Given = std::vector<std::pair<std::string_view, std::string_view>>;

// The options that `Flags`, as TrainFlags, make of what is given. Fails the test if there is no
// such flag.
template <class Flags>
auto OptionsOf(const Given& given) -> decltype(Flags().Options({})) {
  Flags group;
  std::vector<Flag> flags;
  group.Add(&flags);
  std::vector<std::string_view> names;
  for (const auto& [name, value] : given) {
    const auto flag = std::ranges::find(flags, name, &Flag::name);
    EXPECT_NE(flag, flags.end()) << name;
    SY_RETURN_IF_ERROR(SetField(*flag, value));
    names.push_back(name);
  }
  return group.Options(names);
}

}  // namespace steelyard::cli
