// SPDX-License-Identifier: Apache-2.0
//
// Decides which casts torch.autocast makes, in which order, and how long each lives (cached_cast
// and WrapFunction_ in aten/src/ATen/autocast_mode.{h,cpp}; torch/amp/autocast_mode.py).

#include "ops/dispatch/autocast.h"

#include <algorithm>
#include <utility>

#include "ir/visit_values.h"
#include "ops/dispatch/autograd.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard {
namespace {

// What keeps the casts of parameters, beside the nodes that save them.
constexpr std::string_view kKeeper = "torch.autocast";

}  // namespace

void Autocast::Enter(const AutocastMode& mode) { outer_.push_back(std::exchange(mode_, mode)); }

// PyTorch empties a hash table of addresses, in an order that differs between processes.
void Autocast::Leave() {
  mode_ = outer_.back();
  outer_.pop_back();
  if (!outer_.empty()) return;
  for (Kept& kept : kept_) kept.cast.reset();
  kept_.clear();
}

void Autocast::CastOperator(const OpDef& def, DType dtype) {
  overrides_.push_back({.def = &def, .dtype = dtype});
}

void Autocast::CastModule(ModuleId module, DType dtype) {
  overrides_.push_back({.module = module, .dtype = dtype});
}

Autocast::Casting Autocast::CastingOf(const OpDef& def) const {
  if (!mode_.enabled || excluded_) return {};
  const CastRule rule = def.precision->on(dispatcher_.target());
  for (const Override& override : overrides_) {
    const bool in_module =
        rule == CastRule::kLow && override.module == dispatcher_.context().module;
    if (override.def == &def || (override.def == nullptr && in_module)) {
      return {CastRule::kLow, override.dtype};
    }
  }
  return {rule, rule == CastRule::kLow ? mode_.low : DType::kFloat32};
}

bool Autocast::IsEligible(ValueId id) const {
  const DType dtype = dispatcher_.ViewOf(id).dtype();
  return IsFloating(dtype) && dtype != DType::kFloat64;
}

Tensor Autocast::CastTo(DType dtype, const Tensor& tensor) {
  if (!tensor.defined() || !IsEligible(tensor.id()) || tensor.dtype() == dtype) return tensor;
  const bool once = dtype == mode_.low && tensor.dtype() == DType::kFloat32 && mode_.caches &&
                    dispatcher_.IsLeaf(tensor.id());
  return once ? CastOnce(dtype, tensor) : dispatcher_.Call("aten::to.dtype", tensor, dtype);
}

// It has a history even where none is recorded: it may be asked for again where one is.
Tensor Autocast::CastOnce(DType dtype, const Tensor& leaf) {
  const StorageId storage = leaf.view().value().storage;
  const auto known = std::ranges::find(kept_, storage, &Kept::of);
  if (known != kept_.end()) return known->cast;
  const Dispatcher::GradMode on(dispatcher_, true);
  Tensor cast = dispatcher_.Call("aten::to.dtype", leaf, dtype);
  kept_.push_back({storage, cast});
  program_.saved.push_back({cast.id(), program_.strings.Intern(kKeeper)});
  return cast;
}

DType Autocast::WidestOf(std::span<const Argument> args) const {
  DType widest = mode_.low;
  for (const Argument& argument : args) {
    VisitValues(program_, argument, [&](ValueId id) {
      if (!IsEligible(id)) return;
      const DType dtype = dispatcher_.ViewOf(id).dtype();
      if (widest != DType::kFloat32 && dtype != DType::kFloat32 && dtype != mode_.low) {
        Refuse("autocast promotes float32 and its own dtype only, as in PyTorch");
      }
      if (dtype == DType::kFloat32) widest = dtype;
    });
  }
  return widest;
}

// --- Operands ------------------------------------------------------------------------------------

Autocast::Operands::Operands(Autocast& autocast, const OpDef& def, Casting casting,
                             std::span<const Argument> args)
    : autocast_(autocast), count_(args.size()), before_(std::exchange(autocast.excluded_, true)) {
  std::ranges::copy(args, arguments_.begin());
  switch (casting.rule) {
    case CastRule::kFollow:
      return;
    case CastRule::kRefused:
      Refuse("autocast refuses it, as it is not safe in a low precision",
             "PyTorch names the operator to use instead.");
    case CastRule::kFullResult: {
      const int place = def.signature->IndexOf("dtype");
      const bool open = place >= 0 && args[static_cast<std::size_t>(place)].kind == ArgKind::kNone;
      if (!open || args[0].kind != ArgKind::kValue || !autocast.IsEligible(args[0].value)) return;
      arguments_[static_cast<std::size_t>(place)] = Argument::OfDType(DType::kFloat32);
      return;
    }
    case CastRule::kLow:
    case CastRule::kFull:
    case CastRule::kPromote:
      break;
  }
  const DType dtype = casting.rule == CastRule::kPromote ? autocast.WidestOf(args) : casting.dtype;
  for (std::size_t i = count_; i-- > 0;) arguments_[i] = CastTo(dtype, args[i]);
}

Argument Autocast::Operands::CastTo(DType dtype, const Argument& argument) {
  Dispatcher& d = autocast_.dispatcher_;
  if (argument.kind == ArgKind::kValue) {
    std::vector<Tensor>& cast = casts_.emplace_back();
    cast.push_back(autocast_.CastTo(dtype, Tensor(&d, argument.value)));
    Argument out = argument;
    out.value = cast[0].id();
    return out;
  }
  if (argument.kind != ArgKind::kList) return argument;
  std::vector<Argument> elements;
  casts_.emplace_back();
  for (std::uint32_t i = 0; i < argument.list.count; ++i) {
    Argument element = autocast_.program_.list(argument.list)[i];
    if (element.kind == ArgKind::kValue) {
      Tensor cast = autocast_.CastTo(dtype, Tensor(&d, element.value));
      element.value = cast.id();
      casts_.back().push_back(std::move(cast));
    }
    elements.push_back(element);
  }
  return Argument::OfList(autocast_.program_.AddArguments(elements));
}

// The first operand's goes first, and of a list the first element's.
Autocast::Operands::~Operands() {
  while (!casts_.empty()) {
    for (Tensor& cast : casts_.back()) cast.reset();
    casts_.pop_back();
  }
  autocast_.excluded_ = before_;
}

// --- Dispatcher ----------------------------------------------------------------------------------

Autocast& Dispatcher::autocast() {
  if (autocast_ == nullptr) autocast_ = std::make_unique<Autocast>(*this, out_);
  return *autocast_;
}

AutocastMode Dispatcher::autocast_mode() const {
  return autocast_ == nullptr ? AutocastMode() : autocast_->mode();
}

bool Dispatcher::IsLeaf(ValueId id) const {
  if (autograd_ != nullptr) return autograd_->IsLeaf(id);
  return out_.values[id].requires_grad && out_.values[id].role == Role::kParameter;
}

std::vector<Tensor> Dispatcher::RecordCast(const OpDef& def, std::span<const Argument> args) {
  const Autocast::Operands operands(*autocast_, def, autocast_->CastingOf(def), args);
  if (def.is_kernel()) return Record(def, operands.arguments());
  const Inside again(*this, def);
  return Record(def, operands.arguments());
}

namespace ops {
namespace {

std::vector<Tensor> Enter(Dispatcher& d, const OpView& op) {
  d.autocast().Enter({.low = *op.dtype(0), .enabled = true, .caches = op.boolean(1)});
  return {};
}

std::vector<Tensor> Leave(Dispatcher& d, const OpView&) {
  const Dispatcher::AsProgram outside(d);
  d.autocast().Leave();
  return {};
}

std::vector<Tensor> CastOperator(Dispatcher& d, const OpView& op) {
  const OpDef* def = FindOp(OpName::FromRuntime(op.text(0)));
  if (def == nullptr) Contradict("there is no such operator");
  d.autocast().CastOperator(*def, *op.dtype(1));
  return {};
}

std::vector<Tensor> CastModules(Dispatcher& d, const OpView& op) {
  for (const std::int64_t module : op.integers(0)) {
    d.autocast().CastModule(static_cast<ModuleId>(module), *op.dtype(1));
  }
  return {};
}

// device, dtype, enabled, cache_enabled, body, operands
std::vector<Tensor> RunUnderAutocast(Dispatcher& d, const OpView& op) {
  const DType dtype =
      op.dtype(1).value_or(d.target().device == Device::kCpu ? DType::kBFloat16 : DType::kFloat16);
  d.autocast().Enter({.low = dtype, .enabled = op.boolean(2), .caches = op.boolean(3, true)});
  std::vector<Tensor> results = d.RunGraph(op.graph(4), d.tensors(op, 5));
  d.autocast().Leave();
  return results;
}

constexpr std::array kRows{
    Composite("steelyard::enter_autocast", "A region of torch.autocast begins.",
              "(ScalarType dtype, bool cache_enabled=True) -> ()", "", Family::kControl, Enter,
              precision::kFollow),
    Composite("steelyard::leave_autocast", "A region of torch.autocast ends.", "() -> ()", "",
              Family::kControl, Leave, precision::kFollow),
    Composite("steelyard::cast_operator", "Autocast casts operands of an operator to a dtype.",
              "(str operator, ScalarType dtype) -> ()", "", Family::kControl, CastOperator,
              precision::kFollow),
    Composite("steelyard::cast_modules",
              "Autocast casts in modules to a dtype where it casts to the low one elsewhere.",
              "(int[] modules, ScalarType dtype) -> ()", "", Family::kControl, CastModules,
              precision::kFollow),
    Composite("higher_order::wrap_with_autocast", "Runs a graph under torch.autocast.",
              "(str device, ScalarType? dtype, bool enabled, bool? cache_enabled, Graph body, "
              "Any... operands) -> Any[]",
              "", Family::kControl, RunUnderAutocast, precision::kFollow),
};

}  // namespace

std::span<const OpDef> AutocastRegions() { return kRows; }

}  // namespace ops
}  // namespace steelyard
