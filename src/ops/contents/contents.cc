// SPDX-License-Identifier: Apache-2.0
//
// Rows of several operands are cut at every border of a run, so that each piece is one run of each;
// a comparison changes where the difference of two runs changes its sign. What makes other rows,
// such as a transposition, is done element by element if there are few; else nothing is known of
// the result.

#include "ops/contents/contents.h"

#include <algorithm>
#include <array>
#include <utility>

namespace steelyard {
namespace {

using Run = Contents::Run;

// Elements that are looked at one by one, where dimensions change places.
constexpr std::int64_t kMostElements = std::int64_t{1} << 16;

std::int64_t Last(std::span<const std::int64_t> extents) {
  return extents.empty() ? 1 : extents.back();
}

// Runs of one row, of a length, in pieces: what is left of the run at the front comes first.
class RowReader {
 public:
  // A row of one number is the same along the dimension.
  RowReader(std::span<const Run> row, std::int64_t length) : row_(row), length_(length) {}
  std::int64_t left() const { return current().length - taken_; }
  Run Take(std::int64_t length) {
    const Run run = current();
    const Run out{length, run.at(taken_), run.step};
    taken_ += length;
    if (taken_ == run.length && at_ + 1 < row_.size()) {
      ++at_;
      taken_ = 0;
    }
    return out;
  }
  void Skip(std::int64_t length) {
    while (length > 0) {
      const std::int64_t part = std::min(length, left());
      Take(part);
      length -= part;
    }
  }

 private:
  Run current() const { return same_ ? Run{length_, row_[0].first} : row_[at_]; }
  std::span<const Run> row_;
  std::int64_t length_;
  bool same_ = row_.size() == 1 && row_[0].length == 1;
  std::size_t at_ = 0;
  std::int64_t taken_ = 0;
};

// Places of an operand's rows while all but the last dimension of a result are gone through.
class RowIndex {
 public:
  RowIndex(std::span<const std::int64_t> extents, std::span<const std::int64_t> all) {
    const std::size_t lead = all.empty() ? 0 : all.size() - 1;
    const std::size_t own = extents.empty() ? 0 : extents.size() - 1;
    strides_ = Dims::Filled(static_cast<int>(lead), 0);
    std::int64_t stride = 1;
    for (std::size_t i = own; i-- > 0;) {
      if (extents[i] > 1) strides_[static_cast<int>(lead - own + i)] = stride;
      stride *= extents[i];
    }
  }
  std::int64_t operator()(std::span<const std::int64_t> at) const {
    std::int64_t row = 0;
    for (std::size_t i = 0; i < at.size(); ++i) row += at[i] * strides_[static_cast<int>(i)];
    return row;
  }

 private:
  Dims strides_;
};

// Steps through all but the last of some extents, the last of them fastest.
class Odometer {
 public:
  explicit Odometer(std::span<const std::int64_t> extents)
      : extents_(extents.first(extents.empty() ? 0 : extents.size() - 1)),
        at_(Dims::Filled(static_cast<int>(extents_.size()), 0)) {}
  std::span<const std::int64_t> at() const { return at_; }
  bool Next() {
    for (std::size_t i = extents_.size(); i-- > 0;) {
      if (++at_[static_cast<int>(i)] < extents_[i]) return true;
      at_[static_cast<int>(i)] = 0;
    }
    return false;
  }

 private:
  std::span<const std::int64_t> extents_;
  Dims at_;
};

// Calls visit(begin, length, sign) for the stretches in which a - b has one sign.
template <class Visit>
void EachSign(const Run& a, const Run& b, const Visit& visit) {
  const auto sign_at = [&](std::int64_t i) {
    const double x = a.at(i), y = b.at(i);
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const double slope = a.step - b.step;
  std::int64_t begin = 0;
  while (begin < a.length) {
    const int sign = sign_at(begin);
    std::int64_t end = a.length;
    if (slope != 0 && sign == 0) end = begin + 1;
    if (slope * sign < 0) {  // it comes to zero where the difference has gone
      const double steps = std::ceil((b.at(begin) - a.at(begin)) / slope);
      const auto left = static_cast<double>(a.length - begin);
      end = begin + static_cast<std::int64_t>(std::clamp(steps, 1.0, left));
    }
    visit(begin, end - begin, sign);
    begin = end;
  }
}

double LargestExact(DType dtype) {
  if (dtype == DType::kFloat64) return 0x1p53;
  if (dtype == DType::kFloat32) return 0x1p24;
  return dtype == DType::kFloat16 ? 0x1p11 : dtype == DType::kBFloat16 ? 0x1p8 : 0;
}

bool IsWhole(double x) { return x == std::trunc(x); }

Run Converted(Run run, DType dtype) {
  if (!run.known() || IsComplex(dtype)) return {run.length};
  const double last = run.at(run.length - 1);
  const bool whole = IsWhole(run.first) && IsWhole(run.step);
  if (IsFloating(dtype)) {
    const double most = std::max(std::abs(run.first), std::abs(last));
    return run.step == 0 || (whole && most <= LargestExact(dtype)) ? run : Run{run.length};
  }
  if (whole) return run;
  return run.step == 0 && std::abs(run.first) < 0x1p53 ? Run{run.length, std::trunc(run.first)}
                                                       : Run{run.length};
}

// Whether each element is not zero.
void AddTruth(const Run& run, Contents::Builder& row) {
  if (!run.known()) return row.Add({run.length});
  EachSign(run, {run.length, 0}, [&](std::int64_t, std::int64_t length, int sign) {
    row.Add({length, sign == 0 ? 0.0 : 1.0});
  });
}

}  // namespace

// --- Building ------------------------------------------------------------------------------------

void Contents::Builder::Add(Run run) {
  if (run.length <= 0) return;
  if (run.length == 1 || !run.known()) run.step = 0;
  const std::size_t begin = out_.ends_.empty() ? 0 : out_.ends_.back();
  if (out_.runs_.size() > begin) {
    Run& last = out_.runs_.back();
    const bool both_unknown = !last.known() && !run.known();
    const bool goes_on = last.known() && run.known() && last.step == run.step &&
                         run.first == last.at(last.length) &&
                         (last.length > 1 || run.length > 1 || last.first == run.first);
    if (both_unknown || goes_on) {
      last.length += run.length;
      return;
    }
  }
  if (!full()) out_.runs_.push_back(run);
}

Contents Contents::Builder::Take() && {
  if (full()) return {};
  out_.Shrink();
  return std::move(out_);
}

// Keeps once what does not change: all rows, if they are the same, and a row that is one number.
void Contents::Shrink() {
  const std::span<const Run> first = row(0);
  for (std::size_t i = 1; i < row_count(); ++i) {
    if (!std::ranges::equal(row(i), first, [](const Run& a, const Run& b) {
          return a.length == b.length && a.step == b.step &&
                 (a.first == b.first || (!a.known() && !b.known()));
        })) {
      return;
    }
  }
  runs_.resize(first.size());
  ends_.resize(1);
  for (int i = 0; i + 1 < extents_.size(); ++i) extents_[i] = 1;
  if (runs_.size() != 1 || runs_[0].step != 0) return;
  if (!runs_[0].known()) {
    *this = {};
    return;
  }
  runs_[0].length = 1;
  if (!extents_.empty()) extents_[extents_.size() - 1] = 1;
}

std::int64_t Contents::RowsOf(std::span<const std::int64_t> extents) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < extents.size(); ++i) {
    if (__builtin_mul_overflow(rows, extents[i], &rows)) return -1;
  }
  return rows;
}

Contents Contents::Constant(int rank, double value) {
  Builder out(Dims::Filled(rank, 1));
  out.Add({1, value});
  out.EndRow();
  return std::move(out).Take();
}

Contents Contents::Range(std::int64_t length, double first, double step) {
  if (length == 0) return {};
  Builder out(Dims{length});
  out.Add({length, first, step});
  out.EndRow();
  return std::move(out).Take();
}

Contents Contents::Triangle(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                            bool upper) {
  if (rows <= 0 || columns <= 0 || static_cast<std::size_t>(rows) > kMostRuns) return {};
  Builder out(Dims{rows, columns});
  for (std::int64_t i = 0; i < rows; ++i) {
    // Columns up to i + diagonal are below; the diagonal itself belongs to either triangle.
    const std::int64_t below = std::clamp<std::int64_t>(
        i + std::clamp(diagonal, -rows - 1, columns + 1) + (upper ? 0 : 1), 0, columns);
    out.Add({below, upper ? 0.0 : 1.0});
    out.Add({columns - below, upper ? 1.0 : 0.0});
    out.EndRow();
  }
  return std::move(out).Take();
}

std::int64_t Contents::InAll(std::int64_t count, std::span<const std::int64_t> sizes) const {
  const int in_front = static_cast<int>(sizes.size()) - extents_.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int own = static_cast<int>(i) - in_front;
    if (own >= 0 && extents_[own] > 1) continue;
    if (__builtin_mul_overflow(count, sizes[i], &count)) return -1;
  }
  return count;
}

std::optional<std::vector<double>> Contents::Elements() const {
  std::int64_t total = RowsOf(extents_);
  if (!extents_.empty()) total *= extents_[extents_.size() - 1];
  if (total < 0 || total > kMostElements) return std::nullopt;
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(total));
  for (const Run& run : runs_) {
    for (std::int64_t i = 0; i < run.length; ++i) out.push_back(run.at(i));
  }
  return out;
}

Contents Contents::FromElements(const Dims& extents, std::span<const double> elements) {
  Builder out(extents);
  const std::int64_t width = extents.empty() ? 1 : extents[extents.size() - 1];
  for (auto rest = elements; !rest.empty(); rest = rest.subspan(static_cast<std::size_t>(width))) {
    const auto row = rest.first(static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < row.size();) {
      const double step = i + 1 < row.size() ? row[i + 1] - row[i] : 0;
      std::size_t end = i + 1;
      while (end < row.size() && row[end] - row[end - 1] == step) ++end;
      if (end - i == 2 && step != 0) end = i + 1;  // two numbers are no range
      const auto length = static_cast<std::int64_t>(end - i);
      out.Add({length, row[i], length == 1 ? 0 : step});
      i = end;
    }
    out.EndRow();
  }
  return std::move(out).Take();
}

// --- Views ---------------------------------------------------------------------------------------

// The same elements in the same order, in other rows where the last dimension is another.
Contents Contents::InExtents(const Dims& extents) const {
  if (empty()) return {};
  if (Last(extents) != Last(extents_) && !IsUniform()) {
    const auto elements = Elements();
    return elements ? FromElements(extents, *elements) : Contents();
  }
  Contents out = *this;
  out.extents_ = extents;
  return out;
}

Contents Contents::Unsqueezed(int dim) const {
  Dims extents = extents_;
  extents.insert(dim, 1);
  return InExtents(extents);
}

Contents Contents::Squeezed(int dim) const {
  if (empty() || extents_[dim] != 1) return {};
  Dims extents = extents_;
  extents.erase(dim);
  return InExtents(extents);
}

Contents Contents::Expanded(int rank) const {
  Contents out = *this;
  while (!empty() && out.extents_.size() < rank) out.extents_.insert(0, 1);
  return out;
}

Contents Contents::Permuted(std::span<const std::int64_t> order) const {
  Dims extents;
  for (const std::int64_t from : order) extents.push_back(extents_[static_cast<int>(from)]);
  if (IsUniform()) return InExtents(extents);
  const auto elements = Elements();
  if (!elements) return {};
  Dims strides = Dims::Filled(extents_.size(), 1);
  for (int i = extents_.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * extents_[i + 1];
  std::vector<double> moved;
  moved.reserve(elements->size());
  Dims all = extents;
  all.push_back(1);
  Odometer at(all);
  do {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      from += at.at()[i] * strides[static_cast<int>(order[i])];
    }
    moved.push_back((*elements)[static_cast<std::size_t>(from)]);
  } while (at.Next());
  return FromElements(extents, moved);
}

namespace {

// Extents of a tensor of sizes `from` as sizes `to` have them, the last ones first. Nothing, where
// a dimension along which something changes is not among them.
std::optional<Dims> ExtentsIn(std::span<const std::int64_t> from, const Dims& extents,
                              std::span<const std::int64_t> to) {
  Dims out = Dims::Filled(static_cast<int>(to.size()), 1);
  auto j = static_cast<int>(to.size());
  bool in_front = false;  // only dimensions along which nothing changes are left
  for (int i = extents.size(); i-- > 0;) {
    const std::int64_t size = from[static_cast<std::size_t>(i)];
    if (extents[i] > 1) {
      while (j > 0 && to[static_cast<std::size_t>(j - 1)] == 1) --j;
      if (in_front || j == 0 || to[static_cast<std::size_t>(j - 1)] != size) return std::nullopt;
      out[--j] = size;
    } else if (j > 0 && to[static_cast<std::size_t>(j - 1)] == size) {
      --j;
    } else {
      in_front |= size != 1;
    }
  }
  return out;
}

}  // namespace

// Dimensions of size 1 come and go, and dimensions in front that nothing changes along may be
// joined and taken apart.
Contents Contents::Reshaped(std::span<const std::int64_t> from,
                            std::span<const std::int64_t> to) const {
  const std::optional<Dims> extents = empty() ? std::nullopt : ExtentsIn(from, extents_, to);
  return extents ? InExtents(*extents) : Contents();
}

Contents Contents::Sliced(int dim, std::int64_t start, std::int64_t step,
                          std::int64_t length) const {
  if (empty() || length == 0) return {};
  if (extents_[dim] == 1) return *this;
  Dims extents = extents_;
  extents[dim] = length;
  Builder out(extents);
  if (dim + 1 < extents_.size()) {
    const RowIndex index(extents_, extents_);
    Odometer at(extents);
    do {
      Dims from(at.at());
      from[dim] = start + from[dim] * step;
      for (const Run& run : row(static_cast<std::size_t>(index(from)))) out.Add(run);
      out.EndRow();
    } while (at.Next() && !out.full());
    return std::move(out).Take();
  }
  for (std::size_t i = 0; i < row_count() && !out.full(); ++i) {
    RowReader reader(row(i), extents_[dim]);
    reader.Skip(start);
    for (std::int64_t left = length; left > 0;) {
      const Run part = reader.Take(std::min(step == 1 ? left : 1, reader.left()));
      out.Add(part);
      left -= part.length;
      if (step > 1 && left > 0) reader.Skip(step - 1);
    }
    out.EndRow();
  }
  return std::move(out).Take();
}

// --- Conversions ---------------------------------------------------------------------------------

Contents Contents::As(DType dtype) const {
  if (empty()) return {};
  Builder out(extents_);
  for (std::size_t i = 0; i < row_count() && !out.full(); ++i) {
    for (const Run& run : row(i)) {
      if (dtype == DType::kBool) {
        AddTruth(run, out);
      } else {
        out.Add(Converted(run, dtype));
      }
    }
    out.EndRow();
  }
  return std::move(out).Take();
}

Contents Contents::SummedUp(std::int64_t length) const {
  if (empty()) return {};
  Dims extents = extents_;
  if (!extents.empty()) extents[extents.size() - 1] = length;
  Builder out(extents);
  for (std::size_t i = 0; i < row_count() && !out.full(); ++i) {
    double sum = 0;
    RowReader reader(row(i), length);
    for (std::int64_t left = length; left > 0;) {
      const Run run = reader.Take(reader.left());
      left -= run.length;
      out.Add({run.length, run.step == 0 ? sum + run.first : kUnknown, run.first});
      sum = run.step == 0 ? sum + run.first * static_cast<double>(run.length) : kUnknown;
    }
    out.EndRow();
  }
  return std::move(out).Take();
}

Contents Contents::Softmaxed() const {
  if (empty() || IsUniform()) return {};
  Builder out(extents_);
  const auto hidden = [](const Run& run) { return run.constant() && run.first <= kHides; };
  for (std::size_t i = 0; i < row_count(); ++i) {
    const bool all = std::ranges::all_of(row(i), hidden);
    for (const Run& run : row(i)) {
      out.Add(hidden(run) && !all ? Run{run.length, 0} : Run{run.length});
    }
    out.EndRow();
  }
  return std::move(out).Take();
}

// --- Several operands ----------------------------------------------------------------------------

namespace {

// One row of anything.
constexpr Run kAnything{1};

// The rows of several operands, beside each other.
class Rows {
 public:
  explicit Rows(int rank) : extents_(Dims::Filled(rank, 1)) {}
  // False if it has more dimensions than the result.
  bool Add(const Contents* operand) {
    operands_.push_back(operand == nullptr || operand->empty() ? nullptr : operand);
    if (operands_.back() == nullptr) return true;
    const int in_front = extents_.size() - operand->rank();
    for (int i = 0; in_front >= 0 && i < operand->rank(); ++i) {
      std::int64_t& extent = extents_[in_front + i];
      extent = std::max(extent, operand->extents()[static_cast<std::size_t>(i)]);
    }
    return in_front >= 0;
  }
  const Dims& extents() const { return extents_; }
  Dims& extents() { return extents_; }
  std::size_t size() const { return operands_.size(); }
  // Requires: nothing is added any more.
  std::span<const Run> row(std::size_t operand, std::span<const std::int64_t> at) {
    const Contents* of = operands_[operand];
    if (of == nullptr) return {&kAnything, 1};
    while (index_.size() <= operand) {
      const Contents* next = operands_[index_.size()];
      index_.emplace_back(next == nullptr ? std::span<const std::int64_t>() : next->extents(),
                          extents_);
    }
    return of->row(static_cast<std::size_t>(index_[operand](at)));
  }

 private:
  Dims extents_;
  std::vector<const Contents*> operands_;
  std::vector<RowIndex> index_;
};

}  // namespace

Contents Pointwise(std::span<const std::int64_t> sizes,
                   std::initializer_list<const Contents*> operands, Segment segment) {
  Rows rows(static_cast<int>(sizes.size()));
  for (const Contents* operand : operands) {
    if (!rows.Add(operand)) return {};
  }
  const std::int64_t width = Last(rows.extents());
  Contents::Builder out(rows.extents());
  std::vector<Run> parts(rows.size());
  std::vector<RowReader> readers;
  Odometer at(rows.extents());
  do {
    readers.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) readers.emplace_back(rows.row(i, at.at()), width);
    for (std::int64_t left = width; left > 0;) {
      std::int64_t length = left;
      for (const RowReader& reader : readers) length = std::min(length, reader.left());
      for (std::size_t i = 0; i < readers.size(); ++i) parts[i] = readers[i].Take(length);
      segment(parts, out);
      left -= length;
    }
    out.EndRow();
  } while (at.Next() && !out.full());
  return std::move(out).Take();
}

Contents Concatenated(std::span<const Contents* const> parts, std::span<const std::int64_t> lengths,
                      int rank) {
  Rows rows(rank);
  std::int64_t width = 0;
  for (const Contents* part : parts) {
    if (!rows.Add(part)) return {};
  }
  for (const std::int64_t length : lengths) width += length;
  if (rank == 0 || width == 0) return {};
  rows.extents()[rank - 1] = width;
  Contents::Builder out(rows.extents());
  Odometer at(rows.extents());
  do {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      RowReader reader(rows.row(i, at.at()), lengths[i]);
      for (std::int64_t left = lengths[i]; left > 0;) {
        const Run run = reader.Take(reader.left());
        out.Add(run);
        left -= run.length;
      }
    }
    out.EndRow();
  } while (at.Next() && !out.full());
  return std::move(out).Take();
}

namespace {

// Elements of a row at the places that a run of indices tells.
void LookUp(std::span<const Run> row, std::int64_t count, const Run& index,
            Contents::Builder& out) {
  const bool inside = index.known() && index.first >= 0 &&
                      index.at(index.length - 1) < static_cast<double>(count) &&
                      (index.step == 0 || index.step == 1);
  if (!inside) return out.Add({index.length});
  RowReader source(row, count);
  source.Skip(static_cast<std::int64_t>(index.first));
  if (index.step == 0) return out.Add({index.length, source.Take(1).first});
  for (std::int64_t left = index.length; left > 0;) {
    const Run run = source.Take(std::min(left, source.left()));
    out.Add(run);
    left -= run.length;
  }
}

}  // namespace

Contents Looked(const Contents& self, std::span<const std::int64_t> self_sizes,
                std::span<const Contents* const> indices, std::span<const std::int64_t> sizes) {
  if (self.empty() || indices.size() != self_sizes.size()) return {};
  if (self.rank() != static_cast<int>(indices.size()) || indices.empty()) return {};
  const auto rank = static_cast<int>(sizes.size());
  if (const auto number = self.uniform()) return Contents::Constant(rank, *number);
  Rows rows(rank);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (self.extents()[i] > 1 && !rows.Add(indices[i])) return {};
  }
  // One index is enough for what programs do: the others meet dimensions along which `self` is the
  // same everywhere.
  if (rows.size() > 1 || Last(self.extents()) == 1) return {};
  const std::int64_t width = Last(rows.extents());
  Contents::Builder out(rows.extents());
  Odometer at(rows.extents());
  do {
    RowReader reader(rows.row(0, at.at()), width);
    for (std::int64_t left = width; left > 0;) {
      const Run index = reader.Take(reader.left());
      LookUp(self.row(0), Last(self.extents()), index, out);
      left -= index.length;
    }
    out.EndRow();
  } while (at.Next() && !out.full());
  return std::move(out).Take();
}

namespace segments {
namespace {

// Whether an addend hides what it is added to.
bool Hides(const Run& run) { return run.constant() && run.first <= kHides; }

bool IsZero(const Run& run) { return run.constant() && run.first == 0; }

// The truth of `holds` for the sign of the difference of two numbers.
template <class Holds>
void Compare(Parts parts, Contents::Builder& row, const Holds& holds) {
  if (!parts[0].known() || !parts[1].known()) return row.Add({parts[0].length});
  EachSign(parts[0], parts[1], [&](std::int64_t, std::int64_t length, int sign) {
    row.Add({length, holds(sign) ? 1.0 : 0.0});
  });
}

// The first where the difference has this sign or none, else the second.
void Choose(Parts parts, Contents::Builder& row, int first) {
  if (!parts[0].known() || !parts[1].known()) return row.Add({parts[0].length});
  EachSign(parts[0], parts[1], [&](std::int64_t begin, std::int64_t length, int sign) {
    const Run& chosen = sign == first ? parts[0] : parts[1];
    row.Add({length, chosen.at(begin), chosen.step});
  });
}

// A number at zero and another elsewhere; logic on what is known to be true or false.
std::optional<bool> Truth(const Run& run) {
  if (!run.constant()) return std::nullopt;
  return run.first != 0;
}
void AddTruth(std::int64_t length, std::optional<bool> truth, Contents::Builder& row) {
  row.Add(truth ? Run{length, *truth ? 1.0 : 0.0} : Run{length});
}

}  // namespace

void Add(Parts parts, Contents::Builder& row) {
  const Run &a = parts[0], &b = parts[1];
  if (a.known() && b.known()) return row.Add({a.length, a.first + b.first, a.step + b.step});
  row.Add(Hides(a) ? a : Hides(b) ? b : Run{a.length});
}

void Subtract(Parts parts, Contents::Builder& row) {
  const Run &a = parts[0], &b = parts[1];
  if (a.known() && b.known()) return row.Add({a.length, a.first - b.first, a.step - b.step});
  row.Add(Hides(a) ? a : Run{a.length});
}

void Multiply(Parts parts, Contents::Builder& row) {
  const Run &a = parts[0], &b = parts[1];
  if (IsZero(a) || IsZero(b)) return row.Add({a.length, 0});
  if (!a.known() || !b.known() || (a.step != 0 && b.step != 0)) return row.Add({a.length});
  row.Add({a.length, a.first * b.first, a.step == 0 ? a.first * b.step : a.step * b.first});
}

// Rounded down, by one positive number.
void FloorDivide(Parts parts, Contents::Builder& row) {
  const Run &a = parts[0], &b = parts[1];
  if (!a.known() || !b.constant() || b.first <= 0 || !std::isfinite(a.first)) {
    return row.Add({a.length});
  }
  for (std::int64_t i = 0; i < a.length && !row.full();) {
    const double quotient = std::floor(a.at(i) / b.first);
    std::int64_t end = a.length;
    if (a.step != 0) {
      const double border = (a.step > 0 ? quotient + 1 : quotient) * b.first;
      const double steps = a.step > 0 ? std::ceil((border - a.at(i)) / a.step)
                                      : std::floor((border - a.at(i)) / a.step) + 1;
      end = i + static_cast<std::int64_t>(std::clamp(steps, 1.0, static_cast<double>(end - i)));
    }
    row.Add({end - i, quotient});
    i = end;
  }
}

void Equal(Parts parts, Contents::Builder& row) {
  Compare(parts, row, [](int sign) { return sign == 0; });
}
void NotEqual(Parts parts, Contents::Builder& row) {
  Compare(parts, row, [](int sign) { return sign != 0; });
}
void Less(Parts parts, Contents::Builder& row) {
  Compare(parts, row, [](int sign) { return sign < 0; });
}
void LessEqual(Parts parts, Contents::Builder& row) {
  Compare(parts, row, [](int sign) { return sign <= 0; });
}
void Greater(Parts parts, Contents::Builder& row) {
  Compare(parts, row, [](int sign) { return sign > 0; });
}
void GreaterEqual(Parts parts, Contents::Builder& row) {
  Compare(parts, row, [](int sign) { return sign >= 0; });
}

void And(Parts parts, Contents::Builder& row) {
  const auto a = Truth(parts[0]), b = Truth(parts[1]);
  const bool one_is_false = (a && !*a) || (b && !*b);
  AddTruth(parts[0].length,
           one_is_false ? std::optional(false)
           : a && b     ? std::optional(true)
                        : std::nullopt,
           row);
}

void Or(Parts parts, Contents::Builder& row) {
  const auto a = Truth(parts[0]), b = Truth(parts[1]);
  const bool one_is_true = (a && *a) || (b && *b);
  AddTruth(parts[0].length,
           one_is_true ? std::optional(true)
           : a && b    ? std::optional(false)
                       : std::nullopt,
           row);
}

void Not(Parts parts, Contents::Builder& row) {
  const auto a = Truth(parts[0]);
  AddTruth(parts[0].length, a ? std::optional(!*a) : std::nullopt, row);
}

void Negative(Parts parts, Contents::Builder& row) {
  row.Add({parts[0].length, -parts[0].first, -parts[0].step});
}

void Absolute(Parts parts, Contents::Builder& row) {
  const Run& a = parts[0];
  const Run negative{a.length, -a.first, -a.step};
  Choose(std::array{a, negative}, row, 1);
}

void Larger(Parts parts, Contents::Builder& row) { Choose(parts, row, 1); }
void Smaller(Parts parts, Contents::Builder& row) { Choose(parts, row, -1); }

void Select(Parts parts, Contents::Builder& row) {
  if (const auto truth = Truth(parts[0])) return row.Add(*truth ? parts[1] : parts[2]);
  const Run &a = parts[1], &b = parts[2];
  const bool same = a.constant() && b.constant() && a.first == b.first;
  row.Add(same || (Hides(a) && Hides(b)) ? Run{a.length, std::max(a.first, b.first)}
                                         : Run{a.length});
}

void Replace(Parts parts, Contents::Builder& row) {
  Select(std::array{parts[1], parts[2], parts[0]}, row);
}

}  // namespace segments
}  // namespace steelyard
