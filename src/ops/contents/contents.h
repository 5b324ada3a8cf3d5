// SPDX-License-Identifier: Apache-2.0
//
// What is known of the elements of a tensor before anything runs: the masks that programs build
// from ranges and comparisons, above all. Each row along the last dimension is a few runs of
// numbers that grow by a step, so a causal mask of a hundred thousand tokens is two runs for each
// of its rows, and dimensions along which nothing changes are kept once.
//
//   Contents queries = Contents::Range(4, 0, 1).Unsqueezed(1), keys = Contents::Range(4, 0, 1);
//   Contents seen = Pointwise({{4, 4}}, {&keys, &queries}, segments::LessEqual);
//   seen.Kept([](double x) { return x == 0; });  // 6 are hidden
//
// It says less rather than something wrong: what is too large, or not of this kind, is unknown.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "steelyard/tables.h"

namespace steelyard {

class Contents {
 public:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  // first, first + step, first + 2 step ...
  struct Run {
    std::int64_t length = 0;
    double first = kUnknown;
    double step = 0;
    bool known() const { return !std::isnan(first); }
    bool constant() const { return known() && step == 0; }
    double at(std::int64_t i) const { return first + step * static_cast<double>(i); }
  };

  // Nothing is known.
  Contents() = default;
  static Contents Constant(int rank, double value);
  static Contents Range(std::int64_t length, double first, double step);
  // Ones on and below (or, upwards, on and above) a diagonal of a matrix, zeros elsewhere.
  static Contents Triangle(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                           bool upper);

  bool empty() const { return runs_.empty(); }
  int rank() const { return extents_.size(); }
  // Of a dimension: its size, or 1 where nothing changes along it.
  std::span<const std::int64_t> extents() const { return extents_; }
  std::size_t run_count() const { return runs_.size(); }
  std::size_t row_count() const { return ends_.size(); }
  std::span<const Run> row(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {runs_.data() + begin, ends_[i] - begin};
  }

  // How many of what is kept a predicate holds for, and how many elements of a tensor of these
  // sizes that makes; negative where there are more than 2^63.
  template <class Predicate>
  std::int64_t Kept(const Predicate& holds) const {
    std::int64_t count = 0;
    for (const Run& run : runs_) {
      if (run.constant() && holds(run.first)) count += run.length;
    }
    return count;
  }
  std::int64_t InAll(std::int64_t kept, std::span<const std::int64_t> sizes) const;
  // The number, of what is the same everywhere.
  std::optional<double> uniform() const {
    return IsUniform() ? std::optional(runs_[0].first) : std::nullopt;
  }

  // As views see it. Dimensions are in [0, rank), and a new one in [0, rank].
  Contents Unsqueezed(int dim) const;
  Contents Squeezed(int dim) const;  // of extent 1
  Contents Permuted(std::span<const std::int64_t> order) const;
  Contents Expanded(int rank) const;  // more dimensions in front
  Contents Reshaped(std::span<const std::int64_t> from, std::span<const std::int64_t> to) const;
  Contents Sliced(int dim, std::int64_t start, std::int64_t step, std::int64_t length) const;

  // Converted to a dtype: truncated to integers, or to whether they are zero. Ranges that a
  // floating-point dtype does not hold exactly are unknown.
  Contents As(DType dtype) const;
  // Sums along the last dimension from its begin to each element.
  Contents SummedUp(std::int64_t length) const;
  // After a softmax along the last dimension: zero where so little is given (kHides) that nothing
  // comes of it beside the rest of the row.
  Contents Softmaxed() const;

  class Builder;

  static constexpr std::size_t kMostRuns = std::size_t{1} << 20;

 private:
  static std::int64_t RowsOf(std::span<const std::int64_t> extents);
  bool IsUniform() const { return row_count() == 1 && runs_.size() == 1 && runs_[0].length == 1; }
  Contents InExtents(const Dims& extents) const;
  std::optional<std::vector<double>> Elements() const;
  static Contents FromElements(const Dims& extents, std::span<const double> elements);
  void Shrink();

  Dims extents_;
  std::vector<std::uint32_t> ends_;  // by row, in runs_
  std::vector<Run> runs_;
};

// Builds rows, one after the other; begins with the extents of what it builds.
class Contents::Builder {
 public:
  explicit Builder(const Dims& extents) { out_.extents_ = extents; }
  void Add(Run run);
  void EndRow() { out_.ends_.push_back(static_cast<std::uint32_t>(out_.runs_.size())); }
  bool full() const { return out_.runs_.size() > kMostRuns; }
  Contents Take() &&;  // unknown, where it has become too large

 private:
  Contents out_;
};

// What is added to a score to hide it is at most this; nothing is left of it after a softmax.
inline constexpr double kHides = -1e4;

// A stretch of one row of each operand, equally long; adds to a row of the result.
using Segment = void (*)(std::span<const Contents::Run> parts, Contents::Builder& row);

// Each element of a result of these sizes from those at its place. An operand that is empty is
// unknown. The operands broadcast.
Contents Pointwise(std::span<const std::int64_t> sizes,
                   std::initializer_list<const Contents*> operands, Segment segment);

// Tensors one after the other along the last dimension; `lengths` are their sizes there.
Contents Concatenated(std::span<const Contents* const> parts, std::span<const std::int64_t> lengths,
                      int rank);

// Elements of `self` at places that an index for each of its dimensions tells; `sizes` are those of
// the indices after broadcasting, and of the result.
Contents Looked(const Contents& self, std::span<const std::int64_t> self_sizes,
                std::span<const Contents* const> indices, std::span<const std::int64_t> sizes);

namespace segments {

using Parts = std::span<const Contents::Run>;
void Add(Parts parts, Contents::Builder& row);
void Subtract(Parts parts, Contents::Builder& row);
void Multiply(Parts parts, Contents::Builder& row);
void FloorDivide(Parts parts, Contents::Builder& row);
void Equal(Parts parts, Contents::Builder& row);
void NotEqual(Parts parts, Contents::Builder& row);
void Less(Parts parts, Contents::Builder& row);
void LessEqual(Parts parts, Contents::Builder& row);
void Greater(Parts parts, Contents::Builder& row);
void GreaterEqual(Parts parts, Contents::Builder& row);
void And(Parts parts, Contents::Builder& row);
void Or(Parts parts, Contents::Builder& row);
void Not(Parts parts, Contents::Builder& row);
void Negative(Parts parts, Contents::Builder& row);
void Absolute(Parts parts, Contents::Builder& row);
void Larger(Parts parts, Contents::Builder& row);
void Smaller(Parts parts, Contents::Builder& row);
void Select(Parts parts, Contents::Builder& row);   // condition, where it holds, where not
void Replace(Parts parts, Contents::Builder& row);  // tensor, condition, where it holds

}  // namespace segments

}  // namespace steelyard
