// SPDX-License-Identifier: Apache-2.0
//
// The next size is where the line through the last two weighings reaches the limit; after some
// guesses, the middle of what is left. Other sizes may have other kernels, so peaks need not grow:
// a few sizes beyond the first that does not fit are tried, and some doublings if the least does
// not.

#include "session/fit.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session/device_memory.h"
#include "session/export_hint.h"
#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"
#include "steelyard/tables.h"
#include "steelyard/units.h"
#include "steelyard/weigh.h"
#include "support/units.h"

namespace steelyard {
namespace {

// No model has more; it keeps the arithmetic of the search within bounds.
constexpr std::int64_t kMostSize = std::int64_t{1} << 40;
// After this many guesses along the line of the last two weighings, the interval is halved.
constexpr int kGuesses = 12;
// Sizes that are tried beyond the first that does not fit, and doublings where the least does not.
constexpr int kBeyond = 3;
constexpr int kDoublings = 6;
// No further rounds after this many.
constexpr int kMostWeighings = 40;

std::string NameOfSize(const OpenSize& open) {
  if (!open.symbol.empty()) return open.symbol;
  return open.batch ? "batch" : "seq";
}

// `factor` times a symbol.
struct Multiple {
  std::size_t symbol = 0;
  std::int64_t factor = 1;
};
std::optional<Multiple> MultipleIn(const Program& program, Dim dim) {
  if (!dim.is_expression()) return std::nullopt;
  Multiple multiple;
  Expression e = program.expressions.at(dim);
  if (e.op == ExprOp::kMul && e.a.is_number() && e.a.number() > 0 && e.b.is_expression()) {
    multiple.factor = e.a.number();
    e = program.expressions.at(e.b);
  }
  if (e.op != ExprOp::kSymbol) return std::nullopt;
  multiple.symbol = static_cast<std::size_t>(e.value);
  return multiple;
}

// Which symbols --input and --size decide.
std::vector<bool> GivenSymbols(const Program& program, const BindOptions& sizes) {
  std::vector<bool> given(program.symbols.size());
  for (const InputShape& shape : sizes.inputs) {
    const StringId name = program.strings.Find(shape.name);
    for (ValueId id : program.inputs) {
      const Value& value = program.values[id];
      if (name == kNoString || value.name != name || !value.has_layout) continue;
      for (int i = 0; i < value.rank; ++i) {
        if (const auto multiple = MultipleIn(program, program.size(id, i))) {
          given[multiple->symbol] = true;
        }
      }
    }
  }
  for (const SymbolSize& size : sizes.sizes) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (program.text(program.symbols[i].name) == size.name) given[i] = true;
    }
  }
  return given;
}

std::optional<OpenSize> OpenSizeOf(const Program& program, Dim dim,
                                   const std::vector<bool>& given) {
  OpenSize open;
  const std::optional<Multiple> multiple = MultipleIn(program, dim);
  if (!multiple || given[multiple->symbol] || multiple->factor > kMostSize) return std::nullopt;
  open.step = multiple->factor;
  const Symbol& symbol = program.symbols[multiple->symbol];
  open.least = std::clamp<std::int64_t>(symbol.min, 1, kMostSize / open.step) * open.step;
  open.most = std::clamp<std::int64_t>(symbol.max, 1, kMostSize / open.step) * open.step;
  return open;
}

// As --batch and --seq choose: of matrices and more, then the only dimension of vectors.
std::optional<OpenSize> FindAt(const Program& program, int position,
                               const std::vector<bool>& given) {
  for (const bool vectors : {false, true}) {
    for (ValueId id : program.inputs) {
      const Value& value = program.values[id];
      const bool fits = vectors ? position == 0 && value.rank == 1 : value.rank >= 2;
      if (value.kind != ValueKind::kTensor || !value.has_layout || !fits) continue;
      if (auto open = OpenSizeOf(program, program.size(id, position), given)) {
        open->batch = position == 0;
        return open;
      }
    }
  }
  return std::nullopt;
}

// A symbol of an expression that is not given. No recursion: a file's expressions may be deep, and
// share their parts.
std::optional<std::size_t> OpenSymbolOf(const Program& program, Dim dim,
                                        const std::vector<bool>& given) {
  std::vector<Dim> left{dim};
  std::set<std::int64_t> seen;
  while (!left.empty()) {
    const Dim next = left.back();
    left.pop_back();
    if (!next.is_expression() || !seen.insert(next.raw()).second) continue;
    const Expression e = program.expressions.at(next);
    const auto symbol = static_cast<std::size_t>(e.value);
    if (e.op == ExprOp::kSymbol && !given[symbol]) return symbol;
    left.insert(left.end(), {e.c, e.b, e.a});
  }
  return std::nullopt;
}

bool IsSized(const Value& value) { return value.kind == ValueKind::kTensor && value.has_layout; }

// "dimensions 2 and 3 of x": where the first input that has the symbol has it.
std::string PlaceOf(const Program& program, ValueId input, std::size_t symbol) {
  std::vector<bool> others(program.symbols.size(), true);
  others[symbol] = false;
  std::vector<int> places;
  for (int i = 0; i < program.values[input].rank; ++i) {
    if (OpenSymbolOf(program, program.size(input, i), others)) places.push_back(i);
  }
  return fmt::format("dimension{} {} of {}", places.size() > 1 ? "s" : "",
                     fmt::join(places, " and "), program.text(program.values[input].name));
}

// With the symbols that --batch and --seq decide.
std::vector<bool> WithPositions(const Program& program, const BindOptions& sizes,
                                std::vector<bool> given) {
  const auto take = [&](ValueId id, int position) {
    if (!IsSized(program.values[id]) || program.values[id].rank <= position) return;
    while (const auto symbol = OpenSymbolOf(program, program.size(id, position), given)) {
      given[*symbol] = true;
    }
  };
  for (const ValueId id : program.inputs) {
    if (sizes.batch) take(id, 0);
    if (sizes.seq) take(id, 1);
  }
  return given;
}

// A size that neither --batch nor --seq chooses: of an image its height, then its width.
std::optional<OpenSize> FindElsewhere(const Program& program, const std::vector<bool>& given) {
  int most = 0;
  for (const ValueId id : program.inputs) most = std::max<int>(most, program.values[id].rank);
  for (int position = 0; position < most; ++position) {
    for (const ValueId id : program.inputs) {
      const Value& value = program.values[id];
      if (!IsSized(value) || value.rank <= position) continue;
      const auto symbol = OpenSymbolOf(program, program.size(id, position), given);
      if (!symbol) continue;
      const Symbol& found = program.symbols[*symbol];
      return OpenSize{.batch = false,
                      .symbol = std::string(program.text(found.name)),
                      .place = PlaceOf(program, id, *symbol),
                      .least = std::clamp<std::int64_t>(found.min, 1, kMostSize),
                      .most = std::clamp<std::int64_t>(found.max, 1, kMostSize)};
    }
  }
  return std::nullopt;
}

// Finds the last size that fits between one that does and one that does not, or the end.
class Search {
 public:
  Search(const OpenSize& open, BindOptions sizes, std::int64_t limit, const WeighSizes& weigh)
      : open_(open), sizes_(std::move(sizes)), limit_(limit), weigh_(weigh) {}

  Result<Weighing> Run() {
    SY_RETURN_IF_ERROR(TryLeast());
    if (!best_) LookForAny();
    if (!best_) return Unexpected(NothingFits());
    do {
      while (good_.size < open_.most && (!bad_ || bad_->size > good_.size + open_.step)) {
        const std::int64_t next = NextSize();
        // A size that the program cannot take at all ends the range, like one that does not fit.
        if (!TryOrRefuse(next)) bad_ = Point{next, 0};
      }
    } while (weighings_ < kMostWeighings && FindsFurther());
    const bool fails = bad_ && bad_->peak == 0;
    best_->fit = Fit{.limit = limit_,
                     .dimension = NameOfSize(open_),
                     .place = open_.place,
                     .size = good_.size,
                     .next_size = bad_ && !fails ? bad_->size : 0,
                     .next_peak = bad_ ? bad_->peak : 0,
                     .refusal = fails ? refusal_ : "",
                     .weighings = weighings_};
    return std::move(*best_);
  }

 private:
  struct Point {
    std::int64_t size = 0;
    std::int64_t peak = 0;  // 0: it could not be weighed
  };

  void SetSize(std::int64_t size) {
    if (open_.symbol.empty()) {
      (open_.batch ? sizes_.batch : sizes_.seq) = size;
      return;
    }
    if (!is_sized_) sizes_.sizes.push_back({open_.symbol, 0});
    is_sized_ = true;
    sizes_.sizes.back().size = size;
  }

  Status Try(std::int64_t size) {
    SetSize(size);
    ++weighings_;
    SY_ASSIGN_OR_RETURN(Weighing weighing, weigh_(sizes_));
    const Point point{size, NeededBytes(weighing)};
    previous_ = std::exchange(last_, point);
    if (point.peak > limit_) {
      bad_ = point;
    } else {
      good_ = point;
      best_ = std::move(weighing);
    }
    return {};
  }

  // Whether the program takes the size; if not, why is kept.
  bool TryOrRefuse(std::int64_t size) {
    const Status status = Try(size);
    if (!status) refusal_ = status.error().message;
    return status.has_value();
  }

  // An image may be too small for what convolves and pools it, whatever sizes the file allows.
  Status TryLeast() {
    Status least = Try(least_);
    if (least || open_.symbol.empty()) return least;
    for (int i = 0; i < kDoublings && least_ <= open_.most / 2; ++i) {
      least_ *= 2;
      if (TryOrRefuse(least_)) return {};
    }
    return least;
  }

  // The least may need more than a larger one, which other kernels may compute.
  void LookForAny() {
    const Point least = *bad_;
    std::int64_t size = least_;
    for (int i = 0; i < kDoublings && !best_ && size <= open_.most / 2; ++i) {
      size *= 2;
      if (!TryOrRefuse(size)) break;
    }
    best_ ? bad_.reset() : void(last_ = least);
  }

  // Whether one of the next sizes beyond the first that does not fit does: peaks need not grow.
  bool FindsFurther() {
    if (!bad_ || bad_->peak == 0) return false;
    const Point first = *bad_;
    for (int i = 1; i <= kBeyond && first.size <= open_.most - i * open_.step; ++i) {
      if (!TryOrRefuse(first.size + i * open_.step)) break;
      if (good_.size <= first.size) continue;
      bad_.reset();
      return true;
    }
    bad_ = first;
    return false;
  }

  // Where the line through the last two weighings reaches the limit, inside of what is not known.
  std::int64_t NextSize() const {
    const std::int64_t low = good_.size / open_.step + 1;
    const std::int64_t high = (bad_ ? bad_->size - open_.step : open_.most) / open_.step;
    std::int64_t guess = std::min(high, 2 * low);
    if (weighings_ > kGuesses) {
      guess = low + (high - low) / 2;
    } else if (last_.size != previous_.size && last_.peak != previous_.peak && previous_.size > 0) {
      const double slope = static_cast<double>(last_.peak - previous_.peak) /
                           static_cast<double>(last_.size - previous_.size);
      const double reach = static_cast<double>(good_.size) +
                           static_cast<double>(limit_ - good_.peak) / std::max(slope, 1e-9);
      guess = static_cast<std::int64_t>(std::min(reach / static_cast<double>(open_.step), 1e18));
    }
    return std::clamp(guess, low, high) * open_.step;
  }

  Error NothingFits() const {
    const std::string name = NameOfSize(open_);
    const std::string size = open_.place.empty()
                                 ? fmt::format("a {} of {}", name, last_.size)
                                 : fmt::format("{} = {} ({})", name, last_.size, open_.place);
    return Unsupported(
        fmt::format("{} takes {}, more than {}", size, Format(last_.peak, Unit::kBytes),
                    FormatLimit(limit_)),
        "--fit", "Give it more memory, a smaller size in the other dimensions or another model.");
  }

  const OpenSize& open_;
  BindOptions sizes_;
  const std::int64_t limit_;
  const WeighSizes& weigh_;
  std::int64_t least_ = open_.least;
  Point good_, last_, previous_;
  std::optional<Point> bad_;
  std::optional<Weighing> best_;
  std::string refusal_;
  int weighings_ = 0;
  bool is_sized_ = false;  // the last of `sizes_.sizes` is the one that is searched
};

}  // namespace

Result<OpenSize> FindOpenSize(const Program& program, const BindOptions& sizes) {
  const std::vector<bool> symbols = GivenSymbols(program, sizes);
  for (int position : {0, 1}) {
    if (position == 0 ? sizes.batch.has_value() : sizes.seq.has_value()) continue;
    if (const auto open = FindAt(program, position, symbols)) return *open;
  }
  if (auto open = FindElsewhere(program, WithPositions(program, sizes, symbols))) {
    return *std::move(open);
  }
  std::string given;
  const auto add = [&](bool is_given, std::string_view flag) {
    if (is_given) given.append(given.empty() ? "" : " or ").append(flag);
  };
  add(sizes.batch.has_value(), "--batch");
  add(sizes.seq.has_value(), "--seq");
  add(!sizes.inputs.empty(), "--input");
  add(!sizes.sizes.empty(), "--size");
  std::string hint = given.empty() ? "Export" : fmt::format("Leave {} away", given);
  // The file leaves it open: nothing but these options decides it.
  if (FindElsewhere(program, std::vector<bool>(program.symbols.size()))) {
    return Unexpected(
        InvalidInput("every size of the model's inputs is given, so there is nothing "
                     "to search",
                     "--fit", hint + "."));
  }
  if (!given.empty()) hint += "; or export";
  return Unexpected(
      InvalidInput("no size of the model's inputs is open, so there is nothing to search", "--fit",
                   hint + " it with one: " + ExportWithBatch(program)));
}

Result<Weighing> WeighLargest(const OpenSize& open, const BindOptions& sizes, std::int64_t limit,
                              const WeighSizes& weigh) {
  return Search(open, sizes, limit, weigh).Run();
}

}  // namespace steelyard
