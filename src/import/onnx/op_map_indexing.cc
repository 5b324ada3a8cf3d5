// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by indices, and written to places.
#include <array>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

// --- Chosen by an index -------------------------------------------------------------------------

// Of a constant list by constant positions.
bool GatherNumbers(Call& call, const Shape& to) {
  const auto known = call.known(0);
  const auto indices = call.numbers(1);
  if (!known || !indices || call.rank(0) != 1) return false;
  const auto count = static_cast<std::int64_t>(*known);
  std::vector<std::size_t> places;
  for (const Dim index : *indices) {
    if (!index.is_number()) return false;
    const std::int64_t at = index.number() < 0 ? index.number() + count : index.number();
    if (at < 0 || at >= count) Call::GiveUp("an index is outside");
    places.push_back(static_cast<std::size_t>(at));
  }
  call.GiveChosen(0, places, {call.dtype(0), to});
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
  const std::int64_t batches = call.integer("batch_dims", 0);
  std::size_t depth = 0;
  const Shape from = call.shape(0);
  Shape to = call.shape(1);
  std::vector<Tensor> columns = Columns(call, 1, &depth);
  const auto shared = static_cast<std::size_t>(batches);
  if (batches < 0 || shared >= to.size() || depth + shared > from.size()) {
    Call::GiveUp("indices deeper than the operand");
  }
  // Each sample's own, spread over its tuples.
  for (std::size_t i = shared; i-- > 0;) {
    Builder::Shape along(to.size() - 1, 1);
    along[i] = -1;
    const Tensor samples = call.Emit("aten::arange", from[i]);
    columns.insert(columns.begin(), call.Emit("aten::reshape", samples, along));
  }
  depth += shared;
  to.pop_back();
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(depth), from.end());
  call.Give(call.Emit("aten::index.Tensor", call.tensor(0), columns), {call.dtype(0), to});
}

// --- Written to places --------------------------------------------------------------------------

// What PyTorch calls a reduction.
std::string_view ReductionNamed(const std::string& reduction) {
  if (reduction == "add") return "sum";
  if (reduction == "mul") return "prod";
  if (reduction == "max") return "amax";
  if (reduction == "min") return "amin";
  Call::GiveUp("reduction \"" + reduction + "\"");
}

void ScatterElements(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  const std::string reduction = call.text("reduction", "none");
  const Tensor x = call.tensor(0), index = call.tensor(1), source = call.tensor(2);
  if (reduction == "none") {
    return call.Give(call.Emit("aten::scatter.src", x, axis, index, source), call.like(0));
  }
  call.Give(
      call.Emit("aten::scatter_reduce.two", x, axis, index, source, ReductionNamed(reduction)),
      call.like(0));
}

// What index_put does not reduce by: tuples become positions among rows, which are what is left of
// the dimensions.
void ReduceTuples(Call& call, const std::string& reduction) {
  std::size_t depth = 0;
  const Shape& shape = call.shape(0);
  const std::vector<Tensor> columns = Columns(call, 1, &depth);
  if (depth > shape.size()) Call::GiveUp("indices deeper than the operand");
  Tensor place = columns[0];
  for (std::size_t i = 1; i < depth; ++i) {
    place = call.Emit("aten::mul.Tensor", place, shape[i]);
    place = call.Emit("aten::add.Tensor", place, columns[i]);
  }
  Sizes& sizes = call.sizes();
  const Dim row =
      shapes::Count(sizes, shape, static_cast<int>(depth), static_cast<int>(shape.size()));
  const Dim count = shapes::Count(sizes, call.shape(1), 0, call.rank(1) - 1);
  const Tensor rows = call.Emit("aten::reshape", call.tensor(0), Builder::Shape{-1, row});
  const Tensor source = call.Emit("aten::reshape", call.tensor(2), Builder::Shape{count, row});
  place = call.Emit("aten::reshape", place, Builder::Shape{-1, 1});
  place = call.Emit("aten::expand", place, Builder::Shape{count, row});
  const Tensor out =
      call.Emit("aten::scatter_reduce.two", rows, 0, place, source, ReductionNamed(reduction));
  call.Give(call.Emit("aten::reshape", out, ToSizes(shape)), call.like(0));
}

void ScatterTuples(Call& call) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction != "none" && reduction != "add") return ReduceTuples(call, reduction);
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

// Where each of `count` different ones stands first: the least position of those that are it.
Tensor FirstPlaces(Call& call, Tensor inverse, Dim count, Dim all) {
  const Tensor line = call.Emit("aten::arange", all);
  const Tensor far =
      call.Emit("aten::full", Builder::Shape{count}, all, Builder::Named("dtype", DType::kInt64));
  return call.Emit("aten::scatter_reduce.two", far, 0, inverse, line, "amin");
}

void Unique(Call& call) {
  const bool first = call.wants(1), inverse = first || call.wants(2), counts = call.wants(3);
  const bool sorted = call.integer("sorted", 1) != 0;
  const Dim count = call.workshop().FreshSymbol();
  Dim all = shapes::Count(call.sizes(), call.shape(0));
  Shape to{count};
  std::vector<Tensor> out;
  if (call.attribute("axis")) {
    const int axis = call.axis(call.integer("axis", 0), call.rank(0));
    all = call.shape(0)[static_cast<std::size_t>(axis)];
    to = shapes::With(call.shape(0), axis, count);
    out = call.EmitMany("aten::unique_dim", 3, call.tensor(0), axis, sorted, inverse, counts);
  } else {
    out = call.EmitMany("aten::_unique2", 3, call.tensor(0), sorted, inverse, counts);
  }
  call.workshop().builder.State(out[0], call.dtype(0), ToSizes(to));
  call.Give(out[0], {call.dtype(0), to});
  if (!inverse && !counts) return;
  const Tensor flat = inverse ? call.Emit("aten::reshape", out[1], Builder::Shape{-1}) : Tensor();
  if (first) {
    call.Give(FirstPlaces(call, flat, count, all), {DType::kInt64, {count}});
  } else {
    call.GiveNothing();
  }
  if (call.wants(2)) {
    call.Give(flat, {DType::kInt64, {all}});
  } else {
    call.GiveNothing();
  }
  if (counts) call.Give(out[2], {DType::kInt64, {count}});
}

// --- Boxes that overlap others ------------------------------------------------------------------

// Each class of each image is a call of its own; more of them are no graph that anybody wrote.
constexpr std::int64_t kMostClasses = 256;

// Centres and sizes as corners (torchvision/ops/_box_convert.py).
Tensor Corners(Call& call, Tensor boxes) {
  const std::vector<Tensor> parts = call.EmitMany("aten::unbind.int", 4, boxes, -1);
  std::vector<Tensor> corners;
  for (const std::string_view op : {"aten::sub.Tensor", "aten::add.Tensor"}) {
    for (const std::size_t at : {0U, 1U}) {
      const Tensor half = call.Emit("aten::mul.Tensor", parts[at + 2], 0.5);
      corners.push_back(call.Emit(op, parts[at], half));
    }
  }
  return call.Emit("aten::stack", corners, -1);
}

// Rows of [image, class, box] of one class, and how many there are.
Tensor ChosenBoxes(Call& call, std::int64_t image, std::int64_t label, Dim* count) {
  Tensor boxes = call.Emit("aten::select.int", call.tensor(0), 0, image);
  if (call.integer("center_point_box", 0) != 0) boxes = Corners(call, boxes);
  Tensor scores = call.Emit("aten::select.int", call.tensor(1), 0, image);
  scores = call.Emit("aten::select.int", scores, 0, label);
  // The most that data can choose is asked of calls whose operands' sizes are stated.
  const auto stated = [&](Tensor t, DType dtype, const Builder::Shape& sizes) {
    call.workshop().builder.State(t, dtype, sizes);
    return t;
  };
  const Dim boxes_given = call.shape(0).at(1);
  stated(boxes, call.dtype(0), {boxes_given, 4});
  stated(scores, call.dtype(1), {boxes_given});
  Tensor good;
  if (call.has(4)) {
    const Tensor above =
        stated(call.Emit("aten::gt.Tensor", scores, call.tensor(4)), DType::kBool, {boxes_given});
    const Dim kept = call.workshop().FreshSymbol();
    good = call.Emit("aten::squeeze.dim", Positions(call, above, kept, 1), 1);
    boxes = stated(call.Emit("aten::index_select", boxes, 0, good), call.dtype(0), {kept, 4});
    scores = stated(call.Emit("aten::index_select", scores, 0, good), call.dtype(1), {kept});
  }
  const auto overlap = call.reals(3);
  if (call.has(3) && (!overlap || overlap->size() != 1)) Call::GiveUp("a threshold of the data");
  Tensor chosen =
      call.Emit("torchvision::nms", boxes, scores, call.has(3) ? overlap->front() : 0.0);
  *count = call.workshop().FreshSymbol();
  call.workshop().builder.State(chosen, DType::kInt64, {*count});
  const std::vector<Dim> most = call.has(2) ? call.known_numbers(2) : std::vector{Dim(0)};
  if (most.size() != 1) Call::GiveUp("no number of boxes");
  chosen = call.Emit("aten::slice.Tensor", chosen, 0, 0, most[0]);
  *count = call.sizes().Minimum(*count, most[0]);
  if (good.defined()) chosen = call.Emit("aten::index_select", good, 0, chosen);
  const Tensor column = call.Emit("aten::unsqueeze", chosen, 1);
  const Tensor labelled = call.Emit("aten::constant_pad_nd", column, Builder::Shape{1, 0}, label);
  return call.Emit("aten::constant_pad_nd", labelled, Builder::Shape{1, 0}, image);
}

// boxes, scores of [images, classes, boxes], the most of a class, overlap and score that decide
void ChooseBoxes(Call& call) {
  const Shape& scores = call.shape(1);
  if (scores.size() != 3 || !scores[0].is_number() || !scores[1].is_number() ||
      scores[0].number() > kMostClasses || scores[1].number() > kMostClasses ||
      scores[0].number() * scores[1].number() > kMostClasses) {
    Call::GiveUp("images or classes that are not counted, or too many");
  }
  std::vector<Tensor> rows;
  Dim all(0);
  for (std::int64_t image = 0; image < scores[0].number(); ++image) {
    for (std::int64_t label = 0; label < scores[1].number(); ++label) {
      Dim count(0);
      rows.push_back(ChosenBoxes(call, image, label, &count));
      all = call.sizes().Sum(all, count);
    }
  }
  if (rows.empty()) Call::GiveUp("no classes");
  const Tensor out = rows.size() == 1 ? rows.front() : call.Emit("aten::cat", rows, 0);
  call.Give(out, {DType::kInt64, {all, Dim(3)}});
}

// --- Along an axis, for each sample -------------------------------------------------------------

// A list of numbers for each size of one dimension, among others of one.
Tensor Along(Call& call, Tensor list, int rank, int axis) {
  Builder::Shape sizes(static_cast<std::size_t>(rank), 1);
  sizes[static_cast<std::size_t>(axis)] = -1;
  return call.Emit("aten::reshape", list, sizes);
}

// x, lengths: the first steps of each sample in reverse
void ReverseSequence(Call& call) {
  const int rank = call.rank(0);
  const int batch = call.axis(call.integer("batch_axis", 1), rank),
            time = call.axis(call.integer("time_axis", 0), rank);
  const Tensor steps = call.Emit("aten::arange", call.shape(0)[static_cast<std::size_t>(time)]);
  const Tensor step = Along(call, steps, rank, time);
  const Tensor length = Along(call, call.tensor(1), rank, batch);
  const Tensor last = call.Emit("aten::sub.Tensor", length, 1);
  const Tensor turned = call.Emit("aten::sub.Tensor", last, step);
  const Tensor within = call.Emit("aten::lt.Tensor", step, length);
  const Tensor index = call.Emit("aten::where.self", within, turned, step);
  const Tensor all = call.Emit("aten::expand", index, ToSizes(call.shape(0)));
  call.Give(call.Emit("aten::gather", call.tensor(0), time, all), call.like(0));
}

// A cache, what is written to it, and for each sample where
void WriteToCache(Call& call) {
  const int rank = call.rank(0);
  const int axis = call.axis(call.integer("axis", -2), rank);
  const Dim count = call.shape(1).at(static_cast<std::size_t>(axis));
  const Tensor cache = call.tensor(0), update = call.tensor(1);
  if (!call.has(2)) {
    return call.Give(call.Emit("aten::slice_scatter", cache, update, axis, 0, count), call.like(0));
  }
  const Tensor steps = Along(call, call.Emit("aten::arange", count), rank, axis);
  Tensor index = call.Emit("aten::add.Tensor", Along(call, call.tensor(2), rank, 0), steps);
  if (call.text("mode", "linear") == "circular") {
    const Dim length = call.shape(0)[static_cast<std::size_t>(axis)];
    index = call.Emit("aten::remainder.Scalar", index, length);
  }
  const Tensor all = call.Emit("aten::expand", index, ToSizes(call.shape(1)));
  call.Give(call.Emit("aten::scatter.src", cache, axis, all, update), call.like(0));
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
    OpRow{.name = "NonMaxSuppression", .since = 10, .translate = ChooseBoxes, .settings = 0b11100},
    OpRow{"NonZero", 9, NonZero},
    OpRow{.name = "OneHot", .since = 9, .translate = OneHot, .settings = 0b100},
    OpRow{"ReverseSequence", 10, ReverseSequence},
    OpRow{"Scatter", 9, ScatterElements},
    OpRow{"ScatterElements", 11, ScatterElements},
    OpRow{"ScatterND", 11, ScatterTuples},
    OpRow{"TensorScatter", 24, WriteToCache},
    OpRow{"TopK", 1, TopK},
    OpRow{"Unique", 11, Unique},
};

}  // namespace

std::span<const OpRow> IndexingRows() { return kRows; }

}  // namespace steelyard::onnx
