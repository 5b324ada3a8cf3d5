// SPDX-License-Identifier: Apache-2.0
//
// Follows ATen/native/Linear.cpp: every operand gets all dimensions of the equation (output first,
// then those summed over), missing ones of size 1; operands are then multiplied in pairs, each pair
// by one bmm over permuted and flattened dimensions.

#include "ops/einsum.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

constexpr int kLetters = 52;
constexpr int kEllipsis = kLetters;  // stands for the dimensions without a letter

// A to Z, then a to z; summed dimensions stand in this order.
int LetterOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  Refuse(fmt::format("'{}' is no subscript", c));
}

using Labels = std::vector<int>;

Labels ParseTerm(std::string_view term) {
  Labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term[i] == '.') {
      if (term.substr(i, 3) != "...") Refuse("a single dot in the equation");
      if (std::ranges::find(labels, kEllipsis) != labels.end()) Refuse("two ellipses in one term");
      labels.push_back(kEllipsis);
      i += 2;
    } else {
      labels.push_back(LetterOf(term[i]));
    }
  }
  return labels;
}

// The equation over the operands it is meant for: where each letter's dimension stands once all
// operands are aligned.
struct Equation {
  std::vector<Labels> terms;
  std::array<int, kLetters> position;  // of a letter; -1 if it does not occur
  int ellipsis = 0;                    // position of the first dimension without a letter
  int ellipsis_rank = 0;
  int output_rank = 0;
  int rank = 0;
};

void SplitTerms(std::string_view inputs, std::vector<Labels>& terms) {
  for (;;) {
    const std::size_t comma = inputs.find(',');
    terms.push_back(ParseTerm(inputs.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    inputs.remove_prefix(comma + 1);
  }
}

std::array<int, kLetters> CountLetters(Equation& e, const std::vector<Tensor>& operands) {
  std::array<int, kLetters> count{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    int letters = 0;
    bool open = false;
    for (int label : e.terms[i]) {
      open |= label == kEllipsis;
      if (label == kEllipsis) continue;
      ++letters;
      ++count[static_cast<std::size_t>(label)];
    }
    const int rank = operands[i].rank();
    if (open ? letters > rank : letters != rank) {
      Refuse(fmt::format("{} subscripts for operand {} of {} dimensions", letters, i, rank));
    }
    if (open) e.ellipsis_rank = std::max(e.ellipsis_rank, rank - letters);
  }
  return count;
}

// Positions of the output's dimensions; whether the ellipsis is among them.
bool PlaceOutput(Equation& e, const std::optional<Labels>& output,
                 const std::array<int, kLetters>& count) {
  if (!output) {
    e.rank = e.ellipsis_rank;
    for (std::size_t letter = 0; letter < kLetters; ++letter) {
      if (count[letter] == 1) e.position[letter] = e.rank++;
    }
    return true;
  }
  bool open = false;
  for (int label : *output) {
    if (label == kEllipsis) {
      open = true;
      e.ellipsis = e.rank;
      e.rank += e.ellipsis_rank;
      continue;
    }
    int& position = e.position[static_cast<std::size_t>(label)];
    if (count[static_cast<std::size_t>(label)] == 0 || position >= 0) {
      Refuse("a subscript of the output occurs twice or in no operand");
    }
    position = e.rank++;
  }
  return open;
}

Equation Parse(std::string_view text, const std::vector<Tensor>& operands) {
  Equation e;
  e.position.fill(-1);
  const std::size_t arrow = text.find("->");
  SplitTerms(text.substr(0, arrow), e.terms);
  if (e.terms.size() != operands.size()) {
    Refuse(fmt::format("{} terms for {} operands", e.terms.size(), operands.size()));
  }
  const std::array<int, kLetters> count = CountLetters(e, operands);
  std::optional<Labels> output;
  if (arrow != std::string_view::npos) output = ParseTerm(text.substr(arrow + 2));
  const bool open = PlaceOutput(e, output, count);
  e.output_rank = e.rank;
  if (!open) {
    e.ellipsis = e.rank;
    e.rank += e.ellipsis_rank;
  }
  for (std::size_t letter = 0; letter < kLetters; ++letter) {
    if (count[letter] > 0 && e.position[letter] < 0) e.position[letter] = e.rank++;
  }
  if (e.rank > Dims::kMaxRank) Refuse(fmt::format("{} dimensions are too many", e.rank));
  return e;
}

// An operand with all dimensions of the equation in their places.
Tensor Align(Dispatcher& d, const Equation& e, const Labels& labels, Tensor operand) {
  const int open_rank = operand.rank() - static_cast<int>(labels.size()) + 1;
  Dims order = Dims::Filled(e.rank, -1);
  int dim = 0;
  for (int label : labels) {
    if (label == kEllipsis) {
      for (int j = e.ellipsis_rank - open_rank; j < e.ellipsis_rank; ++j)
        order[e.ellipsis + j] = dim++;
      continue;
    }
    std::int64_t& place = order[e.position[static_cast<std::size_t>(label)]];
    if (place < 0) {
      place = dim++;
      continue;
    }
    shape::RequireEqual("sizes of a repeated subscript", operand.size(static_cast<int>(place)),
                        operand.size(dim));
    operand =
        d.Call("aten::movedim.int", d.Call("aten::diagonal", operand, 0, place, dim), -1, place);
  }
  for (std::int64_t& place : std::span(&order[0], static_cast<std::size_t>(e.rank))) {
    if (place >= 0) continue;
    operand = d.Call("aten::unsqueeze", operand, dim);
    place = dim++;
  }
  return d.Call("aten::permute", operand, order);
}

std::int64_t Multiplied(std::int64_t a, std::int64_t b) {
  const Count product = Count(a) * b;
  if (product.overflowed()) Contradict("more than 2^63 elements");
  return product.value();
}

// What the next pair can be summed over: dimensions that no later operand has.
struct Sums {
  shape::DimSet pair = 0, left = 0, right = 0;
};

Sums SumsOf(const Equation& e, const Tensor& a, const Tensor& b, std::vector<int>& users) {
  Sums sums;
  for (int dim = e.output_rank; dim < e.rank; ++dim) {
    int& count = users[static_cast<std::size_t>(dim)];
    const bool in_a = a.size(dim) != 1, in_b = b.size(dim) != 1;
    const shape::DimSet bit = shape::DimSet{1} << dim;
    if (in_a && in_b) {
      if (--count != 1) continue;
      sums.pair |= bit;
    } else if (count == 1 && (in_a || in_b)) {
      (in_a ? sums.left : sums.right) |= bit;
    } else {
      continue;
    }
    count = 0;
  }
  return sums;
}

Tensor SumOver(Dispatcher& d, const Tensor& t, shape::DimSet dims) {
  if (dims == 0) return t;
  Dims list;
  for (int i = 0; i < t.rank(); ++i) {
    if (shape::Has(dims, i)) list.push_back(i);
  }
  return d.Call("aten::sum.dim_IntList", t, list, true);
}

Tensor Take(std::deque<Tensor>& operands, std::int64_t at) {
  Tensor out = std::move(operands[static_cast<std::size_t>(at)]);
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(at));
  return out;
}

// Whether all dimensions of the left one's own come after those that it does not have: the product
// is then the other way round, so that it lies in their order.
bool StandsBehind(const Tensor& left, const Tensor& right, shape::DimSet summed) {
  int first_of_left = left.rank(), last_of_right = -1;
  for (int i = left.rank(); i-- > 0;) {
    if (shape::Has(summed, i) || (left.size(i) != 1 && right.size(i) != 1)) continue;
    if (left.size(i) != 1) {
      first_of_left = i;
    } else {
      last_of_right = std::max(last_of_right, i);
    }
  }
  return first_of_left < left.rank() && last_of_right >= 0 && last_of_right < first_of_left;
}

// Left to right, or in the order of `path`.
void Contract(Dispatcher& d, const Equation& e, const OpView& op, std::deque<Tensor>& operands) {
  std::vector<int> users(static_cast<std::size_t>(e.rank), 0);
  for (const Tensor& operand : operands) {
    for (int dim = 0; dim < e.rank; ++dim)
      users[static_cast<std::size_t>(dim)] += operand.size(dim) != 1 ? 1 : 0;
  }
  const Dims path = op.ints(2);
  for (int step = 0; operands.size() > 1; ++step) {
    std::int64_t i = 0, j = 1;
    if (op.given(2)) {
      if (2 * step + 1 >= path.size()) Refuse("the path is too short");
      i = std::min(path[2 * step], path[2 * step + 1]);
      j = std::max(path[2 * step], path[2 * step + 1]);
      if (i < 0 || i == j || j >= static_cast<std::int64_t>(operands.size()))
        Refuse("a wrong path");
    }
    Tensor later = Take(operands, j);
    Tensor a = Take(operands, i);
    Tensor b = std::move(later);
    const Sums sums = SumsOf(e, a, b, users);
    a = SumOver(d, a, sums.left);
    b = SumOver(d, b, sums.right);
    Tensor product = MultiplyPair(d, a, b, sums.pair);
    if (op.given(2))
      operands.push_back(std::move(product));
    else
      operands.push_front(std::move(product));
  }
}

}  // namespace

Tensor MultiplyPair(Dispatcher& d, const Tensor& left, const Tensor& right, shape::DimSet summed) {
  if (summed == 0) return d.Call("aten::mul.Tensor", left, right);
  if (StandsBehind(left, right, summed)) return MultiplyPair(d, right, left, summed);
  Dims both, left_only, sums, right_only;
  std::int64_t batch = 1, rows = 1, inner = 1, columns = 1;
  for (int i = 0; i < left.rank(); ++i) {
    const std::int64_t l = left.size(i), r = right.size(i);
    if (l != 1 && r != 1) shape::RequireEqual("sizes of a shared subscript", l, r);
    if (shape::Has(summed, i)) {
      sums.push_back(i);
      inner = Multiplied(inner, l);
    } else if (l != 1 && r != 1) {
      both.push_back(i);
      batch = Multiplied(batch, l);
    } else if (l != 1) {
      left_only.push_back(i);
      rows = Multiplied(rows, l);
    } else {
      right_only.push_back(i);
      columns = Multiplied(columns, r);
    }
  }
  const auto joined = [](std::initializer_list<const Dims*> lists) {
    Dims all;
    for (const Dims* list : lists) {
      for (std::int64_t v : *list) all.push_back(v);
    }
    return all;
  };
  Dims sizes, back = Dims::Filled(left.rank(), 0);
  int at = 0;
  for (std::int64_t i : joined({&both, &left_only, &sums, &right_only})) {
    const int dim = static_cast<int>(i);
    sizes.push_back(shape::Has(summed, dim) ? 1 : std::max(left.size(dim), right.size(dim)));
    back[dim] = at++;
  }
  const Tensor rows_of_left =
      d.Call("aten::reshape",
             d.Call("aten::permute", left, joined({&both, &left_only, &sums, &right_only})),
             Dims{batch, rows, inner});
  const Tensor columns_of_right =
      d.Call("aten::reshape",
             d.Call("aten::permute", right, joined({&both, &sums, &right_only, &left_only})),
             Dims{batch, inner, columns});
  const Tensor product = d.Call("aten::bmm", rows_of_left, columns_of_right);
  return d.Call("aten::permute", d.Call("aten::view", product, sizes), back);
}

std::vector<Tensor> Einsum(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> given = d.tensors(op, 1);
  if (given.empty()) Refuse("einsum needs an operand");
  const Equation e = Parse(op.text(0), given);
  std::deque<Tensor> operands;
  for (std::size_t i = 0; i < given.size(); ++i)
    operands.push_back(Align(d, e, e.terms[i], given[i]));
  Contract(d, e, op, operands);
  const Tensor& result = operands.front();
  if (e.rank == e.output_rank) return {result};
  if (given.size() == 1) {
    Dims summed;
    for (int dim = e.output_rank; dim < e.rank; ++dim) summed.push_back(dim);
    return {d.Call("aten::sum.dim_IntList", result, summed)};
  }
  return {d.Call("aten::view", result,
                 Dims(result.sizes().first(static_cast<std::size_t>(e.output_rank))))};
}

}  // namespace steelyard::ops
