// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by products of batches of matrices (brgconv): how many channels of the result a
// product gives at a time. The weight is filled up to whole blocks of them.
#pragma once

#include <cstdint>

namespace steelyard::onednn {

struct ProductChannels {
  std::int64_t channels = 1;       // of the result, in a group
  std::int64_t vector = 16;        // of a register
  std::int64_t element_bytes = 4;  // of the weight
  bool pointwise = false;
  double pixels = 1;  // of the image, for each step of the stride
};
std::int64_t ProductBlock(const ProductChannels& c);

// Whether `channels` in whole blocks leave at most a twentieth of them empty.
bool NearlyFills(std::int64_t channels, std::int64_t block);

}  // namespace steelyard::onednn
