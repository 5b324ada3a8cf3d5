// SPDX-License-Identifier: Apache-2.0
//
// The tensors of one or several files of weights as their headers give them, whatever the format:
// what readers fill and `BuildProgram` makes a program of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard::weights {

// One tensor. It lies at `begin` of the data of file `file`.
struct StoredTensor {
  StringId name = kNoString;
  DType dtype = DType::kFloat32;
  std::uint8_t rank = 0;
  StringId packing = kNoString;  // of blocks, what they are called: "q4_k"
  std::uint32_t sizes = 0;       // index into StoredWeights::sizes
  std::uint32_t file = 0;
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};

class StoredWeights {
 public:
  Program program;  // its strings, facts and notes; the tensors are not in it yet
  std::vector<StoredTensor> tensors;
  std::vector<std::int64_t> sizes;

  std::span<const std::int64_t> SizesOf(const StoredTensor& tensor) const {
    return {sizes.data() + tensor.sizes, tensor.rank};
  }
  std::string_view NameOf(const StoredTensor& tensor) const { return program.text(tensor.name); }
  // Takes a name once. An error where it was taken before, or is none.
  Result<StringId> TakeName(std::string_view name);
  bool IsTaken(std::string_view name) const;
  void AddFact(std::string_view name, std::string_view text);
  void AddFact(std::string_view name, std::int64_t number);
  void AddNote(std::string_view note);

 private:
  std::vector<bool> taken_;  // by name
};

// What a format asks of the places of tensors beyond that they lie within the data, apart.
struct PlaceRules {
  bool gapless = false;  // every byte belongs to a tensor
};

// Refuses tensors of one file, those from `first` on, that lie outside of its `data_bytes` or over
// each other; two that lie at exactly the same place are one tensor.
Status CheckPlaces(const StoredWeights& weights, std::size_t first, std::int64_t data_bytes,
                   PlaceRules rules);

// "model.layers.0.mlp" as a message shows it: in quotes, shortened.
std::string QuotedName(std::string_view name);

}  // namespace steelyard::weights
