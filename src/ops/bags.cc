// SPDX-License-Identifier: Apache-2.0
//
// Bags of embeddings: rows of a table that are added up, averaged or compared, bag by bag
// (ATen/native/EmbeddingBag.cpp). Where bags begin are numbers among the data: rows take it that
// every bag has something in it.

#include "ops/gradients/bags.h"

#include <array>
#include <vector>

#include "ops/cuda/embedding.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/not_implemented.h"
#include "ops/gradients/sparse.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

enum class Mode : std::uint8_t { kSum, kMean, kMax };

Mode ModeOf(const OpView& op, int i) {
  const std::int64_t number = op.integer(i);
  if (number < 0 || number > 2) Refuse("bags are added up, averaged or compared");
  return static_cast<Mode>(number);
}

// weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
// include_last_offset, padding_idx
void RequireBags(const OpView& op, Mode mode) {
  const TensorView weight = op.self(), indices = op.tensor(1), offsets = op.tensor(2);
  shape::RequireRank("the table", weight, 2);
  shape::RequireRank("the indices", indices, 1);
  shape::RequireRank("the offsets", offsets, 1);
  const DType index = PromoteTypes(indices.dtype(), offsets.dtype());
  if (index != DType::kInt64 && index != DType::kInt32) {
    Refuse("indices are int32 or int64, not " + shape::Text(indices));
  }
  if (!IsFloating(weight.dtype())) Refuse("a table of floating-point numbers is needed");
  if (op.boolean(7) && offsets.size(0) < 1) Refuse("the last offset is missing");
  if (!op.given(6)) return;
  const TensorView weights = op.tensor(6);
  if (mode != Mode::kSum) Refuse("only sums of bags are weighted");
  if (weights.dtype() != weight.dtype()) Refuse("weights are of the table's dtype");
  shape::RequireRank("the weights", weights, 1);
  shape::RequireEqual("indices and weights", indices.size(0), weights.size(0));
}

// The bag of each index: ones where bags begin, added up. The first index begins the first bag.
Tensor Begins(Dispatcher& d, const Tensor& room, const Tensor& offsets) {
  {
    const Tensor ones = d.Call("aten::ones_like", offsets, std::nullopt, std::nullopt, std::nullopt,
                               std::nullopt, kContiguousFormat);
    d.Call("aten::index_add_", room, 0, offsets, ones);
  }
  d.Call("aten::sub_.Scalar", d.Call("aten::select.int", room, 0, 0), 1);
  return d.Call("aten::cumsum", room, 0, room.dtype());
}

// How many each bag has.
void WriteSizes(Dispatcher& d, const Tensor& sizes, const Tensor& offsets, std::int64_t bags,
                std::int64_t indices) {
  if (bags == 0) return;
  if (bags != 1) {
    const Tensor ends = d.Call("aten::slice.Tensor", offsets, 0, 1, bags);
    const Tensor begins = d.Call("aten::slice.Tensor", offsets, 0, 0, bags - 1);
    const Tensor differences = d.Call("aten::sub.Tensor", ends, begins);
    d.Call("aten::copy_", d.Call("aten::slice.Tensor", sizes, 0, 0, bags - 1), differences);
  }
  const Tensor last = d.Call("aten::select.int", offsets, 0, bags - 1);
  const Tensor rest = d.Call("aten::empty_like", last);
  d.Call("aten::fill_.Scalar", rest, indices);
  d.Call("aten::sub_.Tensor", rest, last);
  d.Call("aten::copy_", d.Call("aten::select.int", sizes, 0, bags - 1), rest);
}

// The mean of a bag with nothing in it is a zero.
void DivideBySizes(Dispatcher& d, const Tensor& out, const Tensor& sizes) {
  Tensor divisors;
  {
    const Tensor least = d.Call("aten::clamp_min", sizes, 1);
    const Tensor number = d.Call("aten::to.dtype", least, out.dtype());
    divisors = d.Call("aten::unsqueeze", number, 1);
  }
  d.Call("aten::div_.Tensor", out, divisors);
}

// EmbeddingBag.cu: the bag of each index and the sizes are always there, the maxima if they count.
std::vector<Tensor> BagsOnCuda(Dispatcher& d, const OpView& op, const Tensor& indices,
                               const Tensor& offsets) {
  const std::int64_t bags = offsets.size(0) - (op.boolean(7) ? 1 : 0);
  const Dims shape{bags, op.self().size(1)};
  const DType index = indices.dtype();
  const Tensor sizes = d.Call("aten::empty.memory_format", Dims(offsets.sizes()), index);
  const Tensor bag_of = d.Call("aten::empty.memory_format", Dims{indices.size(0)}, index);
  const Tensor out = d.Call("aten::empty.memory_format", shape, op.self().dtype());
  const bool compares = ModeOf(op, 4) == Mode::kMax;
  const Tensor largest = d.Call("aten::empty.memory_format", compares ? shape : Dims{0}, index);
  d.Call("steelyard::add_bags", out, op.arg(0), indices, offsets, d.tensor(op, 6), true);
  return {out, bag_of, sizes, largest};
}

enum class For : std::uint8_t { kForwardOnly, kGradient };

template <For kFor>
std::vector<Tensor> MakeBags(Dispatcher& d, const OpView& op) {
  const Mode mode = ModeOf(op, 4);
  RequireBags(op, mode);
  const DType index = PromoteTypes(op.tensor(1).dtype(), op.tensor(2).dtype());
  const Tensor table = d.tensor(op, 0);
  const Tensor indices = d.Call("aten::to.dtype", op.arg(1), index);
  const Tensor offsets = d.Call("aten::to.dtype", op.arg(2), index);
  if (d.target().device == Device::kCuda) return BagsOnCuda(d, op, indices, offsets);
  const std::int64_t bags = offsets.size(0) - (op.boolean(7) ? 1 : 0), count = indices.size(0);
  const Tensor out = d.Call("aten::empty.memory_format", Dims{bags, table.size(1)}, table.dtype());
  Tensor bag_of = d.Call("steelyard::bag_of_indices", indices, offsets, 0);
  // Sums of whole rows need not know the bag of each.
  const bool straight = table.dtype() != DType::kFloat64 && table.view().stride(1) == 1 &&
                        op.integer(8, -1) < 0 && (!op.given(6) || op.tensor(6).stride(0) == 1);
  if (mode != Mode::kSum || !straight) {
    const Tensor room = d.Call("steelyard::bag_of_indices", indices, offsets, count + 1);
    const Tensor begins =
        op.boolean(7) ? d.Call("aten::slice.Tensor", offsets, 0, 0, bags) : offsets;
    bag_of = d.Call("aten::narrow", Begins(d, room, begins), 0, 0, count);
  }
  Tensor sizes = d.Call("aten::empty.memory_format", Dims(offsets.sizes()), index);
  if (kFor == For::kGradient || mode != Mode::kSum) {
    if (op.boolean(7)) sizes = d.Call("aten::narrow", sizes, 0, 0, bags);
    WriteSizes(d, sizes, offsets, bags, count);
  }
  Tensor largest = d.Call("aten::empty.memory_format", Dims(sizes.sizes()), index);
  if (mode == Mode::kMax) largest = d.Call("steelyard::bag_maxima", largest, bags, table.size(1));
  d.Call("steelyard::add_bags", out, table, indices, offsets, d.tensor(op, 6), straight);
  if (mode == Mode::kMean) DivideBySizes(d, out, sizes);
  if (mode != Mode::kMax) d.Call("aten::copy_", largest, sizes);
  return {out, bag_of, sizes, largest};
}

std::vector<Tensor> EmbeddingBag(Dispatcher& d, const OpView& op) {
  const bool learns = op.self().value().requires_grad;  // whether gradients are recorded or not
  std::int64_t padding = -1;
  if (op.arg_count() > 8 && op.given(8)) {
    padding = op.integer(8);
    const std::int64_t rows = op.self().rank() > 0 ? op.self().size(0) : 0;
    if (padding < -rows || padding >= rows) Refuse("the table has no such row to leave out");
    if (padding < 0) padding += rows;
  }
  const Tensor indices = d.Call("aten::contiguous", op.arg(1));
  const Tensor offsets = d.Call("aten::contiguous", op.arg(2));
  return d.CallMany(
      learns ? OpName("aten::_embedding_bag") : OpName("aten::_embedding_bag_forward_only"),
      op.arg(0), indices, offsets, op.arg(3), op.arg(4), op.arg(5), op.arg(6), op.arg(7), padding);
}

// --- Backward -----------------------------------------------------------------------------------

// The bag of each index, where the sum did not need it.
Tensor BagsOf(Dispatcher& d, const Tensor& room, const OpView& op, int indices, int offsets) {
  const Tensor all = Begins(d, room, d.tensor(op, offsets));
  return d.Call("aten::narrow", all, 0, 0, op.tensor(indices).size(0));
}

// The gradient of each row, where the table's is sparse: that of its bag, as its share of it.
Tensor SparseBags(Dispatcher& d, const OpView& op, const Tensor& indices, const Tensor& bag_of) {
  const Dispatcher::Inside frame(d, "aten::_embedding_bag_sparse_backward");
  const Mode mode = ModeOf(op, 8);
  if (mode == Mode::kMax) Refuse("PyTorch gives no sparse gradient of maxima");
  if (op.boolean(7)) Refuse("PyTorch scales no sparse gradient by how often an id occurs");
  const Tensor of_rows = d.Call("aten::index_select", op.arg(0), 0, bag_of);
  if (mode == Mode::kMean) {
    const Tensor shares = [&] {
      const Tensor sizes = d.Call("aten::to.dtype", op.arg(4), of_rows.dtype());
      const Tensor inverses = d.Call("aten::empty_like", sizes);
      d.Call("aten::fill_.Scalar", inverses, 1);
      d.Call("aten::div_.Tensor", inverses, sizes);
      return d.Call("aten::index_select", d.Call("aten::unsqueeze", inverses, 1), 0, bag_of);
    }();
    d.Call("aten::mul_.Tensor", of_rows, shares);
  }
  if (op.given(10)) {
    d.Call("aten::mul_.Tensor", of_rows, d.Call("aten::unsqueeze", op.arg(10), 1));
  }
  return gradients::SparseRows(d, of_rows, indices, op.integer(6), op.integer(11, -1));
}

// grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights,
// scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx
std::vector<Tensor> BagBackward(Dispatcher& d, const OpView& op) {
  const DType index = PromoteTypes(op.tensor(1).dtype(), op.tensor(2).dtype());
  const Tensor indices = d.Call("aten::to.dtype", op.arg(1), index);
  const Tensor offsets = d.Call("aten::to.dtype", op.arg(2), index);
  Tensor bag_of = d.tensor(op, 3);
  const std::int64_t count = indices.count();
  if (count != 0 && bag_of.count() == 0) {
    Tensor room = d.Call("aten::new_zeros", offsets, Dims{count + 1});
    bag_of = Begins(d, room, offsets);
    room.reset();
    bag_of = d.Call("aten::narrow", bag_of, 0, 0, count);
  }
  if (op.boolean(9)) return {SparseBags(d, op, indices, bag_of)};
  return {d.Call("aten::_embedding_bag_dense_backward", op.arg(0), indices, bag_of, op.arg(4),
                 op.arg(5), op.arg(6), op.arg(7), op.arg(8), op.arg(10), op.arg(11))};
}

// grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
// per_sample_weights, padding_idx
std::vector<Tensor> DenseBackward(Dispatcher& d, const OpView& op) {
  const Mode mode = ModeOf(op, 7);
  const Tensor grad = d.Call("aten::contiguous", op.arg(0));
  if (d.target().device == Device::kCuda) {
    if (mode == Mode::kMax) {
      return {d.Call("aten::zeros", Dims{op.integer(5), grad.size(1)}, grad.dtype())};
    }
    return {d.Call("steelyard::add_to_table", grad, op.arg(1), op.arg(5), op.arg(6))};
  }
  const Tensor gradient = d.Call("aten::zeros", Dims{op.integer(5), grad.size(1)}, grad.dtype());
  if (mode == Mode::kMax) {
    const auto present = [&](const Tensor& of) {
      const Tensor places = d.Call("aten::nonzero", op.arg(3));
      return d.Call("aten::index_select", of, 0, d.Call("aten::view", places, Dims{-1}));
    };
    const Tensor largest = present(d.tensor(op, 4));
    const Tensor of_present = present(grad);
    for (std::int64_t column = 0; column < largest.size(1); ++column) {
      const auto of_column = [&](const Tensor& of) {
        return d.Call("aten::select.int", of, 1, column);
      };
      d.Call("aten::index_add_", of_column(gradient), 0, of_column(largest), of_column(of_present));
    }
    return {gradient};
  }
  const std::vector<Tensor> sorted = d.CallMany("aten::sort", op.arg(1));
  const Tensor bags = d.Call("aten::index_select", op.arg(2), 0, sorted[1]);
  Tensor weights;
  if (op.given(8)) weights = d.Call("aten::index_select", op.arg(8), 0, sorted[1]);
  d.Call("steelyard::add_to_rows", gradient, sorted[0], grad);
  return {gradient};
}

// grad, weight, indices, offsets, offset2bag, mode, padding_idx
std::vector<Tensor> WeightsBackward(Dispatcher& d, const OpView& op) {
  const TensorView indices = op.tensor(2);
  if (d.target().device == Device::kCuda) {
    const DType index = PromoteTypes(indices.dtype(), op.tensor(3).dtype());
    const Tensor ids = d.Call("aten::to.dtype", op.arg(2), index);
    const Tensor offsets = d.Call("aten::to.dtype", op.arg(3), index);
    const Tensor out =
        d.Call("aten::empty.memory_format", Dims{indices.size(0)}, op.self().dtype());
    return {d.Call("steelyard::bag_products", out, op.arg(0), op.arg(1))};
  }
  const Tensor gradient = d.Call("aten::zeros", Dims{indices.size(0)}, op.self().dtype());
  Tensor bag_of = d.tensor(op, 4);
  if (bag_of.count() == 0) {
    const Tensor room = d.Call("aten::zeros", Dims{indices.size(0) + 1}, op.tensor(3).dtype());
    bag_of = BagsOf(d, room, op, 2, 3);
  }
  return {d.Call("steelyard::bag_products", gradient, op.arg(0), op.arg(1))};
}

// --- Kernels ------------------------------------------------------------------------------------

void EmptyIndexShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), Dims{op.integer(2)});
}
void MaximaShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), Dims{op.integer(1), op.integer(2)});
}
void TableShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), Dims{op.integer(2), op.self().size(1)});
}

// Half-precision rows are added up in float32, by a list of where bags end, unless the table has
// padding.
void AddBagsAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = op.self().dtype();
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (!half || op.boolean(5) || op.tensor(2).count() == 0) return;
  const auto ends = memory.Allocate(
      allocations::Bytes(Count(op.tensor(3).size(0)) + 1, DType::kInt32), "aten::empty");
  memory.Free(
      memory.Allocate(allocations::Bytes(op.self().count(), DType::kFloat32), "aten::empty"),
      Allocations::kCaller);
  memory.Free(ends, Allocations::kCaller);
}
Work AddBagsWork(const OpView& op) {
  const Count elements = Count(op.tensor(2).count()) * op.self().size(1);
  return {.alu = elements * (op.given(4) ? 2 : 1)};
}
Work AddRowsWork(const OpView& op) {
  return {.alu = Count(op.tensor(1).count()) * op.self().size(1)};
}
Work ProductsWork(const OpView& op) {
  return {.alu = Count(op.self().count()) * op.tensor(2).size(1) * 2};
}

constexpr OpDef Part(const Words& words, ShapeFn shape, DeviceAllocations allocations, WorkFn work,
                     Alias alias = Alias::kNone) {
  return OpaqueKernel(Family::kIndexing, words, shape, allocations, work, kNoGradient,
                      precision::kFollow, alias);
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose, Gradient grad) {
  return Composite(Family::kIndexing, words, decompose, grad);
}

constexpr std::array kRows{
    Call({"aten::embedding_bag", "Sums, means or maxima of rows of a table, bag by bag.",
          "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
          "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
          "include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
          "aten::embedding_bag(f32[10,4], i64[6], i64[3])"},
         EmbeddingBag, kGradientFromParts),
    Call({"aten::embedding_bag.padding_idx",
          "Sums, means or maxima of rows of a table, bag by bag, without one of the rows.",
          "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool "
          "sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> "
          "(Tensor, Tensor, Tensor, Tensor)",
          "aten::embedding_bag.padding_idx(f32[10,4], i64[6], i64[3], False, 1, False, None, "
          "False, 2)"},
         EmbeddingBag, kGradientFromParts),
    CopyingOut(Call(
        {"aten::_embedding_bag", "Sums, means or maxima of rows, and what their gradient needs.",
         "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
         "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
         "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
         "aten::_embedding_bag(f32[10,4], i64[6], i64[3], False, 1)"},
        MakeBags<For::kGradient>, gradients::kEmbeddingBag)),
    CopyingOut(
        Call({"aten::_embedding_bag_forward_only", "Sums, means or maxima of rows, bag by bag.",
              "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
              "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
              "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
              "aten::_embedding_bag_forward_only(f32[10,4], i64[6], i64[3])"},
             MakeBags<For::kForwardOnly>, gradients::kNotImplemented)),
    Call({"aten::_embedding_bag_backward", "The gradient of a table of which bags were made.",
          "(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, "
          "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool "
          "sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
          "aten::_embedding_bag_backward(f32[3,4], i64[6], i64[3], i64[6], i64[3], i64[3], 10, "
          "False, 1, False, None)"},
         BagBackward, gradients::kNotImplemented),
    CopyingOut(
        Call({"aten::_embedding_bag_dense_backward",
              "The gradient of a table of which bags were made, by the bag of each index.",
              "(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor "
              "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? "
              "per_sample_weights, int padding_idx=-1) -> Tensor",
              "aten::_embedding_bag_dense_backward(f32[3,4], i64[6], i64[6], i64[3], i64[3], 10, "
              "False, 1, None)"},
             DenseBackward, gradients::kNotImplemented)),
    CopyingOut(Call(
        {"aten::_embedding_bag_per_sample_weights_backward",
         "The gradient of the weights of what is in bags.",
         "(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, Tensor offset2bag, int "
         "mode, int padding_idx=-1) -> Tensor",
         "aten::_embedding_bag_per_sample_weights_backward(f32[3,4], f32[10,4], i64[6], i64[3], "
         "i64[6], 0)"},
        WeightsBackward, gradients::kNotImplementedOf<0, 1>)),
    OnlyWithin(Part({"steelyard::bag_of_indices", "Room for the bag of each index.",
                     "(Tensor indices, Tensor offsets, int size) -> Tensor",
                     "steelyard::bag_of_indices(i64[6], i64[3], 0)"},
                    EmptyIndexShape, allocations::Via<"^">, work::None)),
    OnlyWithin(Part(
        {"steelyard::bag_maxima", "Where the maxima of bags stand.",
         "(Tensor self, int bags, int columns) -> Tensor", "steelyard::bag_maxima(i64[3], 3, 4)"},
        MaximaShape, allocations::Via<"^">, work::None)),
    OnlyWithin(Part({"steelyard::add_bags", "Adds up the rows of bags.",
                     "(Tensor(a!) self, Tensor weight, Tensor indices, Tensor offsets, Tensor? "
                     "per_sample_weights, bool straight) -> Tensor(a!)",
                     "steelyard::add_bags(f32[3,4], f32[10,4], i64[6], i64[3], None, True)"},
                    shape::SameAs<0>, {AddBagsAllocations, allocations::None}, AddBagsWork,
                    Alias::kInPlace)),
    OnlyWithin(Part({"steelyard::add_to_rows", "Adds gradients to rows of a table.",
                     "(Tensor(a!) self, Tensor rows, Tensor grad) -> Tensor(a!)",
                     "steelyard::add_to_rows(f32[10,4], i64[6], f32[3,4])"},
                    shape::SameAs<0>, allocations::None, AddRowsWork, Alias::kInPlace)),
    Part({"steelyard::add_to_table", "Gradients of bags, added up for each row of a table.",
          "(Tensor grad, Tensor indices, int num_weights, bool scale_grad_by_freq) -> Tensor",
          "steelyard::add_to_table(f32[3,4], i64[6], 10, False)"},
         TableShape, {allocations::OutputsOnly, cuda::BagGradient}, AddRowsWork),
    OnlyWithin(
        Part({"steelyard::bag_products", "Products of gradients of bags with rows of a table.",
              "(Tensor(a!) self, Tensor grad, Tensor weight) -> Tensor(a!)",
              "steelyard::bag_products(f32[6], f32[3,4], f32[10,4])"},
             shape::SameAs<0>, allocations::None, ProductsWork, Alias::kInPlace)),
};

}  // namespace

std::span<const OpDef> Bags() { return kRows; }

}  // namespace steelyard::ops
