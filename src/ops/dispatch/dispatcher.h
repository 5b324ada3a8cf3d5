// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as PyTorch's dispatcher would, but only in metadata: operators become kernels,
// composites are taken apart by their rows, and every reference to a tensor is counted, so that the
// resulting program says where each value dies. Decompositions are written as ATen's C++ is: a
// Tensor is a counted handle, and lifetimes are those of C++ variables and temporaries.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node_numbering.h"
#include "ops/dispatch/graph_plan.h"
#include "ops/op_def.h"
#include "steelyard/error.h"

namespace steelyard {

class Autocast;
class Autograd;
class GraphTrace;
class KnownKernels;
struct AutocastMode;

// A counted reference to a value of the program being built. When the last one goes, the program
// records that the value dies there. An undefined Tensor stands for None.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Dispatcher* dispatcher, ValueId id);  // takes a reference
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept
      : dispatcher_(std::exchange(other.dispatcher_, nullptr)),
        id_(std::exchange(other.id_, kNoId)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(dispatcher_, other.dispatcher_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Tensor() { reset(); }

  bool defined() const { return id_ != kNoId; }
  ValueId id() const { return id_; }
  void reset();  // gives the reference up here, not at the end of the scope

  TensorView view() const;  // Requires: defined.
  DType dtype() const { return view().dtype(); }
  int rank() const { return view().rank(); }
  std::span<const std::int64_t> sizes() const { return view().sizes(); }
  std::span<const std::int64_t> strides() const { return view().strides(); }
  std::int64_t size(int dim) const { return view().size(dim); }
  std::int64_t count() const { return view().count(); }
  bool is_contiguous() const { return view().is_contiguous(); }
  bool requires_grad() const { return view().value().requires_grad; }

 private:
  Dispatcher* dispatcher_ = nullptr;
  ValueId id_ = kNoId;
};

// Arithmetic and bytes: the costlier of two is the greater.
using GraphCost = std::pair<std::int64_t, std::int64_t>;

class Dispatcher {
 public:
  // One argument of a call made by a decomposition.
  class Arg {
   public:
    Arg(const Tensor& t) : argument_(t.defined() ? Argument::OfValue(t.id()) : Argument::None()) {}
    Arg(std::nullopt_t) : argument_(Argument::None()) {}
    Arg(const Argument& a) : argument_(a) {}  // an argument of the composite, passed on
    template <std::integral T>
    Arg(T i)
        : argument_(std::same_as<T, bool> ? Argument::OfBool(i)
                                          : Argument::OfInt(static_cast<std::int64_t>(i))) {}
    Arg(double r) : argument_(Argument::OfFloat(r)) {}
    Arg(DType t) : argument_(Argument::OfDType(t)) {}
    Arg(const Dims& list) : ints_(list), is_ints_(true) {}
    Arg(std::span<const std::int64_t> list) : ints_(list), is_ints_(true) {}
    Arg(const std::vector<Tensor>& list) : tensors_(&list) {}
    Arg(const std::vector<double>& list) : reals_(&list) {}

   private:
    friend class Dispatcher;
    bool is_list() const { return is_ints_ || tensors_ != nullptr || reals_ != nullptr; }
    std::vector<Argument> Elements() const;
    Argument argument_;
    std::span<const std::int64_t> ints_;
    bool is_ints_ = false;
    const std::vector<Tensor>* tensors_ = nullptr;
    const std::vector<double>* reals_ = nullptr;
  };

  // `source` is the program to run; it must be concrete and outlive the dispatcher.
  Dispatcher(const Program& source, const Target& target,
             Variables variables = Variables::kGenerated);
  ~Dispatcher();

  // Runs the main graph with its parameters, buffers and inputs present, and gives the program of
  // kernels. The error names the node, its operands and their shapes.
  Result<Program> Run();
  // Before: takes calls out of a set (by graph and node) that may not overwrite their operand.
  // Requires: the program trains, and the set lives until `Run` has ended (overwriting.cc).
  void CheckOverwriting(std::vector<std::vector<bool>>* calls) { overwriting_ = calls; }
  // Before: adds to a list, which lives until `Run` has ended, the modules whose parameters are
  // gathered, in the order in which that is (ops/parallel/partitioned_parameters.h).
  void RecordModules(std::vector<std::int64_t>* modules) { modules_ = modules; }
  void RecordModule(std::int64_t module) {
    if (modules_ != nullptr) modules_->push_back(module);
  }

  // --- For decompositions ------------------------------------------------------------------------

  // The i-th argument of the composite being decomposed; undefined where it is None.
  Tensor tensor(const OpView& op, int i);
  std::vector<Tensor> tensors(const OpView& op, int i);

  // Calls an operator with arguments in the order of its signature; the rest take their defaults.
  template <class... Args>
  Tensor Call(OpName op, const Args&... args) {
    std::vector<Tensor> out = CallMany(op, args...);
    return out.empty() ? Tensor() : std::move(out[0]);
  }
  template <class... Args>
  std::vector<Tensor> CallMany(OpName op, const Args&... args) {
    const Arg list[] = {Arg(args)...};
    return Invoke(op, list);
  }
  // The same with as many as a list has.
  std::vector<Tensor> CallWith(OpName op, std::span<const Argument> args);
  // Calls an operator with each of these arguments. Autograd sees all of the calls before any runs,
  // as it does of an operator on lists that overwrites them. Requires: the operator has formulas.
  void CallEach(OpName op, std::vector<std::vector<Argument>> calls);
  // A Python number as a 0-dim tensor: 8 bytes, weakest in type promotion.
  Tensor Box(const Argument& number);
  Tensor Box(double number) { return Box(Argument::OfFloat(number)); }
  // torch.tensor(number, dtype=dtype): Python itself writes it into what it allocates.
  Tensor NumberTensor(double number, DType dtype = DType::kFloat32);

  // Runs a graph of the program on these operands; locals die after their last use, as in the code
  // that PyTorch generates for a graph module.
  std::vector<Tensor> RunGraph(GraphId graph, std::vector<Tensor> operands);
  // The same inside the operator, or the record of the profiler, that runs.
  std::vector<Tensor> RunGraphHere(GraphId graph, std::vector<Tensor> operands);
  // Random numbers go on from there, in the order in which the program draws them.
  void RestoreRandom(const Tensor& state);
  // The same once more, with gradients recorded, until it ends or throws StopRecomputation; there
  // `state` goes, and the locals after it.
  std::vector<Tensor> RunGraphAgain(GraphId graph, std::vector<Tensor> operands, Tensor state,
                                    const AutocastMode& mode);

  // The same for the one of several graphs that computes most, and among equals allocates most.
  std::vector<Tensor> RunCostliest(std::span<const GraphId> graphs,
                                   const std::vector<Tensor>& operands);

  // A line for the report: what the program does not say and was assumed.
  void Note(std::string_view line);
  // The same, of scratch that is not known to the byte.
  void NoteEstimate(std::string_view line);
  // From now on the program has numbers that stand for any.
  void UseStandIns() { out_.has_stand_ins = true; }
  // What the file says of a dimension that only the data tells, of result `i` of the node that the
  // operator is. Nothing where the file says nothing, or where the operator is a part of another.
  std::optional<std::int64_t> SizeInFile(int i, int dim) const;
  // As long as it lives, calls that ask how many elements the data chose find this number.
  class WithSize {
   public:
    WithSize(Dispatcher& dispatcher, std::optional<std::int64_t> size)
        : dispatcher_(dispatcher), before_(std::exchange(dispatcher.data_size_, size)) {}
    ~WithSize() { dispatcher_.data_size_ = before_; }
    WithSize(const WithSize&) = delete;
    WithSize& operator=(const WithSize&) = delete;

   private:
    Dispatcher& dispatcher_;
    std::optional<std::int64_t> before_;
  };

  // Regions of torch.autocast.
  Autocast& autocast();
  AutocastMode autocast_mode() const;
  // A tensor that requires a gradient and is no other tensor's: a parameter.
  bool IsLeaf(ValueId id) const;

  bool grad_enabled() const { return grad_enabled_; }

  // --- For the operators of a training step ------------------------------------------------------

  // Whether histories are kept at all: the program trains (`Trains`).
  bool has_autograd() const { return autograd_ != nullptr; }
  // Refuses where they are not: a program in text form may call a row of a training step outside of
  // one.
  Autograd& autograd();
  TensorView ViewOf(ValueId id) const { return {out_, id}; }
  // Of a tensor that shares a storage: where in it the tensor begins, and how large it is. In
  // bytes.
  std::int64_t PlaceOf(ValueId id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? 0 : found->second;
  }
  std::int64_t StorageBytesOf(ValueId id) const;
  const Program& program() const { return out_; }
  Argument::Run AddArguments(std::span<const Argument> args) { return out_.AddArguments(args); }
  // Of the nodes that follow: the module and source line of `origin`, in a phase.
  void SetContext(const Node& origin, Phase phase);
  const Node& context() const { return context_; }
  // A tensor that is there before the step and after it.
  Tensor AddResident(std::string_view name, const Dims& sizes, const Dims& strides, DType dtype,
                     Role role);
  // What such a tensor begins with, if not with zeros: a number, or what a parameter does.
  void BeginWith(const Tensor& resident, double number) {
    out_.initial_contents.push_back({.value = resident.id(), .number = number});
  }
  void BeginAs(const Tensor& resident, const Tensor& parameter) {
    out_.initial_contents.push_back({.value = resident.id(), .copied = parameter.id()});
  }
  void SetRole(const Tensor& tensor, Role role) { out_.values[tensor.id()].role = role; }
  // The tensor is in the host's memory, whatever the program runs on.
  void PutOnHost(const Tensor& tensor) {
    out_.values[tensor.id()].on_host = target_.device != Device::kCpu;
  }
  // Keeps a tensor until the program's outputs have been let go, as a caller's variable does, or
  // for good.
  void Hold(Tensor tensor) { held_.push_back(std::move(tensor)); }
  void LetGo();  // of what is held, first to last
  void Keep(Tensor tensor) { kept_.push_back(std::move(tensor)); }

  // A list of booleans: which results of a kernel are wanted.
  Argument Mask(std::initializer_list<bool> wanted);
  // A string, such as a rounding mode.
  Argument Text(std::string_view text) { return Argument::OfString(out_.strings.Intern(text)); }

  // As long as it lives, gradients are recorded or not (torch.set_grad_enabled).
  class GradMode {
   public:
    GradMode(Dispatcher& dispatcher, bool enabled)
        : dispatcher_(dispatcher), before_(std::exchange(dispatcher.grad_enabled_, enabled)) {}
    ~GradMode() { dispatcher_.grad_enabled_ = before_; }
    GradMode(const GradMode&) = delete;
    GradMode& operator=(const GradMode&) = delete;

   private:
    Dispatcher& dispatcher_;
    bool before_;
  };

  // As long as it lives, nodes run in the program itself, not in an operator.
  class AsProgram {
   public:
    explicit AsProgram(Dispatcher& dispatcher)
        : dispatcher_(dispatcher),
          before_(std::exchange(dispatcher.frame_, 0)),
          recording_(std::exchange(dispatcher.recording_, false)) {}
    ~AsProgram() {
      dispatcher_.frame_ = before_;
      dispatcher_.recording_ = recording_;
    }
    AsProgram(const AsProgram&) = delete;
    AsProgram& operator=(const AsProgram&) = delete;

   private:
    Dispatcher& dispatcher_;
    FrameId before_;
    bool recording_;
  };

  // As long as it lives, nodes run where the operator that runs was called.
  class AsCaller {
   public:
    explicit AsCaller(Dispatcher& dispatcher)
        : dispatcher_(dispatcher),
          before_(
              std::exchange(dispatcher.frame_, dispatcher.out_.frames[dispatcher.frame_].parent)) {}
    ~AsCaller() { dispatcher_.frame_ = before_; }
    AsCaller(const AsCaller&) = delete;
    AsCaller& operator=(const AsCaller&) = delete;

   private:
    Dispatcher& dispatcher_;
    FrameId before_;
  };

  // As long as it lives, the calls that the decomposition makes are methods called from Python, for
  // which a number is boxed outside the operator: its box dies there too.
  class FromPython {
   public:
    explicit FromPython(Dispatcher& dispatcher)
        : dispatcher_(dispatcher),
          before_(std::exchange(dispatcher.python_depth_, dispatcher.depth_)) {}
    ~FromPython() { dispatcher_.python_depth_ = before_; }
    FromPython(const FromPython&) = delete;
    FromPython& operator=(const FromPython&) = delete;

   private:
    Dispatcher& dispatcher_;
    int before_;
  };

  // As long as it lives, nodes run inside an operator, or a record of the profiler, of this name.
  class Inside {
   public:
    Inside(Dispatcher& dispatcher, std::string_view name);
    Inside(Dispatcher& dispatcher, const OpDef& def);
    ~Inside() { dispatcher_.frame_ = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Inside(Dispatcher& dispatcher, OpId op);
    Dispatcher& dispatcher_;
    FrameId before_;
  };

  // A call that was made earlier, to be looked at while others are made.
  class Recorded {
   public:
    Recorded(const Dispatcher& dispatcher, Argument::Run arguments, Argument::Run results);
    OpView View(const OpDef& def) const {
      return {dispatcher_.out_, def, arguments_, results_, dispatcher_.target_};
    }

   private:
    const Dispatcher& dispatcher_;
    std::vector<Argument> arguments_;
    std::vector<ValueId> results_;
  };

  const Target& target() const { return target_; }
  // Whether the calls are only recorded, as those of tensors without memory are (graph_tracer.h).
  bool traces() const { return trace_ != nullptr; }

 private:
  friend class Tensor;
  friend class Autograd;
  friend class GraphTracer;
  struct Locals;

  std::vector<Tensor> Invoke(OpName op, std::span<const Arg> args);
  std::vector<Tensor> Execute(const OpDef& def, std::span<Argument> args);
  std::vector<Tensor> EmitKernel(const OpDef& def, std::span<const Argument> args);
  // A kernel that is being emitted (emit_kernel.cc), what its row says that it gives, and one
  // result.
  struct Emission;
  void AskRow(Emission& kernel);
  ValueId AddResult(const Emission& kernel, std::size_t i);
  std::vector<Tensor> EmitOpaque(const Node& node, const Locals& locals);
  // Where the tensors among arguments are.
  struct Places {
    bool host = false, device = false;
  };
  Places PlacesOf(std::span<const Argument> args) const;
  void AppendNode(OpId op, Argument::Run arguments, Argument::Run outputs);
  void RunNode(const Node& node, Locals& locals);
  void RunRow(const OpDef& def, const Node& node, Locals& locals);
  Work WorkSince(std::size_t node) const;
  GraphCost CostSince(std::size_t node) const;
  GraphCost CostOf(GraphId graph, const std::vector<Tensor>& operands);
  GraphId CostliestOf(std::span<const GraphId> graphs, const std::vector<Tensor>& operands);
  // What a row began and could not finish can be taken back, and its results carried with the
  // sizes that the file gives.
  struct Progress;
  Progress Mark() const;
  void TakeBack(const Progress& progress);
  bool MayCarry(const Node& node, const Locals& locals) const;
  void Carry(const Node& node, std::string_view reason, Locals& locals);
  void BindResults(const Node& node, std::vector<Tensor> results, Locals& locals);
  Argument Translate(const Argument& arg, const Locals& locals);
  void PackVariadic(const OpDef& def, std::vector<Argument>& given);
  void AdoptResidents(Locals& locals);
  void CopyTables();
  void AddReferences(ValueId id, std::uint32_t references);
  std::vector<Tensor> RunBody(const OpDef& def, std::span<const Argument> args);
  std::vector<Tensor> RunParts(const OpDef& def, std::span<const Argument> args);
  // Forgets the whole calls among nodes from this one on.
  void DropCallsFrom(std::size_t node);
  std::vector<Tensor> RunTraced(const OpDef& def, std::span<const Argument> args);
  // Whether the operator needs copies of what stands for other values than are stored; and its run
  // on such copies (resolving.cc).
  bool NeedsResolving(const OpDef& def, std::span<const Argument> args) const;
  std::vector<Tensor> RunResolved(const OpDef& def, std::span<const Argument> args);
  std::vector<Tensor> RunOnCopies(const OpDef& def, std::span<const Argument> args);
  // Whether some operand lies on the processes of a group in another way than it is stepped.
  bool HasPlaced(std::span<const Argument> args) const;
  std::vector<Tensor> RunPlaced(const OpDef& def, std::span<const Argument> args);
  std::vector<Tensor> Record(const OpDef& def, std::span<const Argument> args);
  std::vector<Tensor> RecordCast(const OpDef& def, std::span<const Argument> args);
  void ReleaseOutputs(Locals& locals);
  void EndReferences();
  // A reference to the tensor, or only to its storage.
  void Retain(ValueId id);
  void Release(ValueId id);
  void RetainStorage(ValueId id) { ++references_[id]; }
  void ReleaseStorage(ValueId id);
  void CompareWithFile(const Node& node, ValueId recorded, ValueId computed, const Locals& locals);
  void CountBytes(Count bytes);
  void SetPlace(ValueId id, ValueId of, DType dtype, std::int64_t from, bool from_storage);
  // Puts the sizes of a tensor where `known_` finds them again.
  void ShareDims(ValueId id);
  Error Locate(const Node& node, const RuleError& error, const Locals& locals) const;

  const GraphPlan& PlanOf(GraphId graph);
  void EnterGraph(GraphId graph, Locals& locals);
  void EnterGraph(GraphId graph, std::vector<Tensor> operands, Locals& locals);
  static std::vector<Tensor> ResultsOf(const Locals& locals);
  void RunNodes(GraphId graph, Locals& locals);
  void CheckOverwriting(GraphId graph, std::size_t node, const Locals& locals);
  // The nodes of the source that are repeated run once, and are then found to be as the run before.
  void FollowRepeat(NodeId next);
  void BeginRepeat();
  void EndRepeat();

  OpId OpIdOf(const OpDef& def);

  const Program& source_;
  std::vector<const OpDef*> source_defs_;  // by operator of the source
  std::uint64_t budget_ = 0;               // nodes that may still run
  NodeId running_ = 0;                     // of the main graph
  Target target_;
  Variables variables_;
  NodeNumbering numbering_;                        // of source_
  std::vector<std::unique_ptr<GraphPlan>> plans_;  // by graph of the source
  Program out_;
  std::vector<std::uint32_t> references_;  // by value of out_
  Outputs outputs_;
  std::vector<ValueId> results_;                      // of the kernel that is emitted
  std::unordered_map<ValueId, std::int64_t> places_;  // `PlaceOf`, where it is not the beginning
  // Operators of the built program, by the place of their rows in memory: where it was seen last.
  struct KnownOp {
    const OpDef* def = nullptr;
    OpId op = 0;
  };
  std::array<KnownOp, 256> known_ops_;
  FrameId frame_ = 0;
  Node context_;  // module, source, origin and phase of the nodes being emitted
  OpId drop_op_ = 0;
  std::unique_ptr<Autograd> autograd_;  // of a program that trains
  std::unique_ptr<Autocast> autocast_;  // of a program with such regions
  std::vector<Tensor> held_, kept_;
  bool grad_enabled_ = false;
  bool runs_again_ = false;  // of RunGraphAgain
  bool recording_ = false;   // inside an operator that autograd sees as one
  bool has_step_ = false;    // the operator has a step that is only within one
  bool has_lazy_ = false;    // some tensor stands for other values than are stored
  // Of graphs and the layouts of their operands: which of the graphs computes most.
  std::map<std::vector<std::int64_t>, GraphId> costliest_;
  std::span<const ValueId> recorded_;      // results of the node whose operator runs
  std::optional<std::int64_t> data_size_;  // of WithSize
  int depth_ = 0;
  int python_depth_ = -1;  // of a decomposition that is Python code
  int mismatches_ = 0;
  Count bytes_;             // of all storages so far, scratch included
  std::int64_t times_ = 1;  // that what runs now is run
  struct {
    std::size_t values = 0;
    Count bytes;
  } before_repeat_;  // how much there was
  std::vector<std::vector<bool>>* overwriting_ = nullptr;
  std::vector<std::int64_t>* modules_ = nullptr;  // of RecordModules
  GraphTrace* trace_ = nullptr;
  std::unique_ptr<KnownKernels> known_;
};

// Whether the program runs a backward pass, and hence records gradients.
bool Trains(const Program& program);

}  // namespace steelyard
