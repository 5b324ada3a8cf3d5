// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "graph/graphs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

GraphRun RunTextAsGraph(std::string_view text, const GraphOptions& options = {}) {
  return RunGraph(graph::KernelsOfText(text), Target{}, options);
}

std::vector<float> Megabytes(const GraphRun& run) {
  std::vector<float> out;
  for (const KernelMemory& kernel : run.kernels) out.push_back(kernel.megabytes);
  return out;
}
std::vector<std::string> Kernels(const GraphRun& run) {
  std::vector<std::string> out;
  for (const KernelMemory& kernel : run.kernels) out.push_back(kernel.name);
  return out;
}

// RAF's test of its estimator: x of 512 x 512 floats is 1 MB (test_pass_estimate_memory.py).
constexpr std::string_view kThreeRelus =
    "input %x: f32[512,512]\n%a = aten::relu(%x)\n%b = aten::relu(%a)\n%c = aten::relu(%b)\n"
    "return %c\n";

TEST(RunGraph, RafsThreeRelus) {
  // With parameters; the last line is what remains.
  EXPECT_THAT(Megabytes(RunTextAsGraph(kThreeRelus, {.fuse = false})), ElementsAre(2, 3, 3, 2));
  EXPECT_THAT(Megabytes(RunTextAsGraph(kThreeRelus)), ElementsAre(2, 2));
  EXPECT_THAT(Kernels(RunTextAsGraph(kThreeRelus)),
              ElementsAre("fused_clamp_min_clamp_min_clamp_min", "out"));
}

TEST(RunGraph, BytesAreExact) {
  const GraphRun run = RunTextAsGraph(kThreeRelus, {.fuse = false});
  const std::int64_t x = 512 * 512 * 4;
  std::vector<std::int64_t> bytes;
  for (const KernelMemory& kernel : run.kernels) bytes.push_back(kernel.bytes);
  EXPECT_THAT(bytes, ElementsAre(2 * x, 3 * x, 3 * x, 2 * x));
  EXPECT_EQ(run.bound, 3 * x);
  EXPECT_EQ(run.timeline.resident_bytes(), x);
}

TEST(RunGraph, BindingsAreThoseOfRafsProgram) {
  // Three kernels of 5 bindings, three buffers of 2, of which two are freed.
  EXPECT_EQ(RunTextAsGraph(kThreeRelus, {.fuse = false}).bindings, 3 * 5 + 3 * 2 + 2);
  EXPECT_EQ(RunTextAsGraph(kThreeRelus).bindings, 5 + 2);
  // A view is one, and so is the tuple of two results.
  EXPECT_EQ(
      RunTextAsGraph("input %x: f32[2,8]\n%a = aten::tanh(%x)\n%t = aten::t(%x)\nreturn %a, %t\n")
          .bindings,
      5 + 2 + 1 + 1);
}

TEST(RunGraph, ProgressIsToldAtEveryTenth) {
  std::vector<int> done;
  int of = 0;
  const auto run = RunTextAsGraph(kThreeRelus, {.fuse = false, .progress = [&](int i, int all) {
                                                  done.push_back(i);
                                                  of = all;
                                                }});
  EXPECT_EQ(of, run.bindings);
  // 23 bindings: every second one.
  EXPECT_THAT(done, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22));
}

TEST(RunGraph, EventsStandAtTheNodesOfTheirKernel) {
  const GraphRun run = RunTextAsGraph(
      "input %x: f32[2,8]\n%a = aten::tanh(%x)\n%b = aten::_softmax(%a, 1, False)\n"
      "%c = aten::exp(%b)\nreturn %c\n");
  std::vector<std::string> events;
  for (const Event& event : run.timeline.events) {
    events.push_back(std::string(run.timeline.labels.view(event.label)) + " " +
                     std::to_string(event.bytes) + " at " + std::to_string(event.node));
  }
  const std::string x = std::to_string(2 * 8 * 4);
  EXPECT_THAT(events, ElementsAre("fused_tanh__softmax " + x + " at 0", "aten::exp " + x + " at 2",
                                  "aten::exp -" + x + " at 2"));
  EXPECT_EQ(run.program.main().nodes.size(), 3u);
}

TEST(RunGraph, SgdOverwritesTheParameterInOneKernel) {
  // RAF's test of in-place updates counts one tensor for the update of a parameter.
  const GraphRun run = RunTextAsGraph(
      "input %x: f32[2,3,4]\nparameter %w: f32[2,3,4]\n%y = raf::multiply(%x, %w)\n"
      "%n = raf::subtract.out(%w, %w, %y)\nreturn %x\n");
  EXPECT_THAT(Kernels(run), ElementsAre("fused_multiply_subtract", "out"));
  EXPECT_TRUE(run.timeline.blocks.empty());
}

TEST(RunGraph, WhatTheCallerGetsIsHeldOutputs) {
  const GraphRun run = RunTextAsGraph(kThreeRelus);
  ASSERT_EQ(run.timeline.blocks.size(), 1u);
  EXPECT_EQ(run.timeline.blocks[0].category, Category::kOutputs);
  EXPECT_EQ(run.timeline.blocks[0].freed, Block::kNever);
}

TEST(RunGraph, AnOrderForMemoryIsAnOption) {
  // %late is used at the end only, and takes 4 MB.
  constexpr std::string_view kLate =
      "input %p: f32[1024,1024]\n%late = raf::softmax(%p)\n%a = raf::softmax(%p)\n"
      "%b = raf::softmax(%a)\n%c = raf::sum(%b)\n%d = raf::multiply(%late, %c)\nreturn %d\n";
  const auto peak = [&](KernelOrder order) {
    std::int64_t most = 0;
    for (const KernelMemory& k : RunTextAsGraph(kLate, {.order = order}).kernels) {
      most = std::max(most, k.bytes);
    }
    return most;
  };
  const std::int64_t matrix = 1024 * 1024 * 4;
  EXPECT_EQ(peak(KernelOrder::kPostOrder), 4 * matrix) << "p, late, a and b";
  EXPECT_EQ(peak(KernelOrder::kMemory), 3 * matrix + 4) << "p, late and d, and c";
}

TEST(RunGraph, AnEmptyProgramHasNoKernels) {
  const GraphRun run = RunTextAsGraph("input %x: f32[8]\nreturn %x\n");
  EXPECT_THAT(Kernels(run), ElementsAre("out"));
  EXPECT_EQ(run.bound, 8 * 4);
}

}  // namespace
}  // namespace steelyard
