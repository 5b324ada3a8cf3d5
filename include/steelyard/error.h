// SPDX-License-Identifier: Apache-2.0
//
// How Steelyard says that something did not work.
//
// Every fallible function returns a `Result<T>`: either a value or an `Error`. Nothing in the
// library throws, prints, exits or aborts because of an input. An `Error` is made for a person who
// has the input and not our sources: what is wrong, where it is, and what would help.
//
//   Result<Program> Load(const std::string& path) {
//     SY_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
//     if (text.empty()) return Unexpected(InvalidInput("the file is empty", path));
//     SY_RETURN_IF_ERROR(CheckMagic(text));
//     return Parse(text);
//   }
//   ...
//   if (auto program = Load(path); !program) Report(Describe(program.error()));
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#ifndef TL_EXPECTED_HPP
// `tl::expected` carries no [[nodiscard]] of its own; its first declaration is where one can be
// given, so that a dropped `Result` or `Status` is a warning, and an error in our builds.
namespace tl {
template <class T, class E>
class [[nodiscard]] expected;  // NOLINT(readability-identifier-naming)
}  // namespace tl
#endif
#include <tl/expected.hpp>

namespace steelyard {

// What kind of failure it is, as far as a caller acts differently on it. Python maps a code to an
// exception class, the command line to an exit status (given at each code).
enum class ErrorCode : std::uint8_t {
  kInvalidInput,  // The input contradicts its own format or the rules of its operators. Exit 1.
  kUnsupported,   // The input may well be right, but Steelyard does not handle it (yet). Exit 1.
  kNotFound,      // A file, tensor, module or name that was asked for does not exist. Exit 1.
  kUsage,         // The question itself is wrong: options that contradict each other. Exit 2.
  kInternal,      // A defect of Steelyard's own, caught before it did harm. Exit 70.
};

// One failure, in three sentences that are never merged, so that each renderer (terminal, Python
// exception, JSON) can place them.
struct Error {
  ErrorCode code = ErrorCode::kInternal;

  // What is wrong, with the values that disagree: `matmul inner dims differ: 768 vs 1024`. Starts
  // in lower case unless a name stands first; no full stop at the end.
  std::string message;

  // Where: file, then node or key, then the operands' shapes, as far as known:
  // `bert.pt2: node "linear_3" (x=f32[32,128,768], w=f32[1024,768])`. May be empty.
  std::string where;

  // What would help, as a full sentence: `Is the weight transposed?`. May be empty.
  std::string hint;

  friend bool operator==(const Error&, const Error&) = default;
};

// A value, or the reason why there is none. Test it with `if (result)`, then use `*result` or
// `result->...`; read `result.error()` only when the test failed. Ignoring one is a warning.
// (`tl::expected` is `std::expected` of C++23 for C++20; see docs/decisions/001-result-type.md.)
template <class T>
using Result = tl::expected<T, Error>;

// A `Result` of a function that has nothing to return. `return {};` says that all went well.
using Status = Result<void>;

// Wraps `error` so that it converts to any `Result<T>`.
[[nodiscard]] inline tl::unexpected<Error> Unexpected(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// Makers, one per code; see `Error` for the form of the three strings. An `Error` converts to a
// `Result<T>` through `Unexpected`.
[[nodiscard]] inline Error InvalidInput(std::string message, std::string where = {},
                                        std::string hint = {}) {
  return {ErrorCode::kInvalidInput, std::move(message), std::move(where), std::move(hint)};
}
[[nodiscard]] inline Error Unsupported(std::string message, std::string where = {},
                                       std::string hint = {}) {
  return {ErrorCode::kUnsupported, std::move(message), std::move(where), std::move(hint)};
}
[[nodiscard]] inline Error NotFound(std::string message, std::string where = {},
                                    std::string hint = {}) {
  return {ErrorCode::kNotFound, std::move(message), std::move(where), std::move(hint)};
}
[[nodiscard]] inline Error UsageError(std::string message, std::string where = {},
                                      std::string hint = {}) {
  return {ErrorCode::kUsage, std::move(message), std::move(where), std::move(hint)};
}
[[nodiscard]] inline Error InternalError(std::string message, std::string where = {},
                                         std::string hint = {}) {
  return {ErrorCode::kInternal, std::move(message), std::move(where), std::move(hint)};
}

// Returns `error` with `outer` put before its place, as a caller that knows more adds it on the
// way up: `"linear_3"` within `bert.pt2` becomes `bert.pt2: "linear_3"`.
[[nodiscard]] inline Error Within(std::string outer, Error error) {
  if (outer.empty()) return error;
  if (!error.where.empty()) outer.append(": ").append(error.where);
  error.where = std::move(outer);
  return error;
}

// Returns the one line a person reads: `where: message. hint`, leaving out what is empty. The
// message gets its full stop only when a hint follows and it does not end in punctuation already.
// The line holds no newline unless the strings do.
[[nodiscard]] inline std::string Describe(const Error& error) {
  std::string line;
  line.reserve(error.where.size() + error.message.size() + error.hint.size() + 4);
  if (!error.where.empty()) line.append(error.where).append(": ");
  line.append(error.message);
  if (error.hint.empty()) return line;
  const char last = error.message.empty() ? '.' : error.message.back();
  if (last != '.' && last != '?' && last != '!') line.push_back('.');
  if (!line.empty()) line.push_back(' ');
  return line.append(error.hint);
}

}  // namespace steelyard

#define SY_INTERNAL_CONCAT_(a, b) a##b
#define SY_INTERNAL_CONCAT(a, b) SY_INTERNAL_CONCAT_(a, b)
#define SY_INTERNAL_UNIQUE(stem) SY_INTERNAL_CONCAT(stem, __COUNTER__)

// Evaluates an expression (a `Status` or any `Result`) once; when it holds an error, returns that
// error from the enclosing function, which must return a `Result` of any type.
#define SY_RETURN_IF_ERROR(...) \
  SY_INTERNAL_RETURN_IF_ERROR(SY_INTERNAL_UNIQUE(sy_status_), __VA_ARGS__)
#define SY_INTERNAL_RETURN_IF_ERROR(status, ...)                 \
  do {                                                           \
    if (auto status = (__VA_ARGS__); !status) {                  \
      return ::steelyard::Unexpected(std::move(status).error()); \
    }                                                            \
  } while (false)

// Evaluates an expression of type `Result<T>` once; returns its error from the enclosing function,
// or else moves its value into `lhs`, which may declare a variable:
//
//   SY_ASSIGN_OR_RETURN(auto shape, InferShape(node));
//
// It expands to several statements, so it needs braces under an `if`; a left side with a comma
// (a structured binding) is not possible.
#define SY_ASSIGN_OR_RETURN(lhs, ...) \
  SY_INTERNAL_ASSIGN_OR_RETURN(SY_INTERNAL_UNIQUE(sy_result_), lhs, __VA_ARGS__)
#define SY_INTERNAL_ASSIGN_OR_RETURN(result, lhs, ...)                    \
  auto result = (__VA_ARGS__);                                            \
  if (!result) return ::steelyard::Unexpected(std::move(result).error()); \
  lhs = *std::move(result)
