// SPDX-License-Identifier: Apache-2.0
#include "present/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMoved = kFloat * (2 * (2 * 8 + 8 * 8 + 2 * 8) + (2 * 8 + 4 * 8 + 2 * 4));

std::string WorkText(const Findings& findings) {
  report::Document document;
  AppendWork(findings, &document);
  return TextOf(document);
}

TEST(WorkTest, EveryFigureNamesItsConvention) {
  const WeighedModel model;
  const std::string text = WorkText(model.findings());
  static_assert(2 * kMacs == 640 && kMoved == 992);
  EXPECT_THAT(text, HasSubstr("640"));
  EXPECT_THAT(text, HasSubstr("(--count torch)"));
  EXPECT_THAT(text, HasSubstr("(--count all)"));
  EXPECT_THAT(text, HasSubstr("B moved"));
  EXPECT_THAT(text, HasSubstr("992"));
  EXPECT_THAT(text, HasSubstr("arithmetic intensity"));
}

TEST(WorkTest, LowerBoundsSaySo) {
  WeighedModel model;
  model.work.unmodelled = {{.name = "my::op", .calls = 1, .modelled = false, .work = {}}};
  EXPECT_THAT(WorkText(model.findings()), HasSubstr("≥ 640"));
}

TEST(WorkTest, DataFollowsTheContract) {
  const WeighedModel model;
  report::Data data;
  AddWorkData(model.findings(), &data);
  const report::DataView root = data.root();
  EXPECT_EQ(root.Find("flops.forward")->AsInt(), 2 * kMacs);
  EXPECT_EQ(root.Find("flops.backward")->AsInt(), 0);
  EXPECT_EQ(root.Find("flops.optimizer")->AsInt(), 0);
  EXPECT_EQ(root.Find("flops_all.forward")->AsInt(), 2 * kMacs);
  EXPECT_EQ(root.Find("macs.forward")->AsInt(), kMacs);
  EXPECT_EQ(root.Find("traffic.forward")->AsInt(), kMoved);
  EXPECT_EQ(root.Find("convention.name")->AsText(), "torch");
}

TEST(WorkTest, FlopsStayThoseOfContractionsWhateverTheConvention) {
  WeighedModel model;
  model.work.convention = FindConvention("deepspeed");
  model.work.by_phase[static_cast<std::size_t>(Phase::kForward)].flops = kMacs;
  report::Data data;
  AddWorkData(model.findings(), &data);
  EXPECT_EQ(At(data, "flops.forward").AsInt(), 2 * kMacs);
  EXPECT_EQ(At(data, "convention.forward").AsInt(), kMacs);
}

TEST(WorkTest, TheLossIsPartOfTheForward) {
  WeighedModel model;
  model.work.by_phase[static_cast<std::size_t>(Phase::kLoss)].macs = 7;
  report::Data data;
  AddWorkData(model.findings(), &data);
  EXPECT_EQ(At(data, "macs.forward").AsInt(), kMacs + 7);
}

TEST(WorkTest, WhatRunsAgainIsNoWorkOfTheModel) {
  WeighedModel model;
  NodeWork& again = model.work.by_phase[static_cast<std::size_t>(Phase::kRecompute)];
  again = {.macs = 7, .flops_all = 14, .read = 1};
  report::Data data;
  AddWorkData(model.findings(), &data);
  EXPECT_EQ(At(data, "flops.recompute").AsInt(), 2 * 7);
  EXPECT_EQ(At(data, "step.model_flops").AsInt(), 2 * kMacs);
  EXPECT_EQ(At(data, "step.executed_flops").AsInt(), 2 * (kMacs + 7));
  EXPECT_THAT(WorkText(model.findings()), HasSubstr("what runs again adds 14 FLOP"));
}

}  // namespace
}  // namespace steelyard::present
