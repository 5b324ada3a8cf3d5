// SPDX-License-Identifier: Apache-2.0
//
// Runs requests through the caching allocator and prints what PyTorch's own would be asked for
// after each. tools/allocator_streams.py makes the requests and does the same with PyTorch.
//
//   settings TEXT            PYTORCH_ALLOC_CONF; first, with the two lines that follow
//   torch MAJOR MINOR        whose allocator
//   device TOTAL TAKEN LATE  bytes; LATE 1: no event happens before somebody waits for it
//   alloc BYTES STREAM       prints the address, or what the error of PyTorch tells
//   free N                   the N-th request, from 0; nothing if that failed
//   record N STREAM          the N-th block is used on that stream too
//   empty                    torch.cuda.empty_cache
//   reset                    the peaks
//   pool ON_OOM NO_SPLIT     a new private pool, 1 and so on
//   begin POOL | end POOL    requests from now on are of that pool
//   release POOL             its MemPool is gone
//   statistics               prints all of them
//   map                      prints the segments and their blocks
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "memory/caching/caching_allocator.h"

namespace steelyard {
namespace {

void Print(const Statistic& s) {
  std::cout << ' ' << s.current << ' ' << s.peak << ' ' << s.allocated << ' ' << s.freed;
}

void Print(const AllocatorStatistics& s) {
  std::cout << "statistics";
  for (const PoolStatistic* p :
       {&s.allocation, &s.segment, &s.active, &s.inactive_split, &s.allocated_bytes,
        &s.reserved_bytes, &s.active_bytes, &s.inactive_split_bytes, &s.requested_bytes}) {
    for (const Statistic* one : {&p->all, &p->small_pool, &p->large_pool}) Print(*one);
  }
  Print(s.oversize_allocations);
  Print(s.oversize_segments);
  std::cout << ' ' << s.num_alloc_retries << ' ' << s.num_ooms << ' ' << s.num_sync_all_streams
            << ' ' << s.num_device_alloc << ' ' << s.num_device_free << ' ' << s.num_oom_rejections
            << '\n';
}

void Print(const OutOfMemory& e) {
  std::cout << "oom " << e.refused << ' ' << e.tried << ' ' << e.total << ' ' << e.free << ' '
            << e.allowed.value_or(-1) << ' ' << e.allocated << ' ' << e.in_private_pools << ' '
            << e.unallocated << '\n';
}

void Print(const SegmentMap& map) {
  for (const MappedSegment& s : map) {
    std::cout << "segment " << s.address << ' ' << s.size << ' ' << s.allocated << ' ' << s.active
              << ' ' << s.requested << ' ' << s.stream << ' ' << s.pool << ' ' << s.is_small << ' '
              << s.is_expandable << '\n';
    for (const MappedBlock& b : s.blocks) {
      std::cout << "block " << b.offset << ' ' << b.size << ' ' << b.requested << ' '
                << NameOf(b.state) << '\n';
    }
  }
}

class Probe {
 public:
  bool Run(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "settings") {
      std::string text;
      words >> text;
      const Result<AllocatorSettings> parsed = ParseAllocatorSettings(text);
      if (!parsed) {
        std::cerr << Describe(parsed.error()) << '\n';
        return false;
      }
      settings_ = *parsed;
    } else if (word == "torch") {
      int major = 0;
      int minor = 0;
      words >> major >> minor;
      settings_.tie_break = AllocatorSettingsOfTorch(major, minor).tie_break;
    } else if (word == "device") {
      std::int64_t total = 0;
      std::int64_t taken = 0;
      bool late = false;
      words >> total >> taken >> late;
      allocator_.emplace(settings_, DeviceMemory(total, taken),
                         late ? StreamProgress::kWhenSynchronized : StreamProgress::kAtOnce);
    } else {
      return allocator_ && Request(word, words);
    }
    return true;
  }

 private:
  bool Request(const std::string& word, std::istringstream& words) {
    std::int64_t first = 0;
    std::int64_t second = 0;
    words >> first >> second;
    if (word == "alloc") {
      blocks_.push_back(allocator_->Allocate(first, static_cast<StreamId>(second)));
      if (const auto block = blocks_.back()) {
        std::cout << allocator_->AddressOf(*block) << '\n';
      } else {
        Print(allocator_->out_of_memory());
      }
    } else if (word == "free" || word == "record") {
      const std::optional<BlockId> block = blocks_.at(static_cast<std::size_t>(first));
      if (block && word == "free") allocator_->Free(*block);
      if (block && word == "record")
        allocator_->RecordStream(*block, static_cast<StreamId>(second));
    } else if (word == "empty") {
      allocator_->EmptyCache();
    } else if (word == "reset") {
      allocator_->ResetPeaks();
    } else if (word == "pool") {
      allocator_->CreatePool({.use_on_oom = first != 0, .no_split = second != 0});
    } else if (word == "begin") {
      allocator_->BeginPool(static_cast<PoolId>(first), PoolUse::kScope);
    } else if (word == "end") {
      allocator_->EndPool(static_cast<PoolId>(first));
    } else if (word == "release") {
      allocator_->ReleasePool(static_cast<PoolId>(first));
      allocator_->EmptyCache(static_cast<PoolId>(first));
    } else if (word == "statistics") {
      Print(allocator_->statistics());
    } else if (word == "map") {
      Print(allocator_->Map());
    } else {
      return false;
    }
    return true;
  }

  AllocatorSettings settings_;
  std::optional<CachingAllocator> allocator_;
  std::vector<std::optional<BlockId>> blocks_;
};

}  // namespace
}  // namespace steelyard

int main() {
  std::ios::sync_with_stdio(false);
  steelyard::Probe probe;
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!probe.Run(line)) {
      std::cerr << "not understood: " << line << '\n';
      return 1;
    }
  }
}
