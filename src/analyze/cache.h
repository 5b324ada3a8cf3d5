// SPDX-License-Identifier: Apache-2.0
//
// How many bytes it takes to keep what a model has seen, by the ways in which caches are stored.
// Nothing here is run: each row says whose arithmetic it is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/tables.h"
#include "support/checked.h"

namespace steelyard {

// Numbers that a cache is kept in where they are not the model's.
struct CacheNumberRow {
  std::string_view name;
  std::string_view summary;
  int bits = 16;
  int group = 0;         // numbers that share scales; 0: all of a layer's keys, and all its values
  int scale_bytes = 0;   // of a group; 0: two numbers of the model's dtype
  int whole_tokens = 0;  // the newest are kept as they are until there are so many
  // transformers' numbers: its cache refuses layers that look through a window.
  bool transformers = false;
};
std::span<const CacheNumberRow> CacheNumberRows();
// nullptr for an empty name: the model's own.
const CacheNumberRow* FindCacheNumbers(std::string_view name);

// When, and of how many sequences.
struct CacheUse {
  std::int64_t sequences = 1;
  std::int64_t prompt = 0;  // tokens of each
  std::int64_t past = 0;    // tokens that each had seen before the last call
  std::int64_t tokens = 0;  // that the last call was given
  std::int64_t most = 0;    // tokens that each will have seen at the end
  std::int64_t block = 1;   // of a paged cache, in tokens
  std::int64_t shared = 0;  // tokens that all begin with
  bool reorders = false;    // beams were chosen, whose caches are copies
  DType dtype = DType::kFloat32;
  const CacheNumberRow* numbers = nullptr;
  std::int64_t seen() const { return past + tokens; }
};

// What a layer takes, of all sequences, in bytes.
struct CacheBytes {
  CheckedInt all = {};
  CheckedInt unused = {};  // of these, where no token lies
  CheckedInt shared = {};  // that it would take besides, did sequences not share
};

// How a cache is stored.
struct CacheStoreRow {
  std::string_view name;
  std::string_view summary;
  CacheBytes (*bytes)(const CacheLayer& layer, const CacheUse& use);
  bool takes_numbers = true;
  bool takes_blocks = false;
};
std::span<const CacheStoreRow> CacheStoreRows();
const CacheStoreRow* FindCacheStore(std::string_view name);

// Bytes of one token of one sequence in a layer, scales shared with others left out of account.
CheckedInt BytesPerToken(const CacheLayer& layer, DType dtype, const CacheNumberRow* numbers);

// Layers that keep the same of each token.
struct CacheGroup {
  CacheLayer layer;
  std::int64_t layers = 0;
  std::int64_t bytes_per_token = 0;  // of one sequence, in all of them
  std::int64_t tokens = 0;           // of each sequence that they hold at the end
  std::int64_t bytes = 0;            // of all sequences at the end
};
std::vector<CacheGroup> GroupLayers(std::span<const CacheLayer> layers);

// Of all layers. An error where it is more than 2^63 bytes.
Result<CacheBytes> BytesOf(std::span<const CacheGroup> groups, const CacheStoreRow& store,
                           const CacheUse& use);

}  // namespace steelyard
