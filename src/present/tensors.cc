// SPDX-License-Identifier: Apache-2.0
//
// A kernel of the executed program knows the node of the imported program that it comes from; that
// node's operator and results bear the names that the user can find in the code and in the exported
// graph, so those are the names used here.
#include "present/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "present/findings.h"
#include "present/names.h"
#include "steelyard/program.h"
#include "steelyard/tables.h"
#include "steelyard/timeline.h"

namespace steelyard::present {
namespace {

const Node* OriginOf(const Findings& findings, const Node& kernel) {
  return kernel.origin == kNoId ? nullptr : &findings.numbering.node(kernel.origin);
}

}  // namespace

std::string_view ModelOp(const Findings& findings, const Node& kernel) {
  const Node* origin = OriginOf(findings, kernel);
  return WithoutOverload(origin == nullptr ? findings.kernels.op_name(kernel.op)
                                           : findings.imported.op_name(origin->op));
}

namespace {

// The first result of the model's operator: what the exported graph calls the call.
std::string_view CallName(const Findings& findings, const Node& kernel) {
  const Node* origin = OriginOf(findings, kernel);
  if (origin == nullptr) return {};
  for (ValueId id : findings.imported.results(*origin)) {
    if (id != kNoId) return findings.imported.text(findings.imported.values[id].name);
  }
  return {};
}

// The kernel during which an event happens. Marks of dropped references come after the kernel that
// let them go.
const Node& KernelOf(const Findings& findings, std::uint32_t event) {
  const Program& program = findings.kernels;
  const std::vector<Node>& nodes = program.main().nodes;
  std::size_t at = std::min<std::size_t>(findings.timeline.events[event].node, nodes.size() - 1);
  while (at > 0 && program.is_drop(nodes[at])) --at;
  return nodes[at];
}

// The value by which the model knows a block: a kernel's result without a name may be what the call
// as a whole returns, seen through a view (`linear` of three dimensions is a view of an addmm of
// two).
ValueId NamedValue(const Findings& findings, const Block& block) {
  const Program& program = findings.kernels;
  if (block.value == Block::kNoValue || program.values[block.value].name != kNoString) {
    return block.value;
  }
  const StorageId storage = program.values[block.value].storage;
  const std::vector<Node>& nodes = program.main().nodes;
  std::size_t at = findings.timeline.events[block.allocated].node;
  for (const NodeId call = nodes[at].origin; at < nodes.size() && nodes[at].origin == call; ++at) {
    for (ValueId id : program.results(nodes[at])) {
      const bool named = id != kNoId && program.values[id].name != kNoString;
      if (named && program.values[id].storage == storage) return id;
    }
  }
  return block.value;
}

std::string TensorWords(const Findings& findings, ValueId value, const Node& kernel) {
  const std::string_view call = CallName(findings, kernel);
  if (value == Block::kNoValue) {
    return fmt::format("scratch of {}", call.empty() ? ModelOp(findings, kernel) : call);
  }
  const std::string_view name = findings.kernels.text(findings.kernels.values[value].name);
  if (!name.empty()) return std::string(name);
  const std::string_view op =
      WithoutNamespace(WithoutOverload(findings.kernels.op_name(kernel.op)));
  return call.empty() ? std::string(op) : fmt::format("{} in {}", op, call);
}

// "saved by GeluBackward0"
std::string SaverWords(const Findings& findings, const Block& block) {
  const Program& program = findings.kernels;
  const StorageId storage = program.values[block.value].storage;
  for (const SavedTensor& saved : program.saved) {
    if (program.values[saved.value].storage != storage) continue;
    return fmt::format("saved by {}", program.text(saved.by));
  }
  return "saved for the backward pass";
}

std::string HolderWords(const Findings& findings, const Block& block) {
  if (block.category == Category::kOutputs) return "held by the caller";
  const bool freed = block.freed < findings.timeline.events.size();
  if (block.category == Category::kGradients) return "gradient, until zero_grad";
  if (block.category == Category::kCache && !freed) return "kept for the next call";
  std::string end =
      freed ? fmt::format("until {}", ModelOp(findings, KernelOf(findings, block.freed)))
            : "until the end";
  if (block.category != Category::kActivations) return end;
  return fmt::format("{}, {}", SaverWords(findings, block), end);
}

}  // namespace

std::string ResultsText(const Program& program, const Node& kernel) {
  std::string text;
  for (const ValueId id : program.results(kernel)) {
    const bool tensor = id != kNoId && program.values[id].kind == ValueKind::kTensor;
    if (tensor) text.append(text.empty() ? "" : " ").append(LayoutText(program, id));
  }
  return text;
}

EventPlace PlaceOf(const Findings& findings, std::uint32_t event) {
  const Program& program = findings.kernels;
  const Node& kernel = KernelOf(findings, event);
  // The graph runtime names what it has joined.
  const std::string_view label =
      findings.timeline.labels.view(findings.timeline.events[event].label);
  const bool named = findings.graph != nullptr && !label.empty();
  return {.kernel = named ? label : WithoutOverload(program.op_name(kernel.op)),
          .op = ModelOp(findings, kernel),
          .module = program.text(program.modules[kernel.module].path),
          .source = kernel.source};
}

BlockWords Describe(const Findings& findings, const Block& block) {
  const Node& kernel = KernelOf(findings, block.allocated);
  const ValueId value = NamedValue(findings, block);
  BlockWords words{.tensor = TensorWords(findings, value, kernel),
                   .holder = HolderWords(findings, block),
                   .made = PlaceOf(findings, block.allocated)};
  if (value != Block::kNoValue) words.layout = LayoutText(findings.kernels, value);
  return words;
}

}  // namespace steelyard::present
