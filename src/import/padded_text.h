// SPDX-License-Identifier: Apache-2.0
//
// A text with room after it, as simdjson needs it: it reads whole vectors beyond the last byte.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace steelyard {

class PaddedText {
 public:
  static constexpr std::size_t kPadding = 64;

  PaddedText() = default;
  explicit PaddedText(std::size_t size)
      : bytes_(std::make_unique_for_overwrite<char[]>(size + kPadding)), size_(size) {
    std::memset(bytes_.get() + size, 0, kPadding);
  }
  explicit PaddedText(std::string_view text) : PaddedText(text.size()) {
    text.copy(bytes_.get(), text.size());
  }
  char* data() { return bytes_.get(); }
  std::string_view view() const { return {bytes_.get(), size_}; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return size_ + kPadding; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace steelyard
