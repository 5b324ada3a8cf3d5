// SPDX-License-Identifier: Apache-2.0
#include "import/weights/configuration.h"

#include <gtest/gtest.h>

#include <string_view>

#include "../files.h"

namespace steelyard::weights {
namespace {

int BitsIn(std::string_view config) { return HintsIn(PaddedText(config)).bits; }

TEST(Configuration, SaysHowWideNumbersAre) {
  EXPECT_EQ(BitsIn(R"({"quantization_config": {"bits": 4, "group_size": 128}})"), 4);
  EXPECT_EQ(BitsIn(R"({"quantization": {"group_size": 64, "bits": 8}})"), 8);
  EXPECT_EQ(BitsIn(R"({"quantization_config": {"config_groups": {"group_0":
                       {"weights": {"num_bits": 4}, "input_activations": {"num_bits": 8}}}}})"),
            4);
}

TEST(Configuration, SaysHowManyNumbersShareAScale) {
  const auto group = [](std::string_view config) { return HintsIn(PaddedText(config)).group; };
  EXPECT_EQ(group(R"({"quantization_config": {"bits": 4, "group_size": 128}})"), 128);
  EXPECT_EQ(group(R"({"quantization_config": {"bits": 4, "group_size": -1}})"), 0);
  EXPECT_EQ(group(R"({"quantization_config": {"a": {"group_size": 32}, "b": {"group_size": 64}}})"),
            0);
}

TEST(Configuration, SaysNothingWhereItSaysSeveralThingsOrNone) {
  EXPECT_EQ(BitsIn(R"({"quantization": {"bits": 4, "head": {"bits": 6}}})"), 0);
  EXPECT_EQ(BitsIn(R"({"quantization_config": {"bits": 1000}})"), 0);
  EXPECT_EQ(BitsIn(R"({"quantization_config": {"bits": null}})"), 0);
  EXPECT_EQ(BitsIn(R"({"quantization_config": {"bits": "four"}})"), 0);
  for (const char* config : {"", "{}", "[]", "{\"bits\": 4}", "{\"quantization_config\": null}"}) {
    EXPECT_EQ(BitsIn(config), 0) << config;
  }
}

// As MLX writes it; the others are as the rest says.
TEST(Configuration, SaysWhatLayersHaveOfTheirOwn) {
  const QuantisationHints hints = HintsIn(PaddedText(std::string_view(
      R"({"quantization": {"group_size": 64, "bits": 4, "lm.head": false,
          "layers.0.down_proj": {"group_size": 32, "bits": 8}}})")));
  EXPECT_EQ(hints.bits, 4);
  EXPECT_EQ(hints.group, 64);
  ASSERT_EQ(hints.layers.size(), 1U);
  EXPECT_EQ(hints.layers.begin()->first, "layers.0.down_proj");
  EXPECT_EQ(hints.layers.begin()->second.bits, 8);
  EXPECT_EQ(hints.layers.begin()->second.group, 32);
}

TEST(Configuration, NeedNotBeThere) {
  const TemporaryFile alone(".safetensors", "x");
  EXPECT_EQ(ReadHints(alone.path()).bits, 0);
}

}  // namespace
}  // namespace steelyard::weights
