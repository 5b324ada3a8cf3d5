// SPDX-License-Identifier: Apache-2.0
#include "present/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const WeighedModel& model, const Shown& shown) {
  report::Document document;
  AppendClasses(model.findings(), shown, &document);
  return TextOf(document);
}

TEST(ClassesTest, EachDepthHasItsClasses) {
  const std::string text = Text(WeighedModel(), {.depth = 2, .top = 10});
  EXPECT_THAT(text, HasSubstr("depth 0\n    Tiny"));
  EXPECT_THAT(text, HasSubstr("depth 1\n    Encoder"));
  EXPECT_THAT(text, HasSubstr("depth 2\n    Layer  "));
  EXPECT_THAT(Text(WeighedModel(), {.depth = 1, .top = 10}), Not(HasSubstr("depth 2")));
}

TEST(ClassesTest, ThoseBelowTheTopAreOneRow) {
  // At depth 1 the encoder has more of everything than the head.
  EXPECT_THAT(Text(WeighedModel(), {.depth = 1, .top = 1}), HasSubstr("    1 other"));
  EXPECT_EQ(Text(WeighedModel(), {.top = 0}), "");
}

TEST(ClassesTest, AClassWithManyParametersStaysEvenWithoutWork) {
  WeighedModel model;
  for (ClassReport& one : model.classes) {
    if (one.depth == 1) one.parameters = one.work.flops == 2 * kHeadMacs ? 1000 : 1;
  }
  EXPECT_THAT(Text(model, {.depth = 1, .top = 1}), HasSubstr("    Linear"));
}

TEST(ClassesTest, DataHasThemAll) {
  const WeighedModel model;
  report::Data data;
  AddClassData(model.findings(), &data);
  std::int64_t macs = 0;
  for (const report::DataView row : At(data, "classes")) {
    if (row.Find("depth")->AsInt() == 1) macs += row.Find("macs")->AsInt();
  }
  EXPECT_EQ(macs, 2 * kLayerMacs + kHeadMacs) << "encoder and head";
}

}  // namespace
}  // namespace steelyard::present
