// SPDX-License-Identifier: Apache-2.0
//
// Nearly all text is ASCII, so each function first runs through as much of it as there is. The
// tables of widths are ranges of Unicode 15 (EastAsianWidth.txt, W and F;
// DerivedGeneralCategory.txt, Mn and Me), joined where nothing assigned lies between; a column too
// many in a rare script costs alignment, never correctness.
#include "render/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace steelyard::render {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 14> kZeroWidth = {{{0x0300, 0x036f},
                                               {0x0483, 0x0489},
                                               {0x0591, 0x05bd},
                                               {0x0610, 0x061a},
                                               {0x064b, 0x065f},
                                               {0x06d6, 0x06dc},
                                               {0x0900, 0x0902},
                                               {0x093c, 0x093c},
                                               {0x1ab0, 0x1aff},
                                               {0x1dc0, 0x1dff},
                                               {0x20d0, 0x20f0},
                                               {0xfe00, 0xfe0f},
                                               {0xfe20, 0xfe2f},
                                               {0xe0100, 0xe01ef}}};

constexpr std::array<Range, 14> kWide = {{{0x1100, 0x115f},
                                          {0x231a, 0x231b},
                                          {0x2e80, 0x303e},
                                          {0x3041, 0x33ff},
                                          {0x3400, 0x4dbf},
                                          {0x4e00, 0x9fff},
                                          {0xa000, 0xa4cf},
                                          {0xa960, 0xa97f},
                                          {0xac00, 0xd7a3},
                                          {0xf900, 0xfaff},
                                          {0xfe30, 0xfe6f},
                                          {0xff00, 0xff60},
                                          {0x1f300, 0x1faff},
                                          {0x20000, 0x3fffd}}};

// Characters that act on the text around them instead of being seen.
constexpr std::array<Range, 6> kInvisible = {{{0x0000, 0x001f},
                                              {0x007f, 0x009f},
                                              {0x200b, 0x200f},
                                              {0x2028, 0x202e},
                                              {0x2060, 0x206f},
                                              {0xfeff, 0xfeff}}};

struct Spelling {
  char32_t sign;
  std::string_view ascii;
};
constexpr std::array<Spelling, 11> kSpellings = {{{0x00a0, " "},
                                                  {0x00b5, "u"},
                                                  {0x00b7, "*"},
                                                  {0x00d7, "x"},
                                                  {0x2013, "-"},
                                                  {0x2014, "-"},
                                                  {0x2018, "'"},
                                                  {0x2019, "'"},
                                                  {0x2026, "..."},
                                                  {0x2192, "->"},
                                                  {0x2265, ">="}}};

template <std::size_t kCount>
bool Contains(const std::array<Range, kCount>& ranges, char32_t value) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), value,
                       [](char32_t v, const Range& range) { return v < range.first; });
  return after != ranges.begin() && value <= std::prev(after)->last;
}

bool IsPlainAscii(char c) { return c >= ' ' && c <= '~'; }

std::size_t Width(char32_t value) {
  if (value < kZeroWidth.front().first) return 1;
  if (Contains(kZeroWidth, value)) return 0;
  return Contains(kWide, value) ? 2 : 1;
}

std::string_view SpelledInAscii(char32_t value) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.sign == value) return spelling.ascii;
  }
  return "?";
}

// What the first byte promises: how many bytes follow it, and which values the first of them may
// have (Unicode Standard, table 3-7). A `follow` of 0 marks a byte that begins nothing.
struct Lead {
  std::size_t follow = 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;
};

Lead LeadOf(unsigned byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {.follow = 1};
  if (byte == 0xe0) return {.follow = 2, .low = 0xa0};   // not overlong
  if (byte == 0xed) return {.follow = 2, .high = 0x9f};  // not a surrogate
  if (byte >= 0xe1 && byte <= 0xef) return {.follow = 2};
  if (byte == 0xf0) return {.follow = 3, .low = 0x90};   // not overlong
  if (byte == 0xf4) return {.follow = 3, .high = 0x8f};  // not beyond U+10FFFF
  if (byte >= 0xf1 && byte <= 0xf3) return {.follow = 3};
  return {};
}

}  // namespace

CodePoint DecodeUtf8(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {.value = first, .size = 1, .valid = true};
  const Lead lead = LeadOf(first);
  if (lead.follow == 0) return {};
  char32_t value = first & (0x3fU >> lead.follow);
  for (std::size_t i = 1; i <= lead.follow; ++i) {
    const unsigned low = i == 1 ? lead.low : 0x80;
    const unsigned high = i == 1 ? lead.high : 0xbf;
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {.size = i};
    value = value << 6U | (byte(i) & 0x3fU);
  }
  return {.value = value, .size = lead.follow + 1, .valid = true};
}

void AppendUtf8(char32_t value, std::string* out) {
  const auto tail = [&](unsigned shift) {
    out->push_back(static_cast<char>(0x80U | (value >> shift & 0x3fU)));
  };
  if (value < 0x80) {
    out->push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    out->push_back(static_cast<char>(0xc0U | value >> 6U));
    tail(0);
  } else if (value < 0x10000) {
    out->push_back(static_cast<char>(0xe0U | value >> 12U));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xf0U | value >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = DecodeUtf8(text);
    width += Width(next.value);
    text.remove_prefix(next.size);
  }
  return width;
}

std::string Printable(std::string_view text, Charset charset) {
  if (std::ranges::all_of(text, IsPlainAscii)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = DecodeUtf8(text);
    if (next.value == '\n' || next.value == '\t' || next.value == '\r') {
      out.push_back(' ');
    } else if (next.value >= ' ' && next.value <= '~') {
      out.push_back(static_cast<char>(next.value));
    } else {
      const char32_t shown = Contains(kInvisible, next.value) ? kReplacement : next.value;
      charset == Charset::kAscii ? void(out.append(SpelledInAscii(shown)))
                                 : AppendUtf8(shown, &out);
    }
    text.remove_prefix(next.size);
  }
  return out;
}

std::string Ellipsize(std::string_view text, std::size_t width, Cut cut, Charset charset) {
  const std::size_t whole = DisplayWidth(text);
  if (whole <= width) return std::string(text);
  const std::string_view mark = charset == Charset::kAscii ? ".." : "…";
  const std::size_t mark_width = DisplayWidth(mark);
  if (width <= mark_width) return std::string(width, '.');
  const std::size_t kept = width - mark_width;
  // The end gets the odd column: the last name of a path tells more than its root.
  const std::size_t head_width = cut == Cut::kEnd ? kept : kept / 2;
  const std::size_t tail_width = kept - head_width;
  std::size_t head = 0;  // Bytes kept in front, ...
  std::size_t tail = 0;  // ... and where the end begins that is kept.
  std::size_t column = 0;
  while (tail < text.size() && column < whole - tail_width) {
    const CodePoint next = DecodeUtf8(text.substr(tail));
    column += Width(next.value);
    tail += next.size;
    if (column <= head_width) head = tail;
  }
  return std::string(text.substr(0, head)).append(mark).append(text.substr(tail));
}

}  // namespace steelyard::render
