// SPDX-License-Identifier: Apache-2.0
//
// Shapes: what is read off them, computed with them, and made of them. Operators on constants are
// carried out where they are met.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"
#include "import/onnx/tensors.h"

namespace steelyard::onnx {
namespace {

// Positions such as 0, 1, 2 (axes) are computed with; longer runs are made by the model.
constexpr std::int64_t kMostPositions = 8;
// "To the end", as exporters write it.
constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();

// --- Constants ----------------------------------------------------------------------------------

void Constant(Call& call) {
  Workshop& workshop = call.workshop();
  const auto add = [&](Item item) {
    item.name = call.output_name(0);
    call.GiveItem(workshop.Add(std::move(item)));
  };
  if (const auto value = call.attribute("value")) {
    return add(ItemOf(TensorProto(value->tensor), workshop.external));
  }
  Item item;
  item.stored = true;
  if (const auto value = call.attribute("value_int")) {
    item.dtype = DType::kInt64;
    item.shape.emplace();
    item.numbers = {DimOf(value->integer)};
  } else if (const auto list = call.attribute("value_ints")) {
    item.dtype = DType::kInt64;
    item.shape = {Dim(static_cast<std::int64_t>(list->integers.size()))};
    item.numbers.emplace();
    std::ranges::transform(list->integers, std::back_inserter(*item.numbers), DimOf);
  } else if (const auto real = call.attribute("value_float")) {
    item.dtype = DType::kFloat32;
    item.shape.emplace();
    item.reals = {static_cast<double>(real->real)};
  } else if (const auto reals = call.attribute("value_floats")) {
    item.dtype = DType::kFloat32;
    item.shape = {Dim(static_cast<std::int64_t>(reals->reals.size()))};
    item.reals = reals->reals;
  } else {
    Call::GiveUp("a constant that is text or sparse");
  }
  add(std::move(item));
}

// A tensor of one value: lists of integers that stay small are known.
void Filled(Call& call, const Shape& shape, const Item& value) {
  const Like like{*value.dtype, shape};
  const Dim count = shapes::Count(call.sizes(), shape);
  const bool few = count.is_number() && count.number() <= static_cast<std::int64_t>(kMostContents);
  if (few && value.numbers && shape.size() <= 1) {
    const auto repeated = static_cast<std::size_t>(count.number());
    return call.GiveNumbers(std::vector<Dim>(repeated, value.numbers->front()), like);
  }
  Builder::Arg fill(0);
  if (value.reals) {
    fill = Builder::Arg(value.reals->front());
  } else if (value.numbers) {
    const Dim number = value.numbers->front();
    fill = like.dtype == DType::kBool ? Builder::Arg(number != Dim(0)) : Builder::Arg(number);
  } else {
    Call::GiveUp("the value is not known");
  }
  call.Give(call.Emit("aten::full", ToSizes(shape), fill, Builder::Named("dtype", like.dtype)),
            like);
}

void ConstantOfShape(Call& call) {
  Item value;
  value.dtype = DType::kFloat32;
  value.reals = {0.0};
  if (const auto written = call.attribute("value")) {
    value = ItemOf(TensorProto(written->tensor), call.workshop().external);
  }
  if (!value.dtype) Call::GiveUp("a value of a type that PyTorch has not");
  Filled(call, call.known_numbers(0), value);
}

void Range(Call& call) {
  const DType dtype = call.dtype(0);
  const auto start = call.numbers(0), end = call.numbers(1), step = call.numbers(2);
  if (!start || !end || !step || start->size() + end->size() + step->size() != 3) {
    Call::GiveUp("a range whose ends depend on data");
  }
  Sizes& sizes = call.sizes();
  const Dim first = start->front(), last = end->front(), by = step->front();
  if (!by.is_number() || by == Dim(0)) Call::GiveUp("a range by an unknown step");
  const Dim length =
      by.number() > 0 ? sizes.Difference(last, first) : sizes.Difference(first, last);
  Dim count = sizes.CeilQuotient(length, Dim(std::abs(by.number())));
  if (count.is_number()) count = Dim(std::max<std::int64_t>(count.number(), 0));
  const Like like{dtype, {count}};
  if (first.is_number() && count.is_number() && count.number() <= kMostPositions) {
    std::vector<Dim> positions;
    positions.reserve(static_cast<std::size_t>(count.number()));
    for (std::int64_t i = 0; i < count.number(); ++i) {
      positions.emplace_back(first.number() + i * by.number());
    }
    return call.GiveNumbers(std::move(positions), like);
  }
  const Builder::Arg of_dtype = Builder::Named("dtype", dtype);
  const Tensor out = first == Dim(0) && by == Dim(1)
                         ? call.Emit("aten::arange", last, of_dtype)
                         : call.Emit("aten::arange.start_step", first, last, by, of_dtype);
  call.Give(out, like);
}

void EyeLike(Call& call) {
  const std::optional<DType> written = DTypeOf(call.integer("dtype", 0));
  const DType dtype = written.value_or(call.dtype(0));
  const Shape& shape = call.shape(0);
  if (shape.size() != 2) Call::GiveUp("no matrix");
  const Builder::Arg of_dtype = Builder::Named("dtype", dtype);
  const std::int64_t diagonal = call.integer("k", 0);
  Tensor out;
  if (diagonal == 0 && shape[0] == shape[1]) {
    out = call.Emit("aten::eye", shape[0], of_dtype);
  } else {
    out = call.Emit("aten::triu", call.Emit("aten::ones", ToSizes(shape), of_dtype), diagonal);
    out = call.Emit("aten::tril", out, diagonal);
  }
  call.Give(out, {dtype, call.shape(0)});
}

// --- Read off -----------------------------------------------------------------------------------

void ShapeOf(Call& call) {
  const Shape& shape = call.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto clamp = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = clamp(call.integer("start", 0));
  const std::int64_t end = std::max(begin, clamp(call.integer("end", rank)));
  call.GiveNumbers({shape.begin() + begin, shape.begin() + end},
                   {DType::kInt64, {Dim(end - begin)}});
}

void SizeOf(Call& call) {
  call.GiveNumbers({shapes::Count(call.sizes(), call.shape(0))}, {DType::kInt64, {}});
}

// --- The same elements --------------------------------------------------------------------------

// Gives a constant in another shape, or what `emit` makes of the tensor.
template <class Emit>
void GiveReshaped(Call& call, const Shape& shape, const Emit& emit) {
  const Item& from = call.item(0);
  const Like like{call.dtype(0), shape};
  if (from.numbers) return call.GiveNumbers(*from.numbers, like);
  if (from.reals) return call.GiveReals(*from.reals, like);
  if (from.ratios) return call.GiveRatios(*from.ratios, like);
  call.Give(emit(call.tensor(0)), like);
}

void Reshape(Call& call) {
  const auto written = call.integers("shape");
  std::vector<Dim> target;
  if (written) {
    std::ranges::transform(*written, std::back_inserter(target), DimOf);
  } else {
    target = call.known_numbers(1);
  }
  const Shape& from = call.shape(0);
  Sizes& sizes = call.sizes();
  const bool zero_is_kept = call.integer("allowzero", 0) == 0;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == Dim(0) && zero_is_kept) {
      if (i >= from.size()) Call::GiveUp("a size is taken over that the operand has not");
      target[i] = from[i];
    } else if (target[i] == Dim(-1)) {
      if (open) Call::GiveUp("two sizes are left open");
      open = i;
      target[i] = Dim(1);
    } else if (target[i].is_number() && target[i].number() < 0) {
      Call::GiveUp("a size is negative");
    }
  }
  const Dim count = shapes::Count(sizes, from);
  if (open) target[*open] = sizes.Quotient(count, sizes.Product(target));
  Builder::Shape argument = ToSizes(target);
  if (open && !target[*open].is_number()) argument[*open] = -1;
  GiveReshaped(call, target, [&](Tensor x) { return call.Emit("aten::reshape", x, argument); });
}

void Flatten(Call& call) {
  const Shape& from = call.shape(0);
  const auto rank = static_cast<std::int64_t>(from.size());
  const std::int64_t written = call.integer("axis", 1);
  const std::int64_t counted = written < 0 ? written + rank : written;
  if (counted < 0 || counted > rank) Call::GiveUp("axis " + std::to_string(written));
  const auto axis = static_cast<int>(counted);
  const Shape to{shapes::Count(call.sizes(), from, 0, axis),
                 shapes::Count(call.sizes(), from, axis, static_cast<int>(rank))};
  GiveReshaped(call, to, [&](Tensor x) {
    return axis == 1 && rank > 1 ? call.Emit("aten::flatten.using_ints", x, 1)
                                 : call.Emit("aten::reshape", x, ToSizes(to));
  });
}

std::vector<int> Counted(Call& call, const std::vector<std::int64_t>& axes, int rank) {
  std::vector<int> out;
  out.reserve(axes.size());
  for (const std::int64_t axis : axes) out.push_back(call.axis(axis, rank));
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

void Squeeze(Call& call) {
  const Shape& from = call.shape(0);
  std::vector<int> axes;
  if (const auto written = call.axes(1)) {
    axes = Counted(call, *written, call.rank(0));
  } else {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == Dim(1)) axes.push_back(static_cast<int>(i));
    }
  }
  GiveReshaped(call, shapes::Reduce(from, axes, shapes::Reduced::kDropped), [&](Tensor x) {
    if (axes.size() == 1) return call.Emit("aten::squeeze.dim", x, axes[0]);
    return call.Emit("aten::squeeze.dims", x, Builder::Shape(axes.begin(), axes.end()));
  });
}

void Unsqueeze(Call& call) {
  const auto written = call.axes(1);
  if (!written) Call::GiveUp("no axes");
  const auto rank = static_cast<int>(call.shape(0).size() + written->size());
  const std::vector<int> axes = Counted(call, *written, rank);
  Shape to = call.shape(0);
  for (const int axis : axes) {
    if (axis > static_cast<int>(to.size())) Call::GiveUp("an axis stands twice");
    to.insert(to.begin() + axis, Dim(1));
  }
  GiveReshaped(call, to, [&](Tensor x) {
    for (const int axis : axes) x = call.Emit("aten::unsqueeze", x, axis);
    return x;
  });
}

// Of a constant matrix, as lists of pads are turned round.
bool TransposeNumbers(Call& call, const std::vector<std::int64_t>& order, const Shape& to) {
  const auto known = call.known(0);
  if (!known || order.size() != 2 || !to[0].is_number() || !to[1].is_number()) return false;
  if (call.axis(order[0], 2) == 0) {
    call.GiveItem(call.item(0));
    return true;
  }
  const auto rows = static_cast<std::size_t>(to[0].number());
  const auto columns = static_cast<std::size_t>(to[1].number());
  if (*known != rows * columns) return false;
  std::vector<std::size_t> turned;
  turned.reserve(rows * columns);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    turned.push_back(i % columns * rows + i / columns);
  }
  call.GiveChosen(0, turned, {call.dtype(0), to});
  return true;
}

void Transpose(Call& call) {
  const Shape& from = call.shape(0);
  std::vector<std::int64_t> order(from.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto written = call.integers("perm")) order = *written;
  if (order.size() != from.size()) Call::GiveUp("a permutation of another rank");
  Shape to;
  for (const std::int64_t axis : order) {
    to.push_back(from[static_cast<std::size_t>(call.axis(axis, call.rank(0)))]);
  }
  if (from.size() <= 1) return call.GiveItem(call.item(0));
  if (TransposeNumbers(call, order, to)) return;
  call.Give(call.Emit("aten::permute", call.tensor(0), ToSizes(order)), {call.dtype(0), to});
}

// --- Repeated -----------------------------------------------------------------------------------

void Expand(Call& call) {
  const Shape to = shapes::Broadcast(call.sizes(), call.shape(0), call.known_numbers(1));
  const Item& from = call.item(0);
  const bool one = call.known(0) == std::size_t{1};
  const bool few = to.size() == 1 && to[0].is_number() && to[0].number() >= 0 &&
                   to[0].number() <= static_cast<std::int64_t>(kMostContents);
  const bool computed = !from.reals || !from.stored;  // floats of the file are mostly data
  if (one && few && computed) {
    const std::vector<std::size_t> places(static_cast<std::size_t>(to[0].number()), 0);
    return call.GiveChosen(0, places, {call.dtype(0), to});
  }
  if (call.known(0) && to == call.shape(0)) return call.GiveItem(call.item(0));
  if (one && !from.ratios) return Filled(call, to, from);
  call.Give(call.Emit("aten::expand", call.tensor(0), ToSizes(to)), {call.dtype(0), to});
}

void Tile(Call& call) {
  const std::vector<Dim> times = call.known_numbers(1);
  Shape to = call.shape(0);
  if (times.size() != to.size()) Call::GiveUp("repeats of another rank");
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = call.sizes().Product(to[i], times[i]);
  call.Give(call.Emit("aten::repeat", call.tensor(0), ToSizes(times)), {call.dtype(0), to});
}

// --- Joined and parted --------------------------------------------------------------------------

void Concat(Call& call) {
  const int axis = call.axis(call.integer("axis", 1), call.rank(0));
  Shape to = call.shape(0);
  bool known = call.rank(0) == 1;
  std::vector<Ratio> contents;
  Dim length(0);
  for (std::size_t i = 0; i < call.count(); ++i) {
    if (call.shape(i).size() != to.size()) Call::GiveUp("operands of different rank");
    length = call.sizes().Sum(length, call.shape(i)[static_cast<std::size_t>(axis)]);
    const auto each = known ? call.ratios(i) : std::nullopt;
    known = known && each;
    if (known) contents.insert(contents.end(), each->begin(), each->end());
  }
  to[static_cast<std::size_t>(axis)] = length;
  const Like like{call.dtype(0), to};
  if (known && contents.size() <= kMostContents) return call.GiveRatios(contents, like);
  call.Give(call.Emit("aten::cat", call.tensors(), axis), like);
}

std::vector<Dim> PartsOf(Call& call, Dim size) {
  if (const auto written = call.integers("split")) {
    std::vector<Dim> parts;
    std::ranges::transform(*written, std::back_inserter(parts), DimOf);
    return parts;
  }
  if (call.opset() >= 13 && call.has(1)) return call.known_numbers(1);
  const auto parts = static_cast<std::int64_t>(call.wanted());
  if (parts == 0) Call::GiveUp("no parts are wanted");
  // The last one is shorter where they are not equal.
  Sizes& sizes = call.sizes();
  const Dim each = sizes.CeilQuotient(size, Dim(parts));
  std::vector<Dim> out(call.wanted(), each);
  out.back() = sizes.Difference(size, sizes.Product(each, Dim(parts - 1)));
  return out;
}

void Split(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  const Shape& from = call.shape(0);
  const std::vector<Dim> parts = PartsOf(call, from[static_cast<std::size_t>(axis)]);
  if (parts.size() != call.wanted()) Call::GiveUp("other parts than results");
  if (const auto known = call.known(0); known && from.size() == 1) {
    std::size_t at = 0;
    for (const Dim part : parts) {
      const bool fits = part.is_number() && part.number() >= 0 &&
                        static_cast<std::size_t>(part.number()) <= *known - at;
      if (!fits) Call::GiveUp("symbolic parts");
      std::vector<std::size_t> places(static_cast<std::size_t>(part.number()));
      std::iota(places.begin(), places.end(), at);
      at += places.size();
      call.GiveChosen(0, places, {call.dtype(0), {part}});
    }
    return;
  }
  const std::vector<Tensor> out =
      call.EmitMany("aten::split_with_sizes", parts.size(), call.tensor(0), ToSizes(parts), axis);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    call.Give(out[i], {call.dtype(0), shapes::With(from, axis, parts[i])});
  }
}

// --- Slices -------------------------------------------------------------------------------------

struct Cut {
  int axis;
  Dim start, end;
  std::int64_t step;
};

// A position counted from the start of the dimension, within it as far as that is known.
Dim Placed(Sizes& sizes, Dim at, Dim size) {
  if (at == size) return size;
  if (!at.is_number()) return sizes.Minimum(at, size);
  if (at.number() >= kEnd) return size;
  if (at.number() <= -kEnd) return Dim(0);
  if (at.number() < 0) {
    const Dim counted = sizes.Sum(size, at);
    return counted.is_number() ? Dim(std::max<std::int64_t>(counted.number(), 0)) : counted;
  }
  return at == Dim(0) ? at : sizes.Minimum(at, size);
}

Dim LengthOf(Sizes& sizes, const Cut& cut, Dim size) {
  const Dim start = Placed(sizes, cut.start, size), end = Placed(sizes, cut.end, size);
  const Dim room = sizes.Difference(end, start);
  if (room.is_number() && room.number() <= 0) return Dim(0);
  return sizes.CeilQuotient(room, Dim(cut.step));
}

// A step backwards: of the reversed dimension, forwards.
Cut Reversed(Sizes& sizes, const Cut& cut, Dim size) {
  const auto mirrored = [&](Dim at) {
    if (at.is_number() && at.number() >= kEnd) return Dim(0);
    if (at.is_number() && at.number() <= -kEnd) return size;
    if (at.is_number() && at.number() < 0) return Dim(-1 - at.number());
    return sizes.Difference(sizes.Difference(size, Dim(1)), at);
  };
  Dim start = mirrored(cut.start), end = mirrored(cut.end);
  if (start.is_number() && start.number() < 0) start = Dim(0);
  return {cut.axis, start, end, -cut.step};
}

std::vector<Cut> CutsOf(Call& call) {
  const int rank = call.rank(0);
  std::vector<Dim> starts, ends;
  std::vector<std::int64_t> axes, steps;
  if (const auto written = call.integers("starts"); written && call.opset() < 10) {
    std::ranges::transform(*written, std::back_inserter(starts), DimOf);
    std::ranges::transform(call.integers("ends").value_or(std::vector<std::int64_t>()),
                           std::back_inserter(ends), DimOf);
    axes = call.integers("axes").value_or(std::vector<std::int64_t>());
  } else {
    starts = call.known_numbers(1);
    ends = call.known_numbers(2);
    if (call.has(3)) axes = call.known_integers(3);
    if (call.has(4)) steps = call.known_integers(4);
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    Call::GiveUp("lists of different length");
  }
  if (rank == 0) Call::GiveUp("a number alone, which has nothing to cut");
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0) Call::GiveUp("a step of 0");
    cuts.push_back({call.axis(axes[i], rank), starts[i], ends[i], steps[i]});
  }
  return cuts;
}

// Of constants, along the first dimension.
bool SliceNumbers(Call& call, const std::vector<Cut>& cuts) {
  const auto known = call.known(0);
  if (!known || call.rank(0) == 0 || cuts.size() != 1 || cuts[0].axis != 0) return false;
  const Dim size = call.shape(0)[0];
  if (!size.is_number() || size.number() <= 0) return false;
  const std::int64_t count = size.number();
  const auto row = static_cast<std::int64_t>(*known) / count;
  const bool back = cuts[0].step < 0;
  const Cut cut = back ? Reversed(call.sizes(), cuts[0], size) : cuts[0];
  const Dim start = Placed(call.sizes(), cut.start, size);
  const Dim length = LengthOf(call.sizes(), cut, size);
  if (!start.is_number() || !length.is_number()) return false;
  std::vector<std::size_t> places;
  for (std::int64_t i = 0; i < length.number(); ++i) {
    const std::int64_t at = start.number() + i * cut.step;
    const std::int64_t first = (back ? count - 1 - at : at) * row;
    for (std::int64_t k = 0; k < row; ++k) places.push_back(static_cast<std::size_t>(first + k));
  }
  call.GiveChosen(0, places, {call.dtype(0), shapes::With(call.shape(0), 0, length)});
  return true;
}

void Slice(Call& call) {
  const std::vector<Cut> cuts = CutsOf(call);
  if (SliceNumbers(call, cuts)) return;
  Shape to = call.shape(0);
  Tensor out = call.tensor(0);
  for (Cut cut : cuts) {
    Dim& size = to[static_cast<std::size_t>(cut.axis)];
    if (cut.step < 0) {
      cut = Reversed(call.sizes(), cut, size);
      out = call.Emit("aten::flip", out, Builder::Shape{cut.axis});
    }
    const Dim length = LengthOf(call.sizes(), cut, size);
    out = call.Emit("aten::slice.Tensor", out, cut.axis, cut.start, cut.end, cut.step);
    size = length;
  }
  call.Give(out, {call.dtype(0), to});
}

// --- Frames and blocks --------------------------------------------------------------------------

std::string_view PaddingMode(Call& call) {
  const std::string mode = call.text("mode", "constant");
  if (mode == "constant") return "constant";
  if (mode == "reflect") return "reflect";
  if (mode == "edge") return "replicate";
  if (mode == "wrap") return "circular";
  Call::GiveUp("padding by \"" + mode + "\"");
}

void Pad(Call& call) {
  const int rank = call.rank(0);
  std::vector<Dim> pads;
  if (const auto written = call.integers("pads")) {
    std::ranges::transform(*written, std::back_inserter(pads), DimOf);
  } else {
    pads = call.known_numbers(1);
  }
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = call.known_integers(3);
  if (pads.size() != 2 * axes.size() || axes.size() > static_cast<std::size_t>(rank)) {
    Call::GiveUp("paddings of another rank");
  }
  Shape to = call.shape(0);
  // PyTorch's begin at the last dimension and end where nothing is left to pad.
  Builder::Shape reversed(2 * static_cast<std::size_t>(rank), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = call.axis(axes[i], rank);
    const auto at = 2 * static_cast<std::size_t>(rank - 1 - axis);
    const Dim before = pads[i], after = pads[axes.size() + i];
    Dim& size = to[static_cast<std::size_t>(axis)];
    size = call.sizes().Sum(size, call.sizes().Sum(before, after));
    reversed[at] = before;
    reversed[at + 1] = after;
  }
  while (reversed.size() > 2 && reversed.back() == Dim(0) &&
         reversed[reversed.size() - 2] == Dim(0)) {
    reversed.erase(reversed.end() - 2, reversed.end());
  }
  const std::string_view mode = PaddingMode(call);
  Builder::Arg value(call.real("value", 0));
  if (call.has(2)) {
    const auto number = call.number(2);
    value = number ? *number : Builder::Arg(0);
  }
  const Tensor x = call.tensor(0);
  const Tensor out = mode == "constant" ? call.Emit("aten::constant_pad_nd", x, reversed, value)
                                        : call.Emit("aten::pad", x, reversed, mode);
  call.Give(out, {call.dtype(0), to});
}

void DepthToSpace(Call& call) {
  const std::int64_t block = call.integer("blocksize", 1);
  if (call.rank(0) != 4 || block <= 0) Call::GiveUp("blocks of another rank");
  Sizes& sizes = call.sizes();
  const Shape& from = call.shape(0);
  const Dim side(block), channels = sizes.Quotient(from[1], sizes.Product(side, side));
  const Shape to{from[0], channels, sizes.Product(from[2], side), sizes.Product(from[3], side)};
  const Like like{call.dtype(0), to};
  if (call.text("mode", "DCR") == "CRD") {
    return call.Give(call.Emit("aten::pixel_shuffle", call.tensor(0), block), like);
  }
  const Tensor blocks = call.Emit("aten::reshape", call.tensor(0),
                                  Builder::Shape{from[0], side, side, channels, from[2], from[3]});
  const Tensor moved = call.Emit("aten::permute", blocks, Builder::Shape{0, 3, 4, 1, 5, 2});
  call.Give(call.Emit("aten::reshape", moved, ToSizes(to)), like);
}

void SpaceToDepth(Call& call) {
  const std::int64_t block = call.integer("blocksize", 1);
  if (call.rank(0) != 4 || block <= 0) Call::GiveUp("blocks of another rank");
  Sizes& sizes = call.sizes();
  const Shape& from = call.shape(0);
  const Dim side(block), height = sizes.Quotient(from[2], side),
                         width = sizes.Quotient(from[3], side);
  const Shape to{from[0], sizes.Product(from[1], sizes.Product(side, side)), height, width};
  const Tensor blocks = call.Emit("aten::reshape", call.tensor(0),
                                  Builder::Shape{from[0], from[1], height, side, width, side});
  const Tensor moved = call.Emit("aten::permute", blocks, Builder::Shape{0, 3, 5, 1, 2, 4});
  call.Give(call.Emit("aten::reshape", moved, ToSizes(to)), {call.dtype(0), to});
}

void Triangle(Call& call) {
  const bool upper = call.integer("upper", 1) != 0;
  const std::vector<Dim> offset = call.has(1) ? call.known_numbers(1) : std::vector{Dim(0)};
  if (offset.size() != 1) Call::GiveUp("several diagonals");
  const Tensor out = call.Emit(upper ? "aten::triu" : "aten::tril", call.tensor(0), offset.at(0));
  call.Give(out, call.like(0));
}

constexpr std::array kRows{
    OpRow{"Concat", 1, Concat},
    OpRow{"Constant", 1, Constant},
    OpRow{"ConstantOfShape", 9, ConstantOfShape},
    OpRow{"DepthToSpace", 1, DepthToSpace},
    OpRow{"Expand", 8, Expand},
    OpRow{"EyeLike", 9, EyeLike},
    OpRow{"Flatten", 1, Flatten},
    OpRow{"Pad", 1, Pad},
    OpRow{"Range", 11, Range},
    OpRow{"Reshape", 1, Reshape},
    OpRow{.name = "Shape", .since = 1, .translate = ShapeOf, .reads_contents = false},
    OpRow{.name = "Size", .since = 1, .translate = SizeOf, .reads_contents = false},
    OpRow{"Slice", 1, Slice},
    OpRow{"SpaceToDepth", 1, SpaceToDepth},
    OpRow{"Split", 1, Split},
    OpRow{"Squeeze", 1, Squeeze},
    OpRow{"Tile", 6, Tile},
    OpRow{"Transpose", 1, Transpose},
    OpRow{"Trilu", 14, Triangle},
    OpRow{"Unsqueeze", 1, Unsqueeze},
};

}  // namespace

std::span<const OpRow> ShapeRows() { return kRows; }

}  // namespace steelyard::onnx
