// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

// Two sequences; 4 heads of queries that share 2 of keys of 8 and values of 6.
ModelText States(const Size& steps, const std::vector<Attribute>& more,
                 const std::string& result = "y") {
  ModelText model(27);
  model.Input("q", {2, steps, 4 * 8}).Input("k", {2, steps, 2 * 8}).Input("v", {2, steps, 2 * 6});
  model.Input("decay", {2, steps, 2}).Input("rate", {2, steps, 1});
  std::vector<Attribute> attributes{Int("q_num_heads", 4), Int("kv_num_heads", 2)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  model.Node({.op = "LinearAttention",
              .inputs = {"q", "k", "v", "", "decay", "rate"},
              .outputs = {"y", "state"},
              .attributes = attributes});
  return model.Output(result);
}

std::size_t CountOf(const std::string& calls, const std::string& op) {
  std::size_t count = 0;
  for (std::size_t at = calls.find(op); at != std::string::npos; at = calls.find(op, at + 1)) {
    ++count;
  }
  return count;
}

TEST(LinearAttention, EachHeadOfKeysHasAState) {
  EXPECT_EQ(ResultOf(States(5, {})), "2,5,24");  // 4 heads of 6
  EXPECT_EQ(ResultOf(States(5, {}, "state")), "2,2,8,6");
  EXPECT_EQ(ResultOf(States("steps", {})), "2,?,24");
}

TEST(LinearAttention, OneStepSolvesNothing) {
  EXPECT_EQ(CountOf(CallsOf(States(1, {})), "solve_triangular"), 0);
  EXPECT_EQ(CountOf(CallsOf(States(5, {})), "solve_triangular"), 1);
}

TEST(LinearAttention, StepsAreTakenInChunks) {
  const std::string calls = CallsOf(States(10, {Int("chunk_size", 4)}));
  EXPECT_EQ(CountOf(calls, "solve_triangular"), 3);  // of 4, 4 and 2
  EXPECT_EQ(ResultOf(States(10, {Int("chunk_size", 4)})), "2,10,24");
}

TEST(LinearAttention, ARuleSaysWhatAStateForgets) {
  const std::string plain = CallsOf(States(5, {Word("update_rule", "linear")}));
  EXPECT_EQ(CountOf(plain, "aten::exp"), 0);
  EXPECT_EQ(CountOf(plain, "solve_triangular"), 0);
  EXPECT_EQ(CallsOf(States(5, {Word("update_rule", "sometimes")})), "onnx::LinearAttention");
}

}  // namespace
}  // namespace steelyard::onnx
