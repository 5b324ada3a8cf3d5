// SPDX-License-Identifier: Apache-2.0
#include "import/weights/gguf_header.h"

#include <gmock/gmock.h>

#include "../files.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string GgufRefusal(const std::string& content) {
  const TemporaryFile file(".gguf", content);
  StoredWeights weights;
  return Refusal(ReadGguf(file.path(), 0, &weights));
}

TEST(GgufHeader, GivesTensorsInTheOrderOfPyTorch) {
  const TemporaryFile file(".gguf", Padded(GgufHead(2, 0) + GgufTensor("a", {256, 4}, 12, 0) +
                                               GgufTensor("b", {8}, 1, 576),
                                           576 + 16));
  StoredWeights weights;
  const Result<GgufSplit> split = ReadGguf(file.path(), 3, &weights);
  ASSERT_TRUE(split) << Describe(split.error());
  EXPECT_EQ(split->count, 1);
  ASSERT_EQ(weights.tensors.size(), 2u);
  EXPECT_THAT(weights.SizesOf(weights.tensors[0]), ElementsAre(4, 256));
  EXPECT_EQ(weights.tensors[0].bytes, 4 * 144);
  EXPECT_EQ(weights.program.text(weights.tensors[0].packing), "q4_k");
  EXPECT_EQ(weights.tensors[1].dtype, DType::kFloat16);
  EXPECT_EQ(weights.tensors[1].packing, kNoString);
  EXPECT_EQ(weights.tensors[1].file, 3u);
}

TEST(GgufHeader, IsOfAKnownVersion) {
  EXPECT_THAT(GgufRefusal("GGUF" + U32(1) + std::string(32, '\0')), HasSubstr("version 1"));
  EXPECT_THAT(GgufRefusal("GGUF" + U32(0x04000000) + std::string(32, '\0')),
              HasSubstr("version 4"));
  EXPECT_THAT(GgufRefusal("GGML" + U32(3)), HasSubstr("does not begin with GGUF"));
  EXPECT_THAT(GgufRefusal("GGUF"), HasSubstr("do not end"));
}

TEST(GgufHeader, IsRefusedWhereATensorIsImpossible) {
  const auto refusal = [](const std::string& tensor) {
    return GgufRefusal(Padded(GgufHead(1, 0) + tensor, 64));
  };
  EXPECT_EQ(refusal(GgufTensor("a", {}, 0, 0)), "");
  EXPECT_THAT(refusal(GgufTensor("a", {8}, 4, 0)), HasSubstr("ggml type 4 is not known"));
  EXPECT_THAT(refusal(GgufTensor("a", {100}, 12, 0)), HasSubstr("rows of 100 elements"));
  EXPECT_THAT(refusal(GgufTensor("a", {1, 1, 1, 1, 1}, 0, 0)), HasSubstr("5 dimensions"));
  EXPECT_THAT(refusal(GgufTensor("a", {UINT64_MAX}, 0, 0)), HasSubstr("a size is"));
  EXPECT_THAT(refusal(GgufTensor("a", {1U << 31U, 1U << 31U, 4}, 0, 0)), HasSubstr("63 bits"));
  EXPECT_THAT(refusal(GgufTensor("a", {8}, 0, 7)), HasSubstr("no multiple of the alignment"));
  EXPECT_THAT(refusal(GgufTensor("a", {8}, 0, UINT64_MAX)), HasSubstr("no multiple"));
  EXPECT_THAT(refusal(GgufTensor("a", {64}, 0, 0)), HasSubstr("beyond the 64 bytes"));
}

}  // namespace
}  // namespace steelyard::weights
