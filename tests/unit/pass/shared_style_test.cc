// SPDX-License-Identifier: Apache-2.0

#include "pass/shared_style.h"

#include <gtest/gtest.h>

#include <string_view>

namespace steelyard {
namespace {

using ops::kReplicate;
using ops::ShardOf;

SharedStyle StyleOf(std::string_view text) { return ReadSharedStyle(text).value(); }

TEST(SharedStyle, WordsStandForPyTorchsDefaults) {
  EXPECT_EQ(StyleOf("colwise").input, kReplicate);
  EXPECT_EQ(StyleOf("ColwiseParallel()").output, ShardOf(-1));
  EXPECT_EQ(StyleOf("colwise_gather").output, kReplicate);
  EXPECT_EQ(StyleOf("rowwise").input, ShardOf(-1));
  EXPECT_EQ(StyleOf("RowwiseParallel").output, kReplicate);
  EXPECT_TRUE(StyleOf("rowwise").local_output);
  EXPECT_EQ(StyleOf("SequenceParallel()").input, ShardOf(1));
  EXPECT_FALSE(StyleOf("SequenceParallel()").local_output);
}

TEST(SharedStyle, TransformersHasWordsOfItsOwn) {
  EXPECT_EQ(StyleOf("embedding_rowwise").name, "rowwise");
  EXPECT_EQ(StyleOf("embedding_rowwise").input, kReplicate);
  EXPECT_EQ(StyleOf("colwise_gather_output").output, kReplicate);
  EXPECT_EQ(StyleOf("rowwise_split_input").input, kReplicate);
  EXPECT_EQ(StyleOf("replicate").name, "replicated");
  EXPECT_FALSE(ReadSharedStyle("packed_colwise"));
}

TEST(SharedStyle, OptionsAreReadAsPyTorchWritesThem) {
  const SharedStyle rows = StyleOf(
      "RowwiseParallel(input_layouts=(Replicate(),), output_layouts=(Shard(dim=1),), "
      "use_local_output=False)");
  EXPECT_EQ(rows.name, "rowwise");
  EXPECT_EQ(rows.input, kReplicate);
  EXPECT_EQ(rows.output, ShardOf(1));
  EXPECT_FALSE(rows.local_output);
  EXPECT_EQ(StyleOf("SequenceParallel(sequence_dim=2, use_local_output=True)").output, ShardOf(2));
  const SharedStyle prepared = StyleOf(
      "PrepareModuleInput(input_layouts=(Shard(1), None), desired_input_layouts="
      "(Replicate(), None), input_kwarg_layouts={}, desired_input_kwarg_layouts={})");
  EXPECT_TRUE(prepared.prepares());
  EXPECT_EQ(prepared.input, ShardOf(1));
  EXPECT_EQ(prepared.output, kReplicate);
}

TEST(SharedStyle, WhatIsNotReadIsRefused) {
  for (const std::string_view text :
       {"rows", "rowwise(", "rowwise(output_layouts=Partial())", "rowwise(shards=2)", "rowwise(x)",
        "SequenceParallel(output_layouts=Shard(1))", "SequenceParallel(sequence_dim=x)",
        "colwise(use_local_output=1)", "PrepareModuleInput(input_layouts=(Shard(1), Shard(1)))"}) {
    EXPECT_FALSE(ReadSharedStyle(text)) << text;
  }
}

}  // namespace
}  // namespace steelyard
