// SPDX-License-Identifier: Apache-2.0
#include "import/weights/quantised_layers.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <tuple>

#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Tensors = std::vector<std::tuple<const char*, DType, std::vector<std::int64_t>>>;

std::vector<QuantisedWeight> Find(const Tensors& tensors, int bits = 0) {
  StoredWeights weights;
  for (const auto& [name, dtype, sizes] : tensors) AddStored(&weights, name, dtype, sizes);
  return FindQuantisedWeights(weights, {.bits = bits});
}

// The one layer of 256 inputs and 64 outputs that the tensors are.
void ExpectLayer(const Tensors& tensors, const char* packing, int bits = 0) {
  const std::vector<QuantisedWeight> found = Find(tensors, bits);
  ASSERT_THAT(found, SizeIs(1)) << packing;
  EXPECT_EQ(found[0].packing, packing);
  EXPECT_EQ(found[0].name, "up.weight");
  EXPECT_THAT(found[0].sizes, ElementsAre(64, 256));
  EXPECT_EQ(found[0].tensors.size(), tensors.size()) << "all of them belong to it";
}

constexpr DType kI32 = DType::kInt32, kF16 = DType::kFloat16, kU8 = DType::kUInt8;

TEST(QuantisedLayers, AreFoundOfGptq) {
  ExpectLayer({{"up.qweight", kI32, {256 * 4 / 32, 64}},
               {"up.qzeros", kI32, {2, 64 * 4 / 32}},
               {"up.scales", kF16, {2, 64}},
               {"up.g_idx", kI32, {256}}},
              "gptq_int4_g128");
  ExpectLayer({{"up.qweight", kI32, {256 * 3 / 32, 64}},
               {"up.qzeros", kI32, {1, 64 * 3 / 32}},
               {"up.scales", kF16, {1, 64}}},
              "gptq_int3");
}

TEST(QuantisedLayers, AreFoundOfAwq) {
  ExpectLayer({{"up.qweight", kI32, {256, 64 * 4 / 32}},
               {"up.qzeros", kI32, {4, 64 * 4 / 32}},
               {"up.scales", kF16, {4, 64}}},
              "awq_int4_g64");
}

TEST(QuantisedLayers, AreFoundOfBitsAndBytes) {
  const std::vector<QuantisedWeight> found =
      Find({{"up.weight", kU8, {64 * 256 / 2, 1}},
            {"up.weight.absmax", kU8, {256}},
            {"up.weight.quant_map", DType::kFloat32, {16}},
            {"up.weight.nested_absmax", DType::kFloat32, {1}},
            {"up.weight.nested_quant_map", DType::kFloat32, {256}},
            {"up.weight.quant_state.bitsandbytes__nf4", kU8, {120}}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].packing, "bnb_nf4");
  EXPECT_THAT(found[0].sizes, ElementsAre(64 * 256));
  EXPECT_THAT(found[0].tensors, SizeIs(6));
  ExpectLayer({{"up.weight", DType::kInt8, {64, 256}},
               {"up.SCB", DType::kFloat32, {64}},
               {"up.weight_format", kU8, {}}},
              "bnb_int8");
}

TEST(QuantisedLayers, AreFoundOfCompressedTensors) {
  const Tensors words = {{"up.weight_packed", kI32, {64, 256 * 4 / 32}},
                         {"up.weight_scale", kF16, {64, 2}},
                         {"up.weight_shape", DType::kInt64, {2}}};
  ExpectLayer(words, "packed_int4_g128", 4);
  EXPECT_THAT(Find(words), IsEmpty()) << "nothing tells the width";
  ExpectLayer({{"up.weight_packed", kI32, {64, 256 * 4 / 32}},
               {"up.weight_scale", kF16, {64, 2}},
               {"up.weight_zero_point", kI32, {64 * 4 / 32, 2}}},
              "packed_int4_g128");
  ExpectLayer({{"up.weight_packed", kU8, {64, 128}},
               {"up.weight_scale", DType::kFloat8E4M3, {64, 256 / 16}},
               {"up.weight_global_scale", DType::kFloat32, {1}}},
              "nvfp4");
  ExpectLayer({{"up.weight_packed", kU8, {64, 128}}, {"up.weight_scale", kU8, {64, 256 / 32}}},
              "mxfp4");
  ExpectLayer({{"up.weight", DType::kInt8, {64, 256}}, {"up.weight_scale", kF16, {64, 1}}},
              "int8_scaled");
}

TEST(QuantisedLayers, AreFoundOfFloat8) {
  ExpectLayer({{"up.weight", DType::kFloat8E4M3, {64, 256}},
               {"up.weight_scale_inv", DType::kFloat32, {1, 2}}},
              "float8_e4m3fn_scaled");
  ExpectLayer({{"up.weight", DType::kFloat8E5M2, {64, 256}},
               {"up.weight_scale", DType::kFloat32, {}},
               {"up.input_scale", DType::kFloat32, {}}},
              "float8_e5m2_scaled");
  EXPECT_THAT(Find({{"up.weight", DType::kFloat8E4M3, {64, 256}}}), IsEmpty());
}

TEST(QuantisedLayers, AreFoundOfOthers) {
  ExpectLayer({{"up.weight", DType::kUInt32, {64, 256 * 4 / 32}},
               {"up.scales", kF16, {64, 4}},
               {"up.biases", kF16, {64, 4}}},
              "mlx_int4_g64", 4);
  ExpectLayer({{"up.weight", DType::kUInt32, {64, 256 * 4 / 32}}, {"up.scales", kU8, {64, 8}}},
              "mxfp4", 4);
  ExpectLayer({{"up.weight._data", DType::kInt8, {64, 256}}, {"up.weight._scale", kF16, {64, 1}}},
              "int8_scaled");
  const std::vector<QuantisedWeight> experts =
      Find({{"mlp.up_proj_blocks", kU8, {8, 64, 8, 16}}, {"mlp.up_proj_scales", kU8, {8, 64, 8}}});
  ASSERT_THAT(experts, SizeIs(1));
  EXPECT_EQ(experts[0].name, "mlp.up_proj");
  EXPECT_THAT(experts[0].sizes, ElementsAre(8, 64, 8 * 32));
}

// A configuration gives some their own widths by name.
TEST(QuantisedLayers, MayDifferByName) {
  StoredWeights weights;
  for (const char* layer : {"up", "down"}) {
    const std::int64_t bits = std::string_view(layer) == "up" ? 4 : 8;
    AddStored(&weights, std::string(layer) + ".weight", DType::kUInt32, {64, 256 * bits / 32});
    AddStored(&weights, std::string(layer) + ".scales", kF16, {64, 4});
    AddStored(&weights, std::string(layer) + ".biases", kF16, {64, 4});
  }
  const auto found =
      FindQuantisedWeights(weights, {.bits = 4, .layers = {{"down", {.bits = 8, .group = 64}}}});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].packing, "mlx_int4_g64");
  EXPECT_EQ(found[1].packing, "mlx_int8_g64");
  EXPECT_THAT(found[1].sizes, ElementsAre(64, 256));
}

TEST(QuantisedLayers, AreNotGuessed) {
  EXPECT_THAT(Find({{"up.qweight", kI32, {32, 64}},
                    {"up.qzeros", kI32, {2, 7}},
                    {"up.scales", kF16, {2, 64}}}),
              IsEmpty());
  EXPECT_THAT(Find({{"up.qweight", kI32, {32, 64}},
                    {"up.qzeros", kI32, {2, 0}},
                    {"up.scales", kF16, {2, 0}}}),
              IsEmpty());
  EXPECT_THAT(Find({{"up.weight", kU8, {100, 2}}, {"up.weight.absmax", kU8, {4}}}), IsEmpty());
  EXPECT_THAT(Find({{"up.weight", kF16, {64, 256}}, {"up.weight_scale", kF16, {1}}}), IsEmpty());
  EXPECT_THAT(Find({{"dequweight", kI32, {32, 64}},
                    {"deqzeros", kI32, {2, 8}},
                    {"descales", kF16, {2, 64}}}),
              IsEmpty());
}

}  // namespace
}  // namespace steelyard::weights
