// SPDX-License-Identifier: Apache-2.0
//
// From `Result` to Python's exceptions.
#pragma once

#include <exception>
#include <utility>

#include "steelyard/error.h"

namespace steelyard::python {

// Carries an `Error` to where the interpreter's lock is held; error.cc makes Python's exception of
// it.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

// The value of a result, or its error as an exception.
template <class T>
T Unwrap(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  return *std::move(result);
}

}  // namespace steelyard::python
