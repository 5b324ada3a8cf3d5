// SPDX-License-Identifier: Apache-2.0

#include "ops/contents/contents.h"

#include <gmock/gmock.h>

#include <functional>
#include <random>
#include <vector>

namespace steelyard {
namespace {

using ::testing::ElementsAre;

std::int64_t Zeros(const Contents& contents, std::initializer_list<std::int64_t> sizes) {
  const Dims all(sizes);
  return contents.InAll(contents.Kept([](double x) { return x == 0; }), all);
}

Contents Queries(std::int64_t n) { return Contents::Range(n, 0, 1).Unsqueezed(1); }
Contents Keys(std::int64_t n) { return Contents::Range(n, 0, 1); }

// An element of a matrix.
double At(const Contents& contents, std::size_t i, std::int64_t j) {
  const auto row = contents.row(contents.extents()[0] > 1 ? i : 0);
  if (contents.extents()[1] == 1) return row[0].first;
  std::size_t at = 0;
  for (; j >= row[at].length; ++at) j -= row[at].length;
  return row[at].at(j);
}

TEST(Contents, ACausalMaskHidesWhatComesLater) {
  const Contents queries = Queries(6), keys = Keys(6);
  const Contents seen = Pointwise(Dims{6, 6}, {&keys, &queries}, segments::LessEqual);
  EXPECT_EQ(Zeros(seen, {6, 6}), 5 + 4 + 3 + 2 + 1);
  EXPECT_EQ(Zeros(seen, {2, 4, 6, 6}), 2 * 4 * 15) << "the same for each head";
  EXPECT_EQ(seen.run_count(), 2u * 6 - 1) << "two runs a row, and one in the last";
}

TEST(Contents, AWindowHidesWhatIsLongAgo) {
  const Contents queries = Queries(6), keys = Keys(6), two = Contents::Constant(0, 2);
  const Contents first = Pointwise(Dims{6, 1}, {&queries, &two}, segments::Subtract);
  const Contents near = Pointwise(Dims{6, 6}, {&keys, &first}, segments::Greater);
  const Contents past = Pointwise(Dims{6, 6}, {&keys, &queries}, segments::LessEqual);
  // Each query sees itself and the one before it; the first only itself.
  EXPECT_EQ(Zeros(Pointwise(Dims{6, 6}, {&near, &past}, segments::And), {6, 6}), 36 - 11);
}

TEST(Contents, ChunksSeeThemselves) {
  const Contents queries = Queries(6), keys = Keys(6), four = Contents::Constant(0, 4);
  const Contents a = Pointwise(Dims{6, 1}, {&queries, &four}, segments::FloorDivide);
  const Contents b = Pointwise(Dims{6}, {&keys, &four}, segments::FloorDivide);
  EXPECT_EQ(Zeros(Pointwise(Dims{6, 6}, {&a, &b}, segments::Equal), {6, 6}), 2 * 4 * 2);
}

TEST(Contents, WhatIsUnknownHidesNothing) {
  const Contents queries = Queries(3), keys = Keys(3), padding;
  const Contents past = Pointwise(Dims{3, 3}, {&keys, &queries}, segments::LessEqual);
  EXPECT_EQ(Zeros(Pointwise(Dims{3, 3}, {&past, &padding}, segments::And), {3, 3}), 3);
  EXPECT_EQ(Zeros(Pointwise(Dims{3, 3}, {&past, &padding}, segments::Or), {3, 3}), 0);
  EXPECT_TRUE(Pointwise(Dims{3}, {&padding, &keys}, segments::Add).empty());
}

TEST(Contents, AnAddendThatHidesIsAllThatIsLeft) {
  const Contents low = Contents::Constant(0, -1e30), scores;
  const Contents sum = Pointwise(Dims{4}, {&scores, &low}, segments::Add);
  EXPECT_EQ(sum.uniform(), -1e30);
  const Contents slight = Contents::Constant(0, -100);
  EXPECT_TRUE(Pointwise(Dims{4}, {&scores, &slight}, segments::Add).empty());
}

TEST(Contents, ASoftmaxGivesNothingForWhatIsHidden) {
  const Contents inside = Contents::Triangle(3, 3, 0, false), low = Contents::Constant(0, -1e30);
  const Contents scores;
  const Contents masked = Pointwise(Dims{3, 3}, {&inside, &scores, &low}, segments::Select);
  EXPECT_EQ(Zeros(masked.Softmaxed(), {3, 3}), 3);
  EXPECT_TRUE(low.Softmaxed().empty()) << "of a row that is hidden as a whole, all is left";
}

TEST(Contents, TrianglesBeginAtTheirDiagonal) {
  EXPECT_EQ(Zeros(Contents::Triangle(3, 4, 0, false), {3, 4}), 3 + 2 + 1);
  EXPECT_EQ(Zeros(Contents::Triangle(3, 4, 1, true), {3, 4}), 1 + 2 + 3);
  EXPECT_EQ(Contents::Triangle(3, 4, -100, false).uniform(), 0);
  EXPECT_EQ(Contents::Triangle(3, 4, INT64_MAX, false).uniform(), 1);
}

TEST(Contents, ReshapingKeepsWhatVaries) {
  const Contents causal = Contents::Triangle(3, 4, 0, false).Expanded(4);
  EXPECT_THAT(causal.extents(), ElementsAre(1, 1, 3, 4));
  const Contents joined = causal.Reshaped(Dims{2, 5, 3, 4}, Dims{10, 3, 4});
  EXPECT_THAT(joined.extents(), ElementsAre(1, 3, 4));
  EXPECT_EQ(Zeros(joined, {10, 3, 4}), 10 * (3 + 2 + 1));
  EXPECT_TRUE(causal.Reshaped(Dims{2, 5, 3, 4}, Dims{2, 5, 12}).empty());
  const Contents column = Keys(4).Reshaped(Dims{4}, Dims{4, 1});
  EXPECT_THAT(column.extents(), ElementsAre(4, 1));
  EXPECT_THAT(column.Reshaped(Dims{4, 1}, Dims{4}).extents(), ElementsAre(4));
}

TEST(Contents, SlicesTakeRunsApart) {
  const Contents causal = Contents::Triangle(4, 4, 0, false);
  EXPECT_EQ(Zeros(causal.Sliced(1, 2, 1, 2), {4, 2}), 2 + 2 + 1);
  EXPECT_EQ(Zeros(causal.Sliced(0, 1, 2, 2), {2, 4}), 2) << "rows 1 and 3";
  EXPECT_EQ(Zeros(causal.Sliced(1, 1, 2, 2), {4, 2}), 2 + 1 + 1) << "columns 1 and 3";
  EXPECT_EQ(causal.Sliced(0, 3, 1, 1).Squeezed(0).uniform(), 1);
}

TEST(Contents, DimensionsChangePlaces) {
  const Dims order{1, 0};
  const Contents turned = Contents::Triangle(3, 4, 0, false).Permuted(order);
  EXPECT_THAT(turned.extents(), ElementsAre(4, 3));
  EXPECT_EQ(At(turned, 0, 2), 1);
  EXPECT_EQ(At(turned, 2, 0), 0);
}

// How transformers finds packed texts: where positions do not go on by one, another begins.
TEST(Contents, DifferencesAndSumsOfPositionsAreKnown) {
  const Contents positions = Keys(5), before = Contents::Constant(1, -1);
  const std::vector<const Contents*> parts{&before, &positions};
  const std::vector<std::int64_t> lengths{1, 5};
  const Contents longer = Concatenated(parts, lengths, 1);
  const Contents next = longer.Sliced(0, 1, 1, 5), last = longer.Sliced(0, 0, 1, 5);
  const Contents step = Pointwise(Dims{5}, {&next, &last}, segments::Subtract);
  EXPECT_EQ(step.uniform(), 1);
  EXPECT_THAT(step.SummedUp(5).row(0)[0].at(4), 5);
}

TEST(Contents, LooksUpARangeByARange) {
  const Contents table = Contents::Range(8, 10, 2).Expanded(2), anything;
  const Contents places = Contents::Range(3, 4, 1);
  const std::vector<const Contents*> indices{&anything, &places};
  const Contents found = Looked(table, Dims{2, 8}, indices, Dims{3});
  EXPECT_EQ(found.row(0)[0].at(2), 10 + 2 * 6);
  const Contents outside = Contents::Range(3, 6, 1);
  const std::vector<const Contents*> too_far{&anything, &outside};
  EXPECT_TRUE(Looked(table, Dims{2, 8}, too_far, Dims{3}).empty());
}

TEST(Contents, NumbersThatADtypeDoesNotHoldAreUnknown) {
  EXPECT_FALSE(Contents::Range(256, 0, 1).As(DType::kBFloat16).empty());
  EXPECT_TRUE(Contents::Range(1000, 0, 1).As(DType::kBFloat16).empty());
  EXPECT_EQ(Contents::Constant(0, 2.5).As(DType::kInt64).uniform(), 2);
  EXPECT_EQ(Zeros(Contents::Range(5, -2, 1).As(DType::kBool), {5}), 1);
}

TEST(Contents, GivesUpWhereItWouldGrowWithoutBound) {
  const std::int64_t many = std::int64_t{1} << 21;
  EXPECT_TRUE(Contents::Range(many, 0, 1).Unsqueezed(1).empty());
  const Contents two = Contents::Constant(0, 2), long_range = Contents::Range(3 * many, 0, 1);
  EXPECT_TRUE(Pointwise(Dims{3 * many}, {&long_range, &two}, segments::FloorDivide).empty());
}

// --- Everything that is said holds ---------------------------------------------------------------

struct Case {
  Segment segment;
  int operands;
  std::function<double(double, double, double)> dense;
};

// Each operator beside itself on single numbers, on random matrices that grow by a step along a
// dimension, lie in triangles, or are unknown.
TEST(Contents, EveryNumberIsThatOfTheElements) {
  const auto truth = [](bool x) { return x ? 1.0 : 0.0; };
  const std::vector<Case> cases{
      {segments::Add, 2, [](double a, double b, double) { return a + b; }},
      {segments::Subtract, 2, [](double a, double b, double) { return a - b; }},
      {segments::Multiply, 2, [](double a, double b, double) { return a * b; }},
      {segments::Larger, 2, [](double a, double b, double) { return std::max(a, b); }},
      {segments::Smaller, 2, [](double a, double b, double) { return std::min(a, b); }},
      {segments::Equal, 2, [&](double a, double b, double) { return truth(a == b); }},
      {segments::NotEqual, 2, [&](double a, double b, double) { return truth(a != b); }},
      {segments::Less, 2, [&](double a, double b, double) { return truth(a < b); }},
      {segments::LessEqual, 2, [&](double a, double b, double) { return truth(a <= b); }},
      {segments::Greater, 2, [&](double a, double b, double) { return truth(a > b); }},
      {segments::GreaterEqual, 2, [&](double a, double b, double) { return truth(a >= b); }},
      {segments::And, 2, [&](double a, double b, double) { return truth(a != 0 && b != 0); }},
      {segments::Or, 2, [&](double a, double b, double) { return truth(a != 0 || b != 0); }},
      {segments::Not, 1, [&](double a, double, double) { return truth(a == 0); }},
      {segments::Negative, 1, [](double a, double, double) { return -a; }},
      {segments::Absolute, 1, [](double a, double, double) { return std::abs(a); }},
      {segments::Select, 3, [](double a, double b, double c) { return a != 0 ? b : c; }},
      {segments::Replace, 3, [](double a, double b, double c) { return b != 0 ? c : a; }},
      {segments::FloorDivide, 2,
       [](double a, double b, double) { return b > 0 ? std::floor(a / b) : Contents::kUnknown; }},
  };
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same in every run
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  constexpr int kRows = 5, kColumns = 7;
  const auto leaf = [&]() -> Contents {
    switch (number(0, 4)) {
      case 0:
        return Contents::Constant(2, number(-3, 3));
      case 1:
        return Contents::Range(kColumns, number(-5, 5), number(-2, 2)).Expanded(2);
      case 2:
        return Contents::Range(kRows, number(-5, 5), number(-2, 2)).Unsqueezed(1);
      case 3:
        return Contents::Triangle(kRows, kColumns, number(-3, 3), number(0, 1) == 1);
      default:
        return {};
    }
  };
  int known = 0;
  for (int round = 0; round < 4000; ++round) {
    const Case& of = cases[static_cast<std::size_t>(number(0, static_cast<int>(cases.size()) - 1))];
    // Sums of leaves, so that rows have several runs.
    std::vector<Contents> operands;
    for (int i = 0; i < of.operands; ++i) {
      const Contents a = leaf(), b = leaf();
      operands.push_back(Pointwise(Dims{kRows, kColumns}, {&a, &b}, segments::Add));
    }
    const Contents none,
        out = of.operands == 1 ? Pointwise(Dims{kRows, kColumns}, {&operands[0]}, of.segment)
              : of.operands == 2
                  ? Pointwise(Dims{kRows, kColumns}, {&operands[0], &operands[1]}, of.segment)
                  : Pointwise(Dims{kRows, kColumns}, {&operands[0], &operands[1], &operands[2]},
                              of.segment);
    if (out.empty()) continue;
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        const double said = At(out, i, j);
        if (std::isnan(said)) continue;
        // An operand of which nothing is known may hold anything: two numbers are tried.
        for (const double any : {-7.0, 9.0}) {
          std::array<double, 3> x{};
          for (std::size_t k = 0; k < operands.size(); ++k) {
            const double held = operands[k].empty() ? Contents::kUnknown : At(operands[k], i, j);
            x[k] = std::isnan(held) ? any : held;
          }
          ASSERT_EQ(said, of.dense(x[0], x[1], x[2]))
              << "round " << round << " at " << i << ", " << j;
        }
        ++known;
      }
    }
  }
  EXPECT_GT(known, 20000);
}

}  // namespace
}  // namespace steelyard
