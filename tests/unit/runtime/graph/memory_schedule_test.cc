// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/memory_schedule.h"

#include <gmock/gmock.h>

#include "graphs.h"

namespace steelyard::graph {
namespace {

using ::testing::ElementsAre;

// The steps as the program has them, results by their names.
std::vector<std::string> Order(const Built& built, const std::vector<Step>& steps) {
  std::vector<std::string> out;
  for (const Step& step : steps) {
    const Call& call = built.graph.calls[step.last()];
    if (call.kind != CallKind::kKernel) continue;
    out.emplace_back(built.kernels.text(built.kernels.values[call.results[0]].name));
  }
  return out;
}

// RAF's test (test_pass_memory_schedule.py): tensors of 4 MB, the concatenation and its sum of 8.
// The sum a3 comes to where a2 is made, a9 to where it is used.
TEST(ScheduleForMemory, RafsExample) {
  const Built built(
      "input %p0: f32[1024,1024]\ninput %p1: f32[1024,1024]\ninput %p2: f32[2048,1024]\n"
      "%a1 = raf::exp(%p0)\n%a9 = raf::exp(%a1)\n%a2 = raf::exp(%p1)\n"
      "%a5 = aten::cat([%a1, %a2])\n%a6 = raf::add(%a5, %p2)\n%a7 = raf::sum(%a6)\n"
      "%a3 = raf::sum(%a2)\n%a8 = raf::add(%a3, %a7)\n%a10 = raf::add(%a8, %a9)\nreturn %a10\n");
  EXPECT_THAT(Order(built, ScheduleForMemory(built.graph, AsWritten(built), built.target)),
              ElementsAre("a1", "a2", "a3", "a5", "a6", "a7", "a8", "a9", "a10"));
}

// RAF's second test: p1 is overwritten after a2 has read it, and nothing is moved.
TEST(ScheduleForMemory, RafsExampleThatOverwrites) {
  const Built built(
      "input %p0: f32[1024,1024]\ninput %p1: f32[1024,1024]\n%a1 = raf::exp(%p0)\n"
      "%a2 = raf::exp(%p1)\n%a3 = raf::add.out(%p1, %a1, %a1)\n%a4 = raf::exp(%a2)\n"
      "%a5 = raf::add(%a3, %a4)\nreturn %a5\n");
  EXPECT_THAT(Order(built, ScheduleForMemory(built.graph, AsWritten(built), built.target)),
              ElementsAre("a1", "a2", "a3", "a4", "a5"));
}

TEST(ScheduleForMemory, AnEmptyProgramStaysEmpty) {
  const Built built("input %x: f32[8]\nreturn %x\n");
  EXPECT_THAT(Order(built, ScheduleForMemory(built.graph, AsWritten(built), built.target)),
              ElementsAre());
}

// A view between a tensor and its reader goes where the tensor goes.
TEST(ScheduleForMemory, ViewsMoveWithTheirTensor) {
  const Built built(
      "input %p0: f32[1024,1024]\ninput %p1: f32[1024,1024]\n%late = raf::exp(%p0)\n"
      "%v = raf::reshape(%late, [1048576])\n%a = raf::softmax(%p1)\n%b = raf::softmax(%a)\n"
      "%c = raf::sum(%b)\n%d = raf::multiply(%v, %c)\nreturn %d\n");
  EXPECT_THAT(Order(built, ScheduleForMemory(built.graph, AsWritten(built), built.target)),
              ElementsAre("a", "b", "c", "late", "d"));
}

}  // namespace
}  // namespace steelyard::graph
