// SPDX-License-Identifier: Apache-2.0
#include "import/weights/ggml_types.h"

#include <gtest/gtest.h>

#include <set>

namespace steelyard::weights {
namespace {

// Bytes of a block as ggml-common.h lays them out: scales, then quants.
TEST(GgmlTypes, AreAsLargeAsTheirStructs) {
  constexpr std::int64_t kHalf = 2, kK = 256;
  EXPECT_EQ(FindGgmlType(2)->block_bytes, kHalf + 32 / 2);                 // q4_0: d, qs
  EXPECT_EQ(FindGgmlType(6)->block_bytes, kHalf + 4 + 32 / 2);             // q5_0: qh
  EXPECT_EQ(FindGgmlType(8)->block_bytes, kHalf + 32);                     // q8_0
  EXPECT_EQ(FindGgmlType(12)->block_bytes, 2 * kHalf + 12 + kK / 2);       // q4_k
  EXPECT_EQ(FindGgmlType(14)->block_bytes, kHalf + kK / 16 + 3 * kK / 4);  // q6_k
  EXPECT_EQ(FindGgmlType(18)->block_bytes, kHalf + 3 * kK / 8);            // iq3_xxs
  EXPECT_EQ(FindGgmlType(34)->block_bytes, kHalf + (kK - 4 * kK / 64) / 5 + kK / 64);  // tq1_0
  EXPECT_EQ(FindGgmlType(39)->block_bytes, 1 + 32 / 2);                                // mxfp4
}

TEST(GgmlTypes, OfPlainOnesAreAsWideAsTheirDtype) {
  for (const GgmlType& type : GgmlTypes()) {
    EXPECT_EQ(FindGgmlType(type.number), &type);
    if (!type.dtype) {
      EXPECT_GT(type.block_elements, 1) << type.name;
      continue;
    }
    EXPECT_EQ(type.block_elements, 1);
    EXPECT_EQ(8 * type.block_bytes, BitsOf(*type.dtype)) << type.name;
    EXPECT_EQ(type.name, NameOf(*type.dtype));
  }
}

TEST(GgmlTypes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const GgmlType& type : GgmlTypes()) EXPECT_TRUE(names.insert(type.name).second) << type.name;
  EXPECT_EQ(FindGgmlType(4), nullptr);  // q4_2, which llama.cpp has removed
  EXPECT_EQ(FindGgmlType(1000), nullptr);
}

TEST(FileTypes, HaveTheNamesOfLlamaCpp) {
  EXPECT_EQ(FileTypeNamed(15), "Q4_K_M");
  EXPECT_EQ(FileTypeNamed(1), "F16");
  EXPECT_EQ(FileTypeNamed(1024), "");
}

}  // namespace
}  // namespace steelyard::weights
