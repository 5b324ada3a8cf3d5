// SPDX-License-Identifier: Apache-2.0
//
// Weighs a model and prints what a program would decide by: will it fit?
#include <steelyard/steelyard.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: example MODEL.pt2\n", stderr);
    return 2;
  }
  const steelyard::Result<steelyard::Weighing> weighing = steelyard::Weigh({.path = argv[1]});
  if (!weighing) {
    std::fprintf(stderr, "%s\n", steelyard::Describe(weighing.error()).c_str());
    return 1;
  }
  const steelyard::Totals& totals = weighing->totals;
  std::printf("parameters %s, peak %s, %s\n",
              steelyard::Format(totals.parameter_count, steelyard::Unit::kCount).c_str(),
              steelyard::Format(totals.peak_bytes, steelyard::Unit::kBytes).c_str(),
              steelyard::Format(totals.forward_flops, steelyard::Unit::kFlops).c_str());
  return 0;
}
