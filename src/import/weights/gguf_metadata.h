// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a GGUF file: pairs of a key and a typed value. Those that say what the model is
// are kept; the vocabulary, which is most of it, is jumped over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "import/weights/cursor.h"
#include "import/weights/stored.h"
#include "steelyard/error.h"

namespace steelyard::weights {

struct GgufValue {
  std::string text = {};
  std::optional<std::int64_t> number = {};  // of an array: of all its elements, if they are equal
  std::optional<double> real = {};
  std::uint64_t elements = 0;  // of an array
};

class GgufMetadata {
 public:
  // Reads `count` pairs.
  Status Read(std::uint64_t count, Cursor* cursor);

  // "llama"; empty where the file does not say it.
  std::string architecture() const;
  // What "llama.block_count" says, for "block_count"; nullptr where it is missing.
  const GgufValue* Find(std::string_view key) const;

  // What the program is told, in the order of the table of facts.
  void AddFacts(StoredWeights* weights) const;
  std::int64_t alignment() const { return alignment_; }
  std::int64_t split_number() const { return split_number_; }
  std::int64_t split_count() const { return split_count_; }
  std::optional<std::int64_t> split_tensors() const { return split_tensors_; }

 private:
  static constexpr std::size_t kMaxFacts = 16;

  Status ReadPair(Cursor* cursor);
  Status Keep(std::string_view key, GgufValue value);

  std::array<std::optional<GgufValue>, kMaxFacts> facts_;
  std::unordered_map<std::string, GgufValue> kept_;  // by the whole key
  std::int64_t alignment_ = 32;
  std::int64_t split_number_ = 0;
  std::int64_t split_count_ = 1;
  std::optional<std::int64_t> split_tensors_;
};

}  // namespace steelyard::weights
