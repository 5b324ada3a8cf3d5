// SPDX-License-Identifier: Apache-2.0
#include "present/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

// Two kernels of the model of the tests: its second node is in encoder.layer.1.
GraphRun TwoKernels() {
  GraphRun run;
  run.kernels = {{"mm", 0, 768, 0.5F}, {"fused_add_gelu", 1, 896, 0.75F}, {"out", 1, 704, 0.25F}};
  run.bindings = 14;
  run.bound = 800;
  return run;
}

TEST(KernelsTest, AnEagerRunIsNotCompiled) {
  const WeighedModel model;
  report::Document document;
  AppendKernelSummary(model.findings(), &document);
  AddKernelData(model.findings(), &document.data);
  EXPECT_EQ(TextOf(document), "");
  EXPECT_FALSE(document.data.root().Find("graph"));
}

TEST(KernelsTest, EachOperatorOfAnEagerRunHasALine) {
  const WeighedModel model;
  report::Data data;
  AddKernelRows(model.findings(), &data);
  std::vector<std::int64_t> bytes;
  for (const report::DataView row : At(data, "kernels")) {
    bytes.push_back(row.Find("bytes")->AsInt());
  }
  // Resident: three weights and the input. Then two rows of eight and four rows of scratch; both
  // layers' rows; the last layer's and two rows of four.
  constexpr std::int64_t kResident = kFloat * (8 * 8 + 8 * 8 + 4 * 8 + 2 * 8);
  constexpr std::int64_t kRows = kFloat * 2 * 8;
  EXPECT_THAT(bytes, ::testing::ElementsAre(kResident + kRows + 2 * kRows, kResident + 2 * kRows,
                                            kResident + kRows + kFloat * 2 * 4));
}

TEST(KernelsTest, TheSummaryHasTheLowerBound) {
  const WeighedModel model;
  const GraphRun run = TwoKernels();
  Findings findings = model.findings();
  findings.graph = &run;
  report::Document document;
  AppendKernelSummary(findings, &document);
  EXPECT_EQ(TextOf(document), "  Compiled into 2 kernels; in any order they need 800 B or more.\n");
}

TEST(KernelsTest, WhatRunsAgainIsCounted) {
  const WeighedModel model;
  GraphRun run = TwoKernels();
  Findings findings = model.findings();
  findings.graph = &run;
  for (const auto& [repeated, words] : {std::pair(1, "Of them 1 kernel runs again."),
                                        std::pair(2, "Of them 2 kernels run again.")}) {
    run.repeated = repeated;
    report::Document document;
    AppendKernelSummary(findings, &document);
    EXPECT_THAT(TextOf(document), ::testing::HasSubstr(words));
  }
}

TEST(KernelsTest, EachKernelHasALine) {
  const WeighedModel model;
  const GraphRun run = TwoKernels();
  Findings findings = model.findings();
  findings.graph = &run;
  report::Document document;
  AppendKernels(findings, &document);
  EXPECT_THAT(TextOf(document), ::testing::HasSubstr("mm              768 B  encoder.layer.0\n"));
  EXPECT_THAT(TextOf(document), ::testing::HasSubstr("out             704 B"));
}

TEST(KernelsTest, TheDataHasBothForms) {
  const WeighedModel model;
  const GraphRun run = TwoKernels();
  Findings findings = model.findings();
  findings.graph = &run;
  report::Data data;
  AddKernelData(findings, &data);
  AddKernelRows(findings, &data);
  EXPECT_EQ(At(data, "graph.kernels").AsInt(), 2);
  EXPECT_EQ(At(data, "graph.bindings").AsInt(), 14);
  EXPECT_EQ(At(data, "graph.bound").AsInt(), 800);
  EXPECT_EQ(At(data, "graph.left").AsInt(), 704);
  EXPECT_EQ(At(data, "graph.peak_megabytes").AsDouble(), 0.75);
  std::vector<std::string> names;
  for (const report::DataView row : At(data, "kernels")) {
    names.emplace_back(row.Find("kernel")->AsText());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("mm", "fused_add_gelu", "out"));
}

}  // namespace
}  // namespace steelyard::present
