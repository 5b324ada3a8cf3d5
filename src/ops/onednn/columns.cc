// SPDX-License-Identifier: Apache-2.0
//
// How many channels and pixels a thread takes at a time follows from an estimate of work per
// memory access (oneDNN, src/cpu/gemm_convolution_utils.cpp); here it is written as the search it
// is, for forward passes over row-major images. Numbers of oneDNN's are named where they appear.

#include "ops/onednn/columns.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/onednn/scratch.h"

namespace steelyard::onednn {
namespace {

constexpr std::int64_t kVectorBytes = 64;
constexpr std::int64_t kOutputStep = 8;  // output channels come in multiples of it
constexpr std::int64_t kPixelStep = 48;  // and pixels of this
// Columns of a strided convolution are gathered that much more slowly; what does not fit the cache
// is read that much more slowly.
constexpr std::int64_t kStridedCost = 8;
constexpr std::int64_t kUncachedCost = 20;
// Scratch may be a gigabyte, and so many times the operands for each thread.
constexpr std::int64_t kMostScratch = std::int64_t{1} << 30;
constexpr std::int64_t kMostGrowth = 15;

// What one thread computes in a step.
struct Step {
  std::int64_t outputs, pixels, inputs;
  friend bool operator==(const Step&, const Step&) = default;
};

// The search for the step that does most work per access, among a handful of candidates.
class StepSearch {
 public:
  StepSearch(const Problem& p, std::int64_t vector, const Target& target)
      : p_(p),
        vector_(vector),
        cache_(target.second_cache / WidthOf(p.dtype)),
        threads_(target.threads),
        image_(p.height.out * p.width.out),
        all_pixels_(p.batch * p.groups * p.depth.out * image_),
        window_(p.kernel()),
        strides_(p.height.stride * p.width.stride),
        gathers_(Gathers(p)) {}

  static bool Gathers(const Problem& p) {
    const auto same = [](const Axis& a) { return a.in == a.out && a.stride == 1; };
    return !(p.pointwise() && same(p.depth) && same(p.height) && same(p.width));
  }

  Step Find() {
    best_ = {1, 1, p_.inputs};
    for (std::int64_t teams = 1; teams <= threads_; ++teams) TryTeams(teams);
    return best_;
  }

 private:
  static std::int64_t WidthOf(DType dtype) { return dtype == DType::kFloat32 ? 4 : 2; }

  // `teams` threads share the output channels, the others the pixels.
  void TryTeams(std::int64_t teams) {
    const std::int64_t outputs = DivideUp(p_.outputs, teams);
    const std::int64_t pixels = DivideUp(all_pixels_, threads_ / teams);
    if (!gathers_) {
      return Explore(teams, outputs, (cache_ - window_ * p_.inputs) / (strides_ * p_.inputs));
    }
    Try(teams, outputs, pixels);
    if (best_ == Step{outputs, pixels, p_.inputs}) return;
    const std::int64_t a = strides_ + window_;  // cache per input channel and pixel
    const std::int64_t b = window_ * outputs;   // and per input channel
    const std::int64_t weight = b * p_.inputs;  // of all input channels
    const std::int64_t columns = a * p_.inputs;
    // All input channels at once, with as many output channels as fit beside the fewest pixels.
    const std::int64_t some =
        Saturate(kOutputStep, outputs, (cache_ - columns * vector_ - weight) / vector_);
    Explore(teams, some, Saturate(vector_, pixels, (cache_ - weight) / (columns + some)));
    TryFewerInputs(teams, outputs, pixels, a, b);
    // All channels at once, with as many pixels as fit.
    Explore(teams, outputs,
            std::max(vector_, RoundDown((cache_ - weight) / (columns + outputs), vector_)));
  }

  void TryFewerInputs(std::int64_t teams, std::int64_t outputs, std::int64_t pixels, std::int64_t a,
                      std::int64_t b) {
    const std::int64_t most = std::max<std::int64_t>(1, cache_ / (2 * kOutputStep * a + 2 * b));
    if (most >= p_.inputs) return;
    const std::int64_t inputs = p_.inputs / std::max<std::int64_t>(1, p_.inputs / most);
    std::int64_t some_pixels =
        std::max<std::int64_t>(1, (cache_ - 2 * b * inputs) / (2 * inputs * a));
    std::int64_t some = cache_ / 2 / some_pixels;
    if (some > outputs) {
      some = outputs;
      some_pixels = Saturate(vector_, pixels, (cache_ - b * inputs) / (a * inputs + some));
    } else if (some_pixels > pixels) {
      some_pixels = pixels;
      some = Saturate(kOutputStep, outputs,
                      (cache_ - a * inputs * some_pixels - b * inputs) / some_pixels);
    }
    Explore(teams, some, some_pixels);
  }

  void Explore(std::int64_t teams, std::int64_t outputs, std::int64_t pixels) {
    Try(teams, outputs, pixels);
    Try(teams, RoundDown(outputs, kOutputStep), RoundDown(pixels, kPixelStep));
    Try(teams, RoundUp(outputs, kOutputStep), RoundDown(pixels, kPixelStep));
    Try(teams, RoundUp(outputs, kOutputStep), RoundUp(pixels, vector_));
    Try(teams, RoundUp(outputs, kOutputStep), RoundUp(pixels, kPixelStep));
  }

  // As oneDNN has it: the lower bound wins where the bounds cross.
  static std::int64_t Saturate(std::int64_t low, std::int64_t high, std::int64_t n) {
    return std::max(low, std::min(high, n));
  }

  // The input channels that fit the cache; 0 where one is too many.
  std::int64_t InputsThatFit(const Step& step, std::int64_t outputs, std::int64_t pixels) const {
    const std::int64_t result = step.outputs * step.pixels;
    const std::int64_t read = strides_ * step.pixels, columns = window_ * step.pixels;
    const std::int64_t weight = window_ * outputs;
    const bool one_pass = step.pixels >= pixels;
    std::int64_t most = 0;
    if (!gathers_) {
      most = cache_ / (one_pass ? read : read + weight);
      return most;
    }
    if (one_pass) {
      most = cache_ / (read + columns);
      if (step.outputs < outputs) {
        most = std::min(most, (cache_ - result) / (columns + window_ * step.outputs));
      }
    } else {
      most = (cache_ - result) / (read + columns + weight);
    }
    if (most < p_.inputs) most = (cache_ - result) / (read + columns + weight);
    return most;
  }

  // The share of the slowest thread that the fastest one has.
  double Balance(std::int64_t teams) const {
    const std::int64_t most = DivideUp(p_.outputs, teams);
    const std::int64_t least = std::max<std::int64_t>(1, p_.outputs / teams);
    const std::int64_t crews = threads_ / teams, more_crews = DivideUp(threads_, teams);
    const std::int64_t idle = p_.outputs % teams, left = threads_ % teams;
    const std::int64_t most_pixels = DivideUp(all_pixels_, crews);
    const std::int64_t slowest =
        idle > left ? most * most_pixels
                    : std::max(most * DivideUp(all_pixels_, more_crews), least * most_pixels);
    const std::int64_t few = std::max<std::int64_t>(1, all_pixels_ / more_crews);
    const std::int64_t fastest =
        left > idle ? least * few : std::min(most * few, least * (all_pixels_ / crews));
    return static_cast<double>(fastest) / static_cast<double>(slowest);
  }

  void Try(std::int64_t teams, std::int64_t some_outputs, std::int64_t some_pixels) {
    const std::int64_t outputs = DivideUp(p_.outputs, teams);
    const std::int64_t pixels = DivideUp(all_pixels_, threads_ / teams);
    const std::int64_t row = std::min(image_, pixels);
    Step step{std::min(outputs, Saturate(kOutputStep, outputs, some_outputs)),
              std::min(row, Saturate(vector_, pixels, some_pixels)), 1};
    const std::int64_t most = InputsThatFit(step, outputs, pixels);
    const std::int64_t cost = most < 1 ? kUncachedCost : 1;
    step.inputs =
        std::max<std::int64_t>(1, p_.inputs / DivideUp(p_.inputs, std::max<std::int64_t>(1, most)));
    const double worth = Worth(teams, step, outputs, pixels, cost);
    if (worth <= best_worth_) return;
    best_worth_ = worth;
    best_ = step;
  }

  // Work per access, weighed with how evenly the steps divide the whole.
  double Worth(std::int64_t teams, const Step& step, std::int64_t outputs, std::int64_t pixels,
               std::int64_t cost) const {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto evenly = [&](std::int64_t n, std::int64_t by) {
      return real(n) / real(RoundUp(n, by));
    };
    const std::int64_t depth = step.inputs * window_, whole = p_.inputs * window_;
    const std::int64_t rounded = RoundUp(step.pixels, vector_);
    const std::int64_t parts = DivideUp(p_.inputs, step.inputs);
    const double read =
        real(cost * window_ * p_.inputs) * real(RoundUp(pixels * strides_, vector_));
    double gathered = 0;
    if (gathers_) {
      gathered = 2 * read * real(rounded) / real(step.pixels);
      if (p_.width.stride != 1) gathered *= real(kStridedCost);
    }
    const double weights = real(cost * outputs) * real(RoundUp(whole, vector_));
    const double written = real(cost * outputs) * real(RoundUp(pixels, vector_)) *
                           real(step.inputs == p_.inputs ? 1 : 2 * parts - 1);
    const double per_access = real(pixels) / real(vector_) * real(outputs) * real(whole) /
                              (read + gathered + weights + written);
    const std::int64_t row = std::min(image_, pixels);
    const double share = real(step.pixels) * real(step.outputs) * real(depth) /
                         (real(outputs) * real(pixels) * real(whole));
    const double product =
        real(step.pixels) / real(vector_) * real(step.outputs) * real(depth) /
        (real(rounded) * real(depth) + real(step.outputs) * real(RoundUp(depth, vector_)) +
         real(step.outputs) * real(rounded));
    return std::pow(Balance(teams), 8) * evenly(outputs, step.outputs) * evenly(row, step.pixels) *
           evenly(p_.inputs, step.inputs) * evenly(step.pixels, 3 * vector_) * per_access *
           std::sqrt(share) * product;
  }

  const Problem& p_;
  std::int64_t vector_, cache_, threads_;
  std::int64_t image_, all_pixels_, window_, strides_;
  bool gathers_;
  Step best_{};
  double best_worth_ = 0;
};

// Whether the work is cut in steps at all, or each thread takes whole images.
bool TakesSteps(const Problem& p, bool gathers, std::int64_t vector, const Target& target) {
  if (p.rank == 5) return false;
  const std::int64_t image = p.height.out * p.width.out;
  const std::int64_t images = p.batch * p.groups * p.depth.out;
  if (!gathers) {
    return p.inputs / p.outputs < 42 && static_cast<double>(p.inputs) *
                                                static_cast<double>(p.outputs) *
                                                static_cast<double>(p.height.in * p.width.in) <
                                            1024;
  }
  const double depth = static_cast<double>(p.inputs) * static_cast<double>(p.kernel());
  return images * image >= target.threads * vector || image < images ||
         (p.width.stride == 1 && depth <= 0.05 * static_cast<double>(p.outputs));
}

// Whether threads take images each for itself, where there are no steps.
bool SharesImages(const Problem& p, std::int64_t image, std::int64_t vector, const Target& target) {
  const auto share = [&](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(RoundUp(n, target.threads));
  };
  const double outer = share(p.groups * p.batch * p.depth.out);
  const double inner = share(DivideUp(image, vector) * DivideUp(p.outputs, vector));
  const double multiplications =
      static_cast<double>(image) * static_cast<double>(p.inputs) * static_cast<double>(p.outputs);
  return image / target.threads < 512 && (p.depth.out != 1 || p.batch != 1 || p.groups > 2) &&
         (outer >= inner || multiplications / target.threads < 64 * 1024);
}

// The same on the way back.
bool SharesResults(const Problem& p, std::int64_t vector, const Target& target) {
  const auto share = [&](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(RoundUp(n, target.threads));
  };
  const std::int64_t image = p.height.in * p.width.in, result = p.height.out * p.width.out;
  const double outer = share(p.groups * p.batch);
  const double inner = share(DivideUp(image, vector) * DivideUp(p.inputs, vector));
  const double multiplications =
      static_cast<double>(image) * static_cast<double>(p.inputs) * static_cast<double>(p.outputs);
  return (result / target.threads < 512 || p.kernel() < 64) && (p.batch != 1 || p.groups > 2) &&
         (outer >= inner || multiplications / target.threads < 64 * 1024);
}

// The most that the kernels ask for; each has a reason of its own to check it.
std::int64_t Limit(const Problem& p, const Target& target) {
  const Count tensors =
      (p.SourceElements() + p.WeightElements() + p.ResultElements()) * (p.narrow() ? 2 : 4);
  const Count limit = tensors * target.threads * kMostGrowth;
  return limit.overflowed() ? kMostScratch : std::min(limit.value(), kMostScratch);
}

std::optional<Count> Allowed(const Problem& p, Count scratch, const Target& target) {
  if (scratch.overflowed() || scratch.value() > Limit(p, target)) return std::nullopt;
  return scratch;
}

// The pixels whose windows are gathered at a time on the way back: all, unless `available` bytes
// hold no columns of `column` bytes for all of them; then a share of what fits.
std::int64_t GatheredPixels(const Problem& p, Count column, std::int64_t available,
                            std::int64_t vector, float share) {
  const std::int64_t image = p.height.out * p.width.out;
  const Count all = column * image;
  if (!all.overflowed() && all.value() <= available) return image;
  if (column.overflowed()) return vector;
  const std::int64_t whole = available / column.value();
  const auto fit = static_cast<float>(whole);
  return std::max(vector, static_cast<std::int64_t>(fit * share));
}

}  // namespace

std::optional<Count> ColumnScratch(const Problem& p, const Target& target) {
  if (p.large) return std::nullopt;
  const std::int64_t element = p.narrow() ? 2 : 4;
  const std::int64_t vector = kVectorBytes / element;
  const std::int64_t image = p.height.out * p.width.out;
  const bool gathers = StepSearch::Gathers(p);
  Step step{p.outputs, image, p.inputs};
  std::int64_t threads = target.threads;
  if (TakesSteps(p, gathers, vector, target)) {
    step = StepSearch(p, vector, target).Find();
  } else if (!SharesImages(p, image, vector, target)) {
    threads = 1;
  }
  Scratch scratch;
  if (p.narrow()) {
    scratch.Add(Count(RoundUp(step.outputs * step.pixels, kVectorBytes / 4)) * threads * 4);
    if (p.has_bias) scratch.Add(Count(p.groups) * p.outputs * 4);
  }
  if (gathers) scratch.Add(Count(step.inputs) * p.kernel() * step.pixels * threads * element);
  return Allowed(p, scratch.total(), target);
}

std::optional<Count> BackwardColumnScratch(const Problem& p, const Target& target) {
  if (p.large) return std::nullopt;
  const std::int64_t vector = kVectorBytes / (p.narrow() ? 2 : 4);
  const std::int64_t threads = SharesResults(p, vector, target) ? target.threads : 1;
  Scratch scratch;
  if (p.narrow()) {
    const std::int64_t image = p.depth.in * p.height.in * p.width.in;
    scratch.Add(Count(RoundUp(p.inputs * image, kVectorBytes / 4)) * threads * 4);
  }
  const Count taken = scratch.total();
  if (StepSearch::Gathers(p) && !taken.overflowed()) {
    const Count column = Count(p.inputs) * p.kernel() * threads * 4;
    const std::int64_t available = Limit(p, target) - taken.value();
    scratch.Add(column * GatheredPixels(p, column, available, vector, 0.1F));
  }
  return Allowed(p, scratch.total(), target);
}

std::optional<Count> WeightColumnScratch(const Problem& p, const Target& target) {
  if (p.large) return std::nullopt;
  const std::int64_t element = p.narrow() ? 2 : 4, vector = kVectorBytes / element;
  const std::int64_t image = p.height.out * p.width.out, limit = Limit(p, target);
  const bool gathers = StepSearch::Gathers(p);
  const Count window = Count(p.inputs) * p.kernel();
  const Count weight = p.WeightElements() * element;  // bytes, and as many floats
  const Count source = Count(p.inputs) * p.depth.in * p.height.in * p.width.in * element;
  const Count bias = p.narrow() && p.has_bias ? Count(p.groups) * p.outputs * 4 : Count(0);
  Count each = weight * 4 + window * (p.channels_last && gathers ? image : 0) * element;
  each += p.channels_last ? source : window * vector * element;
  const Count estimate = each * target.threads + (p.narrow() ? weight * 4 + bias : Count(0));
  const bool fits = !estimate.overflowed() && estimate.value() < limit;
  const bool shares = fits && image / target.threads < 256 && (p.batch != 1 || p.groups > 2);
  const std::int64_t threads = shares ? target.threads : 1;
  Scratch scratch;
  scratch.Add(weight * 4 * threads);
  if (p.narrow()) scratch.Add(weight * 4);
  scratch.Add(bias);
  if (p.channels_last) scratch.Add(source * threads);
  const Count taken = scratch.total();
  if (gathers && !taken.overflowed()) {
    const std::int64_t pixels =
        p.channels_last
            ? image
            : GatheredPixels(p, window * element * threads, limit - taken.value(), vector, 0.05F);
    scratch.Add(window * pixels * element * threads);
  }
  return Allowed(p, scratch.total(), target);
}

}  // namespace steelyard::onednn
