// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/windows.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard::onnx {
namespace {

using shapes::Window;

// What a pool of one window over a signal of ten gives, as `auto_pad` has it.
std::string Pooled(const std::string& automatic, std::int64_t stride) {
  return ResultOf(
      OneNode("MaxPool", {{1, 1, 10}},
              {Ints("kernel_shape", {4}), Ints("strides", {stride}), Word("auto_pad", automatic)}));
}

TEST(WindowsOf, PadsAsItIsTold) {
  EXPECT_EQ(Pooled("NOTSET", 3), "1,1,3");  // (10 - 4) / 3 + 1
  EXPECT_EQ(Pooled("VALID", 3), "1,1,3");
  EXPECT_EQ(Pooled("SAME_UPPER", 3), "1,1,4");  // 10 / 3, rounded up
  EXPECT_EQ(Pooled("SAME_LOWER", 1), "1,1,10");
}

TEST(WindowsOf, RefusesAbsurdOnes) {
  const auto refused = [](const Attribute& attribute) {
    return CallsOf(OneNode("MaxPool", {{1, 1, 10}}, {Ints("kernel_shape", {4}), attribute}));
  };
  EXPECT_EQ(refused(Ints("strides", {0})), "onnx::MaxPool");
  EXPECT_EQ(refused(Ints("dilations", {INT64_MAX})), "onnx::MaxPool");
  EXPECT_EQ(refused(Ints("pads", {INT64_MIN, 0})), "onnx::MaxPool");
  EXPECT_EQ(refused(Ints("strides", {1, 1})), "onnx::MaxPool");
}

TEST(IsSymmetric, ComparesBothEnds) {
  EXPECT_TRUE(IsSymmetric({Window{.before = 1, .after = 1}, Window{}}));
  EXPECT_FALSE(IsSymmetric({Window{.before = 1, .after = 2}}));
}

}  // namespace
}  // namespace steelyard::onnx
