// SPDX-License-Identifier: Apache-2.0
//
// One tick is a microsecond, and each event comes one after the last.
#include "record/key_averages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../record_writer.h"

namespace steelyard {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMicrosecond = 1000;  // nanoseconds

RecordWriter WithInputs() {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_CALL, 1, "aten::mm(f32[2,3], f32[3,4])", 1).Entry(SY_CALL, 2, "aten::linear");
  record.Entry(SY_CALL, 3, "aten::mm(f32[2,3], f32[3,9])", 1);
  record.Entry(SY_INPUT_LIST, 1, "[2, 3]\t[3, 1]\tfloat\t\n[3, 4]\t[4, 1]\tfloat\t\n");
  record.Entry(SY_INPUT_LIST, 3, "[[2, 3], [3, 9]]\t[[3, 1], [9, 1]]\tTensorList\t\n");
  return record;
}

std::vector<KeyAverage> Averaged(const RecordWriter& record, const KeyAverageOptions& options,
                                 const FlopsOfCall& flops = {}) {
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  EXPECT_TRUE(recording);
  const Spans spans = FindSpans(std::move(*recording));
  return KeyAverages(spans, OwnFlops(spans, flops), options);
}

TEST(KeyAverages, SumTimesWithAndWithoutWhatIsInside) {
  RecordWriter record = WithInputs();
  for (const std::uint64_t begin : {10u, 100u}) {
    record.At(begin).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_ENTER, 0, 1).At(begin + 20);
    record.Add(SY_OP_LEAVE).At(begin + 30).Add(SY_OP_LEAVE);
  }
  const std::vector<KeyAverage> rows = Averaged(record, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "aten::linear");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].nanoseconds, 2 * 30 * kMicrosecond);
  EXPECT_EQ(rows[0].own_nanoseconds, 2 * (30 - 19) * kMicrosecond);
  EXPECT_EQ(rows[1].own_nanoseconds, 2 * 19 * kMicrosecond);
}

TEST(KeyAverages, TellOverloadsApartWhereThatIsAsked) {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_CALL, 1, "aten::add.Tensor(f32[2], f32[2], 1)", 1);
  record.Entry(SY_CALL, 2, "aten::add.out").Entry(SY_CALL, 3, "My.Function(a)");
  for (const std::uint64_t call : {1u, 2u, 3u}) {
    record.Add(SY_OP_ENTER, 0, call).Add(SY_OP_LEAVE);
  }
  const std::vector<KeyAverage> plain = Averaged(record, {});
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_EQ(plain[0].name, "aten::add");
  EXPECT_EQ(plain[0].overload, "");
  EXPECT_EQ(plain[1].name, "My.Function(a)");  // of Python's functions the whole is a name
  const std::vector<KeyAverage> rows = Averaged(record, {.by_overload = true});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].overload, "Tensor");
  EXPECT_EQ(rows[1].overload, "out");
  EXPECT_EQ(rows[2].overload, "");
}

// As SY_INPUTS says, of a call that others are like but for a real number.
TEST(KeyAverages, InputsMayBeOthersThanTheCalls) {
  RecordWriter record = WithInputs();
  record.Entry(SY_INPUT_LIST, 9, "[2, 3]\t[3, 1]\tfloat\t\n[]\t[]\tScalar\t0.7\n");
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_INPUTS, 0, 9).Add(SY_OP_LEAVE);
  const FlopsOfCall flops = [](const RecordedCall& call) -> std::optional<std::int64_t> {
    return call.complete ? 7 : 0;
  };
  const std::vector<KeyAverage> rows = Averaged(record, {.by_inputs = true}, flops);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].inputs, "[[2, 3], []]");
  EXPECT_EQ(rows[0].flops, 7);
}

TEST(KeyAverages, WhatFailedHasDoneNoWorkUnlessItAllocated) {
  RecordWriter record = WithInputs();
  record.Entry(SY_CALL, 4, "aten::empty");
  const FlopsOfCall flops = [](const RecordedCall& call) -> std::optional<std::int64_t> {
    return call.complete ? 7 : 0;
  };
  const auto thrown = [&] { record.Add(SY_OP_LEAVE, 0, 0, 0, 0, SY_THROWN); };
  record.Add(SY_OP_ENTER, 0, 2).Add(SY_OP_ENTER, 0, 1);
  thrown();
  thrown();
  EXPECT_EQ(Averaged(record, {}, flops)[1].flops, 0);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 4).Add(SY_ALLOCATE, 0, 500, 32);
  record.Add(SY_OP_LEAVE);
  thrown();
  EXPECT_EQ(Averaged(record, {}, flops)[1].flops, 7);
}

TEST(KeyAverages, TellInputsApartWhereThatIsAsked) {
  RecordWriter record = WithInputs();
  for (const std::uint64_t call : {1u, 3u, 1u}) {
    record.Add(SY_OP_ENTER, 0, call).Add(SY_OP_LEAVE);
  }
  EXPECT_EQ(Averaged(record, {}).size(), 1u);
  const std::vector<KeyAverage> rows = Averaged(record, {.by_inputs = true});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].inputs, "[[2, 3], [3, 4]]");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[1].inputs, "[[]]");  // a list of tensors
}

// As PyTorch's do, where a function and the only one that it calls have one name.
TEST(KeyAverages, WhatIsAllThereIsInItsNamesakeCountsOnce) {
  RecordWriter record = WithInputs();
  record.At(10).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 3).Add(SY_ALLOCATE, 0, 500, 24);
  record.At(20).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  const std::vector<KeyAverage> rows = Averaged(record, {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 1);
  EXPECT_EQ(rows[0].nanoseconds, 11 * kMicrosecond);
  EXPECT_EQ(rows[0].own_nanoseconds, 11 * kMicrosecond);
  EXPECT_EQ(rows[0].bytes, 24);
  EXPECT_EQ(rows[0].own_bytes, 24);
}

TEST(KeyAverages, StepsAreOneRowAndMemoryOutsideIsAnother) {
  RecordWriter record = WithInputs();
  record.Entry(SY_NAME, 1, "ProfilerStep#3").Entry(SY_NAME, 2, "ProfilerStep#4");
  for (const std::uint32_t step : {1u, 2u}) {
    record.Add(SY_RANGE_ENTER, step).Add(SY_ALLOCATE, 0, 500 * step, 8).Add(SY_RANGE_LEAVE, step);
  }
  record.Add(SY_FREE, 0, 500);
  const std::vector<KeyAverage> rows = Averaged(record, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "ProfilerStep*");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].bytes, 2 * 8);
  EXPECT_EQ(rows[1].name, "[memory]");
  EXPECT_EQ(rows[1].own_bytes, -8);
}

TEST(KeyAverages, WorkIsOfTheInnermostCallsThatHaveIt) {
  RecordWriter record = WithInputs();
  record.Add(SY_OP_ENTER, 0, 2).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  const std::vector<KeyAverage> rows =
      Averaged(record, {}, [](const RecordedCall& call) -> std::optional<std::int64_t> {
        return call.text.starts_with("aten::linear") ? 50 : 48;
      });
  EXPECT_EQ(rows[0].flops, 50 - 48);
  EXPECT_EQ(rows[1].flops, 48);
}

TEST(KeyAverages, StacksOfNodesAreThoseOfWhatMadeThem) {
  RecordWriter record = WithInputs();
  record.Entry(SY_NAME, 1, "train.py(3): step").Entry(SY_NAME, 2, "net.py(9): forward");
  record.Entry(SY_NAME, 4, "MmBackward0");
  record.Add(SY_RANGE_ENTER, 1, 0, 0, 0, SY_FUNCTION_RANGE);
  record.Add(SY_RANGE_ENTER, 2, 0, 0, 0, SY_FUNCTION_RANGE);
  record.Add(SY_OP_ENTER, 0, 1, 7 + 1).Add(SY_OP_LEAVE);
  record.Add(SY_RANGE_LEAVE, 2, 0, 0, 0, SY_FUNCTION_RANGE);
  record.Add(SY_NODE_ENTER, 4, 7, 8, 1).Add(SY_NODE_LEAVE);
  const std::vector<KeyAverage> rows = Averaged(record, {.stack_depth = 5});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].stack, ElementsAre("net.py(9): forward", "train.py(3): step"));
  EXPECT_EQ(rows[1].stack, rows[0].stack);
  EXPECT_EQ(Averaged(record, {.functions = true}).size(), 4u);
}

TEST(KeyAverages, ModulesAreToldApart) {
  RecordWriter record = WithInputs();
  record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "head", "Linear");
  record.Add(SY_MODULE_ENTER, 0).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE);
  record.Add(SY_MODULE_ENTER, 1).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE).Add(SY_MODULE_LEAVE, 1);
  record.Add(SY_MODULE_LEAVE, 0).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE);
  const std::vector<KeyAverage> rows = Averaged(record, {.by_module = true});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].module, "Model");
  EXPECT_EQ(rows[1].module, "head");
  EXPECT_EQ(rows[2].module, "");
}

// Numbers of a record that was changed, which go around in a circle.
TEST(KeyAverages, AStackOfADamagedRecordEnds) {
  RecordWriter record = WithInputs();
  record.Add(SY_NODE_ENTER, 4, 7, 8, 1).Add(SY_OP_ENTER, 0, 1, 7 + 1);
  record.Add(SY_OP_LEAVE).Add(SY_NODE_LEAVE);
  EXPECT_EQ(Averaged(record, {.stack_depth = 5}).size(), 2u);
}

}  // namespace
}  // namespace steelyard
