// SPDX-License-Identifier: Apache-2.0
//
// Decides where conjugates and changed signs, which PyTorch leaves to a bit of a view, are written
// out: before every operator that does not know of such bits (ATen/ConjugateFallback.cpp,
// native/NegateFallback.cpp, native/MathBitsFallback.h). It is given copies, which die with it;
// what it overwrites is copied, overwritten and copied back.

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/graph_plan.h"

namespace steelyard {
namespace {

// What knows of both bits besides views (native/MathBitFallThroughLists.h).
constexpr std::array<std::string_view, 8> kKnowing = {
    "aten::clone",         "aten::copy_",     "aten::detach_",    "aten::empty_like",
    "aten::empty_strided", "aten::full_like", "aten::transpose_", "aten::unsqueeze_",
};
// What computes with conjugates.
constexpr std::array<std::string_view, 6> kKnowingConjugates = {
    "aten::_conj_physical", "aten::addmm", "aten::baddbmm", "aten::bmm", "aten::dot", "aten::mm",
};
constexpr std::string_view kKnowingNegatives = "aten::neg_";

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The operators of a composite without a formula are asked one by one, and rows that stand for a
// part of an operator or for Python are called by what was asked already.
bool Passes(const OpDef& def) {
  const bool from_parts = !def.is_kernel() && def.grad->kind() == Gradient::Kind::kFromParts;
  const std::span<const Param> params = def.signature->params();
  const bool views =
      *def.alias == Alias::kView || (!params.empty() && params[0].aliased && !params[0].written);
  const std::string_view name = def.name->text();
  return from_parts || views || !name.starts_with("aten::") || IsOneOf(name, kKnowing);
}

}  // namespace

bool Dispatcher::NeedsResolving(const OpDef& def, std::span<const Argument> args) const {
  if (!has_lazy_ || Passes(def)) return false;
  bool conjugated = false, negated = false;
  for (const Argument& argument : args) {
    VisitValues(out_, argument, [&](ValueId id) {
      conjugated |= out_.values[id].conjugated;
      negated |= out_.values[id].negated;
    });
  }
  const std::string_view name = def.name->text();
  return (conjugated && !IsOneOf(name, kKnowingConjugates)) ||
         (negated && name != kKnowingNegatives);
}

std::vector<Tensor> Dispatcher::RunResolved(const OpDef& def, std::span<const Argument> args) {
  std::vector<Tensor> copies;
  const auto resolve = [&](const Argument& argument) {
    if (argument.kind != ArgKind::kValue) return argument;
    const Value& value = out_.values[argument.value];
    if (!value.conjugated && !value.negated) return argument;
    copies.push_back(Call("aten::clone", Tensor(this, argument.value)));
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
