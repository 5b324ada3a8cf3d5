// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "steelyard/tables.h"

namespace steelyard {
namespace {

TEST(StringTable, EmptyTextIsIdZero) {
  StringTable table;
  EXPECT_EQ(table.Intern(""), kNoString);
  EXPECT_EQ(table.Find(""), kNoString);
  EXPECT_EQ(table.view(kNoString), "");
  EXPECT_EQ(table.size(), 1u);
}

TEST(StringTable, EqualTextsHaveOneId) {
  StringTable table;
  const StringId a = table.Intern("bert.encoder");
  EXPECT_EQ(table.Intern(std::string("bert.") + "encoder"), a);
  EXPECT_EQ(table.Find("bert.encoder"), a);
  EXPECT_EQ(table.view(a), "bert.encoder");
  EXPECT_EQ(table.Find("bert"), kNoString);
}

TEST(StringTable, TextsThatAgreeInWholeWordsDiffer) {
  // Lengths around the hash's step of sixteen bytes, and a zero byte at the end.
  StringTable table;
  for (std::size_t length : {7u, 8u, 9u, 15u, 16u, 17u, 32u, 33u}) {
    const std::string text(length, 'a');
    const StringId id = table.Intern(text);
    EXPECT_EQ(table.Find(text), id);
    EXPECT_EQ(table.Find(text + '\0'), kNoString);
  }
}

TEST(StringTable, GrowsWithoutLosingAny) {
  StringTable table;
  constexpr int kTexts = 5000;
  for (int i = 0; i < kTexts; ++i) table.Intern("layer." + std::to_string(i) + ".weight");
  EXPECT_EQ(table.size(), 1u + kTexts);
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = "layer." + std::to_string(i) + ".weight";
    EXPECT_EQ(table.view(table.Find(text)), text);
  }
}

TEST(StringTable, TakesAPartOfItsOwnText) {
  StringTable table;
  const StringId path = table.Intern("encoder.layer.0.attention.self");
  // As importers do to find a module's parents, over many growths of the bytes.
  for (std::size_t length = 1; length < 30; ++length) {
    const std::string expected(table.view(path).substr(0, length));
    EXPECT_EQ(table.view(table.Intern(table.view(path).substr(0, length))), expected);
  }
}

TEST(StringTable, CopyHasTheSameIds) {
  StringTable table;
  const StringId id = table.Intern("weight");
  StringTable copy = table;
  EXPECT_EQ(copy.Find("weight"), id);
  copy.Intern("bias");
  EXPECT_EQ(table.Find("bias"), kNoString);
}

// More than as many layers as a table may have: from then on it is copied.
TEST(StringTable, CopiesOfCopiesAddTheirOwn) {
  std::vector<StringTable> tables(1);
  tables[0].Intern("all");
  for (std::size_t i = 1; i < 12; ++i) {
    tables.push_back(tables.back());
    const StringId added = tables.back().Intern("of table " + std::to_string(i));
    EXPECT_EQ(added, 1u + i);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    EXPECT_EQ(tables[i].size(), 2u + i);
    EXPECT_EQ(tables[i].view(1), "all");
    for (std::size_t k = 1; k < tables.size(); ++k) {
      const std::string text = "of table " + std::to_string(k);
      const StringId found = tables[i].Find(text);
      EXPECT_EQ(found, k <= i ? 1u + k : kNoString);
      if (found != kNoString) {
        EXPECT_EQ(tables[i].view(found), text);
      }
    }
  }
}

TEST(StringTable, TakesAPartOfTextThatACopyShares) {
  StringTable table;
  const StringId path = table.Intern("encoder.layer");
  StringTable copy = table;
  EXPECT_EQ(copy.view(copy.Intern(copy.view(path).substr(0, 7))), "encoder");
  EXPECT_EQ(table.Find("encoder"), kNoString);
}

}  // namespace
}  // namespace steelyard
