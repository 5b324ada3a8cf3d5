// SPDX-License-Identifier: Apache-2.0
#include "models/seq2seq.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

TEST(Seq2seq, WhatIsWrittenHasALengthOfItsOwn) {
  NetUnderTest t({.head = "Model", .labelled = true});
  Net decoder = t.net;
  TokenInput(t.net, 64);
  const Written written = WrittenInput(t.net, decoder, 48);
  EXPECT_FALSE(written.labels.defined()) << "a model without a head takes no labels";
  const Program program = std::move(t.builder).Build().value();
  ASSERT_EQ(program.symbols.size(), 3u);
  EXPECT_EQ(program.symbols[1].max, 64);
  EXPECT_EQ(program.symbols[2].max, 48);
  EXPECT_EQ(program.text(program.values[written.tokens.id].name), "decoder_input_ids");
}

TEST(Seq2seq, LabelsAreWhatIsWritten) {
  NetUnderTest t({.head = "ForConditionalGeneration", .labelled = true});
  Net decoder = t.net;
  const Written written = WrittenInput(t.net, decoder, 48);
  EXPECT_FALSE(written.tokens.defined());
  const Tensor logits = t.builder.Input("x", DType::kFloat32, {t.net.batch, decoder.seq, 9});
  ReturnWritten(decoder, logits, written, 9, {.hidden = logits, .seq = t.net.seq});
  EXPECT_THAT(t.Text(), HasSubstr("return %cross_entropy_loss, %x, %x\n"));
}

TEST(Seq2seq, ShiftedTokensBeginWithTheFirstAndHideIgnoredLabels) {
  NetUnderTest t;
  const Tensor tokens = t.builder.Input("x", DType::kInt64, {2, 3});
  t.builder.Return(ShiftRight(t.net, tokens, {.first = 7, .padding = 5}));
  const std::string text = t.Text();
  EXPECT_THAT(text, HasSubstr("aten::fill_.Scalar(%select, 7)"));
  EXPECT_THAT(text, HasSubstr("aten::eq.Scalar(%new_zeros, -100)"));
  EXPECT_THAT(text, HasSubstr("aten::masked_fill_.Scalar(%new_zeros, %eq, 5)"));
}

}  // namespace
}  // namespace steelyard::models
