// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::HasSubstr;

// A program whose one node has the argument "a", beside a tensor x, a number n and a flag b.
Export Calling(const std::string& argument) {
  Export e;
  e.Input("x", Meta({2, 8}));
  Export::Append(e.inputs, R"({"as_sym_int": {"as_name": "n"}})");
  Export::Append(e.input_specs, R"({"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}})");
  e.sym_int_values = "\"n\": " + Expr("s0", 5);
  e.RawNode("torch.ops.my.op.default", Arg("a", argument), TensorNamed("y"));
  e.Tensor("y", Meta({2})).Return("y");
  return e;
}

// The argument as the program's text has it.
std::string ArgumentText(const std::string& argument) {
  const std::string text = BodyOf(ReadExport(Calling(argument)));
  const std::string begin = "my::op(a=";
  const std::size_t at = text.find(begin) + begin.size();
  return text.substr(at, text.find(")\nreturn") - at);
}
std::string ArgumentRefusal(const std::string& argument) { return RefusalOf(Calling(argument)); }

TEST(Arguments, ReadsTensors) {
  EXPECT_EQ(ArgumentText(R"({"as_tensor": {"name": "x"}})"), "%x");
  EXPECT_EQ(ArgumentText(R"({"as_tensors": [{"name": "x"}, {"name": "x"}]})"), "[%x, %x]");
  EXPECT_EQ(ArgumentText(R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})"), "%x");
  EXPECT_EQ(ArgumentText(R"({"as_optional_tensor": {"as_none": true}})"), "None");
  EXPECT_EQ(
      ArgumentText(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})"),
      "[None, %x]");
  EXPECT_EQ(ArgumentText(R"({"as_nested_tensors": [[{"name": "x"}], []]})"), "[[%x], []]");
}

TEST(Arguments, ReadsNumbers) {
  EXPECT_EQ(ArgumentText(R"({"as_int": -7})"), "-7");
  EXPECT_EQ(ArgumentText(R"({"as_ints": [1, -1]})"), "[1, -1]");
  EXPECT_EQ(ArgumentText(R"({"as_ints": []})"), "[]");
  EXPECT_EQ(ArgumentText(R"({"as_int_lists": [[1], [2, 3]]})"), "[[1], [2, 3]]");
  EXPECT_EQ(ArgumentText(R"({"as_float": 0.5})"), "0.5");
  EXPECT_EQ(ArgumentText(R"({"as_floats": [0.5, 2]})"), "[0.5, 2.0]");
  EXPECT_EQ(ArgumentText(R"({"as_float_lists": [[0.5]]})"), "[[0.5]]");
  EXPECT_EQ(ArgumentText(R"({"as_bool": true})"), "True");
  EXPECT_EQ(ArgumentText(R"({"as_bools": [true, false]})"), "[True, False]");
  EXPECT_EQ(ArgumentText(R"({"as_complex": {"real": 1.5, "imag": -2.0}})"), "complex(1.5, -2.0)");
}

const Argument& OnlyArgument(const Program& program) {
  return program.args(program.main().nodes[0])[0];
}

TEST(Arguments, ReadsNumbersAtTheEdge) {
  // The end of a slice that goes to the end.
  const Program most = ReadExport(Calling(R"({"as_int": 9223372036854775807})"));
  EXPECT_EQ(OnlyArgument(most).dim, Dim(INT64_MAX));
  // What is no Dim is kept as a float: a mask's least value, Python's longer integers.
  for (const char* number : {"-9223372036854775808", "18446744073709551615"}) {
    const Program program = ReadExport(Calling(R"({"as_int": )" + std::string(number) + "}"));
    ASSERT_EQ(OnlyArgument(program).kind, ArgKind::kFloat);
    EXPECT_EQ(OnlyArgument(program).real, std::stod(number));
  }
  const Program infinite = ReadExport(Calling(R"({"as_float": "-Infinity"})"));
  EXPECT_EQ(OnlyArgument(infinite).real, -HUGE_VAL);
}

TEST(Arguments, PutsKnownScalarsInPlaceOfNames) {
  EXPECT_EQ(ArgumentText(R"({"as_sym_int": {"as_name": "n"}})"), "s0");
  EXPECT_EQ(ArgumentText(R"({"as_sym_int": {"as_int": 3}})"), "3");
  EXPECT_EQ(ArgumentText(R"({"as_sym_ints": [{"as_name": "n"}, {"as_int": 16}]})"), "[s0, 16]");
  EXPECT_EQ(ArgumentText(R"({"as_sym_float": {"as_float": 0.5}})"), "0.5");
  EXPECT_EQ(ArgumentText(R"({"as_sym_floats": [{"as_float": 0.5}]})"), "[0.5]");
  EXPECT_EQ(ArgumentText(R"({"as_sym_bool": {"as_bool": true}})"), "True");
  EXPECT_EQ(ArgumentText(R"({"as_sym_bools": [{"as_bool": false}]})"), "[False]");
}

TEST(Arguments, ReadsWords) {
  EXPECT_EQ(ArgumentText(R"({"as_string": "mean"})"), "\"mean\"");
  EXPECT_EQ(ArgumentText(R"({"as_strings": ["a", "b"]})"), "[\"a\", \"b\"]");
  EXPECT_EQ(ArgumentText(R"({"as_device": {"type": "cuda", "index": 1}})"), "\"cuda:1\"");
  EXPECT_EQ(ArgumentText(R"({"as_device": {"type": "cpu", "index": null}})"), "\"cpu\"");
  EXPECT_EQ(ArgumentText(R"({"as_device": {"type": "cpu"}})"), "\"cpu\"");
  EXPECT_EQ(ArgumentText(R"({"as_layout": 7})"), "\"strided\"");
  EXPECT_EQ(ArgumentText(R"({"as_memory_format": 2})"), "\"channels_last\"");
  EXPECT_EQ(ArgumentText(R"({"as_operator": "torch.ops.aten.add.Tensor"})"),
            "\"aten::add.Tensor\"");
  EXPECT_EQ(ArgumentText(R"({"as_custom_obj": {"name": "_obj_0", "class_fqn": "a.B"}})"),
            "\"_obj_0\"");
  EXPECT_EQ(ArgumentText(R"({"as_none": true})"), "None");
}

TEST(Arguments, ReadsDtypes) {
  const Program program = ReadExport(Calling(R"({"as_scalar_type": 13})"));
  ASSERT_EQ(OnlyArgument(program).kind, ArgKind::kDType);
  EXPECT_EQ(OnlyArgument(program).dtype, DType::kBFloat16);
  EXPECT_THAT(ArgumentRefusal(R"({"as_scalar_type": 99})"), HasSubstr("dtype code 99"));
}

TEST(Arguments, KeepsKeysOfDictionariesAsNames) {
  const Program program = ReadExport(
      Calling(R"({"as_string_to_argument": {"k": {"as_int": 1}, "v": {"as_ints": [2]}}})"));
  ASSERT_EQ(OnlyArgument(program).kind, ArgKind::kList);
  const auto elements = program.list(OnlyArgument(program).list);
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(program.text(elements[0].name), "k");
  EXPECT_EQ(elements[1].kind, ArgKind::kList);
}

TEST(Arguments, KeepsTheFilesNames) {
  const Program program = ReadExport(Linear());
  EXPECT_EQ(program.text(program.args(program.main().nodes[0])[1].name), "weight");
}

TEST(Arguments, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ArgumentRefusal(R"({"as_int": "x"})"),
              HasSubstr("node 0 (my::op): inputs[0].arg.as_int: expected an integer, found \"x\""));
  EXPECT_THAT(ArgumentRefusal(R"({"as_int": 1.5})"), HasSubstr("expected an integer"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_ints": [1, true]})"), HasSubstr("as_ints[1]"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_tensor": "x"})"), HasSubstr("expected an object"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_tensor": {}})"), HasSubstr("no name"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_tensor": {"name": ""}})"), HasSubstr("empty name"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_tensor": {"name": "n"}})"), HasSubstr("another kind"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_tensors": {}})"), HasSubstr("expected an array"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_sym_int": {"as_float": {}}})"),
              HasSubstr("expected a number"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_sym_int": {"as_what": 1}})"), HasSubstr("found \"as_what\""));
  EXPECT_THAT(ArgumentRefusal(R"({"as_optional_tensor": {"as_int": 1}})"), HasSubstr("as_none"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_surprise": 1})"), HasSubstr("\"as_surprise\" is not known"));
  EXPECT_THAT(ArgumentRefusal("{}"), HasSubstr("no alternative"));
  EXPECT_THAT(ArgumentRefusal("3"), HasSubstr("expected an object"));
  EXPECT_THAT(ArgumentRefusal(R"({"as_graph": {"name": "g"}})"), HasSubstr("no body"));
}

TEST(Arguments, BoundsNestingAndLength) {
  constexpr int kDepth = 100'000;
  std::string nested;
  for (int i = 0; i < kDepth; ++i) nested += R"({"as_string_to_argument": {"k": )";
  nested += "null";
  for (int i = 0; i < kDepth; ++i) nested += "}}";
  EXPECT_THAT(ArgumentRefusal(nested), HasSubstr("nested too deeply"));
  std::string many = "1";
  for (int i = 0; i < (1 << 20); ++i) many += ",1";
  EXPECT_THAT(ArgumentRefusal(R"({"as_ints": [)" + many + "]}"), HasSubstr("absurdly long"));
}

}  // namespace
}  // namespace steelyard::pt2
