// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by indices, and written to places.
#include <array>
#include <utility>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

// --- Chosen by an index -------------------------------------------------------------------------

// Of a constant list by constant positions.
bool GatherNumbers(Call& call, const Shape& to) {
  const auto numbers = call.numbers(0), indices = call.numbers(1);
  if (!numbers || !indices || call.rank(0) != 1 || IsFloating(call.dtype(0))) return false;
  const auto count = static_cast<std::int64_t>(numbers->size());
  std::vector<Dim> out;
  for (const Dim index : *indices) {
    if (!index.is_number()) return false;
    const std::int64_t at = index.number() < 0 ? index.number() + count : index.number();
    if (at < 0 || at >= count) Call::GiveUp("an index is outside");
    out.push_back((*numbers)[static_cast<std::size_t>(at)]);
  }
  call.GiveNumbers(std::move(out), {call.dtype(0), to});
  return true;
}

void Gather(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  const Shape &from = call.shape(0), &index = call.shape(1);
  if (from.empty()) Call::GiveUp("a 0-dim operand");
  Shape to(from.begin(), from.begin() + axis);
  to.insert(to.end(), index.begin(), index.end());
  to.insert(to.end(), from.begin() + axis + 1, from.end());
  if (GatherNumbers(call, to)) return;
  const Like like{call.dtype(0), to};
  if (const auto number = call.number(1)) {
    return call.Give(call.Emit("aten::select.int", call.tensor(0), axis, *number), like);
  }
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  if (from.size() == 2 && axis == 0) {
    return call.Give(call.Emit("aten::embedding", x, indices), like);
  }
  if (index.size() == 1) {
    return call.Give(call.Emit("aten::index_select", x, axis, indices), like);
  }
  std::vector<Tensor> list(static_cast<std::size_t>(axis) + 1);
  list.back() = indices;
  call.Give(call.Emit("aten::index.Tensor", x, list), like);
}

void GatherElements(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  call.Give(call.Emit("aten::gather", call.tensor(0), axis, call.tensor(1)),
            {call.dtype(0), call.shape(1)});
}

// Tuples of positions as one list for each dimension; `depth` of them.
std::vector<Tensor> Columns(Call& call, std::size_t operand, std::size_t* depth) {
  const Shape& shape = call.shape(operand);
  if (shape.empty() || !shape.back().is_number()) Call::GiveUp("indices of an unknown depth");
  const std::int64_t count = shape.back().number();
  if (count < 1 || count > Dims::kMaxRank) Call::GiveUp("indices of an absurd depth");
  *depth = static_cast<std::size_t>(count);
  return call.EmitMany("aten::unbind.int", *depth, call.tensor(operand), -1);
}

void GatherTuples(Call& call) {
  if (call.integer("batch_dims", 0) != 0) Call::GiveUp("batch_dims");
  std::size_t depth = 0;
  const Shape from = call.shape(0);
  Shape to = call.shape(1);
  const std::vector<Tensor> columns = Columns(call, 1, &depth);
  if (depth > from.size()) Call::GiveUp("indices deeper than the operand");
  to.pop_back();
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(depth), from.end());
  call.Give(call.Emit("aten::index.Tensor", call.tensor(0), columns), {call.dtype(0), to});
}

// --- Written to places --------------------------------------------------------------------------

void ScatterElements(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  const std::string reduction = call.text("reduction", "none");
  const Tensor x = call.tensor(0), index = call.tensor(1), source = call.tensor(2);
  if (reduction == "none") {
    return call.Give(call.Emit("aten::scatter.src", x, axis, index, source), call.like(0));
  }
  std::string_view how;
  if (reduction == "add") how = "sum";
  if (reduction == "mul") how = "prod";
  if (reduction == "max") how = "amax";
  if (reduction == "min") how = "amin";
  if (how.empty()) Call::GiveUp("reduction \"" + reduction + "\"");
  call.Give(call.Emit("aten::scatter_reduce.two", x, axis, index, source, how), call.like(0));
}

void ScatterTuples(Call& call) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction != "none" && reduction != "add") Call::GiveUp("reduction \"" + reduction + "\"");
  std::size_t depth = 0;
  const std::vector<Tensor> columns = Columns(call, 1, &depth);
  const Tensor out =
      call.Emit("aten::index_put", call.tensor(0), columns, call.tensor(2), reduction == "add");
  call.Give(out, call.like(0));
}

// --- As many as the data say --------------------------------------------------------------------

// Positions of what is not zero, [how many, rank].
Tensor Positions(Call& call, Tensor x, Dim count, std::int64_t rank) {
  const Tensor out = call.Emit("aten::nonzero", x);
  call.workshop().builder.State(out, DType::kInt64, {count, rank});
  return out;
}

void NonZero(Call& call) {
  const Dim count = call.workshop().FreshSymbol();
  const int rank = call.rank(0);
  const Tensor positions = Positions(call, call.tensor(0), count, rank);
  call.Give(call.Emit("aten::t", positions), {DType::kInt64, {Dim(rank), count}});
}

void Compress(Call& call) {
  const Dim count = call.workshop().FreshSymbol();
  Tensor x = call.tensor(0);
  Shape to = call.shape(0);
  int axis = 0;
  if (call.attribute("axis")) {
    axis = call.axis(call.integer("axis", 0), call.rank(0));
  } else {
    x = call.Emit("aten::reshape", x, Builder::Shape{-1});
    to = {Dim(1)};
  }
  const Tensor positions = Positions(call, call.tensor(1), count, 1);
  const Tensor index = call.Emit("aten::squeeze.dim", positions, 1);
  call.Give(call.Emit("aten::index_select", x, axis, index),
            {call.dtype(0), shapes::With(to, axis, count)});
}

void Unique(Call& call) {
  if (call.attribute("axis") || call.wants(1))
    Call::GiveUp("unique slices, or where they stand first");
  const bool inverse = call.wants(2), counts = call.wants(3);
  const Dim count = call.workshop().FreshSymbol();
  const std::vector<Tensor> out = call.EmitMany("aten::_unique2", 3, call.tensor(0),
                                                call.integer("sorted", 1) != 0, inverse, counts);
  const Dim all = shapes::Count(call.sizes(), call.shape(0));
  call.Give(out[0], {call.dtype(0), {count}});
  call.GiveNothing();
  if (!inverse && !counts) return;
  const Tensor flat = call.Emit("aten::reshape", out[1], Builder::Shape{-1});
  call.Give(flat, {DType::kInt64, {all}});
  call.Give(out[2], {DType::kInt64, {count}});
}

// --- Sorted -------------------------------------------------------------------------------------

void TopK(Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank(0));
  const std::vector<Dim> k =
      call.opset() < 10 ? std::vector{Dim(call.integer("k", 1))} : call.known_numbers(1);
  if (k.size() != 1) Call::GiveUp("k is no number");
  const std::vector<Tensor> out =
      call.EmitMany("aten::topk", 2, call.tensor(0), k.at(0), axis, call.integer("largest", 1) != 0,
                    call.integer("sorted", 1) != 0);
  const Shape to = shapes::With(call.shape(0), axis, k.at(0));
  call.Give(out[0], {call.dtype(0), to});
  call.Give(out[1], {DType::kInt64, to});
}

// A comparison of each index with all positions.
void OneHot(Call& call) {
  const std::vector<Dim> depth = call.known_numbers(1);
  if (depth.size() != 1) Call::GiveUp("the depth is no number");
  const int rank = call.rank(0) + 1;
  const int axis = call.axis(call.integer("axis", -1), rank);
  Shape to = call.shape(0), along(static_cast<std::size_t>(rank), Dim(1));
  to.insert(to.begin() + axis, depth.at(0));
  along[static_cast<std::size_t>(axis)] = depth.at(0);
  const Tensor positions =
      call.Emit("aten::arange", depth.at(0), Builder::Named("dtype", call.dtype(0)));
  const Tensor spread = call.Emit("aten::reshape", positions, ToSizes(along));
  const Tensor index = call.Emit("aten::unsqueeze", call.tensor(0), axis);
  const Tensor hot = call.Emit("aten::eq.Tensor", index, spread);
  const DType dtype = call.dtype(2);
  const auto values = call.reals(2);
  const Like like{dtype, to};
  if (values && values->size() == 2 && values->front() == 0 && values->back() == 1) {
    return call.Give(call.Emit("aten::to.dtype", hot, dtype), like);
  }
  const Tensor on = call.Emit("aten::select.int", call.tensor(2), 0, 1);
  const Tensor off = call.Emit("aten::select.int", call.tensor(2), 0, 0);
  call.Give(call.Emit("aten::where.self", hot, on, off), like);
}

constexpr std::array kRows{
    OpRow{"Compress", 9, Compress},
    OpRow{"Gather", 1, Gather},
    OpRow{"GatherElements", 11, GatherElements},
    OpRow{"GatherND", 11, GatherTuples},
    OpRow{"NonZero", 9, NonZero},
    OpRow{.name = "OneHot", .since = 9, .translate = OneHot, .settings = 0b100},
    OpRow{"Scatter", 9, ScatterElements},
    OpRow{"ScatterElements", 11, ScatterElements},
    OpRow{"ScatterND", 11, ScatterTuples},
    OpRow{"TopK", 1, TopK},
    OpRow{"Unique", 11, Unique},
};

}  // namespace

std::span<const OpRow> IndexingRows() { return kRows; }

}  // namespace steelyard::onnx
