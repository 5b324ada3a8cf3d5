// SPDX-License-Identifier: Apache-2.0
//
// Files that torch wrote: whole models of the newest version, and one model by five versions.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/text_printer.h"
#include "ir/text_reader.h"
#include "ir/verify.h"
#include "steelyard/import.h"

namespace steelyard {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string DataPath(const std::string& name) {
  return std::string(STEELYARD_SOURCE_DIR) + "/tests/data/" + name;
}

Program Import(const std::string& path) {
  Result<Program> program = ImportFile(path, {});
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(DataPath(folder))) {
    if (entry.path().extension() == ".pt2") out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

class RealModel : public testing::TestWithParam<std::string> {};

TEST_P(RealModel, VerifiesAndSurvivesTheTextForm) {
  const Program program = Import(GetParam());
  const Status status = Verify(program);
  EXPECT_TRUE(status) << Describe(status.error());
  const std::string text = Print(program);
  const Result<Program> again = ParseText(text, "printed");
  ASSERT_TRUE(again) << Describe(again.error());
  EXPECT_TRUE(Print(*again) == text);
}

TEST_P(RealModel, DescribesEveryTensor) {
  const Program program = Import(GetParam());
  for (const Value& value : program.values) {
    EXPECT_TRUE(value.has_layout || value.kind != ValueKind::kTensor) << program.text(value.name);
  }
  for (const Symbol& symbol : program.symbols) EXPECT_GE(symbol.example, 1);
  // Torch itself inserts a node now and then.
  const auto has_no_line = [](const Node& node) { return node.source == kNoId; };
  EXPECT_LE(std::ranges::count_if(program.main().nodes, has_no_line), 1);
}

std::string NameOfTest(const testing::TestParamInfo<std::string>& test) {
  std::string name = std::filesystem::path(test.param).stem().string();
  std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, RealModel, testing::ValuesIn(FilesIn("models")), NameOfTest);
INSTANTIATE_TEST_SUITE_P(OlderTorch, RealModel, testing::ValuesIn(FilesIn("older_torch")),
                         NameOfTest);

// The same transformer with tied embedding and head, by whichever torch.
TEST(OlderTorch, GivesTheSameModel) {
  const std::vector<std::string> files = FilesIn("older_torch");
  ASSERT_THAT(files, SizeIs(5));
  for (const std::string& path : files) {
    const Program program = Import(path);
    EXPECT_EQ(program.text(program.name), "Tiny");
    EXPECT_THAT(program.notes, IsEmpty()) << path;
    EXPECT_TRUE(program.ties_known);
    std::int64_t count = 0;
    for (const NamedTensor& parameter : program.parameters) {
      EXPECT_TRUE(program.values[parameter.value].requires_grad);
      const auto sizes = program.sizes(parameter.value);
      if (parameter.tied_to != kNoId) continue;
      count += sizes.size() == 2 ? sizes[0] * sizes[1] : sizes[0];
    }
    // Embedding, final norm, and two blocks of norms, qkv, projection and a 4x MLP.
    constexpr std::int64_t kWidth = 32;
    constexpr std::int64_t kBlock = 2 * 2 * kWidth + (3 * kWidth + 1) * kWidth * 1 + 2 * kWidth +
                                    (kWidth + 1) * kWidth + (kWidth + 1) * 4 * kWidth +
                                    (4 * kWidth + 1) * kWidth;
    EXPECT_EQ(count, 100 * kWidth + 2 * kWidth + 2 * kBlock) << path;
    ASSERT_THAT(program.symbols, SizeIs(1));
    EXPECT_EQ(program.symbols[0].example, 2);
    EXPECT_EQ(program.symbols[0].max, 64);
    ASSERT_THAT(program.buffers, SizeIs(1));
    EXPECT_EQ(program.text(program.buffers[0].name), "scale");
    const auto named = [&](std::string_view module) {
      return std::ranges::any_of(program.modules,
                                 [&](const Module& m) { return program.text(m.path) == module; });
    };
    EXPECT_TRUE(named("b.0.qkv") && named("b.1.f2") && named("head")) << path;
  }
}

TEST(RealModels, ReadsBertAsTorchExportedIt) {
  const Program program = Import(DataPath("models/bert-base-mlm-b4-s128.pt2"));
  EXPECT_EQ(program.text(program.name), "BertForMaskedLM");
  EXPECT_EQ(program.text(program.producer), "torch 2.15.0 (schema 8.20)");
  EXPECT_THAT(program.main().nodes, SizeIs(326));
  EXPECT_THAT(program.parameters, SizeIs(204));
  ASSERT_THAT(program.inputs, SizeIs(2));
  EXPECT_EQ(program.text(program.values[program.inputs[1]].name), "labels");
  ASSERT_THAT(program.main().outputs, SizeIs(2));
  EXPECT_EQ(program.values[program.main().outputs[0].value].role, Role::kOutput);
  // The line of the model, not of the torch module that it calls.
  const auto embedding = std::ranges::find_if(program.main().nodes, [&](const Node& node) {
    return program.op_name(node.op) == "aten::embedding";
  });
  ASSERT_NE(embedding, program.main().nodes.end());
  EXPECT_EQ(program.text(program.sources[embedding->source].file),
            "transformers/models/bert/modeling_bert.py");
  EXPECT_EQ(program.text(program.modules[embedding->module].class_name),
            "torch.nn.modules.sparse.Embedding");
}

}  // namespace
}  // namespace steelyard
