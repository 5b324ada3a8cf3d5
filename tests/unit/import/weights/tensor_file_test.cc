// SPDX-License-Identifier: Apache-2.0
#include "import/weights/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "../../temporary.h"

namespace steelyard::weights {
namespace {

std::string FileWith(std::string header, std::string_view data) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + std::move(header) + std::string(data);
}

TEST(TensorFile, FindsTensorsByTheirNames) {
  const std::string path = WriteTemporary(
      "two.safetensors", FileWith(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                  R"("b":{"dtype":"I8","shape":[1,2],"data_offsets":[3,5]}})",
                                  "abcde"));
  const Result<TensorFile> file = TensorFile::Open(path);
  ASSERT_TRUE(file) << Describe(file.error());
  const auto b = file->Find("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->dtype, DType::kInt8);
  EXPECT_THAT(b->sizes, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(std::memcmp(b->bytes, "de", 2), 0);
  EXPECT_FALSE(file->Find("c"));
}

TEST(TensorFile, RefusesWhatIsNoSuchFile) {
  EXPECT_FALSE(TensorFile::Open(WriteTemporary("bad.safetensors", "")));
  EXPECT_FALSE(TensorFile::Open("/nowhere.safetensors"));
}

}  // namespace
}  // namespace steelyard::weights
