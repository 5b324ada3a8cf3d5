// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/traffic.h"

#include "ops/rules/work.h"

namespace steelyard::traffic {
namespace {

Count Written(const OpView& op) {
  Count total;
  for (int i = 0; i < op.output_count(); ++i) {
    if (op.output(i).defined()) total += Bytes(op.output(i));
  }
  return total;
}

Count Read(const OpView& op, const Argument& argument) {
  Count total;
  if (argument.kind == ArgKind::kValue &&
      op.program().values[argument.value].kind == ValueKind::kTensor) {
    total += Bytes({op.program(), argument.value});
  }
  if (argument.kind == ArgKind::kList) {
    for (const Argument& element : op.program().list(argument.list)) total += Read(op, element);
  }
  return total;
}

}  // namespace

Count Bytes(const TensorView& tensor) {
  const Count bits = work::Elements(tensor) * BitsOf(tensor.dtype());
  return bits.overflowed() ? bits : Count(bits.value() / 8 + (bits.value() % 8 != 0));
}

Traffic None(const OpView&) { return {}; }

Traffic ReadAllWriteAll(const OpView& op) {
  Traffic total{.written = Written(op)};
  for (int i = 0; i < op.arg_count(); ++i) total.read += Read(op, op.arg(i));
  return total;
}

Traffic WriteOnly(const OpView& op) { return {.written = Written(op)}; }

Traffic ReadWhatIsWritten(const OpView& op) {
  return {.read = Written(op), .written = Written(op)};
}

Traffic ReadPartOfFirst(const OpView& op) {
  Traffic total = ReadWhatIsWritten(op);
  for (int i = 1; i < op.arg_count(); ++i) total.read += Read(op, op.arg(i));
  return total;
}

}  // namespace steelyard::traffic
