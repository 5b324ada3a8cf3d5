// SPDX-License-Identifier: Apache-2.0
//
// Control flow, and lists of tensors. A branch that is known when the file is read is the only one;
// others are graphs that are chosen from. Loops run step by step; PyTorch's program has no loops
// either, once it is exported.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

// Longer loops are not taken apart step by step.
constexpr std::int64_t kMostSteps = 256;
// Of a loop whose number of steps is a symbol each is a branch.
constexpr std::int64_t kMostSymbolicSteps = 64;

// --- Branches and loops -------------------------------------------------------------------------

// A graph that may run, and what it gives.
struct Branch {
  Builder::Arg graph = std::nullopt;
  std::vector<Like> results = {};
};

Branch BranchOf(Call& call, std::string_view name) {
  Branch out;
  out.graph = call.workshop().builder.Graph(0, [&](const std::vector<Tensor>&) {
    std::vector<Tensor> tensors;
    for (Item* item : call.run_graph(call.graph(name), {})) {
      if (!item->dtype || !item->shape) Call::GiveUp("a branch's result of unknown shape");
      tensors.push_back(call.workshop().TensorOf(*item));
      out.results.push_back({*item->dtype, *item->shape});
    }
    return tensors;
  });
  return out;
}

// Whether both give tensors of the same dtypes and numbers of dimensions.
bool AreAlike(const Branch& one, const Branch& other) {
  return std::ranges::equal(one.results, other.results, [](const Like& a, const Like& b) {
    return a.dtype == b.dtype && a.shape.size() == b.shape.size();
  });
}

// The more dimensions there are, the larger it is, and among equals the wider its elements are.
std::pair<std::size_t, std::int64_t> SizeOf(const Branch& branch) {
  std::pair<std::size_t, std::int64_t> out{0, 0};
  for (const Like& result : branch.results) {
    out.first += result.shape.size();
    out.second += BitsOf(result.dtype);
  }
  return out;
}

void RunBranch(Call& call, std::string_view branch) {
  for (Item* item : call.run_graph(call.graph(branch), {})) call.GiveItem(*item);
}

// What either branch gives: a size that they differ in is that of the one that runs.
Like EitherOf(Call& call, const Like& one, const Like& other) {
  Like out = one;
  for (std::size_t i = 0; i < out.shape.size(); ++i) {
    if (out.shape[i] != other.shape[i]) out.shape[i] = call.workshop().FreshSymbol();
  }
  return out;
}

// Which branch runs is told by sizes, when they are bound, or only by the data.
void Choose(Call& call) {
  const Builder::Place before = call.workshop().builder.Here();
  const Branch if_true = BranchOf(call, "then_branch"), if_false = BranchOf(call, "else_branch");
  const std::size_t count = if_true.results.size();
  if (if_false.results.size() != count) Call::GiveUp("its branches give other numbers of results");
  if (!AreAlike(if_true, if_false)) {
    // What follows is translated for one of them.
    call.workshop().builder.TakeBack(before);
    call.workshop().NoteOnce(
        "If: which branch runs depends on data or sizes, and they give other dtypes or numbers of "
        "dimensions; the one that gives more is weighed");
    return RunBranch(call, SizeOf(if_true) < SizeOf(if_false) ? "else_branch" : "then_branch");
  }
  std::vector<Like> results;
  results.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    results.push_back(EitherOf(call, if_true.results[i], if_false.results[i]));
  }
  const std::array graphs{if_true.graph, if_false.graph};
  const std::vector<Tensor> operands = call.workshop().builder.Capture(graphs);
  const bool of_sizes = call.numbers(0) && call.numbers(0)->size() == 1;
  const std::vector<Tensor> given =
      of_sizes ? call.EmitMany("steelyard::if", count, call.numbers(0)->front(), if_true.graph,
                               if_false.graph, operands)
               : call.EmitMany("higher_order::cond", count, call.tensor(0), if_true.graph,
                               if_false.graph, operands);
  for (std::size_t i = 0; i < count; ++i) call.Give(given[i], results[i]);
}

void If(Call& call) {
  const std::optional<std::vector<Dim>> condition = call.numbers(0);
  const bool known = condition && condition->size() == 1 && condition->front().is_number();
  if (!known) return Choose(call);
  RunBranch(call, condition->front().number() != 0 ? "then_branch" : "else_branch");
}

// What each step gave, along a new dimension.
void GiveStacked(Call& call, const std::vector<Item*>& steps, std::int64_t axis = 0) {
  if (steps.empty()) Call::GiveUp("a loop of no steps has no results");
  std::vector<Tensor> parts;
  parts.reserve(steps.size());
  for (Item* step : steps) parts.push_back(call.workshop().TensorOf(*step));
  const Item& first = *steps.at(0);
  if (!first.shape || !first.dtype) Call::GiveUp("a step's result of unknown shape");
  Shape to = *first.shape;
  const int at = call.axis(axis, static_cast<int>(to.size()) + 1);
  to.insert(to.begin() + at, Dim(static_cast<std::int64_t>(steps.size())));
  call.Give(call.Emit("aten::stack", parts, at), {*first.dtype, to});
}

// Whether a loop goes on, as its condition says; nothing where only the data tell.
std::optional<bool> GoesOn(const Item* condition) {
  if (condition == nullptr) return true;
  const bool known = condition->numbers && condition->numbers->size() == 1 &&
                     condition->numbers->front().is_number();
  if (!known) return std::nullopt;
  return condition->numbers->front() != Dim(0);
}

// How often a loop may run: once is weighed where only the data tell.
std::int64_t MostSteps(Call& call) {
  if (!call.has(0)) return kMostSteps + 1;
  if (call.numbers(0)) return call.known_integers(0).at(0);
  call.workshop().NoteOnce("Loop: how often one runs depends on data; one step of it is weighed");
  return 1;
}

// Whether a step is weighed although only the data tell if it runs: all those that there can be,
// or the first where there is no end to them.
bool StepsByData(Call& call, std::int64_t step, std::int64_t times) {
  const bool bounded = times <= kMostSteps;
  call.workshop().NoteOnce(
      bounded ? "Loop: when one ends depends on data; all steps that it may take are weighed"
              : "Loop: how often one runs depends on data; one step of it is weighed");
  return bounded || step == 0;
}

Item& NumberItem(Call& call, std::int64_t number) {
  Item item;
  item.dtype = DType::kInt64;
  item.shape.emplace();
  item.numbers = {Dim(number)};
  return call.workshop().Add(std::move(item));
}

Item& TrueItem(Call& call) {
  Item item;
  item.dtype = DType::kBool;
  item.shape.emplace();
  item.numbers = {Dim(1)};
  return call.workshop().Add(std::move(item));
}

// One step of a loop whose number of steps is a size: it runs if that is large enough. Gives what
// the step says of whether the loop goes on.
const Item& StepIf(Call& call, Dim runs, std::vector<Item*>& operands,
                   std::vector<Item*>& carried) {
  Workshop& workshop = call.workshop();
  std::vector<Item*> results;
  const auto tensors_of = [&](std::span<Item* const> items) {
    std::vector<Tensor> out;
    for (Item* item : items) out.push_back(workshop.TensorOf(*item));
    return out;
  };
  const Builder::Arg step = workshop.builder.Graph(0, [&](const std::vector<Tensor>&) {
    results = call.run_graph(call.graph("body"), operands);
    if (results.size() != 1 + carried.size()) Call::GiveUp("a body of other results");
    return tensors_of(std::span(results).subspan(1));
  });
  const Builder::Arg skip =
      workshop.builder.Graph(0, [&](const std::vector<Tensor>&) { return tensors_of(carried); });
  const std::array graphs{step, skip};
  const std::vector<Tensor> given = call.EmitMany("steelyard::if", carried.size(), runs, step, skip,
                                                  workshop.builder.Capture(graphs));
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const Item& made = *results[i + 1];
    const bool same =
        made.dtype == carried[i]->dtype && made.shape && made.shape == carried[i]->shape;
    if (!same) Call::GiveUp("what a symbolic number of steps carries changes its size");
    carried[i] = &workshop.Add({.dtype = made.dtype, .shape = made.shape, .tensor = given[i]});
  }
  return *results[0];
}

// The steps that are not taken apart, as an operator that nobody knows: totals are lower bounds
// where there are any.
void CarryRestIf(Call& call, Dim runs, std::vector<Item*>& carried) {
  Workshop& workshop = call.workshop();
  workshop.NoteOnce("Loop: how often one runs is a size; steps after the first " +
                    std::to_string(kMostSymbolicSteps) + " are not modelled");
  std::vector<Tensor> before;
  std::vector<Like> likes;
  for (Item* item : carried) {
    if (!item->dtype || !item->shape) Call::GiveUp("a step's result of unknown shape");
    before.push_back(workshop.TensorOf(*item));
    likes.push_back({*item->dtype, *item->shape});
  }
  const Builder::Arg rest = workshop.builder.Graph(0, [&](const std::vector<Tensor>&) {
    const std::vector<Builder::Arg> operands(before.begin(), before.end());
    std::vector<Tensor> made = workshop.builder.Invoke("onnx::Loop", before.size(), operands);
    for (std::size_t i = 0; i < made.size(); ++i) {
      workshop.builder.State(made[i], likes[i].dtype, ToSizes(likes[i].shape));
    }
    return made;
  });
  const Builder::Arg skip =
      workshop.builder.Graph(0, [&](const std::vector<Tensor>&) { return before; });
  const std::array graphs{rest, skip};
  const std::vector<Tensor> given = call.EmitMany("steelyard::if", carried.size(), runs, rest, skip,
                                                  workshop.builder.Capture(graphs));
  for (std::size_t i = 0; i < carried.size(); ++i) {
    carried[i] =
        &workshop.Add({.dtype = likes[i].dtype, .shape = likes[i].shape, .tensor = given[i]});
  }
}

// Whether a step runs that is one of those: it does not where a condition of sizes is false. One of
// the data is noted, and taken to be true.
Dim AndGoesOn(Call& call, Dim runs, const Item& condition) {
  if (const std::optional<bool> known = GoesOn(&condition)) return *known ? runs : Dim(0);
  if (condition.numbers && condition.numbers->size() == 1) {
    return call.sizes().Apply(ExprOp::kAnd, runs, condition.numbers->front());
  }
  StepsByData(call, 0, kMostSymbolicSteps);
  return runs;
}

void RunSymbolicLoop(Call& call, Dim times) {
  std::vector<Item*> carried = call.items(2, call.count());
  if (call.wanted() != carried.size()) {
    Call::GiveUp("results of each step of a symbolic number of steps");
  }
  Item& goes_on = TrueItem(call);  // where a step runs
  Dim lasts = AndGoesOn(call, Dim(1), call.has(1) ? call.item(1) : goes_on);
  const auto runs = [&](std::int64_t step) {
    const Dim many = call.sizes().Apply(ExprOp::kLt, Dim(step), times);
    return lasts == Dim(1) ? many : call.sizes().Apply(ExprOp::kAnd, many, lasts);
  };
  for (std::int64_t step = 0; step < kMostSymbolicSteps && lasts != Dim(0); ++step) {
    std::vector<Item*> operands{&NumberItem(call, step), &goes_on};
    operands.insert(operands.end(), carried.begin(), carried.end());
    lasts = AndGoesOn(call, lasts, StepIf(call, runs(step), operands, carried));
  }
  if (lasts != Dim(0)) CarryRestIf(call, runs(kMostSymbolicSteps), carried);
  for (Item* item : carried) call.GiveItem(*item);
}

// Times, condition, carried; the body takes the step's number, the condition and what is carried.
void Loop(Call& call) {
  const auto written = call.numbers(0);
  if (written && written->size() == 1 && !written->front().is_number()) {
    return RunSymbolicLoop(call, written->front());
  }
  const std::string_view body = call.graph("body");
  const std::int64_t times = MostSteps(call);
  std::vector<Item*> carried = call.items(2, call.count());
  const std::size_t kept = carried.size();
  if (call.wanted() < kept) Call::GiveUp("fewer results than are carried");
  std::vector<std::vector<Item*>> stacked(call.wanted() - kept);
  Item* condition = call.has(1) ? &call.item(1) : nullptr;
  for (std::int64_t step = 0; step < times; ++step) {
    const std::optional<bool> goes_on = GoesOn(condition);
    if (!goes_on ? !StepsByData(call, step, times) : !*goes_on) break;
    if (step == kMostSteps) Call::GiveUp("a loop of more than 256 steps");
    std::vector<Item*> operands{&NumberItem(call, step),
                                condition != nullptr ? condition : &TrueItem(call)};
    operands.insert(operands.end(), carried.begin(), carried.end());
    const std::vector<Item*> results = call.run_graph(body, operands);
    if (results.size() != 1 + kept + stacked.size()) Call::GiveUp("a body of other results");
    condition = results[0];
    std::copy_n(results.begin() + 1, kept, carried.begin());
    for (std::size_t i = 0; i < stacked.size(); ++i) stacked[i].push_back(results[1 + kept + i]);
  }
  for (Item* item : carried) call.GiveItem(*item);
  for (const std::vector<Item*>& steps : stacked) GiveStacked(call, steps);
}

// How a scan goes along one of its operands or results.
struct Along {
  std::int64_t axis = 0;
  bool back = false;
};

std::vector<Along> Ways(Call& call, std::string_view of, std::size_t count) {
  const auto listed = [&](std::string_view what) {
    const std::string name = std::string("scan_") + std::string(of) + std::string(what);
    return call.integers(name).value_or(std::vector<std::int64_t>());
  };
  const std::vector<std::int64_t> axes = listed("_axes"), directions = listed("_directions");
  std::vector<Along> ways(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i < axes.size()) ways[i].axis = axes[i];
    if (i < directions.size()) ways[i].back = directions[i] != 0;
  }
  return ways;
}

// What a step takes of an operand.
Item* SliceOf(Call& call, std::size_t operand, const Along& way, std::int64_t at) {
  Item slice;
  slice.dtype = call.dtype(operand);
  slice.shape = call.shape(operand);
  slice.shape->erase(slice.shape->begin() + way.axis);
  slice.tensor = call.Emit("aten::select.int", call.tensor(operand), way.axis, at);
  return &call.workshop().Add(std::move(slice));
}

// States, then what is scanned, each along a dimension of its own.
void Scan(Call& call) {
  const std::string_view body = call.graph("body");
  if (call.opset() < 9) Call::GiveUp("a scan with a batch");
  const std::int64_t scanned = call.integer("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<std::int64_t>(call.count())) {
    Call::GiveUp("nothing is scanned");
  }
  const std::size_t states = call.count() - static_cast<std::size_t>(scanned);
  if (call.wanted() < states) Call::GiveUp("fewer results than states");
  std::vector<Along> takes = Ways(call, "input", call.count() - states);
  for (std::size_t i = 0; i < takes.size(); ++i) {
    takes[i].axis = call.axis(takes[i].axis, call.rank(states + i));
  }
  const Dim length = call.shape(states).at(static_cast<std::size_t>(takes[0].axis));
  if (!length.is_number() || length.number() > kMostSteps) {
    Call::GiveUp("a scan of more than 256 steps, or of a symbolic number");
  }
  std::vector<Item*> carried = call.items(0, states);
  std::vector<std::vector<Item*>> stacked(call.wanted() - states);
  for (std::int64_t step = 0; step < length.number(); ++step) {
    std::vector<Item*> operands = carried;
    for (std::size_t i = 0; i < takes.size(); ++i) {
      const std::int64_t at = takes[i].back ? length.number() - 1 - step : step;
      operands.push_back(SliceOf(call, states + i, takes[i], at));
    }
    const std::vector<Item*> results = call.run_graph(body, operands);
    if (results.size() != states + stacked.size()) Call::GiveUp("a body of other results");
    std::copy_n(results.begin(), states, carried.begin());
    for (std::size_t i = 0; i < stacked.size(); ++i) stacked[i].push_back(results[states + i]);
  }
  for (Item* item : carried) call.GiveItem(*item);
  const std::vector<Along> gives = Ways(call, "output", stacked.size());
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    if (gives[i].back) std::ranges::reverse(stacked[i]);
    GiveStacked(call, stacked[i], gives[i].axis);
  }
}

// --- Lists --------------------------------------------------------------------------------------

std::vector<Item*>& ListOf(Call& call, std::size_t operand) {
  Item& item = call.item(operand);
  if (!item.sequence) Call::GiveUp("\"" + std::string(item.name) + "\" is no known list");
  return *item.sequence;
}

void GiveList(Call& call, std::vector<Item*> list) {
  Item item;
  item.name = call.output_name(0);
  item.sequence = std::move(list);
  call.GiveItem(call.workshop().Add(std::move(item)));
}

void MakeList(Call& call) { GiveList(call, call.items(0, call.count())); }

// A position in a list of `count`, which may be counted from the end.
std::size_t PositionOf(Call& call, std::size_t operand, std::size_t count) {
  const std::int64_t written = call.known_integers(operand).at(0);
  const std::int64_t at = written < 0 ? written + static_cast<std::int64_t>(count) : written;
  if (at < 0 || at > static_cast<std::int64_t>(count)) Call::GiveUp("a position outside the list");
  return static_cast<std::size_t>(at);
}

void At(Call& call) {
  std::vector<Item*>& list = ListOf(call, 0);
  const std::size_t at = PositionOf(call, 1, list.size());
  if (at == list.size()) Call::GiveUp("a position outside the list");
  call.GiveItem(*list[at]);
}

void Insert(Call& call) {
  std::vector<Item*> list = ListOf(call, 0);
  const std::size_t at = call.has(2) ? PositionOf(call, 2, list.size()) : list.size();
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), &call.item(1));
  GiveList(call, std::move(list));
}

void Erase(Call& call) {
  std::vector<Item*> list = ListOf(call, 0);
  if (list.empty()) Call::GiveUp("an empty list");
  const std::size_t at = call.has(1) ? PositionOf(call, 1, list.size()) : list.size() - 1;
  if (at == list.size()) Call::GiveUp("a position outside the list");
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  GiveList(call, std::move(list));
}

void Length(Call& call) {
  call.GiveNumbers({Dim(static_cast<std::int64_t>(ListOf(call, 0).size()))}, {DType::kInt64, {}});
}

// By parts of one size, by a list of sizes, or one by one.
std::vector<Dim> PartsOf(Call& call, Dim size) {
  if (call.has(1) && call.rank(1) == 1) return call.known_numbers(1);
  const std::int64_t each = call.has(1) ? call.known_integers(1).at(0) : 1;
  if (!size.is_number() || each < 1 || size.number() / each > kMostSteps) {
    Call::GiveUp("a symbolic number of parts");
  }
  std::vector<Dim> parts(static_cast<std::size_t>(size.number() / each), Dim(each));
  if (size.number() % each != 0) parts.emplace_back(size.number() % each);
  return parts;
}

void SplitToList(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  const std::vector<Dim> parts = PartsOf(call, call.shape(0).at(static_cast<std::size_t>(axis)));
  const bool drop = !call.has(1) && call.integer("keepdims", 1) == 0;
  const std::vector<Tensor> out =
      drop ? call.EmitMany("aten::unbind.int", parts.size(), call.tensor(0), axis)
           : call.EmitMany("aten::split_with_sizes", parts.size(), call.tensor(0), ToSizes(parts),
                           axis);
  std::vector<Item*> list;
  for (std::size_t i = 0; i < out.size(); ++i) {
    Item part;
    part.dtype = call.dtype(0);
    part.shape = drop ? shapes::Reduce(call.shape(0), {axis}, shapes::Reduced::kDropped)
                      : shapes::With(call.shape(0), axis, parts[i]);
    part.tensor = out[i];
    list.push_back(&call.workshop().Add(std::move(part)));
  }
  GiveList(call, std::move(list));
}

void ConcatList(Call& call) {
  const std::vector<Item*>& list = ListOf(call, 0);
  if (list.empty() || !list[0]->shape || !list[0]->dtype) Call::GiveUp("an empty list");
  const bool stack = call.integer("new_axis", 0) != 0;
  Shape to = *list[0]->shape;
  const int rank = static_cast<int>(to.size()) + (stack ? 1 : 0);
  const int axis = call.axis(call.integer("axis", 0), rank);
  std::vector<Tensor> parts;
  Dim length(0);
  for (Item* item : list) {
    parts.push_back(call.workshop().TensorOf(*item));
    if (!item->shape || item->shape->size() != to.size()) Call::GiveUp("parts of other ranks");
    if (!stack) length = call.sizes().Sum(length, item->shape->at(static_cast<std::size_t>(axis)));
  }
  if (stack) {
    to.insert(to.begin() + axis, Dim(static_cast<std::int64_t>(list.size())));
    return call.Give(call.Emit("aten::stack", parts, axis), {*list[0]->dtype, to});
  }
  to = shapes::With(to, axis, length);
  call.Give(call.Emit("aten::cat", parts, axis), {*list[0]->dtype, to});
}

void SameElement(Call& call) { call.GiveItem(call.item(0)); }

void HasElement(Call& call) { call.GiveNumbers({Dim(call.has(0) ? 1 : 0)}, {DType::kBool, {}}); }

constexpr std::array kRows{
    OpRow{"ConcatFromSequence", 11, ConcatList},
    OpRow{"If", 1, If},
    OpRow{"Loop", 1, Loop},
    OpRow{"Optional", 15, SameElement},
    OpRow{"OptionalGetElement", 15, SameElement},
    OpRow{"OptionalHasElement", 15, HasElement},
    OpRow{"Scan", 8, Scan},
    OpRow{"SequenceAt", 11, At},
    OpRow{"SequenceConstruct", 11, MakeList},
    OpRow{"SequenceEmpty", 11, MakeList},
    OpRow{"SequenceErase", 11, Erase},
    OpRow{"SequenceInsert", 11, Insert},
    OpRow{"SequenceLength", 11, Length},
    OpRow{"SplitToSequence", 11, SplitToList},
};

}  // namespace

std::span<const OpRow> ControlRows() { return kRows; }

}  // namespace steelyard::onnx
