// SPDX-License-Identifier: Apache-2.0
//
// Decides what is in a graph that make_fx records, in which order, and what recording it allocates:
// a second dispatcher runs the function, apart from the program, and its calls are taken down where
// autograd has let them pass (torch/fx/experimental/proxy_tensor.py,
// torch/_functorch/_aot_autograd/graph_capture_wrappers.py).

#include "ops/dispatch/graph_tracer.h"

#include <algorithm>
#include <string_view>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/engine.h"

namespace steelyard {
namespace {

constexpr std::string_view kBox = "steelyard::box";
// What the profiler calls a mode of Python that a call goes through.
constexpr std::string_view kMode = "PythonDispatchMode";

const OpDef* BoxRow() { return FindOp(OpName::FromRuntime(kBox)); }

}  // namespace

// --- While it is recorded ------------------------------------------------------------------------

bool GraphTrace::IsTraced(const OpDef& def) {
  return def.grad->kind() != Gradient::Kind::kFromParts;
}

// A number that is a tensor is made one again for the mode that gives such tensors their sizes.
std::vector<Tensor> Dispatcher::RunTraced(const OpDef& def, std::span<const Argument> args) {
  GraphTrace& trace = *trace_;
  if (&def == BoxRow()) {
    trace.inside_ = true;
    std::vector<Tensor> box = RunBody(def, args);
    trace.inside_ = false;
    trace.numbers_.emplace(box[0].id(), args[0]);
    return box;
  }
  for (const Argument& arg : args) {
    if (arg.kind != ArgKind::kValue) continue;
    const auto number = trace.numbers_.find(arg.value);
    if (number == trace.numbers_.end()) continue;
    const Inside mode(*this, kMode);
    Box(Argument(number->second));
  }
  trace.inside_ = true;
  const std::size_t begin = out_.main().nodes.size();
  std::vector<Tensor> results = RunBody(def, args);
  trace.hidden_.push_back({begin, out_.main().nodes.size()});
  trace.inside_ = false;
  Node node = context_;
  node.op = OpIdOf(def);
  node.arguments = out_.AddArguments(args);
  std::vector<ValueId> ids;
  ids.reserve(results.size());
  for (const Tensor& result : results) ids.push_back(result.id());
  node.outputs = out_.AddOutputs(ids);
  trace.graph_.nodes.push_back(node);
  return results;
}

class GraphTracer {
 public:
  GraphTracer(Dispatcher& outer, const TraceRequest& request)
      : outer_(outer), request_(request), inner_(outer.source_, outer.target_, outer.variables_) {}
  // `like` has the operands' sizes and strides, and those of the tangents after them.
  TracedGraph Run(std::span<const Tensor> like);

 private:
  std::vector<Tensor> AddInputs(std::span<const Tensor> like);
  std::vector<Tensor> Differentiate(std::span<const Tensor> inputs, std::span<Tensor> results);
  void CutAliases(std::span<const Tensor> inputs, std::vector<Tensor>& gradients);
  void SetOutputs(std::span<const Tensor> outputs);
  TracedGraph Finish();

  Dispatcher& outer_;
  const TraceRequest& request_;
  Dispatcher inner_;
  GraphTrace trace_;
};

TracedGraph GraphTracer::Run(std::span<const Tensor> like) {
  inner_.depth_ = outer_.depth_;
  inner_.budget_ = outer_.budget_;
  inner_.context_ = outer_.context_;
  inner_.grad_enabled_ = outer_.grad_enabled_ || request_.tangents.has_value();
  std::vector<Tensor> inputs = AddInputs(like);
  inner_.trace_ = &trace_;
  if (request_.autocast.enabled) inner_.autocast().Enter(request_.autocast);
  const auto operands = static_cast<std::ptrdiff_t>(request_.operands.size());
  std::vector<Tensor> results =
      inner_.RunGraphHere(request_.body, {inputs.begin(), inputs.begin() + operands});
  if (request_.tangents) {
    inner_.context_.phase = Phase::kBackward;
    std::vector<Tensor> gradients = Differentiate(inputs, results);
    CutAliases(inputs, gradients);
    SetOutputs(gradients);
  } else {
    SetOutputs(results);
  }
  while (!results.empty()) results.pop_back();
  inputs.clear();
  outer_.budget_ = inner_.budget_;
  for (const StringId note : inner_.out_.notes) outer_.Note(inner_.out_.text(note));
  outer_.out_.memory_estimated |= inner_.out_.memory_estimated;
  return Finish();
}

std::vector<Tensor> GraphTracer::AddInputs(std::span<const Tensor> like) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < like.size(); ++i) {
    inputs.emplace_back();
    if (like[i].defined()) {
      inputs.back() = inner_.AddResident("", Dims(like[i].sizes()), Dims(like[i].strides()),
                                         like[i].dtype(), Role::kActivation);
    }
    const bool operand = i < request_.operands.size();
    if (operand && request_.operands[i].defined() && request_.operands[i].requires_grad()) {
      inner_.autograd().MakeLeaf(inputs.back().id(), true);
    }
    trace_.graph_.inputs.push_back(inputs.back().id());
  }
  std::erase(trace_.graph_.inputs, kNoId);
  return inputs;
}

// The results that are floating-point require gradients, whatever they were made of, if any operand
// does. Gradients are taken, not accumulated.
std::vector<Tensor> GraphTracer::Differentiate(std::span<const Tensor> inputs,
                                               std::span<Tensor> results) {
  const std::size_t operands = request_.operands.size();
  std::vector<Tensor> roots, seeds;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    const bool differentiable = IsFloating(results[i].dtype()) || results[i].requires_grad();
    if (!differentiable) {
      Refuse("a branch that is differentiated gives a tensor that has no gradient",
             "PyTorch refuses the step, too: \"outs_to_grad length != tangents length\".");
    }
    if (!results[i].requires_grad()) inner_.autograd().MakeLeaf(results[i].id(), true);
    roots.push_back(results[i]);
    seeds.push_back(inputs[operands + i]);
  }
  inner_.grad_enabled_ = false;
  Engine(inner_, inner_.autograd()).RunMany(roots, seeds);
  std::vector<Tensor> gradients(operands);
  for (std::size_t i = 0; i < operands; ++i) {
    if (!inputs[i].defined()) continue;
    gradients[i] = inner_.autograd().TakeGradient(inputs[i].id());
    if (!gradients[i].defined()) gradients[i] = inner_.Call("aten::zeros_like", inputs[i]);
  }
  return gradients;
}

// What shares memory with an input, or with a gradient before it, is cloned.
void GraphTracer::CutAliases(std::span<const Tensor> inputs, std::vector<Tensor>& gradients) {
  std::vector<StorageId> seen;
  seen.reserve(inputs.size() + gradients.size());
  for (const Tensor& input : inputs) {
    if (input.defined()) seen.push_back(input.view().value().storage);
  }
  for (Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    if (std::ranges::find(seen, gradient.view().value().storage) != seen.end()) {
      gradient = inner_.Call("aten::clone", gradient);
    }
    seen.push_back(gradient.view().value().storage);
  }
}

void GraphTracer::SetOutputs(std::span<const Tensor> outputs) {
  for (const Tensor& output : outputs) {
    trace_.graph_.outputs.push_back(output.defined() ? Argument::OfValue(output.id())
                                                     : Argument::None());
  }
}

TracedGraph GraphTracer::Finish() {
  inner_.trace_ = nullptr;
  inner_.EndReferences();
  TracedGraph traced;
  traced.cost_ = inner_.CostSince(0);
  traced.program_ = std::move(inner_.out_);
  traced.graph_ = std::move(trace_.graph_);
  traced.numbers_ = std::move(trace_.numbers_);
  auto hidden = trace_.hidden_.begin();
  const std::vector<Node>& nodes = traced.program_.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    while (hidden != trace_.hidden_.end() && hidden->end <= i) ++hidden;
    if (hidden != trace_.hidden_.end() && hidden->begin <= i) continue;
    const std::string_view op = traced.program_.op_name(nodes[i].op);
    const bool box = op == kBox;
    if (!box && op != kDropMark) continue;
    const ValueId id =
        box ? traced.program_.results(nodes[i])[0] : traced.program_.args(nodes[i])[0].value;
    const auto number = traced.numbers_.find(id);
    if (number == traced.numbers_.end()) continue;
    TracedGraph::Event event{.value = id, .frame = nodes[i].frame};
    if (box) event.number = number->second;
    traced.events_.push_back(event);
  }
  return traced;
}

// --- Afterwards ----------------------------------------------------------------------------------

void TracedGraph::Inside(Dispatcher& d, FrameId frame, const std::function<void()>& run) const {
  if (frame == 0) return run();
  Inside(d, program_.frames[frame].parent, [&] {
    const Dispatcher::Inside inside(d, program_.op_name(program_.frames[frame].op));
    run();
  });
}

void TracedGraph::AllocateNumbers(Dispatcher& d) const {
  std::unordered_map<ValueId, Tensor> live;
  for (const Event& event : events_) {
    Inside(d, event.frame, [&] {
      if (event.number) {
        live[event.value] = d.Box(*event.number);
      } else {
        live.erase(event.value);
      }
    });
  }
}

Argument TracedGraph::Translate(Dispatcher& d, const Argument& argument,
                                std::span<const Tensor> locals) const {
  Argument out = argument;
  out.name = kNoString;
  switch (argument.kind) {
    case ArgKind::kValue: {
      const auto number = numbers_.find(argument.value);
      if (number != numbers_.end()) return number->second;
      if (!locals[argument.value].defined()) Refuse("a graph calls what is not known");
      out.value = locals[argument.value].id();
      return out;
    }
    case ArgKind::kList:
    case ArgKind::kComplex: {
      std::vector<Argument> elements;
      for (const Argument& element : program_.list(argument.list)) {
        elements.push_back(Translate(d, element, locals));
      }
      out.list = d.AddArguments(elements);
      return out;
    }
    case ArgKind::kString:
      return d.Text(program_.text(argument.text));
    case ArgKind::kNone:
    case ArgKind::kInt:
    case ArgKind::kFloat:
    case ArgKind::kBool:
    case ArgKind::kDType:
    case ArgKind::kGraph:
      return out;
  }
  __builtin_unreachable();
}

std::vector<Tensor> TracedGraph::Run(Dispatcher& d, std::vector<Tensor> operands) const {
  const GraphPlan plan(program_, graph_, Variables::kGenerated);
  const Node caller = d.context();
  std::vector<Tensor> locals(program_.values.size());
  std::erase_if(operands, [](const Tensor& t) { return !t.defined(); });
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    locals[graph_.inputs[i]] = std::move(operands[i]);
  }
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    const bool again = node.phase == Phase::kForward;
    d.SetContext(node, again ? Phase::kRecompute : node.phase);
    std::vector<Argument> args;
    for (const Argument& argument : program_.args(node)) {
      args.push_back(Translate(d, argument, locals));
    }
    std::vector<Tensor> results = d.CallWith(OpName::FromRuntime(program_.op_name(node.op)), args);
    const std::span<const ValueId> ids = program_.results(node);
    for (std::size_t r = 0; r < std::min(ids.size(), results.size()); ++r) {
      if (ids[r] != kNoId) locals[ids[r]] = std::move(results[r]);
    }
    results.clear();
    for (const ValueId dead : plan.DeathsAfter(i)) locals[dead].reset();
  }
  std::vector<Tensor> outputs;
  outputs.reserve(graph_.outputs.size());
  for (const Argument& output : graph_.outputs) {
    outputs.push_back(output.kind == ArgKind::kValue ? locals[output.value] : Tensor());
  }
  locals.clear();
  d.SetContext(caller, caller.phase);
  return outputs;
}

TracedGraph Trace(Dispatcher& d, const TraceRequest& request) {
  std::vector<Tensor> like(request.operands.begin(), request.operands.end());
  if (request.tangents) like.insert(like.end(), request.tangents->begin(), request.tangents->end());
  return GraphTracer(d, request).Run(like);
}

TracedGraph Materialize(Dispatcher& d, const TraceRequest& request) {
  if (d.traces()) return Trace(d, request);
  std::vector<Tensor> copies(request.operands.begin(), request.operands.end());
  if (request.tangents) {
    copies.insert(copies.end(), request.tangents->begin(), request.tangents->end());
  }
  for (Tensor& copy : copies) {
    if (!copy.defined()) continue;
    copy = copy.dtype() == DType::kBool ? d.Call("aten::clone", copy)
                                        : d.Call("aten::empty_strided", Dims(copy.sizes()),
                                                 Dims(copy.strides()), copy.dtype());
  }
  TracedGraph graph = GraphTracer(d, request).Run(copies);
  graph.AllocateNumbers(d);
  while (!copies.empty()) copies.pop_back();
  return graph;
}

}  // namespace steelyard
