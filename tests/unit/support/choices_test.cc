// SPDX-License-Identifier: Apache-2.0
#include "support/choices.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard {
namespace {

constexpr std::array<std::string_view, 3> kFlags = {"--format", "--from", "--depth"};
constexpr std::array<std::string_view, 2> kRuntimes = {"eager", "graph"};

TEST(ChoicesTest, ListsTheFirstAndCountsTheRest) {
  const auto name = [](std::size_t i) { return kFlags[i]; };
  EXPECT_EQ(Listed(kFlags.size(), 2, name), "--format, --from and 1 more");
  EXPECT_EQ(Listed(kFlags.size(), 3, name), "--format, --from, --depth");
  EXPECT_EQ(Listed(0, 3, name), "");
}

TEST(ChoicesTest, GuessesWhatIsMeant) {
  EXPECT_EQ(NearestWord("--fromat", kFlags), "--format");
  EXPECT_EQ(NearestWord("--frm", kFlags), "--from");
  EXPECT_EQ(NearestWord("--train", kFlags), "");
  EXPECT_EQ(NearestWord("", {}), "");
}

TEST(ChoicesTest, CapitalsAreNoMistake) {
  constexpr std::array<std::string_view, 3> kOptimizers = {"adam", "adamw", "sgd"};
  EXPECT_EQ(NearestWord("adamW", kOptimizers), "adamw");
  EXPECT_EQ(NearestWord("SGD", kOptimizers), "sgd");
}

TEST(ChoicesTest, AShortWordIsNoMisspellingOfAnother) {
  constexpr std::array<std::string_view, 2> kLosses = {"mse", "sum"};
  EXPECT_EQ(NearestWord("sam", kLosses), "sum");
  EXPECT_EQ(NearestWord("max", kLosses), "") << "two of three letters are others";
}

TEST(ChoicesTest, AMisspelledNameGetsAGuessAnyOtherTheNames) {
  EXPECT_EQ(Describe(NoSuch("runtime", "grahp", kRuntimes)),
            "there is no runtime \"grahp\". Did you mean graph?");
  EXPECT_EQ(Describe(NoSuch("runtime", "jit", kRuntimes)),
            "there is no runtime \"jit\". There are: eager, graph.");
}

TEST(ChoicesTest, AnotherNumberIsNoMisspelling) {
  constexpr std::array<std::string_view, 2> kTypes = {"float32", "float64"};
  EXPECT_EQ(HintOfNames("flaot32", kTypes), "Did you mean float32?");
  EXPECT_EQ(HintOfNames("float8", kTypes), "There are: float32, float64.");
}

TEST(ChoicesTest, ThePlaceMaySayWhatItIs) {
  const Error error = NoSuch("", "jit", kRuntimes, "--runtime");
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_EQ(Describe(error), "--runtime: there is no \"jit\". There are: eager, graph.");
}

TEST(ChoicesTest, OneNameAndNone) {
  constexpr std::array<std::string_view, 1> kOne = {"cpu"};
  EXPECT_EQ(HintOfNames("h100", kOne), "So far there is only: cpu.");
  EXPECT_EQ(HintOfNames("h100", {}), "There are none.");
}

struct Row {
  std::string_view name;
};

TEST(ChoicesTest, NamesOfRows) {
  constexpr std::array kRows = {Row{"a"}, Row{"b"}};
  EXPECT_EQ(NamesOf(kRows), (std::vector<std::string_view>{"a", "b"}));
}

}  // namespace
}  // namespace steelyard
