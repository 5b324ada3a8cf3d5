// SPDX-License-Identifier: Apache-2.0
//
// ONNX's operators, one row each, written down to PyTorch's. A row serves its operator from one
// version of the operator set until another row of the same name begins.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "import/onnx/call.h"

namespace steelyard::onnx {

struct OpRow {
  std::string_view name;
  std::int64_t since;
  void (*translate)(Call& call);
  std::string_view target = {};  // what a shared translation emits
  std::string_view domain = {};  // "": ONNX's own
  // Operands, bit by bit, that are a model's buffers, and those that are numbers in its code.
  unsigned statistics = 0;
  unsigned settings = 0;
  bool reads_contents = true;  // not only how large its operands are
};

// The row of an operator in a version of its domain's operator set; null where there is none.
const OpRow* FindRow(std::string_view domain, std::string_view name, std::int64_t opset);

// The families.
std::span<const OpRow> ElementwiseRows();
std::span<const OpRow> ShapeRows();
std::span<const OpRow> IndexingRows();
std::span<const OpRow> NeuralRows();
std::span<const OpRow> ReductionRows();
std::span<const OpRow> WindowRows();
std::span<const OpRow> RecurrentRows();
std::span<const OpRow> ControlRows();
std::span<const OpRow> QuantizedRows();
std::span<const OpRow> ImageRows();
std::span<const OpRow> RandomRows();
std::span<const OpRow> AttentionRows();
std::span<const OpRow> FusedRows();
std::span<const OpRow> SignalRows();
std::span<const OpRow> LinearAttentionRows();
std::span<const OpRow> TextRows();
std::span<const OpRow> LearnedRows();

}  // namespace steelyard::onnx
