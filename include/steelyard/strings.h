// SPDX-License-Identifier: Apache-2.0
//
// Strings as dense ids: names, module paths and source lines occur thousands of times in a program
// and are stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace steelyard {

using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0;  // the empty string

class StringTable {
 public:
  StringTable();

  // The id of `text`, the same for equal texts. The bytes are copied.
  StringId Intern(std::string_view text);
  // The id of `text` if it was interned, kNoString otherwise.
  StringId Find(std::string_view text) const;
  std::string_view view(StringId id) const {
    const Span& s = spans_[id];
    return {bytes_.data() + s.begin, s.size};
  }
  std::size_t size() const { return spans_.size(); }

 private:
  struct Span {
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t hash;
  };
  std::uint32_t Slot(std::string_view text, std::uint32_t hash) const;
  void Grow();

  std::vector<char> bytes_;
  std::vector<Span> spans_;
  std::vector<StringId> slots_;  // open addressing, a power of two, kNoString is free
};

}  // namespace steelyard
