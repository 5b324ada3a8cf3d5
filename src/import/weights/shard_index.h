// SPDX-License-Identifier: Apache-2.0
//
// The index of a set of safetensors files, model.safetensors.index.json: which tensor is in which.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "import/padded_text.h"
#include "steelyard/error.h"

namespace steelyard::weights {

struct ShardIndex {
  std::vector<std::string> files;  // in the order of their names
  // The name of each tensor, and the index of its file.
  std::vector<std::pair<std::string, std::uint32_t>> tensors;
};

Result<ShardIndex> ReadShardIndex(const PaddedText& text);

}  // namespace steelyard::weights
