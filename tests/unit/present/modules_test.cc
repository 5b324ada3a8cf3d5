// SPDX-License-Identifier: Apache-2.0
#include "present/modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kParameters = 1;  // the columns of the tree
constexpr std::size_t kFlops = 4;

report::Table ModuleTable(const Findings& findings, const Shown& shown) {
  report::Document document;
  AppendModules(findings, shown, &document);
  return std::get<report::Table>(document.body.at(0));
}

std::string TextOfTree(const Findings& findings, const Shown& shown) {
  report::Document document;
  AppendModules(findings, shown, &document);
  return TextOf(document);
}

std::int64_t SumAtLevel(const report::Table& table, int level, std::size_t column) {
  std::int64_t sum = 0;
  for (const report::Row& row : table.rows) {
    if (row.level != level) continue;
    sum += std::get<std::int64_t>(std::get<Quantity>(row.cells[column].content).value);
  }
  return sum;
}

TEST(ModulesTest, AClosedModuleSaysWhatItRepeats) {
  const WeighedModel model;
  const std::string text = TextOfTree(model.findings(), {.depth = 1});
  EXPECT_THAT(text, HasSubstr("Encoder  2 × Layer"));
  EXPECT_THAT(text, Not(HasSubstr("layer.0")));
}

TEST(ModulesTest, RepeatedModulesShareARow) {
  const WeighedModel model;
  const std::string text = TextOfTree(model.findings(), {.depth = 2});
  EXPECT_THAT(text, HasSubstr("layer.0–1"));
  EXPECT_THAT(text, HasSubstr("2 × Layer"));
}

TEST(ModulesTest, DetailedShowsThemOneByOne) {
  const WeighedModel model;
  const std::string text = TextOfTree(model.findings(), {.depth = 2, .detailed = true});
  EXPECT_THAT(text, HasSubstr("layer.0 "));
  EXPECT_THAT(text, HasSubstr("layer.1 "));
}

TEST(ModulesTest, RowsOfALevelSumUpToTheWhole) {
  const WeighedModel model;
  for (const bool detailed : {false, true}) {
    const report::Table tree = ModuleTable(model.findings(), {.depth = 2, .detailed = detailed});
    EXPECT_EQ(SumAtLevel(tree, 0, kParameters), 8 * 8 + 8 * 8 + 4 * 8);
    EXPECT_EQ(SumAtLevel(tree, 0, kFlops), 2 * (2 * kLayerMacs + kHeadMacs));
    EXPECT_EQ(SumAtLevel(tree, 1, kParameters), 8 * 8 + 8 * 8);
    EXPECT_EQ(SumAtLevel(tree, 1, kFlops), 2 * 2 * kLayerMacs);
  }
}

TEST(ModulesTest, WhatAModuleHasBesidesItsChildrenGetsARow) {
  WeighedModel model;
  model.modules[0].parameters += 5;
  const report::Table tree = ModuleTable(model.findings(), {.depth = 1});
  EXPECT_EQ(std::get<std::string>(tree.rows.back().cells[0].content), "(itself)");
  EXPECT_EQ(SumAtLevel(tree, 0, kParameters), model.modules[0].parameters);
}

TEST(ModulesTest, AModelWithoutModulesHasNoTree) {
  WeighedModel model;
  model.modules.resize(1);
  EXPECT_EQ(TextOfTree(model.findings(), {}), "");
}

TEST(ModulesTest, DataHasEveryModule) {
  const WeighedModel model;
  report::Data data;
  AddModuleData(model.findings(), &data);
  std::vector<std::string> paths;
  for (const report::DataView module : At(data, "modules")) {
    paths.emplace_back(module.Find("path")->AsText());
    if (paths.back() != "head") continue;
    EXPECT_EQ(module.Find("depth")->AsInt(), 1);
    EXPECT_EQ(module.Find("parameters")->AsInt(), 4 * 8);
    EXPECT_EQ(module.Find("flops")->AsInt(), 2 * kHeadMacs);
    EXPECT_EQ(module.Find("activation_bytes")->AsInt(), kFloat * 2 * 4);
  }
  EXPECT_THAT(paths,
              ::testing::ElementsAre("", "encoder", "encoder.layer.0", "encoder.layer.1", "head"));
}

}  // namespace
}  // namespace steelyard::present
