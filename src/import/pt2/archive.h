// SPDX-License-Identifier: Apache-2.0
//
// A zip archive of which single texts are read. The weights beside them are never touched: only
// the directory at the file's end and the entries that are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "import/padded_text.h"
#include "steelyard/error.h"

struct zip;

namespace steelyard::pt2 {

class Archive {
 public:
  // Largest text that is read, and how many times its stored size a large one may inflate to.
  // simdjson counts positions in 32 bits. Torch's JSON deflates 25 to 40 times (deflate's limit is
  // 1032); what inflates much further and is large was made to fill a memory.
  static constexpr std::uint64_t kMaxTextBytes = (std::uint64_t{1} << 32U) - 4096;
  static constexpr std::uint64_t kMaxInflation = 200;
  static constexpr std::uint64_t kFreeInflationBytes = std::uint64_t{16} << 20U;

  // Reads the directory of the archive at `path`.
  static Result<Archive> Open(const std::string& path);

  std::size_t size() const { return size_; }
  // Name of an entry as stored ("model/models/model.json"). Requires: index < size().
  std::string_view name(std::size_t index) const;
  // Bytes of an entry when inflated, as the directory says; 0 where it does not.
  std::uint64_t bytes(std::size_t index) const;
  // The content of an entry, its size and checksum verified.
  Result<PaddedText> Read(std::size_t index) const;
  // Up to `limit` bytes of the beginning of an entry; fewer where it ends or cannot be read.
  std::string ReadBeginning(std::size_t index, std::size_t limit) const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  Archive(zip* archive, std::uint64_t file_bytes);

  std::unique_ptr<zip, Close> archive_;
  std::uint64_t file_bytes_ = 0;
  std::size_t size_ = 0;
};

}  // namespace steelyard::pt2
