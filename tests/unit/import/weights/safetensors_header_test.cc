// SPDX-License-Identifier: Apache-2.0
#include "import/weights/safetensors_header.h"

#include <gmock/gmock.h>

#include "../files.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string HeaderRefusal(std::string_view header, std::int64_t data) {
  StoredWeights weights;
  return Refusal(ReadSafetensorsHeader(PaddedText(header), data, 0, &weights));
}

TEST(SafetensorsHeader, GivesTensorsAndFacts) {
  StoredWeights weights;
  const Status read =
      ReadSafetensorsHeader(PaddedText(std::string_view(R"({"__metadata__": {"format": "pt"},
          "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
          "b": {"dtype": "F4", "shape": [6], "data_offsets": [24, 27], "more": {"x": [1]}}} )")),
                            27, 5, &weights);
  ASSERT_TRUE(read) << Describe(read.error());
  ASSERT_EQ(weights.tensors.size(), 2u);
  EXPECT_EQ(weights.NameOf(weights.tensors[0]), "a");
  EXPECT_THAT(weights.SizesOf(weights.tensors[0]), ElementsAre(2, 3));
  EXPECT_EQ(weights.tensors[1].dtype, DType::kFloat4E2M1);
  EXPECT_EQ(weights.tensors[1].bytes, 6 * 4 / 8);
  EXPECT_EQ(weights.tensors[1].file, 5u);
  EXPECT_TRUE(weights.program.facts.empty());  // the facts are those of file 0
}

TEST(SafetensorsHeader, KeepsLogsOfTrainersOut) {
  StoredWeights weights;
  const std::string header = R"({"__metadata__": {"source": "here", "format": "pt", "log": ")" +
                             std::string(1000, 'x') + "\"}}";
  ASSERT_TRUE(ReadSafetensorsHeader(PaddedText(header), 0, 0, &weights));
  ASSERT_EQ(weights.program.facts.size(), 1u);
  EXPECT_EQ(weights.program.text(weights.program.facts[0].text), "here");
}

// Every way of being wrong, the place where it is, and that nothing is read of it.
TEST(SafetensorsHeader, IsRefusedWhereItIsWrong) {
  EXPECT_THAT(HeaderRefusal(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})", 8),
              HasSubstr("takes 96 bits, and the data_offsets are 8 bytes apart"));
  EXPECT_THAT(HeaderRefusal(R"({"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}})", 2),
              HasSubstr("takes 12 bits"));
  EXPECT_THAT(
      HeaderRefusal(R"({"a": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}})", 4),
      HasSubstr("header: a.shape[0]: expected an integer"));
  EXPECT_THAT(
      HeaderRefusal(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}})", 4),
      HasSubstr("not where it begins"));
  EXPECT_THAT(HeaderRefusal(R"({"a": {"dtype": 7, "shape": [1], "data_offsets": [0, 4]}})", 4),
              HasSubstr("expected a string"));
  EXPECT_THAT(HeaderRefusal(R"([])", 0), HasSubstr("expected an object"));
  EXPECT_THAT(HeaderRefusal("", 0), HasSubstr("no JSON"));
}

TEST(SafetensorsHeader, IsAsLongAsTheFileSays) {
  const auto refusal = [](std::string_view content) {
    const TemporaryFile file(".safetensors", content);
    StoredWeights weights;
    return Refusal(ReadSafetensors(file.path(), 0, &weights));
  };
  EXPECT_EQ(refusal(U64(2) + "{}"), "");
  EXPECT_THAT(refusal(U64(3) + "{}"), HasSubstr("3 bytes long, and the file has 10"));
  EXPECT_THAT(refusal(U64(std::uint64_t{1} << 63U) + "{}"),
              HasSubstr("claims to be 9223372036854775808"));
  EXPECT_THAT(refusal("{}"), HasSubstr("shorter than the length"));
}

}  // namespace
}  // namespace steelyard::weights
