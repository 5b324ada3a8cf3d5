// SPDX-License-Identifier: Apache-2.0
#include "cli/weigh_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "../temporary.h"
#include "captured.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBatchedModel =
    "input %x: f32[batch,8]\n"
    "%y: f32[batch,8] = aten::relu(%x)\n"
    "return %y\n";

std::string BatchedModel() { return WriteTemporary("model.syt", kBatchedModel); }

std::string InputRefusal(std::string_view text) {
  const Result<InputShape> shape = ReadInputShape(text);
  return shape ? "not refused" : Describe(shape.error());
}

TEST(WeighCommandTest, InputShapes) {
  const InputShape shape = ReadInputShape("input_ids=2x128").value();
  EXPECT_EQ(shape.name, "input_ids");
  EXPECT_EQ(shape.sizes, (std::vector<std::int64_t>{2, 128}));
  EXPECT_EQ(ReadInputShape("x=5")->sizes, (std::vector<std::int64_t>{5}));
  EXPECT_EQ(ReadInputShape("x=2,3,4")->sizes, (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(ReadInputShape("a=b=2")->name, "a=b");
}

TEST(WeighCommandTest, InputShapesThatAreNone) {
  EXPECT_EQ(InputRefusal("input_ids"),
            "--input: \"input_ids\" is not a name and its sizes. Write it as --input "
            "input_ids=2x128.");
  EXPECT_EQ(InputRefusal("x=2xbig"),
            "--input: x=2xbig: \"big\" is not a size. Write it as --input input_ids=2x128.");
  EXPECT_THAT(InputRefusal("x=2x"), HasSubstr("\"\" is not a size"));
  EXPECT_THAT(InputRefusal("x=-2"), HasSubstr("\"-2\" is not a size"));
  EXPECT_THAT(InputRefusal("=2"), HasSubstr("not a name"));
  EXPECT_THAT(InputRefusal("x=99999999999999999999"), HasSubstr("is not a size"));
}

TEST(WeighCommandTest, Casts) {
  EXPECT_EQ(ReadCast("aten::softmax=float32")->of, "aten::softmax");
  EXPECT_EQ(ReadCast("encoder.*=bfloat16")->dtype, DType::kBFloat16);
  for (const char* text : {"aten::softmax", "=float32", "fc=int32", "fc=float33"}) {
    EXPECT_FALSE(ReadCast(text)) << text;
  }
}

TEST(WeighCommandTest, SymbolSizes) {
  EXPECT_EQ(ReadSymbolSize("u0=128")->name, "u0");
  EXPECT_EQ(ReadSymbolSize("u0=128")->size, 128);
  EXPECT_EQ(ReadSymbolSize("u*=0")->name, "u*");
  const auto refusal = [](std::string_view text) {
    const Result<SymbolSize> size = ReadSymbolSize(text);
    return size ? "not refused" : Describe(size.error());
  };
  EXPECT_EQ(refusal("u0"),
            "--size: \"u0\" is not a symbol and its size. Write it as --size u0=128.");
  EXPECT_EQ(refusal("u0=2x3"), "--size: u0=2x3: \"2x3\" is not a size. Write it as --size u0=128.");
  EXPECT_THAT(refusal("=3"), HasSubstr("not a symbol"));
}

TEST(WeighCommandTest, WritesTheReportWhereItIsAsked) {
  const std::string path = TemporaryPath("report.json");
  const Captured run = RunCaptured({"weigh", BatchedModel(), "--batch", "2", "-o", path});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "");
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\"schema\": \"steelyard.report/1\"")) << "as the name says";
}

TEST(WeighCommandTest, TheFormatThatIsAskedForBeatsTheName) {
  const std::string path = TemporaryPath("text.json");
  EXPECT_EQ(
      RunCaptured({"weigh", BatchedModel(), "--batch", "2", "-o", path, "--format", "text"}).status,
      0);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("Memory"));
}

TEST(WeighCommandTest, AFileNameThatSaysNoFormatIsRefused) {
  const Captured run = RunCaptured({"weigh", BatchedModel(), "-o", "report.pdf"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("report.pdf: its name does not say in which format"));
}

TEST(WeighCommandTest, ATableIsCsvUnlessSaidOtherwise) {
  const Captured csv = RunCaptured({"weigh", BatchedModel(), "--batch", "2", "--table", "events"});
  EXPECT_TRUE(csv.out.starts_with("op,bytes,total,")) << csv.out;
  const Captured json =
      RunCaptured({"weigh", BatchedModel(), "--batch", "2", "--table", "held", "--format", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"held\": ["));
}

TEST(WeighCommandTest, ATableIsRefusedWhereThereIsNoPlaceForIt) {
  const Captured run =
      RunCaptured({"weigh", BatchedModel(), "--table", "held", "--format", "chrome"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err,
            "steelyard: --table: the format chrome has no tables. csv holds one; json gets it as "
            "well.\n");
}

TEST(WeighCommandTest, ExactUnitsShowEveryDigit) {
  const Captured run = RunCaptured({"weigh", BatchedModel(), "--batch", "512", "--units", "exact"});
  EXPECT_THAT(run.out, HasSubstr("16,384 B"));  // 512 * 8 * 4
}

TEST(WeighCommandTest, CsvHoldsWhatIsAskedFor) {
  const auto header = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"weigh", BatchedModel(), "--batch", "2", "--format", "csv"});
    const Captured run = RunCaptured(words);
    return run.status == 0 ? run.out.substr(0, run.out.find(',')) : run.err;
  };
  EXPECT_EQ(header({}), "path") << "modules";
  EXPECT_EQ(header({"--events"}), "op") << "events";
  EXPECT_EQ(header({"--classes"}), "depth") << "classes";
  EXPECT_EQ(header({"--at", "relu"}), "tensor") << "what is held there";
  EXPECT_EQ(header({"--events", "--table", "modules"}), "path") << "as it says";
  EXPECT_EQ(header({"--events", "--classes"}),
            "steelyard: --format csv: a CSV file holds one table. Choose it with --table: events, "
            "classes.\n");
}

TEST(WeighCommandTest, AProgramIsNoReport) {
  const Captured run = RunCaptured(
      {"weigh", BatchedModel(), "--batch", "2", "--print-after", "bind", "--format", "json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err,
            "steelyard: --format: --print-after prints a program and no report. Leave one of them "
            "out.\n");
}

}  // namespace
}  // namespace steelyard::cli
