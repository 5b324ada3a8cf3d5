// SPDX-License-Identifier: Apache-2.0
#include "import/weights/shard_index.h"

#include <gmock/gmock.h>

#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ShardIndex, SaysWhereTensorsAre) {
  const Result<ShardIndex> index = ReadShardIndex(PaddedText(std::string_view(
      R"({"metadata": {}, "weight_map": {"x": "b.safetensors", "y": "a.safetensors"}})")));
  ASSERT_TRUE(index) << Describe(index.error());
  EXPECT_THAT(index->files, ElementsAre("a.safetensors", "b.safetensors"));
  EXPECT_THAT(index->tensors, ElementsAre(Pair("x", 1u), Pair("y", 0u)));
}

TEST(ShardIndex, NamesFilesBesideIt) {
  for (const char* name :
       {"../a.safetensors", "/etc/a.safetensors", "..", "", "a\\\\b.safetensors"}) {
    const std::string text = std::string(R"({"weight_map": {"x": ")") + name + "\"}}";
    EXPECT_THAT(Refusal(ReadShardIndex(PaddedText(text))), HasSubstr("no file beside")) << name;
  }
}

TEST(ShardIndex, OfPicklesIsRefused) {
  EXPECT_THAT(Refusal(ReadShardIndex(
                  PaddedText(std::string_view(R"({"weight_map": {"x": "pytorch_model.bin"}})")))),
              HasSubstr("never opened"));
}

TEST(ShardIndex, IsJsonWithAMap) {
  for (const char* text : {"", "[]", "{}", "{\"weight_map\": {}}", "{\"weight_map\": 1}", "{"}) {
    EXPECT_FALSE(ReadShardIndex(PaddedText(std::string_view(text)))) << text;
  }
}

}  // namespace
}  // namespace steelyard::weights
