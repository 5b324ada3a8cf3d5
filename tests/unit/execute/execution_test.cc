// SPDX-License-Identifier: Apache-2.0
#include "execute/execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Execution, PlacesWhatIsThereAndClosesItsSession) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  {
    Result<Execution> execution = Execution::Open(engine, kernels, {});
    ASSERT_TRUE(execution) << Describe(execution.error());
    EXPECT_EQ(execution->residents().size(), 2u);  // the weight and the input
    EXPECT_TRUE(execution->Continue(kernels));
  }
  const std::vector<std::string>& words = Remembered().words;
  EXPECT_EQ(words.front(), "open " + std::to_string(kernels.main().nodes.size()));
  EXPECT_THAT(words, Contains("place " + std::to_string(kernels.inputs[0]) + " float32"));
  EXPECT_THAT(words, Contains("reload"));
  EXPECT_EQ(words.back(), "close");
}

TEST(Execution, TiedParametersAreOneTensor) {
  const SyEngine engine = FakeEngine();
  Program kernels = Kernels(kStep);
  const ValueId weight = kernels.parameters[0].value;
  const ValueId second = static_cast<ValueId>(kernels.values.size());
  kernels.values.push_back(kernels.values[weight]);
  kernels.parameters.push_back({.value = second, .name = kernels.strings.Intern("tied")});
  ASSERT_TRUE(Execution::Open(engine, kernels, {}));
  EXPECT_THAT(Remembered().words,
              Contains("share " + std::to_string(second) + " " + std::to_string(weight)));
}

TEST(Execution, AnErrorNamesTheKernel) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Result<Execution> execution = Execution::Open(engine, kernels, {});
  ASSERT_TRUE(execution);
  Remembered().fails_at = 0;
  const Status run = execution->Run(0, 1);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "no kernel");
  EXPECT_THAT(run.error().where, HasSubstr("kernel 0 (aten::t)"));
}

TEST(Execution, WhenMemoryEndsTheHintIsTheCallers) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Result<Execution> execution =
      Execution::Open(engine, kernels, {}, {.memory = [] { return "Less of it."; }});
  ASSERT_TRUE(execution);
  Remembered().fails_at = 0;
  Remembered().problem = SY_NO_MEMORY;
  const Status run = execution->Run(0, 1);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("not memory enough"));
  EXPECT_EQ(run.error().hint, "Less of it.");
}

TEST(Execution, AMissingKernelIsToldInOneLine) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Result<Execution> execution =
      Execution::Open(engine, kernels, {}, {.kernel = "Cast it to float32."});
  ASSERT_TRUE(execution);
  Remembered().fails_at = 0;
  Remembered().problem = SY_NO_KERNEL;
  const Status run = execution->Run(0, 1);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message,
            "PyTorch has no kernel of aten::t for float32 on the CPU (no kernel)");
  EXPECT_EQ(run.error().hint, "Cast it to float32.");
}

TEST(PlaceOf, NamesModuleAndSource) {
  Program kernels = Kernels(
      "module \"\": Net\n"
      "module encoder.0: Linear\n"
      "input %x: f32[2,8]\n"
      "%y: f32[2,8] = aten::exp(%x) in encoder.0\n"
      "return %y\n");
  kernels.sources = {{.file = kernels.strings.Intern("model.py"), .line = 12}};
  kernels.graphs[0].nodes[0].source = 0;
  EXPECT_EQ(PlaceOf(0, kernels), "kernel 0 (aten::exp) of encoder.0, model.py:12");
  EXPECT_EQ(PlaceOf(99, kernels), "");
}

}  // namespace
}  // namespace steelyard
