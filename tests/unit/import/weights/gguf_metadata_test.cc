// SPDX-License-Identifier: Apache-2.0
#include "import/weights/gguf_metadata.h"

#include <gmock/gmock.h>

#include "gguf_pairs.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ReadResult {
  std::vector<std::string> facts;
  std::string refusal;
  GgufMetadata metadata;
};

ReadResult ReadFacts(const std::vector<std::string>& pairs) {
  ReadResult out;
  out.refusal = Refusal(ReadPairs(pairs, &out.metadata));
  StoredWeights weights;
  out.metadata.AddFacts(&weights);
  for (const Fact& fact : weights.program.facts) {
    out.facts.push_back(std::string(weights.program.text(fact.name)) + "=" +
                        (fact.text != kNoString ? std::string(weights.program.text(fact.text))
                                                : std::to_string(fact.number)));
  }
  return out;
}

TEST(GgufMetadata, GivesFactsInOneOrder) {
  const ReadResult read = ReadFacts({Text("llama.context_length") + U32(4) + U32(4096),
                                     Text("general.file_type") + U32(4) + U32(15),
                                     Text("general.architecture") + U32(8) + Text("llama"),
                                     Text("llama.attention.head_count") + U32(10) + U64(32)});
  EXPECT_EQ(read.refusal, "");
  EXPECT_THAT(read.facts, ElementsAre("architecture=llama", "quantisation=Q4_K_M",
                                      "context_length=4096", "head_count=32"));
}

TEST(GgufMetadata, JumpsOverAllTypesOfValues) {
  const ReadResult read = ReadFacts({
      Text("a") + U32(0) + Number(200, 1),
      Text("b") + U32(1) + Number(255, 1),
      Text("c") + U32(2) + Number(1, 2),
      Text("d") + U32(3) + Number(1, 2),
      Text("e") + U32(6) + U32(0),
      Text("f") + U32(7) + Number(1, 1),
      Text("g") + U32(12) + U64(0),
      Text("h") + U32(9) + U32(8) + U64(2) + Text("x") + Text(""),
      Text("i") + U32(9) + U32(12) + U64(2) + U64(0) + U64(0),
      Text("j") + U32(8) + Text(std::string(1000, 'x')),
      Text("tokenizer.ggml.tokens") + U32(9) + U32(8) + U64(1) + Text("t"),
      Text("split.no") + U32(2) + Number(3, 2),
      Text("split.count") + U32(2) + Number(5, 2),
      Text("split.tensors.count") + U32(5) + U32(77),
      Text("general.alignment") + U32(4) + U32(64),
  });
  EXPECT_EQ(read.refusal, "");
  EXPECT_THAT(read.facts, ElementsAre("vocabulary=1"));
  EXPECT_EQ(read.metadata.split_number(), 3);
  EXPECT_EQ(read.metadata.split_count(), 5);
  EXPECT_EQ(read.metadata.split_tensors(), 77);
  EXPECT_EQ(read.metadata.alignment(), 64);
}

TEST(GgufMetadata, AreNoFactsWhereTheyAreNegativeOrNested) {
  EXPECT_THAT(ReadFacts({Text("llama.context_length") + U32(5) + U32(0xffffffff)}).facts,
              ElementsAre());
  EXPECT_THAT(ReadFacts({Text("x.y.context_length") + U32(4) + U32(1)}).facts, ElementsAre());
}

TEST(GgufMetadata, AreRefusedWhereTheyDoNotEnd) {
  EXPECT_THAT(ReadFacts({Text("abc") + U32(4)}).refusal, HasSubstr("do not end within the file"));
  EXPECT_THAT(ReadFacts({Text("abcd") + U32(8) + U64(1000)}).refusal, HasSubstr("do not end"));
  EXPECT_THAT(ReadFacts({Text("abcd") + U32(9) + U32(0) + U64(UINT64_MAX)}).refusal,
              HasSubstr("do not end"));
  EXPECT_THAT(ReadFacts({U64(UINT64_MAX) + U64(0)}).refusal, HasSubstr("a key is"));
  EXPECT_THAT(ReadFacts({"x"}).refusal, HasSubstr("more than fit"));
}

}  // namespace
}  // namespace steelyard::weights
