// SPDX-License-Identifier: Apache-2.0
//
// What no file gives is drawn so that nothing overflows: matrices keep the variance of what they
// multiply, vectors and buffers are one, integers are in the range of almost any index, and what a
// step keeps begins with zeros. Names that are one tensor to the model must not be two in a file:
// that they are one may have been assumed.

#include "execute/contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "execute/numbers.h"
#include "ir/layout.h"
#include "runtime/residents.h"

namespace steelyard {
namespace {

// Of tensors that do not fit, so many are named.
constexpr std::size_t kNamed = 3;
// Integers are indices, labels or masks: these two are in the range of almost all.
constexpr std::int64_t kIntegersBelow = 2;

// As layers are initialized by default: products of matrices keep the variance; what is added or
// multiplied element by element is one, so that variances and scales are positive.
SyContent Drawn(const Program& kernels, const Resident& resident) {
  SyContent content{};
  switch (resident.category) {
    case Category::kParameters: {
      const auto sizes = kernels.sizes(resident.value);
      double fan_in = 1;
      for (const std::int64_t size : sizes.subspan(std::min<std::size_t>(1, sizes.size()))) {
        fan_in *= static_cast<double>(size);
      }
      const bool is_matrix = sizes.size() > 1 && fan_in > 0;
      content.mean = is_matrix ? 0 : 1;
      content.deviation = is_matrix ? 1 / std::sqrt(fan_in) : 0;
      break;
    }
    case Category::kBuffers:
      content.mean = 1;
      break;
    case Category::kInputs:
    case Category::kCache:
      content.deviation = 1;
      content.below = kIntegersBelow;
      break;
    case Category::kGradients:
    case Category::kOptimizerState:
    case Category::kActivations:
    case Category::kTemporaries:
    case Category::kOutputs:
      break;  // what a step keeps begins with zeros
  }
  return content;
}

std::string TensorText(DType dtype, std::span<const std::int64_t> sizes) {
  return fmt::format("{}[{}]", NameOf(dtype), fmt::join(sizes, ","));
}

// A name of the tensor under which a file has other elements; empty where there is none. That two
// names are one tensor may have been assumed.
std::string_view NameOfAnother(const Resident& resident, const GivenTensors& of,
                               const GivenTensor& given, std::int64_t bytes) {
  for (const std::string& name : resident.names) {
    const std::optional<GivenTensor> other = of(name);
    if (!other || other->bytes == given.bytes) continue;
    const bool is_alike =
        other->dtype == given.dtype && std::ranges::equal(other->sizes, given.sizes);
    if (!is_alike || std::memcmp(other->bytes, given.bytes, static_cast<std::size_t>(bytes)) != 0) {
      return name;
    }
  }
  return {};
}

// What is wrong with the tensors of files, the first ones by name.
class Faults {
 public:
  // `where` is the file's name.
  void Add(const std::string& where, std::string fault) {
    if (where_.empty()) where_ = where;
    faults_.push_back(std::move(fault));
  }
  bool any() const { return !faults_.empty(); }

  Error Told(std::string_view what, std::string hint) const {
    const std::size_t named = std::min(faults_.size(), kNamed);
    const std::size_t more = faults_.size() - named;
    return InvalidInput(
        fmt::format("{}: {}{}", what, fmt::join(std::span(faults_).first(named), "; "),
                    more == 0 ? std::string() : fmt::format("; and {} more", more)),
        where_, std::move(hint));
  }

 private:
  std::string where_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<Resident> ResidentsOf(const Program& kernels) {
  std::vector<Resident> residents;
  std::vector<std::size_t> of_storage(kernels.storage_count, residents.max_size());
  VisitResidents(kernels, [&](ValueId id, Category category, std::int64_t) {
    of_storage[kernels.values[id].storage] = residents.size();
    residents.push_back({.value = id, .category = category});
  });
  const auto name = [&](const NamedTensor& tensor) {
    if (tensor.value == kNoId) return;
    Resident& resident = residents[of_storage[kernels.values[tensor.value].storage]];
    if (resident.value != tensor.value) resident.also.push_back(tensor.value);
    if (!resident.name.empty()) {
      resident.names.emplace_back(kernels.text(tensor.name));
      return;
    }
    resident.name = kernels.text(tensor.name);
    resident.is_required = tensor.persistent;
  };
  for (const NamedTensor& parameter : kernels.parameters) name(parameter);
  for (const NamedTensor& buffer : kernels.buffers) name(buffer);
  for (Resident& resident : residents) {
    if (resident.name.empty()) resident.name = kernels.text(kernels.values[resident.value].name);
  }
  return residents;
}

Result<std::vector<SyContent>> ContentsOf(const Program& kernels,
                                          std::span<const Resident> residents,
                                          const Sources& sources) {
  std::vector<SyContent> contents;
  Faults misfits, nans;
  for (const Resident& resident : residents) {
    contents.push_back(Drawn(kernels, resident));
    const bool is_weight =
        resident.category == Category::kParameters || resident.category == Category::kBuffers;
    const bool is_input =
        resident.category == Category::kInputs || resident.category == Category::kCache;
    const GivenTensors& of = is_weight ? sources.weights : sources.inputs;
    const std::string& where = is_weight ? sources.weights_name : sources.inputs_name;
    if ((!is_weight && !is_input) || !of) continue;
    const std::optional<GivenTensor> given = of(resident.name);
    const Value& value = kernels.values[resident.value];
    const auto sizes = kernels.sizes(resident.value);
    if (given && given->dtype == value.dtype && std::ranges::equal(given->sizes, sizes)) {
      contents.back().bytes = given->bytes;
      const std::int64_t bytes = StorageBytes(value.dtype, sizes, ContiguousStrides(sizes));
      const std::string_view another = NameOfAnother(resident, of, *given, bytes);
      if (!another.empty()) {
        misfits.Add(where, fmt::format("{} and {} are one tensor of the model and two of the file",
                                       resident.name, another));
      }
      const std::int64_t nan = is_weight ? CountNans(value.dtype, given->bytes, bytes) : 0;
      if (nan > 0) nans.Add(where, fmt::format("{} ({} of it)", resident.name, nan));
      continue;
    }
    if (!given && !resident.is_required) continue;
    misfits.Add(where, fmt::format("{} is {} and not {}", resident.name,
                                   given ? TensorText(given->dtype, given->sizes) : "not there",
                                   TensorText(value.dtype, sizes)));
  }
  if (misfits.any()) {
    return Unexpected(misfits.Told("it does not fit the model",
                                   "Are these the tensors of this model, under its own names?"));
  }
  if (nans.any()) {
    return Unexpected(nans.Told("it holds elements that are no number (NaN)",
                                "All that is computed of them is NaN too: take a file that was "
                                "written before they were."));
  }
  return contents;
}

}  // namespace steelyard
