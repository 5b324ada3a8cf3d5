// SPDX-License-Identifier: Apache-2.0
//
// Programs to run passes on.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "ir/text_reader.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// A program in its text form. Fails the test if it is refused.
inline Program Parsed(std::string_view text) {
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}

}  // namespace steelyard
