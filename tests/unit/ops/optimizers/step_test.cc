// SPDX-License-Identifier: Apache-2.0

#include "ops/optimizers/step.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of two dtypes the one that comes last is taken first: 8 x 2 bytes, then 8 x 4.
TEST(Step, GroupsOfOneDtypeAreTakenLastFirst) {
  const std::string text =
      "parameter %p: f32[8]\nparameter %q: bf16[8]\n%y = aten::mul.Tensor(%p, %q)\n"
      "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\n"
      "steelyard::adam([%p, %q], False, foreach=True) phase optimizer\nreturn %loss\n";
  const Program kernels = KernelsOfProgram(text);
  const Timeline timeline = RunEager(kernels, Target{});
  std::vector<std::int64_t> roots;
  for (const Event& event : timeline.events) {
    if (timeline.labels.view(event.label) == "aten::sqrt") roots.push_back(event.bytes);
  }
  EXPECT_THAT(roots, ElementsAre(8 * 2, 8 * 4));
}

TEST(Step, ParametersWithoutGradientsAreNotStepped) {
  const std::string text =
      "parameter %p: f32[8]\nparameter %unused: f32[100]\n%loss = aten::sum(%p)\n"
      "steelyard::backward(%loss) phase backward\n"
      "steelyard::sgd([%unused], False, weight_decay=0.1) phase optimizer\nreturn %loss\n";
  const Program kernels = KernelsOfProgram(text);
  std::vector<std::string> stepped;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kOptimizer) stepped.emplace_back(kernels.op_name(node.op));
  }
  for (const std::string& name : stepped) EXPECT_EQ(name, kDropMark);
}

TEST(Step, StateIsThereBeforeEveryStepButTheFirst) {
  EXPECT_EQ(StateBytes("steelyard::adam([%p], True)"), 0);
  EXPECT_EQ(StateBytes("steelyard::adam([%p], False)"), 4 + 2 * kMatrix);
}

Program Stepped(const std::string& call) {
  return KernelsOfProgram(
      "parameter %p: f32[8]\n%loss = aten::sum(%p)\nsteelyard::backward(%loss) phase backward\n" +
      call + " phase optimizer\nreturn %loss\n");
}

TEST(Step, HasStandInsWhereTensorsTellNumbers) {
  for (const char* name :
       {"adamw", "sgd", "nadam", "radam", "adagrad", "rmsprop", "lion", "lamb"}) {
    EXPECT_FALSE(Stepped(std::string("steelyard::") + name + "([%p], False)").has_stand_ins)
        << name;
  }
  EXPECT_FALSE(Stepped("steelyard::adamw([%p], False, foreach=True)").has_stand_ins);
  for (const char* name : {"adafactor", "lans", "adamw8bit"}) {
    EXPECT_TRUE(Stepped(std::string("steelyard::") + name + "([%p], False)").has_stand_ins) << name;
  }
}

double NumberOf(const Program& kernels, std::string_view op, int argument) {
  const OpId id = kernels.FindOpName(op);
  const auto node = std::ranges::find(kernels.main().nodes, id, &Node::op);
  if (node == kernels.main().nodes.end()) return std::numeric_limits<double>::quiet_NaN();
  return kernels.args(*node)[static_cast<std::size_t>(argument)].real;
}

TEST(Step, HasTheNumbersOfTheStepThatItIs) {
  const auto step_size = [](const std::string& options) {
    return NumberOf(Stepped("steelyard::adamw([%p], False, lr=0.1" + options + ")"),
                    "aten::addcdiv_", 3);
  };
  EXPECT_DOUBLE_EQ(step_size(", step=1"), -(0.1 / (1 - 0.9)));
  EXPECT_DOUBLE_EQ(step_size(", step=2"), -(0.1 / (1 - 0.9 * 0.9)));
  EXPECT_NEAR(step_size(""), -0.1, 1e-9);  // in the middle of training
}

TEST(Step, RAdamRectifiesFromTheSixthStepOn) {
  const auto roots = [](int step) {
    const Program kernels =
        Stepped("steelyard::radam([%p], False, step=" + std::to_string(step) + ")");
    return std::ranges::count(kernels.main().nodes, kernels.FindOpName("aten::sqrt"), &Node::op);
  };
  EXPECT_EQ(roots(5), 0);
  EXPECT_EQ(roots(6), 1);
}

TEST(Step, StateBeginsAsPyTorchMakesIt) {
  const Program sums = Stepped("steelyard::adagrad([%p], False, initial_accumulator_value=0.5)");
  ASSERT_EQ(sums.initial_contents.size(), 1U);
  EXPECT_EQ(sums.initial_contents[0].number, 0.5);
  const Program products = Stepped("steelyard::nadam([%p], False)");
  ASSERT_EQ(products.initial_contents.size(), 1U);
  EXPECT_EQ(products.initial_contents[0].number, 1);
}

TEST(Step, CountersOfTheFirstStepAreMadeOfNumbers) {
  const Program kernels = Stepped("steelyard::adamw([%p], True, fused=True)");
  ASSERT_EQ(kernels.whole_calls.size(), 1U);
  EXPECT_EQ(kernels.op_name(kernels.whole_calls[0].op), "aten::scalar_tensor");
}

// What a step of four parameters holds on CUDA at most, in bytes.
std::int64_t MostOnCuda(const std::string& optimizer, const std::string& form) {
  std::string text;
  for (const char* name : {"%p", "%q", "%r", "%s"}) {
    text += std::string("parameter ") + name + ": f32[64,64]\n";
  }
  text +=
      "%a = aten::mul.Tensor(%p, %q)\n%b = aten::mul.Tensor(%r, %s)\n"
      "%c = aten::add.Tensor(%a, %b)\n%loss = aten::sum(%c)\n"
      "steelyard::backward(%loss) phase backward\n"
      "steelyard::" +
      optimizer + "([%p, %q, %r, %s], False" + form + ") phase optimizer\nreturn %loss\n";
  const Program kernels = KernelsOfProgram(text, {.device = Device::kCuda});
  const Timeline timeline = RunEager(kernels, {.device = Device::kCuda});
  std::int64_t live = 0, most = 0;
  for (const Event& event : timeline.events) {
    if (event.node >= kernels.main().nodes.size()) continue;
    if (kernels.main().nodes[event.node].phase != Phase::kOptimizer) continue;
    most = std::max(most, live += event.bytes);
  }
  return most;
}

// Whoever says anything of the form has chosen: fused=False is one tensor after another.
TEST(Step, OnCudaListsAreTakenUnasked) {
  for (const char* name : {"adam", "adamw", "adagrad", "rmsprop", "nadam"}) {
    const std::int64_t lists = MostOnCuda(name, ", foreach=True");
    const std::int64_t one_by_one = MostOnCuda(name, ", foreach=False");
    EXPECT_LT(one_by_one, lists) << name;
    EXPECT_EQ(MostOnCuda(name, ""), lists) << name;
  }
  EXPECT_EQ(MostOnCuda("adamw", ", fused=False"), MostOnCuda("adamw", ", foreach=False"));
}

// Unlike the others, Adafactor takes one after another (torch/optim/_adafactor.py).
TEST(Step, AdafactorTakesListsIfAsked) {
  EXPECT_LT(MostOnCuda("adafactor", ""), MostOnCuda("adafactor", ", foreach=True"));
}

TEST(Step, NumbersAreThoseOfTheStep) {
  const Program kernels = Stepped("steelyard::adamw([%p], False, lr=0.5, step=2)");
  double last = 0;  // of addcdiv_, whose value is the negative size of the step
  for (const Node& node : kernels.main().nodes) {
    if (kernels.op_name(node.op) == "aten::addcdiv_") last = kernels.args(node)[3].real;
  }
  EXPECT_DOUBLE_EQ(last, -0.5 / (1 - 0.9 * 0.9));
}

TEST(Step, TheProgramKnowsTheGradients) {
  const Program kernels = Stepped("steelyard::sgd([%p], False)");
  const ValueId parameter = kernels.parameters[0].value;
  ASSERT_EQ(kernels.gradients.size(), parameter + 1u);
  EXPECT_EQ(kernels.values[kernels.gradients[parameter]].role, Role::kGradient);
}

}  // namespace
}  // namespace steelyard
