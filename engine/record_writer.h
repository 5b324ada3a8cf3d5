// SPDX-License-Identifier: Apache-2.0
//
// Writes the record of a program that is watched (src/record/format.h). Each thread has chunks of
// its own, so that nothing is locked but when one begins. A chunk lies in memory or is a page of
// the record's file: what has been written there stays, however the process ends.
#pragma once

#include <c10/util/ApproximateClock.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "record/format.h"
#include "record/packed_event.h"

namespace steelyard::engine {

// Hashes that were met before.
class HashSet {
 public:
  // Whether it is new.
  bool Add(std::uint64_t hash) {
    hash |= 1u;
    std::size_t at = (hash >> 1u) & mask_;
    while (slots_[at] != 0) {
      if (slots_[at] == hash) return false;
      at = (at + 1) & mask_;
    }
    Insert(hash);
    return true;
  }
  void Clear();

 private:
  void Insert(std::uint64_t hash);

  // Open addressing, a power of two, of which half at most is taken; 0: free.
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1);
  std::size_t mask_ = 0, count_ = 0;
};

// A call of a module that has begun, and where its stack is.
struct OpenCall {
  const char* stack;
  std::uint32_t module;
};

// Where a thread writes.
struct ThreadBuffer {
  std::uint64_t session = 0;  // to which what follows belongs
  std::uint64_t thread = 0, system_thread = 0;
  std::uint64_t* next = nullptr;
  std::uint64_t* end = nullptr;  // of the places where an event may begin
  std::uint64_t last = 0;        // the time of the event before in the chunk
  SyChunk* events = nullptr;
  SyChunk* entries = nullptr;
  SyChunk* kept = nullptr;         // events that give way to no others
  HashSet described;               // calls that have their entries
  HashSet named;                   // names that have
  const void* gradient = nullptr;  // the node that accumulates one now
  std::vector<OpenCall> open;      // each inside the one before
};

// The number of the session that writes; 0: none.
extern std::atomic<std::uint64_t> writing;

// The buffer of this thread; null where nothing is written.
ThreadBuffer* JoinSession(std::uint64_t session);
extern thread_local constinit ThreadBuffer* this_thread;
inline ThreadBuffer* Here() {
  const std::uint64_t session = writing.load(std::memory_order_acquire);
  if (session == 0) return nullptr;
  ThreadBuffer* const buffer = this_thread;
  return buffer != nullptr && buffer->session == session ? buffer : JoinSession(session);
}

inline std::uint64_t Ticks() { return static_cast<std::uint64_t>(c10::getApproximateTime()); }

// Begins another chunk; false where there is no room for it, which is counted.
bool NextChunk(ThreadBuffer& buffer);
inline void Write(ThreadBuffer& buffer, const SyEvent& event) {
  if (buffer.next >= buffer.end && !NextChunk(buffer)) return;
  buffer.next += PackEvent(event, buffer.last, buffer.next);
  const auto used =
      reinterpret_cast<char*>(buffer.next) - reinterpret_cast<char*>(buffer.events + 1);
  std::atomic_ref(buffer.events->used)
      .store(static_cast<std::uint64_t>(used), std::memory_order_release);
}
// An event that stays when others give way.
void WriteKept(ThreadBuffer& buffer, const SyEvent& event);
void WriteEntry(ThreadBuffer& buffer, SyEntry entry, std::string_view text);

// Begins a record; false, with the reason, where it cannot.
bool OpenRecord(const SyWatchOptions& options, const char* torch, const char** problem);
void CloseRecord();
void ReadRecord(void* who, void (*on_bytes)(void* who, const void* bytes, std::size_t count));
void DiscardRecord();
// Notes how far the clock is.
void SetClock();

}  // namespace steelyard::engine
