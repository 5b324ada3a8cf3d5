// SPDX-License-Identifier: Apache-2.0
//
// Decides what a translation can rely on. Known contents serve as integers or as floats, whichever
// are asked for, if they can; what is missing, not known, or symbolic where a number is needed ends
// the translation, and the node is then carried as an unknown operator.

#include "import/onnx/call.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "import/onnx/tensors.h"

namespace steelyard::onnx {
namespace {

bool IsWhole(double number) { return std::floor(number) == number && std::abs(number) < 0x1p53; }

}  // namespace

// The first convergent of its continued fraction that rounds to it: a size times 7 / 10, rounded
// down, is nearly always what it is times 0.7 in float32, which the exact value of that float, a
// little less, is not.
std::optional<Ratio> RatioOf(double real) {
  constexpr double kMost = 0x1p31;
  const auto as_float = [](double x) { return static_cast<double>(static_cast<float>(x)); };
  const double size = std::abs(real);
  const bool is_float = as_float(size) == size;
  double above = 1, below = 0, above_before = 0, below_before = 1;
  for (double rest = size;; rest = 1 / (rest - std::floor(rest))) {
    above_before = std::exchange(above, std::floor(rest) * above + above_before);
    below_before = std::exchange(below, std::floor(rest) * below + below_before);
    if (!(above < kMost && below < kMost)) return std::nullopt;
    const double quotient = above / below;
    if ((is_float ? as_float(quotient) : quotient) != size) continue;
    return Ratio{Dim(static_cast<std::int64_t>(real < 0 ? -above : above)),
                 Dim(static_cast<std::int64_t>(below))};
  }
}

Item& Call::item(std::size_t i) {
  if (!has(i)) GiveUp("operand " + std::to_string(i) + " is missing");
  return *operands_[i];
}

std::vector<Item*> Call::items(std::size_t from, std::size_t end) {
  std::vector<Item*> out;
  out.reserve(end);
  for (std::size_t i = from; i < end; ++i) out.push_back(&item(i));
  return out;
}

std::vector<Tensor> Call::tensors() {
  std::vector<Tensor> out;
  out.reserve(count());
  for (std::size_t i = 0; i < count(); ++i) out.push_back(tensor(i));
  return out;
}

DType Call::dtype(std::size_t i) {
  const Item& found = item(i);
  if (!found.dtype) GiveUp("the dtype of \"" + std::string(found.name) + "\" is not known");
  return *found.dtype;
}

const Shape& Call::shape(std::size_t i) {
  const Item& found = item(i);
  if (!found.shape) GiveUp("the shape of \"" + std::string(found.name) + "\" is not known");
  return *found.shape;
}

std::optional<std::vector<Dim>> Call::numbers(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const Item& found = *operands_[i];
  if (found.numbers || !found.reals) return found.numbers;
  if (!std::ranges::all_of(*found.reals, IsWhole)) return std::nullopt;
  std::vector<Dim> out;
  for (const double number : *found.reals) out.emplace_back(static_cast<std::int64_t>(number));
  return out;
}

std::optional<std::vector<double>> Call::reals(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const Item& found = *operands_[i];
  if (found.reals || !found.numbers) return found.reals;
  std::vector<double> out;
  for (const Dim number : *found.numbers) {
    if (!number.is_number()) return std::nullopt;
    out.push_back(static_cast<double>(number.number()));
  }
  return out;
}

std::optional<std::vector<Ratio>> Call::ratios(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const Item& found = *operands_[i];
  if (found.ratios) return found.ratios;
  std::vector<Ratio> out;
  if (found.numbers) {
    for (const Dim number : *found.numbers) out.push_back({number, Dim(1)});
    return out;
  }
  if (!found.reals) return std::nullopt;
  for (const double real : *found.reals) {
    const std::optional<Ratio> ratio = RatioOf(real);
    if (!ratio) return std::nullopt;
    out.push_back(*ratio);
  }
  return out;
}

std::optional<std::size_t> Call::known(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const Item& found = *operands_[i];
  if (found.numbers) return found.numbers->size();
  if (found.reals) return found.reals->size();
  if (found.ratios) return found.ratios->size();
  return std::nullopt;
}

std::vector<Dim> Call::known_numbers(std::size_t i) {
  if (std::optional<std::vector<Dim>> found = numbers(i)) return *std::move(found);
  GiveUp("the contents of \"" + std::string(item(i).name) + "\" depend on data");
}

std::vector<std::int64_t> Call::known_integers(std::size_t i) {
  std::vector<std::int64_t> out;
  for (const Dim number : known_numbers(i)) {
    if (!number.is_number()) GiveUp("\"" + std::string(item(i).name) + "\" is symbolic");
    out.push_back(number.number());
  }
  return out;
}

std::optional<Builder::Arg> Call::number(std::size_t i) {
  const Item& found = item(i);
  if (!found.shape || !found.shape->empty() || !found.dtype) return std::nullopt;
  if (found.numbers && found.numbers->size() == 1) {
    if (*found.dtype == DType::kBool) return Builder::Arg(found.numbers->front() != Dim(0));
    if (!IsFloating(*found.dtype)) return Builder::Arg(found.numbers->front());
    if (!found.numbers->front().is_number()) return std::nullopt;
  }
  const std::optional<std::vector<double>> value = reals(i);
  if (!value || value->size() != 1 || !IsFloating(*found.dtype)) return std::nullopt;
  return Builder::Arg(value->front());
}

Builder::Arg Call::argument(std::size_t i) {
  if (const std::optional<Builder::Arg> found = number(i)) return *found;
  return tensor(i);
}

std::optional<AttributeProto> Call::attribute(std::string_view name) const {
  std::optional<AttributeProto> found = node_.Find(name);
  if (!found || found->reference.empty()) return found;
  return outer_attributes ? outer_attributes(found->reference) : std::nullopt;
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const std::optional<AttributeProto> found = attribute(name);
  return found ? DimOf(found->integer).number() : otherwise;
}

double Call::real(std::string_view name, double otherwise) const {
  const std::optional<AttributeProto> found = attribute(name);
  return found ? static_cast<double>(found->real) : otherwise;
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const std::optional<AttributeProto> found = attribute(name);
  return std::string(found ? found->text : otherwise);
}

std::optional<std::vector<std::int64_t>> Call::integers(std::string_view name) const {
  const std::optional<AttributeProto> found = attribute(name);
  if (!found) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const std::int64_t integer : found->integers) out.push_back(DimOf(integer).number());
  return out;
}

std::string_view Call::graph(std::string_view name) const {
  const std::optional<AttributeProto> found = attribute(name);
  if (!found || found->graph.empty()) GiveUp("there is no graph " + std::string(name));
  return found->graph;
}

int Call::axis(std::int64_t written, int rank) const {
  const std::int64_t counted = written < 0 ? written + rank : written;
  if (counted < 0 || counted >= rank) {
    GiveUp("axis " + std::to_string(written) + " of " + std::to_string(rank));
  }
  return static_cast<int>(counted);
}

std::optional<std::vector<std::int64_t>> Call::axes(std::size_t operand) {
  if (std::optional<std::vector<std::int64_t>> written = integers("axes")) return written;
  if (!has(operand)) return std::nullopt;
  return known_integers(operand);
}

void Call::Give(Tensor tensor, Like like) { Made(std::move(like)).tensor = tensor; }

void Call::GiveNumbers(std::vector<Dim> numbers, Like like) {
  Made(std::move(like)).numbers = std::move(numbers);
}

void Call::GiveReals(std::vector<double> reals, Like like) {
  if (like.dtype == DType::kFloat32) {
    // As ONNX computes: of one operation on floats the double rounds to what a float would be.
    for (double& real : reals) real = static_cast<double>(static_cast<float>(real));
  }
  Made(std::move(like)).reals = std::move(reals);
}

void Call::GiveRatios(const std::vector<Ratio>& ratios, Like like) {
  std::vector<Dim> whole;
  for (const Ratio& ratio : ratios) {
    const Dim quotient = sizes().Quotient(ratio.above, ratio.below);
    if (sizes().Product(quotient, ratio.below) == ratio.above) whole.push_back(quotient);
  }
  if (whole.size() == ratios.size()) return GiveNumbers(std::move(whole), std::move(like));
  const bool fixed = std::ranges::all_of(ratios, [](const Ratio& ratio) {
    return ratio.above.is_number() && ratio.below.is_number() && ratio.below != Dim(0);
  });
  if (!fixed) {
    Made(std::move(like)).ratios = ratios;
    return;
  }
  std::vector<double> reals;
  reals.reserve(ratios.size());
  for (const Ratio& ratio : ratios) {
    reals.push_back(static_cast<double>(ratio.above.number()) /
                    static_cast<double>(ratio.below.number()));
  }
  GiveReals(std::move(reals), std::move(like));
}

void Call::GiveChosen(std::size_t i, const std::vector<std::size_t>& places, Like like) {
  const auto chosen = [&](const auto& of) {
    std::remove_cvref_t<decltype(of)> out;
    out.reserve(places.size());
    for (const std::size_t place : places) out.push_back(of.at(place));
    return out;
  };
  const Item& from = item(i);
  if (from.numbers) return GiveNumbers(chosen(*from.numbers), std::move(like));
  if (from.reals) return GiveReals(chosen(*from.reals), std::move(like));
  GiveRatios(chosen(from.ratios.value()), std::move(like));
}

Item& Call::Made(Like like) {
  Item& made = workshop_.Add(
      {.name = output_name(results_.size()), .dtype = like.dtype, .shape = std::move(like.shape)});
  results_.push_back(&made);
  return made;
}

}  // namespace steelyard::onnx
