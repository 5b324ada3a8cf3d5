// SPDX-License-Identifier: Apache-2.0
//
// What a step of an optimizer allocates and frees, as short text to compare with.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {

// Of a count of steps, which is a float.
inline constexpr std::int64_t kCounter = 4;  // bytes

// The events of the call, which stands for a step of `loss = (%p * %q).sum()`.
inline std::vector<std::string> StepEvents(std::string_view call) {
  const std::string text =
      StepOf("aten::mul.Tensor(%p, %q)", std::string(call) + " phase optimizer\n");
  const Program kernels = KernelsOfProgram(text);
  const Timeline timeline = RunEager(kernels, Target{});
  std::vector<std::string> out;
  for (const Event& event : timeline.events) {
    if (event.node >= kernels.main().nodes.size()) continue;
    if (kernels.main().nodes[event.node].phase != Phase::kOptimizer) continue;
    out.push_back(Line(event.bytes, timeline.labels.view(event.label)));
  }
  EXPECT_FALSE(out.empty());
  if (!out.empty()) out.pop_back();  // the loss, which the loop lets go last
  return out;
}

// Of those events the ones of at least a matrix, without their labels: "+128".
inline std::vector<std::int64_t> LargeEvents(std::string_view call) {
  std::vector<std::int64_t> out;
  for (const std::string& event : StepEvents(call)) {
    const std::int64_t bytes = std::stoll(event);
    if (bytes >= kMatrix || bytes <= -kMatrix) out.push_back(bytes);
  }
  return out;
}

// Bytes of state that are there before the step.
inline std::int64_t StateBytes(std::string_view call) {
  const std::string text =
      StepOf("aten::mul.Tensor(%p, %q)", std::string(call) + " phase optimizer\n");
  return Of(RunEager(KernelsOfProgram(text), Target{}).resident, Category::kOptimizerState);
}

// Why the step is refused.
inline std::string StepRefusal(std::string_view call) {
  Result<Program> program =
      ParseText(StepOf("aten::mul.Tensor(%p, %q)", std::string(call) + " phase optimizer\n"), "");
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return {};
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  return kernels ? "" : Describe(kernels.error());
}

}  // namespace steelyard
