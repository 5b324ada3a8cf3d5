// SPDX-License-Identifier: Apache-2.0
//
// What calls of a program that ran are weighed at, each as a program of one call, by the rows that
// weigh a model without running it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "analyze/counting.h"
#include "analyze/work.h"
#include "record/recording.h"

namespace steelyard {

class CallWeights {
 public:
  explicit CallWeights(const Convention& convention) : convention_(convention) {}

  // Of one call; nothing where nobody knows all that it does.
  const std::optional<NodeWork>& Of(const RecordedCall& call);

 private:
  std::optional<NodeWork> Weigh(const std::string& text) const;

  const Convention& convention_;
  std::unordered_map<std::string, std::optional<NodeWork>> weights_;
};

}  // namespace steelyard
