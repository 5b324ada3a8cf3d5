// SPDX-License-Identifier: Apache-2.0
//
// What people call the parts of memory, in the order of a report: what stays first.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "steelyard/report.h"
#include "steelyard/timeline.h"

namespace steelyard::present {

struct CategoryWords {
  Category category;
  std::string_view label;
  report::Style style;  // alike for what is there all the time
};
inline constexpr std::array kCategoryWords = {
    CategoryWords{Category::kParameters, "parameters", report::Style::kBlue},
    CategoryWords{Category::kBuffers, "buffers", report::Style::kDim},
    CategoryWords{Category::kOptimizerState, "optimizer", report::Style::kDim},
    CategoryWords{Category::kLibraries, "libraries", report::Style::kDim},
    CategoryWords{Category::kInputs, "inputs", report::Style::kDim},
    CategoryWords{Category::kCache, "cache", report::Style::kGreen},
    CategoryWords{Category::kGradients, "gradients", report::Style::kYellow},
    CategoryWords{Category::kActivations, "activations", report::Style::kGreen},
    CategoryWords{Category::kTemporaries, "temporaries", report::Style::kPlain},
    CategoryWords{Category::kOutputs, "held outputs", report::Style::kRed},
};

// What people call it.
inline std::string_view LabelOfCategory(Category category) {
  return std::ranges::find(kCategoryWords, category, &CategoryWords::category)->label;
}

// What people call the part that JSON names so; the name itself, where no category has it.
inline std::string_view LabelOfCategory(std::string_view name) {
  for (const CategoryWords& words : kCategoryWords) {
    if (NameOf(words.category) == name) return words.label;
  }
  return name;
}

// Whether JSON tells it: what few programs have, only of those.
inline bool IsTold(Category category, std::int64_t bytes) {
  return bytes != 0 || (category != Category::kCache && category != Category::kLibraries);
}

}  // namespace steelyard::present
