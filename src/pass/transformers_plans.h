// SPDX-License-Identifier: Apache-2.0
//
// How transformers has processes share a model's layers with tp_plan="auto": data, which
// tools/gen_tp_plans.py makes of transformers itself.
#pragma once

#include <span>
#include <string_view>

namespace steelyard {

struct TransformersPlan {
  std::string_view class_name;  // of the model
  std::string_view plan;        // "module.*.name=style,...", * being the number of a layer
};

// By name.
std::span<const TransformersPlan> TransformersPlans();

}  // namespace steelyard
