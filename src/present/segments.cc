// SPDX-License-Identifier: Apache-2.0
//
// A segment is a line of letters, each for an equal stretch of it: whose most of that is, or that
// it is free. Small and large segments, and those of streams, never share what is free in them.
#include "present/segments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "memory/caching/steps.h"
#include "present/categories.h"
#include "present/memory.h"
#include "present/names.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

constexpr std::size_t kLetters = 48;  // of a segment
constexpr std::size_t kShown = 16;    // segments, unless all are
constexpr char kFree = '.';

constexpr std::array kLetterOf = {'P', 'B', 'I', 'G', 'O', 'A', 'T', 'H', 'C', 'L'};
static_assert(kLetterOf.size() == kCategoryCount);

struct Drawn {
  const MappedSegment* segment = nullptr;
  std::size_t first = 0;  // of its blocks, among all
  std::int64_t largest_free = 0;
};

std::vector<Drawn> LargestFirst(const StepCourse& course) {
  std::vector<Drawn> all;
  std::size_t first = 0;
  for (const MappedSegment& segment : course.segments) {
    Drawn drawn{.segment = &segment, .first = first};
    for (const MappedBlock& block : segment.blocks) {
      if (block.state != BlockState::kFree) continue;
      drawn.largest_free = std::max(drawn.largest_free, block.size);
    }
    all.push_back(drawn);
    first += segment.blocks.size();
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const Drawn& drawn) { return drawn.segment->size; });
  return all;
}

// What of a stretch of the segment is whose; the last is free.
using Shares = std::array<std::int64_t, kCategoryCount + 1>;

std::string LettersOf(const StepCourse& course, const Drawn& drawn) {
  const MappedSegment& segment = *drawn.segment;
  const std::vector<MappedBlock>& blocks = segment.blocks;
  const auto edge = [&](std::size_t letter) {
    return static_cast<std::int64_t>(static_cast<double>(segment.size) *
                                     static_cast<double>(letter) / kLetters);
  };
  std::string letters;
  std::size_t first = 0;  // block that reaches into the stretch
  for (std::size_t i = 0; i < kLetters; ++i) {
    const std::int64_t begin = edge(i), end = edge(i + 1);
    while (first + 1 < blocks.size() && blocks[first].offset + blocks[first].size <= begin) ++first;
    Shares shares{};
    for (std::size_t b = first; b < blocks.size() && blocks[b].offset < end; ++b) {
      const bool is_free = blocks[b].state == BlockState::kFree;
      const auto whose = static_cast<std::size_t>(course.categories[drawn.first + b]);
      shares[is_free ? kCategoryCount : whose] +=
          std::min(end, blocks[b].offset + blocks[b].size) - std::max(begin, blocks[b].offset);
    }
    const auto most = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin());
    letters += most == kCategoryCount ? kFree : kLetterOf[most];
  }
  return letters;
}

std::string PoolOf(const MappedSegment& segment) {
  std::string pool = segment.is_small ? "small" : "large";
  if (segment.is_expandable) pool += ", expandable";
  if (segment.stream != 0) pool += fmt::format(", stream {}", segment.stream);
  return pool;
}

void AppendRow(const Findings& findings, const Drawn& drawn, report::Table* table) {
  const MappedSegment& segment = *drawn.segment;
  const std::int64_t free = segment.size - segment.active;
  report::Row row;
  row.cells.emplace_back(LettersOf(*findings.device->course, drawn));
  row.cells.emplace_back(In(Unit::kBytes, segment.size, findings.memory_claim()));
  row.cells.emplace_back(In(Unit::kBytes, free, findings.memory_claim()));
  row.cells.emplace_back(In(Unit::kBytes, drawn.largest_free, findings.memory_claim()));
  row.cells.emplace_back(PoolOf(segment));
  table->rows.push_back(std::move(row));
}

report::Table SegmentTable(const Findings& findings, bool all) {
  using report::Align;
  report::Table table;
  table.columns = {
      {.key = "map", .header = "Segment"},
      {.key = "size", .header = "bytes", .align = Align::kRight},
      {.key = "free", .header = "free", .align = Align::kRight, .priority = 1},
      {.key = "largest_free", .header = "in one piece", .align = Align::kRight, .priority = 2},
      {.key = "pool", .header = "pool", .priority = 3}};
  const std::vector<Drawn> segments = LargestFirst(*findings.device->course);
  const std::size_t shown = all ? segments.size() : std::min(kShown, segments.size());
  for (std::size_t i = 0; i < shown; ++i) AppendRow(findings, segments[i], &table);
  if (shown == segments.size()) return table;
  std::int64_t size = 0, free = 0, largest = 0;
  for (std::size_t i = shown; i < segments.size(); ++i) {
    size += segments[i].segment->size;
    free += segments[i].segment->size - segments[i].segment->active;
    largest = std::max(largest, segments[i].largest_free);
  }
  report::Row row;
  row.cells.emplace_back(Counted(std::ssize(segments) - static_cast<std::int64_t>(shown), "other"));
  for (const std::int64_t bytes : {size, free, largest}) {
    row.cells.emplace_back(In(Unit::kBytes, bytes, findings.memory_claim()));
  }
  table.rows.push_back(std::move(row));
  return table;
}

// "P parameters, G gradients ...", of those that there are.
report::Sentence Legend(const StepCourse& course) {
  std::array<bool, kCategoryCount> any{};
  std::size_t at = 0;
  for (const MappedSegment& segment : course.segments) {
    for (const MappedBlock& block : segment.blocks) {
      const auto category = static_cast<std::size_t>(course.categories[at++]);
      any[category] = any[category] || block.state != BlockState::kFree;
    }
  }
  std::string text;
  for (const CategoryWords& words : kCategoryWords) {
    const auto category = static_cast<std::size_t>(words.category);
    if (any[category]) text += fmt::format("{} {}, ", kLetterOf[category], words.label);
  }
  return {text + fmt::format("{} free", kFree)};
}

report::Chart LevelChart(const Findings& findings) {
  const StepCourse& course = *findings.device->course;
  const Timeline& timeline = findings.timeline;
  report::Chart chart{.unit = Unit::kBytes};
  const auto add = [&](std::string_view name, std::int64_t MemoryLevels::*level) {
    report::ChartSeries series{.name = std::string(name)};
    for (std::size_t i = 0; i < course.levels.size(); ++i) {
      series.points.push_back({ChartPlace(timeline, i), course.levels[i].*level});
    }
    chart.series.push_back(std::move(series));
  };
  add("reserved", &MemoryLevels::reserved);
  add("allocated", &MemoryLevels::allocated);
  add("free between blocks", &MemoryLevels::inactive);
  AddPhases(findings, &chart);
  return chart;
}

}  // namespace

void AppendSegments(const Findings& findings, bool all, report::Document* document) {
  if (findings.device == nullptr || !findings.device->course) return;
  const StepCourse& course = *findings.device->course;
  const MemoryLevels& levels = course.levels[course.fullest];
  document->body.emplace_back(report::Headline{
      "Segments",
      {"where they are fullest: ",
       {In(Unit::kBytes, levels.reserved, findings.memory_claim()), report::Style::kStrong},
       fmt::format(" in {}, of which ", Counted(std::ssize(course.segments), "segment")),
       In(Unit::kBytes, levels.allocated, findings.memory_claim()),
       " are allocated, ",
       In(Unit::kBytes, levels.inactive, findings.memory_claim()),
       " free between blocks and ",
       In(Unit::kBytes, levels.reserved - levels.active - levels.inactive, findings.memory_claim()),
       " in segments that are free as a whole"}});
  document->body.emplace_back(LevelChart(findings));
  document->body.emplace_back(SegmentTable(findings, all));
  document->body.emplace_back(report::Paragraph{Legend(course), 1});
}

void AddSegmentRows(const Findings& findings, report::Data* data) {
  data->OpenArray("segments");
  if (findings.device != nullptr && findings.device->course) {
    const StepCourse& course = *findings.device->course;
    std::size_t at = 0;
    for (std::size_t i = 0; i < course.segments.size(); ++i) {
      const MappedSegment& segment = course.segments[i];
      for (const MappedBlock& block : segment.blocks) {
        const Category category = course.categories[at++];
        const bool is_free = block.state == BlockState::kFree;
        data->OpenObject();
        data->SetInt("segment", static_cast<std::int64_t>(i), Unit::kNone);
        data->SetText("pool", segment.is_small ? "small" : "large");
        data->SetInt("stream", segment.stream, Unit::kNone);
        data->SetBool("expandable", segment.is_expandable);
        data->SetInt("segment_bytes", segment.size, Unit::kBytes);
        data->SetInt("offset", block.offset, Unit::kBytes);
        data->SetInt("bytes", block.size, Unit::kBytes);
        data->SetInt("requested", block.requested, Unit::kBytes);
        data->SetText("state", NameOf(block.state));
        data->SetText("category", is_free ? std::string_view() : steelyard::NameOf(category));
        data->Close();
      }
    }
  }
  data->Close();
}

void AddLevelRows(const Findings& findings, report::Data* data) {
  data->OpenArray("levels");
  if (findings.device != nullptr && findings.device->course) {
    const std::vector<MemoryLevels>& levels = findings.device->course->levels;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (i > 0 && levels[i] == levels[i - 1]) continue;
      data->OpenObject();
      data->SetInt("after_event", static_cast<std::int64_t>(i) - 1, Unit::kNone);
      data->SetInt("requested", levels[i].requested, Unit::kBytes);
      data->SetInt("allocated", levels[i].allocated, Unit::kBytes);
      data->SetInt("active", levels[i].active, Unit::kBytes);
      data->SetInt("inactive_split", levels[i].inactive, Unit::kBytes);
      data->SetInt("reserved", levels[i].reserved, Unit::kBytes);
      data->SetInt("segments", levels[i].segments, Unit::kNone);
      data->Close();
    }
  }
  data->Close();
}

}  // namespace steelyard::present
