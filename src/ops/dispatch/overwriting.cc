// SPDX-License-Identifier: Apache-2.0
//
// Decides what autograd lets a call overwrite. Whether something was saved is seen in how many
// tensors there are on its storage, and references to them, when the call is about to run. A view
// may be overwritten where it is the only one of its base, which nothing else refers to: then
// PyTorch gives the base a new history; but not one of several views that an operator gave at once
// (VariableTypeUtils.h, check_inplace; variable.cpp, handle_view_on_rebase).

#include "ops/dispatch/overwriting.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/locals.h"

namespace steelyard {

const OpDef* InPlaceForm(const OpDef& def) {
  if (*def.alias != Alias::kNone || def.signature->params().empty()) return nullptr;
  // torchgen's rule: the same name with an underscore, the same overload.
  const std::string_view name = def.name->text();
  const std::size_t overload = std::min(name.find('.'), name.size());
  const OpDef* form = FindOp(
      OpName::FromRuntime(fmt::format("{}_{}", name.substr(0, overload), name.substr(overload))));
  if (form == nullptr || !form->overwrites()) return nullptr;
  const auto params = def.signature->params();
  const auto others = std::views::drop(1);
  // The first one is sometimes called "input".
  const bool same = std::ranges::equal(params | others, form->signature->params() | others, {},
                                       &Param::name, &Param::name);
  const auto is_tensor = [](const Param& param) { return param.type == ParamType::kTensor; };
  const bool unary = is_tensor(params[0]) && std::ranges::none_of(params | others, is_tensor);
  return same && unary ? form : nullptr;
}

bool Autograd::MayOverwrite(ValueId id) const {
  const Object& of = objects_[object_of_[id]];
  if (of.uses != 1) return false;
  if (of.base == kNoId) return tensors_on_storage(id) == 1;
  return of.origin == ViewOrigin::kAlone && uses(of.base) == 1 && tensors_on_storage(id) == 2;
}

// The variable must be the last reference, and die with the call.
void Dispatcher::CheckOverwriting(GraphId graph, std::size_t node, const Locals& locals) {
  if (overwriting_ == nullptr || !(*overwriting_)[graph][node]) return;
  const ValueId operand = source_.args(locals.graph->nodes[node])[0].value;
  const bool dies = std::ranges::count(locals.plan->DeathsAfter(node), operand) > 0;
  const ValueId id = locals.find(operand).id();
  if (!dies || id == kNoId || !autograd_->MayOverwrite(id)) {
    (*overwriting_)[graph][node] = false;
  }
}

Result<CallSet> FindOverwriting(const Program& program, const Target& target, CallSet calls) {
  Dispatcher dispatcher(program, target);
  dispatcher.CheckOverwriting(&calls);
  SY_RETURN_IF_ERROR(dispatcher.Run());
  return calls;
}

}  // namespace steelyard
