// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_importer.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard {
namespace {

using onnx::ImportText;
using onnx::ModelText;
using onnx::OneNode;

TEST(OnnxImporter, KnowsItsFiles) {
  EXPECT_TRUE(kOnnxImporter.sniff(OneNode("Relu", {{2}}).bytes().substr(0, kHeadBytes)));
  EXPECT_FALSE(kOnnxImporter.sniff("PK\x03\x04"));
  EXPECT_FALSE(kOnnxImporter.sniff("program"));
  EXPECT_FALSE(kOnnxImporter.sniff(""));
}

TEST(OnnxImporter, EveryCutIsAnErrorOrAModel) {
  ModelText model =
      OneNode("Conv", {{1, 3, 9, 9}, {8, 3, 3, 3}}, {onnx::Ints("pads", {1, 1, 1, 1})});
  const std::string bytes = model.Weight("w", {3, 4}).bytes();
  ASSERT_TRUE(ImportText(bytes));
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const Result<Program> program = ImportText(bytes.substr(0, size));
    if (!program) {
      EXPECT_NE(program.error().code, ErrorCode::kInternal) << size;
    }
  }
}

TEST(OnnxImporter, EveryChangedByteIsAnErrorOrAModel) {
  const std::string bytes =
      OneNode("Pad", {{2, 3}}, {onnx::Ints("pads", {0, 1, 0, 2})}, 10).bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0x01, 0x08, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const Result<Program> program = ImportText(changed);
      if (!program) {
        EXPECT_NE(program.error().code, ErrorCode::kInternal) << i;
      }
    }
  }
}

TEST(OnnxImporter, RefusesOldOperators) {
  const Result<Program> program = ImportText(OneNode("Relu", {{2}}, {}, 6).bytes());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kUnsupported);
}

TEST(OnnxImporter, ReadsModelsOfOthersOperatorsAlone) {
  ModelText model(3, "ai.onnx.ml");
  model.Input("x", {2, 3}).Declared("y", {2, 3});
  model.Node({.op = "CastMap", .inputs = {"x"}, .outputs = {"y"}, .domain = "ai.onnx.ml"});
  EXPECT_EQ(CallsOf(model.Output("y")), "ai.onnx.ml::CastMap");
}

}  // namespace
}  // namespace steelyard
