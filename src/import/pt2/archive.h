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
#include <vector>

#include "import/memory_map.h"
#include "import/padded_text.h"
#include "steelyard/error.h"

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

  Archive(Archive&&) noexcept;
  ~Archive();

  std::size_t size() const { return entries_.size(); }
  // Name of an entry as stored ("model/models/model.json"); empty where it has none. Requires:
  // index < size().
  std::string_view name(std::size_t index) const;
  // Bytes of an entry when inflated, as the directory says. Requires: index < size().
  std::uint64_t bytes(std::size_t index) const { return entries_[index].bytes; }
  // The content of an entry, its size and checksum verified. Requires: index < size().
  Result<PaddedText> Read(std::size_t index) const;
  // Up to `limit` bytes of the beginning of an entry; fewer where it ends or cannot be
  // read. Requires: index < size().
  std::string ReadBeginning(std::size_t index, std::size_t limit) const;

 private:
  class Stream;
  struct Entry {
    std::uint64_t directory_offset = 0;  // Where the directory describes it, and its number there.
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t stored_bytes = 0;
    std::size_t name_end = 0;  // In `names_`; it begins where the one before ends.
    std::uint32_t crc = 0;
    std::uint16_t method = 0;
    bool encrypted = false;
  };

  explicit Archive(std::unique_ptr<Stream> stream);
  bool ReadDirectory();
  Status Check(const Entry& entry) const;
  bool OpenEntry(const Entry& entry, bool as_stored) const;
  std::string_view StoredBytes(const Entry& entry) const;

  std::unique_ptr<Stream> stream_;
  std::vector<Entry> entries_;
  std::string names_;
};

}  // namespace steelyard::pt2
