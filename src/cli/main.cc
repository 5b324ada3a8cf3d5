// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/message.h"
#include "cli/program.h"

namespace {

// A failed assertion has said what is wrong, in one line; this gives it its exit status.
extern "C" void ExitAsDefect(int) { _exit(steelyard::cli::kDefect); }

// A page fault for every 4 KiB of heap was a tenth of a run of some milliseconds. The heap grows by
// large pieces, keeps them, and lies in huge pages where the system has them.
void PrepareHeap() {
#ifdef __GLIBC__
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  constexpr std::size_t kPiece = 4 * kHugePage;
  mallopt(M_MMAP_THRESHOLD, int{1} << 30U);
  mallopt(M_TRIM_THRESHOLD, int{1} << 30U);
  mallopt(M_TOP_PAD, kPiece);
  const std::unique_ptr<void, decltype(&std::free)> piece(std::malloc(kPiece), &std::free);
  void* pages = piece.get();
  std::size_t room = kPiece;
  if (std::align(kHugePage, kHugePage, pages, room) != nullptr) madvise(pages, room, MADV_HUGEPAGE);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  PrepareHeap();
  std::signal(SIGABRT, ExitAsDefect);
  const int given = argc > 0 ? 1 : 0;  // Whoever started it may have left out even the name.
  return steelyard::cli::RunProgram(std::vector<std::string>(argv + given, argv + argc));
}
