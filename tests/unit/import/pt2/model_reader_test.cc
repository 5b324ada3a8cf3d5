// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/model_reader.h"

#include <gmock/gmock.h>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ModelReader, ReadsAProgram) {
  const Program program = ReadExport(Linear());
  EXPECT_EQ(BodyOf(program),
            "parameter %p_w: f32[4,8] frozen \"layer.w\"\n"
            "\n"
            "input %x: f32[2,8]\n"
            "\n"
            "%y: f32[2,4] = aten::linear(input=%x, weight=%p_w)\n"
            "return %y\n");
  EXPECT_EQ(program.text(program.producer), "torch 2.15.0 (schema 8.20)");
  EXPECT_EQ(program.name, kNoString);  // no node says what the model's class is
}

TEST(ModelReader, TakesKeysInAnyOrder) {
  const Export e = Linear();
  const std::string text = R"({"torch_version": "2.15.0", "schema_version": )" + e.schema_version +
                           R"(, "graph_module": {"signature": {"output_specs": [)" +
                           e.output_specs + R"(], "input_specs": [)" + e.input_specs +
                           R"(]}, "graph": {"tensor_values": {)" + e.tensor_values +
                           R"(}, "outputs": [)" + e.outputs + R"(], "nodes": [)" + e.nodes +
                           R"(], "inputs": [)" + e.inputs + "]}}}";
  EXPECT_EQ(BodyOf(ReadJson(text)), BodyOf(ReadExport(e)));
}

TEST(ModelReader, ReadsInWhichOrderResultsAreReleased) {
  const Export e = Linear();
  const std::string leaf = R"({\"type\": null, \"context\": null, \"children_spec\": []})";
  const auto released = [&](const std::string& type, const std::string& children) {
    const std::string spec = R"([1, {\"type\": \")" + type +
                             R"(\", \"context\": null, \"children_spec\": [)" + children + "]}]";
    const std::string text =
        R"({"schema_version": )" + e.schema_version +
        R"(, "graph_module": {"module_call_graph": [{"fqn": "", "signature": {"out_spec": ")" +
        spec + R"("}}, {"fqn": "layer", "signature": null}], "signature": {"input_specs": [)" +
        e.input_specs + R"(], "output_specs": [)" + e.output_specs + ", " + e.output_specs +
        R"(]}, "graph": {"tensor_values": {)" + e.tensor_values + R"(}, "outputs": [)" + e.outputs +
        ", " + e.outputs + R"(], "nodes": [)" + e.nodes + R"(], "inputs": [)" + e.inputs + "]}}}";
    return ReadJson(text).released;
  };
  EXPECT_THAT(released("builtins.dict", leaf + ", " + leaf), testing::ElementsAre(0, 1));
  EXPECT_THAT(released("builtins.tuple", leaf + ", " + leaf), IsEmpty()) << "the usual order";
  EXPECT_THAT(released("builtins.dict", leaf), IsEmpty()) << "of another graph";
}

TEST(ModelReader, ReadsRangesOfSymbols) {
  Export e = Linear();
  const std::string s0 = Expr("Symbol('s0', positive=True, integer=True)");
  const std::string s1 = Expr("s1", 7);
  e.Input("z", MetaOf("[" + s0 + ", " + s1 + "]", "[" + s1 + R"(, {"as_int": 1}])"));
  e.range_constraints = R"("s0": {"min_val": 2, "max_val": 64}, "s1": {"min_val": null, )"
                        R"("max_val": Infinity}, "s9": {"min_val": 1, "max_val": 2})";
  const Program program = ReadExport(e);
  ASSERT_EQ(program.symbols.size(), 2u);
  EXPECT_EQ(program.symbols[0].min, 2);
  EXPECT_EQ(program.symbols[0].max, 64);
  EXPECT_EQ(program.symbols[0].example, -1);
  EXPECT_EQ(program.symbols[1].max, Symbol().max);
  EXPECT_EQ(program.symbols[1].example, 7);
}

TEST(ModelReader, NamesTheModelByItsClass) {
  Export e = Linear();
  e.nodes.clear();
  e.RawNode("torch.ops.aten.linear.default",
            Arg("input", TensorNamed("x")) + ", " + Arg("weight", TensorNamed("p_w")),
            TensorNamed("y"), R"("nn_module_stack": "L__self__,,my.models.Net")");
  const Program program = ReadExport(e);
  EXPECT_EQ(program.text(program.name), "Net");
  EXPECT_EQ(program.text(program.modules[0].class_name), "my.models.Net");
}

TEST(ModelReader, RefusesUnknownVersionsAsSuch) {
  Export e = Linear();
  e.schema_version = R"({"major": 9, "minor": 1})";
  EXPECT_THAT(RefusalOf(e), AllOf(HasSubstr("version 9.1"), HasSubstr("5 to 8")));
  // Whatever else does not fit: the version explains it.
  e.inputs = R"({"as_something_new": 1})";
  EXPECT_THAT(RefusalOf(e), HasSubstr("version 9.1"));
  e = Linear();
  e.schema_version = R"({"major": 4, "minor": 0})";
  EXPECT_THAT(RefusalOf(e), HasSubstr("version 4.0"));
  e.schema_version = "1";
  EXPECT_THAT(RefusalOf(e), HasSubstr("version 1.0"));
  for (const char* major : {"5", "6", "7", "8"}) {
    e.schema_version = std::string(R"({"major": )") + major + R"(, "minor": 99})";
    EXPECT_THAT(RefusalOf(e), IsEmpty());
  }
}

TEST(ModelReader, RefusesWhatIsNoExport) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("malformed"));
  EXPECT_THAT(RefusalOf("[]"), HasSubstr("expected an object, found an array"));
  EXPECT_THAT(RefusalOf("17"), HasSubstr("malformed"));
  EXPECT_THAT(RefusalOf("{}"), HasSubstr("no graph_module"));
  EXPECT_THAT(RefusalOf(R"({"graph_module": 3})"), HasSubstr("graph_module: expected an object"));
  EXPECT_THAT(RefusalOf(R"({"graph_module": {}})"), HasSubstr("there is no graph"));
  EXPECT_THAT(RefusalOf(R"({"graph_module": {"graph": {}}})"), HasSubstr("no signature"));
  EXPECT_THAT(RefusalOf(With(Linear().Text(), R"("schema_version")", R"("other")")),
              HasSubstr("schema_version is missing"));
  EXPECT_THAT(RefusalOf(Linear().Text() + " {}"), HasSubstr("follows the end"));
  EXPECT_THAT(RefusalOf("{\"\xff\": 1}"), HasSubstr("UTF-8"));
}

TEST(ModelReader, SaysWhatWouldHelp) {
  EXPECT_THAT(RefusalOf("{}"), HasSubstr("export the model again"));
}

TEST(ModelReader, RefusesATextThatIsCutAnywhere) {
  const std::string text = Linear().Text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(RefusalOf(std::string_view(text).substr(0, size)), "") << size;
  }
}

TEST(ModelReader, SurvivesDeepNesting) {
  constexpr std::size_t kDepth = 1'000'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  // Where nothing is expected it is skipped, elsewhere it is of the wrong type.
  EXPECT_EQ(RefusalOf(With(Linear().Text(), R"({"aten": 10})", deep)), "");
  EXPECT_THAT(
      RefusalOf(With(Linear().Text(), R"("target": ")", R"("inputs": )" + deep + R"(, "x": ")")),
      HasSubstr("node 0"));
}

}  // namespace
}  // namespace steelyard::pt2
