// SPDX-License-Identifier: Apache-2.0
#include "execute/tensor_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "../temporary.h"

namespace steelyard {
namespace {

SyElements Numbers(const std::array<std::int64_t, 2>& sizes, const float* numbers) {
  return {{"float32", sizes.data(), nullptr, 2}, numbers, sizeof(float) * 2};
}

TEST(TensorWriter, WritesAHeaderAndTheElements) {
  const std::array<float, 2> numbers{1.5F, -2.0F};
  const std::array<std::int64_t, 2> sizes{1, 2};
  TensorWriter writer;
  ASSERT_TRUE(writer.Add("a", Numbers(sizes, numbers.data())));
  ASSERT_TRUE(writer.Add("b\"", Numbers(sizes, numbers.data())));
  const std::string path = TemporaryPath("saved.safetensors");
  ASSERT_TRUE(writer.Write(path));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::string header = R"({"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                             R"("b\"":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}})";
  ASSERT_EQ(bytes.size(), 8 + header.size() + 16);
  EXPECT_EQ(static_cast<std::size_t>(bytes[0]), header.size());
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  const char* const first = reinterpret_cast<const char*>(numbers.data());
  EXPECT_EQ(bytes.substr(8 + header.size(), 8), std::string(first, 8));
}

TEST(TensorWriter, RefusesWhatTheFormatDoesNotHold) {
  TensorWriter writer;
  const SyElements elements{{"complex128", nullptr, nullptr, 0}, nullptr, 0};
  EXPECT_FALSE(writer.Add("a", elements));
}

TEST(TensorWriter, SaysWhereItCannotWrite) {
  EXPECT_EQ(TensorWriter().Write("/nowhere/x.safetensors").error().where, "/nowhere/x.safetensors");
}

}  // namespace
}  // namespace steelyard
