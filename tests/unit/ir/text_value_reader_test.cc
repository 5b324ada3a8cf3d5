// SPDX-License-Identifier: Apache-2.0
#include "ir/text_value_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace steelyard {
namespace {

using ::testing::ElementsAre;

struct ValueProgram {
  Program program;

  // The value that `text` defines, or the error.
  Result<ValueId> Define(std::string_view text) {
    TextScanner scan(text, "");
    TextValueReader reader(scan, program);
    ValueText value;
    ValueId id = kNoId;
    const bool ok = reader.Name(value.name) && reader.Type(value) && reader.Flags(value) &&
                    reader.Define(value, id);
    if (!ok) return Unexpected(scan.error());
    return id;
  }
  Result<std::vector<Argument>> Read(std::string_view text) {
    TextScanner scan(text, "");
    TextValueReader reader(scan, program);
    std::vector<Argument> out;
    if (!reader.Arguments(TextValueReader::kLineEnd, out)) return Unexpected(scan.error());
    return out;
  }
  std::string Mistake(std::string_view text) {
    const Result<ValueId> id = Define(text);
    return id ? "none" : id.error().message;
  }
};

TEST(TextValue, TensorIsContiguousUnlessItSaysSo) {
  ValueProgram f;
  const ValueId x = *f.Define("%x: bf16[2,3]");
  EXPECT_EQ(f.program.text(f.program.values[x].name), "x");
  EXPECT_EQ(f.program.values[x].dtype, DType::kBFloat16);
  EXPECT_THAT(f.program.sizes(x), ElementsAre(2, 3));
  EXPECT_THAT(f.program.strides(x), ElementsAre(3, 1));
  const ValueId y = *f.Define("%y: i64[2,3]{1,2}");
  EXPECT_THAT(f.program.strides(y), ElementsAre(1, 2));
}

TEST(TextValue, BoolIsATensorWithBracketsAndAScalarWithout) {
  ValueProgram f;
  EXPECT_EQ(f.program.values[*f.Define("%m: bool[]")].kind, ValueKind::kTensor);
  const Value& scalar = f.program.values[*f.Define("%c: bool(True)")];
  EXPECT_EQ(scalar.kind, ValueKind::kBool);
  EXPECT_EQ(scalar.scalar, Dim(1));
}

TEST(TextValue, WordsSetWhatIsNotUsual) {
  ValueProgram f;
  const Value& value =
      f.program.values[*f.Define("%x: f32[] requires_grad wrapped gradient no_storage")];
  EXPECT_TRUE(value.requires_grad);
  EXPECT_TRUE(value.wrapped_number);
  EXPECT_EQ(value.role, Role::kGradient);
  EXPECT_EQ(value.storage, kNoId);
}

TEST(TextValue, AComplexNumberHasTwoParts) {
  ValueProgram f;
  const Argument number = f.Read("complex(0.5, -1.0)")->at(0);
  ASSERT_EQ(number.kind, ArgKind::kComplex);
  EXPECT_EQ(f.program.list(number.list)[1].real, -1.0);
  EXPECT_EQ(f.Read("complex(0.5)").error().message,
            "expected ',' after the real part, found \")\"");
}

TEST(TextValue, MistakesAreNamed) {
  ValueProgram f;
  EXPECT_EQ(f.Mistake("x"), "expected a value, found \"x\"");
  EXPECT_EQ(f.Mistake("%x: f31[2]"), "there is no type \"f31\"");
  EXPECT_EQ(f.Mistake("%x: f32"), "expected '[' after a dtype, found the end of the file");
  EXPECT_EQ(f.Mistake("%x: f32[-1]"), "a size or stride is negative");
  EXPECT_EQ(f.Mistake("%x: f32[2,3]{1}"), "2 sizes but 1 strides");
  EXPECT_EQ(f.Mistake("%x: f32[2] odd"), "unknown word \"odd\" after a type");
  std::string deep = "%x: f32[1";
  for (int i = 0; i < Dims::kMaxRank; ++i) deep += ",1";
  EXPECT_EQ(f.Mistake(deep + "]"), "the tensor has too many dimensions");
}

TEST(TextArguments, KnowTheirKinds) {
  ValueProgram f;
  const auto args = f.Read("None, 3, -2, 0.5, True, \"a\", f16, [1, [2]], @g, dim=7");
  ASSERT_TRUE(args) << Describe(args.error());
  const std::vector<ArgKind> expected = {
      ArgKind::kNone,   ArgKind::kInt,   ArgKind::kInt,  ArgKind::kFloat, ArgKind::kBool,
      ArgKind::kString, ArgKind::kDType, ArgKind::kList, ArgKind::kGraph, ArgKind::kInt};
  ASSERT_EQ(args->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ((*args)[i].kind, expected[i]) << i;
  EXPECT_EQ((*args)[2].dim, Dim(-2));
  EXPECT_EQ(f.program.list((*args)[7].list).size(), 2u);
  EXPECT_EQ(f.program.text((*args)[9].name), "dim");
}

TEST(TextArguments, DepthIsLimited) {
  ValueProgram f;
  const auto args = f.Read(std::string(100000, '['));
  ASSERT_FALSE(args);
  EXPECT_EQ(args.error().message, "lists are nested too deeply");
}

}  // namespace
}  // namespace steelyard
