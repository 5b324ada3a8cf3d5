// SPDX-License-Identifier: Apache-2.0
//
// Strings as dense ids: names, module paths and source lines occur thousands of times in a program
// and are stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace steelyard {

using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0;  // the empty string

// A copy shares what is there and costs nothing; what either adds later is its own.
class StringTable {
 public:
  StringTable();

  // The id of `text`, the same for equal texts. The bytes are copied.
  StringId Intern(std::string_view text);
  // The id of `text` if it was interned, kNoString otherwise.
  StringId Find(std::string_view text) const;
  std::string_view view(StringId id) const {
    const Layer* layer = top_.get();
    while (id < layer->first) layer = layer->below.get();
    const Span& s = layer->spans[id - layer->first];
    return {layer->bytes.data() + s.begin, s.size};
  }
  std::size_t size() const { return top_->first + top_->spans.size(); }

 private:
  struct Span {
    std::uint32_t begin;
    std::uint32_t size;
  };
  // Of the hash table, so that a look at another text's slot stays there.
  struct Slot {
    std::uint32_t hash = 0;
    StringId id = kNoString;  // free
  };
  // The strings from `first` on; those before it are in the layers below, which nobody changes.
  struct Layer {
    std::shared_ptr<const Layer> below;
    StringId first = 0;
    std::uint32_t depth = 0;
    std::vector<char> bytes;
    std::vector<Span> spans;
    std::vector<Slot> slots;  // open addressing, a power of two

    const Slot& SlotOf(std::string_view text, std::uint32_t hash) const;
    void Grow();
    StringId Add(std::string_view text, std::uint32_t hash);
  };
  StringId Find(std::string_view text, std::uint32_t hash) const;
  void Own();

  std::shared_ptr<Layer> top_;
};

}  // namespace steelyard
