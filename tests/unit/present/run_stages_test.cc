// SPDX-License-Identifier: Apache-2.0
#include "present/run_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;

// A forward pass that takes two seconds, on a device of a million operations a second.
class RunStagesTest : public ::testing::Test {
 protected:
  RunStagesTest() {
    measurement_.stages = {{"forward", {2.0, 1.0, 3.0}}};
    measurement_.runs = 3;
  }

  WeighedModel model_;
  Findings findings_ = model_.findings();
  Measurement measurement_;
  std::vector<EventDifference> differences_;
  DevicePeak peak_{.flops_per_second = 1e6};
  present::Run run_{.findings = findings_,
                    .measurement = measurement_,
                    .differences = differences_,
                    .torch = "2.0",
                    .device_peak = &peak_};
};

TEST_F(RunStagesTest, OneStageIsTheWhole) {
  const std::vector<StageRow> rows = StageRows(run_);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].seconds.median, 2.0);
  EXPECT_EQ(SecondsOf(rows), 2.0);
}

TEST_F(RunStagesTest, SeveralAreSummedRepetitionByRepetition) {
  measurement_.stages.push_back({"optimizer", {1.0, 4.0, 1.0}});
  const std::vector<StageRow> rows = StageRows(run_);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].name, kWholeStep);
  EXPECT_EQ(rows[2].seconds.lowest, 3.0);
  EXPECT_EQ(rows[2].seconds.highest, 5.0);
}

TEST_F(RunStagesTest, EndsOfReferencesAreNoKernels) {
  const Program& kernels = model_.kernels;
  const std::vector<Node>& nodes = kernels.main().nodes;
  measurement_.seconds.assign(nodes.size(), 0.001);
  const auto drops =
      std::ranges::count_if(nodes, [&](const Node& node) { return kernels.is_drop(node); });
  ASSERT_GT(drops, 0);
  std::int64_t calls = 0;
  for (const TimedOperator& op : TimedOperators(run_)) {
    EXPECT_NE(op.name, kDropMark);
    calls += op.calls;
  }
  EXPECT_EQ(calls, std::ssize(nodes) - drops);
}

TEST_F(RunStagesTest, SharesAreOfThePeak) {
  const std::vector<StageRow> rows = StageRows(run_);
  const std::optional<Utilisation> share = UtilisationOf(run_, rows);
  ASSERT_TRUE(share);
  EXPECT_GT(share->model_flops, 0);
  EXPECT_EQ(share->model_flops, share->hardware_flops) << "nothing is computed again";
  EXPECT_DOUBLE_EQ(share->model, static_cast<double>(share->model_flops) / 2.0 / 1e6);
  run_.device_peak = nullptr;
  EXPECT_FALSE(UtilisationOf(run_, rows));
}

TEST_F(RunStagesTest, SharesAreTold) {
  report::Document document;
  PresentRun(run_, {}, &document);
  EXPECT_THAT(TextOf(document), HasSubstr("1.0 MFLOP/s, as given"));
  EXPECT_EQ(document.data.root().Find("device_peak.flops_per_second")->AsDouble(), 1e6);
  EXPECT_GT(document.data.root().Find("share_of_peak.executed")->AsDouble(), 0);
}

}  // namespace
}  // namespace steelyard::present
