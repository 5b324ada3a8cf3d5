// SPDX-License-Identifier: Apache-2.0
#include "execute/not_finite.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kernels.h"
#include "not_numbers.h"

namespace steelyard {
namespace {

constexpr std::string_view kChain =
    "parameter %w: f32[8] \"fc.weight\"\n"
    "input %x: f32[8]\n"
    "%a: f32[8] = aten::exp(%x)\n"
    "%b: f32[8] = aten::mul.Tensor(%a, %w)\n"
    "%c: f32[8] = aten::tanh(%b)\n"
    "%l: f32[] = aten::sum(%c)\n"
    "return %l\n";

class NotFiniteTest : public ::testing::Test {
 protected:
  // The value that the nth kernel makes, drops passed over.
  ValueId ResultOf(int n) const {
    for (const Node& node : kernels_.main().nodes) {
      if (kernels_.op_name(node.op) == kDropMark) continue;
      if (n-- == 0) return kernels_.results(node)[0];
    }
    return kNoId;
  }
  NotFinite Find() {
    const ValueId loss = kernels_.main().outputs[0].value;
    return FindNotFinite(execution_, loss, static_cast<NodeId>(kernels_.main().nodes.size()), {})
        .value();
  }
  std::string_view OpOf(const Origin& origin) const {
    return kernels_.op_name(kernels_.main().nodes[origin.kernel].op);
  }

  SyEngine engine_ = FakeEngine();
  Program kernels_ = Kernels(kChain);
  Execution execution_ = Execution::Open(engine_, kernels_, {}).value();
};

TEST_F(NotFiniteTest, NamesTheFirstKernel) {
  for (int n = 1; n < 4; ++n) Remembered().holds[ResultOf(n)] = kNan;
  const NotFinite found = Find();
  ASSERT_TRUE(found.nan);
  EXPECT_EQ(OpOf(*found.nan), "aten::mul.Tensor");
  EXPECT_FALSE(found.infinity);
}

TEST_F(NotFiniteTest, TellsWhatANanWasMadeOf) {
  Remembered().holds[ResultOf(0)] = kInfinity;
  for (int n = 1; n < 4; ++n) Remembered().holds[ResultOf(n)] = kNan;
  const NotFinite found = Find();
  ASSERT_TRUE(found.nan && found.infinity);
  EXPECT_EQ(OpOf(*found.nan), "aten::mul.Tensor");
  EXPECT_EQ(OpOf(*found.infinity), "aten::exp");
}

TEST_F(NotFiniteTest, AnInfinityThatBecomesFiniteIsNotBlamed) {
  Remembered().holds[ResultOf(0)] = kInfinity;
  Remembered().holds[ResultOf(3)] = kInfinity;
  const NotFinite found = Find();
  ASSERT_TRUE(found.infinity);
  EXPECT_EQ(OpOf(*found.infinity), "aten::sum.dim_IntList");
}

TEST_F(NotFiniteTest, NamesATensorThatWasThere) {
  Remembered().holds[kernels_.parameters[0].value] = kInfinity;
  for (int n = 1; n < 4; ++n) Remembered().holds[ResultOf(n)] = kNan;
  const NotFinite found = Find();
  ASSERT_TRUE(found.infinity);
  EXPECT_EQ(found.infinity->tensor, "fc.weight");
}

TEST_F(NotFiniteTest, OfFiniteNumbersThereIsNothing) {
  const NotFinite found = Find();
  EXPECT_FALSE(found.nan);
  EXPECT_FALSE(found.infinity);
}

}  // namespace
}  // namespace steelyard
