// SPDX-License-Identifier: Apache-2.0
//
// What a single call does, as short text to compare with.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_call.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {

// The program of kernels that the call becomes. Fails the test if it is refused.
inline Program KernelsOf(std::string_view call) {
  Result<Program> program = ProgramOfCall(call);
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return {};
  Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  return kernels ? *std::move(kernels) : Program();
}

// Why the call is refused; empty if it is not.
inline std::string RefusalOf(std::string_view call) {
  Result<Program> program = ProgramOfCall(call);
  if (!program) return "not a call: " + Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  return kernels ? "" : Describe(kernels.error());
}

// Names of the nodes in order: kernels without "aten::", marks of drops as "drop".
inline std::vector<std::string> NodesOf(std::string_view call) {
  const Program kernels = KernelsOf(call);
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    out.emplace_back(name == kDropMark ? "drop" : name.substr(name.find("::") + 2));
  }
  return out;
}

// The layout of the call's result: "f32[2,3]", with strides where they are not row-major.
inline std::string ResultOf(std::string_view call, std::size_t output = 0) {
  const Program kernels = KernelsOf(call);
  if (output >= kernels.main().outputs.size()) return "missing";
  const Argument& result = kernels.main().outputs[output];
  if (result.kind != ArgKind::kValue) return "None";
  const TensorView view(kernels, result.value);
  std::string text(ShortNameOf(view.dtype()));
  const auto list = [&](char open, std::span<const std::int64_t> numbers, char close) {
    text += open;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      text += (i > 0 ? "," : "") + std::to_string(numbers[i]);
    text += close;
  };
  list('[', view.sizes(), ']');
  if (!view.is_contiguous()) list('{', view.strides(), '}');
  return text;
}

}  // namespace steelyard
