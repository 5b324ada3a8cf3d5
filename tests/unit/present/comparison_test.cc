// SPDX-License-Identifier: Apache-2.0
#include "present/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "present/weigh.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

report::Data DataOf(const WeighedModel& model) {
  report::Document document;
  PresentData(model.findings(), {}, &document);
  return std::move(document.data);
}

report::Document Compared(const report::Data& a, const report::Data& b) {
  report::Document document;
  PresentComparison({.label = "a.pt2", .data = a.root()}, {.label = "b.pt2", .data = b.root()}, {},
                    &document);
  return document;
}

// The second model's head has three times the parameters, and it has an operator of its own.
report::Document OfTwo() {
  const WeighedModel a;
  WeighedModel b;
  b.parameters.parameters.count += 2 * 4 * 8;
  for (ModuleReport& module : b.modules) {
    if (b.kernels.text(b.kernels.modules[module.module].path) == "head") {
      module.parameters += 2 * 4 * 8;
    }
  }
  b.work.by_operator.push_back({.name = "aten::gelu", .calls = 2, .work = {.flops_all = 80}});
  return Compared(DataOf(a), DataOf(b));
}

TEST(ComparisonTest, AModelIsLikeItself) {
  const WeighedModel model;
  const std::string text = TextOf(Compared(DataOf(model), DataOf(model)));
  EXPECT_THAT(text, Not(HasSubstr("that differ")));
  EXPECT_THAT(text, HasSubstr("No module and no operator differs"));
  EXPECT_THAT(text, HasSubstr("peak memory"));
}

TEST(ComparisonTest, TotalsSayWhatChanges) {
  const std::string text = TextOf(OfTwo());
  static_assert(8 * 8 + 8 * 8 + 4 * 8 == 160);
  EXPECT_THAT(text, ::testing::ContainsRegex("parameters +160 +224 +\\+64 +1.40x"));
}

TEST(ComparisonTest, OnlyWhatDiffersIsListed) {
  const std::string text = TextOf(OfTwo());
  const std::string modules = text.substr(text.find("Modules that differ"));
  EXPECT_THAT(modules, ::testing::ContainsRegex("head +32 +96"));
  EXPECT_THAT(modules, Not(HasSubstr("encoder")));
  EXPECT_THAT(modules, HasSubstr("that are the same"));
  EXPECT_THAT(modules, ::testing::ContainsRegex("aten::gelu +2"));
}

TEST(ComparisonTest, DataHasEverything) {
  const report::Document document = OfTwo();
  std::int64_t rows = 0;
  for (const report::DataView row : At(document.data, "modules")) {
    ++rows;
    const bool head = row.Find("path")->AsText() == "head";
    EXPECT_EQ(row.Find("differs")->AsBool(), head);
  }
  EXPECT_EQ(rows, 5);
  const report::DataView total = *At(document.data, "totals").begin();
  EXPECT_EQ(total.Find("name")->AsText(), "parameters.count");
  EXPECT_EQ(total.Find("change")->AsInt(), 2 * 4 * 8);
  for (const report::DataView row : At(document.data, "operators")) {
    if (row.Find("op")->AsText() != "aten::gelu") continue;
    EXPECT_FALSE(row.Find("calls_a").has_value()) << "A has none such";
    EXPECT_EQ(row.Find("calls_b")->AsInt(), 2);
  }
}

TEST(ComparisonTest, ReportsThatLackKeysAreCompared) {
  report::Data empty;
  const WeighedModel model;
  EXPECT_THAT(TextOf(Compared(empty, DataOf(model))), HasSubstr("peak memory"));
}

}  // namespace
}  // namespace steelyard::present
