// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensors.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "models.h"

namespace steelyard::onnx {
namespace {

Item Read(const std::string& bytes) {
  ExternalData nowhere("");
  return ItemOf(TensorProto(bytes), nowhere);
}

std::string ExternalBytes(const std::string& location, const std::string& offset, int element) {
  std::string out = TensorBytes("shape", {2}, element);
  protozero::pbf_writer writer(out);
  for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", offset)}) {
    std::string entry;
    protozero::pbf_writer entry_writer(entry);
    entry_writer.add_string(1, key);
    entry_writer.add_string(2, value);
    writer.add_message(13, entry);
  }
  writer.add_int32(14, 1);
  return out;
}

TEST(ItemOf, ReadsSmallIntegers) {
  const std::string bytes = IntegersBytes("shape", {2, -1});
  const Item item = Read(bytes);
  EXPECT_EQ(item.dtype, DType::kInt64);
  EXPECT_EQ(item.numbers, (std::vector<Dim>{Dim(2), Dim(-1)}));
}

TEST(ItemOf, ReadsHalfFloatsHoweverTheyAreWritten) {
  const int half = 10;
  std::string raw = TensorBytes("a", {1}, half), listed = TensorBytes("a", {1}, half);
  const std::vector<std::int32_t> bits{0x3800};  // 2^-1: exponent 14 - 15, no fraction
  protozero::pbf_writer(raw).add_bytes(9, std::string("\x00\x38", 2));
  protozero::pbf_writer(listed).add_packed_int32(5, bits.begin(), bits.end());
  EXPECT_EQ(Read(raw).reals, std::vector<double>{0.5});
  EXPECT_EQ(Read(listed).reals, std::vector<double>{0.5});
}

TEST(ItemOf, DoesNotReadWeights) {
  std::string bytes = TensorBytes("w", {65}, kInt64);
  protozero::pbf_writer(bytes).add_bytes(9, std::string(65 * 8, '\1'));
  const Item item = Read(bytes);
  EXPECT_TRUE(item.stored);
  EXPECT_FALSE(item.is_constant());
}

TEST(ItemOf, ReadsSmallTensorsFromBesideTheModel) {
  const std::int64_t numbers[] = {7, 2, -1};
  const TemporaryFile data(".data", {reinterpret_cast<const char*>(numbers), sizeof(numbers)});
  const std::filesystem::path path(data.path());
  ExternalData external(path.parent_path());
  const std::string name = path.filename().string();
  const auto read = [&](const std::string& location, const std::string& offset, int element) {
    return ItemOf(TensorProto(ExternalBytes(location, offset, element)), external).numbers;
  };
  EXPECT_EQ(read(name, "8", kInt64), (std::vector{Dim(2), Dim(-1)}));
  EXPECT_EQ(read("./" + name, "0", kInt64), (std::vector{Dim(7), Dim(2)}));
  for (const char* offset : {"16", "24", "9999999999999999999", "-8", "8x", ""}) {
    EXPECT_EQ(read(name, offset, kInt64), std::nullopt) << offset;
  }
  EXPECT_EQ(read("nothing.data", "0", kInt64), std::nullopt);
  EXPECT_EQ(read("", "0", kInt64), std::nullopt) << "a folder";
}

TEST(ItemOf, ReadsNothingOutsideOfTheFolder) {
  const TemporaryFile data(".data", std::string(16, '\1'));
  const std::filesystem::path path(data.path());
  const std::filesystem::path folder = path.parent_path();
  ExternalData external(folder);
  const std::string out = "../" + (folder.filename() / path.filename()).string();
  for (const std::string& location : {data.path(), out, path.filename().string() + '\0'}) {
    const std::string bytes = ExternalBytes(location, "0", kInt64);
    EXPECT_EQ(ItemOf(TensorProto(bytes), external).numbers, std::nullopt) << location;
  }
}

TEST(ItemOf, RefusesAbsurdSizes) {
  EXPECT_THROW(Read(TensorBytes("w", {-1})), Refusal);
  EXPECT_THROW(Read(TensorBytes("w", {1 << 30, 1 << 30, 1 << 30})), Refusal);
  EXPECT_THROW(Read(TensorBytes("w", std::vector<int>(65, 1))), Refusal);
}

TEST(DimOf, NeverMakesAnExpression) {
  EXPECT_TRUE(DimOf(INT64_MIN).is_number());
  EXPECT_TRUE(DimOf(INT64_MIN + 7).is_number());
  EXPECT_EQ(DimOf(-3), Dim(-3));
}

}  // namespace
}  // namespace steelyard::onnx
