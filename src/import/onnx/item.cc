// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/item.h"

#include <algorithm>
#include <utility>

namespace steelyard::onnx {
namespace {

Builder::Shape Known(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

// Numbers that the sizes of the inputs decide: as torch.tensor([...]) makes them, one by one.
Tensor Workshop::Computed(const Item& item) {
  const auto scalar = [&](Dim number) {
    return builder.Call("aten::scalar_tensor", number, Builder::Named("dtype", *item.dtype));
  };
  std::vector<Tensor> elements;
  for (const Ratio& ratio : item.ratios.value_or(std::vector<Ratio>())) {
    elements.push_back(builder.Call("aten::div.Tensor", scalar(ratio.above), scalar(ratio.below)));
  }
  if (item.numbers) {
    for (const Dim number : *item.numbers) elements.push_back(scalar(number));
  }
  if (item.shape->empty()) return elements.at(0);
  const Tensor row = builder.Call("aten::stack", elements, 0);
  if (item.shape->size() == 1) return row;
  return builder.Call("aten::reshape", row, Known(*item.shape));
}

Tensor Workshop::TensorOf(Item& item) {
  if (item.tensor.defined()) return item.tensor;
  if ((!item.is_constant() && !item.stored) || !item.dtype || !item.shape) {
    throw Untranslatable{"\"" + std::string(item.name) + "\" is no tensor"};
  }
  const bool symbolic =
      item.numbers && !std::ranges::all_of(*item.numbers, [](Dim d) { return d.is_number(); });
  if (symbolic || item.ratios) {
    // Not kept: what is computed in one place may be taken back.
    return Computed(item);
  }
  const Builder::Scope root = builder.Within(0);
  item.tensor = builder.Buffer(item.name, *item.dtype, Known(*item.shape), item.stored);
  return item.tensor;
}

Dim Workshop::Symbol(std::string_view name) {
  std::string written;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (digit && written.empty()) written += 'd';
    written += letter || digit ? c : '_';
  }
  if (written.empty()) return FreshSymbol();
  const auto [known, added] = symbols_.try_emplace(written, Dim(0));
  if (added) known->second = builder.Symbol({.name = written, .min = 0});
  return known->second;
}

Dim Workshop::FreshSymbol() {
  std::string name;
  do {
    name = "u" + std::to_string(fresh_++);
  } while (symbols_.contains(name));
  return Symbol(name);
}

void Workshop::NoteOnce(std::string_view line) {
  if (std::ranges::find(noted_, line) != noted_.end()) return;
  noted_.emplace_back(line);
  builder.Note(line);
}

}  // namespace steelyard::onnx
