// SPDX-License-Identifier: Apache-2.0
#include "session/export_hint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "steelyard/weigh.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// What is said of a model without an open size, where one is searched.
std::string RemedyFor(const std::string& text) {
  const Result<Weighing> w = Weigh({.path = WrittenModel(text), .fit = 1 << 20});
  return w ? "" : Describe(w.error());
}

TEST(ExportHintTest, TheBatchOfARemedyIsNoTableOfPositions) {
  EXPECT_THAT(RemedyFor("input %pos: f32[8]\ninput %x: f32[2,8]\n"
                        "%y: f32[2,8] = aten::add.Tensor(%x, %pos)\nreturn %y\n"),
              HasSubstr("dynamic_shapes={\"pos\": None, \"x\": {0: batch}}"));
  EXPECT_THAT(RemedyFor("input %pos: f32[7,8]\ninput %x: f32[2,7,8]\n"
                        "%y: f32[2,7,8] = aten::add.Tensor(%x, %pos)\n"
                        "%l: f32[] = aten::sum(%y)\nreturn %l\n"),
              HasSubstr("dynamic_shapes={\"pos\": None, \"x\": {0: batch}}"));
  EXPECT_THAT(RemedyFor("input %x: f32[1,8]\n%y: f32[1,8] = aten::relu(%x)\nreturn %y\n"),
              HasSubstr("a batch of 2 or more"));
}

TEST(ExportHintTest, ARemedyNamesTensorsAsTheyArePassed) {
  EXPECT_THAT(
      RemedyFor("fact \"argument\" \"x = args[0][\\\"a\\\"]\"\nfact \"argument\" \"k = args[1]\"\n"
                "fact \"argument\" \"y = kwargs[\\\"y\\\"]\"\n"
                "input %x: f32[2,8]\ninput %y: f32[2,8]\n"
                "%z: f32[2,8] = aten::add.Tensor(%x, %y)\nreturn %z\n"),
      HasSubstr("shapes[args[0][\"a\"]] = shapes[kwargs[\"y\"]] = {0: batch}`, then "
                "`torch.export.export(model, args, kwargs, dynamic_shapes=shapes)`"));
}

TEST(ExportHintTest, AStaticModelIsRefusedWithARemedy) {
  const std::string remedy =
      RemedyFor("input %x: f32[2,8]\n%y: f32[2,8] = aten::relu(%x)\nreturn %y\n");
  EXPECT_THAT(remedy, HasSubstr("Export it with one"));
  EXPECT_THAT(remedy, HasSubstr("dynamic_shapes={\"x\": {0: batch}}"));
}

}  // namespace
}  // namespace steelyard
