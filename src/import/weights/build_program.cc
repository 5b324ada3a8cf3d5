// SPDX-License-Identifier: Apache-2.0
//
// A header does not say what is a parameter. Here it is what could be trained: floating point, or
// quantised; but not what the modules of PyTorch and transformers register as buffers.
#include "import/weights/build_program.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "import/weights/module_names.h"
#include "ir/layout.h"
#include "steelyard/units.h"

namespace steelyard::weights {
namespace {

// Last parts of the names of buffers in floating point.
constexpr std::array<std::string_view, 9> kBufferNames = {
    "running_mean", "running_var", "inv_freq",    "masked_bias",  "position_ids",
    "k_scale",      "v_scale",     "input_scale", "output_scale",
};
// The causal masks of GPT-2 and its kin are of rank 4; no other bias is.
constexpr std::string_view kMask = "attn.bias";
constexpr int kMaskRank = 4;

bool NamesBuffer(std::string_view name, int rank) {
  if (name.ends_with(kMask) && rank == kMaskRank) return true;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::ranges::find(kBufferNames, last) != kBufferNames.end();
}

// A tensor of the program: a stored one, or one that several are.
struct Entry {
  StringId name = kNoString;
  std::uint32_t tensor = 0;
  const QuantisedWeight* quantised = nullptr;
};

class Builder {
 public:
  Builder(StoredWeights weights, const QuantisationHints& hints)
      : weights_(std::move(weights)), quantised_(FindQuantisedWeights(weights_, hints)) {}

  Program Build() {
    MakeEntries();
    NoteUnknownIntegers();
    std::vector<StringId> names;
    names.reserve(entries_.size());
    for (const Entry& entry : entries_) names.push_back(entry.name);
    for (const std::uint32_t i : ArrangeModules(names, &weights_.program)) Add(entries_[i]);
    Program program = std::move(weights_.program);
    program.has_graph = false;
    program.ties_known = true;
    return program;
  }

 private:
  // Quantised weights stand where their packed numbers do.
  void MakeEntries() {
    Program& program = weights_.program;
    std::vector<const QuantisedWeight*> of(weights_.tensors.size(), nullptr);
    std::vector<bool> part(weights_.tensors.size(), false);
    for (const QuantisedWeight& weight : quantised_) {
      const auto taken = [&](std::uint32_t i) { return part[i]; };
      if (std::ranges::any_of(weight.tensors, taken) || NameIsTaken(weight)) continue;
      for (const std::uint32_t i : weight.tensors) part[i] = true;
      of[weight.tensors[0]] = &weight;
    }
    for (std::uint32_t i = 0; i < weights_.tensors.size(); ++i) {
      if (of[i] != nullptr) {
        entries_.push_back({program.strings.Intern(of[i]->name), i, of[i]});
      } else if (!part[i]) {
        entries_.push_back({weights_.tensors[i].name, i, nullptr});
      }
    }
  }

  // A layer may have a tensor of the weight's own name beside it: then nothing is put together.
  bool NameIsTaken(const QuantisedWeight& weight) {
    const std::string_view first = weights_.NameOf(weights_.tensors[weight.tensors[0]]);
    if (weight.name == first) return false;
    return weight.name.empty() || weights_.IsTaken(weight.name);
  }

  bool IsParameter(const Entry& entry) const {
    if (entry.quantised != nullptr) return true;
    const StoredTensor& tensor = weights_.tensors[entry.tensor];
    if (tensor.packing != kNoString) return true;
    return (IsFloating(tensor.dtype) || IsComplex(tensor.dtype)) &&
           !NamesBuffer(weights_.NameOf(tensor), tensor.rank);
  }

  // Matrices of integers are weights, packed in a way that no scheme here knows.
  void NoteUnknownIntegers() {
    std::int64_t count = 0, bytes = 0;
    std::string_view example;
    for (const Entry& entry : entries_) {
      const StoredTensor& tensor = weights_.tensors[entry.tensor];
      const bool matrix = IsIntegral(tensor.dtype) && tensor.rank >= 2;
      if (entry.quantised != nullptr || !matrix || tensor.packing != kNoString) continue;
      if (NamesBuffer(weights_.NameOf(tensor), tensor.rank) || IsTableOfPositions(tensor)) continue;
      if (count++ == 0) example = weights_.NameOf(tensor);
      bytes += tensor.bytes;
    }
    if (count == 0) return;
    const std::string named =
        count == 1 ? "1 matrix of integers" : std::to_string(count) + " matrices of integers";
    weights_.AddNote(named + " (" + Format(bytes, Unit::kBytes) + ", such as " +
                     QuotedName(example) +
                     ") may be packed weights in a scheme that is not known here or that only a "
                     "config.json beside the file tells: counted as buffers, so that there are at "
                     "least as many parameters as told.");
  }

  // Indices into an embedding, as transformers and Swin keep them: 1 × positions, or int64.
  bool IsTableOfPositions(const StoredTensor& tensor) const {
    return tensor.dtype == DType::kInt64 || weights_.SizesOf(tensor)[0] == 1;
  }

  void Add(const Entry& entry) {
    Program& program = weights_.program;
    const StoredTensor& tensor = weights_.tensors[entry.tensor];
    const bool parameter = IsParameter(entry);
    const std::span<const std::int64_t> sizes =
        entry.quantised != nullptr ? entry.quantised->sizes : weights_.SizesOf(tensor);
    NamedTensor named{.name = entry.name};
    named.value = program.AddTensor(
        entry.name, entry.quantised != nullptr ? entry.quantised->dtype : tensor.dtype, sizes,
        StridesOf(sizes), parameter ? Role::kParameter : Role::kBuffer);
    named.packing = PackingOf(entry);
    const bool packed = named.packing != kNoId;
    program.values[named.value].requires_grad =
        parameter && !packed && IsFloating(program.values[named.value].dtype);
    std::vector<NamedTensor>& list = parameter ? program.parameters : program.buffers;
    if (entry.quantised == nullptr) Tie(tensor, parameter, &named);
    program.main().inputs.push_back(named.value);
    list.push_back(named);
  }

  std::uint32_t PackingOf(const Entry& entry) {
    Program& program = weights_.program;
    const StoredTensor& tensor = weights_.tensors[entry.tensor];
    Packing packing{.name = tensor.packing, .bytes = tensor.bytes};
    if (entry.quantised != nullptr) {
      packing = {.name = program.strings.Intern(entry.quantised->packing), .bytes = 0};
      for (const std::uint32_t i : entry.quantised->tensors) {
        packing.bytes += weights_.tensors[i].bytes;
      }
    }
    if (packing.name == kNoString) return kNoId;
    program.packings.push_back(packing);
    return static_cast<std::uint32_t>(program.packings.size() - 1);
  }

  // Tensors at the same place are one, whatever they are called.
  void Tie(const StoredTensor& tensor, bool parameter, NamedTensor* named) {
    if (tensor.bytes == 0) return;
    Program& program = weights_.program;
    const std::vector<NamedTensor>& list = parameter ? program.parameters : program.buffers;
    const auto place = std::tuple(tensor.file, tensor.begin, parameter);
    const auto [first, fresh] = places_.try_emplace(place, list.size());
    if (fresh) return;
    named->tied_to = first->second;
    Value& value = program.values[named->value];
    value.storage = program.values[list[first->second].value].storage;
    --program.storage_count;
  }

  // Only of an empty tensor the product may not fit; its strides do not matter.
  static Dims StridesOf(std::span<const std::int64_t> sizes) {
    const bool empty = std::ranges::find(sizes, 0) != sizes.end();
    return empty ? Dims::Filled(static_cast<int>(sizes.size()), 1) : ContiguousStrides(sizes);
  }

  StoredWeights weights_;
  std::vector<QuantisedWeight> quantised_;
  std::vector<Entry> entries_;
  // By file, place and role: the first tensor there.
  std::map<std::tuple<std::uint32_t, std::int64_t, bool>, std::uint32_t> places_;
};

}  // namespace

Program BuildProgram(StoredWeights weights, const QuantisationHints& hints) {
  return Builder(std::move(weights), hints).Build();
}

}  // namespace steelyard::weights
