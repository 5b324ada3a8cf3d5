// SPDX-License-Identifier: Apache-2.0
//
// The order of events is the program's: `decompose` has written down every kernel and, as
// kDropMark, the place where each reference dies. What is left is to count references to
// storages and to let each kernel's row say what it allocates: once for all that are alike.

#include "runtime/eager.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "ir/release_order.h"
#include "ops/op_def.h"
#include "runtime/residents.h"

namespace steelyard {
namespace {

constexpr std::uint32_t kNoBlock = 0xffffffffu;
constexpr StringId kOwnLabel = kNoString;        // of the kernel
constexpr StringId kCallersLabel = 0xffffffffu;  // of what it runs in

// One word of a row: what a kernel allocates or frees next.
struct Step {
  enum class Kind : std::uint8_t {
    kOutput,
    kAllocate,
    kFree,
    kKeep,
    kUseStream,
    kEmptyCache,
    kRelease,
    kRenew,
    kGive,
  };
  Kind kind;
  Allocations::Kept kept{};  // of a library
  StringId label;
  std::int64_t number;     // of the result, argument, scratch or stream; bytes
  std::int64_t bytes = 0;  // of kGive
};

// Writes down what rows say.
class StepWriter final : public Allocations {
 public:
  explicit StepWriter(StringTable& labels) : labels_(labels) {}

  // From here on it is of another kernel, whose scratch is counted anew.
  void Begin() { scratch_ = 0; }
  std::vector<Step>& steps() { return steps_; }

  void Output(int i, std::string_view label) override { Add(Step::Kind::kOutput, i, label); }
  Scratch Allocate(std::int64_t bytes, std::string_view label) override {
    Add(Step::Kind::kAllocate, bytes, label);
    return scratch_++;
  }
  void Free(Scratch scratch, std::string_view label) override {
    Add(Step::Kind::kFree, scratch, label);
  }
  void Keep(Kept what, std::int64_t bytes) override {
    steps_.push_back({Step::Kind::kKeep, what, kOwnLabel, bytes});
  }
  void UseStream(std::uint8_t stream) override { Add(Step::Kind::kUseStream, stream, {}); }
  void EmptyCache() override { Add(Step::Kind::kEmptyCache, 0, {}); }
  void ReleaseStorage(int i, std::string_view label) override {
    Add(Step::Kind::kRelease, i, label);
  }
  void RenewStorage(int i, std::string_view label) override { Add(Step::Kind::kRenew, i, label); }
  void GiveMemory(int i, std::int64_t bytes, std::string_view label) override {
    Add(Step::Kind::kGive, i, label);
    steps_.back().bytes = bytes;
  }

 private:
  void Add(Step::Kind kind, std::int64_t number, std::string_view label) {
    const StringId id = label.empty()      ? kOwnLabel
                        : label == kCaller ? kCallersLabel
                                           : labels_.Intern(label);
    steps_.push_back({.kind = kind, .label = id, .number = number});
  }

  StringTable& labels_;
  std::vector<Step> steps_;  // of all kernels
  Scratch scratch_ = 0;
};

class EagerRun {
 public:
  EagerRun(const Program& program, const Target& target, LibraryMemory libraries)
      : program_(program), target_(target), libraries_(libraries), writer_(timeline_.labels) {
    storages_.resize(program.storage_count);
    defs_.reserve(program.op_names.size());
    labels_.reserve(program.op_names.size());
    for (OpId op = 0; op < program.op_names.size(); ++op) {
      const std::string_view name = program.op_name(op);
      const OpDef* def = FindOp(OpName::FromRuntime(name));
      defs_.push_back(def);
      labels_.push_back(timeline_.labels.Intern(LabelOfOperator(name)));
    }
    timeline_.events.reserve(program.main().nodes.size());
    timeline_.blocks.reserve(program.main().nodes.size());
  }

  Timeline Run() {
    AddResidents();
    const std::vector<Node>& nodes = program_.main().nodes;
    for (node_ = 0; node_ < nodes.size(); ++node_) {
      FollowRepeat();
      RunNode(nodes[node_]);
    }
    Categorize();
    ReleaseOutputs();
    return std::move(timeline_);
  }

 private:
  struct Storage {
    std::uint32_t references = 0;
    std::uint32_t block = kNoBlock;
    ValueId first = kNoId;  // the value that it was made for
    bool resident = false;
    Category category = {};  // of what is resident
    bool freed = false;
  };
  // A run of steps.
  static constexpr std::uint32_t kNotAsked = 0xffffffffu;
  struct Plan {
    std::uint32_t first = 0, count = kNotAsked;
  };

  void AddResidents() {
    VisitResidents(program_, [&](ValueId id, Category category, std::int64_t bytes) {
      Of(timeline_.resident, category) += bytes;
      Storage& storage = storages_[program_.values[id].storage];
      storage.resident = true;
      storage.first = id;
      storage.category = category;
      if (program_.values[id].role != Role::kCache) return;
      // The program's own: it goes with its last reference.
      storage.references = 1;
      storage.block = AddBlock(storage, bytes);
    });
  }

  // Of what is resident, and the program lets go.
  std::uint32_t AddBlock(const Storage& storage, std::int64_t bytes) {
    timeline_.blocks.push_back(
        {.bytes = bytes, .value = storage.first, .category = storage.category, .resident = true});
    return static_cast<std::uint32_t>(timeline_.blocks.size() - 1);
  }

  std::int64_t StorageBytesOf(ValueId id) const {
    return StorageBytes(program_.values[id].dtype, program_.sizes(id), program_.strides(id));
  }

  ValueId ArgumentValue(int i) const {
    return program_.args(program_.main().nodes[node_])[static_cast<std::size_t>(i)].value;
  }

  // What the program repeats is followed once; `decompose` has seen to it that a further run would
  // do the same.
  void FollowRepeat() {
    const Repeat& repeat = program_.repeat;
    if (repeat.times <= 1) return;
    const auto now = static_cast<std::uint32_t>(timeline_.events.size());
    if (node_ == repeat.first) timeline_.repeat = {now, 0, repeat.times};
    if (node_ == repeat.first + repeat.count) {
      timeline_.repeat.count = now - timeline_.repeat.first;
    }
  }

  // Whether other nodes allocate alike. What is in the host's memory allocates nothing on a device,
  // of which the number of the kernel does not tell.
  bool IsKnown(const Node& node) const {
    if (node.kernel == kNoId) return false;
    return std::ranges::none_of(
        outputs_, [&](ValueId id) { return id != kNoId && program_.values[id].on_host; });
  }

  // What the row of a node says, in the writer's steps: it has been asked, or is now.
  Plan PlanOf(const Node& node, const OpDef& def) {
    const bool known = IsKnown(node);
    if (known && node.kernel < plans_.size() && plans_[node.kernel].count != kNotAsked) {
      return plans_[node.kernel];
    }
    const auto first = static_cast<std::uint32_t>(writer_.steps().size());
    writer_.Begin();
    def.Allocate(OpView(program_, def, program_.args(node), outputs_, target_), writer_);
    const Plan plan{first, static_cast<std::uint32_t>(writer_.steps().size()) - first};
    if (known) {
      if (node.kernel >= plans_.size()) plans_.resize(node.kernel + 1);
      plans_[node.kernel] = plan;
    }
    return plan;
  }

  void Follow(const Step& step) {
    const auto i = static_cast<int>(step.number);
    const StringId label = step.label == kOwnLabel       ? own_label_
                           : step.label == kCallersLabel ? frame_label_
                                                         : step.label;
    switch (step.kind) {
      case Step::Kind::kOutput:
        return AllocateOutput(i, label);
      case Step::Kind::kAllocate:
        scratch_.push_back(Open(step.number, Block::kNoValue, label));
        return;
      case Step::Kind::kFree:
        return Close(scratch_[static_cast<std::size_t>(i)], label);
      case Step::Kind::kKeep:
        return Keep(step.kept, step.number, label);
      case Step::Kind::kUseStream:
        stream_ = static_cast<std::uint8_t>(i);
        return;
      case Step::Kind::kEmptyCache:
        timeline_.emptied.push_back(static_cast<std::uint32_t>(timeline_.events.size()));
        return;
      case Step::Kind::kRelease: {
        Storage& storage = storages_[program_.values[ArgumentValue(i)].storage];
        if (storage.resident && storage.block == kNoBlock) {
          storage.block = AddBlock(storage, StorageBytesOf(storage.first));
        }
        if (storage.block != kNoBlock) Close(std::exchange(storage.block, kNoBlock), label);
        return;
      }
      case Step::Kind::kRenew: {
        Storage& storage = storages_[program_.values[ArgumentValue(i)].storage];
        if (storage.first == kNoId) return;  // a number, which has no memory
        storage.block = Open(StorageBytesOf(storage.first), storage.first, label);
        return;
      }
      case Step::Kind::kGive:
        return GiveMemory(ArgumentValue(i), step.bytes, label);
    }
  }

  // A library keeps it with a handle, of which each thread has its own: the gradients of a device
  // are computed in another one than the rest of the program.
  void Keep(Allocations::Kept what, std::int64_t bytes, StringId label) {
    const Phase phase = program_.main().nodes[node_].phase;
    const bool for_gradients = phase == Phase::kBackward || phase == Phase::kRecompute;
    bool& kept = kept_[for_gradients ? 1 : 0][static_cast<std::size_t>(what)];
    if (std::exchange(kept, true)) return;
    if (libraries_ == LibraryMemory::kThere) {
      Of(timeline_.resident, Category::kLibraries) += bytes;
      return;
    }
    const std::uint32_t block = Open(bytes, Block::kNoValue, label);
    timeline_.blocks[block].category = Category::kLibraries;
  }

  void GiveMemory(ValueId id, std::int64_t bytes, StringId label) {
    Storage& storage = storages_[program_.values[id].storage];
    if (storage.first == kNoId) storage.first = id;
    storage.block = Open(bytes, id, label);
    if (program_.values[id].role == Role::kParameter) {
      timeline_.blocks[storage.block].category = Category::kParameters;
    }
  }

  void AllocateOutput(int i, StringId label) {
    const ValueId id = outputs_[static_cast<std::size_t>(i)];
    Storage& storage = storages_[program_.values[id].storage];
    // A view, or returned in place; of a tensor that may have lost its memory.
    if (storage.block != kNoBlock || storage.resident || storage.first != kNoId) return;
    storage.block = Open(StorageBytesOf(id), id, label);
    storage.first = id;
  }

  void RunNode(const Node& node) {
    const OpDef* def = defs_[node.op];
    frame_label_ = node.frame == 0 ? kNoString : labels_[program_.frames[node.frame].op];
    own_label_ = labels_[node.op];
    outputs_ = program_.results(node);
    for (ValueId id : outputs_) {
      if (id != kNoId) ++storages_[program_.values[id].storage].references;
    }
    if (program_.is_drop(node)) {
      Drop(program_.args(node)[0].value);
      return;
    }
    if (def != nullptr && node.refusal == kNoString) {
      const Plan plan = PlanOf(node, *def);
      scratch_.clear();
      for (std::uint32_t i = 0; i < plan.count; ++i) Follow(writer_.steps()[plan.first + i]);
      if (!IsKnown(node)) writer_.steps().resize(plan.first);  // which nothing follows again
      return;
    }
    // An operator without a row, or one that was refused: its results, as far as the file tells.
    for (int i = 0; i < static_cast<int>(outputs_.size()); ++i) AllocateOutput(i, own_label_);
  }

  void Drop(ValueId id) {
    Storage& storage = storages_[program_.values[id].storage];
    if (--storage.references > 0 || storage.block == kNoBlock) return;
    Close(storage.block, frame_label_);
    storage.freed = true;
  }

  // What a block is counted as: what the strongest claim to any value in it says.
  void Categorize() {
    VisitClaims(program_, [&](ValueId id, Category category) {
      const std::uint32_t block = storages_[program_.values[id].storage].block;
      if (block != kNoBlock) timeline_.blocks[block].category = category;
    });
  }

  // The caller lets the outputs go after everything else; a block goes with the last in it.
  void ReleaseOutputs() {
    frame_label_ = kNoString;
    const std::vector<Argument>& outputs = program_.main().outputs;
    const auto storage_of = [&](const Argument& output) -> Storage& {
      return storages_[program_.values[output.value].storage];
    };
    for (Storage& storage : storages_) storage.references = 0;
    for (const Argument& output : outputs) {
      if (output.kind == ArgKind::kValue) ++storage_of(output).references;
    }
    for (const std::uint32_t place : ReleaseOrder(program_)) {
      if (outputs[place].kind != ArgKind::kValue) continue;
      Storage& storage = storage_of(outputs[place]);
      const bool stays = program_.values[outputs[place].value].role == Role::kCache;
      if (--storage.references > 0 || storage.block == kNoBlock || storage.freed || stays) continue;
      Close(storage.block, kNoString);
      storage.freed = true;
    }
  }

  std::uint32_t Open(std::int64_t bytes, ValueId value, StringId label) {
    const auto block = static_cast<std::uint32_t>(timeline_.blocks.size());
    timeline_.blocks.push_back({.bytes = bytes,
                                .value = value,
                                .allocated = static_cast<std::uint32_t>(timeline_.events.size()),
                                .stream = stream_});
    if (bytes > 0) timeline_.events.push_back({bytes, block, label, node_});
    return block;
  }

  void Close(std::uint32_t block, StringId label) {
    Block& b = timeline_.blocks[block];
    b.freed = static_cast<std::uint32_t>(timeline_.events.size());
    if (b.bytes > 0) timeline_.events.push_back({-b.bytes, block, label, node_});
  }

  const Program& program_;
  const Target& target_;
  LibraryMemory libraries_;
  std::array<std::array<bool, Allocations::kKeptCount>, 2> kept_{};  // by thread
  Timeline timeline_;
  StepWriter writer_;
  std::vector<Plan> plans_;             // by kernel
  std::vector<std::uint32_t> scratch_;  // blocks of the kernel that runs now
  std::vector<Storage> storages_;
  std::vector<const OpDef*> defs_;
  std::vector<StringId> labels_;  // by operator
  std::span<const ValueId> outputs_;
  StringId frame_label_ = kNoString;
  StringId own_label_ = kNoString;
  std::uint8_t stream_ = 0;  // as the last kernel that chose one left it
  NodeId node_ = 0;
};

}  // namespace

Timeline RunEager(const Program& kernels, const Target& target, LibraryMemory libraries) {
  return EagerRun(kernels, target, libraries).Run();
}

}  // namespace steelyard
