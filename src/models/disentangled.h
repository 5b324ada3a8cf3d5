// SPDX-License-Identifier: Apache-2.0
//
// DeBERTa's attention: to what tokens are and, apart from it, to how far away they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/text.h"

namespace steelyard::models {

// What scores have of distances.
struct DistanceConfig {
  bool relative = false;                              // they have them at all
  std::int64_t buckets = 0;                           // kinds of distances; 0: each is its own
  std::int64_t span = 1;                              // rows of the table, of one side
  bool to_positions = false, from_positions = false;  // "c2p" and "p2c"
  bool shared = false;  // the table goes through the projections of tokens
  std::int64_t scale_factor() const;
  // How many numbers a layer keeps as tensors.
  std::int64_t scales() const;
};

// A number that the trace keeps as a tensor, and copies where it is used.
struct Constant : Layer {
  // `number` counts them in the model.
  Constant(const Layer& owner, std::int64_t number, DType dtype);
  Tensor operator()() const;
  Tensor value;
};

class DisentangledAttention : public Layer {
 public:
  struct Plan {
    std::int64_t hidden = 1, heads = 1, width = 1;  // the width of a head
    double dropout = 0.0, table_dropout = 0.0;
    DistanceConfig distances;
  };
  // Within `parent` as "self", of the layer with that number.
  DisentangledAttention(const Layer& parent, std::string_view class_name, std::int64_t layer,
                        const Plan& plan);
  // `mask` of [batch, 1, seq, seq] is one for what is seen. `distances` of [1, seq, seq] and their
  // table, of [2 * span, hidden], are none where scores have no distances.
  Tensor operator()(Tensor x, Tensor mask, Tensor distances, Tensor table) const;

 private:
  Tensor Split(Tensor x, Builder::Size rows, Builder::Size length) const;
  Tensor Scale(std::size_t number) const;
  Tensor Narrow(Tensor scale) const;
  Tensor Turned(Tensor x) const { return b().Call("aten::transpose.int", x, -1, -2); }
  Tensor OfAll(Tensor table) const;
  Tensor Rows(Tensor distances) const;
  Tensor Looked(Tensor scores, Tensor rows) const;
  Tensor ToPositions(Tensor queries, Tensor keys_of_table, Tensor distances) const;
  Tensor FromPositions(Tensor keys, Tensor queries_of_table, Tensor distances) const;
  Tensor Bias(Tensor queries, Tensor keys, Tensor distances, Tensor table) const;

  Plan plan_;
  Linear query_, key_, value_;
  Dropout table_dropout_;
  std::optional<Linear> table_key_, table_query_;
  Dropout dropout_;
  std::vector<Constant> scales_;
};

}  // namespace steelyard::models
