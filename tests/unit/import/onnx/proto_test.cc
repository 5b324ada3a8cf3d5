// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/proto.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(NodeProto, HasOperandsAndAttributes) {
  const std::string bytes = NodeText{.op = "Gemm",
                                     .inputs = {"x", ""},
                                     .outputs = {"y"},
                                     .attributes = {Int("transB", 1)},
                                     .name = "/fc/Gemm"}
                                .bytes();
  const NodeProto node(bytes);
  EXPECT_EQ(node.op, "Gemm");
  EXPECT_EQ(node.name, "/fc/Gemm");
  EXPECT_EQ(node.inputs, (std::vector<std::string_view>{"x", ""}));
  ASSERT_TRUE(node.Find("transB"));
  EXPECT_EQ(node.Find("transB")->integer, 1);
  EXPECT_FALSE(node.Find("transA"));
}

TEST(TensorProto, LeavesTheElementsAlone) {
  std::string bytes = TensorBytes("w", {2, 3});
  const std::string raw(24, 'x');
  protozero::pbf_writer(bytes).add_bytes(9, raw);
  const TensorProto tensor(bytes);
  EXPECT_EQ(tensor.sizes, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.raw, raw);
  EXPECT_GE(tensor.raw.data(), bytes.data());  // a view of the file
  EXPECT_LT(tensor.raw.data(), bytes.data() + bytes.size());
}

TEST(TypeProto, TellsNumbersNamesAndWhatIsNotKnown) {
  const std::string bytes = ValueBytes("x", {2, "batch", -1});
  const ValueProto value(bytes);
  ASSERT_TRUE(value.type.sizes);
  ASSERT_EQ(value.type.sizes->size(), 3U);
  EXPECT_EQ((*value.type.sizes)[0].number, 2);
  EXPECT_EQ((*value.type.sizes)[1].name, "batch");
  EXPECT_FALSE((*value.type.sizes)[2].number);
}

TEST(DTypeOf, KnowsWhatPyTorchHas) {
  EXPECT_EQ(DTypeOf(kFloat), DType::kFloat32);
  EXPECT_EQ(DTypeOf(21), DType::kUInt4);
  EXPECT_EQ(DTypeOf(22), DType::kInt4);
  EXPECT_FALSE(DTypeOf(kText));
  EXPECT_FALSE(DTypeOf(-1));
}

}  // namespace
}  // namespace steelyard::onnx
