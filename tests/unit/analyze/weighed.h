// SPDX-License-Identifier: Apache-2.0
//
// A text program brought to where analyses read it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "analyze/work.h"
#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {

inline constexpr std::int64_t kFloat = 4;  // bytes

struct Weighed {
  Program imported;
  Program kernels;
  WorkReport work;
};

inline Weighed WeighText(std::string_view text, std::string_view convention = "torch") {
  Result<Program> imported = ParseText(text, "test.syt");
  EXPECT_TRUE(imported) << Describe(imported.error());
  Result<Program> kernels = Dispatcher(*imported, Target{}).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  Result<WorkReport> work = CountWork(*imported, *kernels, *FindConvention(convention), Target{});
  EXPECT_TRUE(work) << Describe(work.error());
  return {*std::move(imported), *std::move(kernels), *std::move(work)};
}

}  // namespace steelyard
