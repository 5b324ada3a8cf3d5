// SPDX-License-Identifier: Apache-2.0
//
// The nodes that a mask is made by are a program of their own, which is taken apart into kernels
// and followed by what their rows know of elements. Where that tells a mask, its calls are
// rewritten, and nodes of that program which nothing needs any more are dropped.

#include "pass/recognize_masks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/facts.h"
#include "ir/variables.h"
#include "ops/contents/known_contents.h"
#include "ops/dispatch/program_rows.h"
#include "ops/op_def.h"
#include "pass/arguments.h"
#include "pass/causal_bias.h"
#include "pass/decompose.h"
#include "pass/infer_outputs.h"

namespace steelyard {
namespace {

enum class MaskKind : std::uint8_t { kOther, kNone, kCausal };

// A call with a mask.
struct Call {
  std::size_t node = 0;
  std::size_t mask = 0;  // place among the arguments
  ValueId value = kNoId;
  std::size_t masked = 0;  // place of what the mask hides some of, where the call does that alone
};

std::vector<Call> CallsWithMasks(const Program& program, std::span<const OpDef* const> rows) {
  std::vector<Call> calls;
  const std::vector<Node>& nodes = program.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const OpDef* def = rows[nodes[i].op];
    if (def == nullptr || *def->family != Family::kAttention) continue;
    if (def->signature->IndexOf("is_causal") < 0) continue;
    const auto mask = ArgumentNamed(program, nodes[i], *def, "attn_mask");
    if (!mask) continue;
    const Argument& given = program.args(nodes[i])[*mask];
    if (given.kind == ArgKind::kValue) {
      calls.push_back({.node = i, .mask = *mask, .value = given.value});
    }
  }
  return calls;
}

template <class Visit>
void VisitValues(const Program& program, std::span<const Argument> args, const Visit& visit) {
  for (const Argument& arg : args) {
    if (arg.kind == ArgKind::kValue) visit(arg.value);
    if (arg.kind == ArgKind::kList) VisitValues(program, program.list(arg.list), visit);
  }
}

// Which nodes of the main graph these values are made by.
std::vector<bool> MakersOf(const Program& program, std::span<const Call> calls) {
  std::vector<bool> wanted(program.values.size(), false);
  for (const Call& call : calls) wanted[call.value] = true;
  const std::vector<Node>& nodes = program.main().nodes;
  std::vector<bool> makers(nodes.size(), false);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    for (const ValueId result : program.results(nodes[i])) {
      makers[i] = makers[i] || (result != kNoId && wanted[result]);
    }
    if (!makers[i]) continue;
    VisitValues(program, program.args(nodes[i]), [&](ValueId id) { wanted[id] = true; });
  }
  return makers;
}

// The node that makes each value; kNoId for those that are there before.
std::vector<NodeId> MakerOfEach(const Program& program) {
  std::vector<NodeId> makers(program.values.size(), kNoId);
  const std::vector<Node>& nodes = program.main().nodes;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    for (const ValueId result : program.results(nodes[i])) {
      if (result != kNoId) makers[result] = i;
    }
  }
  return makers;
}

// Whether a line of transformers makes a mask, such as create_bidirectional_mask: what other code
// calls so may make any, and the model takes it.
bool IsOfMask(const Program& program, const Node& node) {
  if (node.source == kNoId) return false;
  const SourceLine& line = program.sources[node.source];
  const std::string_view file = program.text(line.file), code = program.text(line.code);
  const bool is_librarys =
      file.starts_with("transformers/") || file.find("/transformers/") != std::string_view::npos;
  return is_librarys && (code.find("_mask(") != std::string_view::npos ||
                         code.find("_masks(") != std::string_view::npos);
}

// The same of the node that makes `value`, or of those whose views it is.
bool IsLibrarysMask(const Program& program, const std::vector<NodeId>& maker_of, ValueId value) {
  if (HasFact(program, kBuiltFrom)) return true;  // all of it is transformers'
  constexpr int kSteps = 8;
  for (int step = 0; step < kSteps && maker_of[value] != kNoId; ++step) {
    const Node& maker = program.main().nodes[maker_of[value]];
    if (IsOfMask(program, maker)) return true;
    const std::span<const Argument> args = program.args(maker);
    if (args.empty() || args[0].kind != ArgKind::kValue) return false;
    value = args[0].value;
  }
  return false;
}

// Whether the module may do without it: not where it is the model's own, made by lines that make no
// mask for a library. A program without lines does not tell.
bool MayBeLeft(const Program& program, const std::vector<NodeId>& maker_of, ValueId value) {
  const NodeId maker = maker_of[value];
  return maker == kNoId || program.main().nodes[maker].source == kNoId ||
         IsLibrarysMask(program, maker_of, value);
}

// Where the mask is and where what it is applied to, of a row that does only that; nothing of
// others. What a mask hides of a bias is overwritten, where(mask, bias, -inf), and to scores of
// attention a mask is added, scores + mask.
std::optional<Call> Masking(const OpDef& def) {
  if (def.signature->IndexOf("condition") == 0) return Call{.mask = 0, .masked = 1};
  const bool adds = def.signature->IndexOf("other") == 1 && def.signature->IndexOf("alpha") == 2;
  if (adds) return Call{.mask = 1, .masked = 0};
  return std::nullopt;
}

// Such calls are followed by what they mask, too.
std::vector<Call> MaskedTensors(const Program& program, std::span<const OpDef* const> rows,
                                const std::vector<NodeId>& maker_of) {
  std::vector<Call> calls;
  const std::vector<Node>& nodes = program.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::optional<Call> call = rows[nodes[i].op] ? Masking(*rows[nodes[i].op]) : std::nullopt;
    if (!call || IsOfMask(program, nodes[i])) continue;
    const std::span<const Argument> args = program.args(nodes[i]);
    const auto is_tensor = [&](std::size_t place) {
      return place < args.size() && args[place].kind == ArgKind::kValue &&
             program.values[args[place].value].kind == ValueKind::kTensor;
    };
    if (!is_tensor(call->mask) || !is_tensor(call->masked)) continue;
    call->node = i;
    call->value = args[call->mask].value;
    if (IsLibrarysMask(program, maker_of, call->value)) calls.push_back(*call);
  }
  return calls;
}

// Whether a row of a mask lets through its first `seen` elements and no other.
bool SeesFirst(std::span<const Contents::Run> row, std::int64_t seen, bool is_bool) {
  std::int64_t at = 0;
  for (const Contents::Run& run : row) {
    if (!run.constant()) return false;
    const bool is_seen = is_bool ? run.first != 0 : run.first == 0;
    if (!is_seen && !is_bool && run.first > kHides) return false;
    if (is_seen ? at + run.length > seen : at < seen) return false;
    at += run.length;
  }
  return true;
}

MaskKind KindOf(const Contents* contents, const TensorView& mask) {
  if (contents == nullptr || contents->empty() || mask.rank() < 2) return MaskKind::kOther;
  const bool is_bool = mask.dtype() == DType::kBool;
  if (const std::optional<double> number = contents->uniform()) {
    return (is_bool ? *number != 0 : *number == 0) ? MaskKind::kNone : MaskKind::kOther;
  }
  const std::int64_t queries = mask.size(-2), keys = mask.size(-1);
  const std::size_t rows = contents->row_count();
  const int rank = contents->rank();
  const bool by_row =
      rank >= 2 && contents->extents()[static_cast<std::size_t>(rank - 2)] == queries;
  const auto all_rows = [&](const auto& seen) {
    for (std::size_t i = 0; i < rows; ++i) {
      if (!SeesFirst(contents->row(i), seen(i), is_bool)) return false;
    }
    return true;
  };
  if (all_rows([&](std::size_t) { return keys; })) return MaskKind::kNone;
  if (!by_row || queries != keys || queries <= 0) return MaskKind::kOther;
  const auto row_of = [&](std::size_t i) {
    return static_cast<std::int64_t>(i % static_cast<std::size_t>(queries)) + 1;
  };
  return all_rows(row_of) ? MaskKind::kCausal : MaskKind::kOther;
}

// What the masks are, by value; nothing where they cannot be evaluated.
std::map<ValueId, MaskKind> Evaluate(const Program& program, std::span<const Call> calls,
                                     const std::vector<bool>& makers) {
  Program masks = program;
  std::vector<Node>& nodes = masks.main().nodes;
  std::vector<Node> kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (makers[i]) kept.push_back(nodes[i]);
  }
  nodes = std::move(kept);
  masks.main().outputs.clear();
  masks.released.clear();
  std::vector<ValueId> values;
  for (const Call& call : calls) {
    if (std::ranges::find(values, call.value) != values.end()) continue;
    values.push_back(call.value);
    masks.main().outputs.push_back(Argument::OfValue(call.value));
  }
  std::map<ValueId, MaskKind> kinds;
  const Result<Program> kernels = Decompose(masks, Target());
  if (!kernels) return kinds;
  const std::vector<const OpDef*> rows = RowsOf(*kernels);
  KnownContents known(*kernels, rows);
  for (NodeId i = 0; i < kernels->main().nodes.size(); ++i) known.Run(i);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Argument& output = kernels->main().outputs[i];
    if (output.kind != ArgKind::kValue) continue;
    const TensorView mask(*kernels, output.value);
    kinds[values[i]] = KindOf(known.of(mask), mask);
  }
  return kinds;
}

// A call without its mask.
void Rewrite(Program& program, const Call& call, const OpDef& def, bool causal) {
  Node& node = program.main().nodes[call.node];
  const std::span<const Argument> before = program.args(node);
  std::vector<Argument> args(before.begin(), before.end());
  const StringId name = args[call.mask].name;
  args[call.mask] = Argument::None();
  args[call.mask].name = name;
  if (causal) {
    const auto place = ArgumentNamed(program, node, def, "is_causal");
    Argument says = Argument::OfBool(true);
    if (place) {
      says.name = args[*place].name;
      args[*place] = says;
    } else {
      says.name = program.strings.Intern("is_causal");
      args.push_back(says);
    }
  }
  node.arguments = program.AddArguments(args);
}

// What `value` repeats head by head, [batch, heads, length, size]: it is copied from a view of that
// with one more dimension, in which nothing changes. kNoId where it is not of this kind. Adds the
// nodes between to `passed`.
ValueId HeadsBehind(const Program& program, const std::vector<NodeId>& maker_of, ValueId value,
                    std::vector<NodeId>& passed) {
  constexpr int kSteps = 3, kRank = 4;
  const std::span<const std::int64_t> repeated = program.sizes(value);
  if (repeated.size() != kRank) return kNoId;
  bool expands = false;
  for (int step = 0; step < kSteps; ++step) {
    const NodeId maker = maker_of[value];
    if (maker == kNoId) return kNoId;
    const std::span<const Argument> args = program.args(program.main().nodes[maker]);
    if (args.empty() || args[0].kind != ArgKind::kValue) return kNoId;
    passed.push_back(maker);
    value = args[0].value;
    const std::span<const std::int64_t> sizes = program.sizes(value);
    if (sizes.size() == kRank + 1) {
      const bool fits =
          sizes[0] == repeated[0] && sizes[3] == repeated[2] && sizes[4] == repeated[3];
      if (!fits) return kNoId;
      expands |=
          sizes[2] > 1 && sizes[1] * sizes[2] == repeated[1] && program.strides(value)[2] == 0;
    }
  }
  const std::span<const std::int64_t> heads = program.sizes(value);
  const bool fits = heads.size() == kRank && heads[0] == repeated[0] && heads[2] == repeated[2] &&
                    heads[3] == repeated[3];
  return expands && fits ? value : kNoId;
}

// A call whose query has several heads for each of key and value is given these as they are: with
// no mask to pass, libraries leave it to PyTorch to repeat them.
void ShareHeads(Program& program, const Call& call, const OpDef& def,
                const std::vector<NodeId>& maker_of, std::vector<bool>& makers) {
  Node& node = program.main().nodes[call.node];
  if (ArgumentNamed(program, node, def, "enable_gqa")) return;
  const std::span<const Argument> before = program.args(node);
  std::vector<Argument> args(before.begin(), before.end());
  std::vector<NodeId> passed;
  for (const std::string_view name : {"key", "value"}) {
    const auto place = ArgumentNamed(program, node, def, name);
    if (!place || args[*place].kind != ArgKind::kValue) return;
    const ValueId heads = HeadsBehind(program, maker_of, args[*place].value, passed);
    if (heads == kNoId) return;
    args[*place].value = heads;
  }
  Argument says = Argument::OfBool(true);
  says.name = program.strings.Intern("enable_gqa");
  args.push_back(says);
  node.arguments = program.AddArguments(args);
  for (const NodeId i : passed) makers[i] = true;
}

// Of the variables that a node holds until they go, those whose values are still made.
void LetGo(Program& program, Node& node, const std::vector<bool>& gone) {
  std::vector<Argument> held;
  VisitValues(program, program.args(node), [&](ValueId id) {
    if (!gone[id]) held.push_back(Argument::OfValue(id));
  });
  const Argument list = Argument::OfList(program.AddArguments(held));
  node.arguments = program.AddArguments(std::span(&list, 1));
}

// The calls that cut a bias of attention with a causal mask: their places.
std::vector<NodeId> CutBiases(const Program& program, std::span<const Call> masked,
                              const std::map<ValueId, MaskKind>& kinds, std::span<const Call> calls,
                              const std::vector<NodeId>& maker_of) {
  std::vector<NodeId> places;
  const auto is_bias = [&](const Call& call, NodeId place) {
    NodeId maker = maker_of[call.value];
    if (maker == place) return true;
    if (maker == kNoId || program.args(program.main().nodes[maker]).empty()) return false;
    const Argument& given = program.args(program.main().nodes[maker])[0];
    return given.kind == ArgKind::kValue && maker_of[given.value] == place;
  };
  for (const Call& call : masked) {
    const auto found = kinds.find(call.value);
    if (call.mask != 0 || found == kinds.end() || found->second != MaskKind::kCausal) continue;
    const auto place = static_cast<NodeId>(call.node);
    if (std::ranges::any_of(calls, [&](const Call& c) { return is_bias(c, place); })) {
      places.push_back(place);
    }
  }
  return places;
}

// Has what was masked for nothing read instead. Returns how many such calls there are.
std::size_t ReadUnmasked(Program& program, std::span<const Call> masked,
                         const std::map<ValueId, MaskKind>& kinds, std::vector<bool>& makers) {
  std::size_t count = 0;
  std::vector<ValueId> instead(program.values.size(), kNoId);
  for (const Call& call : masked) {
    const auto found = kinds.find(call.value);
    if (found == kinds.end() || found->second != MaskKind::kNone) continue;
    const Node& node = program.main().nodes[call.node];
    instead[program.results(node)[0]] = program.args(node)[call.masked].value;
    makers[call.node] = true;
    ++count;
  }
  for (Argument& argument : program.arguments) {
    if (argument.kind != ArgKind::kValue) continue;
    while (instead[argument.value] != kNoId) argument.value = instead[argument.value];
  }
  return count;
}

// A bias that is not masked, or by a mask for one example, is one for all: what the file says of
// its sizes on its way to attention does not count.
void ForgetSizes(Program& program, std::span<const Call> calls,
                 const std::vector<NodeId>& maker_of) {
  constexpr int kSteps = 4;
  for (const Call& call : calls) {
    ValueId value = program.args(program.main().nodes[call.node])[call.mask].value;
    for (int step = 0; step < kSteps && maker_of[value] != kNoId; ++step) {
      const Node& maker = program.main().nodes[maker_of[value]];
      const std::span<const Argument> args = program.args(maker);
      if (IsOfMask(program, maker) || args.empty() || args[0].kind != ArgKind::kValue) break;
      program.values[value].has_layout = false;
      value = args[0].value;
    }
  }
}

// Drops those of `makers` whose results nothing reads. That a variable holds them is no reading.
void DropUnread(Program& program, const std::vector<bool>& makers) {
  std::vector<bool> read(program.values.size(), false);
  const auto mark = [&](ValueId id) { read[id] = true; };
  VisitValues(program, program.main().outputs, mark);
  for (const ValueId id : program.mutated) mark(id);
  const OpId leaves = program.AddOpName(kLeaveOp);
  std::vector<Node>& nodes = program.main().nodes;
  std::vector<bool> stays(nodes.size(), true), gone(program.values.size(), false);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].op == leaves) continue;
    const std::span<const ValueId> results = program.results(nodes[i]);
    stays[i] = !makers[i] ||
               std::ranges::any_of(results, [&](ValueId id) { return id != kNoId && read[id]; });
    if (stays[i]) {
      VisitValues(program, program.args(nodes[i]), mark);
    } else {
      for (const ValueId id : results) {
        if (id != kNoId) gone[id] = true;
      }
    }
  }
  for (Node& node : nodes) {
    if (node.op == leaves) LetGo(program, node, gone);
  }
  std::size_t to = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (stays[i]) nodes[to++] = nodes[i];
  }
  nodes.resize(to);
}

// The nodes of lines that make masks none of which is read: such a line returns before it computes.
std::vector<bool> LinesOfNoMask(const Program& program) {
  const std::vector<Node>& nodes = program.main().nodes;
  const std::vector<NodeId> maker_of = MakerOfEach(program);
  std::vector<bool> read(program.sources.size(), false);
  const auto read_by = [&](SourceId reader) {
    return [&program, &nodes, &maker_of, &read, reader](ValueId id) {
      if (maker_of[id] == kNoId) return;
      const Node& maker = nodes[maker_of[id]];
      if (IsOfMask(program, maker) && maker.source != reader) read[maker.source] = true;
    };
  };
  for (const Node& node : nodes) {
    if (program.op_name(node.op) == kLeaveOp) continue;
    VisitValues(program, program.args(node), read_by(node.source));
  }
  VisitValues(program, program.main().outputs, read_by(kNoId));
  std::vector<bool> unread(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    unread[i] = IsOfMask(program, nodes[i]) && !read[nodes[i].source];
  }
  return unread;
}

// Of a model that is built the sizes are not known yet of the heads that attention is given, nor of
// what they are made of.
Result<Program> WithSizesOfHeads(Program program) {
  if (!HasFact(program, kBuiltFrom)) return program;
  constexpr int kSteps = 4;
  std::vector<ValueId> values;
  const std::vector<NodeId> maker_of = MakerOfEach(program);
  for (const Call& call : CallsWithMasks(program, RowsOf(program))) {
    for (const Argument& given : program.args(program.main().nodes[call.node])) {
      const Argument* argument = &given;
      for (int step = 0; step < kSteps && argument->kind == ArgKind::kValue; ++step) {
        values.push_back(argument->value);
        const NodeId maker = maker_of[argument->value];
        if (maker == kNoId || program.args(program.main().nodes[maker]).empty()) break;
        argument = &program.args(program.main().nodes[maker])[0];
      }
    }
  }
  return LayOut(std::move(program), values, Target());
}

// Which nodes compute the same whatever the model is given.
std::vector<bool> Constant(const Program& program, const std::vector<NodeId>& maker_of) {
  const std::vector<Node>& nodes = program.main().nodes;
  std::vector<bool> constant(nodes.size(), true);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    VisitValues(program, program.args(nodes[i]), [&](ValueId id) {
      if (maker_of[id] == kNoId || !constant[maker_of[id]]) constant[i] = false;
    });
  }
  return constant;
}

}  // namespace

Result<Program> RecognizeMasks(Program given) {
  SY_ASSIGN_OR_RETURN(Program program, WithSizesOfHeads(std::move(given)));
  const std::vector<const OpDef*> rows = RowsOf(program);
  const std::vector<Call> calls = CallsWithMasks(program, rows);
  std::vector<NodeId> maker_of = MakerOfEach(program);
  const std::vector<Call> masked = MaskedTensors(program, rows, maker_of);
  std::vector<Call> asked = calls;
  asked.insert(asked.end(), masked.begin(), masked.end());
  if (asked.empty()) return program;
  std::vector<bool> makers = MakersOf(program, asked);
  const std::map<ValueId, MaskKind> kinds = Evaluate(program, asked, makers);
  const std::vector<ValueId> masks =
      ReadCausalMasks(program, CutBiases(program, masked, kinds, calls, maker_of));
  maker_of.resize(program.values.size(), kNoId);
  std::size_t taken = ReadUnmasked(program, masked, kinds, makers);
  if (taken + masks.size() > 0) ForgetSizes(program, calls, maker_of);
  if (!calls.empty()) taken = 0;
  for (const Call& call : calls) {
    const auto found = kinds.find(call.value);
    const MaskKind kind = found == kinds.end() ? MaskKind::kOther : found->second;
    if (kind == MaskKind::kOther) continue;
    // What it is now that nothing is masked for nothing.
    const ValueId mask = program.args(program.main().nodes[call.node])[call.mask].value;
    if (!MayBeLeft(program, maker_of, mask)) continue;
    ++taken;
    const OpDef& def = *rows[program.main().nodes[call.node].op];
    Rewrite(program, call, def, kind == MaskKind::kCausal);
    ShareHeads(program, call, def, maker_of, makers);
  }
  DropUnread(program, makers);
  DropUnread(program, HasFact(program, kBuiltFrom) && taken > 0
                          ? Constant(program, MakerOfEach(program))
                          : LinesOfNoMask(program));
  MakeCausalMasks(program, masks);
  if (taken == 0) return program;
  program.notes.push_back(program.strings.Intern(
      fmt::format("as the module runs: {} of {} calls of attention without the mask that the file "
                  "has for them",
                  taken, calls.empty() ? masked.size() : calls.size())));
  return program;
}

}  // namespace steelyard
