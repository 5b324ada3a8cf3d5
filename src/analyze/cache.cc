// SPDX-License-Identifier: Apache-2.0
//
// Sources of the arithmetic: transformers 5 (cache_utils.py: DynamicCache, StaticCache,
// QuantizedCache), vLLM (blocks of tokens, of which a prefix's full ones are shared; Kwon et al.
// 2023) and ggml (block_q8_0 and block_q4_0).
#include "analyze/cache.h"

#include <algorithm>
#include <array>

#include "ir/cache_layer.h"
#include "support/rounding.h"

namespace steelyard {
namespace {

constexpr int kBitsPerByte = 8;

constexpr std::array kNumbers{
    CacheNumberRow{.name = "float8",
                   .summary = "8 bits, one float32 scale for a layer's keys and one for its values",
                   .bits = 8,
                   .scale_bytes = 4,
                   .transformers = true},
    CacheNumberRow{.name = "int8",
                   .summary = "8 bits in groups of 64 with scale and zero; the newest 128 whole",
                   .bits = 8,
                   .group = 64,
                   .whole_tokens = 128,
                   .transformers = true},
    CacheNumberRow{.name = "int4",
                   .summary = "4 bits in groups of 64 with scale and zero; the newest 128 whole",
                   .bits = 4,
                   .group = 64,
                   .whole_tokens = 128,
                   .transformers = true},
    CacheNumberRow{.name = "int2",
                   .summary = "2 bits in groups of 64 with scale and zero; the newest 128 whole",
                   .bits = 2,
                   .group = 64,
                   .whole_tokens = 128,
                   .transformers = true},
    CacheNumberRow{.name = "q8_0",
                   .summary = "8 bits in groups of 32 with a float16 scale, as llama.cpp",
                   .bits = 8,
                   .group = 32,
                   .scale_bytes = 2},
    CacheNumberRow{.name = "q4_0",
                   .summary = "4 bits in groups of 32 with a float16 scale, as llama.cpp",
                   .bits = 4,
                   .group = 32,
                   .scale_bytes = 2},
};

std::int64_t BytesOfNumber(DType dtype) { return BitsOf(dtype) / kBitsPerByte; }

// Of so many tokens of one sequence, in a layer, but for scales that many tokens share.
CheckedInt BytesOfTokens(const CacheLayer& layer, std::int64_t tokens, DType dtype,
                         const CacheNumberRow* numbers) {
  if (numbers == nullptr) {
    return CheckedInt(tokens) * layer.PerToken() * BytesOfNumber(dtype);
  }
  CheckedInt bytes = 0;
  for (const std::int64_t width : {layer.key_width, layer.value_width}) {
    const CheckedInt count = CheckedInt(tokens) * layer.heads * width;
    if (!count.ok()) return count;
    bytes += CheckedInt(DivideUp(count.value(), kBitsPerByte / numbers->bits));
    if (numbers->group == 0) continue;
    const std::int64_t scale =
        numbers->scale_bytes > 0 ? numbers->scale_bytes : 2 * BytesOfNumber(dtype);
    bytes += CheckedInt(DivideUp(count.value(), numbers->group)) * scale;
  }
  return bytes;
}

// Scales of all of a layer's keys, and of its values.
std::int64_t CommonScales(const CacheNumberRow* numbers) {
  return numbers != nullptr && numbers->group == 0 ? 2 * std::int64_t{numbers->scale_bytes} : 0;
}

// A DynamicCache: each call makes it anew, longer by its tokens. One of other numbers keeps the
// newest as they are until there are enough of them (QuantizedLayer.update), which begins behind
// the prompt.
CacheBytes Dynamic(const CacheLayer& layer, const CacheUse& use) {
  const std::int64_t tokens =
      use.reorders ? TokensHeld(layer, use.seen()) : TokensStored(layer, use.past, use.tokens);
  if (use.numbers == nullptr) {
    return {.all = BytesOfTokens(layer, tokens, use.dtype, nullptr) * use.sequences};
  }
  const std::int64_t written = std::max<std::int64_t>(use.seen() - use.prompt, 0);
  const std::int64_t whole =
      use.numbers->whole_tokens == 0 ? 0 : std::min(tokens, written % use.numbers->whole_tokens);
  const CheckedInt each = BytesOfTokens(layer, tokens - whole, use.dtype, use.numbers) +
                          BytesOfTokens(layer, whole, use.dtype, nullptr);
  return {.all = each * use.sequences + CommonScales(use.numbers)};
}

// A StaticCache: room for all that will be seen, or for a window, is there from the start.
CacheBytes Static(const CacheLayer& layer, const CacheUse& use) {
  const std::int64_t room = layer.window > 0 ? std::min(layer.window, use.most) : use.most;
  const std::int64_t seen = std::min(use.seen(), room);
  const CheckedInt all = BytesOfTokens(layer, room, use.dtype, nullptr) * use.sequences;
  return {.all = all,
          .unused = BytesOfTokens(layer, room - seen, use.dtype, nullptr) * use.sequences};
}

// Blocks of tokens: a sequence's last one is not full, and the full ones of what all begin with are
// there once. A window of w tokens lies in at most (w - 1) / block + 1 of them, rounded up.
CacheBytes Paged(const CacheLayer& layer, const CacheUse& use) {
  const std::int64_t seen = use.seen();
  std::int64_t blocks = DivideUp(seen, use.block);
  std::int64_t tokens = seen;
  bool slides = false;
  if (layer.window > 0 && layer.window < seen) {
    blocks = std::min(blocks, DivideUp(layer.window - 1, use.block) + 1);
    tokens = layer.window;
    slides = true;
  }
  const std::int64_t common = slides ? 0 : std::min(use.shared, seen) / use.block;
  const CheckedInt block = BytesOfTokens(layer, use.block, use.dtype, use.numbers);
  const CheckedInt own = CheckedInt(blocks - common) * use.sequences;
  const CheckedInt empty = CheckedInt(blocks * use.block - tokens) * use.sequences;
  return {.all = (own + common) * block + CommonScales(use.numbers),
          .unused = BytesOfTokens(layer, empty.value(), use.dtype, use.numbers),
          .shared = block * common * (use.sequences - 1)};
}

constexpr std::array kStores{
    CacheStoreRow{.name = "dynamic",
                  .summary = "grows with each token, as transformers' DynamicCache",
                  .bytes = Dynamic},
    CacheStoreRow{.name = "static",
                  .summary = "room for all tokens from the start, as transformers' StaticCache",
                  .bytes = Static,
                  .takes_numbers = false},
    CacheStoreRow{.name = "paged",
                  .summary = "blocks of tokens, of which sequences may share some, as vLLM's",
                  .bytes = Paged,
                  .takes_blocks = true},
};

bool Alike(const CacheLayer& a, const CacheLayer& b) {
  return a.heads == b.heads && a.key_width == b.key_width && a.value_width == b.value_width &&
         a.window == b.window && a.expanded == b.expanded;
}

}  // namespace

std::span<const CacheNumberRow> CacheNumberRows() { return kNumbers; }

const CacheNumberRow* FindCacheNumbers(std::string_view name) {
  const auto row = std::ranges::find(kNumbers, name, &CacheNumberRow::name);
  return row == kNumbers.end() ? nullptr : &*row;
}

std::span<const CacheStoreRow> CacheStoreRows() { return kStores; }

const CacheStoreRow* FindCacheStore(std::string_view name) {
  const auto row = std::ranges::find(kStores, name, &CacheStoreRow::name);
  return row == kStores.end() ? nullptr : &*row;
}

CheckedInt BytesPerToken(const CacheLayer& layer, DType dtype, const CacheNumberRow* numbers) {
  return BytesOfTokens(layer, 1, dtype, numbers);
}

std::vector<CacheGroup> GroupLayers(std::span<const CacheLayer> layers) {
  std::vector<CacheGroup> groups;
  for (const CacheLayer& layer : layers) {
    const auto group = std::ranges::find_if(
        groups, [&](const CacheGroup& one) { return Alike(one.layer, layer); });
    if (group == groups.end()) {
      groups.push_back({.layer = layer, .layers = 1});
    } else {
      ++group->layers;
    }
  }
  return groups;
}

Result<CacheBytes> BytesOf(std::span<const CacheGroup> groups, const CacheStoreRow& store,
                           const CacheUse& use) {
  CacheBytes sum;
  for (const CacheGroup& group : groups) {
    const CacheBytes one = store.bytes(group.layer, use);
    sum.all += one.all * group.layers;
    sum.unused += one.unused * group.layers;
    sum.shared += one.shared * group.layers;
  }
  if (sum.all.ok() && sum.unused.ok() && sum.shared.ok()) return sum;
  return Unexpected(InvalidInput("the cache takes more than 2^63 bytes", "--generate",
                                 "Let it read or write fewer tokens: 512+128."));
}

}  // namespace steelyard
