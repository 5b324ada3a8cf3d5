// SPDX-License-Identifier: Apache-2.0
//
// Reads a binary header from its beginning on, a window of the file at a time, and jumps over what
// is not wanted. Every count in it is a claim: what does not fit into the rest of the file is
// refused before anything is done with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "import/weights/file.h"

namespace steelyard::weights {

enum class ByteOrder : std::uint8_t { kLittle, kBig };

class Cursor {
 public:
  explicit Cursor(const File& file) : file_(file) {}

  std::int64_t position() const { return position_; }
  std::int64_t rest() const { return file_.size() - position_; }
  void set_order(ByteOrder order) { order_ = order; }

  // All return false, and read nothing, where the file ends before.
  bool Number(std::size_t bytes, std::uint64_t* out);
  bool Skip(std::uint64_t bytes);
  // `count` of `bytes` each.
  bool Skip(std::uint64_t count, std::uint64_t bytes);
  // Valid until the next call. Requires: bytes <= kMaxText.
  bool Text(std::size_t bytes, std::string_view* out);

  static constexpr std::size_t kMaxText = 65'536;

 private:
  static constexpr std::size_t kWindow = 4 * kMaxText;
  // So many bytes at the position, in the window.
  const char* Take(std::size_t bytes);

  const File& file_;
  ByteOrder order_ = ByteOrder::kLittle;
  std::int64_t position_ = 0;
  std::int64_t window_begin_ = 0;
  std::vector<char> window_;
};

}  // namespace steelyard::weights
