// SPDX-License-Identifier: Apache-2.0
//
// What a training step of a small program does, as short text to compare with.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "events.h"
#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"
#include "runtime/eager.h"

namespace steelyard {

// The kernels of a program in its text form. Fails the test if it is refused.
inline Program KernelsOfProgram(const std::string& text, const Target& target = {}) {
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return {};
  Result<Program> kernels = Dispatcher(*program, target).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  return kernels ? *std::move(kernels) : Program();
}

// The kernels of one phase, without marks.
inline std::vector<std::string> KernelsOfPhase(const Program& kernels, Phase phase) {
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase == phase && name != kDropMark) out.emplace_back(name);
  }
  return out;
}

// Of each tensor of the step below but the ids.
inline constexpr std::int64_t kMatrix = 4 * 8 * 4;  // bytes

// A step whose loss is the sum of `%y`, a call of parameters %p f32[4,8] and %q f32[4,8], an input
// %x f32[4,8] and ids %i i64[4].
inline std::string StepOf(std::string_view call, std::string_view end = "") {
  return "parameter %p: f32[4,8]\nparameter %q: f32[4,8]\ninput %x: f32[4,8]\ninput %i: i64[4]\n"
         "%y = " +
         std::string(call) +
         "\n%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\n" + std::string(end) +
         "return %loss\n";
}

// The kernels of the backward pass, without "aten::" and marks; the first two make the gradient of
// the loss and spread it over the sum.
inline std::vector<std::string> BackwardOf(std::string_view call) {
  const Program kernels = KernelsOfProgram(StepOf(call));
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase != Phase::kBackward || name == kDropMark) continue;
    out.emplace_back(name.substr(name.find("::") + 2));
  }
  EXPECT_GE(out.size(), 2u);
  if (out.size() >= 2) out.erase(out.begin(), out.begin() + 2);
  return out;
}

// Every event of a program: "+48 aten::empty".
inline std::vector<std::string> EventsOfProgram(const std::string& text) {
  const Timeline timeline = RunEager(KernelsOfProgram(text), Target{});
  std::vector<std::string> out;
  for (const Event& event : timeline.events) {
    out.push_back(Line(event.bytes, timeline.labels.view(event.label)));
  }
  return out;
}

// What autograd keeps in that step: "p by MulBackward0".
inline std::vector<std::string> SavedIn(std::string_view call) {
  const Program kernels = KernelsOfProgram(StepOf(call));
  std::vector<std::string> out;
  for (const SavedTensor& saved : kernels.saved) {
    out.push_back(std::string(kernels.text(kernels.values[saved.value].name)) + " by " +
                  std::string(kernels.text(saved.by)));
  }
  return out;
}

}  // namespace steelyard
