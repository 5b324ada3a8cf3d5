// SPDX-License-Identifier: Apache-2.0
//
// A way to write a report. To add one: a file with its `write`, and a row in registry.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "steelyard/report.h"

namespace steelyard::render {

// The parts of a document. Who makes one for a single renderer may leave out the others.
enum class Part : unsigned char { kBody, kData, kTrace };

struct Renderer {
  std::string_view name;       // As `--format` takes it.
  std::string_view extension;  // Of the files it writes, with the dot; picks it for `-o FILE`.
  std::string_view summary;    // One phrase for the help text.
  Part part;                   // What of a document it reads.
  TablesHeld tables;           // Of those that `--table` names.

  // Appends the report to `out`. Never fails: whatever a document holds can be written.
  void (*write)(const report::Document& document, const report::RenderOptions& options,
                std::string* out);
};

// Every renderer, the default first.
[[nodiscard]] std::span<const Renderer> Renderers();

// Returns the renderer of that name, or null.
[[nodiscard]] const Renderer* FindRenderer(std::string_view name);

// Returns the renderer that writes files like `path`, by the end of its name (the longest that any
// renderer has), or null.
[[nodiscard]] const Renderer* FindRendererForFile(std::string_view path);

}  // namespace steelyard::render
