// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Images, AreResizedByFactorsOrSizes) {
  EXPECT_EQ(ResultOf(OneNode("Upsample", {{1, 3, 5, 7}}, {Word("mode", "nearest")}, 9)), "none");
  ModelText model;
  model.Input("x", {"batch", 3, 5, 7}).Integers("sizes", {2, 3, 10, 21});
  model.Node({.op = "Resize",
              .inputs = {"x", "", "", "sizes"},
              .outputs = {"y"},
              .attributes = {Word("mode", "linear"), Ints("axes", {0, 1, 2, 3})}});
  // The batch may be another than 2: only spatial dimensions are resized.
  EXPECT_EQ(CallsOf(model.Output("y")), "onnx::Resize");
  ModelText fixed;
  fixed.Input("x", {"batch", 3, 5, 7}).Integers("sizes", {10, 21});
  fixed.Node({.op = "Resize",
              .inputs = {"x", "", "", "sizes"},
              .outputs = {"y"},
              .attributes = {Word("mode", "linear"), Ints("axes", {2, 3})}});
  EXPECT_EQ(CallsOf(fixed.Output("y")), "aten::upsample_bilinear2d.vec");
  EXPECT_EQ(ResultOf(fixed), "?,3,10,21");
}

// An image whose width is multiplied by a float that is computed.
ModelText Scaled(std::int64_t above, std::int64_t below) {
  constexpr int kAsFloat = 1;
  ModelText model;
  model.Input("x", {1, 3, "height", 8}).Integers("ones", {1, 1, 1});
  model.Integers("above", {above}).Integers("below", {below});
  for (const char* name : {"ones", "above", "below"}) {
    model.Node({.op = "Cast",
                .inputs = {name},
                .outputs = {std::string("f_") + name},
                .attributes = {Int("to", kAsFloat)}});
  }
  model.Node({.op = "Div", .inputs = {"f_above", "f_below"}, .outputs = {"factor"}});
  model.Node({.op = "Concat",
              .inputs = {"f_ones", "factor"},
              .outputs = {"scales"},
              .attributes = {Int("axis", 0)}});
  model.Node({.op = "Resize", .inputs = {"x", "", "scales"}, .outputs = {"y"}});
  return model.Output("y");
}

TEST(Images, AreResizedByFactorsThatAreComputed) {
  EXPECT_EQ(ResultOf(Scaled(3, 2)), "1,3,?,12");  // 8 * 3 / 2
  EXPECT_EQ(CallsOf(Scaled(3, 2)), "aten::upsample_nearest2d.vec");
}

// As tf2onnx writes it: the sizes that are wanted, by those that there are. `arranged` makes
// "factors", a list of two, of their quotient, "divided".
ModelText Fitted(const std::vector<NodeText>& arranged) {
  constexpr int kAsFloat = 1;
  ModelText model;
  model.Input("x", {1, 3, "height", "width"}).Integers("wanted", {16, 12});
  model.Integers("from", {2}).Integers("to", {4}).Integers("ones", {1, 1});
  model.Integers("first", {0}).Integers("second", {1}).Integers("third", {2});
  model.Integers("both", {0, 1}).Integers("row", {1, 2}).Integers("column", {2, 1});
  model.Integers("list", {2}).Integer("at0", 0).Integer("at1", 1);
  model.Node({.op = "Shape", .inputs = {"x"}, .outputs = {"sizes"}});
  model.Node({.op = "Slice", .inputs = {"sizes", "from", "to"}, .outputs = {"image"}});
  for (const char* name : {"wanted", "image", "ones"}) {
    model.Node({.op = "Cast",
                .inputs = {name},
                .outputs = {std::string("f_") + name},
                .attributes = {Int("to", kAsFloat)}});
  }
  model.Node({.op = "Div", .inputs = {"f_wanted", "f_image"}, .outputs = {"divided"}});
  for (const NodeText& node : arranged) model.Node(node);
  model.Node({.op = "Concat",
              .inputs = {"f_ones", arranged.empty() ? "divided" : "factors"},
              .outputs = {"scales"},
              .attributes = {Int("axis", 0)}});
  model.Node({.op = "Resize", .inputs = {"x", "", "scales"}, .outputs = {"y"}});
  return model.Output("y");
}

TEST(Images, AFactorMadeOfSizesGivesTheWantedOnes) { EXPECT_EQ(ResultOf(Fitted({})), "1,3,16,12"); }

TEST(Images, FactorsMadeOfSizesAreRearranged) {
  const Attribute first = Int("axis", 0);
  const NodeText joined{.op = "Concat",
                        .inputs = {"height1", "width1"},
                        .outputs = {"factors"},
                        .attributes = {first}};
  const auto gathered = [&](const char* at, const char* out) {
    return NodeText{
        .op = "Gather", .inputs = {"divided", at}, .outputs = {out}, .attributes = {first}};
  };
  const auto raised = [](const char* from, const char* out) {
    return NodeText{.op = "Unsqueeze", .inputs = {from, "first"}, .outputs = {out}};
  };
  EXPECT_EQ(ResultOf(Fitted({gathered("at0", "h"), gathered("at1", "w"), raised("h", "height1"),
                             raised("w", "width1"), joined})),
            "1,3,16,12");
  EXPECT_EQ(ResultOf(Fitted(
                {{.op = "Slice", .inputs = {"divided", "first", "second"}, .outputs = {"height1"}},
                 {.op = "Slice", .inputs = {"divided", "second", "third"}, .outputs = {"width1"}},
                 joined})),
            "1,3,16,12");
  EXPECT_EQ(
      ResultOf(Fitted(
          {{.op = "Split", .inputs = {"divided"}, .outputs = {"height1", "width1"}}, joined})),
      "1,3,16,12");
  EXPECT_EQ(ResultOf(Fitted(
                {{.op = "Reshape", .inputs = {"divided", "row"}, .outputs = {"as_row"}},
                 {.op = "Transpose", .inputs = {"as_row"}, .outputs = {"as_column"}},
                 {.op = "Reshape", .inputs = {"as_column", "list"}, .outputs = {"factors"}}})),
            "1,3,16,12");
}

TEST(Images, OneFactorMadeOfSizesIsRepeated) {
  const NodeText first{
      .op = "Slice", .inputs = {"divided", "first", "second"}, .outputs = {"height1"}};
  const NodeText all{.op = "Expand", .inputs = {"height1", "list"}, .outputs = {"factors"}};
  EXPECT_EQ(ResultOf(Fitted({first, all})), "1,3,16,?");
  const NodeText same{.op = "Expand", .inputs = {"divided", "list"}, .outputs = {"factors"}};
  EXPECT_EQ(ResultOf(Fitted({same})), "1,3,16,12");
}

// A float of 32 bits times 10 is 7; the number that it is nearest to is less.
TEST(Images, AreScaledAsFloatsAre) {
  ModelText model;
  model.Input("x", {1, 1, 10, 10});
  model.Node({.op = "Constant",
              .outputs = {"scales"},
              .attributes = {Reals("value_floats", {1, 1, 0.7, 0.7})}});
  model.Node({.op = "Resize", .inputs = {"x", "", "scales"}, .outputs = {"y"}});
  EXPECT_EQ(ResultOf(model.Output("y")), "1,1,7,7");
}

TEST(Images, KeepTheirProportions) {
  const auto resized = [](const std::string& policy) {
    ModelText model;
    model.Input("x", {1, 1, 2, 4}).Integers("sizes", {7, 8});
    model.Node({.op = "Resize",
                .inputs = {"x", "", "", "sizes"},
                .outputs = {"y"},
                .attributes = {Word("keep_aspect_ratio_policy", policy), Ints("axes", {2, 3})}});
    return ResultOf(model.Output("y"));
  };
  EXPECT_EQ(resized("not_larger"), "1,1,4,8");    // twice: 8 / 4
  EXPECT_EQ(resized("not_smaller"), "1,1,7,14");  // 3.5 times: 7 / 2
}

TEST(Images, AreSampledAtPlaces) {
  EXPECT_EQ(ResultOf(OneNode("GridSample", {{2, 3, 5, 7}, {2, 4, 6, 2}}, {}, 20)), "2,3,4,6");
}

TEST(Images, AreCutOrFilledAtBothEnds) {
  ModelText model;
  model.Input("x", {10, 4}).Integers("to", {6, 7});
  model.Node({.op = "CenterCropPad", .inputs = {"x", "to"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(CallsOf(model), "aten::slice.Tensor aten::constant_pad_nd");
  EXPECT_EQ(ResultOf(model), "6,7");
}

TEST(Images, ACropIsSampledAtPlaces) {
  ModelText model(19);
  model.Input("x", {1, 3, 4, 4}).Integers("roi", {0, 0, 0, 0, 1, 1, 1, 1});
  model.Integers("sizes", {1, 3, 5, 6});
  model.Node({.op = "Resize",
              .inputs = {"x", "roi", "", "sizes"},
              .outputs = {"y"},
              .attributes = {Word("mode", "linear"),
                             Word("coordinate_transformation_mode", "tf_crop_and_resize")}});
  EXPECT_EQ(ResultOf(model.Output("y")), "1,3,5,6");
  EXPECT_NE(CallsOf(model).find("aten::grid_sampler"), std::string::npos);
}

TEST(Images, VolumesAreFoldedByATransposedConvolution) {
  ModelText model(18);
  model.Input("x", {1, 10, 12}).Integers("image", {3, 4, 5}).Integers("block", {1, 1, 5});
  model.Node({.op = "Col2Im", .inputs = {"x", "image", "block"}, .outputs = {"y"}});
  EXPECT_EQ(ResultOf(model.Output("y")), "1,2,3,4,5");  // 10 / 5 channels
  EXPECT_NE(CallsOf(model).find("conv_transpose3d"), std::string::npos);
}

TEST(Images, AnEncodedImageHasNoSize) {
  EXPECT_EQ(CallsOf(OneNode("ImageDecoder", {{1058}}, {}, 20)), "onnx::ImageDecoder");
}

}  // namespace
}  // namespace steelyard::onnx
