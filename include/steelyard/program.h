// SPDX-License-Identifier: Apache-2.0
//
// A Program is one model as a flat graph of PyTorch operators: what every importer produces, every
// pass rewrites and every runtime reads. All of it is dense ids into vectors: copying is a copy of
// a few arrays, and a million nodes stay cheap. Nothing in it points to anything else.
//
//   Result<Program> program = ImportFile("bert.pt2", {});
//   for (const Node& node : program->main().nodes) {
//     std::string_view op = program->op_name(node.op);  // "aten::linear"
//     for (ValueId result : program->results(node)) Use(program->sizes(result));
//   }
//
// Nodes are in the order in which they run, and every value is computed before it is used.
// Importers and `Builder` keep these rules, and so do passes; who fills a Program by hand must. An
// id is an index into the table that its comment names, kNoId where there is nothing.
//
// Sizes may be symbolic until the pass `bind`: before it, no function here gives spans of int64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "steelyard/tables.h"

namespace steelyard {

using ValueId = std::uint32_t;
using NodeId = std::uint32_t;  // index of a node within its graph
using OpId = std::uint32_t;    // index into Program::op_names
using ModuleId = std::uint32_t;
using SourceId = std::uint32_t;
using StorageId = std::uint32_t;
using GraphId = std::uint32_t;
using FrameId = std::uint32_t;
using CallId = std::uint32_t;
using KernelId = std::uint32_t;
inline constexpr std::uint32_t kNoId = 0xffffffffu;

// What a tensor is to the program. Every byte of memory is reported under exactly one of these.
enum class Role : std::uint8_t {
  kParameter,
  kBuffer,  // tensor constants included
  kInput,
  kActivation,
  kGradient,
  kOptimizerState,
  kOutput,  // an activation that the caller receives
  // What a model keeps from one call to the next: of the tokens that it has seen, in attributes. An
  // input of this role is freed as soon as the program holds it no longer, an output stays when the
  // program has ended.
  kCache,
};

enum class ValueKind : std::uint8_t { kTensor, kInt, kFloat, kBool, kOther };

// kRecompute: what the backward pass computes once more because it was not kept.
enum class Phase : std::uint8_t { kForward, kLoss, kBackward, kOptimizer, kRecompute };

// A result of a node or an input of a graph. Sizes and strides (in elements) stand in the
// program's dims pool: `rank` sizes, then `rank` strides. A scalar (kInt, kFloat, kBool) keeps its
// value, a number or an expression, in `scalar`.
struct Value {
  StringId name = kNoString;
  std::uint32_t dims = 0;
  std::uint8_t rank = 0;
  ValueKind kind = ValueKind::kTensor;
  DType dtype = DType::kFloat32;
  Role role = Role::kActivation;
  bool requires_grad = false;
  bool wrapped_number = false;  // a Python number boxed as a tensor: weakest in type promotion
  bool conjugated = false, negated = false;  // a view that stands for those of what is stored
  bool on_host = false;       // in the host's memory, and the program runs on another device
  bool has_layout = true;     // false: the file gives no sizes for it (an opaque object, a None)
  StorageId storage = kNoId;  // values with the same storage share their bytes
  Dim scalar = Dim::Unknown();
};

enum class ArgKind : std::uint8_t {
  kNone,
  kValue,    // value
  kInt,      // dim: a number, or an expression before `bind`
  kFloat,    // real
  kBool,     // dim is 0 or 1
  kString,   // text; devices and layouts too
  kDType,    // dtype
  kList,     // list: a run of the argument pool
  kGraph,    // graph
  kComplex,  // list: a run of two reals, the second of which is imaginary
};

// One argument of a call. `name` is the parameter's name where the file gives it.
struct Argument {
  struct Run {
    std::uint32_t begin;
    std::uint32_t count;
  };
  ArgKind kind = ArgKind::kNone;
  StringId name = kNoString;
  union {
    Dim dim = Dim(0);
    double real;
    ValueId value;
    StringId text;
    DType dtype;
    GraphId graph;
    Run list;
  };

  static Argument None() { return {}; }
  static Argument OfValue(ValueId v);
  static Argument OfInt(Dim d);
  static Argument OfInt(std::int64_t i) { return OfInt(Dim(i)); }
  static Argument OfFloat(double r);
  static Argument OfBool(bool b);
  static Argument OfString(StringId s);
  static Argument OfDType(DType t);
  static Argument OfList(Run run);
  static Argument OfGraph(GraphId g);
  static Argument OfComplex(Run parts);

  // Whether `list` is a run of further arguments.
  bool has_elements() const { return kind == ArgKind::kList || kind == ArgKind::kComplex; }
};

// A call of an operator. `arguments` and `outputs` are runs of the program's pools.
struct Node {
  OpId op = 0;
  Argument::Run arguments{0, 0};
  Argument::Run outputs{0, 0};
  ModuleId module = 0;
  CallId call = kNoId;  // of the module, where the file tells calls apart
  SourceId source = kNoId;
  FrameId frame = 0;      // the composite operator inside which it runs; 0: the program itself
  NodeId origin = kNoId;  // after `decompose`: the node of the imported program it comes from,
                          // counted through its graphs
  Phase phase = Phase::kForward;
  StringId refusal = kNoString;  // after `decompose`: why its row refused it; the file's results
  KernelId kernel = kNoId;  // after `decompose`: nodes of one number compute and allocate alike
};

// `decompose` marks with it where the last reference to its one argument goes; no operator.
inline constexpr std::string_view kDropMark = "steelyard::drop";
// Runs the backward pass; a program that has it records gradients.
inline constexpr std::string_view kBackwardOp = "steelyard::backward";

// A body of nodes. Graph 0 is the program; others are operands of higher-order operators.
struct Graph {
  std::vector<ValueId> inputs;
  std::vector<Node> nodes;
  std::vector<Argument> outputs;  // values, numbers or None, as the caller receives them
};

// Nodes of the main graph that run several times, each time on values of their own and from a state
// that they leave as they found it: a micro-step of a training step.
struct Repeat {
  NodeId first = 0;
  std::uint32_t count = 0;
  std::int64_t times = 1;
};

// A module of the model: `path` as the user writes it ("encoder.layer.0", "" is the model itself).
struct Module {
  StringId path = kNoString;
  StringId class_name = kNoString;
  ModuleId parent = kNoId;
};

// One call of a module, from within another.
struct ModuleCall {
  ModuleId module = 0;
  CallId parent = kNoId;
};

// After `decompose`: nodes of the main graph, `count` from `first` on, that stand for one call of
// an operator. Some of them are steps that compute nothing apart: what runs the program runs the
// call.
struct WholeCall {
  NodeId first = 0;
  std::uint32_t count = 0;
  OpId op = 0;
  Argument::Run arguments{0, 0};
  Argument::Run outputs{0, 0};
};

// What a tensor that is there before the program runs begins with, where that is not zeros: a
// number, or the elements of a parameter.
struct InitialContent {
  ValueId value = kNoId;
  double number = 0;
  ValueId copied = kNoId;
};

// What the file says of the model besides, under a name: a text, or else a number.
struct Fact {
  StringId name = kNoString;  // "context_length"
  StringId text = kNoString;
  std::int64_t number = 0;
};

// A parameter, buffer or constant as the model names it; tied names share one value's storage.
struct NamedTensor {
  ValueId value = kNoId;
  StringId name = kNoString;  // "bert.embeddings.word_embeddings.weight"
  bool persistent = true;
  std::uint32_t tied_to = kNoId;  // index in the same list of the first name of the same tensor
  std::uint32_t packing = kNoId;  // index into Program::packings; kNoId: an array of its dtype
};

// An operator inside which nodes run ("aten::linear" around its addmm); frame 0 is the program.
struct Frame {
  OpId op = kNoId;
  FrameId parent = 0;
};

// A tensor that an autograd node ("MulBackward0") kept until it had run.
struct SavedTensor {
  ValueId value = kNoId;
  StringId by = kNoString;
};

// What one layer of a model that writes text keeps of each token that it has seen, in numbers: the
// keys and values of `heads` heads. Beyond its window it keeps nothing.
struct CacheLayer {
  std::int64_t heads = 0;
  std::int64_t key_width = 0, value_width = 0;
  std::int64_t window = 0;  // tokens that it looks at, the newest included; 0: all
  // What keys and values of all heads are, where only what they are found from is kept; else 0.
  std::int64_t expanded = 0;
  std::int64_t PerToken() const { return heads * (key_width + value_width); }
};

class Program {
 public:
  Program();

  // --- Tables, all indexed by the ids above -----------------------------------------------------
  StringTable strings;
  DimPool dims;
  ExpressionTable expressions;
  std::vector<StringId> op_names;
  std::vector<Value> values;
  std::vector<Argument> arguments;  // pool of arguments and list elements
  std::vector<ValueId> outputs;     // pool of node outputs; kNoId where a result is None
  std::vector<Graph> graphs;        // [0] is the program
  std::vector<Module> modules;      // [0] is the model; parents come before children
  std::vector<ModuleCall> calls;    // parents come before children
  std::vector<SourceLine> sources;
  std::vector<Symbol> symbols;
  std::vector<Frame> frames;
  std::vector<NamedTensor> parameters;  // in the order of module.parameters()
  std::vector<NamedTensor> buffers;
  std::vector<Packing> packings;        // of those two
  std::vector<ValueId> inputs;          // what the user passes, in order
  std::vector<ValueId> mutated;         // buffers and inputs that the program writes to
  std::vector<std::uint32_t> released;  // outputs as a caller lets them go; empty: last first
  std::uint32_t storage_count = 0;
  std::vector<std::int64_t> graph_runs;          // after `decompose`: of each imported graph
  Repeat repeat;                                 // of the main graph
  std::vector<WholeCall> whole_calls;            // in the order of their nodes, none within another
  std::vector<InitialContent> initial_contents;  // after `decompose`
  std::vector<SavedTensor> saved;  // what autograd keeps for the backward pass, in order
  std::vector<ValueId> gradients;  // by parameter's value, the backward pass's last; may be shorter
  bool ties_known = false;  // the file says which names are one tensor: nothing is to be assumed
  bool has_graph = true;    // false: a file of weights; there are parameters, and nothing runs
  bool memory_estimated = false;         // some scratch is not known to the byte; a note says which
  bool has_stand_ins = false;            // some numbers stand for any: costs are told, not values
  ValueId loss = kNoId;                  // what a training step differentiates
  StringId name = kNoString;             // of the model: class or file name
  StringId producer = kNoString;         // "torch 2.15.0 (schema 8.20)"
  std::vector<CacheLayer> cache_layers;  // of a model that goes on from a cache
  std::vector<Fact> facts;
  std::vector<StringId> notes;  // what a reader or pass wants the report to say, a line each

  // --- Reading ----------------------------------------------------------------------------------
  const Graph& main() const { return graphs[0]; }
  Graph& main() { return graphs[0]; }
  std::string_view text(StringId id) const { return strings.view(id); }
  std::string_view op_name(OpId op) const { return strings.view(op_names[op]); }
  std::span<const Argument> args(const Node& node) const { return list(node.arguments); }
  std::span<const Argument> list(Argument::Run run) const {
    return {arguments.data() + run.begin, run.count};
  }
  std::span<const ValueId> results(const Node& node) const {
    return {outputs.data() + node.outputs.begin, node.outputs.count};
  }
  // Sizes and strides in elements. Requires: concrete (after `bind`).
  std::span<const std::int64_t> sizes(ValueId id) const {
    return dims.span(values[id].dims, values[id].rank);
  }
  std::span<const std::int64_t> strides(ValueId id) const {
    return dims.span(values[id].dims, 2u * values[id].rank).subspan(values[id].rank);
  }
  Dim size(ValueId id, int i) const {
    return Dim::FromRaw(dims.span(values[id].dims, values[id].rank)[static_cast<std::size_t>(i)]);
  }
  // Bytes that a parameter or buffer takes, and as what: "q4_k", "float16".
  std::int64_t stored_bytes(const NamedTensor& tensor) const;
  std::string_view stored_as(const NamedTensor& tensor) const;
  // How often a graph of the imported program ran; a main graph always once.
  std::int64_t runs(GraphId graph) const;
  // The call that a node of the main graph is a part of, or nullptr.
  const WholeCall* whole_call(NodeId node) const;
  // What runs there: the operator of that call, or else the node's.
  OpId op_at(NodeId node) const;
  // How often a node of the main graph runs.
  std::int64_t times(NodeId node) const {
    return node - repeat.first < repeat.count ? repeat.times : 1;
  }
  bool is_concrete() const { return symbols.empty(); }  // no size depends on a symbol

  // --- Building ---------------------------------------------------------------------------------
  OpId AddOpName(std::string_view name);
  OpId FindOpName(std::string_view name) const;                      // kNoId if no node has it
  bool is_drop(const Node& node) const { return node.op == drop_; }  // a kDropMark
  // A tensor in a storage of its own; a view's builder then sets `storage`.
  ValueId AddTensor(StringId value_name, DType dtype, std::span<const std::int64_t> sizes,
                    std::span<const std::int64_t> strides, Role role = Role::kActivation);
  ValueId AddScalar(StringId value_name, ValueKind kind, Dim value);
  Argument::Run AddArguments(std::span<const Argument> args);
  Argument::Run AddOutputs(std::span<const ValueId> ids);

 private:
  std::vector<OpId> op_of_string_;  // indexed by StringId
  OpId drop_ = kNoId;
};

}  // namespace steelyard
