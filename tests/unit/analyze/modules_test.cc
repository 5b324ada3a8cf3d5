// SPDX-License-Identifier: Apache-2.0

#include "analyze/modules.h"

#include <gtest/gtest.h>

#include "runtime/eager.h"
#include "weighed.h"

namespace steelyard {
namespace {

class Modules : public ::testing::Test {
 protected:
  // Two linears in modules "a" and "b" of the model; "a.w" is 4 x 8, "b.w" 2 x 4.
  Modules()
      : weighed_(WeighText("parameter %aw: f32[4,8]\nparameter %bw: f32[2,4]\ninput %x: f32[3,8]\n"
                           "%h: f32[3,4] = aten::linear(%x, %aw)\n%y: f32[3,2] = aten::linear(%h, "
                           "%bw)\nreturn %y\n")) {
    for (Program* p : {&weighed_.imported, &weighed_.kernels}) {
      p->modules.push_back({p->strings.Intern("a"), p->strings.Intern("Linear"), 0});
      p->modules.push_back({p->strings.Intern("b"), p->strings.Intern("Linear"), 0});
      p->parameters[0].name = p->strings.Intern("a.weight");
      p->parameters[1].name = p->strings.Intern("b.weight");
    }
    weighed_.imported.main().nodes[0].module = 1;
    weighed_.imported.main().nodes[1].module = 2;
    for (Node& node : weighed_.kernels.main().nodes) node.module = node.origin + 1;
    report_ = CountModules(weighed_.imported, weighed_.kernels, weighed_.work,
                           RunEager(weighed_.kernels, Target{}));
  }
  Weighed weighed_;
  std::vector<ModuleReport> report_;
};

TEST_F(Modules, ATreeInTheOrderOfTheProgram) {
  ASSERT_EQ(report_.size(), 3u);
  EXPECT_EQ(report_[0].depth, 0);
  EXPECT_EQ(report_[1].module, 1u);
  EXPECT_EQ(report_[2].depth, 1);
}

TEST_F(Modules, ParametersGoWhereTheirNamesSay) {
  EXPECT_EQ(report_[1].parameters, 4 * 8);
  EXPECT_EQ(report_[2].parameter_bytes, 2 * 4 * 4);
  EXPECT_EQ(report_[0].parameters, 4 * 8 + 2 * 4);
}

TEST_F(Modules, WorkAndActivationsRollUp) {
  EXPECT_EQ(report_[1].work.macs, 3 * 8 * 4);
  EXPECT_EQ(report_[0].work.macs, 3 * 8 * 4 + 3 * 4 * 2);
  EXPECT_EQ(report_[0].activation_bytes, (3 * 4 + 3 * 2) * 4);
  EXPECT_EQ(report_[0].calls, 2);
}

TEST(ModulesOfGraphs, CountTheCallsThatTheTotalsCount) {
  const Weighed w = WeighText(R"(input %x: f32[7,4]
%n: int(7) = aten::sym_size.int(%x, 0)
%y: f32[7,4] = higher_order::wrap(@g, %x)
%z: f32[28] = aten::reshape(%y, [28])
return %z
graph @g(%a: f32[7,4]) {
  %b: f32[7,4] = aten::tanh(%a)
  return %b
}
)");
  const auto modules = CountModules(w.imported, w.kernels, w.work, RunEager(w.kernels, Target{}));
  EXPECT_EQ(w.work.calls, 2) << "a tanh and a reshape: neither the size nor the call of the graph";
  EXPECT_EQ(w.work.modelled_calls, w.work.calls);
  EXPECT_EQ(modules[0].calls, w.work.calls);
  std::int64_t by_operator = 0;
  for (const OperatorWork& op : w.work.by_operator) by_operator += op.calls;
  EXPECT_EQ(by_operator, w.work.calls);
}

}  // namespace
}  // namespace steelyard
