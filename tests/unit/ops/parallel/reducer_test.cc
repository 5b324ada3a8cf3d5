// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/reducer.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A layer of 4 x 8 and a buffer, wrapped; `options` are those of enter_data_parallel behind the
// buffers.
std::string WrappedStep(const std::string& options) {
  return "parameter %w: f32[4,8]\nbuffer %b: f32[4]\ninput %x: f32[2,8]\n"
         "steelyard::enter_data_parallel([%b], " +
         options +
         ")\n%y = aten::linear(%x, %w)\n%loss = aten::sum(%y)\n"
         "steelyard::leave_data_parallel([])\nsteelyard::backward(%loss) phase backward\n"
         "return %loss\n";
}

std::int64_t ResidentGradients(const std::string& options) {
  const Program kernels = KernelsOfProgram(WrappedStep(options));
  std::int64_t bytes = 0;
  std::vector<bool> seen(kernels.storage_count, false);
  for (const ValueId id : kernels.main().inputs) {
    const Value& value = kernels.values[id];
    if (value.role != Role::kGradient || seen[value.storage]) continue;
    seen[value.storage] = true;
    bytes += kernels.stored_bytes({.value = id});
  }
  return bytes;
}

TEST(Reducer, ABucketIsThereBeforeTheStep) {
  EXPECT_EQ(ResidentGradients("2, 0, False, False"), 4 * 8 * 4);
  EXPECT_EQ(ResidentGradients("2, 0, False, True"), 4 * 8 * 4) << "in the first step too";
}

TEST(Reducer, BeforeTheLastMicroStepGradientsStayWhereTheyAre) {
  const std::string first_of_two = WrappedStep("2, 0, False, False, 2");
  EXPECT_THAT(EventsOfProgram(first_of_two), Not(Contains(HasSubstr("aten::mul"))));
  EXPECT_EQ(ResidentGradients("2, 0, False, False, 2"), 0) << "its buckets are made by the last";
}

TEST(Reducer, AGradientIsDividedIntoItsBucket) {
  EXPECT_THAT(EventsOfProgram(WrappedStep("2, 0, False, False")), Contains(HasSubstr("aten::mul")));
}

// The gradient goes as soon as its bucket has it.
TEST(Reducer, ViewsLeaveNoGradientBesideTheBucket) {
  const auto frees = [](const std::string& options) {
    const Program kernels = KernelsOfProgram(WrappedStep(options));
    const ValueId gradient = kernels.gradients[kernels.parameters[0].value];
    return kernels.values[gradient].storage ==
           kernels.values[kernels.main().inputs.front()].storage;
  };
  EXPECT_TRUE(frees("2, 0, True, False"));
  EXPECT_FALSE(frees("2, 0, False, False"));
}

TEST(Reducer, TheReportTellsOfIt) {
  const Program kernels = KernelsOfProgram(WrappedStep("4, 0, False, False"));
  std::vector<std::string> notes;
  notes.reserve(kernels.notes.size());
  for (const StringId note : kernels.notes) notes.emplace_back(kernels.text(note));
  EXPECT_THAT(notes, Contains(HasSubstr("each of 4 processes sums its gradients in 1 bucket of "
                                        "128 bytes in all")));
}

}  // namespace
}  // namespace steelyard
