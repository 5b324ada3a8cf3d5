// SPDX-License-Identifier: Apache-2.0
//
// Files that tests write. Tests run side by side, one process each: every process has a folder of
// its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace steelyard {

// Where a file called `name` may be written: in a folder of this process, removed at its end.
inline std::string TemporaryPath(std::string_view name) {
  struct Folder {
    std::filesystem::path path;
    explicit Folder(std::filesystem::path where) : path(std::move(where)) {
      std::filesystem::create_directories(path);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder(std::filesystem::path(::testing::TempDir()) /
                             ("steelyard_test_" + std::to_string(::getpid())));
  return (folder.path / name).string();
}

// Writes `content` to a file called `name` and returns its path. Where there is one it is replaced.
inline std::string WriteTemporary(std::string_view name, std::string_view content) {
  const std::string path = TemporaryPath(name);
  std::ofstream file(path, std::ios::binary);
  file << content;
  EXPECT_TRUE(file.flush()) << path;
  return path;
}

}  // namespace steelyard
