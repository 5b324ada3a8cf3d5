// SPDX-License-Identifier: Apache-2.0
#include "record/shared_modules.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

using Places = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;  // by the first

// Parents come before what is in them, so that this ends.
bool IsIn(const std::vector<RecordedModule>& modules, std::uint32_t module, std::uint32_t around) {
  while (module != SY_NO_ID && module != around) module = modules[module].parent;
  return module == around;
}

class Caller {
 public:
  Caller(const std::vector<RecordedModule>& modules, const Places& places)
      : modules_(modules), places_(places) {}

  std::uint32_t Enter(std::uint32_t module) {
    open_.emplace_back(module, PlaceOf(module));
    return open_.back().second;
  }
  // With what an exception has left open inside.
  std::uint32_t Leave(std::uint32_t module) {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].first != module) continue;
      const std::uint32_t place = open_[i].second;
      open_.resize(i);
      return place;
    }
    return module;
  }

 private:
  std::uint32_t PlaceOf(std::uint32_t module) {
    if (open_.empty() || !places_.contains(module)) return module;
    const std::uint32_t around = open_.back().second;
    const auto [found, is_new] = known_.try_emplace({module, around}, module);
    if (is_new) found->second = PlaceIn(module, around);
    return found->second;
  }
  std::uint32_t PlaceIn(std::uint32_t module, std::uint32_t around) const {
    if (IsIn(modules_, module, around)) return module;
    for (const std::uint32_t place : places_.at(module)) {
      if (IsIn(modules_, place, around)) return place;
    }
    return module;
  }

  const std::vector<RecordedModule>& modules_;
  const Places& places_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open_;  // as called, and as told
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;  // by module and around
};

}  // namespace

void TellPlacesApart(Recording& recording) {
  const std::vector<RecordedModule>& modules = recording.modules;
  Places places;
  for (std::uint32_t m = 0; m < modules.size(); ++m) {
    if (modules[m].same_as < m) places[modules[m].same_as].push_back(m);
  }
  if (places.empty()) return;
  for (Recording::Thread& thread : recording.threads) {
    Caller caller(modules, places);
    for (SyEvent& event : thread.events) {
      if (event.kind != SY_MODULE_ENTER && event.kind != SY_MODULE_LEAVE) continue;
      if (event.id >= modules.size()) continue;
      event.id = event.kind == SY_MODULE_ENTER ? caller.Enter(event.id) : caller.Leave(event.id);
    }
  }
}

}  // namespace steelyard
