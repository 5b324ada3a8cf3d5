// SPDX-License-Identifier: Apache-2.0
//
// Files for tests: written to the temporary folder, removed when they go out of scope.
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../temporary.h"

namespace steelyard {

class TemporaryFile {
 public:
  // A file that does not exist yet, called "<something unique><suffix>".
  explicit TemporaryFile(std::string_view suffix) {
    static int count = 0;
    path_ = TemporaryPath(std::to_string(count++) + std::string(suffix));
  }
  TemporaryFile(std::string_view suffix, std::string_view content) : TemporaryFile(suffix) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) std::remove(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ZipEntry {
  std::string name;
  std::string content;
  int method = Z_DEFLATED;
};

inline TemporaryFile ZipOf(const std::vector<ZipEntry>& entries, std::string_view suffix = ".pt2") {
  TemporaryFile file(suffix);
  const zipFile archive = zipOpen64(file.path().c_str(), APPEND_STATUS_CREATE);
  EXPECT_NE(archive, nullptr);
  for (const ZipEntry& entry : entries) {
    EXPECT_EQ(zipOpenNewFileInZip(archive, entry.name.c_str(), nullptr, nullptr, 0, nullptr, 0,
                                  nullptr, entry.method, Z_DEFAULT_COMPRESSION),
              ZIP_OK)
        << entry.name;
    zipWriteInFileInZip(archive, entry.content.data(), static_cast<unsigned>(entry.content.size()));
    EXPECT_EQ(zipCloseFileInZip(archive), ZIP_OK);
  }
  EXPECT_EQ(zipClose(archive, nullptr), ZIP_OK);
  return file;
}

inline std::string BytesOf(const std::string& path) {
  std::string out;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  if (file == nullptr) return out;
  char buffer[65536];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) {
    out.append(buffer, got);
  }
  std::fclose(file);
  return out;
}

}  // namespace steelyard
