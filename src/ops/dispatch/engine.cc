// SPDX-License-Identifier: Apache-2.0
//
// Decides the order of the backward pass and the life of gradients (torch/csrc/autograd:
// engine.cpp, input_buffer.cpp, functions/accumulate_grad.h, functions/tensor.cpp). What happens
// while one node is evaluated, in order: its formulas, the reduction of each result to the shape of
// its variable, the end of what came in, the end of what was saved, and the results move on.

#include "ops/dispatch/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ir/layout.h"
#include "ir/visit_values.h"
#include "ops/dispatch/random_state.h"
#include "ops/gradients/sparse.h"
#include "ops/gradients/view.h"
#include "ops/rules/memory_format.h"

namespace steelyard {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

bool IsInPython(const GradNode& node) {
  if (node.kind == GradNodeKind::kCheckpoint || node.kind == GradNodeKind::kFunction) return true;
  return node.kind == GradNodeKind::kFormula && node.def->grad->in_python();
}

// From the first to the last, as the destructor of a vector does.
void Drop(std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) tensor.reset();
}

// As a list or tuple of Python's goes.
void DropFromTheEnd(std::vector<Tensor>& tensors) {
  while (!tensors.empty()) tensors.pop_back();
}

bool SameSizes(const Tensor& a, const TensorView& b) {
  return std::ranges::equal(a.sizes(), b.sizes());
}

// AccumulateGrad takes a gradient over only if it lies in memory as its variable does.
bool LiesAs(const Tensor& gradient, const TensorView& variable) {
  if (!IsNonOverlappingAndDense(variable.sizes(), variable.strides())) {
    return gradient.is_contiguous();
  }
  for (int i = 0; i < variable.rank(); ++i) {
    const std::int64_t stride = gradient.view().stride(i);
    if (variable.size(i) == 1 ? stride == 0 : stride != variable.stride(i)) return false;
  }
  return true;
}

// Sums over what was broadcast.
Tensor SumTo(Dispatcher& d, const Tensor& gradient, const TensorView& variable) {
  if (variable.rank() == 0) return d.Call("aten::sum", gradient);
  const int leading = gradient.rank() - variable.rank();
  Dims over;
  for (int i = 0; i < gradient.rank(); ++i) {
    if (i < leading || (variable.size(i - leading) == 1 && gradient.size(i) != 1))
      over.push_back(i);
  }
  const Tensor sum =
      over.empty() ? gradient : d.Call("aten::sum.dim_IntList", gradient, over, true);
  return leading > 0 ? d.Call("aten::view", sum, Dims(variable.sizes())) : sum;
}

// The loss requires no gradient. Names the operator that passes none on, the nearest to the loss.
[[noreturn]] void RefuseLoss(const Program& program, ValueId loss) {
  std::vector<const Node*> makers(program.values.size(), nullptr);
  for (const Node& node : program.main().nodes) {
    for (const ValueId result : program.results(node)) {
      if (result != kNoId) makers[result] = &node;
    }
  }
  std::string cut;
  std::vector<ValueId> reached{loss};
  for (std::size_t i = 0; i < reached.size() && cut.empty(); ++i) {
    const Node* const maker = std::exchange(makers[reached[i]], nullptr);
    if (maker == nullptr) continue;
    for (const Argument& argument : program.args(*maker)) {
      VisitValues(program, argument, [&](ValueId id) {
        if (program.values[id].requires_grad) cut = program.op_name(maker->op);
        reached.push_back(id);
      });
    }
  }
  constexpr std::string_view kNone =
      "the loss does not depend on any parameter that requires a gradient";
  if (cut.empty()) Refuse(std::string(kNone));
  Refuse(
      fmt::format("{}: {} passes no gradient on", kNone, cut),
      "PyTorch refuses the step, too: \"element 0 of tensors does not require grad\". If another "
      "output is the loss, name it with --loss-output.");
}

// What a backward pass begins with, which it keeps.
class Roots {
 public:
  Roots(Autograd& autograd, std::span<const Tensor> tensors) : autograd_(autograd) {
    edges_.reserve(tensors.size());
    for (const Tensor& tensor : tensors) {
      edges_.push_back(autograd_.EdgeOf(tensor.id()));
      if (edges_.back().node != kNoId) autograd_.RetainNode(edges_.back().node);
    }
  }
  ~Roots() {
    for (const Edge& edge : edges_) {
      if (edge.node != kNoId) autograd_.ReleaseNode(edge.node);
    }
  }
  Roots(const Roots&) = delete;
  Roots& operator=(const Roots&) = delete;

  std::span<const Edge> edges() const { return edges_; }

 private:
  Autograd& autograd_;
  std::vector<Edge> edges_;
};

}  // namespace

void Engine::CountDependencies(std::span<const Edge> roots) {
  dependencies_.assign(autograd_.node_count(), 0);
  buffers_.clear();
  buffers_.resize(autograd_.node_count());
  std::vector<bool> seen(autograd_.node_count(), false);
  std::vector<GradNodeId> stack;
  const auto count = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      if (edge.node == kNoId) continue;
      ++dependencies_[edge.node];
      if (!seen[edge.node]) stack.push_back(edge.node);
      seen[edge.node] = true;
    }
  };
  count(roots);
  while (!stack.empty()) {
    const GradNodeId id = stack.back();
    stack.pop_back();
    count(autograd_.edges(id));
  }
}

void Engine::Run(const Tensor& root, Tensor seed) {
  const Roots roots(autograd_, {&root, 1});
  const Edge edge = roots.edges()[0];
  if (edge.node == kNoId) RefuseLoss(dispatcher_.program(), root.id());
  CountDependencies(roots.edges());
  Arrive(edge, seed);
  seed.reset();
  RunReady();
  if (autograd_.listener() != nullptr) autograd_.listener()->OnBackwardEnd();
}

// The gradients are the caller's, who keeps them.
void Engine::RunMany(std::span<const Tensor> tensors, std::span<const Tensor> seeds) {
  const Roots roots(autograd_, tensors);
  CountDependencies(roots.edges());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Tensor seed = seeds[i];
    Arrive(roots.edges()[i], seed);
  }
  RunReady();
}

void Engine::Arrive(const Edge& edge, Tensor& gradient) {
  Gradients& buffer = buffers_[edge.node];
  if (buffer.empty()) buffer.resize(autograd_.slots(edge.node));
  if (Tensor& slot = buffer[edge.slot];
      gradient.defined() && slot.defined() &&
      (IsPlaced(edge) || autograd_.WayOfGradient(gradient.id()) != nullptr)) {
    slot = dispatcher_.Call("aten::add.Tensor", slot, gradient);  // no subclass in place
  } else if (gradient.defined()) {
    AddTo(slot, gradient);
  }
  if (--dependencies_[edge.node] > 0) return;
  ready_.push_back({depth_, autograd_.node(edge.node).sequence, edge.node});
  std::ranges::push_heap(ready_, LeavesLater());
}

// Whether the gradient that arrives there is a DTensor, which has another placement than its
// variable.
bool Engine::IsPlaced(const Edge& edge) const {
  return autograd_.WayOfGradient(autograd_.variable(edge.node, edge.slot)) != nullptr;
}

void Engine::RunReady() {
  while (!ready_.empty() && ready_.front().depth == depth_) {
    std::ranges::pop_heap(ready_, LeavesLater());
    const GradNodeId id = ready_.back().node;
    ready_.pop_back();
    Evaluate(id, std::exchange(buffers_[id], {}));
  }
}

Engine::Records Engine::RecordsOf(GradNodeId id) {
  const std::string_view name = autograd_.name(id);
  const auto known = records_.find(name);
  if (known != records_.end()) return known->second;
  const OpId evaluation = autograd_.NameRecord(std::string(kEvaluate).append(name));
  return records_[name] = {evaluation, autograd_.NameRecord(name)};
}

void Engine::Evaluate(GradNodeId id, Gradients incoming) {
  const Records records = RecordsOf(id);
  Node context = autograd_.node(id).context;
  // No call of the forward pass made the nodes that gather the gradients of parameters.
  if (context.origin == kNoId) context.origin = call_;
  dispatcher_.SetContext(context, Phase::kBackward);
  const Autograd::Record evaluation(autograd_, records.evaluation);
  if (autograd_.listener() != nullptr) autograd_.listener()->BeforeNode(id);
  if (autograd_.node(id).kind == GradNodeKind::kAccumulate) {
    {
      const Autograd::Record accumulation(autograd_, records.node);
      Accumulate(id, incoming);
      // What comes in stays until a hook of the node has run.
      const GradientListener* const listener = autograd_.listener();
      if (listener == nullptr || !listener->HooksNodes()) incoming.clear();
    }
    TellListener(autograd_.node(id).variable);
    return incoming.clear();
  }
  Gradients outgoing;
  {
    const Autograd::Record node(autograd_, records.node);
    outgoing = Apply(id, incoming);
    if (IsInPython(autograd_.node(id))) DropFromTheEnd(incoming);
  }
  FitToVariables(id, outgoing);
  Drop(incoming);
  autograd_.ReleaseSaved(id);
  if (const GradNode& node = autograd_.node(id); node.kind == GradNodeKind::kCopySlices) {
    autograd_.ReleaseSaved(node.function);  // which it holds until then
  }
  Route(id, outgoing);
  Drop(outgoing);
}

Engine::Gradients Engine::Apply(GradNodeId id, std::span<const Tensor> incoming) {
  // Where nothing came, nothing goes on, but the nodes behind run too.
  const auto defined = [](const Tensor& t) { return t.defined(); };
  const bool nothing = std::ranges::none_of(incoming, defined);
  switch (autograd_.node(id).kind) {
    case GradNodeKind::kFormula: {
      const std::vector<Saved> saved = autograd_.Unpack(id);
      Gradients out = nothing
                          ? Gradients(autograd_.edges(id).size())
                          : ApplyFormulas(autograd_.node(id), saved, autograd_.edges(id), incoming);
      autograd_.ReleaseUnpacked(saved);
      return out;
    }
    case GradNodeKind::kCheckpoint:
      return ApplyCheckpoint(id, incoming);
    case GradNodeKind::kFunction:
      return ApplyFunction(id, incoming);
    case GradNodeKind::kCopySlices:
      if (nothing) return Gradients(autograd_.edges(id).size());
      return ApplyCopySlices(id, incoming[0]);
    case GradNodeKind::kAsStrided: {
      if (nothing) return Gradients(autograd_.edges(id).size());
      Gradients out;
      out.push_back(ApplyAsStrided(id, incoming[0]));
      return out;
    }
    case GradNodeKind::kAccumulate:
      break;
  }
  __builtin_unreachable();
}

// One gradient for each edge; undefined where none is wanted.
Engine::Gradients Engine::ApplyFormulas(const GradNode& node, std::span<const Saved> saved,
                                        std::span<const Edge> edges,
                                        std::span<const Tensor> incoming) {
  const OpDef& def = *node.def;
  const Dispatcher::Recorded call(dispatcher_, node.arguments, node.results);
  const OpView op = call.View(def);
  std::array<bool, Signature::kMaxParams> needed{};
  std::array<std::uint32_t, Signature::kMaxParams> first{}, count{};
  std::uint32_t next = 0;
  for (int i = 0; i < op.arg_count(); ++i) {
    if (!def.grad->Differentiates(i)) continue;
    const auto place = static_cast<std::size_t>(i);
    first[place] = next;
    count[place] = op.arg(i).kind == ArgKind::kList ? op.arg(i).list.count : 1;
    for (std::uint32_t e = 0; e < count[place]; ++e) needed[place] |= edges[next++].node != kNoId;
  }
  const Backward backward(dispatcher_, op, incoming, saved, needed);
  Gradients out(edges.size());
  for (const Derivative& formula : def.grad->formulas()) {
    const std::span<const std::uint8_t> places = formula.of.places();
    const auto wanted = [&](std::uint8_t p) { return needed[p]; };
    if (std::ranges::none_of(places, wanted)) continue;
    if (formula.one != nullptr) {
      out[first[places[0]]] = formula.one(dispatcher_, backward);
      continue;
    }
    std::vector<Tensor> several = formula.several(dispatcher_, backward);
    std::size_t at = 0;
    for (const std::uint8_t place : places) {
      // Of a list, and in Python, what is not wanted is computed too, and goes with the rest.
      const bool list = def.grad->in_python() || op.arg(place).kind == ArgKind::kList;
      for (std::uint32_t e = 0; e < count[place] && at < several.size(); ++e, ++at) {
        const bool kept = list || edges[first[place] + e].node != kNoId;
        if (kept) out[first[place] + e] = std::move(several[at]);
      }
    }
  }
  return out;
}

// A function in Python gets zeros where no gradient came.
Engine::Gradients Engine::WithZeros(GradNodeId id, std::span<const Tensor> incoming) {
  Gradients arrived(incoming.begin(), incoming.end());
  for (std::uint32_t i = 0; i < arrived.size(); ++i) {
    if (arrived[i].defined()) continue;
    const TensorView result = dispatcher_.ViewOf(autograd_.variable(id, i));
    arrived[i] = dispatcher_.Call("aten::zeros", Dims(result.sizes()), result.dtype());
  }
  return arrived;
}

Engine::Gradients Engine::ApplyFunction(GradNodeId id, std::span<const Tensor> incoming) {
  Gradients operands(autograd_.edges(id).size());
  for (const Saved& saved : autograd_.Unpack(id)) {
    if (!saved.in_context) operands[saved.element] = Tensor(&dispatcher_, saved.value);
  }
  PythonFunction& function = autograd_.function(id);
  Gradients arrived = function.takes_zeros() ? WithZeros(id, incoming)
                                             : Gradients(incoming.begin(), incoming.end());
  Gradients out = function.Backward(dispatcher_, operands, arrived);
  DropFromTheEnd(arrived);
  return out;
}

// CheckpointFunction.backward: the region runs again on inputs without history, and a backward pass
// of its own leaves their gradients with them. Python's variables go in the order of their names'
// first use.
Engine::Gradients Engine::ApplyCheckpoint(GradNodeId id, std::span<const Tensor> incoming) {
  const Region region = autograd_.region(autograd_.node(id).region);
  const Gradients arrived = WithZeros(id, incoming);
  std::vector<Saved> inputs(autograd_.saved(id).begin(), autograd_.saved(id).end());
  std::erase_if(inputs, [](const Saved& saved) { return saved.in_context; });
  Tensor state = RandomState(dispatcher_);
  dispatcher_.RestoreRandom(region.random);
  std::vector<Tensor> detached(autograd_.edges(id).size());
  for (const Saved& input : inputs) {
    Tensor& leaf = detached[input.element];
    leaf = dispatcher_.Call("aten::detach", Tensor(&dispatcher_, input.value));
    autograd_.MakeLeaf(leaf.id(), dispatcher_.ViewOf(input.value).value().requires_grad);
  }
  std::vector<Tensor> operands = detached;
  operands.insert(operands.end(), region.captured.begin(), region.captured.end());
  Gradients outputs = dispatcher_.RunGraphAgain(region.body, std::move(operands), std::move(state),
                                                region.autocast);
  Gradients roots, seeds;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    seeds.push_back(arrived[i]);
  }
  Engine(*this, depth_ + 1).RunMany(roots, seeds);
  Gradients out(detached.size());
  for (std::size_t i = 0; i < detached.size(); ++i) {
    if (detached[i].defined()) out[i] = autograd_.TakeGradient(detached[i].id());
  }
  outputs.clear();
  DropFromTheEnd(roots);
  return out;
}

// What `view` is of its base, of the base's gradient: its elements may be pairs of the base's, or
// halves.
Tensor Engine::SliceOf(const Tensor& whole, const TensorView& view, std::int64_t from) {
  const Dims sizes(view.sizes()), strides(view.strides());
  const bool is_complex = IsComplex(view.dtype());
  if (is_complex == IsComplex(whole.dtype())) {
    return dispatcher_.Call("aten::as_strided", whole, sizes, strides, from);
  }
  if (!is_complex) {
    const Tensor numbers = dispatcher_.Call("aten::view_as_real", whole);
    return dispatcher_.Call("aten::as_strided", numbers, sizes, strides, from);
  }
  Dims pair_sizes(sizes), pair_strides;
  for (const std::int64_t stride : strides) pair_strides.push_back(2 * stride);
  pair_sizes.push_back(2);
  pair_strides.push_back(1);
  return dispatcher_.Call(
      "aten::view_as_complex",
      dispatcher_.Call("aten::as_strided", whole, pair_sizes, pair_strides, 2 * from));
}

// The gradient of the base, in which the slice that was overwritten has the operator's own.
Engine::Gradients Engine::ApplyCopySlices(GradNodeId id, const Tensor& incoming) {
  const GradNode node = autograd_.node(id);
  const TensorView base = dispatcher_.ViewOf(node.variable), view = dispatcher_.ViewOf(node.view);
  const Dims sizes(base.sizes()), strides(base.strides());
  const bool wanted = autograd_.edges(id)[0].node != kNoId;
  Tensor whole = dispatcher_.Call("aten::new_empty_strided", incoming, sizes, strides);
  dispatcher_.Call("aten::copy_", whole, incoming);
  Gradients out;
  {
    const Tensor slice = SliceOf(whole, view, node.from);
    std::vector<Tensor> part;
    part.push_back(dispatcher_.Call("aten::clone", slice, kContiguousFormat));
    {
      const Autograd::Record function(autograd_, RecordsOf(node.function).node);
      out = Apply(node.function, part);
    }
    if (wanted && !out.empty() && out[0].defined()) dispatcher_.Call("aten::copy_", slice, out[0]);
  }
  if (out.empty()) out.resize(1);
  out[0] = wanted ? std::move(whole) : Tensor();
  return out;
}

Tensor Engine::ApplyAsStrided(GradNodeId id, const Tensor& incoming) {
  const GradNode& node = autograd_.node(id);
  const TensorView view = dispatcher_.ViewOf(node.view);
  return gradients::StridedBackward(dispatcher_, incoming, dispatcher_.ViewOf(node.variable),
                                    Dims(view.sizes()), Dims(view.strides()), node.from);
}

void Engine::Accumulate(GradNodeId id, Gradients& incoming) {
  Tensor& gradient = incoming[0];
  if (!gradient.defined()) return;
  const ValueId parameter = autograd_.node(id).variable;
  if (dispatcher_.traces()) return autograd_.SetGradient(parameter, std::move(gradient));
  const TensorView variable = dispatcher_.ViewOf(parameter);
  const bool is_parameter = dispatcher_.ViewOf(parameter).value().role == Role::kParameter;
  const bool sparse = autograd_.IsSparse(gradient.id());
  if (is_parameter && autograd_.keeps_gradients() && !autograd_.gradient(parameter).defined()) {
    if (sparse) {
      Refuse("zeros in the place of a sparse gradient are not modelled",
             "Gradients that are dropped are: --zero-grad none.");
    }
    autograd_.SetGradient(parameter, dispatcher_.AddResident("gradient", Dims(variable.sizes()),
                                                             Dims(variable.strides()),
                                                             variable.dtype(), Role::kGradient));
  }
  if (const Tensor before = autograd_.gradient(parameter); before.defined()) {
    if (autograd_.IsSparse(before.id()) && !sparse) {
      autograd_.SetGradient(parameter, dispatcher_.Call("aten::add.Tensor", gradient, before));
    } else {
      dispatcher_.Call("aten::add_.Tensor", before, gradient);
    }
    return;
  }
  if (sparse) {
    return autograd_.SetGradient(parameter,
                                 gradients::CompactSparse(dispatcher_, std::move(gradient)));
  }
  if (autograd_.uses(gradient.id()) == 1 && LiesAs(gradient, variable)) {
    autograd_.LeaveBase(gradient.id());  // it is kept as detach() gives it
    return autograd_.SetGradient(parameter, std::move(gradient));
  }
  const Dims sizes(variable.sizes()), strides(variable.strides());
  Tensor own;
  if (IsNonOverlappingAndDense(sizes, strides)) {
    own = dispatcher_.Call("aten::new_empty_strided", gradient, sizes, strides);
    dispatcher_.Call("aten::copy_", own, gradient);
  } else {
    own = dispatcher_.Call("aten::clone", gradient, kContiguousFormat);
  }
  autograd_.SetGradient(parameter, std::move(own));
  gradient.reset();
}

void Engine::TellListener(ValueId variable) {
  const bool is_parameter = dispatcher_.ViewOf(variable).value().role == Role::kParameter;
  if (autograd_.listener() == nullptr || !is_parameter) return;
  if (autograd_.gradient(variable).defined()) autograd_.listener()->OnReady(variable);
}

// Every gradient takes the shape and dtype of the variable it belongs to, but that of a whole of
// which this process has a part.
void Engine::FitToVariables(GradNodeId id, Gradients& outgoing) {
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    const Edge edge = autograd_.edges(id)[i];
    if (edge.node == kNoId || !outgoing[i].defined()) continue;
    const ValueId variable = autograd_.variable(edge.node, edge.slot);
    const ops::Way* way = autograd_.WayOfGradient(variable);
    const bool is_whole = way != nullptr && way->from == ops::kReplicate && way->to.is_shard();
    if (!is_whole && !SameSizes(outgoing[i], dispatcher_.ViewOf(variable))) {
      outgoing[i] = SumTo(dispatcher_, outgoing[i], dispatcher_.ViewOf(variable));
    }
    const DType dtype = dispatcher_.ViewOf(variable).dtype();
    if (outgoing[i].dtype() != dtype) {
      outgoing[i] = dispatcher_.Call("aten::_to_copy", outgoing[i], dtype);
    }
  }
}

void Engine::Route(GradNodeId id, Gradients& outgoing) {
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    const Edge edge = autograd_.edges(id)[i];
    if (edge.node != kNoId) Arrive(edge, outgoing[i]);
  }
}

// A second gradient for one tensor is added in place if nobody else has the first one or its
// storage; a view keeps its base, so it never is, nor is one without memory of its own, as those
// are that a graph is recorded of. To a sparse one it is the first that is added.
void Engine::AddTo(Tensor& slot, Tensor& gradient) {
  if (!slot.defined()) {
    slot = std::move(gradient);
    return;
  }
  const auto owned = [&](const Tensor& sum) {
    return !dispatcher_.traces() && autograd_.uses(sum.id()) == 1 &&
           autograd_.tensors_on_storage(sum.id()) == 1 && !autograd_.HasNoMemory(sum.id()) &&
           !autograd_.IsSparse(sum.id());
  };
  if (autograd_.IsSparse(slot.id())) {
    if (owned(gradient) && gradient.is_contiguous()) {
      dispatcher_.Call("aten::add_.Tensor", gradient, slot);
      slot = std::move(gradient);
    } else {
      slot = dispatcher_.Call("aten::add.Tensor", gradient, slot);
    }
  } else if (owned(slot) && !autograd_.IsSparse(gradient.id()) &&
             IsNonOverlappingAndDense(slot.sizes(), slot.strides())) {
    dispatcher_.Call("aten::add_.Tensor", slot, gradient);
  } else {
    slot = dispatcher_.Call("aten::add.Tensor", slot, gradient);
  }
}

}  // namespace steelyard
