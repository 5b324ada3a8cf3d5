// SPDX-License-Identifier: Apache-2.0
#include "import/with_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "steelyard/builder.h"

namespace steelyard {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kConfig =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 8, "
    "\"hidden_size\": 4, \"intermediate_size\": 6, \"num_hidden_layers\": 0, "
    "\"num_attention_heads\": 2, \"tie_word_embeddings\": true}";

// A table of 8 tokens and a norm, 36 numbers; the table packed.
Program Weights(std::int64_t tokens) {
  Builder b("Weights");
  b.Parameter("token_embd.weight", DType::kFloat32, {tokens, 4});
  b.Parameter("output_norm.weight", DType::kFloat32, {4});
  Program program = *std::move(b).Build();
  program.has_graph = false;
  program.packings.push_back({.name = program.strings.Intern("q8_0"), .bytes = 40});
  program.parameters[0].packing = 0;
  return program;
}

// As a file of halves is: its table in bfloat16, its norm in float32.
Program Halves() {
  Builder b("Weights");
  b.Parameter("token_embd.weight", DType::kBFloat16, {8, 4});
  b.Parameter("output_norm.weight", DType::kFloat32, {4});
  Program program = *std::move(b).Build();
  program.has_graph = false;
  return program;
}

Result<Program> ReadHalves(const std::string&, const ImportOptions&) { return Halves(); }
Result<Program> ReadEight(const std::string&, const ImportOptions&) { return Weights(8); }
Result<Program> ReadNine(const std::string&, const ImportOptions&) { return Weights(9); }
Result<std::string> Config(const std::string&, const Program&) { return std::string(kConfig); }

Importer Reading(Result<Program> (*read)(const std::string&, const ImportOptions&)) {
  Importer importer{};
  importer.name = "weights";
  importer.read = read;
  importer.config = Config;
  return importer;
}

TEST(DescribedByWeights, IsTheModelWithItsWeightsAsTheyAreStored) {
  const Result<Program> program = DescribedByWeights(Reading(ReadEight), "file", {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(program->has_graph);
  EXPECT_EQ(program->text(program->parameters[0].name), "model.embed_tokens.weight");
  EXPECT_EQ(program->stored_as(program->parameters[0]), "q8_0");
  EXPECT_EQ(program->stored_bytes(program->parameters[0]), 40);
}

TEST(DescribedByWeights, KeepsHalvesBesideFloats) {
  const Result<Program> program = DescribedByWeights(Reading(ReadHalves), "file", {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->stored_as(program->parameters[0]), "bfloat16");
  EXPECT_EQ(program->stored_bytes(program->parameters[0]), 8 * 4 * 2);
  EXPECT_EQ(program->stored_bytes(program->parameters[1]), 4 * 4);
  ASSERT_FALSE(program->notes.empty());
  EXPECT_THAT(std::string(program->text(program->notes.back())),
              HasSubstr("what is computed is float32"));
}

TEST(DescribedByWeights, IsOfOneDTypeWhereThatIsAskedFor) {
  const Result<Program> program =
      DescribedByWeights(Reading(ReadHalves), "file", {.dtype = DType::kBFloat16});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(program->packings.empty());
  EXPECT_THAT(std::string(program->text(program->notes.back())),
              HasSubstr("and all of it is bfloat16"));
}

TEST(DescribedByWeights, IsTrainedAsIfItWereNotQuantised) {
  const Result<Program> program =
      DescribedByWeights(Reading(ReadEight), "file", {.labelled = true, .training = true});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(program->packings.empty());
  ASSERT_FALSE(program->notes.empty());
  EXPECT_THAT(std::string(program->text(program->notes.back())),
              HasSubstr("as if it were not quantised"));
}

TEST(DescribedByWeights, IsTheWeightsWhereTheyAreOfAnotherModel) {
  Result<Program> program = DescribedByWeights(Reading(ReadNine), "file", {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_FALSE(program->has_graph);
  ASSERT_FALSE(program->notes.empty());
  EXPECT_THAT(std::string(program->text(program->notes.back())),
              HasSubstr("a model of 36 parameters, and the file has 40"));  // 9 * 4 + 4
  program = DescribedByWeights(Reading(ReadNine), "file", {.runs = true});
  ASSERT_FALSE(program);
  EXPECT_THAT(Describe(program.error()), HasSubstr("--from weights"));
}

// Two layers, of which a config says that their weights are quantised.
Program TwoLayers() {
  Builder b("Model");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {2, 4});
  const Builder::Tensor h =
      b.Call("aten::linear", x, b.Parameter("fc.weight", DType::kFloat32, {8, 4}),
             b.Parameter("fc.bias", DType::kFloat32, {8}));
  b.Return(b.Call("aten::linear", h, b.Parameter("out.weight", DType::kFloat32, {2, 8})));
  Program program = *std::move(b).Build();
  program.facts.push_back(
      {.name = program.strings.Intern("quantisation"), .text = program.strings.Intern("nf4")});
  return program;
}

Program Stored(bool all) {
  Builder b("Weights");
  b.Parameter("fc.weight", DType::kFloat32, {8, 4});
  b.Parameter("fc.bias", DType::kFloat32, {8});
  b.Parameter(all ? "out.weight" : "others.weight", DType::kFloat32, {2, 8});
  Program program = *std::move(b).Build();
  program.has_graph = false;
  program.packings.push_back({.name = program.strings.Intern("nf4"), .bytes = 20});
  program.parameters[0].packing = 0;
  return program;
}

std::string NotesWith(Result<Program> (*read)(const std::string&, const ImportOptions&)) {
  const Result<Program> joined = WithWeights(TwoLayers(), Reading(read), "folder", {});
  EXPECT_TRUE(joined) << Describe(joined.error());
  std::string notes;
  for (const StringId note : joined ? joined->notes : std::vector<StringId>()) {
    notes += std::string(joined->text(note)) + "\n";
  }
  return notes;
}

TEST(WithWeights, TellsWhatAConfigAndItsWeightsDoNotAgreeIn) {
  const auto some = [](const std::string&, const ImportOptions&) -> Result<Program> {
    return Stored(false);
  };
  EXPECT_THAT(NotesWith(some), HasSubstr("1 tensor of the config is not stored, as out.weight. "));
  EXPECT_THAT(NotesWith(some),
              HasSubstr("1 tensor of the weights is none of the model's, as others.weight. "));
  const auto all = [](const std::string&, const ImportOptions&) -> Result<Program> {
    return Stored(true);
  };
  EXPECT_THAT(NotesWith(all), Not(HasSubstr("1 tensor")));
}

}  // namespace
}  // namespace steelyard
