// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "analyze/cache.h"
#include "analyze/counting.h"
#include "present/tables.h"
#include "render/renderer.h"
#include "steelyard/weigh.h"

namespace steelyard {

std::vector<Choice> ReportFormats() {
  std::vector<Choice> choices;
  for (const render::Renderer& renderer : render::Renderers()) {
    choices.push_back({renderer.name, renderer.summary, renderer.extension});
  }
  return choices;
}

std::vector<Choice> ReportTables() {
  std::vector<Choice> choices;
  for (const present::TableInfo& table : present::Tables()) {
    choices.push_back({table.name, table.summary});
  }
  return choices;
}

std::string_view FormatOfFile(std::string_view path) {
  const render::Renderer* renderer = render::FindRendererForFile(path);
  return renderer == nullptr ? std::string_view() : renderer->name;
}

TablesHeld TablesHeldBy(std::string_view format) {
  const render::Renderer* renderer = render::FindRenderer(format);
  return renderer == nullptr ? TablesHeld::kNone : renderer->tables;
}

std::vector<Choice> CacheStores() {
  std::vector<Choice> choices;
  for (const CacheStoreRow& row : CacheStoreRows()) choices.push_back({row.name, row.summary});
  return choices;
}

std::vector<Choice> CacheNumbers() {
  std::vector<Choice> choices;
  for (const CacheNumberRow& row : CacheNumberRows()) choices.push_back({row.name, row.summary});
  return choices;
}

std::vector<Choice> CountingConventions() {
  std::vector<Choice> choices;
  for (const Convention& convention : Conventions()) {
    choices.push_back({convention.name, convention.summary});
  }
  return choices;
}

}  // namespace steelyard
