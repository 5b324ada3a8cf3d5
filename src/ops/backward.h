// SPDX-License-Identifier: Apache-2.0
//
// What a gradient formula is given: the call as it was recorded, the gradients that arrive, and the
// tensors that were saved for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"

namespace steelyard {

// A tensor that an autograd node keeps until it has run.
struct Saved {
  ValueId value = kNoId;
  std::int8_t place = 0;         // an argument, or kResult + an output
  bool in_context = false;       // of a node in Python: until it dies
  bool detached = false;         // another tensor on the storage of `value`
  std::uint32_t element = 0;     // of a list of tensors
  ValueId root = kNoId;          // itself, or of a view its base, whose overwriting counts
  std::uint32_t version = 0;     // how often that had been overwritten
  std::uint32_t holder = kNoId;  // of a region that runs again: what will have the value
  bool is_result() const { return place >= kResult; }
};

// Valid while its formula runs.
class Backward {
 public:
  Backward(Dispatcher& d, const OpView& op, std::span<const Tensor> grads,
           std::span<const Saved> saved, std::span<const bool> needed)
      : dispatcher_(d), op_(op), grads_(grads), saved_(saved), needed_(needed) {}

  // The call that is differentiated. Sizes and numbers of its arguments and results may be read;
  // the tensors themselves are gone unless they were saved.
  const OpView& op() const { return op_; }
  // The gradient of output i; undefined where nothing came.
  const Tensor& grad(int i = 0) const { return grads_[static_cast<std::size_t>(i)]; }
  // A saved argument, or an element of a saved list; undefined where it was None or was not saved.
  Tensor saved(int argument, std::uint32_t element = 0) const;
  Tensor result(int i = 0) const { return saved(ResultAt(i)); }
  // The saved elements of a list of tensors; undefined where one was None.
  std::vector<Tensor> saved_list(int argument) const;
  // Whether the gradient of this argument is wanted.
  bool needs(int argument) const { return needed_[static_cast<std::size_t>(argument)]; }

  // Of an operator on lists, which gives one: calls `visit` for each element that has a gradient,
  // with what a formula of the operator for one tensor is given, and gathers what it gives.
  template <class Visit>
  std::vector<Tensor> EachElement(const Visit& visit) const {
    std::vector<Tensor> out;
    for (std::uint32_t i = 0; i < grads_.size(); ++i) {
      out.emplace_back();
      if (!grads_[i].defined()) continue;
      const Element element = ElementAt(i);
      const OpView view(op_.program(), op_.def(), element.arguments, {&element.result, 1},
                        op_.target());
      out.back() = visit(Backward(dispatcher_, view, grads_.subspan(i, 1), element.saved, needed_));
    }
    return out;
  }

 private:
  // Arguments that are lists are their elements, and what was saved of others is not there.
  struct Element {
    std::vector<Argument> arguments;
    ValueId result;
    std::vector<Saved> saved;
  };
  Element ElementAt(std::uint32_t i) const;

  Dispatcher& dispatcher_;
  OpView op_;
  std::span<const Tensor> grads_;
  std::span<const Saved> saved_;
  std::span<const bool> needed_;
};

}  // namespace steelyard
