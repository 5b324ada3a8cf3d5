// SPDX-License-Identifier: Apache-2.0
#include "import/weights/stored.h"

#include <algorithm>
#include <tuple>

#include "import/json.h"

namespace steelyard::weights {

Result<StringId> StoredWeights::TakeName(std::string_view name) {
  if (name.empty()) {
    return Unexpected(InvalidInput("a tensor has no name", {}, "The file is damaged or forged."));
  }
  const StringId id = program.strings.Intern(name);
  if (taken_.size() <= id) taken_.resize(program.strings.size(), false);
  if (taken_[id]) {
    return Unexpected(InvalidInput("two tensors have the same name", {},
                                   "Are parts of two models mixed, or is the file forged?"));
  }
  taken_[id] = true;
  return id;
}

bool StoredWeights::IsTaken(std::string_view name) const {
  const StringId id = program.strings.Find(name);
  return id < taken_.size() && taken_[id];
}

void StoredWeights::AddFact(std::string_view name, std::string_view text) {
  program.facts.push_back(
      {.name = program.strings.Intern(name), .text = program.strings.Intern(text)});
}

void StoredWeights::AddFact(std::string_view name, std::int64_t number) {
  program.facts.push_back({.name = program.strings.Intern(name), .number = number});
}

void StoredWeights::AddNote(std::string_view note) {
  program.notes.push_back(program.strings.Intern(note));
}

Status CheckPlaces(const StoredWeights& weights, std::size_t first, std::int64_t data_bytes,
                   PlaceRules rules) {
  std::vector<const StoredTensor*> order;
  order.reserve(weights.tensors.size() - first);
  for (std::size_t i = first; i < weights.tensors.size(); ++i) {
    order.push_back(&weights.tensors[i]);
  }
  std::ranges::sort(order, {},
                    [](const StoredTensor* t) { return std::tuple(t->begin, t->bytes); });
  std::int64_t end = 0;
  const StoredTensor* before = nullptr;
  for (const StoredTensor* tensor : order) {
    const auto where = [&] { return QuotedName(weights.NameOf(*tensor)); };
    if (tensor->begin > data_bytes || tensor->bytes > data_bytes - tensor->begin) {
      return Unexpected(
          InvalidInput("its bytes " + std::to_string(tensor->begin) + " to " +
                           std::to_string(tensor->begin + tensor->bytes) + " lie beyond the " +
                           std::to_string(data_bytes) + " bytes of data that the file has",
                       where(), "The file is cut short: is the download or the copy complete?"));
    }
    const bool same =
        before != nullptr && tensor->begin == before->begin && tensor->bytes == before->bytes;
    if (!same && tensor->begin < end && tensor->bytes > 0) {
      return Unexpected(
          InvalidInput("its bytes overlap those of " + QuotedName(weights.NameOf(*before)), where(),
                       "Tensors may be at one place or apart; the file is damaged or forged."));
    }
    if (!same && rules.gapless && tensor->begin > end) {
      return Unexpected(InvalidInput("the bytes " + std::to_string(end) + " to " +
                                         std::to_string(tensor->begin) +
                                         " before it belong to no tensor",
                                     where(), "The file is damaged or forged."));
    }
    if (tensor->begin + tensor->bytes >= end) {
      end = tensor->begin + tensor->bytes;
      before = tensor;
    }
  }
  if (!rules.gapless || end == data_bytes) return {};
  return Unexpected(InvalidInput("the tensors end at byte " + std::to_string(end) +
                                     " of the data, which go on to " + std::to_string(data_bytes),
                                 {},
                                 "Something was appended to the file, or its header is damaged."));
}

std::string QuotedName(std::string_view name) { return Quoted(name); }

}  // namespace steelyard::weights
