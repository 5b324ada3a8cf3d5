// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

// Pairs of a model that has three of them, after four words; the largest place is 6.
ModelText Pairs(std::int64_t skips, int words) {
  return OneNode(
      "TfIdfVectorizer", {{2, words}},
      {Int("min_gram_length", 2), Int("max_gram_length", 2), Int("max_skip_count", skips),
       Ints("ngram_counts", {0, 4}), Ints("ngram_indexes", {0, 1, 2, 3, 4, 5, 6}),
       Ints("pool_int64s", {2, 3, 5, 4, 5, 6, 7, 8, 6, 7}), Word("mode", "TF")});
}

std::size_t CountsOf(const ModelText& model) {
  const std::string calls = CallsOf(model);
  std::size_t count = 0;
  for (std::size_t at = calls.find("searchsorted"); at != std::string::npos;
       at = calls.find("searchsorted", at + 1)) {
    ++count;
  }
  return count;
}

TEST(Texts, APlaceForEachKindOfWords) { EXPECT_EQ(ResultOf(Pairs(0, 6)), "2,7"); }

TEST(Texts, WordsApartAreLookedUpOnceForEachDistance) {
  EXPECT_EQ(CountsOf(Pairs(0, 6)), 1);
  EXPECT_EQ(CountsOf(Pairs(5, 12)), 6);
  // Of six words the last is five away from the first.
  EXPECT_EQ(CountsOf(Pairs(5, 6)), 5);
}

TEST(Texts, PoolsThatReachBeyondThemselvesAreRefused) {
  const ModelText model = OneNode("TfIdfVectorizer", {{6}},
                                  {Int("max_gram_length", 2), Ints("ngram_counts", {0, 40}),
                                   Ints("ngram_indexes", {0}), Ints("pool_int64s", {2, 3})});
  EXPECT_EQ(CallsOf(model), "onnx::TfIdfVectorizer");
}

}  // namespace
}  // namespace steelyard::onnx
