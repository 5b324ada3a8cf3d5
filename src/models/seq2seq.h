// SPDX-License-Identifier: Apache-2.0
//
// What models share that read one sequence and write another. The decoder's side is a net of its
// own, with the length of what is written.
#pragma once

#include <cstdint>
#include <string>

#include "models/heads.h"

namespace steelyard::models {

// What a decoder reads of the encoder: of [batch, seq, hidden].
struct Source {
  Tensor hidden;
  Dim seq{1};
};

// Whether the model is trained to write.
bool IsWriting(const Net& net);

// What is written, of [batch, decoder_seq]: labels, of which the decoder's tokens are made, or
// those tokens.
struct Written {
  Tensor tokens = {}, labels = {};
};
// Adds the input, with a length of its own that `decoder` gets; `positions` is the longest.
Written WrittenInput(const Net& net, Net& decoder, std::int64_t positions);

// What stands first of what a decoder is given, and in place of labels that count for nothing.
struct Shift {
  std::int64_t first = 0, padding = 0;
};
// shift_tokens_right: tokens of [batch, net.seq], each behind the one before it.
Tensor ShiftRight(const Net& net, Tensor tokens, const Shift& shift);

// The loss, with labels, the logits, and what the encoder made.
void ReturnWritten(Net& decoder, Tensor logits, const Written& written, std::int64_t vocabulary,
                   const Source& source);

// The classes of what was made: a layer and a projection, with dropout before each.
struct SequenceClassHead : Layer {
  struct Sizes {
    std::int64_t hidden = 1, classes = 1;
    double dropout = 0;
  };
  SequenceClassHead(const Layer& root, const std::string& class_name, const Sizes& sizes)
      : Layer(root, "classification_head", class_name),
        dense(*this, "dense", sizes.hidden, sizes.hidden),
        dropout(*this, "dropout", sizes.dropout),
        out(*this, "out_proj", sizes.hidden, sizes.classes) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return out(dropout(b().Call("aten::tanh", dense(dropout(x)))));
  }
  Linear dense;
  Dropout dropout;
  Linear out;
};

// What was made of each text's end. Data decide how many ends there are: one in each, as tokenizers
// put it.
struct TextEnd {
  std::int64_t width = 1;  // of what was made
  std::int64_t token = 0;  // by which it ends, where the config does not say
};
Tensor EndOfEach(const Net& net, Tensor tokens, Tensor hidden, const TextEnd& end);

}  // namespace steelyard::models
