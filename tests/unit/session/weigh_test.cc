// SPDX-License-Identifier: Apache-2.0
#include "steelyard/weigh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "steelyard/import.h"
#include "steelyard/program.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(WeighTest, Totals) {
  const Result<Weighing> weighing =
      Weigh({.path = WrittenModel(kLinear), .bind = {.inputs = {}, .batch = 16, .seq = {}}});
  ASSERT_TRUE(weighing) << Describe(weighing.error());
  const Totals& totals = weighing->totals;
  EXPECT_EQ(totals.parameter_count, 4 * 8);
  EXPECT_EQ(totals.parameter_bytes, 4 * 8 * 4);
  EXPECT_EQ(totals.forward_macs, 16 * 4 * 8);
  EXPECT_EQ(totals.forward_flops, 2 * 16 * 4 * 8);
  EXPECT_EQ(totals.resident_bytes, 4 * (4 * 8 + 16 * 8));
  EXPECT_EQ(totals.peak_bytes - totals.resident_bytes, 4 * 16 * 4);
  EXPECT_EQ(totals.operators, 1);
  EXPECT_EQ(totals.modelled_operators, 1);
  EXPECT_GT(weighing->elapsed_seconds, 0.0);
}

TEST(WeighTest, AProgramInMemoryIsWeighedAsItsFileIs) {
  const std::string path = WrittenModel(kLinear);
  Result<Program> program = ImportFile(path, {});
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Weighing> read = Weigh({.path = path});
  const Result<Weighing> held = Weigh(*program, {.path = "held"});
  ASSERT_TRUE(read && held) << Describe(held.error());
  EXPECT_EQ(held->totals.peak_bytes, read->totals.peak_bytes);
  EXPECT_EQ(held->totals.forward_flops, read->totals.forward_flops);

  const Result<Weighing> unnamed = Weigh(*program, {.path = "held", .count = "abacus"});
  ASSERT_FALSE(unnamed);
  const Result<Weighing> again = Weigh(*program, {.from = "text"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUsage);
  const Result<Weighing> silent = Weigh(*program, {.path = "held", .at = "conv2d"});
  ASSERT_FALSE(silent);
  EXPECT_THAT(Describe(silent.error()), HasSubstr("held: --at: the model makes no call"));
}

TEST(WeighTest, UnboundSizesAreThoseOfTheFile) {
  const Result<Weighing> weighing = Weigh({.path = WrittenModel(kLinear)});
  ASSERT_TRUE(weighing) << Describe(weighing.error());
  EXPECT_EQ(weighing->totals.forward_macs, 2 * 4 * 8);
  EXPECT_FALSE(weighing->kernels.notes.empty()) << "and the report says so";
}

TEST(WeighTest, ConventionsAreChosenByName) {
  const std::string path = WrittenModel(kLinear);
  EXPECT_EQ(Weigh({.path = path, .count = "deepspeed"})->totals.forward_flops, 2 * 4 * 8);
  const Result<Weighing> none = Weigh({.path = path, .count = "abacus"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(none.error()), HasSubstr("There are: torch, "));
}

TEST(WeighTest, AMomentIsFoundByItsName) {
  const std::string path = WrittenModel(kLinear);
  EXPECT_TRUE(Weigh({.path = path, .at = "linear"}));
  const Result<Weighing> none = Weigh({.path = path, .at = "conv2d"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(Describe(none.error()), HasSubstr("--at: the model makes no call \"conv2d\"."));
}

TEST(WeighTest, AProgramIsPrintedAsAPassLeavesIt) {
  const WeighOptions options{.path = WrittenModel(kLinear)};
  EXPECT_THAT(PrintAfter(options, "tie_parameters").value(), HasSubstr("symbol "));
  EXPECT_THAT(PrintAfter(options, "bind").value(), HasSubstr("aten::linear("));
  EXPECT_THAT(PrintAfter(options, "decompose").value(), HasSubstr("aten::mm("));
  EXPECT_EQ(PrintAfter(options, "differentiate").error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(PrintAfter(options, "nothing").error()),
              HasSubstr("These run: tie_parameters, bind, set_mode, decompose."));
}

TEST(WeighTest, UnmodelledOperatorsAreCountedOrRefused) {
  const std::string path = WrittenModel(kUnmodelled);
  const Result<Weighing> weighing = Weigh({.path = path});
  ASSERT_TRUE(weighing) << Describe(weighing.error());
  EXPECT_EQ(weighing->totals.operators, 2);
  EXPECT_EQ(weighing->totals.modelled_operators, 1);

  const Result<Weighing> strict = Weigh({.path = path, .strict = true});
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(Describe(strict.error()),
            path +
                ": 1 of 2 operators are not modelled: my::own_op (1×). Without --strict the "
                "model is weighed with totals that are lower bounds.");
}

// Every allocation and free, repeated ones as often as they happen.
std::vector<std::pair<std::int64_t, std::string>> EventsOf(const Timeline& timeline) {
  std::vector<std::pair<std::int64_t, std::string>> out;
  const std::size_t end = std::size_t{timeline.repeat.first} + timeline.repeat.count;
  std::int64_t left = timeline.repeat.times;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    out.emplace_back(event.bytes, timeline.labels.view(event.label));
    if (i + 1 == end && --left > 0) i = timeline.repeat.first - std::size_t{1};
  }
  return out;
}

// A layer, its gate and statistics that every micro-step overwrites.
constexpr const char* kNetwork =
    "module \"\": models.Network\nmodule norm: torch.nn.modules.batchnorm.BatchNorm1d\n"
    "parameter %w: f32[8,8] \"fc.weight\"\nparameter %g: f32[8] \"norm.weight\"\n"
    "parameter %b: f32[8] \"norm.bias\"\nbuffer %m: f32[8] \"norm.mean\"\n"
    "buffer %v: f32[8] \"norm.var\"\ninput %x: f32[4,8]\n"
    "%h: f32[4,8] = aten::linear(%x, %w)\n"
    "%n: f32[4,8] = aten::batch_norm(%h, %g, %b, %m, %v, True, 0.1, 1e-05, True) in norm\n"
    "%r: f32[4,8] = aten::sigmoid(%n)\n%y: f32[4,8] = aten::mul.Tensor(%r, %h)\nreturn %y\n";

TEST(WeighTest, MicroStepsThatAreAlikeAreWeighedAsOne) {
  const std::string path = WrittenModel(kNetwork);
  for (const char* optimizer : {"sgd", "adamw"}) {
    for (const int steps : {2, 3, 4, 5, 6, 11}) {
      WeighOptions options{.path = path, .count = "all"};
      options.train = {.optimizer = optimizer, .loss = "sum", .accumulate = steps};
      Weighing folded = Weigh(options).value();
      options.train.unroll = true;
      const Weighing unrolled = Weigh(options).value();
      EXPECT_EQ(folded.kernels.repeat.times, std::max(steps - 3, 1));
      EXPECT_EQ(unrolled.kernels.repeat.times, 1);
      EXPECT_EQ(EventsOf(folded.timeline), EventsOf(unrolled.timeline));
      EXPECT_EQ(folded.totals.peak_bytes, unrolled.totals.peak_bytes);
      folded.elapsed_seconds = unrolled.elapsed_seconds;
      EXPECT_EQ(WriteReport(folded, "json", {}).value(), WriteReport(unrolled, "json", {}).value());
    }
  }
}

TEST(WeighTest, AsManyMicroStepsAsAnyoneAsksForTakeNoLonger) {
  WeighOptions options{.path = WrittenModel(kNetwork)};
  options.train = {.optimizer = "sgd", .loss = "sum", .accumulate = 5};
  const Weighing few = Weigh(options).value();
  options.train.accumulate = 1'000'000'000;
  const Weighing many = Weigh(options).value();
  EXPECT_EQ(many.totals.peak_bytes, few.totals.peak_bytes);
  EXPECT_EQ(many.totals.forward_macs, few.totals.forward_macs / 5 * 1'000'000'000);
  options.train.unroll = true;
  EXPECT_EQ(Weigh(options).error().code, ErrorCode::kUnsupported);
}

TEST(WeighTest, AMissingFileIsAnError) {
  const Result<Weighing> weighing = Weigh({.path = "no_such.pt2"});
  ASSERT_FALSE(weighing);
  EXPECT_EQ(weighing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace steelyard
