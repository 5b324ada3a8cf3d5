// SPDX-License-Identifier: Apache-2.0
//
// Decides what becomes of a node: its row comes first, then the file's function of that name. What
// a translation emitted is taken back if it gives up, or if its results are not what the file
// declares, and the node is carried as an unknown operator: one such node does not cost the whole
// model. Nodes and nesting are bounded, since functions call functions.

#include "import/onnx/graph_importer.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "import/onnx/initializers.h"
#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

// Functions that call functions, and loops in loops, could make more nodes than there is memory
// for: of a small file a quarter of a million.
constexpr std::int64_t kMostNodes = std::int64_t{1} << 18;
constexpr int kMostDepth = 64;
// Operators that could not be translated are counted in the report; these many are explained.
constexpr int kMostNotes = 4;
constexpr std::string_view kCutOff =
    "Cut the model there: onnx.utils.extract_model writes what follows.";

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// "node "/fc/Gemm" (Gemm)"
std::string PlaceOf(const NodeProto& node) {
  std::string out = "node";
  if (!node.name.empty()) out += " " + Quoted(node.name);
  return out + " (" + std::string(node.op) + ")";
}

class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) {
    if (++depth_ <= kMostDepth) return;
    --depth_;
    throw Refusal{InvalidInput("functions or graphs are nested too deeply", "",
                               "Does a function call itself?")};
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

GraphImporter::GraphImporter(const ModelProto& model, Workshop& workshop)
    : model_(model), workshop_(workshop), modules_(workshop.builder) {
  for (const std::string_view message : model.functions) {
    FunctionProto function(message);
    const FunctionKey key(function.domain, function.name);
    functions_.emplace(key, std::move(function));
  }
}

Shape GraphImporter::ShapeOf(const TypeProto& type, std::string_view name) {
  if (type.sizes->size() > static_cast<std::size_t>(Dims::kMaxRank)) {
    throw Refusal{InvalidInput("it has more than 64 dimensions", Quoted(name))};
  }
  Shape out;
  for (const DimProto& dim : *type.sizes) {
    if (dim.number && *dim.number > std::int64_t{1} << 62) {
      throw Refusal{InvalidInput("a size is absurd", Quoted(name))};
    }
    if (dim.number) {
      out.emplace_back(*dim.number);
    } else if (!dim.name.empty()) {
      out.push_back(workshop_.Symbol(dim.name));
    } else {
      out.push_back(workshop_.Symbol(std::string(name) + "_" + std::to_string(out.size())));
    }
  }
  return out;
}

void GraphImporter::AddInputs(const GraphProto& graph, Environment& environment) {
  for (const ValueProto& input : graph.inputs) {
    if (environment.items.contains(input.name)) continue;  // an initializer that may be replaced
    const std::string place = "input " + Quoted(input.name);
    if (!input.type.is_tensor) {
      throw Refusal{Unsupported("it is no tensor but a sequence, a map or an optional", place)};
    }
    const std::optional<DType> dtype = DTypeOf(input.type.element);
    if (!dtype) {
      throw Refusal{Unsupported("its elements are " + ElementName(input.type.element) +
                                    ", which no tensor of PyTorch holds",
                                place, std::string(kCutOff))};
    }
    if (!input.type.sizes) {
      throw Refusal{InvalidInput("the file does not say its shape", place,
                                 "onnx.shape_inference, or the exporter, can be told it.")};
    }
    Item item;
    item.name = input.name;
    item.dtype = dtype;
    item.shape = ShapeOf(input.type, input.name);
    item.tensor = workshop_.builder.Input(input.name, *dtype, ToSizes(*item.shape));
    environment.items[input.name] = &workshop_.Add(std::move(item));
  }
}

void GraphImporter::Declare(const GraphProto& graph, Environment& environment) {
  for (const auto* list : {&graph.values, &graph.outputs}) {
    for (const ValueProto& value : *list) {
      if (value.type.is_tensor) environment.declared.try_emplace(value.name, &value.type);
    }
  }
}

void GraphImporter::Run(const GraphProto& graph) {
  nodes_ = -std::ssize(graph.nodes);  // those of the file itself
  Environment environment;
  environment.opsets = &model_.opsets;
  environment.items = AddInitializers(graph, workshop_);
  AddInputs(graph, environment);
  Declare(graph, environment);
  RunNodes(graph.nodes, environment);
  ReturnOutputs(graph, environment);
}

void GraphImporter::ReturnOutputs(const GraphProto& graph, const Environment& environment) {
  for (const ValueProto& output : graph.outputs) {
    const std::string place = "output " + Quoted(output.name);
    Item* item = Find(output.name, environment);
    if (item == nullptr) throw Refusal{InvalidInput("nothing in the graph makes it", place)};
    std::vector<Item*> all{item};
    if (item->sequence) all = *item->sequence;
    for (Item* one : all) {
      try {
        workshop_.builder.Return(workshop_.TensorOf(*one));
      } catch (const Untranslatable& reason) {
        throw Refusal{Unsupported(reason.reason, place)};
      }
    }
  }
}

void GraphImporter::RunNodes(const std::vector<NodeProto>& nodes, Environment& environment) {
  for (const NodeProto& node : nodes) {
    if (++nodes_ > kMostNodes) {
      throw Refusal{
          Unsupported("functions and loops make more than " + std::to_string(kMostNodes) + " nodes",
                      PlaceOf(node))};
    }
    // Within a function, its caller tells the module.
    if (depth_ == 0) modules_.GoTo(node);
    RunNode(node, environment);
  }
}

void GraphImporter::RunNode(const NodeProto& node, Environment& environment) {
  if (node.op.empty()) throw Refusal{InvalidInput("a node names no operator", PlaceOf(node))};
  const Builder::Place before = workshop_.builder.Here();
  try {
    if (Translate(node, environment)) return;
  } catch (const Untranslatable& why) {
    workshop_.builder.TakeBack(before);
    Note(node, why.reason);
  }
  CarryOpaque(node, environment);
}

bool GraphImporter::Translate(const NodeProto& node, Environment& environment) {
  const std::int64_t opset = OpsetOf(node.domain, environment);
  const OpRow* row = FindRow(node.domain, node.op, opset);
  if (row == nullptr) {
    const auto function = functions_.find(FunctionKey(node.domain, node.op));
    if (function == functions_.end()) return false;
    RunFunction(function->second, node, environment);
    return true;
  }
  Call call(workshop_, node, *row, opset, OperandsOf(node, environment));
  call.outer_attributes = environment.attributes;
  call.run_graph = [&](std::string_view graph, std::span<Item* const> operands) {
    return RunSubgraph(graph, operands, environment);
  };
  const ValueId first = workshop_.builder.NextValue();
  try {
    row->translate(call);
  } catch (const std::out_of_range&) {
    // Of an empty list of numbers, or of a shape that is too short for the operator.
    Call::GiveUp("an operand has fewer elements or dimensions than it takes");
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const bool given = i < call.results().size() && call.results()[i] != nullptr;
    if (call.wants(i) && !given) Call::GiveUp("result " + std::to_string(i));
  }
  CompareWithDeclared(node, call.results(), environment);
  StateResults(call.results(), first);
  BindResults(node, call.results(), environment);
  return true;
}

// What the file declares of results is right, or it is to be looked at by somebody.
void GraphImporter::CompareWithDeclared(const NodeProto& node, std::span<Item* const> results,
                                        const Environment& environment) {
  for (std::size_t i = 0; i < std::min(node.outputs.size(), results.size()); ++i) {
    const auto declared = environment.declared.find(node.outputs[i]);
    if (declared == environment.declared.end() || results[i] == nullptr) continue;
    const TypeProto& type = *declared->second;
    const Item& item = *results[i];
    const std::optional<DType> dtype = DTypeOf(type.element);
    if (dtype && item.dtype && *dtype != *item.dtype) {
      Call::GiveUp("the file declares " + std::string(NameOf(*dtype)) + ", its operands give " +
                   std::string(NameOf(*item.dtype)));
    }
    if (!type.sizes || !item.shape) continue;
    bool same = type.sizes->size() == item.shape->size();
    for (std::size_t d = 0; same && d < item.shape->size(); ++d) {
      const DimProto& size = (*type.sizes)[d];
      same = !size.number || !(*item.shape)[d].is_number() ||
             *size.number == (*item.shape)[d].number();
    }
    if (!same) Call::GiveUp("the file declares other sizes than its operands give");
  }
}

// The sizes that a row of ours will find are compared with these.
void GraphImporter::StateResults(std::span<Item* const> results, ValueId first) {
  for (Item* item : results) {
    if (item != nullptr && item->sequence) StateResults(*item->sequence, first);
    if (item == nullptr || !item->tensor.defined() || item->tensor.id < first) continue;
    if (!item->shape || !item->dtype) continue;
    workshop_.builder.State(item->tensor, *item->dtype, ToSizes(*item->shape));
    if (!item->name.empty()) workshop_.builder.Name(item->tensor, item->name);
  }
}

void GraphImporter::RunFunction(const FunctionProto& function, const NodeProto& node,
                                Environment& environment) {
  const Deeper deeper(depth_);
  Environment inner;
  inner.opsets = function.opsets.empty() ? environment.opsets : &function.opsets;
  const std::vector<Item*> operands = OperandsOf(node, environment);
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    inner.items[function.inputs[i]] = i < operands.size() ? operands[i] : nullptr;
  }
  inner.attributes = [&](std::string_view name) -> std::optional<AttributeProto> {
    std::optional<AttributeProto> found = node.Find(name);
    if (found && !found->reference.empty()) {
      return environment.attributes ? environment.attributes(found->reference) : std::nullopt;
    }
    if (found) return found;
    for (const std::string_view message : function.defaults) {
      AttributeProto standard(message);
      if (standard.name == name) return standard;
    }
    return std::nullopt;
  };
  RunNodes(function.nodes, inner);
  std::vector<Item*> results;
  results.reserve(function.outputs.size());
  for (const std::string_view output : function.outputs) results.push_back(Find(output, inner));
  BindResults(node, results, environment);
}

std::vector<Item*> GraphImporter::RunSubgraph(std::string_view message,
                                              std::span<Item* const> operands,
                                              const Environment& environment) {
  const Deeper deeper(depth_);
  const GraphProto graph(message);
  Environment inner;
  inner.outer = &environment;
  inner.opsets = environment.opsets;
  inner.attributes = environment.attributes;
  const auto [known, added] = stored_.try_emplace(message.data());
  if (added) known->second = AddInitializers(graph, workshop_);
  inner.items = known->second;
  for (std::size_t i = 0; i < std::min(operands.size(), graph.inputs.size()); ++i) {
    inner.items[graph.inputs[i].name] = operands[i];
  }
  Declare(graph, inner);
  RunNodes(graph.nodes, inner);
  std::vector<Item*> results;
  for (const ValueProto& output : graph.outputs) {
    results.push_back(Find(output.name, inner));
    if (results.back() == nullptr) Call::GiveUp("nothing makes " + Quoted(output.name));
  }
  return results;
}

std::vector<Item*> GraphImporter::OperandsOf(const NodeProto& node,
                                             const Environment& environment) const {
  std::vector<Item*> out;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) {
      out.push_back(nullptr);
      continue;
    }
    Item* item = Find(name, environment);
    const bool missing = item == nullptr && !environment.items.contains(name);
    if (missing) {
      throw Refusal{InvalidInput("it takes " + Quoted(name) + ", which nothing before it makes",
                                 PlaceOf(node), "Are the nodes in the order in which they run?")};
    }
    out.push_back(item);
  }
  return out;
}

void GraphImporter::BindResults(const NodeProto& node, std::span<Item* const> results,
                                Environment& environment) {
  for (std::size_t i = 0; i < std::min(node.outputs.size(), results.size()); ++i) {
    if (!node.outputs[i].empty()) environment.items[node.outputs[i]] = results[i];
  }
}

// What the file declares of a result, as far as it does.
void GraphImporter::TakeDeclared(const NodeProto& node, const Environment& environment,
                                 Item& item) {
  const auto declared = environment.declared.find(item.name);
  if (declared == environment.declared.end()) return;
  const std::int64_t element = declared->second->element;
  item.dtype = DTypeOf(element);
  if (element != 0 && !item.dtype) {
    throw Refusal{Unsupported("the elements of its result " + Quoted(item.name) + " are " +
                                  ElementName(element) + ", which no tensor of PyTorch holds",
                              PlaceOf(node), std::string(kCutOff))};
  }
  if (declared->second->sizes) item.shape = ShapeOf(*declared->second, item.name);
}

// "onnx::Foo", or "com.microsoft::Foo".
void GraphImporter::CarryOpaque(const NodeProto& node, Environment& environment) {
  std::vector<Builder::Arg> operands;
  for (Item* item : OperandsOf(node, environment)) {
    if (item == nullptr || item->sequence) continue;
    if (item->tensor.defined() ||
        (item->dtype && item->shape && (item->is_constant() || item->stored))) {
      operands.emplace_back(workshop_.TensorOf(*item));
    }
  }
  const std::string op = (node.domain.empty() ? std::string("onnx") : std::string(node.domain)) +
                         "::" + std::string(node.op);
  std::vector<std::string_view> outputs;
  for (const std::string_view name : node.outputs) {
    if (!name.empty()) outputs.push_back(name);
  }
  const std::vector<Tensor> made = workshop_.builder.Invoke(op, outputs.size(), operands);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Item item;
    item.name = outputs[i];
    item.tensor = made[i];
    TakeDeclared(node, environment, item);
    if (item.dtype && item.shape) {
      workshop_.builder.State(item.tensor, *item.dtype, ToSizes(*item.shape));
    }
    workshop_.builder.Name(item.tensor, item.name);
    const std::string_view name = item.name;
    environment.items[name] = &workshop_.Add(std::move(item));
  }
}

Item* GraphImporter::Find(std::string_view name, const Environment& environment) {
  for (const Environment* at = &environment; at != nullptr; at = at->outer) {
    const auto found = at->items.find(name);
    if (found != at->items.end()) return found->second;
  }
  return nullptr;
}

std::int64_t GraphImporter::OpsetOf(std::string_view domain, const Environment& environment) {
  if (domain == "ai.onnx") domain = {};
  for (const auto& [name, version] : *environment.opsets) {
    if (name == domain || (domain.empty() && name == "ai.onnx")) return version;
  }
  return 1;
}

void GraphImporter::Note(const NodeProto& node, const std::string& reason) {
  if (notes_++ < kMostNotes) {
    workshop_.builder.Note(PlaceOf(node) + " is not translated: " + reason);
  }
}

}  // namespace steelyard::onnx
