// SPDX-License-Identifier: Apache-2.0
//
// What is known of the elements of a program's tensors while its nodes are gone through, by the
// column `contents` of their rows, and what follows for products: multiplications with what a mask
// has made zero, and results that a mask hides before anything reads them.
//
//   KnownContents known(kernels, rows);
//   for (NodeId i = 0; i < nodes.size(); ++i) {
//     work[i] = (**rows[nodes[i].op]->work)(OpView(..., &known));  // as things are before it runs
//     known.Run(i);
//   }
//   known.unread(i);  // elements of what node i gives that nothing depends on
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ops/contents/contents.h"
#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard {

class KnownContents {
 public:
  // Both must outlive it; `rows` is by operator.
  KnownContents(const Program& kernels, std::span<const OpDef* const> rows);

  // Goes on to after the node. Nodes come in their order.
  void Run(NodeId node);
  // After the last node: which results are not read, from the end to the begin.
  void LookBack();

  // What a tensor holds now; nullptr if nothing is known of it, or there is none.
  const Contents* of(ValueId value) const;
  const Contents* of(const TensorView& tensor) const {
    return tensor.defined() ? of(tensor.id()) : nullptr;
  }
  // Elements of a tensor that are zero now, or so low that what they are added to is hidden.
  std::int64_t zeros(const TensorView& tensor) const;
  std::int64_t hidden(const TensorView& tensor) const;
  // Elements of a node's first result that nothing depends on. Requires: `LookBack`.
  std::int64_t unread(NodeId node) const;

 private:
  // Contents, with how much of what is kept is zero or hides.
  struct Entry {
    Contents contents;
    std::int64_t zeros = 0;
    std::int64_t hidden = 0;
  };
  // What is in a storage from one write to the next.
  struct Version {
    std::uint32_t reads = 0;
    std::int64_t elements = 0;  // of the result that is written
    std::int64_t unread = 0;
  };
  // What a value held when it was made: it is out of date when its storage was written since.
  struct Held {
    std::uint32_t entry = kNoId;
    std::uint32_t version = kNoId;
    std::int64_t zeros = 0;  // of a view whose elements stand in an order that is not known
  };
  struct Step {
    std::uint32_t version = kNoId;  // that the node writes
    std::uint32_t first = kNoId;    // that it reads at the places that it writes
    std::uint32_t second = kNoId;
  };

  const Held* HeldBy(ValueId value) const;
  void Read(const Node& node, Step& step, bool pointwise, std::int64_t count);
  std::uint32_t Write(StorageId storage, std::int64_t elements);
  void AddToKey(const Argument& a, std::vector<std::int64_t>& key) const;
  std::uint32_t Compute(const Node& node, const OpDef& def);
  std::uint32_t Add(Contents contents);
  bool MayKnow(const Node& node, const OpDef& def) const;
  void Overwrite(const Node& node, const OpDef* def);
  void Look(const Node& node, std::uint32_t entry);
  void Ignore(const OpDef& def, const Node& node, const Step& step);

  const Program& program_;
  std::span<const OpDef* const> rows_;
  std::vector<Entry> entries_;
  std::vector<Held> held_;              // by value
  std::vector<std::uint32_t> current_;  // by storage, in versions_
  std::vector<Version> versions_;
  std::vector<Step> steps_;  // by node
  std::size_t runs_ = 0;     // of all entries
  bool anything_unread_ = false;
  // Large results by what they were computed from: each layer of a model takes the same mask.
  std::map<std::vector<std::int64_t>, std::uint32_t> computed_;
};

}  // namespace steelyard
