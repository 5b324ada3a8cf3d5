// SPDX-License-Identifier: Apache-2.0
#include "ops/rules/reduce.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {
namespace {

// The program of kernels of a loss of four terms.
Result<Program> Reduced(int reduction) {
  const Program program =
      ParseText("input %x: f32[4]\n%y = aten::margin_ranking_loss(%x, %x, %x, 0.5, " +
                    std::to_string(reduction) + ")\nreturn %y\n",
                "")
          .value();
  return Dispatcher(program, Target{}).Run();
}

TEST(Reduce, ByPyTorchsNumbers) {
  const auto calls = [](int reduction, std::string_view op) {
    return Reduced(reduction)->FindOpName(op) != kNoId;
  };
  EXPECT_FALSE(calls(0, "aten::mean") || calls(0, "aten::sum"));
  EXPECT_TRUE(calls(1, "aten::mean"));
  EXPECT_TRUE(calls(2, "aten::sum"));
}

}  // namespace
}  // namespace steelyard::ops
