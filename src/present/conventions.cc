// SPDX-License-Identifier: Apache-2.0
//
// All counts are of the same calls, but each is sorted by its own figures; here they are brought
// together by the operators' names.
#include "present/conventions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/counting.h"
#include "analyze/work.h"
#include "present/findings.h"
#include "present/names.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;
using report::Sentence;

// More operators than this are not named where a tool is wrong.
constexpr std::size_t kNamed = 3;

// What the tool prints: of a convention that weighs kinds of arithmetic, without the kernels that
// the tool forgets, and with what it counts besides.
std::int64_t Printed(const Convention& convention, const NodeWork& work) {
  const std::int64_t mistaken = convention.counts_calls() ? 0 : work.excess - work.missed;
  return work.flops + convention.measure.weights.mac * mistaken;
}

// What is counted as multiply-adds though there are none.
std::int64_t Spurious(const Convention& convention, const NodeWork& work) {
  if (convention.measure.unit != Unit::kMacs) return 0;
  return std::max<std::int64_t>(0, work.flops - (work.macs - work.missed));
}

// One operator in every convention, in the order of the counts.
struct Line {
  std::string_view name;
  std::int64_t calls = 0;
  std::vector<NodeWork> works;
};

std::vector<Line> LinesOf(const std::vector<WorkReport>& counts) {
  std::vector<Line> lines;
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    for (const OperatorWork& op : counts[c].by_operator) {
      const auto [found, fresh] = by_name.try_emplace(op.name, lines.size());
      if (fresh) lines.push_back({op.name, op.calls, std::vector<NodeWork>(counts.size())});
      lines[found->second].works[c] = op.work;
    }
  }
  std::ranges::stable_sort(lines, std::greater(),
                           [](const Line& line) { return line.works.front().flops_all; });
  return lines;
}

// "deepspeed flops": a figure that a tool gives besides.
std::string BesideName(const Convention& convention) {
  return fmt::format("{} {}", convention.name, convention.beside->name);
}

// As a key of the data: "deepspeed_2021".
std::string KeyOf(std::string_view name) {
  std::string key(name);
  std::ranges::replace_if(key, [](char c) { return c == '-' || c == ' '; }, '_');
  return key;
}

class Comparison {
 public:
  explicit Comparison(const Findings& findings)
      : counts_(findings.counts), claim_(findings.claim()), lines_(LinesOf(counts_)) {
    table_.columns = {{.key = "operator", .header = "Counted by"}};
    for (const WorkReport& count : counts_) {
      const Convention& convention = *count.convention;
      AddColumn(std::string(convention.name), convention.measure.unit);
      if (convention.beside != nullptr) AddColumn(BesideName(convention), convention.beside->unit);
    }
  }

  report::Table Table(std::size_t top, bool trains) {
    AddPhase("forward", {Phase::kForward, Phase::kLoss});
    if (trains) {
      AddPhase("run again", {Phase::kRecompute});
      AddPhase("backward", {Phase::kBackward});
      AddPhase("optimizer", {Phase::kOptimizer});
    }
    table_.rows.push_back({.cells = {{"by operator", report::Style::kStrong}}});
    const std::size_t shown = std::min(top, lines_.size());
    for (std::size_t i = 0; i < shown; ++i) {
      AddRow({std::string(lines_[i].name)}, 1, lines_[i].works, Claim::kExact);
    }
    if (shown < lines_.size()) {
      std::vector<NodeWork> rest(counts_.size());
      for (std::size_t i = shown; i < lines_.size(); ++i) {
        for (std::size_t c = 0; c < rest.size(); ++c) rest[c] += lines_[i].works[c];
      }
      AddRow(
          {Counted(static_cast<std::int64_t>(lines_.size() - shown), "other"), report::Style::kDim},
          1, rest, Claim::kExact);
    }
    return std::move(table_);
  }

  // "deepspeed-2021 leaves out 1.21 GMAC: aten::scaled_dot_product_attention 1.21 GMAC"
  void AppendMistakes(report::Document* document) const {
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      const Convention& convention = *counts_[c].convention;
      AppendMistake(
          c, " leaves out ", ": ", [](const NodeWork& work) { return work.missed; }, document);
      AppendMistake(
          c, " counts ", " too many: ", [](const NodeWork& work) { return work.excess; }, document);
      AppendMistake(
          c, " counts ", " for what is no multiply-add: ",
          [&](const NodeWork& work) { return Spurious(convention, work); }, document);
    }
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  void AddColumn(std::string name, Unit unit) {
    std::string key = KeyOf(name);
    table_.columns.push_back(NumberColumn(std::move(key), std::move(name), unit));
  }

  void AddPhase(std::string name, std::initializer_list<Phase> phases) {
    std::vector<NodeWork> works;
    for (const WorkReport& count : counts_) {
      NodeWork& sum = works.emplace_back();
      for (const Phase phase : phases) sum += count.of(phase);
    }
    const bool nothing = std::ranges::all_of(
        works, [](const NodeWork& work) { return work.flops_all == 0 && work.read == 0; });
    if (nothing && phases.begin()[0] == Phase::kRecompute) return;
    AddRow({std::move(name), report::Style::kStrong}, 0, works, claim_);
  }

  // Of an operator that is modelled, figures are exact; of a phase they may miss others.
  void AddRow(report::Span name, int level, const std::vector<NodeWork>& works, Claim claim) {
    Row row{.cells = {std::move(name)}, .level = level};
    for (std::size_t c = 0; c < works.size(); ++c) {
      const Convention& convention = *counts_[c].convention;
      row.cells.emplace_back(In(convention.measure.unit, Printed(convention, works[c]), claim));
      if (convention.beside != nullptr) {
        row.cells.emplace_back(In(convention.beside->unit, works[c].beside, claim));
      }
    }
    table_.rows.push_back(std::move(row));
  }

  template <class Figure>
  void AppendMistake(std::size_t c, std::string_view verb, std::string_view words, Figure figure,
                     report::Document* document) const {
    std::vector<std::pair<std::int64_t, std::string_view>> wrong;
    std::int64_t total = 0;
    for (const Line& line : lines_) {
      const std::int64_t macs = figure(line.works[c]);
      if (macs == 0) continue;
      wrong.emplace_back(macs, line.name);
      total = SumOf(total, macs);
    }
    if (wrong.empty()) return;
    std::ranges::stable_sort(wrong, std::greater(),
                             &std::pair<std::int64_t, std::string_view>::first);
    Sentence text{{std::string(counts_[c].convention->name), report::Style::kStrong},
                  verb,
                  In(Unit::kMacs, total, claim_),
                  words};
    for (std::size_t i = 0; i < std::min(wrong.size(), kNamed); ++i) {
      text.emplace_back(fmt::format("{}{}{}", i == 0 ? "" : ", ", wrong[i].second, kNoBreak));
      text.emplace_back(In(Unit::kMacs, wrong[i].first));
    }
    if (wrong.size() > kNamed)
      text.emplace_back(fmt::format(" and {} more", wrong.size() - kNamed));
    document->body.emplace_back(report::Paragraph{std::move(text), 1});
  }

  const std::vector<WorkReport>& counts_;
  const Claim claim_;
  std::vector<Line> lines_;
  report::Table table_;
};

void AddPhases(const WorkReport& count, report::Data* data) {
  const auto of = [&](Phase phase) { return Printed(*count.convention, count.of(phase)); };
  const Unit unit = count.convention->measure.unit;
  data->SetInt("forward", SumOf(of(Phase::kForward), of(Phase::kLoss)), unit);
  data->SetInt("backward", of(Phase::kBackward), unit);
  data->SetInt("optimizer", of(Phase::kOptimizer), unit);
  const NodeWork again = count.of(Phase::kRecompute);
  if (again.flops_all > 0 || again.read > 0) data->SetInt("recompute", of(Phase::kRecompute), unit);
}

}  // namespace

void AppendConventions(const Findings& findings, int top, report::Document* document) {
  if (findings.counts.empty()) return;
  Comparison comparison(findings);
  document->body.emplace_back(
      comparison.Table(static_cast<std::size_t>(std::max(top, 0)), findings.trains()));
  comparison.AppendMistakes(document);
}

void AddConventionData(const Findings& findings, report::Data* data) {
  if (findings.counts.empty()) return;
  data->OpenArray("conventions");
  for (const WorkReport& count : findings.counts) {
    const Convention& convention = *count.convention;
    data->OpenObject();
    data->SetText("name", convention.name);
    data->SetText("measure", convention.measure.name);
    data->SetText("description", convention.summary);
    data->SetText("source", convention.source);
    AddPhases(count, data);
    data->SetInt("left_out_macs", TotalOf(count).missed, Unit::kMacs);
    data->SetInt("excess_macs", TotalOf(count).excess, Unit::kMacs);
    data->Close();
  }
  data->Close();
  data->OpenArray("counts");
  const Comparison comparison(findings);
  for (const Line& line : comparison.lines()) {
    data->OpenObject();
    data->SetText("op", line.name);
    data->SetInt("calls", line.calls, Unit::kCount);
    data->SetInt("macs", line.works.front().macs, Unit::kMacs);
    for (std::size_t c = 0; c < findings.counts.size(); ++c) {
      const Convention& convention = *findings.counts[c].convention;
      data->SetInt(KeyOf(convention.name), Printed(convention, line.works[c]),
                   convention.measure.unit);
      if (convention.beside == nullptr) continue;
      data->SetInt(KeyOf(BesideName(convention)), line.works[c].beside, convention.beside->unit);
    }
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
