// SPDX-License-Identifier: Apache-2.0
//
// What is measured is tested beside PyTorch, in tests/engine.
#include "session/peak_flops.h"

#include <gtest/gtest.h>

#include "written_model.h"

namespace steelyard {
namespace {

TEST(DTypeOfProducts, IsThatOfMostMultiplyAdds) {
  const Weighing weighing = Weigh({.path = WrittenModel(kLinear)}).value();
  EXPECT_EQ(DTypeOfProducts(weighing), DType::kFloat32);
  const Weighing cast =
      Weigh({.path = WrittenModel(kLinear), .amp = {.dtype = DType::kBFloat16}}).value();
  EXPECT_EQ(DTypeOfProducts(cast), DType::kBFloat16);
}

TEST(DTypeOfProducts, IsNoneWhereNothingIsMultiplied) {
  const Weighing weighing =
      Weigh({.path = WrittenModel("input %x: f32[8]\n%y = aten::relu(%x)\nreturn %y\n")}).value();
  EXPECT_FALSE(DTypeOfProducts(weighing));
}

}  // namespace
}  // namespace steelyard
