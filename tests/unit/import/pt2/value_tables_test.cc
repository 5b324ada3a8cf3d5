// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// A program that returns its one input, which `meta` describes.
Export Described(const std::string& meta) { return Export().Input("x", meta).Return("x"); }
std::string TypeOf(const std::string& meta) {
  const std::string text = BodyOf(ReadExport(Described(meta)));
  return text.substr(0, text.find('\n'));
}
std::string ValueRefusal(const std::string& meta) { return RefusalOf(Described(meta)); }

TEST(TensorValues, ReadsSizesStridesAndDtypes) {
  EXPECT_EQ(TypeOf(Meta({2, 8})), "input %x: f32[2,8]");
  EXPECT_EQ(TypeOf(Meta({})), "input %x: f32[]");
  EXPECT_EQ(TypeOf(Meta({0, 8}, 5)), "input %x: i64[0,8]");
  EXPECT_EQ(TypeOf(MetaOf(Sizes({2, 8}), Sizes({1, 2}), 13)), "input %x: bf16[2,8]{1,2}");
  EXPECT_EQ(TypeOf(MetaOf(Sizes({2}), Sizes({1}), 7, "true")), "input %x: f32[2] requires_grad");
  EXPECT_EQ(TypeOf(Meta({2}, 29)), "input %x: f8e4m3[2]");
  EXPECT_EQ(TypeOf(Meta({2}, 10)), "input %x: c64[2]");
}

TEST(TensorValues, ReadsSymbolicSizes) {
  const std::string rows = Expr("Symbol('s0', positive=True, integer=True)", 3);
  EXPECT_EQ(TypeOf(MetaOf("[" + rows + R"(, {"as_int": 8}])", Sizes({8, 1}))),
            "input %x: f32[s0,8]");
  const Program program = ReadExport(Described(MetaOf("[" + Expr("2*s0", 6) + "]", Sizes({1}))));
  ASSERT_THAT(program.symbols, SizeIs(1));
  EXPECT_EQ(program.symbols[0].example, 3);
}

TEST(TensorValues, GivesEqualTensorsSizesOfTheirOwn) {
  Export e;
  e.Input("x", Meta({2, 8})).Input("y", Meta({2, 8})).Return("x");
  Program program = ReadExport(e);
  const Value& x = program.values[program.inputs[0]];
  const Value& y = program.values[program.inputs[1]];
  EXPECT_NE(x.dims, y.dims);
  EXPECT_NE(x.storage, y.storage);
  EXPECT_EQ(program.sizes(program.inputs[1])[1], 8);
}

TEST(TensorValues, TellsFloatsOfEightBitsApart) {
  const Program program = ReadExport(Described(Meta({2}, 31)));
  EXPECT_EQ(program.values[program.inputs[0]].dtype, DType::kFloat8E4M3FNUZ);
}

TEST(TensorValues, LeavesSparseTensorsWithoutLayout) {
  const Program program =
      ReadExport(Described(With(Meta({2, 8}), R"("layout": 7)", R"("layout": 1)")));
  EXPECT_FALSE(program.values[program.inputs[0]].has_layout);
  ASSERT_THAT(program.notes, SizeIs(1));
  EXPECT_THAT(std::string(program.text(program.notes[0])), HasSubstr("sparse_coo"));
}

TEST(TensorValues, NotesSizesThatAreNotUnderstood) {
  const Program fixed =
      ReadExport(Described(MetaOf("[" + Expr("OpaqueUnaryFn_sqrt(s0)", 4) + "]", Sizes({1}))));
  EXPECT_EQ(fixed.size(fixed.inputs[0], 0), Dim(4));
  ASSERT_THAT(fixed.notes, SizeIs(1));
  EXPECT_THAT(std::string(fixed.text(fixed.notes[0])), HasSubstr("stays what it was at export, 4"));
  const Program open =
      ReadExport(Described(MetaOf("[" + Expr("OpaqueUnaryFn_sqrt(s0)") + "]", Sizes({1}))));
  EXPECT_FALSE(open.values[open.inputs[0]].has_layout);
  EXPECT_THAT(open.notes, SizeIs(1));
}

TEST(TensorValues, RefusesImpossibleTensors) {
  EXPECT_THAT(ValueRefusal(MetaOf(Sizes({-2}), Sizes({1}))),
              HasSubstr("tensor_values.x.sizes[0].as_int: a size or stride is negative"));
  EXPECT_THAT(ValueRefusal(MetaOf(Sizes({INT64_MIN}), Sizes({1}))), HasSubstr("negative"));
  EXPECT_THAT(ValueRefusal(MetaOf(Sizes({2}), Sizes({-1}))), HasSubstr("negative"));
  EXPECT_THAT(ValueRefusal(MetaOf(R"([{"as_int": 9223372036854775808}])", Sizes({1}))),
              HasSubstr("64 bits"));
  EXPECT_THAT(ValueRefusal(MetaOf(Sizes({INT64_MAX, INT64_MAX}), Sizes({1, 1}))),
              HasSubstr("2^63"));
  EXPECT_THAT(ValueRefusal(MetaOf(Sizes({2}), Sizes({INT64_MAX}))), HasSubstr("2^63"));
  EXPECT_THAT(ValueRefusal(MetaOf(Sizes({2, 8}), Sizes({1}))), HasSubstr("2 sizes but 1 strides"));
  std::string many = R"({"as_int": 1})";
  for (int i = 0; i < Dims::kMaxRank; ++i) many += R"(, {"as_int": 1})";
  EXPECT_THAT(ValueRefusal(MetaOf("[" + many + "]", "[" + many + "]")), HasSubstr("64 dimensions"));
}

TEST(TensorValues, RefusesMalformedDescriptions) {
  EXPECT_THAT(ValueRefusal("[]"), HasSubstr("tensor_values.x: expected an object"));
  EXPECT_THAT(ValueRefusal(R"({"dtype": 7})"), HasSubstr("sizes are missing"));
  EXPECT_THAT(ValueRefusal(Meta({2}, 99)), HasSubstr("dtype code 99"));
  EXPECT_THAT(ValueRefusal(MetaOf(R"([{"as_what": 1}])", Sizes({1}))),
              HasSubstr("expected a size"));
  EXPECT_THAT(ValueRefusal(MetaOf("[7]", Sizes({1}))), HasSubstr("expected an object"));
  EXPECT_THAT(ValueRefusal(MetaOf("[" + Expr("2*(") + "]", Sizes({1}))),
              HasSubstr("not understood"));
  EXPECT_THAT(ValueRefusal(MetaOf("[" + Expr("-3", 3) + "]", Sizes({1}))), HasSubstr("negative"));
}

TEST(TensorValues, NeedsEachTensorOnce) {
  Export e = Linear();
  e.Tensor("y", Meta({2, 4}));
  EXPECT_THAT(RefusalOf(e), HasSubstr("tensor_values.y: it is described twice"));
  e = Linear();
  e.tensor_values = With(e.tensor_values, "\"y\"", "\"z\"");
  EXPECT_THAT(RefusalOf(e), HasSubstr("tensor_values does not describe \"y\""));
}

TEST(ScalarValues, ReadsEachKind) {
  Export e = Linear();
  const auto sym = [&](std::string_view kind, std::string_view name) {
    Export::Append(e.inputs, R"({"as_sym_)" + std::string(kind) + R"(": {"as_name": ")" +
                                 std::string(name) + "\"}}");
    Export::Append(e.input_specs, R"({"user_input": {"arg": {"as_sym_)" + std::string(kind) +
                                      R"(": {"as_name": ")" + std::string(name) + "\"}}}}");
  };
  sym("int", "n");
  sym("int", "five");
  sym("bool", "b");
  sym("bool", "yes");
  sym("float", "f");
  e.sym_int_values = "\"n\": " + Expr("16*s0", 32) + R"(, "five": {"as_int": 5})";
  e.sym_bool_values = "\"b\": " + Expr("Eq(Mod(s0, 2), 0)") + R"(, "yes": {"as_bool": true})";
  e.sym_float_values = R"("f": {"as_float": 0.5})";
  EXPECT_THAT(BodyOf(ReadExport(e)), HasSubstr("input %n: int(16*s0)\n"
                                               "input %five: int(5)\n"
                                               "input %b: bool(s0%2 == 0)\n"
                                               "input %yes: bool(1)\n"
                                               "input %f: float\n"));
}

}  // namespace
}  // namespace steelyard::pt2
