// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a GGUF file: pairs of a key and a typed value. A few say what the model is; the
// vocabulary, which is most of it, is jumped over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/weights/cursor.h"
#include "import/weights/stored.h"
#include "steelyard/error.h"

namespace steelyard::weights {

class GgufMetadata {
 public:
  // Reads `count` pairs.
  Status Read(std::uint64_t count, Cursor* cursor);

  // What the program is told, in the order of the table of facts.
  void AddFacts(StoredWeights* weights) const;
  std::int64_t alignment() const { return alignment_; }
  std::int64_t split_number() const { return split_number_; }
  std::int64_t split_count() const { return split_count_; }
  std::optional<std::int64_t> split_tensors() const { return split_tensors_; }

 private:
  struct Value {
    std::string text = {};
    std::optional<std::int64_t> number = {};
    std::uint64_t elements = 0;  // of an array
  };
  static constexpr std::size_t kMaxFacts = 16;

  Status ReadPair(Cursor* cursor);
  Status Keep(std::string_view key, Value value);

  std::array<std::optional<Value>, kMaxFacts> facts_;
  std::int64_t alignment_ = 32;
  std::int64_t split_number_ = 0;
  std::int64_t split_count_ = 1;
  std::optional<std::int64_t> split_tensors_;
};

}  // namespace steelyard::weights
