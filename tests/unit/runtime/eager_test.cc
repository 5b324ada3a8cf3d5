// SPDX-License-Identifier: Apache-2.0

#include "runtime/eager.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Timeline RunTextEagerly(std::string_view text, const Target& target = {}) {
  const Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, target).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  return RunEager(*kernels, target);
}

std::vector<std::string> Events(const Timeline& timeline) {
  std::vector<std::string> out;
  for (const Event& e : timeline.events) {
    out.push_back(std::string(timeline.labels.view(e.label)) + " " + std::to_string(e.bytes));
  }
  return out;
}

TEST(RunEager, FreesAtTheLastReference) {
  // f32[8] is 32 bytes. %a dies at the sum; %c is the caller's until the end.
  EXPECT_THAT(Events(RunTextEagerly("input %x: f32[8]\n"
                                    "%a: f32[8] = aten::tanh(%x)\n"
                                    "%c: f32[8] = aten::add.Tensor(%a, %x)\n"
                                    "return %c\n")),
              ElementsAre("aten::tanh 32", "aten::add 32", " -32", " -32"));
}

// A product and its two gradients; these run in a thread that has a workspace of its own.
TEST(RunEager, ALibraryKeepsAWorkspaceForEachThread) {
  constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;
  const Result<Program> program = ParseText(
      "parameter %w: f32[4,4]\ninput %x: f32[4,4]\n"
      "%a: f32[4,4] = aten::mm(%x, %w)\n"
      "%b: f32[4,4] = aten::mm(%a, %w)\n"
      "%l: f32[] = aten::sum(%b)\n"
      "steelyard::backward(%l) phase backward\nreturn %l\n",
      "test.syt");
  ASSERT_TRUE(program) << Describe(program.error());
  const Target target{.device = Device::kCuda, .capability = 90, .torch_minor = 9};
  const Result<Program> kernels = Dispatcher(*program, target).Run();
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  int taken = 0;
  for (const Event& event : RunEager(*kernels, target).events) {
    EXPECT_NE(event.bytes, -kWorkspace) << "it is kept";
    taken += event.bytes == kWorkspace ? 1 : 0;
  }
  EXPECT_EQ(taken, 2);
  const Timeline later = RunEager(*kernels, target, LibraryMemory::kThere);
  for (const Event& event : later.events) EXPECT_LT(event.bytes, kWorkspace);
  EXPECT_EQ(Of(later.resident, Category::kLibraries), 2 * kWorkspace);
}

TEST(RunEager, WhatFollowsAllocatesOnTheStreamThatIsUsed) {
  const Timeline timeline = RunTextEagerly(
      "input %x: f32[8]\n"
      "%a: f32[8] = aten::tanh(%x)\n"
      "steelyard::use_stream(2)\n"
      "%b: f32[8] = aten::tanh(%a)\n"
      "%c: f32[8] = aten::tanh(%b)\n"
      "steelyard::use_stream(0)\n"
      "%d: f32[8] = aten::tanh(%c)\n"
      "return %d\n",
      Target{.device = Device::kCuda});
  std::vector<int> streams;
  streams.reserve(timeline.blocks.size());
  for (const Block& block : timeline.blocks) streams.push_back(block.stream);
  EXPECT_THAT(streams, ElementsAre(0, 2, 2, 0));
}

TEST(RunEager, TellsWhereTheCacheIsEmptied) {
  constexpr std::string_view kProgram =
      "input %x: f32[8]\n"
      "%a: f32[8] = aten::tanh(%x)\n"
      "steelyard::empty_cache()\n"
      "return %a\n";
  const Target device{.device = Device::kCuda, .name = "h100"};
  EXPECT_THAT(RunTextEagerly(kProgram, device).emptied, ElementsAre(1u));
  EXPECT_THAT(RunTextEagerly(kProgram).emptied, IsEmpty()) << "the CPU's allocator keeps nothing";
}

TEST(RunEager, AViewKeepsItsStorage) {
  EXPECT_THAT(Events(RunTextEagerly("input %x: f32[8]\n"
                                    "%a: f32[8] = aten::tanh(%x)\n"
                                    "%v: f32[2,4] = aten::view(%a, [2, 4])\n"
                                    "%b: f32[2,4] = aten::tanh(%v)\n"
                                    "return %b\n")),
              ElementsAre("aten::tanh 32", "aten::tanh 32", " -32", " -32"));
}

TEST(RunEager, ATupleOfResultsGoesFromItsEnd) {
  constexpr std::string_view kTwo =
      "input %x: f32[8]\ninput %y: f32[2]\n"
      "%a: f32[8] = aten::tanh(%x)\n"
      "%b: f32[2] = aten::tanh(%y)\n";
  EXPECT_THAT(Events(RunTextEagerly(std::string(kTwo) + "return %a, %b\n")),
              ElementsAre("aten::tanh 32", "aten::tanh 8", " -8", " -32"));
  EXPECT_THAT(Events(RunTextEagerly(std::string(kTwo) + "releases 0, 1\nreturn %a, %b\n")),
              ElementsAre("aten::tanh 32", "aten::tanh 8", " -32", " -8"));
  // What is returned twice goes with the last of the two.
  EXPECT_THAT(Events(RunTextEagerly(std::string(kTwo) + "return %b, %a, %b\n")),
              ElementsAre("aten::tanh 32", "aten::tanh 8", " -32", " -8"));
}

TEST(RunEager, ARefusedCallGivesTheResultsOfTheFile) {
  EXPECT_THAT(
      Events(RunTextEagerly("input %x: f32[2,3,4]\n%y: f32[4,3,2] = aten::t(%x)\nreturn %y\n")),
      ElementsAre("aten::t 96", " -96"));
}

TEST(RunEager, KernelsThatAreAlikeAllocateAlike) {
  // Of f32[4,8]: results of 4 * 8 * 4 and 4 * 8 * 8 bytes, and rows of 8 * 8 to sort in.
  EXPECT_THAT(Events(RunTextEagerly("input %x: f32[4,8]\ninput %y: f32[4,8]\n"
                                    "%a: f32[4,8], %i: i64[4,8] = aten::sort(%x)\n"
                                    "%b: f32[4,8], %j: i64[4,8] = aten::sort(%y)\n"
                                    "return %a, %b\n")),
              ElementsAre("aten::sort 128", "aten::sort 256", "aten::resize_ 64", "aten::sort -64",
                          " -256", "aten::sort 128", "aten::sort 256", "aten::resize_ 64",
                          "aten::sort -64", " -256", " -128", " -128"));
}

TEST(RunEager, InPlaceAllocatesNothing) {
  EXPECT_THAT(Events(RunTextEagerly("input %x: f32[8]\n"
                                    "%a: f32[8] = aten::tanh(%x)\n"
                                    "%b: f32[8] = aten::relu_(%a)\n"
                                    "return %b\n")),
              ElementsAre("aten::tanh 32", " -32"));
}

TEST(RunEager, ResidentsAreCountedOnceAndNeverFreed) {
  const Timeline timeline = RunTextEagerly(
      "parameter %w: f32[8]\n"
      "input %x: f32[8]\n"
      "%a: f32[8] = aten::add.Tensor(%x, %w)\n"
      "return %a\n");
  EXPECT_EQ(Of(timeline.resident, Category::kParameters), 8 * 4);
  EXPECT_EQ(Of(timeline.resident, Category::kInputs), 8 * 4);
  EXPECT_EQ(timeline.resident_bytes(), 2 * 8 * 4);
}

TEST(RunEager, ACacheIsGivenUpAndWhatReplacesItStays) {
  const Timeline timeline = RunTextEagerly(
      "input %k: f32[8] cache\n"
      "input %x: f32[8]\n"
      "%n: f32[16] cache = aten::cat([%k, %x], 0)\n"
      "%y: f32[16] = aten::tanh(%n)\n"
      "return %y, %n\n");
  EXPECT_THAT(Events(timeline), ElementsAre("aten::cat 64", " -32", "aten::tanh 64", " -64"))
      << "the old cache goes with its last use, the new one does not";
  EXPECT_EQ(Of(timeline.resident, Category::kCache), 8 * 4);
  EXPECT_TRUE(timeline.blocks[0].resident);
  EXPECT_EQ(timeline.blocks[1].category, Category::kCache);
}

TEST(RunEager, AFunctionLetsItsVariablesGoWhenItReturns) {
  EXPECT_THAT(
      Events(RunTextEagerly("input %x: f32[8]\n"
                            "%a: f32[8] = aten::tanh(%x)\n"
                            "%b: f32[4] = aten::slice.Tensor(%x, 0, 0, 4)\n"
                            "%c: f32[8] = aten::tanh(%a)\n"
                            "%d: f32[2] = aten::zeros([2])\n"
                            "steelyard::leave([%d, %a])\n"
                            "return %c\n")),
      ElementsAre("aten::tanh 32", "aten::tanh 32", "aten::empty 8", " -8", " -32", " -32"));
}

TEST(RunEager, OutputsAreTheCallers) {
  const Timeline timeline =
      RunTextEagerly("input %x: f32[8]\n%a: f32[8] = aten::tanh(%x)\nreturn %a, %x\n");
  ASSERT_EQ(timeline.blocks.size(), 1u);
  EXPECT_EQ(timeline.blocks[0].category, Category::kOutputs);
  EXPECT_EQ(timeline.blocks[0].freed, 1u);
}

TEST(RunEager, AllocationsAndFreesCancel) {
  std::int64_t sum = 0;
  for (const Event& e :
       RunTextEagerly(
           "input %x: f32[4,8]\nparameter %w: f32[8,8]\nparameter %b: f32[8]\n"
           "%y: f32[4,8] = aten::linear(%x, %w, %b)\n%z: f32[4,8] = aten::gelu(%y)\nreturn %z\n")
           .events) {
    sum += e.bytes;
  }
  EXPECT_EQ(sum, 0);
}

TEST(RunEager, EmptyTensorsMakeNoEvents) {
  EXPECT_THAT(
      Events(RunTextEagerly("input %x: f32[0,8]\n%a: f32[0,8] = aten::tanh(%x)\nreturn %a\n")),
      ElementsAre());
}

TEST(RunEager, UnmodelledResultsTakeTheFilesSizes) {
  EXPECT_THAT(
      Events(RunTextEagerly("input %x: f32[8]\n%a: i64[3] = mylib::mystery(%x)\nreturn %a\n")),
      ElementsAre("mylib::mystery 24", " -24"));
}

}  // namespace
}  // namespace steelyard
