// SPDX-License-Identifier: Apache-2.0
#include "present/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::ElementsAre;

report::Data Table(const WeighedModel& model, std::string_view name) {
  report::Data data;
  AddTable(model.findings(), name, &data);
  return data;
}

std::vector<std::string> Texts(const report::Data& data, std::string_view table,
                               std::string_view key) {
  std::vector<std::string> texts;
  for (const report::DataView row : At(data, table)) {
    texts.emplace_back(row.Find(key).value().AsText());
  }
  return texts;
}

std::vector<std::int64_t> Numbers(const report::Data& data, std::string_view table,
                                  std::string_view key) {
  std::vector<std::int64_t> numbers;
  for (const report::DataView row : At(data, table)) {
    numbers.push_back(row.Find(key).value().AsInt());
  }
  return numbers;
}

TEST(TablesTest, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const TableInfo& table : Tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.summary.empty());
  }
  EXPECT_EQ(Tables().front().name, "modules") << "the default";
}

TEST(TablesTest, OnlyWhatTheDataLacksIsAdded) {
  const WeighedModel model;
  for (const std::string_view name : {"modules", "operators", "no such table"}) {
    EXPECT_FALSE(Table(model, name).root().Find(name).has_value()) << name;
  }
}

TEST(TablesTest, CallsAreTheKernelsWithoutTheDrops) {
  const WeighedModel model;
  const report::Data data = Table(model, "calls");
  EXPECT_THAT(Numbers(data, "calls", "step"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Texts(data, "calls", "op"),
              ElementsAre("aten::linear", "aten::linear", "aten::linear"));
  EXPECT_THAT(Texts(data, "calls", "kernel"), ElementsAre("aten::mm", "aten::mm", "aten::mm"));
  EXPECT_THAT(Texts(data, "calls", "module"),
              ElementsAre("encoder.layer.0", "encoder.layer.1", "head"));
  EXPECT_THAT(Texts(data, "calls", "phase"), ElementsAre("forward", "forward", "forward"));
  EXPECT_THAT(Texts(data, "calls", "results"),
              ElementsAre("float32 2×8", "float32 2×8", "float32 2×4"));
  EXPECT_THAT(Numbers(data, "calls", "macs"), ElementsAre(kLayerMacs, kLayerMacs, kHeadMacs));
}

TEST(TablesTest, EventsKeepTheTotal) {
  const WeighedModel model;
  const report::Data data = Table(model, "events");
  const std::int64_t resident = model.timeline.resident_bytes();
  EXPECT_THAT(Numbers(data, "events", "bytes"), ElementsAre(64, 128, -128, 64, -64, 32, -64, -32));
  EXPECT_EQ(Numbers(data, "events", "total").front(), resident + 64);
  EXPECT_EQ(Numbers(data, "events", "total").back(), resident) << "all has been let go";
  EXPECT_EQ(Texts(data, "events", "category")[5], "outputs");
}

TEST(TablesTest, HeldAreTheTensorsAtThePeak) {
  const WeighedModel model;
  const report::Data data = Table(model, "held");
  std::int64_t sum = 0;
  for (const std::int64_t bytes : Numbers(data, "held", "bytes")) sum += bytes;
  EXPECT_EQ(sum, model.peak.peak_delta);
}

TEST(TablesTest, TensorsAreTheParametersByName) {
  const WeighedModel model;
  const report::Data data = Table(model, "tensors");
  EXPECT_THAT(Texts(data, "tensors", "name"),
              ElementsAre("encoder.layer.0.weight", "encoder.layer.1.weight", "head.weight"));
  EXPECT_THAT(Numbers(data, "tensors", "bytes"),
              ElementsAre(kFloat * 8 * 8, kFloat * 8 * 8, kFloat * 4 * 8));
}

}  // namespace
}  // namespace steelyard::present
