// SPDX-License-Identifier: Apache-2.0
//
// What a model that writes text token by token costs: its calls, which are weighed like any
// program, and what it keeps of the tokens, which is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/cache.h"
#include "analyze/work.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// One call of a generation: the prompt's, or one that goes on from what it left.
struct GenerationCall {
  std::string_view name = {};      // "prompt", "first", "last"
  std::int64_t past = 0;           // tokens that each sequence has seen before it
  std::int64_t tokens = 1;         // that each is given
  std::int64_t peak = 0;           // bytes; 0: the call was not weighed with such a cache
  std::int64_t cache = 0;          // bytes that the cache holds when it has ended
  std::int64_t flops = 0;          // of contractions
  std::int64_t weights_read = 0;   // bytes of parameters that it takes from memory, each once
  std::int64_t cache_read = 0;     // bytes of what it kept, once
  std::int64_t cache_written = 0;  // bytes of what it keeps of its tokens
  double seconds = 0;              // 0: nobody asked
  bool waits_for_memory = false;   // what it moves takes longer than what it computes
  std::int64_t moved() const { return weights_read + cache_read + cache_written; }
};

// Of a memory that was asked for, beside the weights.
struct GenerationFit {
  std::int64_t limit = 0;      // bytes
  std::int64_t tokens = 0;     // of a single sequence that there is room for
  std::int64_t sequences = 0;  // of all the tokens that are asked for
};

struct Generation {
  std::int64_t prompt = 0, tokens = 1, beams = 1;
  std::int64_t sequences = 1;     // that are written at once: of all prompts, all beams
  std::string_view store = {};    // "dynamic"
  std::string_view numbers = {};  // "int4"; empty: the model's
  DType dtype = DType::kFloat32;
  std::int64_t block = 0;          // of a paged cache, in tokens; else 0
  std::int64_t shared_prefix = 0;  // tokens
  std::int64_t weights = 0;        // bytes of parameters and buffers
  std::vector<CacheGroup> layers = {};
  std::int64_t bytes_per_token = 0;     // of one sequence, in all layers
  std::int64_t expanded_per_token = 0;  // were keys and values of all heads kept; 0: they are
  std::int64_t unused = 0;              // bytes of the cache where no token lies, at the end
  std::int64_t shared = 0;              // bytes that the cache would take besides, at the end
  std::vector<GenerationCall> calls = {};
  std::size_t explained = 0;  // of these, the one that the rest of the report is of
  std::int64_t peak =
      0;  // bytes, the highest of the calls; 0: they were not weighed with such a cache
  double seconds = 0;  // of all calls, where somebody asked
  std::optional<GenerationFit> fit = {};
};

// Bytes of parameters that the program takes from memory, each of them once: all of one that some
// kernel reads as a whole, of others as much as the kernel that reads most.
std::int64_t WeightsRead(const Program& kernels, const WorkReport& work);

// How long a call takes that does nothing but compute at the one speed and move at the other, at
// once: operations and bytes in a second.
void Time(double operations, double bandwidth, GenerationCall* call);

// Of all calls: those between the first and the last take about as long as these two on the
// average.
double TimeOfAll(const Generation& generation);

// Fills in what a generation keeps: of each group of layers, per token, and at the end.
Status CountCache(const CacheStoreRow& store, const CacheUse& end, Generation* generation);

// The most tokens of one sequence, and the most sequences of `end`, whose cache takes at most
// `room`.
std::int64_t TokensWithin(std::int64_t room, const Generation& generation,
                          const CacheStoreRow& store, const CacheUse& end);
std::int64_t SequencesWithin(std::int64_t room, const Generation& generation,
                             const CacheStoreRow& store, const CacheUse& end);

}  // namespace steelyard
