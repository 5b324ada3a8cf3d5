// SPDX-License-Identifier: Apache-2.0
#include "meanings/meanings.h"

namespace steelyard::engine {

Meaning MeaningOf(std::string_view op) {
  for (const auto& family : {ConvolutionMeanings(), GeneralMeanings(), IndexingMeanings(),
                             NetworkMeanings(), PairMeanings()}) {
    for (const MeaningRow& row : family) {
      if (row.op == op) return row.meaning;
    }
  }
  return nullptr;
}

}  // namespace steelyard::engine
