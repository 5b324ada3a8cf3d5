// SPDX-License-Identifier: Apache-2.0
#include "steelyard/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(Program, BeginsWithARootOfEachKind) {
  Program program;
  EXPECT_EQ(program.graphs.size(), 1u);
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(program.modules[0].parent, kNoId);
  EXPECT_EQ(program.text(program.modules[0].path), "");
  ASSERT_EQ(program.frames.size(), 1u);
  EXPECT_EQ(program.frames[0].op, kNoId);
  EXPECT_TRUE(program.is_concrete());
}

TEST(Program, OperatorsAreNamedOnce) {
  Program program;
  program.strings.Intern("between");
  const OpId relu = program.AddOpName("aten::relu");
  const OpId add = program.AddOpName("aten::add.Tensor");
  EXPECT_NE(relu, add);
  EXPECT_EQ(program.AddOpName("aten::relu"), relu);
  EXPECT_EQ(program.op_name(add), "aten::add.Tensor");
  EXPECT_EQ(program.op_names.size(), 2u);
}

TEST(Program, TensorHasItsSizesAndAStorageOfItsOwn) {
  Program program;
  const std::array<std::int64_t, 2> sizes = {2, 8};
  const std::array<std::int64_t, 2> strides = {1, 2};
  const ValueId a = program.AddTensor(program.strings.Intern("a"), DType::kInt64, sizes, strides);
  const ValueId b = program.AddTensor(kNoString, DType::kFloat32, {}, {}, Role::kInput);
  EXPECT_THAT(program.sizes(a), ElementsAre(2, 8));
  EXPECT_THAT(program.strides(a), ElementsAre(1, 2));
  EXPECT_EQ(program.size(a, 1), Dim(8));
  EXPECT_TRUE(program.sizes(b).empty());
  EXPECT_EQ(program.values[b].role, Role::kInput);
  EXPECT_NE(program.values[a].storage, program.values[b].storage);
  EXPECT_EQ(program.storage_count, 2u);
}

TEST(Program, ScalarHasAValueAndNoLayout) {
  Program program;
  const ValueId n = program.AddScalar(kNoString, ValueKind::kInt, Dim(7));
  EXPECT_EQ(program.values[n].scalar, Dim(7));
  EXPECT_FALSE(program.values[n].has_layout);
  EXPECT_EQ(program.values[n].storage, kNoId);
}

TEST(Program, RunsOfThePoolsCanBeCopiedWithinThem) {
  Program program;
  const std::array args = {Argument::OfInt(1), Argument::OfFloat(0.5)};
  const Argument::Run first = program.AddArguments(args);
  // Many growths while the source is in the pool itself.
  for (int i = 0; i < 100; ++i) {
    const Argument::Run copy = program.AddArguments(program.list(first));
    ASSERT_EQ(copy.count, 2u);
    EXPECT_EQ(program.list(copy)[0].dim, Dim(1));
    EXPECT_EQ(program.list(copy)[1].real, 0.5);
  }
}

TEST(Program, CopyIsIndependent) {
  Program program;
  const std::array<std::int64_t, 1> size = {3};
  const std::array<std::int64_t, 1> stride = {1};
  const ValueId id = program.AddTensor(kNoString, DType::kFloat32, size, stride);
  Program copy = program;
  copy.dims.span(copy.values[id].dims, 1)[0] = 4;
  EXPECT_THAT(program.sizes(id), ElementsAre(3));
}

TEST(Program, KnowsWhatIsStoredOfATensor) {
  Program program;
  const ValueId w = program.AddTensor(kNoString, DType::kFloat32, std::array<std::int64_t, 1>{256},
                                      std::array<std::int64_t, 1>{1}, Role::kParameter);
  NamedTensor tensor{.value = w};
  EXPECT_EQ(program.stored_bytes(tensor), 256 * 4);
  EXPECT_EQ(program.stored_as(tensor), "float32");
  program.packings.push_back({.name = program.strings.Intern("q4_k"), .bytes = 144});
  tensor.packing = 0;
  EXPECT_EQ(program.stored_bytes(tensor), 144);
  EXPECT_EQ(program.stored_as(tensor), "q4_k");
}

}  // namespace
}  // namespace steelyard
