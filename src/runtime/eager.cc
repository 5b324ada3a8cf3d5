// SPDX-License-Identifier: Apache-2.0
//
// The order of events is the program's: `decompose` has written down every kernel and, as
// kDropMark, the place where each reference dies. What is left is to count references to
// storages and to let each kernel's row say what it allocates.

#include "runtime/eager.h"

#include <utility>
#include <vector>

#include "ir/release_order.h"
#include "ops/op_def.h"
#include "runtime/residents.h"

namespace steelyard {
namespace {

constexpr std::uint32_t kNoBlock = 0xffffffffu;

class EagerRun final : public Allocations {
 public:
  EagerRun(const Program& program, const Target& target) : program_(program), target_(target) {
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

  void Output(int i, std::string_view label) override {
    const ValueId id = outputs_[static_cast<std::size_t>(i)];
    Storage& storage = storages_[program_.values[id].storage];
    if (storage.block != kNoBlock || storage.resident) return;  // a view, or returned in place
    storage.block = Open(StorageBytesOf(id), id, LabelOf(label));
    storage.first = id;
  }

  Scratch Allocate(std::int64_t bytes, std::string_view label) override {
    return Open(bytes, Block::kNoValue, LabelOf(label));
  }

  void Free(Scratch scratch, std::string_view label) override { Close(scratch, LabelOf(label)); }

  void UseStream(std::uint8_t stream) override { stream_ = stream; }

  void ReleaseStorage(int i, std::string_view label) override {
    Storage& storage = storages_[program_.values[ArgumentValue(i)].storage];
    if (storage.block != kNoBlock) Close(std::exchange(storage.block, kNoBlock), LabelOf(label));
  }

  void RenewStorage(int i, std::string_view label) override {
    const StorageId id = program_.values[ArgumentValue(i)].storage;
    const ValueId first = storages_[id].first;
    storages_[id].block = Open(StorageBytesOf(first), first, LabelOf(label));
  }

 private:
  struct Storage {
    std::uint32_t references = 0;
    std::uint32_t block = kNoBlock;
    ValueId first = kNoId;  // the value that it was made for
    bool resident = false;
    bool freed = false;
  };

  void AddResidents() {
    VisitResidents(program_, [&](ValueId id, Category category, std::int64_t bytes) {
      Of(timeline_.resident, category) += bytes;
      Storage& storage = storages_[program_.values[id].storage];
      storage.resident = true;
      if (program_.values[id].role != Role::kCache) return;
      // The program's own: it goes with its last reference.
      storage.references = 1;
      storage.block = static_cast<std::uint32_t>(timeline_.blocks.size());
      timeline_.blocks.push_back(
          {.bytes = bytes, .value = id, .category = category, .resident = true});
    });
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

  void RunNode(const Node& node) {
    const OpDef* def = defs_[node.op];
    frame_label_ = node.frame == 0 ? kNoString : labels_[program_.frames[node.frame].op];
    own_label_ = labels_[node.op];
    stream_ = 0;
    outputs_ = program_.results(node);
    for (ValueId id : outputs_) {
      if (id != kNoId) ++storages_[program_.values[id].storage].references;
    }
    if (program_.is_drop(node)) {
      Drop(program_.args(node)[0].value);
      return;
    }
    if (def != nullptr && node.refusal == kNoString) {
      def->Allocate(OpView(program_, *def, program_.args(node), outputs_, target_), *this);
      return;
    }
    // An operator without a row, or one that was refused: its results, as far as the file tells.
    for (int i = 0; i < static_cast<int>(outputs_.size()); ++i) Output(i, {});
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

  StringId LabelOf(std::string_view label) {
    if (label.empty()) return own_label_;
    return label == kCaller ? frame_label_ : timeline_.labels.Intern(label);
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
  Timeline timeline_;
  std::vector<Storage> storages_;
  std::vector<const OpDef*> defs_;
  std::vector<StringId> labels_;  // by operator
  std::span<const ValueId> outputs_;
  StringId frame_label_ = kNoString;
  StringId own_label_ = kNoString;
  std::uint8_t stream_ = 0;
  NodeId node_ = 0;
};

}  // namespace

Timeline RunEager(const Program& kernels, const Target& target) {
  return EagerRun(kernels, target).Run();
}

}  // namespace steelyard
