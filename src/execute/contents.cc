// SPDX-License-Identifier: Apache-2.0
//
// What no file gives is drawn so that nothing overflows: matrices keep the variance of what they
// multiply, vectors and buffers are one, integers are in the range of almost any index, and what a
// step keeps begins with zeros where its row says nothing else. Names that are one tensor to the
// model must not be two in a file: that they are one may have been assumed.

#include "execute/contents.h"

#include <fmt/format.h>

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

bool IsWeight(Category category) {
  return category == Category::kParameters || category == Category::kBuffers;
}

bool IsInput(Category category) {
  return category == Category::kInputs || category == Category::kCache;
}

// As layers are initialized by default: products of matrices keep the variance; what is added or
// multiplied element by element is one, so that variances and scales are positive.
SyContent Drawn(const Program& kernels, const Resident& resident) {
  SyContent content{};
  content.copied = SY_NO_VALUE;
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
    case Category::kLibraries:
      break;  // what a step keeps begins with zeros
  }
  return content;
}

// Of what the program says how it begins.
void Begin(const Program& kernels, const Resident& resident, SyContent* content) {
  const auto initial =
      std::ranges::find(kernels.initial_contents, resident.value, &InitialContent::value);
  if (initial == kernels.initial_contents.end()) return;
  content->mean = initial->number;
  if (initial->copied != kNoId) content->copied = initial->copied;
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

// What is wrong with given tensors: they are other ones, or their elements are no numbers.
struct Wrong {
  Faults misfits;
  Faults nans;
};

// Takes the elements of a tensor that a file has as the program wants them.
void Take(const Program& kernels, const Resident& resident, const GivenTensors& of,
          const std::string& where, SyContent* content, Wrong* wrong) {
  const std::optional<GivenTensor> given = of(resident.name);
  if (!given && !resident.is_required) return;
  const DType dtype = kernels.values[resident.value].dtype;
  const auto sizes = kernels.sizes(resident.value);
  if (!given || given->dtype != dtype || !std::ranges::equal(given->sizes, sizes)) {
    const std::string found = given ? TensorText(given->dtype, given->sizes) : "not there";
    wrong->misfits.Add(
        where, fmt::format("{} is {} and not {}", resident.name, found, TensorText(dtype, sizes)));
    return;
  }
  content->bytes = given->bytes;
  const std::int64_t bytes = StorageBytes(dtype, sizes, ContiguousStrides(sizes));
  const std::string_view another = NameOfAnother(resident, of, *given, bytes);
  if (!another.empty()) {
    wrong->misfits.Add(where, fmt::format("{} and {} are one tensor of the model and two of the "
                                          "file",
                                          resident.name, another));
  }
  // What a caller gives as input may mean something by it.
  const bool is_weight = IsWeight(resident.category);
  const std::int64_t nans = is_weight ? CountNans(dtype, given->bytes, bytes) : 0;
  if (nans > 0) wrong->nans.Add(where, fmt::format("{} ({} of it)", resident.name, nans));
}

// The elements that the model itself has of a buffer, where no file of weights has it.
bool TakeConstant(const Program& kernels, const Resident& resident, const Sources& sources,
                  SyContent* content) {
  if (resident.category != Category::kBuffers || !sources.constants) return false;
  if (sources.weights && sources.weights(resident.name)) return false;
  const std::optional<GivenTensor> constant = sources.constants(resident.name);
  const Value& value = kernels.values[resident.value];
  if (!constant || constant->dtype != value.dtype) return false;
  if (!std::ranges::equal(constant->sizes, kernels.sizes(resident.value))) return false;
  content->bytes = constant->bytes;
  return true;
}

}  // namespace

std::vector<Resident> ResidentsOf(const Program& kernels) {
  std::vector<Resident> residents;
  std::vector<std::size_t> of_storage(kernels.storage_count, residents.max_size());
  VisitResidentsAnywhere(kernels, [&](ValueId id, Category category, std::int64_t) {
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
  Wrong wrong;
  for (const Resident& resident : residents) {
    contents.push_back(Drawn(kernels, resident));
    SyContent* const content = &contents.back();
    Begin(kernels, resident, content);
    if (TakeConstant(kernels, resident, sources, content)) continue;
    if (IsWeight(resident.category) && sources.weights) {
      Take(kernels, resident, sources.weights, sources.weights_name, content, &wrong);
    }
    if (IsInput(resident.category) && sources.inputs) {
      Take(kernels, resident, sources.inputs, sources.inputs_name, content, &wrong);
    }
  }
  if (wrong.misfits.any()) {
    return Unexpected(wrong.misfits.Told(
        "it does not fit the model", "Are these the tensors of this model, under its own names?"));
  }
  if (wrong.nans.any()) {
    return Unexpected(wrong.nans.Told("it holds elements that are no number (NaN)",
                                      "All that is computed of them is NaN too: take a file that "
                                      "was written before they were."));
  }
  return contents;
}

}  // namespace steelyard
