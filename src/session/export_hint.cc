// SPDX-License-Identifier: Apache-2.0
//
// torch.export names sizes by forward's parameters where those are the inputs. Where a parameter is
// a container or no tensor, or may be one of *args or **kwargs, tensors are named as the caller
// passes them: ShapesCollection finds them wherever they stand.

#include "session/export_hint.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/facts.h"

namespace steelyard {
namespace {

bool IsReturned(const Program& program, Dim first) {
  return std::ranges::any_of(program.main().outputs, [&](const Argument& output) {
    return output.kind == ArgKind::kValue && program.values[output.value].has_layout &&
           program.values[output.value].rank >= 1 && program.size(output.value, 0) == first;
  });
}

bool HasFirst(const Program& program, ValueId id) {
  const Value& value = program.values[id];
  return value.kind == ValueKind::kTensor && value.has_layout && value.rank >= 1;
}

// Which size is the batch: one that a result has as well, then that of a matrix or more, as --batch
// takes it, then that of most dimensions. Tables of positions are none of these.
std::optional<Dim> Batch(const Program& program) {
  std::optional<Dim> batch;
  int best = -1;
  for (const ValueId id : program.inputs) {
    if (!HasFirst(program, id)) continue;
    const Dim first = program.size(id, 0);
    const int rank = program.values[id].rank;
    const int score = 2000 * IsReturned(program, first) + 1000 * (rank >= 2) + rank;
    if (score <= best) continue;
    best = score;
    batch = first;
  }
  return batch;
}

// How the caller passes an input: "args[0][\"mask\"]", as the reader of the file has found.
std::optional<std::string_view> PathOf(const Program& program, std::string_view name) {
  for (const Fact& fact : program.facts) {
    if (program.text(fact.name) != kArgument) continue;
    const std::string_view text = program.text(fact.text);
    const std::size_t end = text.find(kArgumentIs);
    if (text.substr(0, end) == name) return text.substr(end + kArgumentIs.size());
  }
  return std::nullopt;
}

bool TakesKeywords(const Program& program) {
  return std::ranges::any_of(program.facts, [&](const Fact& fact) {
    return program.text(fact.name) == kArgument &&
           program.text(fact.text).find("kwargs") != std::string_view::npos;
  });
}

}  // namespace

std::string ExportWithBatch(const Program& program) {
  const std::optional<Dim> batch = Batch(program);
  const bool by_path = HasFact(program, kArgument);
  std::string named, found;
  for (const ValueId id : program.inputs) {
    const std::string_view name = program.text(program.values[id].name);
    const bool has = HasFirst(program, id) && program.size(id, 0) == *batch;
    named +=
        fmt::format("{}\"{}\": {}", named.empty() ? "" : ", ", name, has ? "{0: batch}" : "None");
    if (const auto path = PathOf(program, name); path && has) {
      found += fmt::format("shapes[{}] = ", *path);
    }
  }
  const std::string_view example =
      batch && *batch == Dim(1) ? ", with a batch of 2 or more, as one of 1 is taken for fixed"
                                : "";
  if (!by_path) {
    return fmt::format(
        "`batch = torch.export.Dim(\"batch\")`, then `torch.export.export(model, args, "
        "dynamic_shapes={{{}}})`{}.",
        named, example);
  }
  return fmt::format(
      "`batch = torch.export.Dim(\"batch\"); shapes = torch.export.ShapesCollection(); {}{{0: "
      "batch}}`, then `torch.export.export(model, args, {}dynamic_shapes=shapes)`{}.",
      found, TakesKeywords(program) ? "kwargs, " : "", example);
}

}  // namespace steelyard
