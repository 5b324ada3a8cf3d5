// SPDX-License-Identifier: Apache-2.0
#include "present/stored_report.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "document/read_json.h"
#include "steelyard/error.h"

namespace steelyard::present {
namespace {

// A report in which everything adds up: a peak of 96 bytes, 64 of them resident.
constexpr std::string_view kWhole = R"({
  "model": {"name": "Net"}, "convention": {"name": "torch"},
  "inputs": [{"name": "x", "shape": [2, 8]}],
  "parameters": {"count": 8, "bytes": 32}, "buffers": {"bytes": 0},
  "memory": {"resident": 64, "peak": 96, "peak_delta": 32,
             "at_peak": {"parameters": 32, "inputs": 32, "outputs": 32}},
  "macs": {"forward": 0, "backward": 0}, "flops": {"forward": 0, "backward": 0},
  "flops_all": {"forward": 8, "backward": 0, "optimizer": 0},
  "modules": [{"path": "", "depth": 0, "parameters": 8, "flops": 0, "activation_bytes": 32},
              {"path": "fc", "depth": 1, "parameters": 8, "flops": 0, "activation_bytes": 32}],
  "operators": [{"op": "aten::relu", "calls": 1, "flops": 0, "flops_all": 8}]
})";

// What is said of the report after one of its texts is another.
std::string Refusal(std::string_view was, std::string_view is) {
  std::string text(kWhole);
  const std::size_t at = text.find(was);
  EXPECT_NE(at, std::string::npos) << was;
  text.replace(at, was.size(), is);
  const report::Data data = report::ReadJson(text).value();
  const Status status = CheckStoredReport(data.root());
  return status ? "not refused" : status.error().where + ": " + status.error().message;
}

TEST(StoredReportTest, AWholeOneIsTaken) {
  EXPECT_EQ(Refusal("Net", "Net"), "not refused");
  EXPECT_EQ(Refusal("\"buffers\"", "\"later_key\": {\"x\": []}, \"buffers\""), "not refused")
      << "later versions may say more";
}

TEST(StoredReportTest, MissingFieldsAreNamed) {
  EXPECT_EQ(Refusal("\"peak\": 96,", ""), "field memory.peak: it is missing");
  EXPECT_EQ(Refusal("\"memory\"", "\"memories\""), "field memory.resident: it is missing");
  EXPECT_EQ(Refusal("\"path\": \"fc\", ", ""), "field modules[1].path: it is missing");
  EXPECT_EQ(Refusal("\"calls\": 1, ", ""), "field operators[0].calls: it is missing");
}

TEST(StoredReportTest, FieldsHaveTheirType) {
  EXPECT_EQ(Refusal("\"peak\": 96", "\"peak\": \"96\""),
            "field memory.peak: it is not a whole number from 0 on");
  EXPECT_EQ(Refusal("\"peak\": 96", "\"peak\": 96.5"),
            "field memory.peak: it is not a whole number from 0 on");
  EXPECT_EQ(Refusal("\"peak\": 96", "\"peak\": -96"),
            "field memory.peak: it is not a whole number from 0 on");
  EXPECT_EQ(Refusal("\"depth\": 1", "\"depth\": -1"),
            "field modules[1].depth: it is not a whole number from 0 on");
  EXPECT_EQ(Refusal("{\"parameters\": 32, \"inputs\": 32, \"outputs\": 32}", "96"),
            "field memory.at_peak: it is not an object");
  EXPECT_EQ(Refusal("[{\"op\"", "[7, {\"op\""), "field operators[0]: it is not an object");
  EXPECT_EQ(Refusal("[2, 8]", "[2, \"x\"]"),
            "field inputs[0].shape: it is not a whole number from 0 on");
}

TEST(StoredReportTest, FiguresAddUp) {
  EXPECT_EQ(Refusal("\"outputs\": 32", "\"outputs\": 33"),
            "field memory.at_peak: its categories do not add up to the peak, 96");
  EXPECT_EQ(Refusal("\"outputs\": 32", "\"outputs\": 9223372036854775807"),
            "field memory.at_peak: its categories do not add up to the peak, 96");
  EXPECT_EQ(Refusal("\"resident\": 64", "\"resident\": 65"),
            "field memory.peak_delta: with memory.resident it does not make the peak, 96");
}

TEST(StoredReportTest, NamesStandForOneThing) {
  EXPECT_EQ(Refusal("\"path\": \"fc\"", "\"path\": \"\""),
            "field modules[1].path: \"\" stands there twice");
}

}  // namespace
}  // namespace steelyard::present
