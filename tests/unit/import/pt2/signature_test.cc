// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/signature.h"

#include <gmock/gmock.h>

#include <string>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Signature, GivesInputsTheirRoles) {
  Export e = Linear();
  e.Input("buffer", "b_mean", "bn.mean", Meta({4}));
  e.input_specs = With(e.input_specs, R"("buffer_name": "bn.mean")",
                       R"("buffer_name": "bn.mean", "persistent": false)");
  e.Input("tensor_constant", "c_lifted", "lifted.0", Meta({}));
  const Program program = ReadExport(e);
  ASSERT_THAT(program.parameters, SizeIs(1));
  EXPECT_EQ(program.text(program.parameters[0].name), "layer.w");
  EXPECT_EQ(program.values[program.parameters[0].value].role, Role::kParameter);
  ASSERT_THAT(program.buffers, SizeIs(2));
  EXPECT_EQ(program.text(program.buffers[0].name), "bn.mean");
  EXPECT_FALSE(program.buffers[0].persistent);
  EXPECT_TRUE(program.buffers[1].persistent);
  EXPECT_EQ(program.values[program.buffers[1].value].role, Role::kBuffer);
  ASSERT_THAT(program.inputs, SizeIs(1));
  EXPECT_EQ(program.text(program.values[program.inputs[0]].name), "x");
  EXPECT_EQ(program.values[program.inputs[0]].role, Role::kInput);
  EXPECT_EQ(program.values[program.main().outputs[0].value].role, Role::kOutput);
}

TEST(Signature, KeepsConstantsOutOfWhatCanBePassed) {
  Export e = Linear();
  for (const char* constant :
       {R"({"as_none": true})", R"({"as_int": 3})", R"({"as_bool": true})"}) {
    Export::Append(e.inputs, constant);
    Export::Append(e.input_specs, R"({"user_input": {"arg": )" + std::string(constant) + "}}");
  }
  Export::Append(e.inputs, R"({"as_string": "mean"})");
  Export::Append(e.input_specs,
                 R"({"constant_input": {"name": "mode", "value": {"as_string": "mean"}}})");
  Export::Append(e.inputs, R"({"as_custom_obj": {"name": "o", "class_fqn": "a.B"}})");
  Export::Append(e.input_specs,
                 R"({"custom_obj": {"arg": {"name": "o"}, "custom_obj_name": "obj"}})");
  const Program program = ReadExport(e);
  EXPECT_THAT(program.inputs, SizeIs(1));
  ASSERT_THAT(program.main().inputs, SizeIs(7));
  const Value& three = program.values[program.main().inputs[3]];
  EXPECT_EQ(three.kind, ValueKind::kInt);
  EXPECT_EQ(three.scalar, Dim(3));
  EXPECT_EQ(program.text(program.values[program.main().inputs[5]].name), "mode");
}

// A batch norm's running mean as functional graphs have it: returned to be written back.
Export Functional(const std::string& spec) {
  Export e;
  e.Input("buffer", "b_mean", "bn.mean", Meta({4})).Input("x", Meta({4}));
  e.Node("torch.ops.aten.add.Tensor",
         Arg("self", TensorNamed("b_mean")) + ", " + Arg("other", TensorNamed("x")), "mean",
         Meta({4}));
  Export::Append(e.outputs, TensorNamed("mean"));
  Export::Append(e.output_specs, spec);
  e.Node("torch.ops.aten.relu.default", Arg("self", TensorNamed("mean")), "y", Meta({4}));
  return e.Return("y");
}

TEST(Signature, WritesBackWhatFunctionalGraphsReturn) {
  const Program program = ReadExport(
      Functional(R"({"buffer_mutation": {"arg": {"name": "mean"}, "buffer_name": "bn.mean"}})"));
  EXPECT_EQ(BodyOf(program),
            "buffer %b_mean: f32[4] \"bn.mean\"\n"
            "\n"
            "input %x: f32[4]\n"
            "mutates %b_mean\n"
            "\n"
            "%mean: f32[4] = aten::add.Tensor(self=%b_mean, other=%x)\n"
            "%y: f32[4] = aten::relu(self=%mean)\n"
            "%copy__b_mean: f32[4] = aten::copy_(self=%b_mean, src=%mean)\n"
            "return %y\n");
  EXPECT_THAT(program.mutated, ElementsAre(program.buffers[0].value));
  EXPECT_EQ(program.values[program.results(program.main().nodes[0])[0]].role, Role::kActivation);
}

TEST(Signature, ReturnsWhatWasWrittenBack) {
  Export e =
      Functional(R"({"user_input_mutation": {"arg": {"name": "mean"}, "user_input_name": "x"}})");
  e.Return("mean");
  const Program program = ReadExport(e);
  EXPECT_THAT(program.mutated, ElementsAre(program.inputs[0]));
  ASSERT_THAT(program.main().outputs, SizeIs(2));
  EXPECT_EQ(program.main().outputs[1].value, program.results(program.main().nodes.back())[0]);
}

TEST(Signature, KnowsLossesAndGradients) {
  Export e = Linear();
  Export::Append(e.outputs, TensorNamed("y"));
  Export::Append(e.output_specs, R"({"loss_output": {"arg": {"name": "y"}}})");
  e.Node("torch.ops.aten.relu.default", Arg("self", TensorNamed("y")), "g", Meta({4, 8}));
  Export::Append(e.outputs, TensorNamed("g"));
  Export::Append(e.output_specs, R"({"gradient_to_parameter": {"arg": {"name": "g"}, )"
                                 R"("parameter_name": "layer.w"}})");
  const Program program = ReadExport(e);
  ASSERT_THAT(program.main().outputs, SizeIs(3));
  EXPECT_EQ(program.values[program.main().outputs[1].value].role, Role::kOutput);
  EXPECT_EQ(program.values[program.main().outputs[2].value].role, Role::kGradient);
}

TEST(Signature, ReturnsParametersAsWhatTheyAre) {
  const Program program = ReadExport(Linear().Return("p_w"));
  EXPECT_EQ(program.values[program.main().outputs[1].value].role, Role::kParameter);
}

TEST(Signature, RefusesWhatDoesNotMatchTheGraph) {
  Export e = Linear();
  e.input_specs.clear();
  EXPECT_THAT(RefusalOf(e),
              HasSubstr("signature: input_specs do not have the graph's input \"p_w\""));
  e = Linear();
  e.output_specs.clear();
  EXPECT_THAT(RefusalOf(e), HasSubstr("0 output_specs for 1 outputs"));
  e = Linear();
  e.output_specs += ", " + e.output_specs;
  EXPECT_THAT(RefusalOf(e), HasSubstr("more specifications than outputs"));
  e = Linear();
  e.input_specs += ", " + e.input_specs;
  EXPECT_THAT(RefusalOf(e), HasSubstr("specified twice"));
  e = Linear();
  e.input_specs = With(e.input_specs, R"("arg": {"name": "p_w"})", R"("arg": {"name": "y"})");
  EXPECT_THAT(RefusalOf(e), HasSubstr("\"y\" is no input of the graph"));
  e.input_specs = With(e.input_specs, R"("arg": {"name": "y"})", R"("arg": {"name": "q"})");
  EXPECT_THAT(RefusalOf(e), HasSubstr("\"q\" is no value of the graph"));
  e.input_specs = With(e.input_specs, R"("arg": {"name": "q"})", R"("arg": {})");
  EXPECT_THAT(RefusalOf(e), HasSubstr("names no value"));
}

TEST(Signature, RefusesWeightsWithoutSizes) {
  Export e = Linear();
  e.tensor_values = With(e.tensor_values, R"("layout": 7)", R"("layout": 1)");
  EXPECT_THAT(RefusalOf(e), HasSubstr("\"layer.w\" has no known sizes"));
  // A number that is called a parameter.
  e = Linear();
  Export::Append(e.inputs, R"({"as_sym_int": {"as_name": "n"}})");
  Export::Append(e.input_specs, R"({"parameter": {"arg": {"name": "n"}, "parameter_name": "n"}})");
  EXPECT_THAT(RefusalOf(e), HasSubstr("\"n\" has no known sizes"));
}

TEST(Signature, RefusesKindsThatItDoesNotKnow) {
  Export e = Linear();
  e.input_specs = With(e.input_specs, "\"parameter\"", "\"oracle\"");
  EXPECT_THAT(RefusalOf(e), HasSubstr("input_specs[0].oracle: the kind of input \"oracle\""));
  e = Linear();
  e.output_specs = With(e.output_specs, "\"user_output\"", "\"oracle\"");
  EXPECT_THAT(RefusalOf(e), HasSubstr("the kind of output \"oracle\""));
}

TEST(Signature, RefusesToWriteWhatIsNoInput) {
  EXPECT_THAT(RefusalOf(Functional(
                  R"({"buffer_mutation": {"arg": {"name": "mean"}, "buffer_name": "bn.var"}})")),
              HasSubstr("\"bn.var\" is written but is no input"));
  EXPECT_THAT(RefusalOf(Functional(
                  R"({"user_input_mutation": {"arg": {"name": "mean"}, "user_input_name": "y"}})")),
              HasSubstr("\"y\" is written but is no input"));
  EXPECT_THAT(RefusalOf(Functional(R"({"buffer_mutation": {}})")), HasSubstr("is no input"));
}

TEST(Signature, AcceptsProgramsWithoutInputs) {
  Export e;
  e.Node("torch.ops.aten.ones.default", Arg("size", R"({"as_ints": [2]})"), "y", Meta({2}));
  EXPECT_THAT(ReadExport(e.Return("y")).inputs, IsEmpty());
}

}  // namespace
}  // namespace steelyard::pt2
