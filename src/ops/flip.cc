// SPDX-License-Identifier: Apache-2.0
//
// Elements in reverse order, turned by quarters, and rolled along dimensions
// (ATen/native/TensorTransformations.cpp). Quarter turns are flips and transposed views; what is
// rolled is two parts joined the other way round.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- roll(self, shifts, dims) -------------------------------------------------------------------

Tensor RollOne(Dispatcher& d, const Tensor& t, std::int64_t shift, std::int64_t at) {
  const int dim = static_cast<int>(at < 0 ? at + t.rank() : at);
  const std::int64_t size = t.size(dim);
  if (t.count() == 0) return d.Call("aten::clone", t);
  // A kernel of CUDA reads it dense, and makes the same result.
  if (d.target().device == Device::kCuda && !t.view().is_contiguous()) {
    return RollOne(d, d.Call("aten::contiguous", t), shift, at);
  }
  const std::int64_t start = ((size - shift % size) % size + size) % size;
  const std::vector<Tensor> parts{d.Call("aten::narrow", t, dim, start, size - start),
                                  d.Call("aten::narrow", t, dim, 0, start)};
  return d.Call("aten::cat", parts, dim);
}

std::vector<Tensor> Roll(Dispatcher& d, const OpView& op) {
  const Dims shifts = op.ints(1), dims = op.ints(2);
  const Tensor self = d.tensor(op, 0);
  if (dims.empty() && shifts.size() == 1) {
    const Tensor flat = d.Call("aten::view", d.Call("aten::contiguous", self), Dims{self.count()});
    return {d.Call("aten::view", d.Call("aten::roll", flat, shifts, Dims{0}), self.sizes())};
  }
  shape::RequireEqual("the number of shifts and of dimensions", shifts.size(), dims.size());
  if (dims.empty()) Refuse("roll needs a shift");
  for (std::int64_t dim : dims)
    (void)self.size(
        static_cast<int>(std::clamp<std::int64_t>(dim, -Dims::kMaxRank - 1, Dims::kMaxRank)));
  if (dims.size() == 1) return {RollOne(d, self, shifts[0], dims[0])};
  const Tensor first = d.Call("aten::roll", self, Dims{shifts[0]}, Dims{dims[0]});
  return {d.Call("aten::roll", first, Dims(std::span<const std::int64_t>(shifts).subspan(1)),
                 Dims(std::span<const std::int64_t>(dims).subspan(1)))};
}

// --- flip, rot90 --------------------------------------------------------------------------------

void FlipShape(const OpView& op, Outputs& out) {
  shape::DimsOf(op, 1, op.self().rank());  // refuses dimensions that are not there
  shape::Like<0>(op, out);
}

// self, k, dims: quarter turns from the first dimension to the second
std::vector<Tensor> Rotate(Dispatcher& d, const OpView& op) {
  const Dims dims = op.ints(2);
  const Tensor self = d.tensor(op, 0);
  if (dims.size() != 2 || self.rank() < 2) Refuse("a turn is in two dimensions");
  const std::int64_t turns = ((op.integer(1) % 4) + 4) % 4;
  if (turns == 0) return {d.Call("aten::clone", self, kContiguousFormat)};
  if (turns == 2) return {d.Call("aten::flip", self, dims)};
  const Tensor flipped = d.Call("aten::flip", self, Dims{turns == 1 ? dims[1] : dims[0]});
  return {d.Call("aten::transpose_", flipped, dims[0], dims[1])};
}

template <int kDim>
std::vector<Tensor> FlipOne(Dispatcher& d, const OpView& op) {
  if (op.self().rank() <= kDim) Refuse("that dimension is not there in " + shape::Text(op.self()));
  return {d.Call("aten::flip", op.arg(0), Dims{kDim})};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    CopyingOut(
        Composite("aten::roll",
                  "Elements shifted along dimensions; what falls off comes in on the other side.",
                  "(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
                  "aten::roll(f32[2,3,4], [1,2], [0,-1])", Family::kDataMovement, Roll,
                  precision::kFollow, gradients::kRoll)),
    CopyingOut(Kernel(Family::kDataMovement,
                      {"aten::flip", "Dimensions in reverse order.",
                       "(Tensor self, int[] dims) -> Tensor", "aten::flip(f32[2,3], [1])"},
                      {FlipShape, Fusion::kInjective, allocations::Via<"aten::empty_strided">,
                       work::Move, gradients::kFlip, precision::kFollow})),
    CopyingOut(Composite(
        Family::kDataMovement,
        {"aten::rot90", "Quarter turns in two dimensions.",
         "(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", "aten::rot90(f32[2,8], 1, [0,1])"},
        Rotate, gradients::kRotate)),
    Composite(Family::kDataMovement,
              {"aten::fliplr", "The second dimension in reverse order.", "(Tensor self) -> Tensor",
               "aten::fliplr(f32[2,8])"},
              FlipOne<1>),
    Composite(Family::kDataMovement,
              {"aten::flipud", "The first dimension in reverse order.", "(Tensor self) -> Tensor",
               "aten::flipud(f32[2,8])"},
              FlipOne<0>),
};

}  // namespace

std::span<const OpDef> Flip() { return kRows; }

}  // namespace steelyard::ops
