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
  zip_int32_t method = ZIP_CM_DEFLATE;
};

inline TemporaryFile ZipOf(const std::vector<ZipEntry>& entries, std::string_view suffix = ".pt2") {
  TemporaryFile file(suffix);
  zip_t* archive = zip_open(file.path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  EXPECT_NE(archive, nullptr);
  for (const ZipEntry& entry : entries) {
    zip_source_t* source =
        zip_source_buffer(archive, entry.content.data(), entry.content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    EXPECT_GE(index, 0) << entry.name;
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), entry.method, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
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
