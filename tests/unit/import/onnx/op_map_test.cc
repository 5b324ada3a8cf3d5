// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/op_map.h"

#include <gtest/gtest.h>

namespace steelyard::onnx {
namespace {

TEST(FindRow, TakesTheRowOfTheVersion) {
  const OpRow* old = FindRow("", "Softmax", 12);
  const OpRow* current = FindRow("", "Softmax", 13);
  ASSERT_NE(old, nullptr);
  ASSERT_NE(current, nullptr);
  EXPECT_EQ(old->since, 1);
  EXPECT_EQ(current->since, 13);
  EXPECT_EQ(FindRow("ai.onnx", "Softmax", 21), current);
}

TEST(FindRow, KnowsWhatThereIsNot) {
  EXPECT_EQ(FindRow("", "LayerNormalization", 16), nullptr);
  EXPECT_EQ(FindRow("", "Nonsense", 20), nullptr);
  EXPECT_EQ(FindRow("example.com", "Relu", 20), nullptr);
}

TEST(Rows, HaveDistinctNamesAndVersions) {
  for (const auto rows : {ElementwiseRows(), ShapeRows(), IndexingRows(), NeuralRows(),
                          ReductionRows(), WindowRows(), RecurrentRows(), ControlRows(),
                          QuantizedRows(), ImageRows(), RandomRows(), AttentionRows()}) {
    for (const OpRow& row : rows) {
      EXPECT_EQ(FindRow(row.domain, row.name, row.since), &row) << row.name;
      EXPECT_NE(row.translate, nullptr) << row.name;
    }
  }
}

}  // namespace
}  // namespace steelyard::onnx
