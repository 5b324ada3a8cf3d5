// SPDX-License-Identifier: Apache-2.0
//
// Decides which calls are asked about: those of the forward pass whose row has a form in place, and
// whose result is as large as their operand.

#include "pass/overwrite.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ops/dispatch/overwriting.h"
#include "ops/op_def.h"
#include "pass/parameter_pattern.h"

namespace steelyard {
namespace {

// By module: whether a pattern names it or a module around it.
Result<std::vector<bool>> NamedModules(const Program& program, const TrainOptions& options) {
  std::vector<bool> named(program.modules.size(), false);
  for (const std::string& pattern : options.inplace) {
    bool any = false;
    for (std::size_t m = 0; m < named.size(); ++m) {
      const Module& module = program.modules[m];
      const bool within = module.parent != kNoId && named[module.parent];
      if (MatchesPattern(pattern, program.text(module.path))) any = true;
      named[m] = named[m] || within || MatchesPattern(pattern, program.text(module.path));
    }
    if (!any) return Unexpected(NoModuleMatches(program, pattern, "--inplace"));
  }
  return named;
}

const OpDef* FormOf(const Program& program, const Node& node) {
  const OpDef* def = FindOp(OpName::FromRuntime(program.op_name(node.op)));
  return def == nullptr ? nullptr : InPlaceForm(*def);
}

bool HasForm(const Program& program, const Node& node) {
  const std::span<const Argument> args = program.args(node);
  const std::span<const ValueId> results = program.results(node);
  if (node.phase != Phase::kForward || results.size() != 1 || results[0] == kNoId) return false;
  if (args.empty() || args[0].kind != ArgKind::kValue) return false;
  const Value& operand = program.values[args[0].value];
  const Value& result = program.values[results[0]];
  if (operand.kind != ValueKind::kTensor || !operand.has_layout || !result.has_layout) return false;
  const bool alike = operand.dtype == result.dtype &&
                     std::ranges::equal(program.sizes(args[0].value), program.sizes(results[0]));
  return alike && FormOf(program, node) != nullptr;
}

CallSet CallsIn(const Program& program, const std::vector<bool>& named) {
  CallSet calls;
  for (const Graph& graph : program.graphs) {
    std::vector<bool>& of = calls.emplace_back();
    of.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) {
      of.push_back(named[node.module] && HasForm(program, node));
    }
  }
  return calls;
}

std::ptrdiff_t SizeOf(const CallSet& calls) {
  std::ptrdiff_t size = 0;
  for (const std::vector<bool>& of : calls) size += std::ranges::count(of, true);
  return size;
}

Program WithForms(Program program, const CallSet& calls) {
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    for (std::size_t i = 0; i < program.graphs[g].nodes.size(); ++i) {
      if (!calls[g][i]) continue;
      Node& node = program.graphs[g].nodes[i];
      node.op = program.AddOpName(FormOf(program, node)->name->text());
      Argument& operand = program.arguments[node.arguments.begin];
      operand.name = kNoString;  // the form may have another name for it
      program.values[program.results(node)[0]].storage = program.values[operand.value].storage;
    }
  }
  return program;
}

// A form in place may save what the operator does not, so that a later call has to leave it alone:
// the calls that are left are asked again, as they then run.
Result<CallSet> Agreed(const Program& program, const Target& target, CallSet calls) {
  SY_ASSIGN_OR_RETURN(calls, FindOverwriting(program, target, std::move(calls)));
  for (std::ptrdiff_t before = -1; before != SizeOf(calls);) {
    before = SizeOf(calls);
    SY_ASSIGN_OR_RETURN(calls, FindOverwriting(WithForms(program, calls), target, calls));
  }
  return calls;
}

}  // namespace

Result<Program> Overwrite(Program program, const TrainOptions& options, const Target& target) {
  if (options.inplace.empty()) return program;
  SY_ASSIGN_OR_RETURN(const std::vector<bool> named, NamedModules(program, options));
  const CallSet asked = CallsIn(program, named);
  SY_ASSIGN_OR_RETURN(const CallSet calls, Agreed(program, target, asked));
  const std::ptrdiff_t all = SizeOf(asked), some = SizeOf(calls);
  if (some == 0) {
    return Unexpected(
        Unsupported(all == 0 ? "no call there has a form that overwrites its operand"
                             : fmt::format("autograd lets none of {} calls overwrite its operand: "
                                           "it was saved, or is read again",
                                           all),
                    "--inplace", "Activations that follow a linear or normalizing layer can."));
  }
  program.notes.push_back(program.strings.Intern(fmt::format(
      "--inplace: {} of {} calls overwrite their operand{}", some, all,
      some == all ? "" : "; the others' is saved for the backward pass or read again")));
  return WithForms(std::move(program), calls);
}

}  // namespace steelyard
