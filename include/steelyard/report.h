// SPDX-License-Identifier: Apache-2.0
//
// A report before it has a form. Analyses return plain numbers and print nothing; a presenter puts
// them into a `Document`; a renderer writes it as text, JSON or a page and computes only layout. A
// `Document` holds the report twice: `data` for programs, a tree of exact values under the keys of
// docs/report.schema.json, and `body` for people, blocks in reading order with totals computed.
//
//   report::Document document;
//   document.data.OpenObject("memory");
//   document.data.SetInt("peak", peak, Unit::kBytes);
//   document.data.Close();
//   const Quantity bytes{.value = peak, .unit = Unit::kBytes};
//   document.body.push_back(report::Headline{"Memory", {"peak ", bytes}});
//   Result<std::string> text = report::Render(document, "text", {.width = 100});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/tables.h"
#include "steelyard/units.h"

namespace steelyard {

// The version of the library, semantic for these headers. The build system reads this line.
inline constexpr char kVersion[] = "0.1.0";

// The JSON contract that a report follows: docs/report.schema.json. The number changes when a key
// is renamed, removed or given another meaning; new keys do not change it.
inline constexpr char kReportSchema[] = "steelyard.report/1";

// How many of a document's tables a report in some format holds.
enum class TablesHeld : std::uint8_t { kNone, kOne, kMany };

namespace report {

// What a value of the tree for programs is.
enum class DataKind : std::uint8_t { kObject, kArray, kInt, kDouble, kText, kBool };

class Data;
// A place in that tree: two words, passed by value, valid until the `Data` is changed or moved.
class DataView {
 public:
  [[nodiscard]] DataKind kind() const;

  // The key under which it stands in its object; empty for an element of an array and for the root.
  [[nodiscard]] std::string_view key() const;

  // What a number measures; else `Unit::kNone`.
  [[nodiscard]] Unit unit() const;

  // The value. Requires: the kind is the one named. The text lives as long as the `Data`.
  [[nodiscard]] std::int64_t AsInt() const;
  [[nodiscard]] double AsDouble() const;
  [[nodiscard]] std::string_view AsText() const;
  [[nodiscard]] bool AsBool() const;

  // Numbers of `AsText()` and of the key among the distinct texts, to escape each of them once.
  [[nodiscard]] std::uint32_t text_id() const;
  [[nodiscard]] std::uint32_t key_id() const;

  // Visits the members of an object or the elements of an array in the order they were added:
  // `for (DataView child : view)`. Anything else has none.
  class Iterator {
   public:
    DataView operator*() const { return {data_, at_}; }
    Iterator& operator++() { return at_ = DataView(data_, at_).Next(), *this; }
    bool operator==(const Iterator&) const = default;

   private:
    friend class DataView;
    Iterator(const Data* data, std::uint32_t at) : data_(data), at_(at) {}
    const Data* data_;
    std::uint32_t at_;
  };
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

  // Returns the member at a path of keys such as `memory.at_peak.parameters`, or nothing. A key
  // that holds a dot cannot be reached so. Takes time in proportion to the members passed.
  [[nodiscard]] std::optional<DataView> Find(std::string_view path) const;

 private:
  friend class Data;
  DataView(const Data* data, std::uint32_t at) : data_(data), at_(at) {}
  [[nodiscard]] std::uint32_t Next() const;
  const Data* data_;
  std::uint32_t at_;
};

// The tree, written front to back; keys keep their order. The root is an object, open from the
// start. Sixteen bytes a value, each distinct text once. Movable, not copyable.
class Data {
 public:
  Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  Data(Data&&) noexcept = default;
  Data& operator=(Data&&) noexcept = default;

  // Adds a member to the open object. Requires: the innermost open container is an object, and has
  // no such key yet. Numbers are exact: a double is written so that reading it gives it back.
  void SetInt(std::string_view key, std::int64_t value, Unit unit);
  void SetDouble(std::string_view key, double value, Unit unit);
  void SetText(std::string_view key, std::string_view value);
  void SetBool(std::string_view key, bool value);
  void OpenObject(std::string_view key);
  void OpenArray(std::string_view key);

  // Adds an element to the open array. Requires: the innermost open container is an array.
  void AddInt(std::int64_t value, Unit unit);
  void AddDouble(double value, Unit unit);
  void AddText(std::string_view value);
  void AddBool(bool value);
  void OpenObject();
  void OpenArray();

  // Ends the innermost container. Requires: one was opened.
  void Close();

  // The whole tree. Requires: every container that was opened is closed.
  [[nodiscard]] DataView root() const;
  // How many values there are, containers included.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // All distinct texts and keys, by the numbers that `DataView::text_id` and `key_id` return.
  [[nodiscard]] std::uint32_t text_count() const;
  [[nodiscard]] std::string_view text(std::uint32_t id) const;

 private:
  friend class DataView;
  // What one value takes. A container is followed by all that is inside it.
  struct Entry {
    std::uint64_t payload;  // Integer, bits of a double, id of a text, 0 or 1, or where it ends.
    std::uint32_t key;
    DataKind kind;
    Unit unit;
  };
  void Append(DataKind kind, Unit unit, std::uint32_t key, std::uint64_t payload);
  void Open(DataKind kind, std::uint32_t key);
  [[nodiscard]] std::uint32_t Key(std::string_view key);
  [[nodiscard]] std::uint32_t Element() const;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> open_;  // Containers not closed yet, outermost first.
  StringTable texts_;
};

// Walking a large report spends its time here, so these are inline.
inline DataKind DataView::kind() const { return data_->entries_[at_].kind; }
inline std::uint32_t DataView::key_id() const { return data_->entries_[at_].key; }
inline std::uint32_t DataView::Next() const {
  const bool container = kind() == DataKind::kObject || kind() == DataKind::kArray;
  return container ? static_cast<std::uint32_t>(data_->entries_[at_].payload) : at_ + 1;
}
inline DataView::Iterator DataView::end() const { return {data_, Next()}; }
inline DataView::Iterator DataView::begin() const {
  const bool container = kind() == DataKind::kObject || kind() == DataKind::kArray;
  return {data_, container ? at_ + 1 : Next()};
}

// kStrong: what the eye should find first. kDim: detail that may be skipped. kWarning: what the
// reader must not miss. Colours tell parts of a whole apart, where there are any.
enum class Style : std::uint8_t { kPlain, kStrong, kDim, kWarning, kBlue, kGreen, kYellow, kRed };

// A piece of text or a number. Converts from either, so that a sentence is written as a list:
// `{"peak ", Quantity{peak, Unit::kBytes}, {"on one device", Style::kDim}}`. Text is UTF-8 and may
// come from a file as it is: renderers escape what is dangerous or invalid.
struct Span {
  Span(const char* text, Style look = Style::kPlain);       // NOLINT(google-explicit-constructor)
  Span(std::string text, Style look = Style::kPlain);       // NOLINT(google-explicit-constructor)
  Span(std::string_view text, Style look = Style::kPlain);  // NOLINT(google-explicit-constructor)
  Span(Quantity number, Style look = Style::kPlain);        // NOLINT(google-explicit-constructor)
  std::variant<std::string, Quantity> content;
  Style style = Style::kPlain;
};

// Spans are joined as they are, and wrapped at spaces (not at U+00A0) where width is scarce.
using Sentence = std::vector<Span>;

// Opens a section: its name, and what there is to say in one line.
struct Headline {
  std::string title = {};
  Sentence text = {};
};

// A sentence or several. `level` indents it below what it belongs to, as with table rows.
struct Paragraph {
  Sentence text = {};
  int level = 0;
};

// One part of a whole.
struct Bar {
  std::string label = {};
  Quantity amount = {};
  double fraction = 0.0;  // Of the whole that full length stands for: 0 to 1.
  Sentence rate = {};     // What it is per something (`4 B/param`), aligned among bars.
  Sentence note = {};     // Anything else.
  Style style = Style::kPlain;
};
struct BarList {
  std::vector<Bar> bars = {};
};

// `value` holds from `x` on, until the next point. x never decreases.
struct ChartPoint {
  double x = 0.0;
  std::int64_t value = 0;
};
struct ChartSeries {
  std::string name = {};  // Shown only where there are several.
  std::vector<ChartPoint> points = {};
  Style style = Style::kPlain;
};
// A named stretch of the x axis, such as `backward`. Phases follow each other without overlap.
struct ChartPhase {
  std::string label = {};
  double begin = 0.0;
  double end = 0.0;
};
// Values over time or steps. Where columns are fewer than points each shows its largest value.
struct Chart {
  Unit unit = Unit::kNone;
  std::int64_t baseline = 0;  // Where the value axis begins, such as what is resident all the time.
  std::vector<ChartSeries> series = {};
  std::vector<ChartPhase> phases = {};
  std::vector<ChartSeries> parts = {};  // Of the first series, from below: they sum to it.
};

enum class Align : std::uint8_t { kLeft, kRight };

// What may become of a column's texts before another column is left out for want of width.
enum class Fit : std::uint8_t {
  kWhole,  // Nothing.
  kCut,    // They lose their middle.
  kWrap,   // They go on below, where the column is the last that is shown.
};

struct Column {
  std::string key = {};        // For programs (CSV, HTML): lower case with underscores.
  std::string header = {};     // For people. The first column's also names the table.
  Unit unit = Unit::kNone;     // Of the column's numbers; kNone where rows differ.
  Align align = Align::kLeft;  // Right for numbers.
  int priority = 0;            // 0 always stays; else the highest go first where width is scarce.
  Fit fit = Fit::kWhole;
};

// One row. `level` makes a table a tree: a row belongs to the last one above it of a lower level.
struct Row {
  std::vector<Span> cells = {};  // One per column at most; what is missing or empty stays blank.
  int level = 0;
  // All numbers in one scale, its word before the first cell's text: with the work of a step in
  // flops, the label "" becomes `GFLOP` and the cells `114.0`, `228.0`.
  bool one_scale = false;
};

// Rows under headers. A table whose headers are all empty gets no header line.
struct Table {
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
  int level = 0;  // Indents the whole table.
};

// Remarks on what precedes, set apart.
struct NoteList {
  std::vector<Sentence> notes = {};
  Style style = Style::kPlain;  // kWarning where the numbers above depend on it.
};

using Block = std::variant<Headline, Paragraph, BarList, Chart, Table, NoteList>;
struct Trace;  // What the formats of such viewers show.

struct Document {
  Data data;
  std::vector<Block> body = {};
  std::shared_ptr<const Trace> trace = {};  // For viewers of traces, where there is one.
};

// What the place where a report goes can show. The default suits a file or a pipe.
struct RenderOptions {
  int width = 0;                       // Columns of the terminal; 0 means no limit.
  bool colour = false;                 // Whether ANSI colours are understood.
  bool unicode = true;                 // Whether bars and charts may use block characters.
  UnitStyle units = UnitStyle::kAuto;  // How people's numbers are written. JSON is always exact.
  std::string table = "modules";       // The array of `data` that becomes CSV, by its key.
};

// Returns `document` in that format (`text`, `json`); a usage error when there is none such.
[[nodiscard]] Result<std::string> Render(const Document& document, std::string_view format,
                                         const RenderOptions& options = {});

}  // namespace report
}  // namespace steelyard
