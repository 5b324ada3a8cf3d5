// SPDX-License-Identifier: Apache-2.0
//
// The free blocks of a pool, those of each stream in the order in which they are looked through.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steelyard {

using BlockId = std::uint32_t;
using StreamId = std::uint32_t;

// What a list of blocks is ordered by: size, then the age of the segment, then the address. Lists
// that leave one of them out have it 0.
struct BlockKey {
  std::int64_t size = 0;
  std::int64_t age = 0;
  std::int64_t address = 0;
  auto operator<=>(const BlockKey&) const = default;
};

// Flat and sorted: the lists are short, and a step looks through them for every allocation.
class FreeBlocks {
 public:
  struct Entry {
    BlockKey key;
    BlockId block = 0;
  };
  using List = std::vector<Entry>;

  void Insert(StreamId stream, const BlockKey& key, BlockId block) {
    if (streams_.size() <= stream) streams_.resize(std::size_t{stream} + 1);
    List& list = streams_[stream];
    list.insert(At(list, key), {.key = key, .block = block});
  }
  void Erase(StreamId stream, const BlockKey& key) {
    List& list = streams_[stream];
    list.erase(At(list, key));
  }
  // The blocks of a stream. What a list holds changes with every `Insert` and `Erase`.
  [[nodiscard]] const List& Of(StreamId stream) const {
    static const List kNone;
    return stream < streams_.size() ? streams_[stream] : kNone;
  }
  [[nodiscard]] std::size_t streams() const { return streams_.size(); }
  // Returns the place in `Of(stream)` of the first block whose key is not less.
  [[nodiscard]] std::size_t Find(StreamId stream, const BlockKey& key) const {
    const List& list = Of(stream);
    const auto at = std::ranges::lower_bound(list, key, {}, &Entry::key);
    return static_cast<std::size_t>(at - list.begin());
  }

 private:
  static List::iterator At(List& list, const BlockKey& key) {
    return std::ranges::lower_bound(list, key, {}, &Entry::key);
  }

  std::vector<List> streams_;
};

}  // namespace steelyard
