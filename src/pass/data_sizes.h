// SPDX-License-Identifier: Apache-2.0
//
// Sizes that only the data tell, as of aten::nonzero: symbols of the file that no input's shape
// determines. Where nobody gives them a number, the operator's row says the most that its result
// can be, and the file the most that it allows.
//
//   DataSizes sizes(program, solver);
//   SY_RETURN_IF_ERROR(sizes.Assume());  // after the symbols of inputs
//   for (const std::string& note : sizes.Notes()) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pass/size_solver.h"
#include "steelyard/program.h"

namespace steelyard {

class DataSizes {
 public:
  // Requires: both outlive this; the symbols of inputs are bound.
  DataSizes(const Program& program, SizeSolver& solver);

  // Binds, node after node, the symbols that results of nodes bring into the program, as far as
  // somebody knows a bound of them. A number that no tensor's size depends on is left alone.
  void Assume();

  // Whether a number that a node reads from the data was taken to be the most that the file allows.
  // What is computed with it is then not what the model computes.
  bool has_guess() const { return has_guess_; }

  // What was assumed, a line for each operator.
  std::vector<std::string> Notes() const;

 private:
  // Symbols that were bound for the same reason.
  struct Group {
    OpId op = kNoId;
    bool by_file = false;  // the file's range decides, not the row
    std::vector<std::uint32_t> symbols;
    SourceId source = kNoId;  // of the first
  };
  // What a row makes of a call's operands, as far as they have sizes.
  struct Computed {
    std::vector<std::vector<std::int64_t>> sizes;  // by result
    bool assumed = false;                          // as large as they can be
  };

  void FindNeeded();
  void VisitGraph(GraphId graph);
  void VisitNode(const Node& node);
  void VisitArgument(const Argument& argument);
  std::vector<std::uint32_t> UnboundOf(ValueId value);
  void BindByRow(const Node& node);
  void BindByRange(const Node& node, std::uint32_t symbol);
  std::optional<Computed> Compute(const Node& node) const;
  void AddToGroup(const Node& node, std::uint32_t symbol, bool by_file);
  std::string PlaceOf(const Node& node) const;

  const Program& program_;
  SizeSolver& solver_;
  std::vector<bool> visited_;  // by graph
  std::vector<bool> bound_;    // by expression: no symbol in it is unbound
  std::vector<bool> needed_;   // by symbol: some tensor's size depends on it
  std::vector<Group> groups_;
  bool has_guess_ = false;
};

}  // namespace steelyard
