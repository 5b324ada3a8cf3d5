// SPDX-License-Identifier: Apache-2.0
//
// How tools count work. Rules say what is done (Work); a convention says what of it counts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "steelyard/op.h"

namespace steelyard {

// What one operation of a kind counts for.
struct Weights {
  int mac = 0;
  int alu = 0;
  int special = 0;
  int compare = 0;
  int move = 0;
};

// A family that a convention weighs differently.
struct FamilyException {
  Family family;
  Weights weights;
};

struct Convention {
  std::string_view name;     // "torch"
  std::string_view summary;  // what it counts, for reports: "contractions, 2 x multiply-adds"
  std::string_view source;   // where the convention is stated
  Weights weights;
  std::span<const FamilyException> exceptions;
};

std::span<const Convention> Conventions();
// nullptr if there is none of this name.
const Convention* FindConvention(std::string_view name);

// Work in a convention's unit. Overflow is kept.
Count Weigh(const Work& work, Family family, const Convention& convention);

}  // namespace steelyard
