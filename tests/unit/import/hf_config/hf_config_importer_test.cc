// SPDX-License-Identifier: Apache-2.0
#include "import/hf_config/hf_config_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../temporary.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSmall =
    R"("hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
       "num_attention_heads": 2, "vocab_size": 16)";

Result<Program> Built(std::string_view more, const ImportOptions& options = {}) {
  const std::string text =
      "{\"model_type\": \"llama\", " + std::string(more) + ", " + std::string(kSmall) + "}";
  return ImportFile(WriteTemporary("config.json", text), options);
}

TEST(HfConfigImporter, TheDtypeIsTheConfigsUnlessItIsChosen) {
  const auto dtype = [](const Result<Program>& program) {
    return program->values[program->parameters[0].value].dtype;
  };
  EXPECT_EQ(dtype(Built(R"("dtype": "bfloat16")")), DType::kBFloat16);
  EXPECT_EQ(dtype(Built(R"("torch_dtype": "float16")")), DType::kFloat16);
  EXPECT_EQ(dtype(Built(R"("x": 1)")), DType::kFloat32);
  EXPECT_EQ(dtype(Built(R"("dtype": "bfloat16")", {.dtype = DType::kFloat64})), DType::kFloat64);
}

TEST(HfConfigImporter, TheFolderIsAsGoodAsTheConfig) {
  ASSERT_TRUE(Built(R"("x": 1)"));
  const Result<Program> program = ImportFile(TemporaryPath(""), {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->text(program->name), "LlamaForCausalLM");
}

TEST(HfConfigImporter, UnknownHeadsAndTypesAreRefused) {
  EXPECT_THAT(Describe(Built(R"("architectures": ["LlamaForPoetry"])").error()),
              HasSubstr("architectures: there is no LlamaForPoetry of this type"));
  const Result<Program> other =
      ImportFile(WriteTemporary("config.json", R"({"model_type": "abacus"})"), {});
  EXPECT_THAT(Describe(other.error()), HasSubstr("model_type: models of type \"abacus\""));
}

TEST(HfConfigImporter, LabelsAreTakenWhereTheyAreAskedFor) {
  EXPECT_EQ(Built(R"("x": 1)")->inputs.size(), 1u);
  EXPECT_EQ(Built(R"("x": 1)", {.labelled = true})->inputs.size(), 2u);
}

}  // namespace
}  // namespace steelyard
