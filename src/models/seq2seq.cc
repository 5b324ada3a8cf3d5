// SPDX-License-Identifier: Apache-2.0
#include "models/seq2seq.h"

#include <algorithm>
#include <limits>

namespace steelyard::models {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kIgnored = -100;  // a label that counts for nothing

}  // namespace

bool IsWriting(const Net& net) { return net.options.head == "ForConditionalGeneration"; }

Written WrittenInput(const Net& net, Net& decoder, std::int64_t positions) {
  const std::int64_t most = std::max<std::int64_t>(positions, 1);
  decoder.batch = net.batch;
  decoder.seq =
      net.b.Symbol({.name = "decoder_seq", .example = std::min(kUsualSeq, most), .max = most});
  const bool labelled = net.options.labelled && IsWriting(net);
  const Tensor input = net.b.Input(labelled ? "labels" : "decoder_input_ids", DType::kInt64,
                                   {decoder.batch, decoder.seq});
  return labelled ? Written{.labels = input} : Written{.tokens = input};
}

Tensor ShiftRight(const Net& net, Tensor tokens, const Shift& shift) {
  Builder& b = net.b;
  const Tensor shifted = b.Call("aten::new_zeros", tokens, Shape{net.batch, net.seq});
  const Tensor all_but_last = b.Call("aten::clone", b.Call("aten::slice.Tensor", tokens, 1, 0, -1));
  b.Call("aten::copy_", b.Call("aten::slice.Tensor", shifted, 1, 1, kEnd), all_but_last);
  b.Call("aten::fill_.Scalar", b.Call("aten::select.int", shifted, 1, 0), shift.first);
  const Tensor ignored = b.Call("aten::eq.Scalar", shifted, kIgnored);
  return b.Call("aten::masked_fill_.Scalar", shifted, ignored, shift.padding);
}

void ReturnWritten(Net& decoder, Tensor logits, const Written& written, std::int64_t vocabulary,
                   const Source& source) {
  ReturnTokenClasses(decoder, logits, written.labels, vocabulary, false);
  decoder.b.Return(source.hidden);
}

Tensor EndOfEach(const Net& net, Tensor tokens, Tensor hidden, const TextEnd& end) {
  Builder& b = net.b;
  const Tensor is_end =
      b.Call("aten::eq.Scalar", tokens, net.config.Count("eos_token_id", end.token));
  const Tensor counts = b.Call("aten::sum.dim_IntList", is_end, Shape{1});
  const Tensor distinct = b.CallMany("aten::unique_consecutive", 3, counts)[0];
  b.State(distinct, DType::kInt64, {1});  // transformers checks that they are alike
  const Tensor ends = b.Call("aten::index.Tensor", hidden, std::vector<Tensor>{is_end});
  b.State(ends, net.dtype(), {net.batch, end.width});
  const Tensor apart = b.Call("aten::view", ends, Shape{net.batch, -1, end.width});
  return b.Call("aten::select.int", apart, 1, -1);
}

}  // namespace steelyard::models
