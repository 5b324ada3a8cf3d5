// SPDX-License-Identifier: Apache-2.0
#include "present/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A model that took two seconds a run and a millisecond in each kernel.
class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    measurement_.stages = {{"forward", {2.0, 1.0, 3.0}}};
    measurement_.seconds.assign(model_.kernels.main().nodes.size(), 0.001);
    measurement_.timeline = model_.timeline;
    measurement_.runs = 3;
    measurement_.is_stable = true;
  }

  report::Document Presented() {
    const Findings findings = model_.findings();
    report::Document document;
    PresentRun({.findings = findings,
                .measurement = measurement_,
                .differences = differences_,
                .torch = "2.0",
                .peak = 1000,
                .predicted_peak = 900,
                .samples = 2,
                .tokens = 16,
                .where_not_finite = "the infinity is first in \"x\""},
               {}, &document);
    return document;
  }

  WeighedModel model_;
  Measurement measurement_;
  std::vector<EventDifference> differences_;
};

TEST_F(RunTest, TellsTheSpreadAndTheSpeed) {
  const report::Document document = Presented();
  const report::DataView root = document.data.root();
  EXPECT_EQ(root.Find("time.forward.median")->AsDouble(), 2.0);
  EXPECT_EQ(root.Find("time.forward.highest")->AsDouble(), 3.0);
  const std::int64_t flops = root.Find("time.forward.flops")->AsInt();
  EXPECT_GT(flops, 0);
  EXPECT_EQ(root.Find("time.forward.flops_per_second")->AsDouble(),
            static_cast<double>(flops) / 2.0);
  EXPECT_THAT(TextOf(document),
              HasSubstr("1.0 samples, 8.0 tokens a second; in each run 2 and 16"));
}

TEST_F(RunTest, SaysThatTheLossIsNotFinite) {
  measurement_.loss = std::numeric_limits<double>::infinity();
  const std::string text = TextOf(Presented());
  EXPECT_THAT(text, HasSubstr("drawn is inf"));
  EXPECT_THAT(text, HasSubstr("first in \"x\""));
}

TEST_F(RunTest, TellsWhatWasPredicted) {
  const std::string text = TextOf(Presented());
  EXPECT_THAT(text, HasSubstr("1,000 B, predicted 900 B (+100 B)"));
  EXPECT_THAT(text, HasSubstr("8 allocations and frees, every one as predicted"));
}

TEST_F(RunTest, NamesWhatDiffers) {
  differences_ = {{.node = 0, .predicted = {8}, .measured = {16}}};
  const std::string op(model_.kernels.op_name(model_.kernels.main().nodes[0].op));
  EXPECT_THAT(TextOf(Presented()), HasSubstr("others than predicted in " + op + " (1×)"));
}

TEST_F(RunTest, SaysThatKernelsWereTimedInOtherRuns) {
  EXPECT_THAT(TextOf(Presented()), Not(HasSubstr("one by one")));
  measurement_.detailed_runs = 3;
  const report::Document document = Presented();
  EXPECT_THAT(TextOf(document), HasSubstr("Kernels were timed one by one in 3 further runs"));
  EXPECT_EQ(document.data.root().Find("detailed_runs")->AsInt(), 3);
}

TEST_F(RunTest, ModulesAddUp) {
  const report::Document document = Presented();
  double whole = -1;
  const report::DataView modules = *document.data.root().Find("modules");
  for (const report::DataView module : modules) {
    if (module.Find("depth")->AsInt() == 0) whole = module.Find("forward")->AsDouble();
  }
  EXPECT_NEAR(whole, 0.001 * static_cast<double>(measurement_.seconds.size()), 1e-12);
}

TEST_F(RunTest, SaysThatItWasInterrupted) {
  measurement_.was_interrupted = true;
  EXPECT_THAT(TextOf(Presented()), HasSubstr("interrupted"));
}

}  // namespace
}  // namespace steelyard::present
