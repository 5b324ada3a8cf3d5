// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

// Five steps of three sequences; inputs of 2, states of 4.
ModelText Layer(const std::string& op, int gates, const std::vector<Attribute>& attributes,
                int directions, bool batch_first) {
  ModelText model;
  model.Input("x", batch_first ? std::vector<Size>{3, 5, 2} : std::vector<Size>{5, 3, 2});
  model.Weight("w", {directions, gates * 4, 2}).Weight("r", {directions, gates * 4, 4});
  model.Node({.op = op, .inputs = {"x", "w", "r"}, .outputs = {"y"}, .attributes = attributes});
  return model.Output("y");
}

TEST(Recurrent, DirectionsAreADimension) {
  EXPECT_EQ(ResultOf(Layer("LSTM", 4, {}, 1, false)), "5,1,3,4");
  EXPECT_EQ(ResultOf(Layer("GRU", 3, {Word("direction", "bidirectional")}, 2, false)), "5,2,3,4");
  EXPECT_EQ(ResultOf(Layer("RNN", 1, {Int("layout", 1)}, 1, true)), "3,5,1,4");
}

TEST(Recurrent, BackwardsIsForwardsOfWhatIsReversed) {
  const std::string calls = CallsOf(Layer("GRU", 3, {Word("direction", "reverse")}, 1, false));
  EXPECT_NE(calls.find("aten::flip"), std::string::npos);
  EXPECT_NE(calls.find("aten::gru.input"), std::string::npos);
}

TEST(Recurrent, ClippedGatesAreNotKnown) {
  EXPECT_EQ(CallsOf(Layer("LSTM", 4, {Real("clip", 1)}, 1, false)), "onnx::LSTM");
}

TEST(Recurrent, GatesThatLookAtTheCellAreStepsOfTheirOwn) {
  ModelText model;
  model.Input("x", {5, 3, 2}).Weight("w", {2, 16, 2}).Weight("r", {2, 16, 4}).Weight("p", {2, 12});
  model.Node({.op = "LSTM",
              .inputs = {"x", "w", "r", "", "", "", "", "p"},
              .outputs = {"y", "last"},
              .attributes = {Word("direction", "bidirectional")}});
  const std::string calls = CallsOf(model.Output("y"));
  EXPECT_EQ(ResultOf(model), "5,2,3,4");
  std::size_t gates = 0;
  for (std::size_t at = calls.find("sigmoid"); at != std::string::npos;
       at = calls.find("sigmoid", at + 1)) {
    ++gates;
  }
  EXPECT_EQ(gates, 2 * 5 * 3);  // directions, steps, gates
}

}  // namespace
}  // namespace steelyard::onnx
