// SPDX-License-Identifier: Apache-2.0
//
// A thread holds the sums of one image, in rows as long as its registers, for its share of the
// output channels (oneDNN, src/cpu/x64/jit_avx512_core_bf16_1x1_conv_kernel.cpp).

#include "ops/onednn/pointwise.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace steelyard::onednn {
namespace {

class Sums {
 public:
  Sums(const Problem& p, std::int64_t block, const Target& target)
      : p_(p),
        block_(block),
        threads_(target.threads),
        cache_(target.second_cache / 2),
        outputs_(RoundUp(p.outputs, block)),
        inputs_(RoundUp(p.inputs, block)),
        lines_(p.depth.out * p.height.out),
        pixels_(lines_ * p.width.out),
        row_(Row()) {
    if (pixels_ <= row_ && outputs_ == block && p.batch * pixels_ * inputs_ < kLeastShared)
      threads_ = 1;
  }

  std::int64_t threads() const { return threads_; }
  Count bytes() const {
    const std::int64_t teams = DivideUp(threads_, DivideUp(threads_, Teams()));
    return Count(RoundUp(pixels_, row_)) * RoundUp(DivideUp(outputs_, teams), block_) * threads_ *
           4;
  }

 private:
  static constexpr std::int64_t kFewLines = 10, kManyLines = 28, kLines = 14;
  // Elements of an image from which on threads share it at all (measured: 4096 are, 3968 not).
  static constexpr std::int64_t kLeastShared = 4096;
  static constexpr std::int64_t kFewOutputs = 128, kManyOutputs = 256;

  // Whether a pixel is broadcast to a register of its own, which leaves fewer for sums.
  bool Broadcasts() const { return 8 * p_.batch / threads_ >= 1; }

  // The longest row that divides the lines, or that leaves the longest rest.
  std::int64_t Row() const {
    std::int64_t most = 30, least = 9;
    if (Broadcasts()) {
      const bool medium = outputs_ > kFewOutputs && outputs_ < kManyOutputs && lines_ > kFewLines &&
                          lines_ < kManyLines;
      most = medium ? 6 : 9;
      least = medium ? 5 : 6;
    }
    for (std::int64_t row = most; row >= least; --row) {
      if ((lines_ >= kLines ? lines_ : pixels_) % row == 0) return row;
    }
    std::int64_t best = std::min(most, pixels_), rest = pixels_ % most;
    for (std::int64_t row = most; row >= least; --row) {
      const std::int64_t here = pixels_ % row;
      if (here == 0) return row;
      if (here <= rest) continue;
      best = row;
      rest = here;
    }
    return best;
  }

  // In how many teams the threads share the output channels.
  std::int64_t Teams() const {
    const std::int64_t rows = DivideUp(pixels_, row_);
    const bool few_images =
        threads_ <= 28 && p_.batch < threads_ && DivideUp(outputs_, block_) * rows > threads_;
    std::int64_t teams =
        few_images ? CheapestTeams(rows) : EvenTeams(DivideUp(threads_, p_.batch * rows));
    if (Broadcasts() && pixels_ <= 64 && outputs_ * inputs_ >= cache_) {
      teams = std::max<std::int64_t>(teams, 4);
    } else if (pixels_ <= 49 && p_.batch <= threads_ && outputs_ > 512 && outputs_ / inputs_ >= 4) {
      teams = std::max<std::int64_t>(teams, 2);
    }
    return teams;
  }

  // Between `least` and twice as many, the fewest that leave the fewest threads over.
  std::int64_t EvenTeams(std::int64_t least) const {
    const std::int64_t high = std::clamp<std::int64_t>(2 * least, 1, threads_);
    const std::int64_t low = std::clamp<std::int64_t>(least, 1, high);
    std::int64_t best = high;
    float best_loss = std::numeric_limits<float>::max();
    for (std::int64_t n = high; n >= low; --n) {
      const std::int64_t up = RoundUp(threads_, n);
      const float loss = static_cast<float>(up - threads_) / static_cast<float>(up);
      if (loss > best_loss) continue;
      best = n;
      best_loss = loss;
    }
    return best;
  }

  // The teams whose slowest thread has least to compute and to read.
  std::int64_t CheapestTeams(std::int64_t rows) const {
    const std::int64_t blocks = DivideUp(outputs_, block_);
    const bool weight_larger = outputs_ > p_.batch * pixels_;
    const auto job = [&](std::int64_t some_blocks, std::int64_t crews, float memory) {
      const auto lines = static_cast<float>(p_.batch * DivideUp(rows, crews) * row_);
      const auto channels = static_cast<float>(some_blocks * block_);
      const auto depth = static_cast<float>(inputs_);
      return 0.01F * (lines * channels * depth) + memory * ((lines + channels) * depth);
    };
    std::int64_t best = weight_larger ? threads_ : 1;
    float best_cost = std::numeric_limits<float>::max();
    for (std::int64_t i = 0; i < threads_; ++i) {
      const std::int64_t teams = weight_larger ? threads_ - i : i + 1;
      const std::int64_t few = threads_ / teams, many = DivideUp(threads_, teams);
      const float memory = many == 1 ? 1.0F : 1.3F;
      const float cost = threads_ % teams < blocks % teams
                             ? job(DivideUp(blocks, teams), few, memory)
                             : std::max(job(DivideUp(blocks, teams), many, memory),
                                        job(blocks / teams, few, memory));
      if (cost >= best_cost) continue;
      best = teams;
      best_cost = cost;
    }
    return best;
  }

  const Problem& p_;
  std::int64_t block_, threads_, cache_;
  std::int64_t outputs_, inputs_, lines_, pixels_, row_;
};

}  // namespace

PointwiseSums SumsOf(const Problem& problem, std::int64_t channel_block, const Target& target) {
  const Sums sums(problem, channel_block, target);
  return {.threads = sums.threads(), .bytes = sums.bytes()};
}

}  // namespace steelyard::onednn
