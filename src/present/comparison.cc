// SPDX-License-Identifier: Apache-2.0
//
// Everything is a pair of numbers under one name; what only one side has is a pair with a blank.
// Modules are matched by path, operators by name. Rows that do not differ are counted and not
// shown.
#include "present/comparison.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "present/categories.h"
#include "present/module_tree.h"
#include "present/names.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Align;
using report::DataKind;
using report::DataView;
using report::Row;
using report::Span;
using report::Style;

using Number = std::optional<std::int64_t>;

Number IntAt(std::optional<DataView> view, std::string_view path) {
  if (!view) return std::nullopt;
  const std::optional<DataView> found = view->Find(path);
  if (!found || found->kind() != DataKind::kInt) return std::nullopt;
  return found->AsInt();
}

std::string_view TextAt(std::optional<DataView> view, std::string_view path) {
  if (!view) return {};
  const std::optional<DataView> found = view->Find(path);
  return found && found->kind() == DataKind::kText ? found->AsText() : std::string_view();
}

struct Pair {
  Number a, b;
  bool differs() const { return a != b; }
  std::int64_t change() const {
    std::int64_t out = 0;
    return __builtin_sub_overflow(b.value_or(0), a.value_or(0), &out) ? INT64_MAX : out;
  }
};

Span Cell(Number number, Unit unit) { return number ? Span(In(unit, *number)) : Span(""); }

// A and B, what changes and how many times as much B is.
void AddCells(const Pair& pair, Unit unit, Row* row) {
  row->cells.push_back(Cell(pair.a, unit));
  row->cells.push_back(Cell(pair.b, unit));
  if (!pair.a || !pair.b || !pair.differs()) return;
  row->cells.emplace_back(Quantity{.value = pair.change(), .unit = unit, .sign = Sign::kAlways});
  if (*pair.a == 0) return;
  row->cells.emplace_back(Quantity{
      .value = static_cast<double>(*pair.b) / static_cast<double>(*pair.a), .unit = Unit::kRatio});
}

void SetPair(std::string_view key, const Pair& pair, Unit unit, report::Data* data) {
  if (pair.a) data->SetInt(fmt::format("{}_a", key), *pair.a, unit);
  if (pair.b) data->SetInt(fmt::format("{}_b", key), *pair.b, unit);
}

struct Total {
  std::string_view path;  // in the data
  std::string_view label;
  Unit unit;
};
constexpr std::array kTotals = {
    Total{"parameters.count", "parameters", Unit::kCount},
    Total{"parameters.bytes", "parameter bytes", Unit::kBytes},
    Total{"buffers.bytes", "buffer bytes", Unit::kBytes},
    Total{"memory.peak", "peak memory", Unit::kBytes},
    Total{"memory.requested_peak", "requested of it", Unit::kBytes},
    Total{"memory.resident", "resident", Unit::kBytes},
    Total{"memory.peak_delta", "in the step", Unit::kBytes},
    Total{"macs.forward", "MACs, forward", Unit::kMacs},
    Total{"macs.backward", "MACs, backward", Unit::kMacs},
    Total{"flops.forward", "contractions, forward (torch)", Unit::kFlops},
    Total{"flops.backward", "contractions, backward (torch)", Unit::kFlops},
    Total{"flops_all.forward", "all arithmetic, forward", Unit::kFlops},
    Total{"flops_all.backward", "all arithmetic, backward", Unit::kFlops},
    Total{"flops_all.optimizer", "all arithmetic, optimizer", Unit::kFlops},
    Total{"traffic.forward", "bytes moved, forward", Unit::kTraffic},
    Total{"traffic.backward", "bytes moved, backward", Unit::kTraffic},
    Total{"traffic.optimizer", "bytes moved, optimizer", Unit::kTraffic},
};

// What a row of modules or operators compares.
struct Figure {
  std::string_view key;
  std::string_view header;
  Unit unit;
  int priority = 0;  // of its columns
};
constexpr std::array kModuleFigures = {Figure{"parameters", "parameters", Unit::kCount, 1},
                                       Figure{"parameter_bytes", "bytes", Unit::kBytes, 3},
                                       Figure{"flops", "work (torch)", Unit::kFlops},
                                       Figure{"activation_bytes", "allocated", Unit::kBytes, 2}};
constexpr std::array kOperatorFigures = {Figure{"calls", "calls", Unit::kCount, 2},
                                         Figure{"flops", "work (torch)", Unit::kFlops, 1},
                                         Figure{"flops_all", "all arithmetic", Unit::kFlops}};
constexpr std::array kDTypeFigures = {Figure{"count", "parameters", Unit::kCount},
                                      Figure{"bytes", "bytes", Unit::kBytes}};
using Figures = std::span<const Figure>;

// Elements of both arrays that have the same name.
struct Match {
  std::string_view name;
  std::optional<DataView> a = {}, b = {};

  Pair Of(std::string_view key) const { return {IntAt(a, key), IntAt(b, key)}; }
  const DataView& any() const { return b ? *b : *a; }
};

// What both sides hold at a path, by name: in the order of A, what only B has after it.
template <class NameOf>
std::vector<Match> MatchAt(std::string_view path, DataView a, DataView b, const NameOf& name_of) {
  std::vector<Match> matches;
  std::unordered_map<std::string_view, std::size_t> by_name;
  const auto add = [&](DataView side, std::optional<DataView> Match::*member) {
    const std::optional<DataView> rows = side.Find(path);
    if (!rows) return;
    for (const DataView row : *rows) {
      const std::string_view name = name_of(row);
      const auto [found, fresh] = by_name.try_emplace(name, matches.size());
      if (fresh) matches.push_back({.name = name});
      matches[found->second].*member = row;
    }
  };
  add(a, &Match::a);
  add(b, &Match::b);
  return matches;
}

// Elements of an array, named by a member of theirs.
std::vector<Match> MatchBy(std::string_view key, DataView a, DataView b, std::string_view array) {
  return MatchAt(array, a, b, [&](DataView row) { return TextAt(row, key); });
}

bool Differs(const Match& match, Figures figures) {
  return std::ranges::any_of(figures,
                             [&](const Figure& figure) { return match.Of(figure.key).differs(); });
}

// Modules of a list, `layer.0` and those after it, that have the same figures.
struct Folded {
  Match match;
  std::string_view last;  // path
};

bool Follows(const Folded& folded, const Match& match) {
  if (!InOneList(folded.last, match.name)) return false;
  return std::ranges::none_of(kModuleFigures, [&](const Figure& figure) {
    const Pair first = folded.match.Of(figure.key), next = match.Of(figure.key);
    return first.a != next.a || first.b != next.b;
  });
}

// The figures in which any of these differ: what all have alike tells nothing.
std::vector<Figure> DifferingIn(std::span<const Match> matches, Figures figures) {
  std::vector<Figure> out;
  std::ranges::copy_if(figures, std::back_inserter(out), [&](const Figure& figure) {
    return std::ranges::any_of(matches,
                               [&](const Match& match) { return match.Of(figure.key).differs(); });
  });
  return out;
}

report::Table EmptyTable(std::string header, Figures figures) {
  report::Table table;
  table.columns = {{.key = "name", .header = std::move(header), .fit = report::Fit::kCut}};
  for (const Figure& figure : figures) {
    table.columns.push_back(NumberColumn(fmt::format("{}_a", figure.key),
                                         fmt::format("{} A", figure.header), figure.unit,
                                         figure.priority));
    table.columns.push_back(
        NumberColumn(fmt::format("{}_b", figure.key), "B", figure.unit, figure.priority));
  }
  return table;
}

Row RowOf(const Match& match, Figures figures) {
  Row row{.cells = {match.name.empty() ? std::string("(the model)") : std::string(match.name)}};
  for (const Figure& figure : figures) {
    const Pair pair = match.Of(figure.key);
    row.cells.push_back(Cell(pair.a, figure.unit));
    row.cells.push_back(Cell(pair.b, figure.unit));
  }
  return row;
}

void AddRest(std::size_t rest, std::string_view what, report::Table* table) {
  if (rest == 0) return;
  table->rows.push_back(
      {.cells = {{fmt::format("{} {}", Format(static_cast<std::int64_t>(rest), Unit::kNone), what),
                  Style::kDim}}});
}

std::string_view WordsOfSame(std::size_t count) {
  return count == 1 ? "that is the same" : "that are the same";
}

class Comparison {
 public:
  Comparison(const Side& a, const Side& b, const ComparisonShown& shown)
      : a_(a), b_(b), shown_(shown) {}

  void AppendTo(report::Document* document) const {
    AppendHeads(document);
    AppendTotals(document);
    AppendCategories(document);
    const std::size_t before = document->body.size();
    AppendDTypes(document);
    AppendModules(document);
    AppendOperators(document);
    if (document->body.size() == before) {
      document->body.emplace_back(
          report::Paragraph{{"No module and no operator differs in what is compared."}});
    }
    AppendWarnings(document);
  }

  void AddTo(report::Data* data) const {
    data->SetText("schema", "steelyard.comparison/1");
    AddSide("a", a_, data);
    AddSide("b", b_, data);
    data->OpenArray("totals");
    for (const Total& total : kTotals) AddNamed(total.path, TotalPair(total), total.unit, data);
    data->Close();
    data->OpenArray("categories");
    for (const auto& [name, pair] : Categories()) AddNamed(name, pair, Unit::kBytes, data);
    data->Close();
    AddMatches("modules", "path", MatchBy("path", a_.data, b_.data, "modules"), kModuleFigures,
               data);
    AddMatches("operators", "op", MatchBy("op", a_.data, b_.data, "operators"), kOperatorFigures,
               data);
    AddMatches("dtypes", "dtype", DTypes(), kDTypeFigures, data);
  }

 private:
  static void AddSide(std::string_view key, const Side& side, report::Data* data) {
    data->OpenObject(key);
    data->SetText("label", side.label);
    data->SetText("name", TextAt(side.data, "model.name"));
    data->SetText("convention", TextAt(side.data, "convention.name"));
    data->Close();
  }

  static void AddNamed(std::string_view name, const Pair& pair, Unit unit, report::Data* data) {
    data->OpenObject();
    data->SetText("name", name);
    if (pair.a) data->SetInt("a", *pair.a, unit);
    if (pair.b) data->SetInt("b", *pair.b, unit);
    if (pair.a && pair.b) data->SetInt("change", pair.change(), unit);
    data->Close();
  }

  static void AddMatches(std::string_view array, std::string_view key,
                         std::span<const Match> matches, Figures figures, report::Data* data) {
    data->OpenArray(array);
    for (const Match& match : matches) {
      data->OpenObject();
      data->SetText(key, match.name);
      data->SetBool("differs", Differs(match, figures));
      for (const Figure& figure : figures) {
        SetPair(figure.key, match.Of(figure.key), figure.unit, data);
      }
      data->Close();
    }
    data->Close();
  }

  static std::string InputsText(const Side& side) {
    std::string text;
    const std::optional<DataView> inputs = side.data.Find("inputs");
    if (!inputs) return text;
    for (const DataView input : *inputs) {
      std::vector<std::int64_t> sizes;
      if (const std::optional<DataView> shape = input.Find("shape")) {
        for (const DataView size : *shape) {
          if (size.kind() == DataKind::kInt) sizes.push_back(size.AsInt());
        }
      }
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : "  ", TextAt(input, "name"), SizesText(sizes));
    }
    return text;
  }

  // "eager on h100, autocast to bfloat16: forward, loss, backward, AdamW, zero_grad; a steady step"
  static std::string RunText(const Side& side) {
    const auto at = [&](std::string_view key) { return TextAt(side.data, key); };
    if (at("run.runtime").empty()) return {};
    std::string text = fmt::format("{} on {}", at("run.runtime"), at("run.device"));
    if (!at("run.autocast").empty()) text += fmt::format(", autocast to {}", at("run.autocast"));
    if (at("run.does").empty()) return text + ": " + std::string(at("run.step"));
    return text + fmt::format(": {}; a {} step", at("run.does"), at("run.of_steps"));
  }

  void AppendHeads(report::Document* document) const {
    report::Table table;
    table.columns = {{.key = "side", .header = "Compared"},
                     {.key = "label"},
                     {.key = "name", .priority = 1},
                     {.key = "inputs", .priority = 2}};
    for (const auto& [name, side] : {std::pair("A", &a_), std::pair("B", &b_)}) {
      table.rows.push_back({.cells = {{name, Style::kStrong},
                                      side->label,
                                      std::string(TextAt(side->data, "model.name")),
                                      InputsText(*side)}});
    }
    document->body.emplace_back(std::move(table));
    const std::string a = RunText(a_), b = RunText(b_);
    if (!a.empty()) {
      const std::string text = a == b ? "Both " + a : fmt::format("A {}\nB {}", a, b);
      document->body.emplace_back(report::Paragraph{{text}, 1});
    }
  }

  Pair TotalPair(const Total& total) const {
    return {IntAt(a_.data, total.path), IntAt(b_.data, total.path)};
  }

  std::vector<std::pair<std::string_view, Pair>> Categories() const {
    std::vector<std::pair<std::string_view, Pair>> out;
    const std::optional<DataView> a = a_.data.Find("memory.at_peak");
    const std::optional<DataView> b = b_.data.Find("memory.at_peak");
    for (const std::optional<DataView>& side : {a, b}) {
      if (!side) continue;
      for (const DataView category : *side) {
        const std::string_view name = category.key();
        const auto known = std::ranges::find(out, name, &std::pair<std::string_view, Pair>::first);
        if (known == out.end()) out.emplace_back(name, Pair{IntAt(a, name), IntAt(b, name)});
      }
    }
    return out;
  }

  static report::Table PairTable(std::string header) {
    report::Table table;
    table.columns = {{.key = "name", .header = std::move(header)},
                     {.key = "a", .header = "A", .align = Align::kRight},
                     {.key = "b", .header = "B", .align = Align::kRight},
                     {.key = "change", .header = "B - A", .align = Align::kRight, .priority = 1},
                     {.key = "ratio", .header = "B / A", .align = Align::kRight, .priority = 2}};
    return table;
  }

  void AppendTotals(report::Document* document) const {
    report::Table table = PairTable("Totals");
    for (const Total& total : kTotals) {
      const Pair pair = TotalPair(total);
      if (pair.a.value_or(0) == 0 && pair.b.value_or(0) == 0) continue;
      Row row{.cells = {std::string(total.label)}};
      AddCells(pair, total.unit, &row);
      table.rows.push_back(std::move(row));
    }
    document->body.emplace_back(std::move(table));
  }

  void AppendCategories(report::Document* document) const {
    report::Table table = PairTable("At the peak");
    for (const auto& [name, pair] : Categories()) {
      if (pair.a.value_or(0) == 0 && pair.b.value_or(0) == 0) continue;
      Row row{.cells = {LabelOfCategory(name)}};
      AddCells(pair, Unit::kBytes, &row);
      table.rows.push_back(std::move(row));
    }
    if (!table.rows.empty()) document->body.emplace_back(std::move(table));
  }

  // Modules that differ as far as they are shown, those of a list that are alike as one; counts
  // the others.
  std::vector<Folded> FoldModules(std::size_t* same, std::size_t* deeper) const {
    std::vector<Folded> folded;
    for (const Match& match : MatchBy("path", a_.data, b_.data, "modules")) {
      if (!Differs(match, kModuleFigures)) {
        ++*same;
      } else if (IntAt(match.any(), "depth").value_or(0) > shown_.depth) {
        ++*deeper;
      } else if (!folded.empty() && Follows(folded.back(), match)) {
        folded.back().last = match.name;
      } else {
        folded.push_back({match, match.name});
      }
    }
    return folded;
  }

  // What the parameters are stored as.
  std::vector<Match> DTypes() const {
    return MatchAt("parameters.by_dtype", a_.data, b_.data,
                   [](DataView dtype) { return dtype.key(); });
  }

  void AppendDTypes(report::Document* document) const {
    const std::vector<Match> matches = DTypes();
    const auto differs = [](const Match& match) { return Differs(match, kDTypeFigures); };
    if (std::ranges::none_of(matches, differs)) return;
    report::Table table = EmptyTable("Parameters by dtype", kDTypeFigures);
    for (const Match& match : matches) table.rows.push_back(RowOf(match, kDTypeFigures));
    document->body.emplace_back(std::move(table));
  }

  void AppendModules(report::Document* document) const {
    std::size_t same = 0;
    std::size_t deeper = 0;
    const std::vector<Folded> folded = FoldModules(&same, &deeper);
    if (folded.empty() && deeper == 0) return;
    const std::size_t shown = std::min(folded.size(), static_cast<std::size_t>(shown_.top));
    std::vector<Match> matches;
    matches.reserve(shown);
    for (std::size_t i = 0; i < shown; ++i) matches.push_back(folded[i].match);
    const std::vector<Figure> figures = DifferingIn(matches, kModuleFigures);
    report::Table table = EmptyTable("Modules that differ", figures);
    for (std::size_t i = 0; i < shown; ++i) {
      Row row = RowOf(folded[i].match, figures);
      if (folded[i].last != folded[i].match.name) {
        row.cells.front() = fmt::format("{}–{}, each", folded[i].match.name,
                                        folded[i].last.substr(folded[i].last.rfind('.') + 1));
      }
      table.rows.push_back(std::move(row));
    }
    AddRest(folded.size() - shown, "more (--top)", &table);
    AddRest(deeper, "deeper (--depth)", &table);
    AddRest(same, WordsOfSame(same), &table);
    document->body.emplace_back(std::move(table));
  }

  void AppendOperators(report::Document* document) const {
    std::vector<Match> matches = MatchBy("op", a_.data, b_.data, "operators");
    const auto same = std::erase_if(
        matches, [](const Match& match) { return !Differs(match, kOperatorFigures); });
    if (matches.empty()) return;
    std::ranges::stable_sort(matches, std::greater(), [](const Match& match) {
      const std::int64_t change = match.Of("flops_all").change();
      return change < 0 ? -change : change;
    });
    const std::size_t shown = std::min(matches.size(), static_cast<std::size_t>(shown_.top));
    const std::vector<Figure> figures =
        DifferingIn(std::span(matches).first(shown), kOperatorFigures);
    report::Table table = EmptyTable("Operators that differ", figures);
    for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(RowOf(matches[i], figures));
    AddRest(matches.size() - shown, "more (--top)", &table);
    AddRest(same, WordsOfSame(same), &table);
    document->body.emplace_back(std::move(table));
  }

  // What makes the figures hard to compare.
  void AppendWarnings(report::Document* document) const {
    report::NoteList list{.style = Style::kWarning};
    const auto warn = [&](std::string_view path, std::string_view words) {
      const std::string_view a = TextAt(a_.data, path), b = TextAt(b_.data, path);
      if (a != b && !a.empty() && !b.empty())
        list.notes.push_back({fmt::format("{}: {} in A, {} in B.", words, a, b)});
    };
    warn("run.runtime", "they run differently");
    warn("run.device", "they run on different devices");
    warn("run.step", "they are different runs");
    warn("run.does", "their steps differ");
    warn("run.of_steps", "their steps are not the same one");
    warn("convention.name", "work that depends on --count is counted differently");
    if (const std::string a = InputsText(a_), b = InputsText(b_); a != b) {
      list.notes.push_back({fmt::format("their inputs differ: {} in A, {} in B.", a, b)});
    }
    warn("claims.work", "the work is not known equally well");
    warn("claims.memory", "the memory is not known equally well");
    if (!list.notes.empty()) document->body.emplace_back(std::move(list));
    if (shown_.asked.empty() || a_.is_stored == b_.is_stored) return;
    document->body.emplace_back(report::NoteList{
        .notes = {
            {fmt::format("{} is a stored report; {} {} of {} alone.", a_.is_stored ? "A" : "B",
                         fmt::join(shown_.asked, ", "), shown_.asked.size() == 1 ? "is" : "are",
                         a_.is_stored ? "B" : "A")}}});
  }

  const Side& a_;
  const Side& b_;
  const ComparisonShown& shown_;
};

}  // namespace

void PresentComparison(const Side& a, const Side& b, const ComparisonShown& shown,
                       report::Document* document) {
  const Comparison comparison(a, b, shown);
  comparison.AddTo(&document->data);
  comparison.AppendTo(document);
}

}  // namespace steelyard::present
