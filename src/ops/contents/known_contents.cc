// SPDX-License-Identifier: Apache-2.0
//
// A storage has a version for each write to it, and what is known of a value counts as long as its
// version is the storage's. Every layer makes the same mask, so results of large operands are
// looked up by what they are computed from. Where a pointwise operator knows its result without an
// operand that nothing else reads, that much of the operand is unread, and so on back.

#include "ops/contents/known_contents.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace steelyard {
namespace {

// Of all that is known of a program together.
constexpr std::size_t kMostRunsInAll = std::size_t{1} << 22;
// Results at least as large are looked up before they are computed again.
constexpr std::size_t kWorthLookingUp = 16;

bool IsZero(double x) { return x == 0; }
bool Hides(double x) { return x <= kHides; }

// Whether an element of an operand that does not matter at its place matters nowhere. A softmax
// and its gradient count: the one gives nothing for what is hidden, the other is a product with it.
bool IsPointwise(const OpDef& def) {
  return *def.fusion == Fusion::kElementwise || *def.fusion == Fusion::kBroadcast ||
         (*def.family == Family::kNormalization && def.contents != nullptr);
}

template <class Visit>
void EachTensor(const Program& program, const Node& node, const Visit& visit) {
  const auto see = [&](const Argument& a) {
    if (a.kind == ArgKind::kValue && program.values[a.value].kind == ValueKind::kTensor) {
      visit(a.value);
    }
  };
  for (const Argument& argument : program.args(node)) {
    if (argument.kind == ArgKind::kList) {
      for (const Argument& element : program.list(argument.list)) see(element);
    } else {
      see(argument);
    }
  }
}

ValueId FirstResult(const Program& program, const Node& node) {
  const auto results = program.results(node);
  return results.empty() ? kNoId : results[0];
}

}  // namespace

KnownContents::KnownContents(const Program& kernels, std::span<const OpDef* const> rows)
    : program_(kernels),
      rows_(rows),
      held_(kernels.values.size()),
      current_(kernels.storage_count, kNoId),
      steps_(kernels.main().nodes.size()) {}

const KnownContents::Held* KnownContents::HeldBy(ValueId value) const {
  const Held& held = held_[value];
  const StorageId storage = program_.values[value].storage;
  if (storage == kNoId || held.version != current_[storage]) return nullptr;
  return held.version == kNoId ? nullptr : &held;
}

const Contents* KnownContents::of(ValueId value) const {
  const Held* held = HeldBy(value);
  return held == nullptr || held->entry == kNoId ? nullptr : &entries_[held->entry].contents;
}

std::int64_t KnownContents::zeros(const TensorView& tensor) const {
  const Held* held = tensor.defined() ? HeldBy(tensor.id()) : nullptr;
  if (held == nullptr) return 0;
  if (held->entry == kNoId) return held->zeros;
  const Entry& entry = entries_[held->entry];
  return entry.contents.InAll(entry.zeros, tensor.sizes());
}

std::int64_t KnownContents::hidden(const TensorView& tensor) const {
  const Held* held = tensor.defined() ? HeldBy(tensor.id()) : nullptr;
  if (held == nullptr || held->entry == kNoId) return 0;
  const Entry& entry = entries_[held->entry];
  return entry.contents.InAll(entry.hidden, tensor.sizes());
}

std::int64_t KnownContents::unread(NodeId node) const {
  const std::uint32_t version = steps_[node].version;
  return version == kNoId || versions_[version].reads != 1 ? 0 : versions_[version].unread;
}

std::uint32_t KnownContents::Add(Contents contents) {
  if (contents.empty() || runs_ + contents.run_count() > kMostRunsInAll) return kNoId;
  runs_ += contents.run_count();
  const std::int64_t zeros = contents.Kept(IsZero), hidden = contents.Kept(Hides);
  entries_.push_back({std::move(contents), zeros, hidden});
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::uint32_t KnownContents::Write(StorageId storage, std::int64_t elements) {
  versions_.push_back({.elements = elements});
  return current_[storage] = static_cast<std::uint32_t>(versions_.size() - 1);
}

// A factory always, anything else where something is known of an operand.
bool KnownContents::MayKnow(const Node& node, const OpDef& def) const {
  if (def.contents == nullptr || node.refusal != kNoString) return false;
  if (*def.family == Family::kFactory) return true;
  bool some = false;
  EachTensor(program_, node, [&](ValueId value) { some |= of(value) != nullptr; });
  return some;
}

// What an argument adds to what a result is computed from: it tells any two apart.
void KnownContents::AddToKey(const Argument& a, std::vector<std::int64_t>& key) const {
  key.push_back(static_cast<std::int64_t>(a.kind));
  switch (a.kind) {
    case ArgKind::kNone:
      return;
    case ArgKind::kInt:
    case ArgKind::kBool:
      return key.push_back(a.dim.raw());
    case ArgKind::kFloat:
      return key.push_back(std::bit_cast<std::int64_t>(a.real));
    case ArgKind::kString:
      return key.push_back(a.text);
    case ArgKind::kDType:
      return key.push_back(static_cast<std::int64_t>(a.dtype));
    case ArgKind::kGraph:
      return key.push_back(a.graph);
    case ArgKind::kList:
    case ArgKind::kComplex:
      key.push_back(a.list.count);
      for (const Argument& element : program_.list(a.list)) AddToKey(element, key);
      return;
    case ArgKind::kValue:
      break;
  }
  key.push_back(program_.values[a.value].rank);
  for (const std::int64_t size : program_.sizes(a.value)) key.push_back(size);
  const Contents* contents = of(a.value);
  const std::optional<double> number = contents == nullptr ? std::nullopt : contents->uniform();
  key.push_back(contents == nullptr ? 0 : number ? 1 : 2);
  if (number) key.push_back(std::bit_cast<std::int64_t>(*number));
  if (contents != nullptr && !number) key.push_back(HeldBy(a.value)->entry);
}

std::uint32_t KnownContents::Compute(const Node& node, const OpDef& def) {
  const DType dtype = program_.values[FirstResult(program_, node)].dtype;
  std::size_t largest = 0;
  EachTensor(program_, node, [&](ValueId value) {
    if (const Contents* contents = of(value)) largest = std::max(largest, contents->run_count());
  });
  const OpView view(program_, def, program_.args(node), program_.results(node),
                    OpView::kDefaultTarget, this);
  if (largest < kWorthLookingUp) return Add(def.contents(view).As(dtype));
  std::vector<std::int64_t> key{static_cast<std::int64_t>(node.op),
                                static_cast<std::int64_t>(dtype)};
  for (const Argument& argument : program_.args(node)) AddToKey(argument, key);
  const auto [found, is_new] = computed_.try_emplace(std::move(key), kNoId);
  if (is_new) found->second = Add(def.contents(view).As(dtype));
  return found->second;
}

// Counts what the node reads. Views read nothing by themselves.
void KnownContents::Read(const Node& node, Step& step, bool pointwise, std::int64_t count) {
  EachTensor(program_, node, [&](ValueId value) {
    const StorageId storage = program_.values[value].storage;
    if (storage == kNoId || current_[storage] == kNoId) return;
    Version& version = versions_[current_[storage]];
    ++version.reads;
    if (!pointwise || version.elements != count) return;
    if (TensorView(program_, value).count() != count) return;
    (step.first == kNoId ? step.first : step.second) = current_[storage];
  });
}

// What a pointwise operator knows of its result although it knows nothing of an operand: there the
// operand does not matter.
void KnownContents::Ignore(const OpDef& def, const Node& node, const Step& step) {
  const ValueId result = FirstResult(program_, node);
  if (result == kNoId || def.contents == nullptr) return;
  const Held* held = HeldBy(result);
  if (held == nullptr || held->entry == kNoId) return;
  const Contents& contents = entries_[held->entry].contents;
  const std::int64_t known =
      contents.InAll(contents.Kept([](double) { return true; }), program_.sizes(result));
  for (const std::uint32_t version : {step.first, step.second}) {
    if (version == kNoId || known <= 0) continue;
    versions_[version].unread = known;
    anything_unread_ = true;
  }
}

// What the node overwrites is no longer what it was; without a row, that may be all it is given.
void KnownContents::Overwrite(const Node& node, const OpDef* def) {
  const auto write = [&](const Argument& a) {
    if (a.kind != ArgKind::kValue) return;
    const StorageId storage = program_.values[a.value].storage;
    if (storage != kNoId) Write(storage, 0);
  };
  const auto args = program_.args(node);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (def != nullptr &&
        (i >= def->signature->params().size() || !def->signature->params()[i].written)) {
      continue;
    }
    if (args[i].kind == ArgKind::kList) {
      std::ranges::for_each(program_.list(args[i].list), write);
    } else {
      write(args[i]);
    }
  }
}

// A view of what is known, or of as many zeros in another order.
void KnownContents::Look(const Node& node, std::uint32_t entry) {
  const Argument& base = program_.args(node)[0];
  std::int64_t zeros = 0;
  if (entry == kNoId && base.kind == ArgKind::kValue) zeros = this->zeros({program_, base.value});
  for (const ValueId value : program_.results(node)) {
    const StorageId storage = value == kNoId ? kNoId : program_.values[value].storage;
    if (storage == kNoId) continue;
    const bool whole = zeros != 0 && TensorView(program_, base.value).count() ==
                                         TensorView(program_, value).count();
    held_[value] = {.entry = entry, .version = current_[storage], .zeros = whole ? zeros : 0};
    entry = kNoId;  // of the first result
  }
}

void KnownContents::Run(NodeId id) {
  const Node& node = program_.main().nodes[id];
  const OpDef* def = rows_[node.op];
  // Nothing is masked once the gradients are there.
  if (program_.is_drop(node) || node.phase == Phase::kOptimizer) return;
  Step& step = steps_[id];
  const ValueId result = FirstResult(program_, node);
  const bool gives_tensor =
      result != kNoId && program_.values[result].kind == ValueKind::kTensor && def != nullptr;
  if (gives_tensor && *def->alias == Alias::kView) {
    return Look(node, MayKnow(node, *def) ? Compute(node, *def) : kNoId);
  }
  const std::uint32_t entry = gives_tensor && MayKnow(node, *def) ? Compute(node, *def) : kNoId;
  const std::int64_t count = gives_tensor ? TensorView(program_, result).count() : 0;
  Read(node, step, gives_tensor && IsPointwise(*def), count);
  Overwrite(node, def);
  if (def == nullptr) return;
  for (const ValueId value : program_.results(node)) {
    if (value == kNoId || program_.values[value].storage == kNoId) continue;
    const TensorView out(program_, value);
    held_[value] = {.version = Write(out.value().storage, out.count())};
  }
  if (!gives_tensor || program_.values[result].storage == kNoId) return;
  held_[result].entry = entry;
  step.version = current_[program_.values[result].storage];
  const Argument* self = *def->alias == Alias::kInPlace ? program_.args(node).data() : nullptr;
  if (self != nullptr && self->kind == ArgKind::kValue &&
      TensorView(program_, self->value).count() == count) {
    held_[self->value] = held_[result];  // under its earlier name
    held_[self->value].version = current_[program_.values[result].storage];
  }
  Ignore(*def, node, step);
}

void KnownContents::LookBack() {
  if (!anything_unread_) return;
  for (const Argument& output : program_.main().outputs) {  // which the caller reads
    const Held* held = output.kind == ArgKind::kValue ? HeldBy(output.value) : nullptr;
    if (held != nullptr) ++versions_[held->version].reads;
  }
  const std::vector<Node>& nodes = program_.main().nodes;
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const std::int64_t count = unread(static_cast<NodeId>(i));
    const OpDef* def = rows_[nodes[i].op];
    if (count == 0 || def == nullptr || !IsPointwise(*def)) continue;
    for (const std::uint32_t version : {steps_[i].first, steps_[i].second}) {
      if (version != kNoId) versions_[version].unread = std::max(versions_[version].unread, count);
    }
  }
}

}  // namespace steelyard
