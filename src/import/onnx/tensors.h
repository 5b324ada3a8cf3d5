// SPDX-License-Identifier: Apache-2.0
//
// Tensors that stand in the file: what they are, and the contents of those that are small.
#pragma once

#include "import/onnx/item.h"
#include "import/onnx/proto.h"

namespace steelyard::onnx {

// Throws a Refusal where its sizes are absurd. An item without a dtype holds text or a type that
// PyTorch has not.
Item ItemOf(const TensorProto& tensor, ExternalData& external);

// A number from a file as a Dim: the few that no Dim can hold become the nearest that one can.
Dim DimOf(std::int64_t number);

}  // namespace steelyard::onnx
