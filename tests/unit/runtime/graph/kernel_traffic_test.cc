// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/kernel_traffic.h"

#include "graphs.h"

namespace steelyard::graph {
namespace {

TEST(TrafficOf, AKernelReadsItsOperandsAndWritesItsResult) {
  const Built built(
      "input %x: f32[2,8]\ninput %r: f32[8]\n%a = aten::tanh(%x)\n%b = aten::add.Tensor(%a, %r)\n"
      "%c = aten::mul.Tensor(%b, %x)\n%d = aten::sum.dim_IntList(%c, [1])\nreturn %d\n");
  const std::vector<Traffic> traffic = TrafficOf(built.graph, built.Fused().front(), built.target);
  ASSERT_EQ(traffic.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(traffic[static_cast<std::size_t>(i)].read, Count(0));
  EXPECT_EQ(traffic.back().read, Count((2 * 8 + 8) * kFloat)) << "x once, though it is read twice";
  EXPECT_EQ(traffic.back().written, Count(2 * kFloat));
}

TEST(TrafficOf, AnOperatorAloneMovesWhatItsRowSays) {
  const Built built("input %x: f32[2,8]\n%a = aten::tanh(%x)\nreturn %a\n");
  const std::vector<Traffic> traffic = TrafficOf(built.graph, built.Fused().front(), built.target);
  ASSERT_EQ(traffic.size(), 1u);
  EXPECT_EQ(traffic[0].read, Count(2 * 8 * kFloat));
}

TEST(TrafficOf, FieldsHaveNoNode) {
  const Built built(
      "input %x: f32[2,8]\nparameter %w: f32[8]\n"
      "%n, %mean, %rstd = aten::native_layer_norm(%x, [8], %w, %w, 1e-5)\n"
      "%a = aten::tanh(%n)\n%b = aten::exp(%a)\nreturn %b\n");
  const std::vector<Step> steps = built.Fused();
  const std::vector<Traffic> traffic = TrafficOf(built.graph, steps[1], built.target);
  ASSERT_EQ(traffic.size(), 2u);
  EXPECT_EQ(traffic[1].read, Count(2 * 8 * kFloat));
}

}  // namespace
}  // namespace steelyard::graph
