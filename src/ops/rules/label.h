// SPDX-License-Identifier: Apache-2.0
//
// Text as a template argument, so that rules can be made for a name: Via<"aten::empty">.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "ops/signature.h"

namespace steelyard {

template <std::size_t N>
struct Label {
  consteval Label(const char (&literal)[N]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(literal, N, text);
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
  char text[N];
};

// The operator of that name, hashed by the compiler.
template <Label kLabel>
inline constexpr OpName kOpNamed = OpName(kLabel.text);

}  // namespace steelyard
