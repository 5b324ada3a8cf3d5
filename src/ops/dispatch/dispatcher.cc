// SPDX-License-Identifier: Apache-2.0
//
// Decides the order of everything: which kernels run, what each reference counts for, and where a
// value dies. A drop is written into the program as a node of its own, `steelyard::drop`, inside
// the frame of the operator whose C++ variable held the last reference (or of the program itself),
// since that is where PyTorch's profiler sees the free.

#include "ops/dispatch/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "ir/release_order.h"
#include "ir/visit_values.h"
#include "ir/whole_calls.h"
#include "ops/dispatch/autocast.h"
#include "ops/dispatch/autograd.h"
#include "ops/dispatch/bind_arguments.h"
#include "ops/dispatch/graph_tracer.h"
#include "ops/dispatch/known_kernels.h"
#include "ops/dispatch/locals.h"
#include "ops/dispatch/program_rows.h"

namespace steelyard {
namespace {

// Composites call composites; anything deeper than this is a cycle in the table or in the file.
constexpr int kMaxDepth = 64;
constexpr std::string_view kBackward = "Backward";
// The namespace of operators that PyTorch does not have.
constexpr std::string_view kOwn = "steelyard::";
// A graph may run many times, but a file does not describe more than these operators and some
// sixteen times its own: graphs that call each other twice would be exponential.
constexpr std::uint64_t kLeastBudget = 100'000;
constexpr std::uint64_t kRunsPerNode = 16;
// Differences between file and rule that are spelled out in the report.
constexpr int kShownMismatches = 3;

std::string DescribeTensor(const Program& program, ValueId id) {
  if (id == kNoId) return "None";
  return fmt::format("{}[{}]", ShortNameOf(program.values[id].dtype),
                     fmt::join(program.sizes(id), ","));
}

// Whether a call of the graph takes the value, or the graph gives it.
bool IsUsed(const Program& program, const Graph& graph, ValueId value) {
  bool used = false;
  const auto look = [&](ValueId id) { used |= id == value; };
  for (const Node& node : graph.nodes) {
    for (const Argument& argument : program.args(node)) VisitValues(program, argument, look);
  }
  for (const Argument& output : graph.outputs) VisitValues(program, output, look);
  return used;
}

}  // namespace

// --- Tensor --------------------------------------------------------------------------------------

Tensor::Tensor(Dispatcher* dispatcher, ValueId id) : dispatcher_(dispatcher), id_(id) {
  if (id_ != kNoId) dispatcher_->Retain(id_);
}

Tensor::Tensor(const Tensor& other) : Tensor(other.dispatcher_, other.id_) {}

void Tensor::reset() {
  if (id_ == kNoId) return;
  dispatcher_->Release(id_);
  id_ = kNoId;
}

TensorView Tensor::view() const { return {dispatcher_->out_, id_}; }

// --- Dispatcher ----------------------------------------------------------------------------------

Dispatcher::Dispatcher(const Program& source, const Target& target, Variables variables)
    : source_(source),
      target_(target),
      variables_(variables),
      numbering_(source),
      plans_(source.graphs.size()),
      known_(std::make_unique<KnownKernels>(out_)) {
  CopyTables();
  source_defs_ = RowsOf(source);
  drop_op_ = out_.AddOpName(kDropMark);
  out_.graph_runs.assign(source_.graphs.size(), 0);
  budget_ = kLeastBudget + kRunsPerNode * numbering_.count();
  if (!Trains(source_)) return;
  autograd_ = std::make_unique<Autograd>(*this, out_);
  grad_enabled_ = true;
}

Autograd& Dispatcher::autograd() {
  if (autograd_ == nullptr) Refuse("a part of a training step outside of one");
  return *autograd_;
}

const GraphPlan& Dispatcher::PlanOf(GraphId graph) {
  std::unique_ptr<GraphPlan>& plan = plans_[graph];
  if (plan == nullptr) {
    plan = std::make_unique<GraphPlan>(source_, source_.graphs[graph], variables_);
  }
  return *plan;
}

Dispatcher::~Dispatcher() { EndReferences(); }

bool Trains(const Program& program) { return program.FindOpName(kBackwardOp) != kNoId; }

// The built program shares ids of strings, modules and sources with its source.
void Dispatcher::CopyTables() {
  out_.strings = source_.strings;
  out_.modules = source_.modules;
  out_.sources = source_.sources;
  out_.packings = source_.packings;
  out_.facts = source_.facts;
  out_.has_graph = source_.has_graph;
  out_.memory_estimated = source_.memory_estimated;
  out_.notes = source_.notes;
  out_.has_stand_ins = source_.has_stand_ins;
  out_.released = source_.released;
  out_.name = source_.name;
  out_.producer = source_.producer;
  // About what models need; what is reserved and not used costs no memory.
  const std::size_t expected = source_.main().nodes.size() * (Trains(source_) ? 20 : 4);
  out_.values.reserve(source_.values.size() + expected);
  out_.main().nodes.reserve(expected * 2);
  out_.arguments.reserve(source_.arguments.size() + expected * 4);
  out_.outputs.reserve(expected);
  references_.reserve(out_.values.capacity());
}

// Parameters, buffers and inputs are there before the program starts and after it ends.
void Dispatcher::AdoptResidents(Locals& locals) {
  out_.storage_count = source_.storage_count;
  for (ValueId id : source_.main().inputs) {
    const Value& value = source_.values[id];
    if (value.kind != ValueKind::kTensor || !value.has_layout) continue;
    const ValueId adopted =
        out_.AddTensor(value.name, value.dtype, source_.sizes(id), source_.strides(id), value.role);
    // What an input required when it was exported does not matter; a loop's own data requires none.
    out_.values[adopted].requires_grad = value.requires_grad && value.role == Role::kParameter;
    out_.values[adopted].storage = value.storage == kNoId ? out_.storage_count++ : value.storage;
    out_.main().inputs.push_back(adopted);
    ShareDims(adopted);
    // The module's or the caller's own, which gives up a cache.
    AddReferences(adopted, value.role == Role::kCache ? 0 : 1);
    locals.of(id) = Tensor(this, adopted);
    const TensorView resident = locals.of(id).view();
    CountBytes(std::max(resident.storage_bytes(), resident.bytes()));
  }
  const auto translate = [&](const std::vector<NamedTensor>& from, std::vector<NamedTensor>& to) {
    for (NamedTensor named : from) {
      named.value = locals.of(named.value).id();
      to.push_back(named);
    }
  };
  translate(source_.parameters, out_.parameters);
  translate(source_.buffers, out_.buffers);
  for (ValueId id : source_.inputs) {
    if (locals.of(id).defined()) out_.inputs.push_back(locals.of(id).id());
  }
}

Result<Program> Dispatcher::Run() {
  Locals locals;
  EnterGraph(0, locals);
  try {
    AdoptResidents(locals);
  } catch (const RuleError& error) {
    return Unexpected(InvalidInput(error.message, "parameters and inputs", error.hint));
  }
  try {
    RunNodes(0, locals);
  } catch (const RuleError& error) {
    return Unexpected(Locate(source_.main().nodes[running_], error, locals));
  }
  try {
    for (const Argument& output : locals.graph->outputs) {
      const Argument argument = Translate(output, locals);
      out_.main().outputs.push_back(argument);
      const bool stays =
          output.kind == ArgKind::kValue && source_.values[output.value].role == Role::kCache;
      VisitValues(out_, argument, [&](ValueId id) {
        Role& role = out_.values[id].role;
        if (role == Role::kActivation) role = stays ? Role::kCache : Role::kOutput;
      });
    }
  } catch (const RuleError& error) {
    return Unexpected(InvalidInput(error.message, "the program's outputs", error.hint));
  }
  ReleaseOutputs(locals);
  if (mismatches_ > kShownMismatches) {
    Note(fmt::format("{} results differ from the sizes in the file", mismatches_));
  }
  KeepClosedCalls(out_);
  return std::move(out_);
}

void Dispatcher::EnterGraph(GraphId graph, Locals& locals) {
  locals.graph = &source_.graphs[graph];
  locals.plan = &PlanOf(graph);
  locals.tensors.resize(locals.plan->count());
  if (!runs_again_) out_.graph_runs[graph] += times_;
}

// Runs the nodes in order; each local dies after its last use.
void Dispatcher::RunNodes(GraphId graph, Locals& locals) {
  const std::vector<Node>& nodes = locals.graph->nodes;
  if (nodes.size() > budget_) {
    Contradict("the graphs of the program call each other too many times",
               "A file of this size cannot describe a model that runs so many operators.");
  }
  budget_ -= nodes.size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (graph == 0) FollowRepeat(static_cast<NodeId>(i));
    context_ = nodes[i];
    context_.origin = numbering_.first(graph) + static_cast<NodeId>(i);
    if (runs_again_) context_.phase = Phase::kRecompute;
    CheckOverwriting(graph, i, locals);
    RunNode(nodes[i], locals);
    if (graph == 0 && autograd_ != nullptr) frame_ = autograd_->program_frame();
    for (const ValueId dead : locals.plan->DeathsAfter(i)) locals.of(dead).reset();
  }
}

// Without gradients the caller's references end outside the program. A training loop lets the
// outputs go at the end of each step, and its variables after them; what the module keeps stays.
void Dispatcher::ReleaseOutputs(Locals& locals) {
  if (autograd_ != nullptr) {
    for (const std::uint32_t place : ReleaseOrder(source_)) {
      VisitValues(source_, locals.graph->outputs[place], [&](ValueId id) {
        if (source_.values[id].role != Role::kCache) locals.of(id).reset();
      });
    }
    LetGo();
  }
  EndReferences();
  locals.tensors.clear();
}

void Dispatcher::LetGo() {
  for (Tensor& held : held_) held.reset();
  held_.clear();
}

// Handles that are left end here and mark nothing.
void Dispatcher::EndReferences() {
  references_.assign(references_.size(), UINT32_MAX / 2);
  held_.clear();
  kept_.clear();
  autocast_.reset();
  autograd_.reset();
}

std::vector<Tensor> Dispatcher::RunGraph(GraphId graph, std::vector<Tensor> operands) {
  const FrameId frame = std::exchange(frame_, 0);
  std::vector<Tensor> results = RunGraphHere(graph, std::move(operands));
  frame_ = frame;
  return results;
}

void Dispatcher::EnterGraph(GraphId graph, std::vector<Tensor> operands, Locals& locals) {
  EnterGraph(graph, locals);
  if (operands.size() != locals.graph->inputs.size()) {
    Refuse(fmt::format("a graph of {} inputs is given {} operands", locals.graph->inputs.size(),
                       operands.size()));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    locals.of(locals.graph->inputs[i]) = std::move(operands[i]);
  }
}

std::vector<Tensor> Dispatcher::RunGraphHere(GraphId graph, std::vector<Tensor> operands) {
  if (++depth_ > kMaxDepth) Contradict("graphs are nested too deeply");
  Locals locals;
  EnterGraph(graph, std::move(operands), locals);
  const Node caller = context_;
  RunNodes(graph, locals);
  std::vector<Tensor> results = ResultsOf(locals);
  locals.tensors.clear();
  context_ = caller;
  --depth_;
  return results;
}

std::vector<Tensor> Dispatcher::ResultsOf(const Locals& locals) {
  std::vector<Tensor> results;
  results.reserve(locals.graph->outputs.size());
  for (const Argument& output : locals.graph->outputs) {
    results.push_back(output.kind == ArgKind::kValue ? locals.find(output.value) : Tensor());
  }
  return results;
}

// The argument in terms of the built program.
Argument Dispatcher::Translate(const Argument& arg, const Locals& locals) {
  Argument out = arg;
  if (arg.kind == ArgKind::kValue) {
    const Value& value = source_.values[arg.value];
    if (value.kind == ValueKind::kTensor) {
      const Tensor tensor = locals.find(arg.value);
      if (!tensor.defined() && value.has_layout)
        Contradict(fmt::format("\"{}\" is used before it exists", source_.text(value.name)));
      if (!tensor.defined()) out.kind = ArgKind::kNone;
      out.value = tensor.id();
    } else if (value.scalar.is_number()) {
      out = value.kind == ValueKind::kBool ? Argument::OfBool(value.scalar.number() != 0)
                                           : Argument::OfInt(value.scalar);
      out.name = arg.name;
    } else {
      // A number that only the running program knows. What takes a float seldom asks which it is,
      // and refuses one that is none where it must know.
      UseStandIns();
      out = value.kind == ValueKind::kFloat
                ? Argument::OfFloat(std::numeric_limits<double>::quiet_NaN())
                : Argument::None();
      out.name = arg.name;
    }
  } else if (arg.has_elements()) {
    const std::span<const Argument> list = source_.list(arg.list);
    std::vector<Argument> elements;
    elements.reserve(list.size());
    for (const Argument& element : list) elements.push_back(Translate(element, locals));
    out.list = out_.AddArguments(elements);
  }
  return out;
}

void Dispatcher::RunRow(const OpDef& def, const Node& node, Locals& locals) {
  const auto recorded = std::exchange(recorded_, source_.results(node));
  const WithSize unknown(*this, std::nullopt);
  std::vector<Argument> given;
  given.reserve(node.arguments.count);
  for (const Argument& argument : source_.args(node)) given.push_back(Translate(argument, locals));
  PackVariadic(def, given);
  BoundArguments bound;
  BindArguments(out_, def, given, bound);
  BindResults(node, Execute(def, {bound.data(), def.signature->params().size()}), locals);
  recorded_ = recorded;
}

// "Any... operands" takes all arguments from its place on as one list.
void Dispatcher::PackVariadic(const OpDef& def, std::vector<Argument>& given) {
  const auto params = def.signature->params();
  if (params.empty() || !params.back().variadic) return;
  for (Argument& argument : given) argument.name = kNoString;
  if (given.size() + 1 < params.size()) return;  // refused when the arguments are bound
  const std::span<const Argument> tail = std::span(given).subspan(params.size() - 1);
  const Argument packed = Argument::OfList(out_.AddArguments(tail));
  given.resize(params.size() - 1);
  given.push_back(packed);
}

void Dispatcher::BindResults(const Node& node, std::vector<Tensor> results, Locals& locals) {
  const std::span<const ValueId> ids = source_.results(node);
  const auto given = [&](std::size_t i) {
    return ids[i] != kNoId && source_.values[ids[i]].kind == ValueKind::kTensor;
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!given(i)) continue;
    const Value& file = source_.values[ids[i]];
    const bool missing = i >= results.size() || !results[i].defined();
    if (missing && file.has_layout && IsUsed(source_, *locals.graph, ids[i])) {
      Contradict(fmt::format("it gives no tensor \"{}\"", source_.text(file.name)));
    }
    if (!missing) CompareWithFile(node, ids[i], results[i].id(), locals);
  }
  for (std::size_t i = 0; i < std::min(ids.size(), results.size()); ++i) {
    if (!given(i) || !results[i].defined()) continue;
    Value& value = out_.values[results[i].id()];
    if (value.name == kNoString) value.name = source_.values[ids[i]].name;
    locals.of(ids[i]) = std::move(results[i]);
  }
}

// Either the file is wrong or the rule is. PyTorch computed the file's sizes; its dtypes depend on
// the mode in which it did, and the rule wins there. What an operator gives besides, and nothing
// uses, is as the device has it, and files come from CPUs.
void Dispatcher::CompareWithFile(const Node& node, ValueId recorded, ValueId computed,
                                 const Locals& locals) {
  const Value& file = source_.values[recorded];
  if (!file.has_layout) return;
  const bool same_sizes = std::ranges::equal(source_.sizes(recorded), out_.sizes(computed));
  const bool cast = autocast_ != nullptr;  // then its dtypes are others
  if (same_sizes && (cast || file.dtype == out_.values[computed].dtype)) return;
  const bool besides = target_.device != Device::kCpu && !IsUsed(source_, *locals.graph, recorded);
  if (besides) return;
  const OpDef* def = source_defs_[node.op];
  const bool known = def != nullptr && *def->family != Family::kControl;
  if (!same_sizes && known && MayCarry(node, locals)) {
    Refuse(fmt::format("its result is {}, the file says {}", DescribeTensor(out_, computed),
                       DescribeTensor(source_, recorded)));
  }
  if (++mismatches_ > kShownMismatches) return;
  out_.notes.push_back(out_.strings.Intern(fmt::format(
      "{} \"{}\": the file says {}, its operands give {}", source_.op_name(node.op),
      source_.text(file.name), DescribeTensor(source_, recorded), DescribeTensor(out_, computed))));
}

// A Python number where the schema says Tensor is boxed before the operator starts. The box dies
// when the operator ends: within it where a graph calls it, after it where Python code does.
std::vector<Tensor> Dispatcher::Execute(const OpDef& def, std::span<Argument> args) {
  std::vector<Tensor> boxes;
  const auto params = def.signature->params();
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i].type != ParamType::kTensor || params[i].list) continue;
    const ArgKind kind = args[i].kind;
    if (kind == ArgKind::kInt || kind == ArgKind::kFloat || kind == ArgKind::kBool ||
        kind == ArgKind::kComplex) {
      boxes.push_back(Box(args[i]));
      args[i] = Argument::OfValue(boxes.back().id());
    }
  }
  const bool casts = autocast_ != nullptr && autocast_->CastingOf(def).rule != CastRule::kFollow;
  if (def.is_kernel() && boxes.empty() && !casts && !NeedsResolving(def, args))
    return Record(def, args);
  const bool from_python = depth_ == python_depth_;
  if (++depth_ > kMaxDepth) Contradict("operators are nested too deeply");
  std::vector<Tensor> results;
  {
    const Inside frame(*this, def);
    results = casts ? RecordCast(def, args) : Record(def, args);
    if (!from_python) boxes.clear();
  }
  boxes.clear();
  --depth_;
  return results;
}

std::vector<Tensor> Dispatcher::RunBody(const OpDef& def, std::span<const Argument> args) {
  if (trace_ != nullptr && trace_->Records(def)) return RunTraced(def, args);
  if (NeedsResolving(def, args)) return RunResolved(def, args);
  if (def.is_kernel()) return EmitKernel(def, args);
  return RunParts(def, args);
}

// The innermost operator of PyTorch around a step that computes nothing apart is one call.
std::vector<Tensor> Dispatcher::RunParts(const OpDef& def, std::span<const Argument> args) {
  const auto first = static_cast<NodeId>(out_.main().nodes.size());
  const bool around = std::exchange(has_step_, false);
  std::vector<Tensor> results = (*def.decompose)(*this, OpView(out_, def, args, {}, target_));
  if (has_step_ && !def.name->text().starts_with(kOwn)) {
    std::vector<ValueId> ids;
    ids.reserve(results.size());
    for (const Tensor& result : results) ids.push_back(result.id());
    DropCallsFrom(first);
    out_.whole_calls.push_back({.first = first,
                                .count = static_cast<NodeId>(out_.main().nodes.size()) - first,
                                .op = OpIdOf(def),
                                .arguments = out_.AddArguments(args),
                                .outputs = out_.AddOutputs(ids)});
    has_step_ = false;
  }
  has_step_ |= around;
  return results;
}

// Autograd sees an operator with formulas of its own as one, whatever it calls.
std::vector<Tensor> Dispatcher::Record(const OpDef& def, std::span<const Argument> args) {
  const Gradient::Kind kind = def.grad->kind();
  if (autograd_ == nullptr || recording_ || kind == Gradient::Kind::kFromParts) {
    return RunBody(def, args);
  }
  const bool wanted =
      grad_enabled_ && kind != Gradient::Kind::kNone && autograd_->Wanted(def, args);
  if (wanted && kind == Gradient::Kind::kUnknown) {
    Refuse(fmt::format("the gradient of {} is not known", def.name->text()),
           "The model can be weighed without --train.");
  }
  recording_ = true;
  const GradNodeId node = wanted ? autograd_->Begin(def, args, context_) : kNoId;
  std::vector<Tensor> results;
  {
    // A torch.autograd.Function is recorded under its own name, which its node ends with Backward;
    // a node of PyTorch's fallback (WarnNotImplemented) comes from no such function.
    std::optional<Inside> function;
    std::string_view name = def.grad->node();
    if (wanted && def.grad->in_python() && !def.is_kernel() && name.ends_with(kBackward)) {
      name.remove_suffix(kBackward.size());
      function.emplace(*this, name);
    }
    results = RunBody(def, args);
  }
  recording_ = false;
  if (def.overwrites() && args[0].kind == ArgKind::kValue) {
    autograd_->CountOverwriting(args[0].value, def);
  }
  if (kind == Gradient::Kind::kDropped) {
    autograd_->Detach(def, args[0].value, results[0].id());
  } else if (*def.alias == Alias::kView && def.signature->params()[0].aliased) {
    for (const Tensor& view : results) {
      autograd_->SetBase(view.id(), args[0].value, def.signature->GivesList());
    }
  }
  if (!wanted) return results;
  try {
    autograd_->Finish(node, results);
  } catch (const StopRecomputation&) {
    const Inside frame(*this, def);
    while (!results.empty()) results.pop_back();
    autograd_->Abandon(node);
    throw;
  }
  return results;
}

std::vector<Argument> Dispatcher::Arg::Elements() const {
  std::vector<Argument> list;
  list.reserve(ints_.size() + (reals_ == nullptr ? 0 : reals_->size()) +
               (tensors_ == nullptr ? 0 : tensors_->size()));
  for (const std::int64_t i : ints_) list.push_back(Argument::OfInt(i));
  if (reals_ != nullptr) {
    for (const double real : *reals_) list.push_back(Argument::OfFloat(real));
  }
  if (tensors_ != nullptr) {
    for (const Tensor& t : *tensors_) {
      list.push_back(t.defined() ? Argument::OfValue(t.id()) : Argument::None());
    }
  }
  return list;
}

std::vector<Tensor> Dispatcher::Invoke(OpName op, std::span<const Arg> args) {
  const OpDef* def = FindOp(op);
  if (def == nullptr) Refuse(fmt::format("no row for {}", op.text()));
  std::array<Argument, Signature::kMaxParams> given;
  for (std::size_t i = 0; i < args.size(); ++i) {
    given[i] = args[i].argument_;
    given[i].name = kNoString;
    if (args[i].is_list()) given[i] = Argument::OfList(out_.AddArguments(args[i].Elements()));
  }
  BoundArguments bound;
  BindArguments(out_, *def, {given.data(), args.size()}, bound);
  const auto recorded = std::exchange(recorded_, {});  // a part's results are not the whole's
  std::vector<Tensor> results = Execute(*def, {bound.data(), def->signature->params().size()});
  recorded_ = recorded;
  return results;
}

std::vector<Tensor> Dispatcher::CallWith(OpName op, std::span<const Argument> args) {
  return Invoke(op, std::vector<Arg>(args.begin(), args.end()));
}

void Dispatcher::CallEach(OpName op, std::vector<std::vector<Argument>> calls) {
  const OpDef* def = FindOp(op);
  if (def == nullptr) Refuse(fmt::format("no row for {}", op.text()));
  for (std::vector<Argument>& call : calls) {
    BoundArguments bound;
    BindArguments(out_, *def, call, bound);
    call.assign(bound.begin(), bound.begin() + static_cast<int>(def->signature->params().size()));
  }
  const bool records = autograd_ != nullptr && grad_enabled_ && !recording_;
  std::vector<GradNodeId> nodes(calls.size(), kNoId);
  for (std::size_t i = 0; records && i < calls.size(); ++i) {
    if (autograd_->Wanted(*def, calls[i])) nodes[i] = autograd_->Begin(*def, calls[i], context_);
  }
  const bool before = std::exchange(recording_, true);
  std::vector<std::vector<Tensor>> results;
  results.reserve(calls.size());
  for (std::vector<Argument>& call : calls) results.push_back(Execute(*def, call));
  recording_ = before;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (nodes[i] != kNoId) autograd_->Finish(nodes[i], results[i]);
  }
}

// That of the tensor it was made for, the first on it.
std::int64_t Dispatcher::StorageBytesOf(ValueId id) const {
  const StorageId storage = out_.values[id].storage;
  ValueId first = 0;
  while (out_.values[first].storage != storage) ++first;
  return TensorView(out_, first).storage_bytes();
}

OpId Dispatcher::OpIdOf(const OpDef& def) {
  KnownOp& known =
      known_ops_[reinterpret_cast<std::uintptr_t>(&def) / sizeof(OpDef) % known_ops_.size()];
  if (known.def != &def) known = {&def, out_.AddOpName(def.name->text())};
  return known.op;
}

void Dispatcher::AppendNode(OpId op, Argument::Run arguments, Argument::Run outputs) {
  Node node = context_;
  node.op = op;
  node.arguments = arguments;
  node.outputs = outputs;
  node.frame = frame_;
  node.kernel = kNoId;
  out_.main().nodes.push_back(node);
}

void Dispatcher::CountBytes(Count bytes) {
  bytes_ += bytes;
  if (!bytes_.overflowed()) return;
  Contradict("the program's tensors take more than 2^63 bytes in all",
             "Check the sizes given with --input.");
}

void Dispatcher::AddReferences(ValueId id, std::uint32_t references) {
  references_.push_back(references);
  if (autograd_ == nullptr) return;
  autograd_->Adopt(id);
  for (std::uint32_t i = 0; i < references; ++i) autograd_->Retain(id);
}

void Dispatcher::Retain(ValueId id) {
  ++references_[id];
  if (autograd_ != nullptr) autograd_->Retain(id);
}

void Dispatcher::Release(ValueId id) {
  if (autograd_ != nullptr) autograd_->Release(id);
  ReleaseStorage(id);
  if (autograd_ != nullptr) autograd_->ReleaseParts(id);
}

void Dispatcher::ReleaseStorage(ValueId id) {
  if (--references_[id] > 0) return;
  const Argument argument = Argument::OfValue(id);
  AppendNode(drop_op_, out_.AddArguments({&argument, 1}), {0, 0});
}

void Dispatcher::SetContext(const Node& origin, Phase phase) {
  context_ = origin;
  context_.phase = phase;
}

Tensor Dispatcher::AddResident(std::string_view name, const Dims& sizes, const Dims& strides,
                               DType dtype, Role role) {
  const ValueId id = out_.AddTensor(out_.strings.Intern(name), dtype, sizes, strides, role);
  out_.values[id].storage = out_.storage_count++;
  out_.main().inputs.push_back(id);
  ShareDims(id);
  AddReferences(id, 1);
  Tensor resident(this, id);
  CountBytes(resident.view().storage_bytes());
  return resident;
}

Argument Dispatcher::Mask(std::initializer_list<bool> wanted) {
  std::vector<Argument> list;
  for (const bool one : wanted) list.push_back(Argument::OfBool(one));
  return Argument::OfList(out_.AddArguments(list));
}

Dispatcher::Inside::Inside(Dispatcher& dispatcher, std::string_view name)
    : Inside(dispatcher, dispatcher.out_.AddOpName(name)) {}

Dispatcher::Inside::Inside(Dispatcher& dispatcher, const OpDef& def)
    : Inside(dispatcher, dispatcher.OpIdOf(def)) {}

Dispatcher::Inside::Inside(Dispatcher& dispatcher, OpId op)
    : dispatcher_(dispatcher), before_(dispatcher.frame_) {
  std::vector<Frame>& frames = dispatcher.out_.frames;
  dispatcher.frame_ = static_cast<FrameId>(frames.size());
  frames.push_back({op, before_});
}

Dispatcher::Recorded::Recorded(const Dispatcher& dispatcher, Argument::Run arguments,
                               Argument::Run results)
    : dispatcher_(dispatcher) {
  const std::span<const Argument> list = dispatcher.out_.list(arguments);
  arguments_.assign(list.begin(), list.end());
  const auto first = dispatcher.out_.outputs.begin() + results.begin;
  results_.assign(first, first + results.count);
}

Tensor Dispatcher::tensor(const OpView& op, int i) { return {this, op.tensor(i).id()}; }

std::vector<Tensor> Dispatcher::tensors(const OpView& op, int i) {
  std::vector<Tensor> out;
  for (const TensorView& view : op.tensors(i)) out.emplace_back(this, view.id());
  return out;
}

void Dispatcher::Note(std::string_view line) {
  const StringId id = out_.strings.Intern(line);
  if (std::ranges::find(out_.notes, id) == out_.notes.end()) out_.notes.push_back(id);
}

// The note tells the first modules of which it is said: "...: layer1.0, layer2.0 and others".
void Dispatcher::NoteEstimate(std::string_view line) {
  constexpr std::ptrdiff_t kNamed = 3;
  constexpr std::string_view kOthers = " and others";
  out_.memory_estimated = true;
  const auto said = std::ranges::find_if(
      out_.notes, [&](StringId id) { return out_.text(id).starts_with(line); });
  std::string note(said == out_.notes.end() ? line : out_.text(*said));
  const std::string_view module =
      context_.module == kNoId ? "" : source_.text(source_.modules[context_.module].path);
  const std::string_view named = std::string_view(note).substr(line.size());
  const bool known =
      fmt::format("{},", named).find(fmt::format(" {},", module)) != std::string::npos;
  if (!module.empty() && !known && !named.ends_with(kOthers)) {
    const bool full = std::ranges::count(named, ',') + 1 == kNamed;
    note.append(full ? kOthers : named.empty() ? ": " : ", ").append(full ? "" : module);
  }
  if (said != out_.notes.end()) out_.notes.erase(said);
  Note(note);
}

std::optional<std::int64_t> Dispatcher::SizeInFile(int i, int dim) const {
  return RecordedSize(&source_, recorded_, i, dim);
}

Tensor Dispatcher::Box(const Argument& number) { return Call("steelyard::box", number); }

Tensor Dispatcher::NumberTensor(double number, DType dtype) {
  const std::size_t first = out_.main().nodes.size();
  Tensor made = Call("aten::empty.memory_format", Dims(), dtype);
  if (out_.main().nodes.size() == first) return made;  // of a graph that is only traced
  const std::array arguments{Argument::OfFloat(number), Argument::OfDType(dtype)};
  const std::array results{made.id()};
  out_.whole_calls.push_back({.first = static_cast<NodeId>(first),
                              .count = 1,
                              .op = OpIdOf(*FindOp("aten::scalar_tensor")),
                              .arguments = out_.AddArguments(arguments),
                              .outputs = out_.AddOutputs(results)});
  return made;
}

Error Dispatcher::Locate(const Node& node, const RuleError& error, const Locals& locals) const {
  const std::span<const ValueId> results = source_.results(node);
  std::string where(source_.op_name(node.op));
  if (!results.empty() && results[0] != kNoId) {
    const std::string_view name = source_.text(source_.values[results[0]].name);
    if (!name.empty()) where = fmt::format("node \"{}\": {}", name, where);
  }
  const OpDef* def = source_defs_[node.op];
  const std::span<const Argument> args = source_.args(node);
  std::string operands;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Argument& a = args[i];
    if (a.kind != ArgKind::kValue || !locals.find(a.value).defined()) continue;
    std::string_view name = source_.text(a.name);
    if (name.empty() && def != nullptr && i < def->signature->params().size()) {
      name = def->signature->params()[i].name;
    }
    operands += fmt::format("{}{}{}{}", operands.empty() ? "" : ", ", name, name.empty() ? "" : "=",
                            DescribeTensor(out_, locals.find(a.value).id()));
  }
  if (!operands.empty()) where += fmt::format(" ({})", operands);
  return InvalidInput(error.message, std::move(where), error.hint);
}

}  // namespace steelyard
