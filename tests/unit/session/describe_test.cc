// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steelyard/weigh.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

Weighing Weighed() { return Weigh({.path = WrittenModel(kLinear)}).value(); }

TEST(DescribeTest, ADocumentHasBothHalves) {
  const report::Document document = Describe(Weighed(), {});
  EXPECT_FALSE(document.body.empty());
  EXPECT_EQ(document.data.root().Find("parameters.count")->AsInt(), 4 * 8);
}

TEST(DescribeTest, EachFormatSaysTheSameWhetherBuiltForItOrNot) {
  const Weighing weighing = Weighed();
  const report::Document document = Describe(weighing, {});
  for (const Choice& format : ReportFormats()) {
    EXPECT_EQ(WriteReport(weighing, format.name, {}).value(),
              report::Render(document, format.name).value());
  }
}

TEST(DescribeTest, SaysWhatATrainingStepDoes) {
  const TrainOptions train{
      .optimizer = "muon", .loss = "sum", .accumulate = 4, .clip_norm = 1, .keep_gradients = true};
  const Weighing weighing = Weigh({.path = WrittenModel(kLinear), .train = train}).value();
  EXPECT_THAT(WriteReport(weighing, "text", {}).value(),
              HasSubstr("(4× forward, loss, backward; clip_grad_norm_, Muon, zero_grad to zeros)"));
}

TEST(DescribeTest, ToldEachStepAReportHasEachMicroStep) {
  EXPECT_FALSE(TellsEachStep("text", {}));
  EXPECT_FALSE(TellsEachStep("csv", {.table = "operators"}));
  EXPECT_TRUE(TellsEachStep("text", {.events = true}));
  EXPECT_TRUE(TellsEachStep("csv", {.table = "events"}));
  EXPECT_TRUE(TellsEachStep("chrome", {}));
  const TrainOptions train{.optimizer = "sgd", .loss = "sum", .accumulate = 9};
  const Weighing weighing = Weigh({.path = WrittenModel(kLinear), .train = train}).value();
  EXPECT_TRUE(WriteReport(weighing, "json", {}));
  EXPECT_EQ(WriteReport(weighing, "json", {.events = true}).error().code, ErrorCode::kUsage);
}

TEST(DescribeTest, CsvHoldsTheTableThatWasAskedFor) {
  const Target device = *TargetNamed("h100");
  const Weighing weighing =
      Weigh({.path = WrittenModel(kLinear), .target = device, .segments = true}).value();
  for (const Choice& table : ReportTables()) {
    const ReportOptions options{.table = std::string(table.name)};
    EXPECT_NE(WriteReport(weighing, "csv", options).value(), "") << table.name;
  }
}

TEST(DescribeTest, AWeighingMayBeMoved) {
  Weighing first = Weighed();
  const std::string before = WriteReport(first, "text", {}).value();
  const Weighing second = std::move(first);
  EXPECT_EQ(WriteReport(second, "text", {}).value(), before);
}

TEST(DescribeTest, UnknownFormatsAreRefused) {
  const Result<std::string> text = WriteReport(Weighed(), "pdf", {});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(text.error()), HasSubstr("text, json"));
}

}  // namespace
}  // namespace steelyard
