// SPDX-License-Identifier: Apache-2.0

#include "analyze/classes.h"

#include <gtest/gtest.h>

#include <vector>

#include "steelyard/program.h"

namespace steelyard {
namespace {

ModuleReport Of(ModuleId module, int depth, std::int64_t parameters, std::int64_t flops) {
  ModuleReport report;
  report.module = module;
  report.depth = depth;
  report.parameters = parameters;
  report.parameter_bytes = 4 * parameters;
  report.work.flops = flops;
  return report;
}

TEST(Classes, ModulesOfOneClassAtOneDepthAreSummed) {
  Program program;
  const StringId block = program.strings.Intern("Block"), head = program.strings.Intern("Head");
  for (const StringId name : {block, block, head, block}) {
    program.modules.push_back({name, name, 0});
  }
  // Module 0 is the model; 1 and 2 are blocks, 3 a head, 4 a block inside the head.
  const std::vector<ClassReport> classes = CountClasses(
      program,
      {Of(0, 0, 100, 60), Of(1, 1, 10, 5), Of(2, 1, 30, 15), Of(3, 1, 60, 40), Of(4, 2, 60, 40)});
  ASSERT_EQ(classes.size(), 4u);
  EXPECT_EQ(classes[0].depth, 0);
  EXPECT_EQ(classes[1].class_name, head) << "it does more: 40 beside 5 + 15";
  EXPECT_EQ(classes[2].class_name, block);
  EXPECT_EQ(classes[2].modules, 2);
  EXPECT_EQ(classes[2].parameters, 10 + 30);
  EXPECT_EQ(classes[2].parameter_bytes, 4 * (10 + 30));
  EXPECT_EQ(classes[2].work.flops, 5 + 15);
  EXPECT_EQ(classes[3].depth, 2) << "another depth, another row";
}

TEST(Classes, OfEqualWorkTheOneWithMoreParametersComesFirst) {
  Program program;
  program.modules.push_back({0, program.strings.Intern("Few"), 0});
  program.modules.push_back({0, program.strings.Intern("Many"), 0});
  const std::vector<ClassReport> classes = CountClasses(program, {Of(1, 1, 2, 0), Of(2, 1, 9, 0)});
  EXPECT_EQ(program.text(classes[0].class_name), "Many");
}

}  // namespace
}  // namespace steelyard
