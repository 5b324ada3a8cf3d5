// SPDX-License-Identifier: Apache-2.0
//
// The largest batch (or sequence) whose run fits in a given memory, found by weighing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/weigh.h"

namespace steelyard {

// Weighs the model with the given sizes.
using WeighSizes = std::function<Result<Weighing>(const BindOptions& sizes)>;

// Which size of its inputs a model leaves open for the search.
struct OpenSize {
  bool batch = true;        // the first of the inputs' dimensions, else the second
  std::string symbol = {};  // or neither, but this size of the file, which stands elsewhere
  std::string place = {};   // where: "dimensions 2 and 3 of x"
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t step = 1;  // only multiples of it are sizes
};

// Returns the batch where the file and `sizes` leave it open, otherwise the sequence, otherwise the
// first size of another dimension, such as an image's height. An error that says how to export a
// model with an open size when there is none.
Result<OpenSize> FindOpenSize(const Program& program, const BindOptions& sizes);

// Returns the weighing of the largest size whose peak is at most `limit` bytes, with `fit` filled
// in. The peak grows about in proportion, so that a few weighings are enough. An error when even
// the least size does not fit.
Result<Weighing> WeighLargest(const OpenSize& open, const BindOptions& sizes, std::int64_t limit,
                              const WeighSizes& weigh);

}  // namespace steelyard
