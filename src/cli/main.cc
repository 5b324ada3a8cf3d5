// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/message.h"
#include "cli/program.h"

// The sanitizer of addresses, whose heap is its own, would call what is taken here a leak.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define STEELYARD_PREPARES_HEAP
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#endif

namespace {

// A failed assertion has said what is wrong, in one line; this gives it its exit status.
extern "C" void ExitAsDefect(int) { _exit(steelyard::cli::kDefect); }

// A page fault for every 4 KiB of heap was a tenth of a run of some milliseconds. The heap grows by
// large pieces, keeps them, and lies in huge pages where the system has them. What it has before
// the first of them is taken and left untouched, which costs no memory; the header of what follows
// ends where that page begins, since a page of which a part is in use does not become a huge one.
void PrepareHeap() {
#ifdef STEELYARD_PREPARES_HEAP
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  constexpr std::size_t kPiece = 4 * kHugePage;
  constexpr std::size_t kHeader = 2 * sizeof(std::size_t);
  mallopt(M_MMAP_THRESHOLD, int{1} << 30U);
  mallopt(M_TRIM_THRESHOLD, int{1} << 30U);
  mallopt(M_TOP_PAD, kPiece);
  void* const piece = std::malloc(kPiece);
  const std::size_t before = kHugePage - reinterpret_cast<std::uintptr_t>(piece) % kHugePage;
  std::free(piece);
  auto* const skipped = static_cast<std::byte*>(std::malloc(before - kHeader));
  if (skipped != nullptr) madvise(skipped + before, kPiece - kHugePage, MADV_HUGEPAGE);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  PrepareHeap();
  std::signal(SIGABRT, ExitAsDefect);
  const int given = argc > 0 ? 1 : 0;  // Whoever started it may have left out even the name.
  return steelyard::cli::RunProgram(std::vector<std::string>(argv + given, argv + argc));
}
