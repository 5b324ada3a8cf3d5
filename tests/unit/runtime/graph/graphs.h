// SPDX-License-Identifier: Apache-2.0
//
// Call graphs of programs in their text form, and kernels as short text to compare with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"
#include "runtime/graph/call_graph.h"
#include "runtime/graph/fuse.h"
#include "runtime/graph/memory_plan.h"
#include "runtime/graph/steps.h"

namespace steelyard::graph {

inline constexpr std::int64_t kFloat = 4;  // bytes

// The kernels of a program in its text form. Fails the test if it is refused.
inline Program KernelsOfText(std::string_view text) {
  const Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return {};
  Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  return kernels ? *std::move(kernels) : Program();
}

// A call graph with the program that it is of.
struct Built {
  explicit Built(std::string_view text)
      : kernels(KernelsOfText(text)), graph(BuildCallGraph(kernels, target)) {}
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;

  // "tanh", "view t", "field 1 of native_layer_norm", "result".
  std::string NameOf(CallId id) const {
    const Call& call = graph.calls[id];
    if (call.kind == CallKind::kResult) return "result";
    std::string_view name = kernels.op_name(kernels.main().nodes[call.node].op);
    name.remove_prefix(name.find("::") + 2);
    name = name.substr(0, name.find('.'));
    if (call.kind == CallKind::kView) return "view " + std::string(name);
    if (call.kind == CallKind::kKernel) return std::string(name);
    return "field " + std::to_string(call.field) + " of " + std::string(name);
  }
  std::vector<std::string> Names(const std::vector<CallId>& calls) const {
    std::vector<std::string> out;
    for (const CallId id : calls) out.push_back(NameOf(id));
    return out;
  }
  std::vector<std::string> Calls() const {
    std::vector<std::string> out;
    for (CallId id = 0; id < graph.calls.size(); ++id) out.push_back(NameOf(id));
    return out;
  }
  CallId Find(std::string_view name) const {
    for (CallId id = 0; id < graph.calls.size(); ++id) {
      if (NameOf(id) == name) return id;
    }
    ADD_FAILURE() << "no call is named " << name;
    return graph.result();
  }

  std::vector<Step> Fused() const { return StepsInPostOrder(graph, FuseCalls(graph)); }
  std::vector<Step> Unfused() const { return StepsInPostOrder(graph, FuseNothing(graph)); }
  // "mm+add", "view t", "sum", "result": what is joined, step by step.
  std::vector<std::string> Words(const std::vector<Step>& steps) const {
    std::vector<std::string> out;
    for (const Step& step : steps) {
      std::string words;
      for (const CallId id : step.calls) words.append(words.empty() ? "" : "+").append(NameOf(id));
      out.push_back(std::move(words));
    }
    return out;
  }

  Target target;
  Program kernels;
  CallGraph graph;
};

// Every call a step of its own, in the order of the program.
inline std::vector<Step> AsWritten(const Built& built) {
  std::vector<Step> steps = built.Unfused();
  std::ranges::sort(steps, {}, [](const Step& step) { return step.last(); });
  return steps;
}

}  // namespace steelyard::graph
