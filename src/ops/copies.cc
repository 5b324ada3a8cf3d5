// SPDX-License-Identifier: Apache-2.0
//
// Views as copies, which functionalized programs write, and copies in which a view was written
// (ATen/native/TensorShape.cpp, ATen/FunctionalInverses.cpp). A copy lies contiguous whatever the
// view does; one that was written keeps the strides of its operand.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/complex.h"
#include "ops/gradients/not_implemented.h"
#include "ops/gradients/view.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Views as copies ----------------------------------------------------------------------------

// The views that `view` makes of the first argument by those that follow.
std::vector<Tensor> Viewed(Dispatcher& d, const OpView& op, OpName view) {
  const auto arg = [&](int i) { return op.arg(i); };
  switch (op.arg_count()) {
    case 1:
      return d.CallMany(view, arg(0));
    case 2:
      return d.CallMany(view, arg(0), arg(1));
    case 3:
      return d.CallMany(view, arg(0), arg(1), arg(2));
    case 4:
      return d.CallMany(view, arg(0), arg(1), arg(2), arg(3));
    default:
      return d.CallMany(view, arg(0), arg(1), arg(2), arg(3), arg(4));
  }
}

template <Label kView>
std::vector<Tensor> CopyOf(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> views = Viewed(d, op, kOpNamed<kView>);
  std::vector<Tensor> out;
  out.reserve(views.size());
  for (const Tensor& view : views) out.push_back(d.Call("aten::clone", view, kContiguousFormat));
  return out;
}

// What no view can show is copied by reshape.
std::vector<Tensor> ViewCopy(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const std::optional<Dims> sizes = InferSize(op.ints(1), self.count());
  if (sizes && !ViewStrides(self.sizes(), self.strides(), *sizes)) {
    return {d.Call("aten::reshape", op.arg(0), op.arg(1))};
  }
  return CopyOf<"aten::view">(d, op);
}

// Contiguous, and then only seen otherwise.
std::vector<Tensor> ReshapeCopy(Dispatcher& d, const OpView& op) {
  const Tensor copy = d.Call("aten::clone", d.tensor(op, 0), kContiguousFormat);
  return {d.Call("aten::_unsafe_view", copy, op.arg(1))};
}

// self, dim, start, length
void NarrowCopyShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor cannot be narrowed");
  const int dim = op.dim(1, self.rank());
  const std::int64_t have = self.size(dim), length = op.integer(3);
  const std::int64_t start = op.integer(2) < 0 ? op.integer(2) + have : op.integer(2);
  if (length < 0 || start < 0 || start > have || length > have - start) {
    Refuse(fmt::format("a length of {} from {} does not fit dimension {} of {}", length, start, dim,
                       shape::Text(self)));
  }
  Dims sizes(self.sizes());
  sizes[dim] = length;
  out.Add(self.dtype(), sizes);
}

void NarrowCopyAllocations(const OpView& op, Allocations& memory) {
  const auto copy = allocations::Contiguous(op.self(), memory);
  memory.Output(0);
  allocations::Free(copy, memory);
}

std::vector<Tensor> SumToSize(Dispatcher& d, const OpView& op) {
  return {gradients::SumTo(d, d.tensor(op, 0), op.ints(1))};
}

// --- Written into a copy ------------------------------------------------------------------------

// clone_preserve_strides: of the whole storage, however little of it the operand has.
Tensor CopyWithStrides(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  for (int i = 0; i < self.rank(); ++i) {
    if (self.size(i) > 1 && self.stride(i) == 0) return d.Call("aten::clone", d.tensor(op, 0));
  }
  const std::int64_t width = std::max(BitsOf(self.dtype()) / 8, 1);
  const std::int64_t elements = d.StorageBytesOf(self.id()) / width;
  const Tensor flat = d.Call("aten::as_strided", d.tensor(op, 0), Dims{elements}, Dims{1}, 0);
  const Tensor copy = d.Call("aten::clone", flat);
  return d.Call("aten::as_strided", copy, Dims(self.sizes()), Dims(self.strides()),
                d.PlaceOf(self.id()) / width);
}
std::vector<Tensor> Written(Dispatcher& d, const OpView& op, const Tensor& out,
                            const Tensor& part) {
  const TensorView source = op.tensor(1);
  if (!std::ranges::equal(part.sizes(), source.sizes())) {
    Refuse(fmt::format("{} is not of the size of the place, {}", shape::Text(source),
                       shape::Text(part.view())));
  }
  d.Call("aten::copy_", part, d.tensor(op, 1));
  return {out};
}
std::vector<Tensor> SelectScatter(Dispatcher& d, const OpView& op) {
  const Tensor out = CopyWithStrides(d, op);
  return Written(d, op, out, d.Call("aten::select.int", out, op.arg(2), op.arg(3)));
}
std::vector<Tensor> SliceScatter(Dispatcher& d, const OpView& op) {
  const Tensor out = CopyWithStrides(d, op);
  return Written(d, op, out,
                 d.Call("aten::slice.Tensor", out, op.arg(2), op.arg(3), op.arg(4), op.arg(5)));
}
std::vector<Tensor> DiagonalScatter(Dispatcher& d, const OpView& op) {
  const Tensor out = CopyWithStrides(d, op);
  return Written(d, op, out, d.Call("aten::diagonal", out, op.arg(2), op.arg(3), op.arg(4)));
}
std::vector<Tensor> StridedScatter(Dispatcher& d, const OpView& op) {
  const Tensor out = CopyWithStrides(d, op);
  return Written(d, op, out, d.Call("aten::as_strided", out, op.arg(2), op.arg(3), op.arg(4)));
}

// The operand overwritten as a whole, in a copy of it.
std::vector<Tensor> CopyAndWrite(Dispatcher& d, const OpView& op) {
  const Tensor out = CopyWithStrides(d, op);
  d.Call("aten::copy_", out, d.tensor(op, 1), op.arg(2));
  return {out};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr Gradient Of(std::string_view node, GradientFn formula) {
  return Gradient(node, {GradientOf(0, {}, formula)});
}
constexpr OpDef Copy(const Words& words, DecomposeFn decompose, Gradient grad) {
  return CopyingOut(Composite(Family::kDataMovement, words, decompose, grad));
}

constexpr std::array kRows{
    Copy({"aten::view_copy", "A copy in another shape.", "(Tensor self, SymInt[] size) -> Tensor",
          "aten::view_copy(f32[2,6], [3,4])"},
         ViewCopy, Of("ViewBackward0_copy", gradients::Reshaped)),
    Copy({"aten::view_copy.dtype", "A copy of the bytes, as elements of another dtype.",
          "(Tensor self, ScalarType dtype) -> Tensor", "aten::view_copy.dtype(f32[2,6], i16)"},
         CopyOf<"aten::view.dtype">, gradients::kNotImplemented),
    Copy({"aten::transpose_copy.int", "A copy with two dimensions exchanged.",
          "(Tensor self, int dim0, int dim1) -> Tensor",
          "aten::transpose_copy.int(f32[2,3,4], 1, -1)"},
         CopyOf<"aten::transpose.int">, Of("TransposeBackward0_copy", gradients::TransposeSelf)),
    Copy({"aten::t_copy", "A copy of a matrix transposed.", "(Tensor self) -> Tensor",
          "aten::t_copy(f32[2,3])"},
         CopyOf<"aten::t">, Of("TBackward0_copy", gradients::TSelf)),
    Copy({"aten::permute_copy", "A copy with the dimensions in another order.",
          "(Tensor self, int[] dims) -> Tensor", "aten::permute_copy(f32[2,3,4], [2,0,1])"},
         CopyOf<"aten::permute">, Of("PermuteBackward0_copy", gradients::PermuteSelf)),
    Copy({"aten::expand_copy", "A copy repeated along dimensions of size 1.",
          "(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
          "aten::expand_copy(f32[2,1], [2,3])"},
         CopyOf<"aten::expand">, Of("ExpandBackward0_copy", gradients::ExpandSelf)),
    Copy({"aten::slice_copy.Tensor", "A copy of every few elements of a range.",
          "(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
          "aten::slice_copy.Tensor(f32[4,6], 1, 1, 5, 2)"},
         CopyOf<"aten::slice.Tensor">, Of("SliceBackward0_copy", gradients::SliceSelf)),
    Copy(
        {"aten::select_copy.int", "A copy of what has one index in a dimension.",
         "(Tensor self, int dim, SymInt index) -> Tensor", "aten::select_copy.int(f32[4,6], 1, 2)"},
        CopyOf<"aten::select.int">, Of("SelectBackward0_copy", gradients::SelectSelf)),
    OpaqueKernel(Family::kDataMovement,
                 {"aten::narrow_copy", "A copy of a range.",
                  "(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
                  "aten::narrow_copy(f32[4,6], 1, 2, 3)"},
                 NarrowCopyShape, NarrowCopyAllocations, work::Move,
                 Of("NarrowCopyBackward0", gradients::NarrowSelf)),
    Copy({"aten::squeeze_copy", "A copy without dimensions of size 1.", "(Tensor self) -> Tensor",
          "aten::squeeze_copy(f32[4,1,3])"},
         CopyOf<"aten::squeeze">, Of("SqueezeBackward0_copy", gradients::SqueezeSelf)),
    Copy({"aten::squeeze_copy.dim", "A copy without a dimension of size 1.",
          "(Tensor self, int dim) -> Tensor", "aten::squeeze_copy.dim(f32[4,1,3], 1)"},
         CopyOf<"aten::squeeze.dim">, Of("SqueezeBackward1_copy", gradients::SqueezeSelf)),
    Copy({"aten::squeeze_copy.dims", "A copy without some dimensions of size 1.",
          "(Tensor self, int[] dim) -> Tensor", "aten::squeeze_copy.dims(f32[1,4,1,3], [0,2])"},
         CopyOf<"aten::squeeze.dims">, Of("SqueezeBackward2_copy", gradients::SqueezeSelf)),
    Copy({"aten::unsqueeze_copy", "A copy with a dimension of size 1 more.",
          "(Tensor self, int dim) -> Tensor", "aten::unsqueeze_copy(f32[4,3], 1)"},
         CopyOf<"aten::unsqueeze">, Of("UnsqueezeBackward0_copy", gradients::UnsqueezeSelf)),
    Copy({"aten::alias_copy", "A copy.", "(Tensor self) -> Tensor",
          "aten::alias_copy(f32[4,3]{1,4})"},
         CopyOf<"aten::alias">, Of("AliasBackward0_copy", gradients::Same)),
    Copy({"aten::detach_copy", "A copy that is a constant.", "(Tensor self) -> Tensor",
          "aten::detach_copy(f32[4,3])"},
         CopyOf<"aten::detach">, gradients::kNotImplemented),
    Copy({"aten::as_strided_copy", "A copy of what lies at given strides.",
          "(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
          "aten::as_strided_copy(f32[4,3], [2,2], [1,2])"},
         CopyOf<"aten::as_strided">, Of("AsStridedBackward0_copy", gradients::AsStridedSelf)),
    Copy({"aten::unfold_copy", "A copy of the windows along a dimension.",
          "(Tensor self, int dimension, int size, int step) -> Tensor",
          "aten::unfold_copy(f32[3,8], 1, 3, 2)"},
         CopyOf<"aten::unfold">, Of("UnfoldBackward0_copy", gradients::UnfoldSelf)),
    Copy({"aten::diagonal_copy", "A copy of the diagonals.",
          "(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
          "aten::diagonal_copy(f32[3,4])"},
         CopyOf<"aten::diagonal">, gradients::kDiagonalCopy),
    Copy({"aten::split_copy.Tensor", "Copies of parts of a size along a dimension.",
          "(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
          "aten::split_copy.Tensor(f32[7,2], 3)"},
         CopyOf<"aten::split.Tensor">, Of("SplitBackward0_copy", gradients::SplitSelf)),
    Copy({"aten::split_with_sizes_copy", "Copies of parts of given sizes along a dimension.",
          "(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
          "aten::split_with_sizes_copy(f32[7,2], [3,4])"},
         CopyOf<"aten::split_with_sizes">,
         Of("SplitWithSizesBackward0_copy", gradients::SplitSelf)),
    Copy({"aten::unbind_copy.int", "Copies of all that has one index in a dimension.",
          "(Tensor self, int dim=0) -> Tensor[]", "aten::unbind_copy.int(f32[3,2])"},
         CopyOf<"aten::unbind.int">, Of("UnbindBackward0_copy", gradients::UnbindSelf)),
    Copy({"aten::view_as_real_copy", "A copy of complex numbers as pairs.",
          "(Tensor self) -> Tensor", "aten::view_as_real_copy(c64[3])"},
         CopyOf<"aten::view_as_real">, Of("ViewAsRealBackward0_copy", gradients::OfPairs)),
    Copy({"aten::view_as_complex_copy", "A copy of pairs as complex numbers.",
          "(Tensor self) -> Tensor", "aten::view_as_complex_copy(f32[3,2])"},
         CopyOf<"aten::view_as_complex">,
         Of("ViewAsComplexBackward0_copy", gradients::OfComplexView)),
    Copy({"aten::_reshape_copy", "A copy in another shape.",
          "(Tensor self, SymInt[] size) -> Tensor", "aten::_reshape_copy(f32[3,4]{1,3}, [12])"},
         ReshapeCopy, Of("ReshapeCopyBackward0", gradients::Reshaped)),
    Copy({"aten::_reshape_alias_copy", "A copy in another shape, whose strides are known.",
          "(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor",
          "aten::_reshape_alias_copy(f32[3,4], [12], [1])"},
         CopyOf<"aten::_reshape_alias">, Of("ReshapeAliasBackward0_copy", gradients::Reshaped)),
    Copy({"aten::sum_to_size", "Sums over the dimensions along which a size was repeated.",
          "(Tensor self, SymInt[] size) -> Tensor", "aten::sum_to_size(f32[2,3,4], [3,1])"},
         SumToSize, kGradientFromParts),
    Copy({"aten::copy", "A copy that was overwritten.",
          "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
          "aten::copy(f32[3,4], f64[4])"},
         CopyAndWrite, gradients::kNotImplementedOf<0, 1>),
    Copy({"aten::select_scatter", "A copy with one index of a dimension written.",
          "(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
          "aten::select_scatter(f32[4,3], f32[3], 0, 1)"},
         SelectScatter, gradients::kSelectScatter),
    Copy({"aten::slice_scatter", "A copy with a slice written.",
          "(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
          "step=1) -> Tensor",
          "aten::slice_scatter(f32[4,3], f32[2,3], 0, 1, 3)"},
         SliceScatter, gradients::kSliceScatter),
    Copy({"aten::diagonal_scatter", "A copy with a diagonal written.",
          "(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
          "aten::diagonal_scatter(f32[3,3], f32[3])"},
         DiagonalScatter, gradients::kDiagonalScatter),
    Copy({"aten::as_strided_scatter", "A copy in which what lies at given strides was written.",
          "(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) "
          "-> Tensor",
          "aten::as_strided_scatter(f32[4,4], f32[2,2], [2,2], [1,2], 0)"},
         StridedScatter, gradients::kStridedScatter),
};

}  // namespace

std::span<const OpDef> Copies() { return kRows; }

}  // namespace steelyard::ops
