// SPDX-License-Identifier: Apache-2.0
//
// Decides where conjugates and changed signs, which PyTorch leaves to a bit of a view, are written
// out: before every operator that does not know of such bits (ATen/ConjugateFallback.cpp,
// native/NegateFallback.cpp, native/MathBitsFallback.h). It is given copies, which die with it;
// what it overwrites is copied, overwritten and copied back. Zeros that are not stored are stored
// likewise (ATen/ZeroTensorFallback.cpp), but for sums and products (native/BinaryOps.cpp). Sparse
// tensors have kernels of their own, of which those of sums are modelled. What DTensors hold in
// another placement than the tensors beside them is moved there (torch/distributed/tensor).

#include "ops/dispatch/resolving.h"

#include <fmt/core.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/visit_values.h"
#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/sparse.h"
#include "ops/parallel/redistribute.h"

namespace steelyard {
namespace {

bool HasSparse(const Program& program, const Autograd& autograd, const Argument& argument) {
  bool any = false;
  VisitValues(program, argument, [&](ValueId id) { any |= autograd.IsSparse(id); });
  return any;
}

// Shape and dtype of the result are found with operands moved to the device "meta", for which the
// zeros are stored as one number.
void MoveToMeta(Dispatcher& d, const Argument& zeros) {
  const Dispatcher::Inside frame(d, "aten::_to_copy");
  d.Call("aten::zeros", Dims(), d.program().values[zeros.value].dtype);
}

// The sum of a tensor and zeros that are not stored is a copy of it; a product or quotient of such
// zeros is such zeros. Nothing of other operators, and of other operands.
Tensor OnZeros(Dispatcher& d, const OpDef& def, std::span<const Argument> args) {
  const std::string_view name = def.name->text();
  const bool adds = name == "aten::add.Tensor" || name == "aten::sub.Tensor";
  const bool divides = name == "aten::div.Tensor";
  if (!adds && !divides && name != "aten::mul.Tensor") return {};
  const auto is_zero = [&](const Argument& argument) {
    return argument.kind == ArgKind::kValue && d.autograd().HasNoMemory(argument.value);
  };
  const bool first = is_zero(args[0]), second = is_zero(args[1]);
  if ((!first && !second) || (divides && second)) return {};
  for (const Argument& argument : args.first(2)) {
    if (is_zero(argument)) MoveToMeta(d, argument);
  }
  Outputs outputs;
  (*def.shape)(OpView(d.program(), def, args, {}, d.target()), outputs);
  const Outputs::Meta& meta = outputs.metas()[0];
  if (!adds || (first && second)) return d.autograd().ZerosWithoutMemory(meta.sizes, meta.dtype);
  const Tensor other(&d, args[first ? 1 : 0].value);
  const Tensor whole = d.Call("aten::expand", other, meta.sizes);
  const bool negated = first && name == "aten::sub.Tensor";
  return negated ? d.Call("aten::neg", whole) : d.Call("aten::_to_copy", whole, meta.dtype);
}

// The operators that know sparse tensors, which only gradients are. Nothing of other operands.
std::optional<std::vector<Tensor>> OnSparse(Dispatcher& d, const OpDef& def,
                                            std::span<const Argument> args) {
  bool any = false;
  for (const Argument& argument : args) any |= HasSparse(d.program(), d.autograd(), argument);
  if (!any) return std::nullopt;
  const std::string_view name = def.name->text();
  const bool in_place = name == "aten::add_.Tensor";
  if (!in_place && name != "aten::add.Tensor") {
    Refuse(fmt::format("{} of a sparse gradient is not modelled", def.label()),
           "With sparse=False it is dense: as large as the parameter.");
  }
  const Tensor self(&d, args[0].value), other(&d, args[1].value);
  if (!in_place) return std::vector<Tensor>{gradients::SumOfSparse(d, self, other)};
  gradients::AddSparse(d, self, other, args[2]);
  return std::vector<Tensor>{self};
}

// A tensor where the others are; or of another one, its share in a sum.
Tensor Beside(Dispatcher& d, const Tensor& tensor, const ops::Way& way, bool lies) {
  if (lies) return ops::Moved(d, tensor, way);
  const Dispatcher::FromPython python(d);
  return d.Call("aten::div.Tensor", tensor, way.group.ranks);
}

}  // namespace

// Rows that stand for a part of an operator or for Python are called by what was asked already.
MathBits BitsTakenBy(const OpDef& def) {
  const bool from_parts = !def.is_kernel() && def.grad->kind() == Gradient::Kind::kFromParts;
  const auto params = def.signature->params();
  const bool views =
      *def.alias == Alias::kView || (!params.empty() && params[0].aliased && !params[0].written);
  const bool passes = from_parts || views || !def.name->text().starts_with("aten::");
  return passes ? MathBits::kBoth : def.math_bits;
}

bool Dispatcher::NeedsResolving(const OpDef& def, std::span<const Argument> args) const {
  if (!has_lazy_) return false;
  // Parts of operators are given parts of sparse tensors, and optimizers ask for themselves.
  if (autograd_ != nullptr && def.name->text().starts_with("aten::")) {
    for (const Argument& argument : args) {
      if (HasSparse(out_, *autograd_, argument)) return true;
    }
  }
  if (HasPlaced(args)) return true;
  const MathBits taken = BitsTakenBy(def);
  if (taken == MathBits::kBoth) return false;
  bool conjugated = false, negated = false, not_stored = false;
  for (const Argument& argument : args) {
    VisitValues(out_, argument, [&](ValueId id) {
      conjugated |= out_.values[id].conjugated;
      negated |= out_.values[id].negated;
      not_stored |= autograd_ != nullptr && autograd_->HasNoMemory(id);
    });
  }
  return not_stored || (conjugated && taken != MathBits::kConjugate) ||
         (negated && taken != MathBits::kNegative);
}

bool Dispatcher::HasPlaced(std::span<const Argument> args) const {
  if (autograd_ == nullptr) return false;
  bool any = false;
  for (const Argument& argument : args) {
    VisitValues(out_, argument, [&](ValueId id) { any |= autograd_->WayOf(id) != nullptr; });
  }
  return any;
}

// What is made of such tensors alone lies as they do; beside others, each is moved for itself, but
// for a sum to which something is added.
std::vector<Tensor> Dispatcher::RunPlaced(const OpDef& def, std::span<const Argument> args) {
  const auto run = [&](std::span<const Argument> operands) {
    return def.is_kernel() ? EmitKernel(def, operands) : RunParts(def, operands);
  };
  ops::Way way;
  bool alone = true;
  for (const Argument& argument : args) {
    VisitValues(out_, argument, [&](ValueId id) {
      const ops::Way* known = autograd_->WayOf(id);
      if (known != nullptr) way = *known;
      alone = alone && (known != nullptr || out_.sizes(id).empty());
    });
  }
  if (alone) {
    std::vector<Tensor> results = run(args);
    for (const Tensor& result : results) autograd_->SetWay(result.id(), way);
    return results;
  }
  const bool is_first = args[0].kind == ArgKind::kValue && autograd_->WayOf(args[0].value);
  if (is_first && def.name->text() != "aten::add.Tensor") {
    Refuse(fmt::format("{} of a gradient that lies on the processes in another way than its "
                       "parameter is not modelled",
                       def.label()),
           "AdamW and SGD take it.");
  }
  const Inside record(*this, ops::kSubclass);
  const bool shares = is_first && way.from == ops::kPartial;
  std::vector<Argument> moved(args.begin(), args.end());
  std::vector<Tensor> copies;
  for (Argument& argument : moved) {
    if (argument.kind != ArgKind::kValue || out_.sizes(argument.value).empty()) continue;
    const bool lies = autograd_->WayOf(argument.value) != nullptr;
    if (lies == shares) continue;
    copies.push_back(Beside(*this, Tensor(this, argument.value), way, lies));
    argument.value = copies.back().id();
  }
  std::vector<Tensor> results = run(moved);
  for (const Tensor& result : results) {
    if (shares) autograd_->SetWay(result.id(), way);
  }
  return results;
}

std::vector<Tensor> Dispatcher::RunResolved(const OpDef& def, std::span<const Argument> args) {
  if (HasPlaced(args)) return RunPlaced(def, args);
  if (autograd_ != nullptr) {
    if (auto results = OnSparse(*this, def, args)) return std::move(*results);
    if (Tensor result = OnZeros(*this, def, args); result.defined()) return {std::move(result)};
  }
  return RunOnCopies(def, args);
}

std::vector<Tensor> Dispatcher::RunOnCopies(const OpDef& def, std::span<const Argument> args) {
  const auto is_zero = [&](ValueId id) {
    return autograd_ != nullptr && autograd_->HasNoMemory(id);
  };
  if (def.overwrites() && args[0].kind == ArgKind::kValue && is_zero(args[0].value)) {
    Refuse("PyTorch cannot overwrite a gradient that is zero everywhere and has no memory",
           "It is that of aten::sgn. A step without --accumulate overwrites none.");
  }
  std::vector<Tensor> copies;
  const auto resolve = [&](const Argument& argument) {
    if (argument.kind != ArgKind::kValue) return argument;
    const Value& value = out_.values[argument.value];
    const bool not_stored = is_zero(argument.value);
    if (!value.conjugated && !value.negated && !not_stored) return argument;
    if (not_stored) {
      const Dims sizes(out_.sizes(argument.value));
      const Tensor zero = Call("aten::zeros", Dims(), value.dtype);
      copies.push_back(Call("aten::expand", zero, sizes));
    } else {
      copies.push_back(Call("aten::clone", Tensor(this, argument.value)));
    }
    Argument resolved = Argument::OfValue(copies.back().id());
    resolved.name = argument.name;
    return resolved;
  };
  std::vector<Argument> resolved;
  for (const Argument& argument : args) {
    resolved.push_back(argument.kind == ArgKind::kList ? argument : resolve(argument));
    if (argument.kind != ArgKind::kList) continue;
    std::vector<Argument> elements;
    for (std::uint32_t i = 0; i < argument.list.count; ++i) {
      const Argument element = out_.list(argument.list)[i];
      elements.push_back(resolve(element));
    }
    resolved.back().list = out_.AddArguments(elements);
  }
  const bool copied_back =
      def.overwrites() && args[0].kind == ArgKind::kValue && resolved[0].value != args[0].value;
  Tensor overwritten;
  if (copied_back) overwritten = std::move(copies.front());
  std::vector<Tensor> results = RunBody(def, resolved);
  copies.clear();
  if (copied_back) {
    results[0] = Call("aten::copy_", Tensor(this, args[0].value), results[0]);
  }
  return results;
}

}  // namespace steelyard
