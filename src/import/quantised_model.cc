// SPDX-License-Identifier: Apache-2.0
//
// Decides which layers run on packed weights. Each quantised tensor must belong to a parameter, be
// as large as it, and be the weight of Linear layers, of experts or a table of words; what does not
// is refused, for left out it would make the figures another model's. Scratch of such kernels is
// not known, so memory counts as estimated.

#include "import/quantised_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "steelyard/units.h"
#include "support/checked.h"

namespace steelyard {
namespace {

// What a Linear layer calls, and what the layer calls that stands in its place.
constexpr std::string_view kLinear = "aten::linear";
constexpr std::string_view kPackedLinear = "steelyard::packed_linear";
constexpr std::size_t kWeightOperand = 1;
// What multiplies rows by the experts' weights, turned, and what does in its place.
constexpr std::string_view kTurned = "aten::transpose.int";
constexpr std::array<std::string_view, 2> kGrouped{"aten::_grouped_mm",
                                                   "transformers::grouped_mm_fallback"};
constexpr std::string_view kPackedExperts = "steelyard::packed_experts";
constexpr int kExpertsRank = 3;
// Of a table of words rows are unpacked as they are looked up: it stays what it is.
constexpr std::string_view kEmbedding = "aten::embedding";

class Joining {
 public:
  Joining(Program model, const Program& weights) : model_(std::move(model)), weights_(weights) {}

  Result<Program> Run() {
    FindQuantised();
    if (quantised_.empty()) {
      return Unexpected(Unsupported("none of its weights is quantised in a way that is known", {},
                                    "docs/weights.md lists which are."));
    }
    for (NamedTensor& parameter : model_.parameters) SY_RETURN_IF_ERROR(Store(parameter));
    if (!quantised_.empty()) return Unexpected(BelongsToNothing());
    SY_RETURN_IF_ERROR(ReplaceLayers());
    model_.memory_estimated = true;
    AddNote();
    return std::move(model_);
  }

 private:
  void FindQuantised() {
    for (const NamedTensor& stored : weights_.parameters) {
      if (stored.packing != kNoId) quantised_.emplace(weights_.text(stored.name), &stored);
    }
  }

  // Headers of some schemes tell how many numbers there are, and no more.
  bool Fits(ValueId parameter, ValueId stored) const {
    CheckedInt count = 1;
    for (int i = 0; i < model_.values[parameter].rank; ++i) {
      const Dim size = model_.size(parameter, i);
      if (!size.is_number()) return false;
      count = count * CheckedInt(size.number());
    }
    const auto sizes = weights_.sizes(stored);
    if (sizes.size() == 1) return count.ok() && count.value() == sizes[0];
    const auto wanted = model_.sizes(parameter);
    return std::ranges::equal(sizes, wanted);
  }

  Status Store(NamedTensor& parameter) {
    const auto found = quantised_.find(model_.text(parameter.name));
    if (found == quantised_.end()) return {};
    const NamedTensor& stored = *found->second;
    quantised_.erase(found);
    if (!Fits(parameter.value, stored.value)) {
      return Unexpected(InvalidInput("its sizes in the file are not those that the config gives it",
                                     std::string(model_.text(parameter.name)),
                                     "Are both of one model?"));
    }
    Value& value = model_.values[parameter.value];
    value.requires_grad = false;
    parameter.packing = static_cast<std::uint32_t>(model_.packings.size());
    model_.packings.push_back({.name = model_.strings.Intern(weights_.stored_as(stored)),
                               .bytes = weights_.stored_bytes(stored)});
    packed_.insert(parameter.value);
    return {};
  }

  Error BelongsToNothing() const {
    const auto first =
        std::ranges::min_element(quantised_, {}, [](const auto& entry) { return entry.first; });
    return Unsupported(
        fmt::format("{} of its quantised weights belong to no parameter that is built of it, as {}",
                    quantised_.size(), first->first));
  }

  bool IsPacked(const Argument& argument) const {
    if (argument.kind == ArgKind::kList) {
      return std::ranges::any_of(model_.list(argument.list),
                                 [&](const Argument& item) { return IsPacked(item); });
    }
    return argument.kind == ArgKind::kValue && packed_.contains(argument.value);
  }

  // Experts' weights turned, by which rows are then multiplied: one layer of packed weights.
  void ReplaceExperts(Graph& graph) {
    const OpId turned = model_.FindOpName(kTurned);
    std::unordered_map<ValueId, ValueId> weights;  // by what it is turned into
    for (Node& node : graph.nodes) {
      const auto args = model_.args(node);
      if (node.op == turned && IsPacked(args[0]) &&
          model_.values[args[0].value].rank == kExpertsRank) {
        weights.emplace(model_.results(node)[0], args[0].value);
      }
      if (args.size() <= kWeightOperand || args[kWeightOperand].kind != ArgKind::kValue) continue;
      const auto weight = weights.find(args[kWeightOperand].value);
      if (weight == weights.end() || !IsGrouped(node)) continue;
      model_.arguments[node.arguments.begin + kWeightOperand] = Argument::OfValue(weight->second);
      node.op = model_.AddOpName(kPackedExperts);
    }
    std::erase_if(graph.nodes, [&](const Node& node) {
      return node.op == turned && weights.contains(model_.results(node)[0]);
    });
  }

  bool IsGrouped(const Node& node) const {
    return std::ranges::find(kGrouped, model_.op_name(node.op)) != kGrouped.end();
  }

  Status ReplaceLayers() {
    for (Graph& graph : model_.graphs) ReplaceExperts(graph);
    const OpId linear = model_.FindOpName(kLinear);
    const OpId replaced = model_.AddOpName(kPackedLinear);
    const OpId embedding = model_.FindOpName(kEmbedding);
    const OpId experts = model_.FindOpName(kPackedExperts);
    for (Graph& graph : model_.graphs) {
      for (Node& node : graph.nodes) {
        const auto args = model_.args(node);
        const auto packed = std::ranges::count_if(
            args, [&](const Argument& argument) { return IsPacked(argument); });
        if (packed == 0 || node.op == experts) continue;
        if (node.op == embedding && IsPacked(args[0])) continue;
        const bool of_layer = node.op == linear && packed == 1 && IsPacked(args[kWeightOperand]);
        if (!of_layer) {
          return Unexpected(Unsupported(fmt::format(
              "a quantised weight is an operand of {}, and only Linear layers, experts and tables "
              "of words are known of them",
              model_.op_name(node.op))));
        }
        node.op = replaced;
      }
    }
    return {};
  }

  std::string_view HowStored() const {
    const bool halves = std::ranges::all_of(model_.packings, [&](const Packing& packing) {
      const std::string_view name = model_.text(packing.name);
      return name == NameOf(DType::kFloat16) || name == NameOf(DType::kBFloat16);
    });
    return halves ? "16-bit" : "quantised";
  }

  void AddNote() {
    std::int64_t most = 0;
    for (const ValueId id : packed_) {
      const Value& value = model_.values[id];
      most = std::max(most, StorageBytes(value.dtype, model_.sizes(id), model_.strides(id)));
    }
    model_.notes.push_back(model_.strings.Intern(fmt::format(
        "A layer of {} weights is one kernel, which unpacks them as it multiplies, as "
        "bitsandbytes' of four bits does on the CPU. Its scratch is not told; one that unpacks a "
        "weight before it multiplies holds up to {} more.",
        HowStored(), Format(most, Unit::kBytes))));
  }

  Program model_;
  const Program& weights_;
  std::unordered_map<std::string_view, const NamedTensor*> quantised_;  // not stored yet, by name
  std::unordered_set<ValueId> packed_;
};

}  // namespace

Result<Program> WithQuantisedWeights(Program model, const Program& weights) {
  return Joining(std::move(model), weights).Run();
}

}  // namespace steelyard
