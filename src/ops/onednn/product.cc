// SPDX-License-Identifier: Apache-2.0
//
// Each thread multiplies a block of rows with 64 columns, over at most 512 or 1024 steps of the
// inner dimension, from a copy of that part of the second factor in pairs and into sums in float32.
// The rows of a block are those that leave fewest over and share the work most evenly (oneDNN,
// src/cpu/x64/matmul/brgemm_matmul_utils.cpp).

#include "ops/onednn/product.h"

#include <algorithm>
#include <cstdint>

#include "ops/onednn/scratch.h"
#include "support/rounding.h"

namespace steelyard::onednn {
namespace {

constexpr std::int64_t kColumns = 64, kFewColumns = 32;
constexpr std::int64_t kMostRows = 256, kLeastRows = 32, kFewRows = 16;
constexpr std::int64_t kSteps = 512, kManySteps = 1024;
constexpr std::int64_t kVector = 32;      // bfloat16 in a register
constexpr std::int64_t kMostChunks = 16;  // of columns for each copy of the first factor
constexpr std::int64_t kList = std::int64_t{16} * 40;  // pairs of blocks
constexpr std::int64_t kTeams = 4;                     // that share the inner dimension, at most

bool IsPowerOfTwo(std::int64_t n) { return (n & (n - 1)) == 0; }

struct Blocks {
  std::int64_t rows = 1, chunks = 1, teams = 1;
};

class Blocking {
 public:
  Blocking(const Product& p, const Target& target)
      : p_(p),
        threads_(target.threads),
        columns_(std::min(kColumns, p.columns)),
        steps_(std::min(p.depth, p.depth > kManySteps && !p.first_transposed && p.rows > 1
                                     ? kManySteps
                                     : kSteps)) {
    const std::int64_t all = DivideUp(p.columns, columns_);
    most_chunks_ = std::min(p.first_transposed ? kMostChunks : 1, all);
    least_rows_ = std::min(kLeastRows, p.rows);
    if (threads_ > p.batch * all) ShareLittleWork(all);
  }

  Count Bytes() {
    Choose();
    Scratch scratch;
    scratch.Add(Count(kList) * threads_);
    if (p_.first_transposed && (p_.depth > 1 || !p_.is_batch)) {
      scratch.Add(Count(best_.rows) * CopiedRow() * 2 * threads_);
    }
    scratch.Add(Count(kColumns) * RoundUp(steps_, kVector) * 2 * threads_);
    const std::int64_t kept = p_.depth > steps_ ? best_.chunks : 1;
    scratch.Add(Count(best_.rows) * columns_ * kept * 4 * threads_);
    return scratch.total();
  }

  // Of a product with a vector, where nothing has gaps: there are no copies.
  Count VectorBytes() {
    Choose();
    Scratch scratch;
    scratch.Add(Count(kList) * threads_);
    scratch.Add(Count(best_.rows) * 4 * threads_);
    return scratch.total();
  }

 private:
  // Fewer blocks than threads: smaller ones, and teams that share the inner dimension.
  void ShareLittleWork(std::int64_t all) {
    least_rows_ = std::min(kFewRows, p_.rows);
    const bool few_rows = p_.rows <= 40 || (p_.first_transposed && p_.rows <= 512);
    if (few_rows && (all > 1 || p_.batch > 1)) columns_ = std::min(kFewColumns, p_.columns);
    if (p_.batch == 1 && p_.first_transposed && IsPowerOfTwo(p_.depth) && p_.depth >= 2048) {
      most_teams_ = std::min(threads_, kTeams);
    }
  }

  // Rows of a copy do not lie a power of two apart.
  std::int64_t CopiedRow() const {
    const std::int64_t row = RoundUp(steps_, kVector);
    return row >= 512 && IsPowerOfTwo(row) ? row + kVector : row;
  }

  // The first of the most even choices; one that leaves nothing over but of the inner dimension,
  // which all leave, ends the search.
  void Choose() {
    float best = 1, least = 1;
    for (std::int64_t teams = most_teams_; teams >= 1; --teams) {
      least = std::min(least, Rest(p_.depth, teams * steps_) / 5);
    }
    bool found = false;
    for (std::int64_t teams = most_teams_; teams >= 1; --teams) {
      for (std::int64_t chunks = most_chunks_; chunks >= 1; --chunks) {
        for (std::int64_t rows = std::min(kMostRows, p_.rows); rows >= least_rows_; --rows) {
          const Blocks blocks{rows, chunks, teams};
          const std::int64_t work = Work(blocks), crew = threads_ / teams;
          if (work < 3 * crew && work % crew != 0 && most_teams_ == 1) continue;
          const float here = Unevenness(blocks);
          if (here >= best) continue;
          best = here;
          best_ = blocks;
          if (best <= least) return;
          found = true;
        }
      }
      if (!found) best_ = {least_rows_, 1, teams};
    }
  }

  std::int64_t Work(const Blocks& b) const {
    return DivideUp(p_.rows, b.rows) * DivideUp(p_.columns, columns_ * b.chunks) * p_.batch;
  }

  static float Rest(std::int64_t work, std::int64_t block) {
    const std::int64_t over = work % block;
    const std::int64_t rest = work < block ? block - over : std::min(block - over, over);
    return static_cast<float>(rest) / static_cast<float>(block);
  }

  float Unevenness(const Blocks& b) const {
    const std::int64_t crew = threads_ / b.teams;
    const std::int64_t all = DivideUp(p_.columns, columns_);
    const auto share = [](std::int64_t n, std::int64_t of) {
      return static_cast<float>(n) / static_cast<float>(of);
    };
    const float rows = share(b.rows * DivideUp(p_.rows, b.rows) % p_.rows, p_.rows);
    const float columns = share(RoundUp(all, b.chunks) - all, all);
    const float idle = share(threads_ - crew * b.teams, threads_);
    return (Rest(Work(b), crew) + rows + columns + idle + Rest(p_.depth, b.teams * steps_)) / 5;
  }

  const Product& p_;
  std::int64_t threads_, columns_, steps_;
  std::int64_t most_chunks_ = 1, least_rows_ = 1, most_teams_ = 1;
  Blocks best_;
};

}  // namespace

Count ProductScratch(const Product& product, const Target& target) {
  if (product.rows != 1 && product.columns != 1) return Blocking(product, target).Bytes();
  const std::int64_t sums = std::max(product.rows, product.columns);
  if (product.matrix_has_gaps || product.vector_has_gaps) {
    // As a row times the matrix. Elements apart from one another are copied as columns would be.
    const Product row{.columns = sums,
                      .depth = product.depth,
                      .batch = product.batch,
                      .first_transposed = product.vector_has_gaps,
                      .is_batch = product.is_batch};
    return Blocking(row, target).Bytes();
  }
  const Product column{.rows = sums, .depth = product.depth, .batch = product.batch};
  return Blocking(column, target).VectorBytes();
}

}  // namespace steelyard::onednn
