// SPDX-License-Identifier: Apache-2.0
//
// Which sizes a call names of a tensor of which a process has a part: a file says those of the
// whole, and whoever shares layers writes the model so that they are the part's.

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/parallel/layer_styles.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/label.h"
#include "ops/rules/shape.h"
#include "support/checked.h"

namespace steelyard::ops {
namespace {

std::int64_t ElementsOf(const Dims& sizes) {
  const std::optional<std::int64_t> elements = NumElements(sizes);
  if (!elements) Refuse("sizes of more elements than are ever viewed");
  return *elements;
}

// The one dimension that differs; kNone where none does.
constexpr int kNone = -1;
int SharedDim(const TensorView& part, const Dims& whole) {
  if (part.rank() != whole.size()) Contradict("a part has the dimensions of the whole");
  int dim = kNone;
  for (int i = 0; i < part.rank(); ++i) {
    if (part.size(i) == whole[i]) continue;
    if (dim != kNone) Refuse("more than one dimension is shared by the processes");
    dim = i;
  }
  return dim;
}

constexpr std::string_view kDivisible =
    "Name layers whose heads can be divided by --ranks, or leave them out of --tp-plan.";

// The same with its -1 computed, of a view of so many elements.
Dims Resolved(const Dims& sizes, std::int64_t count) {
  Dims known;
  for (const std::int64_t size : sizes) known.push_back(size == -1 ? 1 : size);
  const std::int64_t others = NumElements(known).value_or(0);
  Dims out;
  for (const std::int64_t size : sizes) {
    out.push_back(size == -1 && others > 0 ? count / others : size);
  }
  return out;
}

// A view takes runs of dimensions for other runs of as many elements. Where the run that has a
// dimension begins, before and after, and where it ends then.
struct Run {
  int in = 0, out = 0, out_end = 0;
};
Run RunWith(int dim, const Dims& whole, const Dims& sizes) {
  int i = 0, j = 0;
  while (i < whole.size() && j < sizes.size()) {
    Run run{.in = i, .out = j};
    std::int64_t in = whole[i++], out = sizes[j++];
    while (in != out && in > 0 && out > 0) {
      if (in < out && i < whole.size()) {
        in *= whole[i++];
      } else if (out < in && j < sizes.size()) {
        out *= sizes[j++];
      } else {
        Refuse("sizes of a view that do not fit the whole");
      }
    }
    run.out_end = j;
    if (dim < i) return run;
  }
  Refuse("a view of no element");
}

// Of the run with the shared dimension that is the outermost one, before and after: heads, of which
// a process has some.
Dims ViewOfPart(const TensorView& part, const Dims& whole, const Dims& asked) {
  const int dim = SharedDim(part, whole);
  if (dim == kNone) return asked;
  shape::RequireSizes(whole);
  const std::int64_t count = ElementsOf(whole);
  if (count == 0) Refuse("a view of no element");
  Dims sizes = Resolved(asked, count);
  shape::RequireSizes(sizes);
  if (ElementsOf(sizes) != count) Refuse("sizes of a view that do not fit the whole");
  Run run = RunWith(dim, whole, sizes);
  while (run.in < dim && whole[run.in] == 1) ++run.in;
  while (run.out + 1 < run.out_end && sizes[run.out] == 1) ++run.out;
  const CheckedInt elements = CheckedInt(sizes[run.out]) * part.size(dim);
  if (run.in != dim || !elements.ok() || elements.value() % whole[dim] != 0) {
    Refuse(fmt::format("{} of {} elements of a dimension cannot be viewed as a part of {}",
                       part.size(dim), whole[dim], sizes[run.out]),
           std::string(kDivisible));
  }
  sizes[run.out] = elements.value() / whole[dim];
  return sizes;
}

// self, whole, size, ...
template <Label kTarget>
std::vector<Tensor> ViewPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller caller(d);
  return {d.Call(kOpNamed<kTarget>, op.arg(0), ViewOfPart(op.self(), op.ints(1), op.ints(2)))};
}

// self, whole, size, implicit
std::vector<Tensor> ExpandPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller caller(d);
  Dims sizes = op.ints(2);
  const int dim = SharedDim(op.self(), op.ints(1));
  const int at = dim + sizes.size() - op.self().rank();
  if (dim != kNone && at >= 0 && sizes[at] != -1) sizes[at] = op.self().size(dim);
  return {d.Call("aten::expand", op.arg(0), sizes)};
}

// self, whole, and the rest of the target's arguments, in which kDim says along which dimension it
// cuts: a number of the module's own, which is of the whole.
template <Label kTarget, int kDim>
std::vector<Tensor> CutPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller caller(d);
  const int dim = SharedDim(op.self(), op.ints(1));
  if (dim != kNone && op.dim(kDim, op.self().rank()) == dim) {
    Refuse("it cuts a dimension that the processes share at a place of the whole",
           "Which elements a process would take of its part is not known.");
  }
  std::vector<Argument> args{op.arg(0)};
  for (int i = 2; i < op.arg_count(); ++i) args.push_back(op.arg(i));
  return d.CallWith(kOpNamed<kTarget>, args);
}

constexpr OpDef Sized(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kView, words, decompose);
}

constexpr std::array kRows{
    Sized({"steelyard::view_part", "A view of a part, with the sizes that one of the whole has.",
           "(Tensor self, SymInt[] whole, SymInt[] size) -> Tensor",
           "steelyard::view_part(f32[2,4], [2,8], [2,4,2])"},
          ViewPart<"aten::view">),
    Sized({"steelyard::unsafe_view_part",
           "A view of a part, with the sizes that one of the whole has.",
           "(Tensor self, SymInt[] whole, SymInt[] size) -> Tensor",
           "steelyard::unsafe_view_part(f32[2,4], [2,8], [2,4,2])"},
          ViewPart<"aten::_unsafe_view">),
    Sized({"steelyard::reshape_part", "A part with the sizes that the whole is given.",
           "(Tensor self, SymInt[] whole, SymInt[] shape) -> Tensor",
           "steelyard::reshape_part(f32[2,4], [2,8], [2,4,2])"},
          ViewPart<"aten::reshape">),
    Sized({"steelyard::expand_part", "A part, spread as the whole is.",
           "(Tensor self, SymInt[] whole, SymInt[] size, *, bool implicit=False) -> Tensor",
           "steelyard::expand_part(f32[1,4], [1,8], [3,8])"},
          ExpandPart),
    Sized({"steelyard::slice_part", "A slice of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
           "step=1) -> Tensor",
           "steelyard::slice_part(f32[2,4], [2,8], 0, 0, 1)"},
          CutPart<"aten::slice.Tensor", 2>),
    Sized({"steelyard::narrow_part", "A stretch of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, int dim, SymInt start, SymInt length) -> Tensor",
           "steelyard::narrow_part(f32[2,4], [2,8], 0, 0, 1)"},
          CutPart<"aten::narrow", 2>),
    Sized({"steelyard::select_part", "An index of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, int dim, SymInt index) -> Tensor",
           "steelyard::select_part(f32[2,4], [2,8], 0, 0)"},
          CutPart<"aten::select.int", 2>),
    Sized({"steelyard::split_part", "Pieces of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, SymInt split_size, int dim=0) -> Tensor[]",
           "steelyard::split_part(f32[2,4], [2,8], 1, 0)"},
          CutPart<"aten::split.Tensor", 3>),
    Sized({"steelyard::split_sizes_part", "Pieces of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, SymInt[] split_sizes, int dim=0) -> Tensor[]",
           "steelyard::split_sizes_part(f32[2,4], [2,8], [1,1], 0)"},
          CutPart<"aten::split_with_sizes", 3>),
};

constexpr std::array kPartCalls{
    PartCall{"aten::view", "steelyard::view_part"},
    PartCall{"aten::_unsafe_view", "steelyard::unsafe_view_part"},
    PartCall{"aten::reshape", "steelyard::reshape_part"},
    PartCall{"aten::expand", "steelyard::expand_part"},
    PartCall{"aten::slice.Tensor", "steelyard::slice_part"},
    PartCall{"aten::narrow", "steelyard::narrow_part"},
    PartCall{"aten::select.int", "steelyard::select_part"},
    PartCall{"aten::split.Tensor", "steelyard::split_part"},
    PartCall{"aten::split_with_sizes", "steelyard::split_sizes_part"},
};

}  // namespace

std::span<const PartCall> PartCalls() { return kPartCalls; }
std::span<const OpDef> PartSizes() { return kRows; }

}  // namespace steelyard::ops
