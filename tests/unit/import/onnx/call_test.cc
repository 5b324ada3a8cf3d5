// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/call.h"

#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

class CallTest : public ::testing::Test {
 protected:
  Item& Add(Item item) { return workshop_.Add(std::move(item)); }
  Call Of(std::vector<Item*> operands) {
    return {workshop_, node_, *FindRow("", "Relu", 14), 14, std::move(operands)};
  }

  const std::string bytes_ =
      NodeText{.op = "Relu", .outputs = {"y"}, .attributes = {Int("axis", -1), Real("alpha", 0.5)}}
          .bytes();
  const NodeProto node_{bytes_};
  Workshop workshop_{"model", ""};
};

TEST_F(CallTest, ReadsAttributes) {
  const Call call = Of({});
  EXPECT_EQ(call.integer("axis", 0), -1);
  EXPECT_EQ(call.real("alpha", 1), 0.5);
  EXPECT_EQ(call.integer("none", 7), 7);
  EXPECT_EQ(call.axis(-1, 3), 2);
  EXPECT_THROW((void)call.axis(3, 3), Untranslatable);
}

TEST_F(CallTest, SaysWhatItDoesNotKnow) {
  Item& bare = Add({.name = "x"});
  Call call = Of({&bare, nullptr});
  EXPECT_THROW((void)call.shape(0), Untranslatable);
  EXPECT_THROW((void)call.dtype(0), Untranslatable);
  EXPECT_THROW((void)call.tensor(0), Untranslatable);
  EXPECT_FALSE(call.has(1));
  EXPECT_FALSE(call.has(2));
}

TEST_F(CallTest, TakesWholeFloatsForIntegers) {
  Item& scale = Add({.name = "s",
                     .dtype = DType::kFloat32,
                     .shape = Shape{Dim(2)},
                     .reals = std::vector{1.0, 2.0}});
  Item& ratio =
      Add({.name = "r", .dtype = DType::kFloat32, .shape = Shape{}, .reals = std::vector{0.5}});
  Call call = Of({&scale, &ratio});
  EXPECT_EQ(call.known_integers(0), (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(call.numbers(1));
  EXPECT_TRUE(call.number(1));
}

}  // namespace
}  // namespace steelyard::onnx
