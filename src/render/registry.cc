// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "render/chrome_trace.h"
#include "render/csv.h"
#include "render/json.h"
#include "render/renderer.h"
#include "render/text.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "support/choices.h"

namespace steelyard {
namespace render {
namespace {

constexpr std::array kRenderers = {
    Renderer{.name = "text",
             .extension = ".txt",
             .summary = "tables, bars and charts for a terminal",
             .part = Part::kBody,
             .tables = TablesHeld::kNone,
             .write = WriteText},
    Renderer{.name = "json",
             .extension = ".json",
             .summary = "every exact value, for programs",
             .part = Part::kData,
             .tables = TablesHeld::kMany,
             .write = WriteJson},
    Renderer{.name = "csv",
             .extension = ".csv",
             .summary = "one table, a line each row, for spreadsheets and data frames",
             .part = Part::kData,
             .tables = TablesHeld::kOne,
             .write = WriteCsv},
    Renderer{.name = "chrome",
             .extension = ".trace.json",
             .summary = "the run step by step, for ui.perfetto.dev and chrome://tracing",
             .part = Part::kTrace,
             .tables = TablesHeld::kNone,
             .write = WriteChromeTrace},
};

}  // namespace

std::span<const Renderer> Renderers() { return kRenderers; }

const Renderer* FindRenderer(std::string_view name) {
  for (const Renderer& renderer : kRenderers) {
    if (renderer.name == name) return &renderer;
  }
  return nullptr;
}

const Renderer* FindRendererForFile(std::string_view path) {
  const Renderer* found = nullptr;
  for (const Renderer& renderer : kRenderers) {
    if (!path.ends_with(renderer.extension)) continue;
    if (found == nullptr || renderer.extension.size() > found->extension.size()) found = &renderer;
  }
  return found;
}

}  // namespace render

Result<std::string> report::Render(const Document& document, std::string_view format,
                                   const RenderOptions& options) {
  const render::Renderer* renderer = render::FindRenderer(format);
  if (renderer == nullptr) {
    return Unexpected(NoSuch("report format", format, NamesOf(render::Renderers())));
  }
  std::string out;
  renderer->write(document, options, &out);
  return out;
}

}  // namespace steelyard
