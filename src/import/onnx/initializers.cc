// SPDX-License-Identifier: Apache-2.0
//
// The first that can tell decides: torch's signature, if it is in the file, then how operators use
// the tensor, then its dtype, size and name. Floats are parameters but for lone numbers and known
// buffers; integers are constants where there are few, else quantized weights where they are
// narrow, else buffers.

#include "import/onnx/initializers.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <string>
#include <unordered_set>
#include <utility>

#include "import/onnx/op_map.h"
#include "import/onnx/tensors.h"

namespace steelyard::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

enum class Kind { kParameter, kBuffer, kConstant };

// "p_fc_weight: PARAMETER target='fc.weight'" of torch's graph signature: all targets of a kind.
Names Targets(std::string_view signature, std::string_view kind) {
  Names out;
  const std::string mark = ": " + std::string(kind) + " target='";
  for (std::size_t at = signature.find(mark); at != std::string_view::npos;
       at = signature.find(mark, at)) {
    at += mark.size();
    const std::size_t end = signature.find('\'', at);
    if (end == std::string_view::npos) break;
    out.insert(signature.substr(at, end - at));
  }
  return out;
}

// Operands that their operators do not train, such as the mean of a batch norm, and those that are
// settings, such as the factors of an interpolation, or what these are computed from.
void AddUntrained(const GraphProto& graph, Names& buffers, Names& settings) {
  constexpr std::int64_t kAnyVersion = std::numeric_limits<std::int64_t>::max();
  constexpr std::size_t kBits = std::numeric_limits<unsigned>::digits;
  // The last first, so that what a setting is computed from is met after it.
  for (const NodeProto& node : graph.nodes | std::views::reverse) {
    const OpRow* row = FindRow(node.domain, node.op, kAnyVersion);
    if (row == nullptr) continue;
    const bool computes_setting =
        row->reads_contents && std::ranges::any_of(node.outputs, [&](std::string_view output) {
          return settings.contains(output);
        });
    for (std::size_t i = 0; i < std::min(node.inputs.size(), kBits); ++i) {
      if (node.inputs[i].empty()) continue;
      if ((row->statistics >> i & 1U) != 0) buffers.insert(node.inputs[i]);
      if (computes_setting || (row->settings >> i & 1U) != 0) settings.insert(node.inputs[i]);
    }
  }
}

class Sorter {
 public:
  explicit Sorter(const GraphProto& graph) {
    const std::string_view signature =
        FindEntry(graph.metadata, "pkg.torch.export.ExportedProgram.graph_signature");
    parameters_ = Targets(signature, "PARAMETER");
    buffers_ = Targets(signature, "BUFFER");
    AddUntrained(graph, buffers_, settings_);
  }

  Kind KindOf(const Item& item) const {
    if (parameters_.contains(item.name)) return Kind::kParameter;
    const bool few = item.is_constant();
    if (few && settings_.contains(item.name)) return Kind::kConstant;
    const bool one = few && (item.numbers ? item.numbers->size() : item.reals->size()) == 1;
    // Names of parameters lead through modules; those of lifted numbers do not.
    const bool named = item.name.find('.') != std::string_view::npos;
    if (IsFloating(*item.dtype) || IsComplex(*item.dtype)) {
      if (one && !named) return Kind::kConstant;
      return buffers_.contains(item.name) ? Kind::kBuffer : Kind::kParameter;
    }
    if (few) return Kind::kConstant;
    // Weights that have been quantized; wider integers are positions and masks.
    const bool narrow = item.dtype != DType::kBool && BitsOf(*item.dtype) <= 8;
    return narrow && !buffers_.contains(item.name) ? Kind::kParameter : Kind::kBuffer;
  }

 private:
  Names parameters_, buffers_, settings_;
};

}  // namespace

std::unordered_map<std::string_view, Item*> AddInitializers(const GraphProto& graph,
                                                            Workshop& workshop) {
  const Sorter sorter(graph);
  std::unordered_map<std::string_view, Item*> out;
  for (const TensorProto& tensor : graph.initializers) {
    Item& item = workshop.Add(ItemOf(tensor, workshop.external));
    if (!out.emplace(item.name, &item).second) {
      throw Refusal{InvalidInput("two initializers of this name",
                                 "tensor \"" + std::string(item.name) + "\"")};
    }
    if (!item.dtype) continue;
    const Builder::Shape sizes{item.shape->begin(), item.shape->end()};
    const Kind kind = sorter.KindOf(item);
    if (kind == Kind::kConstant) continue;
    item.tensor = kind == Kind::kParameter
                      ? workshop.builder.Parameter(item.name, *item.dtype, sizes)
                      : workshop.builder.Buffer(item.name, *item.dtype, sizes);
    // What is trained is no constant.
    if (kind == Kind::kParameter) item.numbers = std::nullopt, item.reals = std::nullopt;
  }
  return out;
}

}  // namespace steelyard::onnx
