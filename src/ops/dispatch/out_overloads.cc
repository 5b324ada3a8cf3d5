// SPDX-License-Identifier: Apache-2.0
//
// Overloads whose results are written into tensors that they are given ("aten::add.out"). None has
// a row: what it computes is what another overload of its operator computes, the one that takes the
// same arguments without those tensors. Here that one runs, and what it gives is laid into them: a
// kernel that makes its result writes it there and makes none. Sizes that differ are taken over, as
// by at::native::resize_output; a dtype that differs is copied into. What has no kernel for it in
// PyTorch, where torchgen writes one, computes its result apart and copies it.

#include "ops/dispatch/out_overloads.h"

#include <algorithm>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/bind_arguments.h"

namespace steelyard {
namespace {

constexpr std::string_view kOut = "_out", kPlainOut = ".out", kOutOf = ".Out";

// What the other overloads of the operator are called: "aten::add" of "aten::add.out",
// "ns::gather" of "ns::gather_out".
std::string_view OperatorOf(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) return name.substr(0, dot);
  if (name.ends_with(kOut)) name.remove_suffix(kOut.size());
  return name;
}

// Rows of an operator that make their results, those that are named like the overload first:
// "sum.IntList" of "sum.IntList_out", "xlogy.Scalar_Self" of "xlogy.OutScalar_Self", "sub.Tensor"
// of "sub.out".
std::vector<const OpDef*> OverloadsOf(std::string_view name) {
  std::vector<const OpDef*> out;
  for (const OpDef* def : AllOps()) {
    if (def->label() == OperatorOf(name) && !def->overwrites()) out.push_back(def);
  }
  const auto named_alike = [&](const OpDef* def) {
    const std::string_view row = def->name->text();
    const std::size_t dot = row.rfind('.');
    const std::string_view overload = dot == std::string_view::npos ? "" : row.substr(dot + 1);
    if (name.ends_with(kOut)) return name.substr(0, name.size() - kOut.size()) == row;
    if (name.ends_with(kPlainOut)) return overload.empty() || overload == "Tensor";
    const std::size_t prefixed = name.find(kOutOf);
    return prefixed != std::string_view::npos && name.substr(prefixed + kOutOf.size()) == overload;
  };
  std::ranges::stable_partition(out, named_alike);
  return out;
}

bool IsTensor(const Program& program, const Argument& argument) {
  return argument.kind == ArgKind::kValue &&
         program.values[argument.value].kind == ValueKind::kTensor;
}

std::optional<OutCall> Match(Program& program, const OpDef& def, std::span<const Argument> given) {
  OutCall call{.def = &def, .bound = {}, .places = {}};
  std::vector<Argument> rest;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view name = program.text(given[i].name);
    if (!name.empty() && IsTensor(program, given[i]) && def.signature->IndexOf(name) < 0) {
      call.places.push_back(i);
    } else {
      rest.push_back(given[i]);
    }
  }
  const bool all = static_cast<int>(call.places.size()) == def.signature->returns();
  if (call.places.empty() || !all) return std::nullopt;
  try {
    BindArguments(program, def, rest, call.bound);
  } catch (const RuleError&) {
    return std::nullopt;
  }
  return call;
}

// The row of the kernel that made the value; nullptr where none did.
const OpDef* MakerOf(const Program& program, ValueId value) {
  for (std::size_t i = program.main().nodes.size(); i-- > 0;) {
    const Node& node = program.main().nodes[i];
    if (std::ranges::find(program.results(node), value) == program.results(node).end()) continue;
    return FindOp(OpName::FromRuntime(program.op_name(node.op)));
  }
  return nullptr;
}

// Whether that kernel writes element by element, in whatever order they lie.
bool IsWrittenOneByOne(const Program& program, ValueId value) {
  const OpDef* def = MakerOf(program, value);
  return def != nullptr &&
         (*def->fusion == Fusion::kElementwise || *def->fusion == Fusion::kBroadcast);
}

}  // namespace

std::optional<OutCall> FindOutCall(Program& program, std::string_view name,
                                   std::span<const Argument> given) {
  const auto may_be_out = [&](const Argument& argument) {
    return argument.name != kNoString && IsTensor(program, argument);
  };
  if (std::ranges::none_of(given, may_be_out)) return std::nullopt;
  for (const OpDef* def : OverloadsOf(name)) {
    if (std::optional<OutCall> call = Match(program, *def, given)) return call;
  }
  return std::nullopt;
}

const OpDef* CopierOf(const Program& program, const OpDef* called, const Tensor& result) {
  if (called->out_overload == OutOverload::kCopies || !result.defined()) return called;
  const OpDef* maker = MakerOf(program, result.id());
  // Those of torch.fft copy wherever they are called with a tensor for the result.
  return maker != nullptr && *maker->family == Family::kTransform ? maker : called;
}

Tensor PutInto(Dispatcher& d, Program& program, Autograd* autograd, const Tensor& out,
               Tensor result, const Before& before) {
  if (!result.defined()) return result;
  const bool same_sizes = std::ranges::equal(out.sizes(), result.sizes());
  const bool same_strides = std::ranges::equal(out.strides(), result.strides());
  const StorageId room = out.view().value().storage, own = result.view().value().storage;
  const bool fresh = own >= before.storages;
  const bool fits = same_sizes && (same_strides || IsWrittenOneByOne(program, result.id()));
  if (out.dtype() == result.dtype() && fresh && fits) {
    for (Value& value : std::span(program.values).subspan(before.values)) {
      if (value.storage == own) value.storage = room;
    }
    if (autograd != nullptr) autograd->MoveStorage(own, room);
    return d.Call("steelyard::put", out, result);
  }
  return same_sizes ? d.Call("aten::copy_", out, result) : result;
}

}  // namespace steelyard
