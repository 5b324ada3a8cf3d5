// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/external_data.h"

#include <gtest/gtest.h>

#include "../files.h"

namespace steelyard::onnx {
namespace {

TEST(ExternalData, HasWhatStandsInTheFile) {
  const TemporaryFile file(".data", "0123456789");
  const std::filesystem::path path(file.path());
  ExternalData external(path.parent_path());
  const std::string name = path.filename().string();
  EXPECT_EQ(external.Bytes(name, 3, 4), "3456");
  EXPECT_EQ(external.Bytes(name, 10, 0), "");
  EXPECT_EQ(external.Bytes(name, 7, 4), std::nullopt) << "beyond the end";
  EXPECT_EQ(external.Bytes(name, 11, 0), std::nullopt);
  EXPECT_EQ(external.Bytes(name, -1, 1), std::nullopt);
}

TEST(ExternalData, IsInTheModelsFolder) {
  const TemporaryFile file(".data", "0123456789");
  const std::filesystem::path folder = std::filesystem::path(file.path()).parent_path();
  ExternalData external(folder);
  EXPECT_EQ(external.Bytes(file.path(), 0, 1), std::nullopt) << "absolute";
  EXPECT_EQ(external.Bytes("../" + folder.filename().string(), 0, 1), std::nullopt);
  EXPECT_EQ(external.Bytes(".", 0, 0), std::nullopt) << "a folder";
  EXPECT_EQ(external.Bytes("", 0, 0), std::nullopt);
}

}  // namespace
}  // namespace steelyard::onnx
