// SPDX-License-Identifier: Apache-2.0

#include "analyze/masking.h"

#include <gtest/gtest.h>

#include <numeric>

#include "weighed.h"

namespace steelyard {
namespace {

// Of all nodes.
std::int64_t Masked(std::string_view text) {
  const std::vector<std::int64_t> masked = CountMasked(WeighText(text).kernels, Target{});
  return std::accumulate(masked.begin(), masked.end(), std::int64_t{0});
}

constexpr std::string_view kOperands =
    "input %q: f32[2,3,8,4]\ninput %k: f32[2,3,8,4]\ninput %v: f32[2,3,8,4]\n"
    "%i = aten::arange(8)\n%row = aten::unsqueeze(%i, 1)\n%seen = aten::le.Tensor(%i, %row)\n";
// 8 x 7 / 2 scores of each of 2 x 3 heads, each of two products of 4 multiply-adds.
constexpr std::int64_t kHidden = 8 * 7 / 2 * 2 * 3 * 2 * 4;

std::string Attention(std::string_view rest) { return std::string(kOperands).append(rest); }

TEST(CountMasked, AMaskOfBooleansHidesAsCausalityDoes) {
  EXPECT_EQ(Masked(Attention("%y = aten::scaled_dot_product_attention(%q, %k, %v, %seen)\n"
                             "return %y\n")),
            kHidden);
  EXPECT_EQ(
      Masked(Attention("%y = aten::scaled_dot_product_attention(%q, %k, %v, None, 0.0, True)\n"
                       "return %y\n")),
      kHidden);
}

TEST(CountMasked, ProductsAreMaskedBeforeAndBehindTheSoftmax) {
  EXPECT_EQ(Masked(Attention("%t = aten::transpose.int(%k, 2, 3)\n%s = aten::matmul(%q, %t)\n"
                             "%out = aten::logical_not(%seen)\n"
                             "%m = aten::masked_fill.Scalar(%s, %out, -1e30)\n"
                             "%p = aten::softmax.int(%m, -1)\n%y = aten::matmul(%p, %v)\n"
                             "return %y\n")),
            kHidden);
}

TEST(CountMasked, AMaskThatIsGivenHidesNothingThatIsKnown) {
  EXPECT_EQ(Masked(Attention("input %g: bool[8,8]\n"
                             "%y = aten::scaled_dot_product_attention(%q, %k, %v, %g)\n"
                             "return %y\n")),
            0);
}

TEST(CountMasked, AProgramWithoutAttentionIsNotGoneThrough) {
  const Weighed weighed = WeighText("input %x: f32[2,3]\n%y = aten::relu(%x)\nreturn %y\n");
  EXPECT_TRUE(CountMasked(weighed.kernels, Target{}).empty());
}

}  // namespace
}  // namespace steelyard
