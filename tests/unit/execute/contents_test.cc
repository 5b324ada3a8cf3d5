// SPDX-License-Identifier: Apache-2.0
#include "execute/contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "kernels.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kModel =
    "parameter %w: f32[4,16] \"fc.weight\"\n"
    "parameter %b: f32[4] \"fc.bias\"\n"
    "input %x: f32[2,16]\n"
    "input %i: i64[2]\n"
    "%y: f32[2,4] = aten::linear(%x, %w, %b)\n"
    "%z: f32[2,4] = aten::index_select(%y, 0, %i)\n"
    "return %z\n";

TEST(Contents, ResidentsHaveTheModelsNames) {
  const Program kernels = Kernels(kModel);
  std::vector<std::string> names;
  for (const Resident& resident : ResidentsOf(kernels)) names.push_back(resident.name);
  EXPECT_THAT(names, ::testing::ElementsAre("fc.weight", "fc.bias", "x", "i"));
}

TEST(Contents, DrawsWhatKeepsTheVariance) {
  const Program kernels = Kernels(kModel);
  const std::vector<Resident> residents = ResidentsOf(kernels);
  const std::vector<SyContent> contents = ContentsOf(kernels, residents, {}).value();
  EXPECT_EQ(contents[0].mean, 0);
  EXPECT_EQ(contents[0].deviation, 1 / std::sqrt(16.0));
  EXPECT_EQ(contents[1].mean, 1) << "a scale or a variance may be one of these";
  EXPECT_EQ(contents[2].deviation, 1);
  EXPECT_EQ(contents[3].below, 2) << "an index into two rows";
}

TEST(Contents, StateBeginsWithZeros) {
  const Program kernels = Kernels(
      "parameter %w: f32[8] \"w\"\n"
      "%l: f32[] = aten::sum(%w)\n"
      "steelyard::backward(%l) phase backward\n"
      "steelyard::adam([%w], False) phase optimizer\n"
      "return %l\n");
  const std::vector<Resident> residents = ResidentsOf(kernels);
  const std::vector<SyContent> contents = ContentsOf(kernels, residents, {}).value();
  ASSERT_EQ(residents.size(), 4u);  // the parameter, step, exp_avg, exp_avg_sq
  for (std::size_t i = 1; i < residents.size(); ++i) {
    EXPECT_EQ(residents[i].category, Category::kOptimizerState);
    EXPECT_EQ(contents[i].mean, 0);
    EXPECT_EQ(contents[i].deviation, 0);
  }
}

TEST(Contents, FilesGiveTheirElements) {
  const Program kernels = Kernels(kModel);
  const std::vector<Resident> residents = ResidentsOf(kernels);
  static constexpr std::array<std::int64_t, 2> kMatrix{4, 16};
  static constexpr std::array<std::int64_t, 1> kVector{4};
  const std::array<float, 64> elements{};
  const Sources sources{.weights = [&](std::string_view name) -> std::optional<GivenTensor> {
    if (name == "fc.weight") return GivenTensor{DType::kFloat32, kMatrix, elements.data()};
    return GivenTensor{DType::kFloat32, kVector, elements.data()};
  }};
  const std::vector<SyContent> contents = ContentsOf(kernels, residents, sources).value();
  EXPECT_EQ(contents[0].bytes, elements.data());
  EXPECT_EQ(contents[1].bytes, elements.data());
  EXPECT_EQ(contents[2].bytes, nullptr) << "no file gives the inputs";
}

TEST(Contents, TheFirstMismatchesAreNamed) {
  const Program kernels = Kernels(kModel);
  const std::vector<Resident> residents = ResidentsOf(kernels);
  static constexpr std::array<std::int64_t, 2> kTurned{16, 4};
  const Sources sources{.weights = [&](std::string_view name) -> std::optional<GivenTensor> {
                          if (name != "fc.weight") return std::nullopt;
                          return GivenTensor{DType::kFloat32, kTurned, nullptr};
                        },
                        .weights_name = "other.safetensors"};
  const auto contents = ContentsOf(kernels, residents, sources);
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().where, "other.safetensors");
  EXPECT_THAT(contents.error().message,
              HasSubstr("fc.weight is float32[16,4] and not float32[4,16]; "
                        "fc.bias is not there and not float32[4]"));
}

TEST(Contents, WhatIsNoNumberIsNamed) {
  const Program kernels = Kernels(kModel);
  const std::vector<Resident> residents = ResidentsOf(kernels);
  static constexpr std::array<std::int64_t, 2> kMatrix{4, 16};
  static constexpr std::array<std::int64_t, 1> kVector{4};
  std::array<float, 64> elements{};
  elements[2] = elements[63] = std::nanf("");
  const Sources sources{.weights = [&](std::string_view name) -> std::optional<GivenTensor> {
    if (name == "fc.bias") return GivenTensor{DType::kFloat32, kVector, elements.data() + 3};
    return GivenTensor{DType::kFloat32, kMatrix, elements.data()};
  }};
  const auto contents = ContentsOf(kernels, residents, sources);
  ASSERT_FALSE(contents);
  EXPECT_THAT(contents.error().message, HasSubstr("(NaN): fc.weight (2 of it)"));
}

TEST(Contents, TiedNamesHaveOneTensor) {
  Program kernels = Kernels(kModel);
  kernels.parameters.push_back(
      {.value = kernels.parameters[0].value, .name = kernels.strings.Intern("head.weight")});
  const std::vector<Resident> residents = ResidentsOf(kernels);
  static constexpr std::array<std::int64_t, 2> kMatrix{4, 16};
  static constexpr std::array<std::int64_t, 1> kVector{4};
  std::array<float, 64> first{}, second{};
  const Sources sources{.weights = [&](std::string_view name) -> std::optional<GivenTensor> {
    if (name == "fc.bias") return GivenTensor{DType::kFloat32, kVector, first.data()};
    return GivenTensor{DType::kFloat32, kMatrix,
                       name == "fc.weight" ? first.data() : second.data()};
  }};
  EXPECT_TRUE(ContentsOf(kernels, residents, sources));
  second[63] = 1;
  const auto contents = ContentsOf(kernels, residents, sources);
  ASSERT_FALSE(contents);
  EXPECT_THAT(
      contents.error().message,
      HasSubstr("fc.weight and head.weight are one tensor of the model and two of the file"));
}

}  // namespace
}  // namespace steelyard
