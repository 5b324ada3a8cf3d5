// SPDX-License-Identifier: Apache-2.0
//
// Dimensions cut into parts, which are views: of one size, of given sizes, into a number of parts,
// at given places, and one for each index (ATen/native/TensorShape.cpp). The unsafe ones are views
// that autograd does not take for such.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/view.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/label.h"
#include "ops/rules/shape.h"
#include "ops/rules/view.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

// --- Kernels ------------------------------------------------------------------------------------

// More parts than this can only come from a damaged file.
constexpr std::int64_t kMaxParts = 1 << 20;

void AddPart(const TensorView& self, int dim, std::int64_t at, std::int64_t size, Outputs& out) {
  Dims sizes(self.sizes());
  sizes[dim] = size;
  out.Add(self.dtype(), sizes, self.strides());
  out.BeginAfter(at, self.stride(dim));
}

void AddParts(const TensorView& self, int dim, std::int64_t part, Outputs& out) {
  const std::int64_t n = self.size(dim);
  if (part < 0 || (part == 0 && n > 0)) Refuse(fmt::format("parts of size {}", part));
  if (part > 0 && n / part > kMaxParts) Refuse(fmt::format("{} parts are too many", n / part));
  if (n == 0) AddPart(self, dim, 0, 0, out);
  for (std::int64_t at = 0; at < n; at += std::min(part, n - at))
    AddPart(self, dim, at, std::min(part, n - at), out);
}

void SplitShape(const OpView& op, Outputs& out) {
  AddParts(op.self(), op.dim(2, op.self().rank()), op.integer(1), out);
}

void SplitWithSizesShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int dim = op.dim(2, self.rank());
  std::int64_t sum = 0;
  for (std::int64_t part : op.integers(1)) {
    if (part < 0 || part > self.size(dim))
      Refuse(fmt::format("a part of size {} of {}", part, shape::Text(self)));
    AddPart(self, dim, sum, part, out);
    sum += part;
  }
  shape::RequireEqual("the sum of the parts and the size", sum, self.size(dim));
}

void UnbindShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor cannot be unbound");
  const int dim = op.dim(1, self.rank());
  if (self.size(dim) > kMaxParts) Refuse(fmt::format("{} parts are too many", self.size(dim)));
  shape::Geometry g = shape::GeometryOf(self);
  g.sizes.erase(dim);
  g.strides.erase(dim);
  for (std::int64_t i = 0; i < self.size(dim); ++i) {
    shape::AddView(self, g, out);
    out.BeginAfter(i, self.stride(dim));
  }
}

// --- Into a number of parts ---------------------------------------------------------------------

constexpr std::int64_t kMaxEmptyChunks = Dims::kMaxRank;

// Parts of equal size, the last one shorter; of nothing as many empty ones as were asked for.
template <Label kSplit, Label kSplitWithSizes>
std::vector<Tensor> Chunk(Dispatcher& d, const OpView& op) {
  const int dim = op.dim(2, op.self().rank());
  const std::int64_t size = op.self().size(dim), chunks = op.integer(1);
  if (chunks <= 0) Refuse(fmt::format("{} chunks", chunks));
  if (size == 0) {
    const Dims parts = Dims::Filled(static_cast<int>(std::min(chunks, kMaxEmptyChunks)), 0);
    return d.CallMany(kOpNamed<kSplitWithSizes>, d.tensor(op, 0), parts, dim);
  }
  return d.CallMany(kOpNamed<kSplit>, d.tensor(op, 0), DivideUp(size, chunks), dim);
}

// The larger parts come first.
std::vector<Tensor> SplitInto(Dispatcher& d, const OpView& op) {
  const int dim = op.dim(2, op.self().rank());
  const std::int64_t parts = op.integer(1);
  if (op.self().rank() == 0) Refuse("a 0-dim tensor cannot be split");
  if (parts < 1 || parts > kMaxParts) Refuse(fmt::format("{} parts", parts));
  const std::int64_t size = op.self().size(dim);
  std::vector<Tensor> out;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t end = at + size / parts + (i < size % parts ? 1 : 0);
    out.push_back(d.Call("aten::slice.Tensor", d.tensor(op, 0), dim, at, end));
    at = end;
  }
  return out;
}

// --- At places ----------------------------------------------------------------------------------

std::vector<Tensor> SplitAt(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0) Refuse("a 0-dim tensor cannot be split");
  const int dim = op.dim(2, op.self().rank());
  std::vector<Tensor> out;
  std::int64_t at = 0;
  for (std::int64_t end : op.integers(1)) {
    out.push_back(d.Call("aten::slice.Tensor", d.tensor(op, 0), dim, at, end));
    at = end;
  }
  out.push_back(d.Call("aten::slice.Tensor", d.tensor(op, 0), dim, at, op.self().size(dim)));
  return out;
}

// hsplit, vsplit and dsplit: along a dimension that the name says.
template <int kLeastRank, int kDim, Label kSplit>
std::vector<Tensor> SplitAlong(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() < kLeastRank) Refuse(shape::Text(self) + " has too few dimensions");
  const int dim = self.rank() == 1 ? 0 : kDim;
  if (op.arg(1).kind == ArgKind::kInt) {
    const std::int64_t sections = op.integer(1);
    if (sections <= 0 || self.size(dim) % sections != 0) {
      Refuse(fmt::format("{} cannot be cut into {} parts", shape::Text(self), sections));
    }
  }
  return d.CallMany(kOpNamed<kSplit>, op.arg(0), op.arg(1), dim);
}

// --- Other names --------------------------------------------------------------------------------

template <Label kTarget>
std::vector<Tensor> Parts(Dispatcher& d, const OpView& op) {
  return d.CallMany(kOpNamed<kTarget>, d.tensor(op, 0), op.arg(1), op.arg(2));
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr Gradient kUnsafeSplit{"UnsafeSplitBackward0", {GradientOf(0, {}, gradients::SplitSelf)}};
constexpr Gradient kUnsafeSplitSizes{"UnsafeSplitWithSizesBackward0",
                                     {GradientOf(0, {}, gradients::SplitSelf)}};

constexpr std::array kRows{
    ViewKernel({"aten::split.Tensor", "Parts of a size along a dimension, the last one shorter.",
                "(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
                "aten::split.Tensor(f32[7,2], 3)"},
               SplitShape, gradients::kSplit),
    ViewKernel({"aten::split_with_sizes", "Parts of given sizes along a dimension.",
                "(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
                "aten::split_with_sizes(f32[7,2], [3,4])"},
               SplitWithSizesShape, gradients::kSplitSizes),
    ViewKernel({"aten::unbind.int", "One tensor for each index of a dimension.",
                "(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", "aten::unbind.int(f32[3,2], 1)"},
               UnbindShape, gradients::kUnbind),
    ViewComposite({"aten::split.sizes", "Parts of given sizes along a dimension.",
                   "(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
                   "aten::split.sizes(f32[7,2], [3,4])"},
                  Parts<"aten::split_with_sizes">),
    ViewComposite(
        {"aten::chunk", "A dimension cut into a number of equal parts.",
         "(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", "aten::chunk(f32[7,2], 3)"},
        Chunk<"aten::split.Tensor", "aten::split_with_sizes">),
    CopyingOut(Composite(Family::kView,
                         {"aten::unsafe_split.Tensor", "Parts of a size along a dimension.",
                          "(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
                          "aten::unsafe_split.Tensor(f32[7,2], 3)"},
                         Parts<"aten::split.Tensor">, kUnsafeSplit)),
    CopyingOut(
        Composite(Family::kView,
                  {"aten::unsafe_split_with_sizes", "Parts of given sizes along a dimension.",
                   "(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
                   "aten::unsafe_split_with_sizes(f32[7,2], [3,4])"},
                  Parts<"aten::split_with_sizes">, kUnsafeSplitSizes)),
    Composite(
        Family::kView,
        {"aten::unsafe_chunk", "A dimension cut into a number of equal parts.",
         "(Tensor self, int chunks, int dim=0) -> Tensor[]", "aten::unsafe_chunk(f32[7,2], 3)"},
        Chunk<"aten::unsafe_split.Tensor", "aten::unsafe_split_with_sizes">),
    Composite(
        Family::kView,
        {"aten::tensor_split.sections", "A dimension cut into parts of equal size, or nearly.",
         "(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
         "aten::tensor_split.sections(f32[7,2], 3)"},
        SplitInto),
    Composite(Family::kView,
              {"aten::tensor_split.indices", "A dimension cut at given places.",
               "(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
               "aten::tensor_split.indices(f32[7,2], [1,4])"},
              SplitAt),
    Composite(
        Family::kView,
        {"aten::hsplit.int", "A tensor cut into parts side by side.",
         "(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "aten::hsplit.int(f32[4,6], 2)"},
        SplitAlong<1, 1, "aten::tensor_split.sections">),
    Composite(Family::kView,
              {"aten::hsplit.array", "A tensor cut at given places side by side.",
               "(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
               "aten::hsplit.array(f32[4,6], [2,3])"},
              SplitAlong<1, 1, "aten::tensor_split.indices">),
    Composite(
        Family::kView,
        {"aten::vsplit.int", "A tensor cut into parts one below the other.",
         "(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "aten::vsplit.int(f32[4,6], 2)"},
        SplitAlong<2, 0, "aten::tensor_split.sections">),
    Composite(Family::kView,
              {"aten::vsplit.array", "A tensor cut at given places one below the other.",
               "(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
               "aten::vsplit.array(f32[4,6], [1,3])"},
              SplitAlong<2, 0, "aten::tensor_split.indices">),
    Composite(
        Family::kView,
        {"aten::dsplit.int", "A tensor cut into parts in depth.",
         "(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "aten::dsplit.int(f32[2,3,4], 2)"},
        SplitAlong<3, 2, "aten::tensor_split.sections">),
    Composite(Family::kView,
              {"aten::dsplit.array", "A tensor cut at given places in depth.",
               "(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
               "aten::dsplit.array(f32[2,3,4], [1,3])"},
              SplitAlong<3, 2, "aten::tensor_split.indices">),
};

}  // namespace

std::span<const OpDef> Split() { return kRows; }

}  // namespace steelyard::ops
