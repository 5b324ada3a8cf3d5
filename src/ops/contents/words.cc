// SPDX-License-Identifier: Apache-2.0
//
// From an operator's arguments to what happens to runs: dimensions and indices are counted from the
// front, and what joins, adds up or normalizes is followed along the last dimension only, the one
// in which runs lie. Otherwise nothing is known.

#include "ops/contents/words.h"

#include <utility>
#include <vector>

namespace steelyard::contents {
namespace {

const Contents* Held(const OpView& op, int i) { return op.known()->of(op.tensor(i)); }

// With two dimensions exchanged.
Contents Exchanged(const OpView& op, int a, int b) {
  const Contents* self = Held(op, 0);
  if (self == nullptr) return {};
  Dims order;
  for (int i = 0; i < self->rank(); ++i) order.push_back(i);
  std::swap(order[a], order[b]);
  return self->Permuted(order);
}

Contents Triangle(const OpView& op, bool upper) {
  const auto sizes = op.output().sizes();
  if (sizes.size() < 2) return {};
  const Contents inside =
      Contents::Triangle(sizes[sizes.size() - 2], sizes.back(), op.integer(1), upper);
  const Contents self = Of(op, 0);
  return steelyard::Pointwise(sizes, {&self, &inside}, segments::Multiply);
}

}  // namespace

Contents Of(const OpView& op, int i) {
  if (!op.given(i)) return {};
  switch (op.arg(i).kind) {
    case ArgKind::kInt:
    case ArgKind::kFloat:
    case ArgKind::kBool:
      return Contents::Constant(0, op.real(i));
    case ArgKind::kValue:
      if (const Contents* held = Held(op, i)) return *held;
      return {};
    case ArgKind::kNone:
    case ArgKind::kString:
    case ArgKind::kDType:
    case ArgKind::kList:
    case ArgKind::kGraph:
    case ArgKind::kComplex:
      return {};
  }
  return {};
}

Contents Reshaped(const OpView& op) {
  return Of(op, 0).Reshaped(op.self().sizes(), op.output().sizes());
}

Contents Transposed(const OpView& op) {
  const int rank = op.self().rank();
  return rank == 0 ? Of(op, 0) : Exchanged(op, op.dim(1, rank), op.dim(2, rank));
}

Contents TransposedLast(const OpView& op) {
  const int rank = op.self().rank();
  return rank < 2 ? Of(op, 0) : Exchanged(op, rank - 2, rank - 1);
}

Contents Permuted(const OpView& op) {
  if (Held(op, 0) == nullptr) return {};
  Dims order = op.ints(1);
  for (int i = 0; i < order.size(); ++i) {
    if (order[i] < 0) order[i] += order.size();
  }
  return Held(op, 0)->Permuted(order);
}

Contents Expanded(const OpView& op) { return Of(op, 0).Expanded(op.output().rank()); }

Contents Sliced(const OpView& op) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  const std::int64_t size = self.size(dim), step = op.integer(4, 1);
  std::int64_t start = op.integer(2, 0);
  if (start < 0) start = std::max<std::int64_t>(start + size, 0);
  return Of(op, 0).Sliced(dim, start, step, op.output().size(dim));
}

Contents Narrowed(const OpView& op) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  std::int64_t start = op.integer(2);
  if (start < 0) start += self.size(dim);
  return Of(op, 0).Sliced(dim, start, 1, op.output().size(dim));
}

Contents Selected(const OpView& op) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  std::int64_t index = op.integer(2);
  if (index < 0) index += self.size(dim);
  return Of(op, 0).Sliced(dim, index, 1, 1).Squeezed(dim);
}

Contents Concatenated(const OpView& op) {
  const std::vector<TensorView> tensors = op.tensors(0);
  const int rank = op.output().rank();
  if (op.dim(1, rank) + 1 != rank) return {};
  std::vector<const Contents*> parts;
  std::vector<std::int64_t> lengths;
  for (const TensorView& tensor : tensors) {
    if (tensor.rank() != rank) continue;  // an empty one, which PyTorch lets pass
    parts.push_back(op.known()->of(tensor));
    lengths.push_back(tensor.size(-1));
  }
  return steelyard::Concatenated(parts, lengths, rank);
}

Contents Looked(const OpView& op) {
  if (Held(op, 0) == nullptr) return {};
  std::vector<const Contents*> indices;
  for (const TensorView& index : op.tensors(1)) {
    if (!index.defined() || !IsIntegral(index.dtype()) || index.dtype() == DType::kBool) return {};
    indices.push_back(op.known()->of(index));
  }
  return steelyard::Looked(*Held(op, 0), op.self().sizes(), indices, op.output().sizes());
}

Contents SummedUp(const OpView& op) {
  const int rank = op.self().rank();
  if (rank == 0 || op.dim(1, rank) + 1 != rank) return {};
  return Of(op, 0).SummedUp(op.self().size(-1));
}

Contents LowerTriangle(const OpView& op) { return Triangle(op, false); }
Contents UpperTriangle(const OpView& op) { return Triangle(op, true); }

Contents Softmax(const OpView& op) {
  const int rank = op.self().rank();
  return rank == 0 || op.dim(1, rank) + 1 != rank ? Contents() : Of(op, 0).Softmaxed();
}

// The softmax times what does not matter where it is zero.
Contents SoftmaxGradient(const OpView& op) {
  const Contents result = Of(op, 1), anything;
  return steelyard::Pointwise(op.output().sizes(), {&result, &anything}, segments::Multiply);
}

Contents DividedDown(const OpView& op) {
  return op.text(2) == "floor" ? Pointwise<segments::FloorDivide>(op) : Contents();
}

}  // namespace steelyard::contents
