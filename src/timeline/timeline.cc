// SPDX-License-Identifier: Apache-2.0

#include "steelyard/timeline.h"

namespace steelyard {

std::string_view NameOf(Category category) {
  switch (category) {
    case Category::kParameters:
      return "parameters";
    case Category::kBuffers:
      return "buffers";
    case Category::kInputs:
      return "inputs";
    case Category::kGradients:
      return "gradients";
    case Category::kOptimizerState:
      return "optimizer_state";
    case Category::kActivations:
      return "activations";
    case Category::kTemporaries:
      return "temporaries";
    case Category::kOutputs:
      return "outputs";
    case Category::kCache:
      return "cache";
    case Category::kLibraries:
      return "libraries";
  }
  __builtin_unreachable();
}

}  // namespace steelyard
