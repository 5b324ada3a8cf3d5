// SPDX-License-Identifier: Apache-2.0
//
// What the tensors in a file are to the model. ONNX has one word for them, PyTorch has three:
// parameters, which are trained; buffers; and numbers that stand in the model's code.
#pragma once

#include <string_view>
#include <unordered_map>

#include "import/onnx/item.h"
#include "import/onnx/proto.h"

namespace steelyard::onnx {

// Adds parameters and buffers in the order of the file; small constants become tensors when an
// operator wants one. Returns all by name. Throws a Refusal where a tensor is absurd.
std::unordered_map<std::string_view, Item*> AddInitializers(const GraphProto& graph,
                                                            Workshop& workshop);

}  // namespace steelyard::onnx
