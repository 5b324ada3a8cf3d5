// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Fused, BlocksAreTakenApart) {
  EXPECT_EQ(CallsOf(OneNode("SwiGLU", {{2, 8}, {2, 8}}, {}, 28)), "aten::silu aten::mul.Tensor");
  EXPECT_EQ(CallsOf(OneNode("SwiGLU", {{2, 8}, {2, 8}}, {Real("alpha", 2)}, 28)),
            "aten::mul.Tensor aten::sigmoid aten::mul.Tensor aten::mul.Tensor");
  EXPECT_EQ(ResultOf(OneNode("SwiGLU", {{"batch", 8}, {"batch", 8}}, {}, 28)), "?,8");
}

}  // namespace
}  // namespace steelyard::onnx
