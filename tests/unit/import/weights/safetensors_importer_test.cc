// SPDX-License-Identifier: Apache-2.0
#include "import/weights/safetensors_importer.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "../../temporary.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

Result<Program> ReadSafetensorsPath(const std::string& path) {
  return kSafetensorsImporter.read(path, {});
}

using testing::ElementsAre;
using testing::HasSubstr;

std::string FileOf(std::string_view name) {
  const std::string header =
      "{\"" + std::string(name) + R"(": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})";
  return U64(header.size()) + header + std::string(8, '\0');
}

std::string Folder(std::string_view name) {
  std::filesystem::create_directories(TemporaryPath(name));
  return TemporaryPath(name);
}

TEST(SafetensorsImporter, ReadsOneFile) {
  Folder("llama-7b");
  const std::string path = WriteTemporary("llama-7b/model.safetensors", FileOf("a.weight"));
  for (const std::string& named : {path, TemporaryPath("llama-7b")}) {
    const Result<Program> program = ReadSafetensorsPath(named);
    ASSERT_TRUE(program) << Describe(program.error());
    EXPECT_EQ(program->parameters.size(), 1u);
    EXPECT_EQ(program->text(program->name), "llama-7b");
    EXPECT_FALSE(program->has_graph);
  }
}

TEST(SafetensorsImporter, ReadsPartsInTheirOrder) {
  const std::string folder = Folder("parts");
  WriteTemporary("parts/model-00002-of-00002.safetensors", FileOf("b"));
  EXPECT_THAT(Refusal(ReadSafetensorsPath(folder)),
              HasSubstr("model-00001-of-00002.safetensors: there is no such file"));
  WriteTemporary("parts/model-00001-of-00002.safetensors", FileOf("a"));
  const Result<Program> program = ReadSafetensorsPath(folder);
  ASSERT_TRUE(program) << Describe(program.error());
  ASSERT_EQ(program->parameters.size(), 2u);
  EXPECT_EQ(program->text(program->parameters[0].name), "a");
}

TEST(SafetensorsImporter, HoldsTheIndexToItsFiles) {
  const std::string folder = Folder("indexed");
  WriteTemporary("indexed/x.safetensors", FileOf("a"));
  WriteTemporary("indexed/model.safetensors.index.json",
                 R"({"weight_map": {"a": "x.safetensors"}})");
  EXPECT_TRUE(ReadSafetensorsPath(folder));
  WriteTemporary("indexed/model.safetensors.index.json",
                 R"({"weight_map": {"a": "x.safetensors", "b": "x.safetensors"}})");
  EXPECT_THAT(Refusal(ReadSafetensorsPath(folder)), HasSubstr("\"b\": the index says"));
}

TEST(SafetensorsImporter, KnowsItsFiles) {
  EXPECT_TRUE(kSafetensorsImporter.sniff(FileOf("a")));
  EXPECT_TRUE(kSafetensorsImporter.sniff(R"({"metadata": {}, "weight_map": {)"));
  EXPECT_FALSE(kSafetensorsImporter.sniff(R"({"architectures": ["LlamaForCausalLM"]})"));
  EXPECT_FALSE(kSafetensorsImporter.sniff(U64(UINT64_MAX) + "{}"));
  EXPECT_FALSE(kSafetensorsImporter.sniff(U64(2)));
}

}  // namespace
}  // namespace steelyard::weights
