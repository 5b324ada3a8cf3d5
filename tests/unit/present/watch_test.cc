// SPDX-License-Identifier: Apache-2.0
#include "present/watch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "../record_writer.h"
#include "record/replay.h"
#include "steelyard/report.h"

namespace steelyard::present {
namespace {

std::string WatchText(const RecordWriter& record) {
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  const Watched watched =
      Replay(std::move(*recording), [](const RecordedCall&) { return CallIs::kUnknown; });
  const PeakReport peak = FindPeak(watched.timeline);
  report::Document document;
  PresentWatch({watched, peak, {}}, {.depth = 2, .top = 10}, &document);
  return report::Render(document, "text").value();
}

TEST(PresentWatch, TellsModulesByTheirPaths) {
  RecordWriter record;
  record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "encoder", "Encoder");
  record.Module(2, 1, "encoder.layer", "Linear");
  record.Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_ENTER, 1).Add(SY_MODULE_ENTER, 2);
  record.Add(SY_MODULE_LEAVE, 2).Add(SY_MODULE_LEAVE, 1).Add(SY_MODULE_LEAVE, 0);
  const std::string text = WatchText(record);
  EXPECT_NE(text.find("Model"), std::string::npos);
  EXPECT_NE(text.find("1 step, each is a call of the model"), std::string::npos) << text;
  EXPECT_NE(text.find("  encoder"), std::string::npos);
  EXPECT_NE(text.find("    layer"), std::string::npos);
  EXPECT_NE(text.find("of a step"), std::string::npos) << "the stages' shares";
  EXPECT_NE(text.find("of all passes"), std::string::npos) << "the modules'";
  EXPECT_EQ(text.find("share"), std::string::npos) << "of what would that be one?";
  EXPECT_EQ(text.find("at the peak"), std::string::npos) << "of no memory anything is known";
}

TEST(PresentWatch, TellsWhatIsInNoStage) {
  RecordWriter record;
  record.Module(0, SY_NO_ID, "", "Model");
  for (const std::uint64_t begin : {100u, 200u}) {
    record.At(begin).Add(SY_MODULE_ENTER, 0).At(begin + 30).Add(SY_MODULE_LEAVE, 0);
    record.At(begin + 40).Add(SY_OPTIMIZER_ENTER).At(begin + 50).Add(SY_OPTIMIZER_LEAVE);
  }
  const std::string text = WatchText(record);
  // The second step lasts from 150 to the end of the record, 1000: 850 - 30 - 10.
  EXPECT_NE(text.find("between         810.0 µs  810.0 µs  810.0 µs     95.3 %"), std::string::npos)
      << text;
}

TEST(PresentWatch, IsNamedAfterTheModelWithMostParameters) {
  RecordWriter record;
  record.Module(0, SY_NO_ID, "", "Accuracy").Module(1, SY_NO_ID, "", "Net");
  record.Module(2, 1, "head", "Linear").Parameter(0, 2, 6, "head.weight", 77);
  record.Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_LEAVE, 0);
  EXPECT_TRUE(WatchText(record).starts_with("Net ")) << WatchText(record);
}

TEST(PresentWatch, TellsWhichOfSeveralRanksItIs) {
  RecordWriter record;
  const auto fact = [&](const char* key, std::uint64_t value) {
    record.Entry(SY_FACT, 0, key, value);
  };
  fact("rank", 1);
  fact("ranks", 4);
  fact("data_parallel", 2);
  record.Add(SY_OPTIMIZER_ENTER).Add(SY_OPTIMIZER_LEAVE);
  const std::string text = WatchText(record);
  EXPECT_NE(text.find("rank 1 of 4: data parallel 2"), std::string::npos) << text;
}

TEST(PresentWatch, SaysHowStepsWereToldApartAndWhatWasNoted) {
  RecordWriter record;
  record.Entry(SY_REMARK, 0, "memory of cuda is not watched");
  for (int i = 0; i < 2; ++i) record.Add(SY_OPTIMIZER_ENTER).Add(SY_OPTIMIZER_LEAVE);
  const std::string text = WatchText(record);
  EXPECT_NE(text.find("2 steps, each ends with the optimizer's"), std::string::npos) << text;
  EXPECT_NE(text.find("memory of cuda is not watched"), std::string::npos);
  EXPECT_NE(text.find("but the first, which warms up"), std::string::npos);
}

}  // namespace
}  // namespace steelyard::present
