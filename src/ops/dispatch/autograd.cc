// SPDX-License-Identifier: Apache-2.0
//
// Decides what lives how long in a training step: objects and their uses, nodes and what they save
// (torch/csrc/autograd: variable.cpp, saved_variable.cpp, function.cpp; what is saved under which
// condition is the code generator's rule, gen_variable_type.py).

#include "ops/dispatch/autograd.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ops/rules/shape.h"

namespace steelyard {
namespace {

// Visits the tensors of an argument in order; kNoId stands for None. The visit may add to the
// program's pool of arguments, as a replay of views does.
template <class Visit>
void VisitTensors(const Program& program, const Argument& argument, const Visit& visit) {
  if (argument.kind == ArgKind::kList) {
    for (std::uint32_t i = 0; i < argument.list.count; ++i) {
      const Argument& element = program.list(argument.list)[i];
      visit(element.kind == ArgKind::kValue ? element.value : kNoId);
    }
    return;
  }
  visit(argument.kind == ArgKind::kValue ? argument.value : kNoId);
}

// "output" of "-> (Tensor output, Tensor logsumexp)", "result0" where results have no names.
std::string NameOfResult(const OpDef& def, std::size_t i) {
  std::string_view returns = def.signature->text();
  returns.remove_prefix(returns.rfind(") -> ") + std::string_view(") -> ").size());
  for (std::size_t skipped = 0; skipped < i; ++skipped) {
    returns.remove_prefix(std::min(returns.find(", ") + 2, returns.size()));
  }
  const std::string_view one = returns.substr(0, returns.find_first_of(",)"));
  const std::size_t space = one.rfind(' ');
  return space == std::string_view::npos ? "result" + std::to_string(i)
                                         : std::string(one.substr(space + 1));
}

// Whether the formula keeps this argument or result of the call until it has run.
bool Saves(const Program& program, const OpDef& def, std::span<const Argument> args,
           const Derivative& formula, int place) {
  if (!formula.saves.Contains(place)) return false;
  return formula.saves_if == nullptr || formula.saves_if(OpView(program, def, args, {}));
}

// The order in which members are destroyed: the last first, but a list from its front.
void ReverseMembers(std::vector<Saved>& saved) {
  std::ranges::reverse(saved);
  for (auto member = saved.begin(); member != saved.end();) {
    const auto end = std::find_if(member, saved.end(),
                                  [&](const Saved& other) { return other.place != member->place; });
    std::reverse(member, end);
    member = end;
  }
}

// Saved results are released in the alphabetical order of their names.
std::vector<std::size_t> OrderOfRelease(const OpDef& def, std::size_t results) {
  std::vector<std::size_t> order(results);
  for (std::size_t i = 0; i < results; ++i) order[i] = i;
  if (results > 1 && results < 10 && !def.signature->GivesList()) {
    std::ranges::sort(order, {}, [&](std::size_t i) { return NameOfResult(def, i); });
  }
  return order;
}

}  // namespace

// --- Backward ------------------------------------------------------------------------------------

Tensor Backward::saved(int argument, std::uint32_t element) const {
  for (const Saved& saved : saved_) {
    if (saved.place == argument && saved.element == element) return {&dispatcher_, saved.value};
  }
  return {};
}

std::vector<Tensor> Backward::saved_list(int argument) const {
  const Argument& list = op_.arg(argument);
  std::vector<Tensor> out(list.kind == ArgKind::kList ? list.list.count : 0);
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = saved(argument, i);
  return out;
}

Backward::Element Backward::ElementAt(std::uint32_t i) const {
  Element out{.arguments = {}, .result = op_.output(static_cast<int>(i)).id(), .saved = {}};
  std::array<bool, Signature::kMaxParams> is_list{};
  for (int a = 0; a < op_.arg_count(); ++a) {
    const Argument& argument = op_.arg(a);
    is_list[static_cast<std::size_t>(a)] = argument.kind == ArgKind::kList;
    out.arguments.push_back(argument.kind == ArgKind::kList ? op_.program().list(argument.list)[i]
                                                            : argument);
  }
  for (Saved saved : saved_) {
    const bool of_list = saved.is_result() || is_list[static_cast<std::uint8_t>(saved.place)];
    if (of_list && saved.element != i) continue;
    saved.element = 0;
    out.saved.push_back(saved);
  }
  return out;
}

// --- Objects -------------------------------------------------------------------------------------

void Autograd::Adopt(ValueId id) {
  if (id == objects_.size() && id == object_of_.size()) {  // the next one, nearly always
    object_of_.push_back(id);
    objects_.emplace_back();
  } else {
    object_of_.resize(id + 1, id);
    objects_.resize(id + 1);
    object_of_[id] = id;
  }
  const StorageId storage = program_.values[id].storage;
  if (storage == tensors_on_storage_.size()) {
    tensors_on_storage_.push_back(0);
  } else if (storage > tensors_on_storage_.size()) {
    tensors_on_storage_.resize(storage + 1, 0);
  }
}

void Autograd::AdoptOverwritten(ValueId id, ValueId of) {
  Adopt(id);
  object_of_[id] = object_of_[of];
}

void Autograd::SetData(const Tensor& data, ValueId of) {
  const ValueId id = data.id();
  object(of).uses += std::exchange(object(id).uses, 0);
  --tensors_on_storage_[program_.values[id].storage];
  object_of_[id] = object_of_[of];
  program_.values[id].requires_grad = program_.values[of].requires_grad;
}

void Autograd::Detach(const OpDef& def, ValueId of, ValueId result) {
  Object& detached = object(result);
  if (!def.overwrites()) {
    detached.root = RootOf(of);
    return;
  }
  if (detached.base != kNoId) Refuse("views cannot be detached in place", "Use detach().");
  const Dispatcher::Inside frame(dispatcher_, "detach_");  // a record within the operator's
  program_.values[result].requires_grad = false;
  program_.values[object_of_[result]].requires_grad = false;
  const GradNodeId node = std::exchange(detached.node, kNoId);
  if (node != kNoId) DropNode(node);
}

void Autograd::Retain(ValueId id) {
  if (object(id).uses++ == 0) ++tensors_on_storage_[program_.values[id].storage];
}

void Autograd::Release(ValueId id) {
  Object& released = object(id);
  if (--released.uses > 0) return;
  --tensors_on_storage_[program_.values[id].storage];
  Die(released);
}

// The base goes before the history (C++ destroys what DifferentiableViewMeta has of its own first),
// then the gradient of a leaf, and all before the storage.
void Autograd::Die(Object& object) {
  const GradNodeId node = std::exchange(object.node, kNoId);
  const ValueId base = std::exchange(object.base, kNoId);
  const bool leaf = std::exchange(object.leaf, false);
  if (base != kNoId) dispatcher_.Release(base);
  if (node != kNoId) DropNode(node);
  if (leaf) ClearGradient(static_cast<ValueId>(&object - objects_.data()));
}

Tensor Autograd::ZerosWithoutMemory(const Dims& sizes, DType dtype) {
  Tensor zeros = dispatcher_.Call("aten::_efficientzerotensor", sizes, dtype);
  without_memory_.push_back(zeros.view().value().storage);
  dispatcher_.has_lazy_ = true;
  return zeros;
}

const ops::Way* Autograd::WayOfGradient(ValueId parameter) const {
  const auto found = ways_.find(object_of_[parameter]);
  return found == ways_.end() ? nullptr : &found->second;
}

void Autograd::SetWay(ValueId tensor, const ops::Way& way) {
  ways_of_storage_[program_.values[tensor].storage] = way;
  dispatcher_.has_lazy_ = true;
}

const ops::Way* Autograd::WayOf(ValueId tensor) const {
  const auto found = ways_of_storage_.find(program_.values[tensor].storage);
  return found == ways_of_storage_.end() ? nullptr : &found->second;
}

bool Autograd::HasNoMemory(ValueId id) const {
  return std::ranges::find(without_memory_, program_.values[id].storage) != without_memory_.end();
}

void Autograd::SetParts(ValueId sparse, const SparseParts& parts) {
  dispatcher_.has_lazy_ = true;
  dispatcher_.Retain(parts.indices);
  dispatcher_.Retain(parts.values);
  const auto known = std::ranges::find(sparse_, object_of_[sparse], &SparseOf::first);
  if (known == sparse_.end()) {
    sparse_.emplace_back(object_of_[sparse], parts);
    return;
  }
  const SparseParts before = std::exchange(known->second, parts);
  dispatcher_.Release(before.indices);
  dispatcher_.Release(before.values);
}

SparseParts Autograd::parts(ValueId sparse) const {
  return std::ranges::find(sparse_, object_of_[sparse], &SparseOf::first)->second;
}

bool Autograd::IsSparse(ValueId id) const {
  return std::ranges::find(sparse_, object_of_[id], &SparseOf::first) != sparse_.end();
}

// The values go first.
void Autograd::ReleaseParts(ValueId id) {
  if (sparse_.empty() || object(id).uses > 0) return;
  const auto known = std::ranges::find(sparse_, object_of_[id], &SparseOf::first);
  if (known == sparse_.end()) return;
  const SparseParts parts = known->second;
  sparse_.erase(known);
  dispatcher_.Release(parts.values);
  dispatcher_.Release(parts.indices);
}

// --- Nodes ---------------------------------------------------------------------------------------

GradNodeId Autograd::AddNode(const GradNode& node) {
  nodes_.push_back(node);
  return static_cast<GradNodeId>(nodes_.size() - 1);
}

// Nodes die from the output towards the inputs, the last edge first.
// A node dies as C++ destroys its members; those behind it that die with it are cleared before, as
// they are after they ran.
void Autograd::DropNode(GradNodeId id) {
  if (--nodes_[id].references > 0) return;
  const std::size_t before = dying_.size();
  dying_.push_back(id);
  while (dying_.size() > before) {
    const GradNodeId dead = dying_.back();
    dying_.pop_back();
    std::vector<Saved> members = TakeSaved(dead);
    if (dead == id) ReverseMembers(members);
    for (const Saved& saved : members) ReleaseOne(saved);
    const std::span<const Saved> context = saved(dead);
    nodes_[dead].saved = 0;
    if (nodes_[dead].kind == GradNodeKind::kAccumulate) {
      object(nodes_[dead].variable).accumulator = kNoId;
    }
    for (const Saved& saved : context) ReleaseOne(saved);
    for (const Edge& edge : edges(dead)) {
      if (edge.node != kNoId && --nodes_[edge.node].references == 0) dying_.push_back(edge.node);
    }
    nodes_[dead].edges = 0;
    const GradNodeId function = std::exchange(nodes_[dead].function, kNoId);
    if (function != kNoId && --nodes_[function].references == 0) dying_.push_back(function);
  }
}

void Autograd::ReleaseSaved(GradNodeId id) {
  for (const Saved& saved : TakeSaved(id)) ReleaseOne(saved);
}

std::vector<Saved> Autograd::TakeSaved(GradNodeId id) {
  std::vector<Saved> released;
  std::uint32_t kept = 0;
  for (const Saved& saved : saved(id)) {
    if (saved.in_context) {
      saved_[nodes_[id].first_saved + kept++] = saved;
    } else {
      released.push_back(saved);
    }
  }
  nodes_[id].saved = kept;
  return released;
}

void Autograd::ReleaseOne(const Saved& saved) {
  if (saved.holder != kNoId) return ReleaseHolder(saved.holder);
  ReleaseSaved(saved.value, saved.detached);
}

void Autograd::RetainSaved(ValueId id, bool detached) {
  if (!detached) return dispatcher_.Retain(id);
  dispatcher_.RetainStorage(id);
  ++tensors_on_storage_[program_.values[id].storage];
}

void Autograd::ReleaseSaved(ValueId id, bool detached) {
  if (!detached) return dispatcher_.Release(id);
  --tensors_on_storage_[program_.values[id].storage];
  dispatcher_.ReleaseStorage(id);
}

// Numbers that Python gave as such are kept whatever a region does with tensors.
Saved Autograd::AsItIs(Saved saved) const {
  saved.root = RootOf(saved.value);
  saved.version = VersionOf(saved.root).Of(saved);
  return saved;
}

void Autograd::Save(Saved saved) {
  const bool held = !saved.in_context && !program_.values[saved.value].wrapped_number;
  if (held && filled_ != kNoId) {
    saved.detached |= program_.values[object_of_[saved.value]].requires_grad;
  }
  saved = AsItIs(saved);
  if (held) {
    if (filled_ != kNoId) {
      Refill(saved.value, saved.detached);
    } else if (open_ != kNoId) {
      saved.holder = Pack();
      saved_.push_back(saved);
      return;
    }
  }
  RetainSaved(saved.value, saved.detached);
  saved_.push_back(saved);
}

// Views that an operator says are none, such as those of unsafe_chunk, are roots themselves.
ValueId Autograd::RootOf(ValueId id) const {
  const ValueId base = objects_[object_of_[id]].base;
  const ValueId own = object_of_[base == kNoId ? id : base];
  return objects_[own].root == kNoId ? own : objects_[own].root;
}

void Autograd::CountOverwriting(ValueId id, const OpDef& by) {
  const ValueId root = RootOf(id);
  if (root >= versions_.size()) versions_.resize(root + 1);
  ++(by.grad->kind() == Gradient::Kind::kDropped ? versions_[root].detached
                                                 : versions_[root].count);
  versions_[root].by = &by;
}

Autograd::Version Autograd::VersionOf(ValueId root) const {
  return root < versions_.size() ? versions_[root] : Version();
}

// Who tries out which calls may overwrite has calls that may not.
void Autograd::RequireAsSaved(std::string_view by, const Saved& saved) const {
  if (dispatcher_.overwriting_ != nullptr) return;
  const Version now = VersionOf(saved.root);
  if (saved.holder != kNoId || saved.in_context || now.Of(saved) == saved.version) return;
  if (now.by->grad->kind() == Gradient::Kind::kDropped) {
    Refuse(fmt::format("{} needs {} and its history, which {} has taken since", by,
                       shape::Text({program_, saved.value}), now.by->name->text()),
           "PyTorch refuses the step, too: \"Trying to use a saved tensor that has been detached "
           "in-place\". Use detach().");
  }
  Refuse(
      fmt::format("{} needs {} as it was, and {} has overwritten it since", by,
                  shape::Text({program_, saved.value}), now.by->name->text()),
      "PyTorch refuses the step, too: \"one of the variables needed for gradient computation has "
      "been modified by an inplace operation\".");
}

bool Autograd::IsLeaf(ValueId id) const {
  const Object& tensor = objects_[object_of_[id]];
  if (tensor.leaf) return tensor.node == kNoId;
  const Value& value = program_.values[object_of_[id]];
  // Parts of an operator that autograd sees as one make views of leaves, of which it knows nothing.
  return value.requires_grad && value.role != Role::kActivation && tensor.node == kNoId &&
         tensor.base == kNoId;
}

bool Autograd::RequiresGrad(const Argument& argument) const {
  bool any = false;
  VisitTensors(program_, argument, [&](ValueId id) {
    any |= id != kNoId && program_.values[object_of_[id]].requires_grad;
  });
  return any;
}

bool Autograd::Wanted(const OpDef& def, std::span<const Argument> args) const {
  for (const Derivative& formula : def.grad->formulas()) {
    for (const std::uint8_t place : formula.of.places()) {
      if (RequiresGrad(args[place])) return true;
    }
  }
  if (def.grad->kind() != Gradient::Kind::kUnknown) return false;
  return std::ranges::any_of(args, [&](const Argument& a) { return RequiresGrad(a); });
}

Edge Autograd::EdgeOf(ValueId tensor) {
  if (tensor == kNoId || !program_.values[object_of_[tensor]].requires_grad) return {};
  Refresh(tensor);
  Object& of = object(tensor);
  if (of.node != kNoId) return {of.node, of.slot};
  // Made without gradients, of a base that requires them.
  if (of.base != kNoId && !of.leaf) return {};
  if (of.accumulator == kNoId) of.accumulator = AddAccumulator(object_of_[tensor]);
  return {object(tensor).accumulator, 0};
}

// A parameter is there as long as its module is, and the node as long as that. Another leaf knows
// its node and does not keep it; the node keeps the leaf.
GradNodeId Autograd::AddAccumulator(ValueId leaf) {
  GradNode node{.kind = GradNodeKind::kAccumulate, .sequence = kFirst, .variable = leaf};
  if (!object(leaf).leaf) {
    node.references = 1;
    return AddNode(node);
  }
  node.first_saved = static_cast<std::uint32_t>(saved_.size());
  node.saved = 1;
  dispatcher_.Retain(leaf);
  saved_.push_back(AsItIs({.value = leaf, .in_context = true}));
  return AddNode(node);
}

void Autograd::RequireGradient(ValueId id) {
  Value& value = program_.values[object_of_[id]];
  if (value.requires_grad) return;
  if (!IsFloating(value.dtype) && !IsComplex(value.dtype)) {
    Refuse("only floating point and complex numbers can require a gradient");
  }
  value.requires_grad = true;
  program_.values[id].requires_grad = true;
  object(id).leaf = true;
}

GradNodeId Autograd::Begin(const OpDef& def, std::span<const Argument> args, const Node& context) {
  if (def.overwrites() && args[0].kind == ArgKind::kValue) {
    RequireMayRebase(args[0].value, "is being");
    RequireNoLeaf(args[0].value);
    Refresh(args[0].value);
  }
  GradNode node{.def = &def, .sequence = next_sequence_++, .context = context};
  node.arguments = program_.AddArguments(args);
  AddEdges(node, def, args);
  node.first_saved = static_cast<std::uint32_t>(saved_.size());
  const auto add = [&] {
    node.saved = static_cast<std::uint32_t>(saved_.size()) - node.first_saved;
    return AddNode(node);
  };
  try {
    SaveArguments(def, args);
  } catch (const StopRecomputation&) {
    Abandon(add());
    throw;
  }
  return add();
}

void Autograd::AddEdges(GradNode& node, const OpDef& def, std::span<const Argument> args) {
  std::vector<Edge> edges;  // apart from edges_, because an edge to a leaf makes a node
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!def.grad->Differentiates(static_cast<int>(i))) continue;
    VisitTensors(program_, args[i], [&](ValueId id) { edges.push_back(EdgeOf(id)); });
  }
  SetEdges(node, edges);
}

void Autograd::SetEdges(GradNode& node, std::span<const Edge> edges) {
  node.first_edge = static_cast<std::uint32_t>(edges_.size());
  node.edges = static_cast<std::uint32_t>(edges.size());
  for (const Edge& edge : edges) {
    if (edge.node != kNoId) ++nodes_[edge.node].references;
    edges_.push_back(edge);
  }
}

// An argument that one formula alone names, and a formula for one argument, is kept only if that
// gradient is wanted; a factor only for another's gradient; all others whatever is wanted.
bool Autograd::Keeps(const OpDef& def, int place, std::span<const Argument> args) const {
  const Derivative* user = nullptr;
  int users = 0, differentiated = 0;
  for (const Derivative& formula : def.grad->formulas()) {
    differentiated += static_cast<int>(formula.of.places().size());
    if (!Saves(program_, def, args, formula, place)) continue;
    user = &formula;
    ++users;
  }
  if (def.grad->context().Contains(place)) return true;
  if (users == 0) return false;
  if (user->factors) {
    return std::ranges::any_of(user->of.places(), [&](int of) {
      return of != place && RequiresGrad(args[static_cast<std::size_t>(of)]);
    });
  }
  const bool list = def.signature->params()[static_cast<std::size_t>(place)].list;
  if (list || users != 1 || differentiated <= 1 || user->of.places().size() != 1) return true;
  return RequiresGrad(args[user->of.places()[0]]);
}

void Autograd::SaveArgument(const OpDef& def, int place, std::span<const Argument> args) {
  const Argument& argument = args[static_cast<std::size_t>(place)];
  const bool overwritten = def.overwrites() && place == 0;
  std::uint32_t element = 0;
  VisitTensors(program_, argument, [&](ValueId id) {
    if (id != kNoId) {
      // The formula needs the value as it was, a copy of which the call has until it ends.
      const Tensor kept = overwritten ? dispatcher_.Call("aten::clone", Tensor(&dispatcher_, id))
                                      : Tensor(&dispatcher_, id);
      if (overwritten) originals_.emplace_back(static_cast<GradNodeId>(nodes_.size()), kept);
      Save({.value = kept.id(),
            .place = static_cast<std::int8_t>(place),
            .in_context = def.grad->context().Contains(place),
            .element = element});
    }
    ++element;
  });
}

// Saved arguments are released in the alphabetical order of their names.
void Autograd::SaveArguments(const OpDef& def, std::span<const Argument> args) {
  const auto params = def.signature->params();
  std::array<int, Signature::kMaxParams> order{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (Keeps(def, static_cast<int>(i), args)) order[count++] = static_cast<int>(i);
  }
  const auto names = std::span(order).first(count);
  std::ranges::sort(names, {}, [&](int i) { return params[static_cast<std::size_t>(i)].name; });
  for (const int place : names) SaveArgument(def, place, args);
}

// Other nodes may have been begun since.
void Autograd::MoveSavedToEnd(GradNode& node) {
  if (node.first_saved + node.saved == saved_.size()) return;
  const std::vector<Saved> own(saved_.begin() + node.first_saved,
                               saved_.begin() + node.first_saved + node.saved);
  node.first_saved = static_cast<std::uint32_t>(saved_.size());
  saved_.insert(saved_.end(), own.begin(), own.end());
}

void Autograd::Finish(GradNodeId id, std::span<const Tensor> results) {
  std::vector<ValueId> ids;
  ids.reserve(results.size());
  for (const Tensor& result : results) ids.push_back(result.id());
  nodes_[id].results = program_.AddOutputs(ids);
  MoveSavedToEnd(nodes_[id]);
  const OpDef& def = *nodes_[id].def;
  const bool list = def.signature->GivesList();
  for (const std::size_t i : OrderOfRelease(def, ids.size())) {
    const int place = ResultAt(list ? 0 : static_cast<int>(i));
    const std::span<const Argument> args = program_.list(nodes_[id].arguments);
    const bool named = std::ranges::any_of(def.grad->formulas(), [&](const Derivative& formula) {
      return Saves(program_, def, args, formula, place);
    });
    if (!named || ids[i] == kNoId) continue;
    Save({.value = ids[i],
          .place = static_cast<std::int8_t>(place),
          .detached = true,
          .element = list ? static_cast<std::uint32_t>(i) : 0});
    ++nodes_[id].saved;
  }
  const StringId by = program_.strings.Intern(def.grad->node());
  for (const Saved& saved : saved(id)) {
    if (saved.holder == kNoId) program_.saved.push_back({saved.value, by});
  }
  ++nodes_[id].references;  // while its results get their history
  if (def.overwrites() && *def.fusion == Fusion::kView) {
    // Only the sizes are others: a view follows from what it was, and not from its base anew.
    SetHistory(id, ids[0], 0);
    object(ids[0]).version = VersionOf(RootOf(ids[0])).count;
  } else if (def.overwrites()) {
    Rebase(id, ids[0]);
  } else {
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      if (def.grad->HasGradient(i)) SetHistory(id, ids[i], i);
    }
  }
  DropNode(id);
  DropOriginal(id);
}

void Autograd::Abandon(GradNodeId id) {
  ++nodes_[id].references;
  DropNode(id);
  DropOriginal(id);
}

// Of a call that has ended.
void Autograd::DropOriginal(GradNodeId id) {
  const auto found = std::ranges::find(originals_, id, &std::pair<GradNodeId, Tensor>::first);
  if (found == originals_.end()) return;
  const Dispatcher::Inside frame(dispatcher_, *nodes_[id].def);
  originals_.erase(found);
}

void Autograd::SetHistory(GradNodeId id, ValueId tensor, std::uint32_t slot) {
  if (tensor == kNoId) return;
  Value& value = program_.values[tensor];
  if (!IsFloating(value.dtype) && !IsComplex(value.dtype)) return;
  value.requires_grad = true;
  program_.values[object_of_[tensor]].requires_grad = true;
  ++nodes_[id].references;
  const GradNodeId before = std::exchange(object(tensor).node, id);
  object(tensor).slot = slot;
  if (before != kNoId) DropNode(before);
}

// --- Reading -------------------------------------------------------------------------------------

std::size_t Autograd::slots(GradNodeId id) const {
  const GradNodeKind kind = nodes_[id].kind;
  const bool has_results = kind == GradNodeKind::kFormula || kind == GradNodeKind::kCheckpoint ||
                           kind == GradNodeKind::kFunction;
  return has_results ? nodes_[id].results.count : 1;
}

ValueId Autograd::variable(GradNodeId id, std::uint32_t slot) const {
  const GradNode& node = nodes_[id];
  switch (node.kind) {
    case GradNodeKind::kFormula:
    case GradNodeKind::kCheckpoint:
    case GradNodeKind::kFunction:
      return program_.outputs[node.results.begin + slot];
    case GradNodeKind::kAccumulate:
    case GradNodeKind::kCopySlices:
      return node.variable;
    case GradNodeKind::kAsStrided:
      return node.view;
  }
  __builtin_unreachable();
}

std::string_view Autograd::name(GradNodeId id) const {
  switch (nodes_[id].kind) {
    case GradNodeKind::kFormula:
      return nodes_[id].def->grad->node();
    case GradNodeKind::kAccumulate:
      return "torch::autograd::AccumulateGrad";
    case GradNodeKind::kCopySlices:
      return "torch::autograd::CopySlices";
    case GradNodeKind::kAsStrided:
      return "AsStridedBackward0";
    case GradNodeKind::kCheckpoint:
      return "CheckpointFunctionBackward";
    case GradNodeKind::kFunction:
      return functions_[nodes_[id].python]->name();
  }
  __builtin_unreachable();
}

Tensor Autograd::gradient(ValueId parameter) const {
  const ValueId id = object_of_[parameter];
  return id < gradients_.size() ? gradients_[id] : Tensor();
}

void Autograd::PutInto(const Tensor& whole, std::span<const Tensor> parts) {
  const StorageId storage = program_.values[whole.id()].storage;
  std::vector<bool> joined(program_.storage_count, false);
  for (const Tensor& part : parts) joined[program_.values[part.id()].storage] = true;
  for (Value& value : program_.values) {
    if (value.storage < joined.size() && joined[value.storage]) value.storage = storage;
  }
  // What stands first of a storage says how large it is.
  std::vector<ValueId>& inputs = program_.main().inputs;
  std::ranges::rotate(inputs, std::ranges::find(inputs, whole.id()));
}

void Autograd::OpenRecord(std::string_view name) {
  program_frame_ = static_cast<FrameId>(program_.frames.size());
  program_.frames.push_back({program_.AddOpName(name), 0});
}

Autograd::Record::Record(Autograd& autograd, OpId name)
    : dispatcher_(autograd.dispatcher_), before_(dispatcher_.frame_) {
  std::vector<Frame>& frames = autograd.program_.frames;
  dispatcher_.frame_ = static_cast<FrameId>(frames.size());
  frames.push_back({name, before_});
}

Autograd::Record::~Record() { dispatcher_.frame_ = before_; }

// Of a sparse one its parts are, unless they are the caller's ids.
void Autograd::MarkAsGradient(ValueId id) {
  if (!IsSparse(id)) {
    program_.values[id].role = Role::kGradient;
    return;
  }
  const SparseParts own = parts(id);
  for (const ValueId part : {own.indices, own.values}) {
    Role& role = program_.values[part].role;
    if (role == Role::kActivation) role = Role::kGradient;
  }
}

void Autograd::SetGradient(ValueId parameter, Tensor gradient) {
  const ValueId id = object_of_[parameter];
  if (id >= gradients_.size()) gradients_.resize(id + 1);
  if (program_.values[id].role == Role::kParameter) {
    MarkAsGradient(gradient.id());
    if (id >= program_.gradients.size()) program_.gradients.resize(id + 1, kNoId);
    program_.gradients[id] = gradient.id();
  }
  gradients_[id] = std::move(gradient);
}

void Autograd::ClearGradient(ValueId parameter) {
  const ValueId id = object_of_[parameter];
  if (id < gradients_.size()) gradients_[id].reset();
}

}  // namespace steelyard
