// SPDX-License-Identifier: Apache-2.0
//
// Decides what torch.utils.checkpoint keeps, when it runs a region again and when what it computed
// then goes (torch/utils/checkpoint.py, fork_rng in torch/random.py). Of the form that is not
// reentrant: each saved tensor is a holder; the first one asked for runs the region again, inside
// the node that asks, until the last holder is filled; then Python lets go of the state of random
// numbers first and of the region's variables after it. What the forward pass kept goes with the
// last holder.

#include "ops/dispatch/checkpoint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/locals.h"
#include "ops/dispatch/random_state.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard {

Tensor RandomState(Dispatcher& dispatcher) {
  Tensor state = dispatcher.Call("steelyard::random_state", kRandomStateBytes);
  dispatcher.PutOnHost(state);
  return state;
}

// --- Dispatcher ----------------------------------------------------------------------------------

void Dispatcher::RestoreRandom(const Tensor& state) {
  if (state.defined()) Call("steelyard::restore_random_state", state);
}

std::vector<Tensor> Dispatcher::RunGraphAgain(GraphId graph, std::vector<Tensor> operands,
                                              Tensor state, const AutocastMode& mode) {
  const Progress before = Mark();
  const Node caller = context_;
  const bool again = std::exchange(runs_again_, true);
  grad_enabled_ = true;
  recording_ = false;
  if (mode.enabled) autocast().Enter(mode);
  bool stopped = false;
  std::vector<Tensor> results;
  {
    Locals locals;
    EnterGraph(graph, std::move(operands), locals);
    try {
      RunNodes(graph, locals);
      results = ResultsOf(locals);
    } catch (const StopRecomputation&) {
      stopped = true;
      frame_ = before.frame;
      recorded_ = before.recorded;
      depth_ = before.depth;
      if (mode.enabled) autocast().Leave();
      RestoreRandom(state);
      state.reset();
    }
    locals.tensors.clear();
  }
  if (mode.enabled && !stopped) autocast().Leave();
  RestoreRandom(state);
  state.reset();
  recording_ = before.recording;
  grad_enabled_ = before.grad_enabled;
  runs_again_ = again;
  context_ = caller;
  return results;
}

// --- Autograd ------------------------------------------------------------------------------------

RegionId Autograd::OpenRegion(Region region) {
  open_ = static_cast<RegionId>(regions_.size());
  region.autocast = dispatcher_.autocast_mode();
  region.as_given.reserve(region.inputs.size());
  for (const Tensor& input : region.inputs) {
    if (input.defined()) region.as_given.push_back(AsItIs({.value = input.id()}));
  }
  regions_.push_back(std::move(region));
  holders_of_.push_back({.first = static_cast<HolderId>(holders_.size())});
  return open_;
}

void Autograd::CloseRegion(RegionId id) {
  open_ = kNoId;
  holders_of_[id].open = false;
  if (holders_of_[id].live == 0) return EndRegion(id);
  const StringId by = program_.strings.Intern("torch.utils.checkpoint");
  const Region& region = regions_[id];
  if (region.random.defined()) program_.saved.push_back({region.random.id(), by});
  for (const Tensor& input : region.inputs) {
    if (input.defined()) program_.saved.push_back({input.id(), by});
  }
}

void Autograd::EndRegion(RegionId id) {
  Region ended = std::exchange(regions_[id], {});
  ended.random.reset();
  while (!ended.inputs.empty()) ended.inputs.pop_back();  // as a list of Python's goes
}

HolderId Autograd::Pack() {
  Holders& of = holders_of_[open_];
  ++of.count;
  ++of.live;
  holders_.push_back({.region = open_});
  return static_cast<HolderId>(holders_.size() - 1);
}

void Autograd::Refill(ValueId id, bool detached) {
  Holders& of = holders_of_[filled_];
  Holder& holder = holders_[of.first + of.filled++];
  if (holder.live) {
    RetainSaved(id, detached);
    holder.value = id;
    holder.detached = detached;
  }
  if (of.filled == of.count && regions_[filled_].stops_early) throw StopRecomputation();
}

void Autograd::ReleaseHolder(HolderId id) {
  Holder& holder = holders_[id];
  holder.live = false;
  const RegionId region = holder.region;
  const bool detached = holder.detached;
  const ValueId value = std::exchange(holder.value, kNoId);
  if (value != kNoId) ReleaseSaved(value, detached);
  Holders& of = holders_of_[region];
  if (--of.live == 0 && !of.open) EndRegion(region);
}

void Autograd::RunAgain(RegionId id) {
  const Region& region = regions_[id];
  for (const Saved& input : region.as_given) RequireAsSaved("torch.utils.checkpoint", input);
  std::vector<Tensor> operands = region.inputs;
  operands.insert(operands.end(), region.captured.begin(), region.captured.end());
  const GraphId body = region.body;
  const AutocastMode mode = region.autocast;
  Tensor state;
  if (region.random.defined()) {
    state = RandomState(dispatcher_);
    dispatcher_.RestoreRandom(region.random);
  }
  filled_ = id;
  std::vector<Tensor> results =
      dispatcher_.RunGraphAgain(body, std::move(operands), std::move(state), mode);
  while (!results.empty()) results.pop_back();
  filled_ = kNoId;
}

std::vector<Saved> Autograd::Unpack(GradNodeId id) {
  std::vector<Saved> out(saved(id).begin(), saved(id).end());
  for (Saved& saved : out) {
    RequireAsSaved(name(id), saved);
    if (saved.holder == kNoId) continue;
    const RegionId region = holders_[saved.holder].region;
    if (holders_of_[region].filled == 0) RunAgain(region);
    Holder& holder = holders_[saved.holder];
    saved.value = std::exchange(holder.value, kNoId);
    saved.detached = holder.detached;
  }
  return out;
}

void Autograd::ReleaseUnpacked(std::span<const Saved> saved) {
  for (std::size_t i = saved.size(); i-- > 0;) {
    if (saved[i].holder != kNoId) ReleaseSaved(saved[i].value, saved[i].detached);
  }
}

bool Autograd::WantsCheckpoint(std::span<const Tensor> inputs) const {
  return std::ranges::any_of(
      inputs, [](const Tensor& input) { return input.defined() && input.requires_grad(); });
}

// A node of Python: whose gradients it gives, the operands that it saves, what it keeps until it
// dies, and what it gave.
GradNodeId Autograd::AddCall(GradNode node, std::span<const Tensor> inputs,
                             std::span<const Tensor> operands, std::span<const Tensor> context,
                             std::span<const Tensor> results) {
  std::vector<Edge> edges;
  edges.reserve(inputs.size());
  for (const Tensor& input : inputs) edges.push_back(EdgeOf(input.id()));
  SetEdges(node, edges);
  node.first_saved = static_cast<std::uint32_t>(saved_.size());
  const auto keep = [&](std::span<const Tensor> tensors, Saved how) {
    for (const Tensor& tensor : tensors) {
      const auto element = static_cast<std::uint32_t>(&tensor - tensors.data());
      if (!tensor.defined()) continue;
      dispatcher_.Retain(tensor.id());
      saved_.push_back(AsItIs({.value = tensor.id(),
                               .place = how.place,
                               .in_context = how.in_context,
                               .element = element}));
    }
  };
  keep(operands, {});
  keep(context, {.place = kResult, .in_context = true});
  node.saved = static_cast<std::uint32_t>(saved_.size()) - node.first_saved;
  std::vector<ValueId> ids;
  for (const Tensor& result : results) ids.push_back(result.id());
  node.results = program_.AddOutputs(ids);
  const GradNodeId id = AddNode(node);
  ++nodes_[id].references;
  for (std::uint32_t i = 0; i < ids.size(); ++i) SetHistory(id, ids[i], i);
  const StringId by = program_.strings.Intern(name(id));
  std::vector<ValueId> told;
  for (const Saved& kept : saved(id)) {
    if (std::ranges::find(told, kept.value) != told.end()) continue;
    told.push_back(kept.value);
    program_.saved.push_back({kept.value, by});
  }
  DropNode(id);
  return id;
}

void Autograd::AddCheckpoint(Region region, std::span<const Tensor> results, std::uint64_t sequence,
                             const Node& context) {
  const std::vector<Tensor> inputs = std::exchange(region.inputs, {});
  const std::array random{std::exchange(region.random, {})};
  region.autocast = dispatcher_.autocast_mode();
  const GradNode node{.kind = GradNodeKind::kCheckpoint,
                      .sequence = sequence,
                      .region = static_cast<RegionId>(regions_.size()),
                      .context = context};
  regions_.push_back(std::move(region));
  holders_of_.emplace_back();
  AddCall(node, inputs, inputs, random, results);
}

void Autograd::AddFunction(FunctionCall call, std::span<const Tensor> results,
                           const Node& context) {
  const GradNode node{.kind = GradNodeKind::kFunction,
                      .sequence = call.sequence,
                      .python = static_cast<std::uint32_t>(functions_.size()),
                      .context = context};
  functions_.push_back(std::move(call.function));
  const std::span<const Tensor> operands(call.operands);
  AddCall(node, operands, call.saves_operands ? operands : operands.first(0), call.context,
          results);
}

void Autograd::MakeLeaf(ValueId id, bool requires_grad) {
  const ValueId base = std::exchange(object(id).base, kNoId);
  if (base != kNoId) dispatcher_.Release(base);
  program_.values[id].requires_grad = requires_grad;
}

Tensor Autograd::TakeGradient(ValueId leaf) {
  const ValueId id = object_of_[leaf];
  return id < gradients_.size() ? std::move(gradients_[id]) : Tensor();
}

namespace ops {
namespace {

void RandomStateShape(const OpView& op, Outputs& out) {
  const Dims sizes{op.integer(0)};
  shape::RequireSizes(sizes);
  out.Add(DType::kUInt8, sizes);
}
void RandomStateAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, Allocations::kCaller);
}

void NoResults(const OpView&, Outputs&) {}
void NoMemory(const OpView&, Allocations&) {}

// A call of `checkpoint`: the first of the operands are its arguments.
struct CheckpointCall {
  CheckpointCall(GraphId body, std::size_t inputs, std::vector<Tensor> operands)
      : all(std::move(operands)) {
    region.body = body;
    for (std::size_t i = 0; i < all.size(); ++i) {
      (i < inputs ? region.inputs : region.captured).push_back(all[i]);
    }
  }
  Region region;
  std::vector<Tensor> all;
};

// The form that is not reentrant.
std::vector<Tensor> RunOpen(Dispatcher& d, CheckpointCall call) {
  const std::vector<Tensor> arguments = call.region.inputs;  // of the Python function
  if (!d.grad_enabled()) return d.RunGraphHere(call.region.body, std::move(call.all));
  const GraphId body = call.region.body;
  const RegionId region = d.autograd().OpenRegion(std::move(call.region));
  std::vector<Tensor> results = d.RunGraphHere(body, std::move(call.all));
  d.autograd().CloseRegion(region);
  return results;
}

std::vector<Tensor> RunReentrant(Dispatcher& d, CheckpointCall call, const Node& context) {
  const Dispatcher::Inside frame(d, "CheckpointFunction");
  const std::vector<Tensor> arguments = call.region.inputs;
  const bool wanted = d.grad_enabled() && d.autograd().WantsCheckpoint(arguments);
  const std::uint64_t sequence = wanted ? d.autograd().TakeSequence() : 0;
  call.region.random = RandomState(d);
  std::vector<Tensor> results;
  {
    const Dispatcher::GradMode off(d, false);
    results = d.RunGraphHere(call.region.body, std::move(call.all));
  }
  if (wanted) {
    d.autograd().AddCheckpoint(std::move(call.region), results, sequence, context);
    return results;
  }
  call.region.random.reset();
  if (d.grad_enabled()) {
    d.Note(
        "a reentrant checkpoint none of whose inputs requires a gradient trains nothing in it, as "
        "in PyTorch");
  }
  return results;
}

std::vector<Tensor> RunCheckpoint(Dispatcher& d, const OpView& op) {
  const Node context = d.context();
  const Dispatcher::AsProgram python(d);
  CheckpointCall call(op.graph(0), static_cast<std::size_t>(op.integer(1)), d.tensors(op, 3));
  if (op.boolean(2)) return RunReentrant(d, std::move(call), context);
  call.region.random = RandomState(d);
  return RunOpen(d, std::move(call));
}

// A region that the model's author has marked. PyTorch's operator keeps no state of random numbers
// and does not stop early (tag_activation_checkpoint_impl in torch/_higher_order_ops/wrap.py).
std::vector<Tensor> RunTagged(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> operands;
  for (const Argument& operand : op.program().list(op.arg(1).list)) {
    const bool is_option = operand.kind == ArgKind::kBool;  // "use_reentrant=False"
    if (!is_option)
      operands.emplace_back(&d, operand.kind == ArgKind::kValue ? operand.value : kNoId);
  }
  if (!d.grad_enabled()) return d.RunGraph(op.graph(0), std::move(operands));
  const Dispatcher::AsProgram python(d);
  const std::size_t inputs = operands.size();
  CheckpointCall call(op.graph(0), inputs, std::move(operands));
  call.region.stops_early = false;
  return RunOpen(d, std::move(call));
}

constexpr std::array kRows{
    Composite("steelyard::checkpoint",
              "Runs a graph of `inputs` tensors, and others, that the backward pass runs again.",
              "(Graph body, int inputs, bool reentrant, Any... operands) -> Any[]", "",
              Family::kControl, RunCheckpoint, precision::kFollow, kGradientFromParts),
    Composite("higher_order::tag_activation_checkpoint",
              "Runs a graph that training runs again in the backward pass.",
              "(Graph body, Any... operands) -> Any[]", "", Family::kControl, RunTagged,
              precision::kFollow, kGradientFromParts),
    Kernel(Family::kRandom,
           {"steelyard::random_state", "The state of random numbers on the CPU.",
            "(int bytes) -> Tensor", "steelyard::random_state(5056)"},
           {.shape = RandomStateShape,
            .fusion = Fusion::kOpaque,
            .allocations = RandomStateAllocations,
            .work = work::None,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::WriteOnly),
    Kernel(Family::kRandom,
           {"steelyard::restore_random_state", "Goes on with random numbers from there.",
            "(Tensor state) -> ()", "steelyard::restore_random_state(u8[5056])"},
           {.shape = NoResults,
            .fusion = Fusion::kOpaque,
            .allocations = NoMemory,
            .work = work::None,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::None),
};

}  // namespace

std::span<const OpDef> Checkpoint() { return kRows; }

}  // namespace ops
}  // namespace steelyard
