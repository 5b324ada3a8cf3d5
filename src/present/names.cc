// SPDX-License-Identifier: Apache-2.0
#include "present/names.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "steelyard/program.h"
#include "steelyard/tables.h"
#include "steelyard/units.h"

namespace steelyard::present {

std::string SizesText(std::span<const std::int64_t> sizes) {
  if (sizes.empty()) return "scalar";
  return fmt::format("{}", fmt::join(sizes, "×"));
}

std::string LayoutText(const Program& program, ValueId id) {
  return fmt::format("{} {}", NameOf(program.values[id].dtype), SizesText(program.sizes(id)));
}

std::string_view ShortClass(std::string_view class_name) {
  return class_name.substr(class_name.rfind('.') + 1);  // npos + 1 is 0: no module, all of it
}

std::string_view ModelName(const Program& program) {
  const std::string_view class_name = program.text(program.modules[0].class_name);
  return class_name.empty() ? program.text(program.name) : ShortClass(class_name);
}

std::string SourceText(const Program& program, SourceId source) {
  if (source == kNoId) return {};
  const SourceLine& line = program.sources[source];
  if (line.file == kNoString) return {};
  return fmt::format("{}:{}", program.text(line.file), line.line);
}

std::string_view RelativePath(std::string_view path, std::string_view parent) {
  const bool inside = !parent.empty() && path.size() > parent.size() && path.starts_with(parent) &&
                      path[parent.size()] == '.';
  return inside ? path.substr(parent.size() + 1) : path;
}

report::Column NumberColumn(std::string key, std::string header, Unit unit, int priority) {
  return {.key = std::move(key),
          .header = std::move(header),
          .unit = unit,
          .align = report::Align::kRight,
          .priority = priority};
}

std::string WorkHeader(const Convention& convention) {
  return fmt::format("work ({})", convention.name);
}

std::string Counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", Format(count, Unit::kNone), noun, count == 1 ? "" : "s");
}

}  // namespace steelyard::present
