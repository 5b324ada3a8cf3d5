// SPDX-License-Identifier: Apache-2.0
//
// Traffic rules: the bytes a kernel must read and write at least once.
#pragma once

#include "ops/op_def.h"

namespace steelyard::traffic {

// Elements of a tensor in bytes; an expanded one may have more than fit.
Count Bytes(const TensorView& tensor);

// A view: no byte moves.
Traffic None(const OpView& op);
// Every element of every tensor operand is read once, every output written once.
Traffic ReadAllWriteAll(const OpView& op);
// Outputs are written; operands only say their sizes.
Traffic WriteOnly(const OpView& op);
// As many bytes are read as written: a copy.
Traffic ReadWhatIsWritten(const OpView& op);
// Of argument 0 as many bytes are read as are written, of the other operands all: a gather.
Traffic ReadPartOfFirst(const OpView& op);

}  // namespace steelyard::traffic
