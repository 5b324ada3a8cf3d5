// SPDX-License-Identifier: Apache-2.0
//
// Views, and what overwrites them: a view keeps its base, an operator that overwrites it becomes a
// part of the base's history, and what is read through another view afterwards is derived from the
// base anew (torch/csrc/autograd/variable.cpp, functions/tensor.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/rules/shape.h"

namespace steelyard {

void Autograd::SetBase(ValueId view, ValueId base, bool several) {
  const ValueId root = object(base).base == kNoId ? base : object(base).base;
  FollowPath(view, base);
  object(view).base = root;
  object(view).version = VersionOf(RootOf(view)).count;
  object(view).origin = object(base).origin;
  if (object(view).origin == ViewOrigin::kAlone) {
    if (several) object(view).origin = ViewOrigin::kOneOfSeveral;
    if (!dispatcher_.grad_enabled()) object(view).origin = ViewOrigin::kWithoutGrad;
  }
  dispatcher_.Retain(root);
}

void Autograd::LeaveBase(ValueId view) {
  if (object(view).base == kNoId) return;
  object(view).root = RootOf(view);
  dispatcher_.Release(std::exchange(object(view).base, kNoId));
}

// In place on a parameter, or on an input of a region that runs again (check_inplace in
// torch/csrc/autograd/VariableTypeUtils.h).
void Autograd::RequireNoLeaf(ValueId overwritten) const {
  ValueId root = object_of_[overwritten];
  while (objects_[root].base != kNoId) root = object_of_[objects_[root].base];
  if (!IsLeaf(root)) return;
  Refuse(
      fmt::format("{} requires a gradient, and nothing has computed it: it cannot be overwritten",
                  shape::Text({program_, root})),
      "PyTorch refuses the step, too: \"a leaf Variable that requires grad is being used in an "
      "in-place operation\".");
}

// `what`: "is being", "its base or another view of its base has been".
void Autograd::RequireMayRebase(ValueId view, std::string_view what) const {
  const ViewOrigin origin = objects_[object_of_[view]].origin;
  if (origin == ViewOrigin::kAlone) return;
  const bool several = origin == ViewOrigin::kOneOfSeveral;
  Refuse(fmt::format("{} is {}, and autograd cannot follow what overwrites its elements",
                     shape::Text({program_, view}),
                     several ? "one of several views that an operator gave at once"
                             : "a view that was made without gradients"),
         fmt::format(
             "PyTorch refuses the step, too: \"{} {} modified inplace\".",
             several ? "Output 0 of ... is a view and" : "A view was created in no_grad mode and",
             what));
}

// A tensor that was overwritten gets a new history. For a view it is the base that does, and the
// view is derived from the base anew.
void Autograd::Rebase(GradNodeId id, ValueId view) {
  const ValueId base = object(view).base;
  if (base == kNoId) return SetHistoryOverwritten(id, view);
  GradNode slices{.kind = GradNodeKind::kCopySlices,
                  .sequence = next_sequence_++,
                  .variable = base,
                  .view = view,
                  .from = PlaceInBase(view),
                  .function = id,
                  .context = nodes_[id].context};
  std::vector<Edge> edges{EdgeOf(base)};
  for (std::uint32_t i = 1; i < nodes_[id].edges; ++i) {
    edges.push_back(edges_[nodes_[id].first_edge + i]);
  }
  edges.resize(nodes_[id].edges);
  SetEdges(slices, edges);
  ++nodes_[id].references;
  SetHistoryOverwritten(AddNode(slices), base);
  Refresh(view);
}

// A view whose elements were overwritten through its base, or another view of that, gets a history
// anew when it is next asked for: it is derived from what the base is by then (grad_fn() in
// torch/csrc/autograd/variable.cpp).
void Autograd::Refresh(ValueId view) {
  const ValueId base = object(view).base;
  if (base == kNoId) return;
  const std::uint32_t version = VersionOf(RootOf(view)).count;
  if (object(view).version == version) return;
  const bool wanted = program_.values[object_of_[base]].requires_grad;
  if (object(view).node == kNoId && !wanted) return;
  RequireMayRebase(view, "its base or another view of its base has been");
  object(view).version = version;
  if (const auto path = paths_.find(object_of_[view]); path != paths_.end()) {
    const std::vector<ValueId> steps = path->second;
    return Replay(view, steps);
  }
  GradNode strided{.kind = GradNodeKind::kAsStrided,
                   .sequence = next_sequence_++,
                   .variable = base,
                   .view = view,
                   .from = PlaceInBase(view),
                   .context = dispatcher_.context()};
  const Edge anew = EdgeOf(base);
  SetEdges(strided, {&anew, 1});
  SetHistory(AddNode(strided), view, 0);
}

// Whether the elements of a view are elements of its base, as a strided view's are.
bool Autograd::ReadsAlike(ValueId view, ValueId base) const {
  const Value &a = program_.values[view], &b = program_.values[base];
  return IsComplex(a.dtype) == IsComplex(b.dtype) && a.conjugated == b.conjugated &&
         a.negated == b.negated;
}

// ViewInfo::chain in torch/csrc/autograd/variable.cpp.
void Autograd::FollowPath(ValueId view, ValueId base) {
  const auto before = paths_.find(object_of_[base]);
  if (before == paths_.end() && ReadsAlike(view, base)) return;
  std::vector<ValueId> path;
  if (before != paths_.end()) {
    path = before->second;
  } else if (object(base).base != kNoId) {
    path.push_back(base);
  }
  path.push_back(view);
  paths_[object_of_[view]] = std::move(path);
}

// Such a view is made of its base once more, each step as it was made or by its strides.
void Autograd::Replay(ValueId view, std::span<const ValueId> path) {
  const bool recording = std::exchange(dispatcher_.recording_, false);
  ValueId before = object(view).base;
  Tensor anew(&dispatcher_, before);
  for (const ValueId step : path) {
    const Value value = program_.values[step], last = program_.values[before];
    if (IsComplex(value.dtype) != IsComplex(last.dtype)) {
      anew = IsComplex(last.dtype) ? dispatcher_.Call("aten::view_as_real", anew)
                                   : dispatcher_.Call("aten::view_as_complex", anew);
    } else if (value.conjugated != last.conjugated) {
      anew = dispatcher_.Call("aten::_conj", anew);
    } else if (value.negated != last.negated) {
      anew = dispatcher_.Call("aten::_neg_view", anew);
    } else {
      const std::int64_t width = std::max(BitsOf(value.dtype) / 8, 1);
      anew = dispatcher_.Call("aten::as_strided", anew, Dims(program_.sizes(step)),
                              Dims(program_.strides(step)), dispatcher_.PlaceOf(step) / width);
    }
    before = step;
  }
  dispatcher_.recording_ = recording;
  if (object(anew.id()).node != kNoId)
    SetHistory(object(anew.id()).node, view, object(anew.id()).slot);
}

// In elements from the beginning of its base.
std::int64_t Autograd::PlaceInBase(ValueId view) const {
  const std::int64_t width = std::max(BitsOf(program_.values[view].dtype) / 8, 1);
  return (dispatcher_.PlaceOf(view) - dispatcher_.PlaceOf(objects_[object_of_[view]].base)) / width;
}

// Of no view. What did not require a gradient before does now, and so do its views, however old
// they are.
void Autograd::SetHistoryOverwritten(GradNodeId node, ValueId base) {
  const bool before = program_.values[object_of_[base]].requires_grad;
  SetHistory(node, base, 0);
  if (before) return;
  for (ValueId id = 0; id < objects_.size(); ++id) {
    if (objects_[id].base == kNoId || object_of_[objects_[id].base] != object_of_[base]) continue;
    Value& value = program_.values[id];
    value.requires_grad |= IsFloating(value.dtype) || IsComplex(value.dtype);
  }
}

}  // namespace steelyard
