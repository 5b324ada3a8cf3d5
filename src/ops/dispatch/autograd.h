// SPDX-License-Identifier: Apache-2.0
//
// Autograd, in metadata: which tensor is which object, what history it has, which nodes there are
// and what they keep alive. PyTorch's rules of ownership decide the bytes of a training step: a
// node lives as long as a tensor or a later node refers to it, a view keeps its base, a saved
// argument is the tensor itself and a saved result a second tensor on its storage.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/checkpoint.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"
#include "ops/parallel/placement.h"

namespace steelyard {

using GradNodeId = std::uint32_t;

// Where a gradient goes: an input slot of a node; node kNoId where nothing wants it.
struct Edge {
  GradNodeId node = kNoId;
  std::uint32_t slot = 0;
};

enum class GradNodeKind : std::uint8_t {
  kFormula,     // of the row of an operator
  kAccumulate,  // the sink of a parameter's gradients
  kCopySlices,  // an operator that overwrote a view, seen from the base
  kAsStrided,   // that view, derived anew from its base
  kCheckpoint,  // a region that runs again when it is its turn
  kFunction,    // of a function in Python, which has its own way
};

// How a view was made, which decides what may overwrite it (CreationMeta in
// torch/csrc/autograd/variable.h). A view of a view that nothing may overwrite is no better.
enum class ViewOrigin : std::uint8_t {
  kAlone,
  kOneOfSeveral,
  kWithoutGrad,  // in the no_grad mode
};

// What a sparse tensor is made of, and keeps. Sums may have fewer of them than is known.
struct SparseParts {
  ValueId indices = kNoId;  // [dims, n]
  ValueId values = kNoId;   // [n, ...]
  bool summed = false;
};

struct GradNode {
  GradNodeKind kind = GradNodeKind::kFormula;
  const OpDef* def = nullptr;     // of kFormula
  Argument::Run arguments{0, 0};  // of the call
  Argument::Run results{0, 0};    // of the call
  std::uint32_t first_edge = 0, edges = 0;
  std::uint32_t first_saved = 0, saved = 0;
  std::uint32_t references = 0;  // tensors and edges that refer to it
  std::uint64_t sequence = 0;
  ValueId variable = kNoId;      // whose gradient kAccumulate sums, or the base of a view
  ValueId view = kNoId;          // of kCopySlices: what was overwritten
  std::int64_t from = 0;         // where it begins, in elements from the beginning of its base
  GradNodeId function = kNoId;   // of kCopySlices: the operator's own node
  RegionId region = kNoId;       // of kCheckpoint
  std::uint32_t python = kNoId;  // of kFunction: which of them
  Node context{};                // of the call: module, source line, origin
};

// A torch.autograd.Function of PyTorch's own, whose backward pass is more than a formula.
class PythonFunction {
 public:
  PythonFunction() = default;
  virtual ~PythonFunction() = default;
  PythonFunction(const PythonFunction&) = delete;
  PythonFunction& operator=(const PythonFunction&) = delete;
  // Of its node.
  virtual std::string_view name() const = 0;
  // Whether it is given zeros where no gradient came (set_materialize_grads).
  virtual bool takes_zeros() const { return true; }
  // The gradients of the operands, undefined where there is none, from those of the results.
  virtual std::vector<Tensor> Backward(Dispatcher& d, std::span<const Tensor> operands,
                                       std::span<const Tensor> arrived) = 0;
};

// A call of such a function.
struct FunctionCall {
  std::unique_ptr<PythonFunction> function{};
  std::vector<Tensor> operands{};  // saved until the backward pass has run
  bool saves_operands = true;      // else only their gradients are asked for
  std::vector<Tensor> context{};   // kept until the node dies, and let go in this order
  std::uint64_t sequence = 0;
};

// What several processes do besides with the gradients of parameters (ops/parallel).
class GradientListener {
 public:
  GradientListener() = default;
  virtual ~GradientListener() = default;
  GradientListener(const GradientListener&) = delete;
  GradientListener& operator=(const GradientListener&) = delete;
  // Whether its hooks are those of the nodes that gather gradients, which then keep what comes in
  // until the hooks have run; else they are the parameters'.
  virtual bool HooksNodes() const { return true; }
  // A gradient is complete, and the parameter has it.
  virtual void OnReady(ValueId parameter) = 0;
  // A node has all gradients of its results, and runs next.
  virtual void BeforeNode(GradNodeId) {}
  // There will be no more of them.
  virtual void OnBackwardEnd() = 0;
};

class Autograd {
 public:
  // AccumulateGrad runs before everything else that is ready.
  static constexpr std::uint64_t kFirst = ~std::uint64_t{0};

  Autograd(Dispatcher& dispatcher, Program& program) : dispatcher_(dispatcher), program_(program) {}

  // --- Objects: several values may be one tensor, which was overwritten in between ---------------
  void Adopt(ValueId id);                         // a tensor of its own
  void AdoptOverwritten(ValueId id, ValueId of);  // the same tensor after an in-place operator
  // set_data: a tensor's object is another's from now on, which has the tensor's storage instead of
  // its own. That counts for views of it only.
  void SetData(const Tensor& data, ValueId of);
  // What detach or detach_ gives has no history, and keeps neither the tensor nor its.
  void Detach(const OpDef& def, ValueId of, ValueId result);
  void Retain(ValueId id);
  void Release(ValueId id);
  void ReleaseParts(ValueId id);  // of a sparse tensor, once it is gone
  // How many handles to the tensor there are, and how many tensors on its storage.
  std::uint32_t uses(ValueId id) const { return objects_[object_of_[id]].uses; }
  std::uint32_t tensors_on_storage(ValueId id) const {
    return tensors_on_storage_[program_.values[id].storage];
  }
  // The tensors on one storage are on another one from now on.
  void MoveStorage(StorageId from, StorageId to) {
    tensors_on_storage_[to] += std::exchange(tensors_on_storage_[from], 0);
  }
  // `several`: by an operator that gives a list of them.
  void SetBase(ValueId view, ValueId base, bool several);
  // It is no view any more, and lets its base go.
  void LeaveBase(ValueId view);
  // Zeros that are not stored, which nothing can overwrite (at::_efficientzerotensor); and whether
  // a tensor is such, or a view of it.
  Tensor ZerosWithoutMemory(const Dims& sizes, DType dtype);
  bool HasNoMemory(ValueId id) const;
  // An operator has overwritten the tensor, and with it its base and all views of that.
  void CountOverwriting(ValueId id, const OpDef& by);
  // A sparse tensor has no memory of its own, and other parts once it was added to.
  // Requires of `parts`: the tensor is sparse.
  void SetParts(ValueId sparse, const SparseParts& parts);
  SparseParts parts(ValueId sparse) const;
  bool IsSparse(ValueId id) const;
  // A tensor that requires a gradient and has no history; views have their bases'.
  bool IsLeaf(ValueId id) const;
  // As requires_grad_() does: one without history is a leaf from now on, which the graph keeps and
  // which keeps its gradient.
  void RequireGradient(ValueId id);
  // Whether a call that takes the last variable of a tensor may overwrite it (overwriting.cc).
  bool MayOverwrite(ValueId id) const;

  // --- Recording ---------------------------------------------------------------------------------

  // Whether the call needs a node: some argument that has a formula requires a gradient.
  bool Wanted(const OpDef& def, std::span<const Argument> args) const;
  // A node with its edges and saved arguments, before the operator runs; then its results.
  GradNodeId Begin(const OpDef& def, std::span<const Argument> args, const Node& context);
  void Finish(GradNodeId id, std::span<const Tensor> results);
  // A node whose operator did not end.
  void Abandon(GradNodeId id);

  // --- Gradients of parameters -------------------------------------------------------------------

  Tensor gradient(ValueId parameter) const;
  void SetGradient(ValueId parameter, Tensor gradient);
  void ClearGradient(ValueId parameter);
  // Of a parameter of which processes have parts, or the same: the gradient comes in one placement,
  // `way.from`, and is stepped in another, which takes a copy for each operator (resolving.cc). Of
  // any other tensor that is of a class of Python's: none is added to it in place.
  void PlaceGradient(ValueId parameter, const ops::Way& way) { ways_[object_of_[parameter]] = way; }
  const ops::Way* WayOfGradient(ValueId parameter) const;
  // The same of a tensor that was made of such gradients.
  void SetWay(ValueId tensor, const ops::Way& way);
  const ops::Way* WayOf(ValueId tensor) const;

  // A parameter that gets a gradient has one from the step before.
  void KeepGradients() { keeps_gradients_ = true; }
  bool keeps_gradients() const { return keeps_gradients_; }

  void Listen(std::unique_ptr<GradientListener> listener) { listener_ = std::move(listener); }
  GradientListener* listener() const { return listener_.get(); }  // or null
  // Tensors that were added as residents become parts of one that was.
  void PutInto(const Tensor& whole, std::span<const Tensor> parts);
  // From here on the program's own nodes run in a record of the profiler; until it is closed.
  void OpenRecord(std::string_view name);
  void CloseRecord() { program_frame_ = 0; }
  FrameId program_frame() const { return program_frame_; }
  // As long as it lives, nodes run inside a record of the profiler, of the name that was given.
  class Record {
   public:
    Record(Autograd& autograd, OpId name);
    ~Record();
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

   private:
    Dispatcher& dispatcher_;
    FrameId before_;
  };
  OpId NameRecord(std::string_view name) { return program_.AddOpName(name); }

  // --- For the engine ----------------------------------------------------------------------------

  const GradNode& node(GradNodeId id) const { return nodes_[id]; }
  std::size_t node_count() const { return nodes_.size(); }
  std::span<const Edge> edges(GradNodeId id) const {
    return {edges_.data() + nodes_[id].first_edge, nodes_[id].edges};
  }
  std::span<const Saved> saved(GradNodeId id) const {
    return {saved_.data() + nodes_[id].first_saved, nodes_[id].saved};
  }
  // How many gradients arrive at a node, and the tensor that the gradient in a slot belongs to.
  std::size_t slots(GradNodeId id) const;
  ValueId variable(GradNodeId id, std::uint32_t slot) const;
  std::string_view name(GradNodeId id) const;
  // What was saved for a node, once it has run; its context only when it dies.
  void ReleaseSaved(GradNodeId id);
  Edge EdgeOf(ValueId tensor);
  // Who runs a backward pass keeps the nodes that it begins with.
  void RetainNode(GradNodeId id) { ++nodes_[id].references; }
  void ReleaseNode(GradNodeId id) { DropNode(id); }

  // --- Regions that run again (checkpoint.cc) ----------------------------------------------------

  // While a region is open, what nodes save is left to holders.
  RegionId OpenRegion(Region region);
  void CloseRegion(RegionId id);
  // A region that is one node with these results: what it keeps, and until when.
  void AddCheckpoint(Region region, std::span<const Tensor> results, std::uint64_t sequence,
                     const Node& context);
  // A node of a function that gave these results.
  void AddFunction(FunctionCall call, std::span<const Tensor> results, const Node& context);
  PythonFunction& function(GradNodeId id) { return *functions_[nodes_[id].python]; }
  bool WantsCheckpoint(std::span<const Tensor> inputs) const;
  std::uint64_t TakeSequence() { return next_sequence_++; }
  const Region& region(RegionId id) const { return regions_[id]; }
  // What was saved for a node; the region of its holders runs again if it has to.
  std::vector<Saved> Unpack(GradNodeId id);
  // The tensors that holders gave go, the last one first.
  void ReleaseUnpacked(std::span<const Saved> saved);
  // A tensor without history, whose gradient is kept as a parameter's is.
  void MakeLeaf(ValueId id, bool requires_grad);
  Tensor TakeGradient(ValueId leaf);

 private:
  struct Object {
    std::uint32_t uses = 0;
    std::uint32_t slot = 0;          // of the node's results
    GradNodeId node = kNoId;         // its history
    GradNodeId accumulator = kNoId;  // of a leaf
    ValueId base = kNoId;            // of a view
    ValueId root = kNoId;            // of a detached tensor: whose versions are its own
    ViewOrigin origin = ViewOrigin::kAlone;
    std::uint32_t version = 0;  // of a view: of its root, when it got its history
    bool leaf = false;          // by RequireGradient
  };
  struct Version {
    std::uint32_t count = 0;
    std::uint32_t detached = 0;  // how often it lost its history in place
    const OpDef* by = nullptr;   // the last that overwrote it
    // What a saved argument is of; a saved result has no history to lose.
    std::uint32_t Of(const Saved& saved) const { return count + (saved.detached ? 0 : detached); }
  };
  using SparseOf = std::pair<ValueId, SparseParts>;
  Object& object(ValueId id) { return objects_[object_of_[id]]; }
  void Die(Object& object);
  void MarkAsGradient(ValueId id);
  void DropNode(GradNodeId id);
  void ReleaseOne(const Saved& saved);
  // What was saved, but for the context, which the node no longer has then.
  std::vector<Saved> TakeSaved(GradNodeId id);
  Saved AsItIs(Saved saved) const;  // with the version that it is now of
  void Save(Saved saved);
  ValueId RootOf(ValueId id) const;
  Version VersionOf(ValueId root) const;
  void RequireNoLeaf(ValueId overwritten) const;
  void DropOriginal(GradNodeId id);
  void RequireMayRebase(ValueId view, std::string_view what) const;
  void RequireAsSaved(std::string_view by, const Saved& saved) const;
  void RetainSaved(ValueId id, bool detached);
  void ReleaseSaved(ValueId id, bool detached);
  HolderId Pack();
  void Refill(ValueId id, bool detached);
  void ReleaseHolder(HolderId id);
  void EndRegion(RegionId id);
  void RunAgain(RegionId id);
  GradNodeId AddNode(const GradNode& node);
  GradNodeId AddAccumulator(ValueId leaf);
  GradNodeId AddCall(GradNode node, std::span<const Tensor> inputs,
                     std::span<const Tensor> operands, std::span<const Tensor> context,
                     std::span<const Tensor> results);
  void AddEdges(GradNode& node, const OpDef& def, std::span<const Argument> args);
  void SetEdges(GradNode& node, std::span<const Edge> edges);
  void MoveSavedToEnd(GradNode& node);
  void SaveArguments(const OpDef& def, std::span<const Argument> args);
  void SaveArgument(const OpDef& def, int place, std::span<const Argument> args);
  bool Keeps(const OpDef& def, int place, std::span<const Argument> args) const;
  bool RequiresGrad(const Argument& argument) const;
  void SetHistory(GradNodeId id, ValueId tensor, std::uint32_t slot);
  void Rebase(GradNodeId id, ValueId view);
  void Refresh(ValueId view);
  bool ReadsAlike(ValueId view, ValueId base) const;
  void FollowPath(ValueId view, ValueId base);
  void Replay(ValueId view, std::span<const ValueId> path);
  std::int64_t PlaceInBase(ValueId view) const;
  void SetHistoryOverwritten(GradNodeId node, ValueId base);

  Dispatcher& dispatcher_;
  Program& program_;
  std::vector<ValueId> object_of_;  // by value
  std::vector<Object> objects_;     // by value, of which the first of an object counts
  std::vector<std::uint32_t> tensors_on_storage_;
  std::unordered_map<ValueId, std::int64_t>
      places_;  // in storages, where that is not the beginning
  // By object: how a view is reached from its base, where one on the way reads elements otherwise.
  std::unordered_map<ValueId, std::vector<ValueId>> paths_;
  std::vector<Version> versions_;               // by root, as far as any was overwritten
  std::vector<StorageId> without_memory_;       // storages of zeros that are not stored
  std::vector<SparseOf> sparse_;                // tensors that are there, by object
  std::unordered_map<ValueId, ops::Way> ways_;  // by object of a parameter
  std::unordered_map<StorageId, ops::Way> ways_of_storage_;  // by what gradients were put into
  std::vector<GradNode> nodes_;
  std::vector<Edge> edges_;
  std::vector<Saved> saved_;
  std::vector<GradNodeId> dying_;
  std::vector<std::pair<GradNodeId, Tensor>> originals_;  // what calls that run now overwrite
  std::vector<Tensor> gradients_;                         // by the value of the parameter
  std::uint64_t next_sequence_ = 0;
  bool keeps_gradients_ = false;
  std::unique_ptr<GradientListener> listener_;
  FrameId program_frame_ = 0;
  std::vector<std::unique_ptr<PythonFunction>> functions_;
  std::vector<Region> regions_;
  std::vector<Holders> holders_of_;  // by region
  std::vector<Holder> holders_;
  RegionId open_ = kNoId;    // whose forward pass runs
  RegionId filled_ = kNoId;  // which runs again
};

}  // namespace steelyard
