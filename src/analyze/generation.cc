// SPDX-License-Identifier: Apache-2.0
//
// A call takes as long as the slower of computing and moving, and a whole text as long as its first
// call and, for each token after that, the mean of the second and the last. What fits beside the
// weights is found by halving, since the bytes of a cache only grow with its tokens and sequences.

#include "analyze/generation.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "ir/visit_values.h"

namespace steelyard {
namespace {

// More tokens, or sequences, than this are not looked for.
constexpr std::int64_t kMost = std::int64_t{1} << 40;

// The largest number up to kMost of which `fits` is true, where it is not true of any larger one.
template <class Fits>
std::int64_t Largest(const Fits& fits) {
  std::int64_t low = 0;
  std::int64_t high = kMost;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

std::int64_t WeightsRead(const Program& kernels, const WorkReport& work) {
  std::unordered_map<StorageId, std::pair<std::int64_t, std::int64_t>> of_storage;  // bytes, read
  for (const NamedTensor& parameter : kernels.parameters) {
    if (parameter.value == kNoId) continue;
    of_storage.try_emplace(kernels.values[parameter.value].storage, kernels.stored_bytes(parameter),
                           0);
  }
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t read = work.by_node[i].read;
    if (read == 0) continue;
    const auto note = [&](ValueId id) {
      const auto found = of_storage.find(kernels.values[id].storage);
      if (found == of_storage.end()) return;
      auto& [bytes, most] = found->second;
      most = std::max(most, std::min(bytes, read));
    };
    for (const Argument& argument : kernels.args(nodes[i])) VisitValues(kernels, argument, note);
  }
  std::int64_t sum = 0;
  for (const auto& [storage, figures] : of_storage) sum += figures.second;
  return sum;
}

void Time(double operations, double bandwidth, GenerationCall* call) {
  if (operations <= 0 || bandwidth <= 0) return;
  const double computing = static_cast<double>(call->flops) / operations;
  const double moving = static_cast<double>(call->moved()) / bandwidth;
  call->seconds = std::max(computing, moving);
  call->waits_for_memory = moving > computing;
}

double TimeOfAll(const Generation& generation) {
  const std::vector<GenerationCall>& calls = generation.calls;
  if (calls.size() < 2) return calls.empty() ? 0.0 : calls[0].seconds;
  const double mean = (calls[1].seconds + calls.back().seconds) / 2;
  return calls[0].seconds + static_cast<double>(generation.tokens - 1) * mean;
}

Status CountCache(const CacheStoreRow& store, const CacheUse& end, Generation* generation) {
  CheckedInt per_token = 0;
  CheckedInt expanded = 0;
  bool expands = false;
  for (CacheGroup& group : generation->layers) {
    const CheckedInt one = BytesPerToken(group.layer, end.dtype, end.numbers) * group.layers;
    SY_ASSIGN_OR_RETURN(const CacheBytes bytes, BytesOf({&group, 1}, store, end));
    group.bytes_per_token = one.value();
    group.bytes = bytes.all.value();
    per_token += one;
    CacheLayer whole = group.layer;
    if (whole.expanded > 0) {
      expands = true;
      whole = {.heads = 1, .key_width = whole.expanded};
    }
    expanded += BytesPerToken(whole, end.dtype, end.numbers) * group.layers;
  }
  SY_ASSIGN_OR_RETURN(const CacheBytes all, BytesOf(generation->layers, store, end));
  generation->bytes_per_token = per_token.value();
  generation->expanded_per_token = expands ? expanded.value() : 0;
  generation->unused = all.unused.value();
  generation->shared = all.shared.value();
  return {};
}

std::int64_t TokensWithin(std::int64_t room, const Generation& generation,
                          const CacheStoreRow& store, const CacheUse& end) {
  return Largest([&](std::int64_t tokens) {
    CacheUse use = end;
    use.sequences = 1;
    use.prompt = use.most = tokens;
    use.past = tokens - 1;
    use.tokens = 1;
    use.shared = 0;
    const Result<CacheBytes> bytes = BytesOf(generation.layers, store, use);
    return bytes && bytes->all.value() <= room;
  });
}

std::int64_t SequencesWithin(std::int64_t room, const Generation& generation,
                             const CacheStoreRow& store, const CacheUse& end) {
  return Largest([&](std::int64_t sequences) {
    CacheUse use = end;
    use.sequences = sequences;
    const Result<CacheBytes> bytes = BytesOf(generation.layers, store, use);
    return bytes && bytes->all.value() <= room;
  });
}

}  // namespace steelyard
