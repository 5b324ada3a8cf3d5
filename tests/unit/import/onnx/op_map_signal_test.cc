// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Signals, HalfOfARealTransformIsAMirror) {
  const ModelText model =
      OneNode("DFT", {{"batch", 10, 1}}, {Int("axis", 1), Int("onesided", 1)}, 17);
  EXPECT_EQ(ResultOf(model), "?,6,2");  // 10 / 2 + 1
  EXPECT_EQ(CallsOf(model), "aten::squeeze.dim aten::fft_rfft aten::view_as_real");
  EXPECT_EQ(ResultOf(OneNode("DFT", {{3, 10, 2}}, {Int("axis", 1)}, 17)), "3,10,2");
}

TEST(Signals, FramesOverlap) {
  ModelText model(17);
  model.Input("x", {1, 128, 1}).Integer("step", 8).Integer("length", 16);
  model.Node({.op = "STFT", .inputs = {"x", "step", "", "length"}, .outputs = {"y"}});
  // (128 - 16) / 8 + 1 frames of 16 / 2 + 1 frequencies
  EXPECT_EQ(ResultOf(model.Output("y")), "1,15,9,2");
}

TEST(Signals, WindowsAreSumsOfCosines) {
  const auto window = [](const std::string& op) {
    ModelText model(17);
    model.Integer("size", 10);
    return model.Node({.op = op, .inputs = {"size"}, .outputs = {"y"}}).Output("y");
  };
  EXPECT_EQ(ResultOf(window("HannWindow")), "10");
  const std::string one = "aten::mul.Tensor aten::cos aten::mul.Tensor";
  EXPECT_EQ(CallsOf(window("HannWindow")), "aten::arange " + one + " aten::add.Tensor");
  EXPECT_EQ(CallsOf(window("BlackmanWindow")),
            "aten::arange " + one + " " + one + " aten::add.Tensor aten::add.Tensor");
}

TEST(Signals, FiltersAreAsManyAsFrequenciesTimesBins) {
  ModelText model(17);
  model.Integer("bins", 8).Integer("length", 16).Integer("rate", 8192).Integer("least", 0);
  model.Integer("most", 4096);
  model.Node({.op = "MelWeightMatrix",
              .inputs = {"bins", "length", "rate", "least", "most"},
              .outputs = {"y"}});
  EXPECT_EQ(ResultOf(model.Output("y")), "9,8");  // 16 / 2 + 1
}

}  // namespace
}  // namespace steelyard::onnx
