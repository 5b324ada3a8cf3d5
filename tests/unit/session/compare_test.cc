// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "steelyard/weigh.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// An array of a comparison's data.
report::DataView Rows(const report::Document& document, std::string_view name) {
  return document.data.root().Find(name).value();
}

std::string WrittenReport(const Weighing& weighing) {
  return WriteTemporary("report.json", WriteReport(weighing, "json", {}).value());
}

TEST(CompareTest, AReportIsAsGoodAsItsModel) {
  const std::string model = WrittenModel(kLinear);
  const std::string report = WrittenReport(Weigh({.path = model}).value());
  const report::Document document = Compare({.a = model, .b = report}).value();
  for (const report::DataView row : Rows(document, "modules")) {
    EXPECT_FALSE(row.Find("differs")->AsBool());
  }
}

TEST(CompareTest, TheOptionsAreThoseOfModels) {
  const std::string model = WrittenModel(kLinear);
  const std::string report = WrittenReport(Weigh({.path = model}).value());  // a batch of 2
  CompareOptions options{.a = report, .b = model};
  options.weigh.bind.batch = 4;
  const report::Document document = Compare(options).value();
  for (const report::DataView total : Rows(document, "totals")) {
    if (total.Find("name")->AsText() != "macs.forward") continue;
    EXPECT_EQ(total.Find("a")->AsInt(), 2 * 8 * 4);
    EXPECT_EQ(total.Find("b")->AsInt(), 4 * 8 * 4);
  }
}

TEST(CompareTest, OtherJsonIsRefused) {
  const std::string path = WriteTemporary("config.json", "{\"hidden_size\": 768}");
  const Result<report::Document> document = Compare({.a = path, .b = path});
  ASSERT_FALSE(document);
  EXPECT_THAT(Describe(document.error()), HasSubstr("the JSON is no report of steelyard weigh"));
}

TEST(CompareTest, EveryTableIsInTheData) {
  const std::string model = WrittenModel(kLinear);
  const report::Document document = Compare({.a = model, .b = model}).value();
  for (const std::string_view table : ComparisonTables()) {
    EXPECT_TRUE(document.data.root().Find(table).has_value()) << table;
  }
}

TEST(CompareTest, OptionsThatApplyToNeitherAreRefused) {
  const std::string report = WrittenReport(Weigh({.path = WrittenModel(kLinear)}).value());
  const Result<report::Document> document =
      Compare({.a = report, .b = report, .asked = {"--train"}});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kUsage);
  EXPECT_EQ(Describe(document.error()),
            "--train: both files are reports of what was weighed before. Leave it out, or name the "
            "models' files instead.");
}

TEST(CompareTest, OptionsThatApplyToOneSaySo) {
  const std::string model = WrittenModel(kLinear);
  const std::string report = WrittenReport(Weigh({.path = model}).value());
  CompareOptions options{.a = model, .b = report, .asked = {"--batch", "--mode"}};
  options.weigh.bind.batch = 4;
  EXPECT_THAT(report::Render(Compare(options).value(), "text").value(),
              HasSubstr("Note: B is a stored report; --batch, --mode are of A alone.\n"));
}

TEST(CompareTest, AReportWithAWrongFieldIsRefusedByFileAndField) {
  std::string text =
      WriteReport(Weigh({.path = WrittenModel(kLinear)}).value(), "json", {}).value();
  const std::string key = "\"peak_delta\": ";
  text.replace(text.find(key), key.size(), key + "-");
  const std::string path = WriteTemporary("edited.json", text);
  const Result<report::Document> document = Compare({.a = path, .b = path});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().where, path + ": field memory.peak_delta");
}

TEST(CompareTest, AReportOfAnotherVersionIsToldFromOtherJson) {
  const std::string path = WriteTemporary("later.json", R"({"schema": "steelyard.report/2"})");
  const Result<report::Document> document = Compare({.a = path, .b = path});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().message,
            "it is a steelyard.report/2, and this version reads steelyard.report/1");
}

}  // namespace
}  // namespace steelyard
