// SPDX-License-Identifier: Apache-2.0
//
// Memory of a chunk is never given back while the process lives, only its pages are: a thread that
// was in the middle of an event when its session ended may still write there. Buffers of threads
// that have ended are used again by others.
#include "record_writer.h"

#include <ATen/record_function.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>

namespace steelyard::engine {
namespace {

constexpr std::size_t kRoom = SY_CHUNK_SIZE - sizeof(SyChunk);
constexpr std::size_t kWordsInChunk = kRoom / sizeof(std::uint64_t);

// All that sessions share. Never destroyed: threads may outlive the end of the program.
struct Shared {
  std::mutex mutex;
  std::uint64_t sessions = 0;
  SyRecordHeader* header = nullptr;
  std::vector<SyChunk*> chunks;        // of the record, in order
  std::vector<void*> free_chunks;      // of records that were discarded
  std::vector<ThreadBuffer*> buffers;  // of threads that have ended
  std::uint32_t order = 0;             // of the next chunk
  bool full = false;                   // no chunk more, whoever asks
  std::size_t ring = 0;                // so many chunks of events; 0: as many as there are
  std::size_t event_chunks = 0;
  std::deque<SyChunk*> finished;  // of a ring, the oldest first: nobody writes there
  int file = -1;
};
Shared& shared() {
  static auto* const all = new Shared;
  return *all;
}

std::uint64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void* Map(int flags, int file, off_t offset, std::size_t size, void* at = nullptr) {
  void* const memory = mmap(at, size, PROT_READ | PROT_WRITE, flags, file, offset);
  return memory == MAP_FAILED ? nullptr : memory;
}

// A place for the next chunk: of the file, where the disk has room for it, or of memory.
void* NewMemory(Shared& all) {
  void* memory = nullptr;
  if (!all.free_chunks.empty()) {
    memory = all.free_chunks.back();
    all.free_chunks.pop_back();
  }
  if (all.file < 0)
    return memory != nullptr ? memory : Map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, SY_CHUNK_SIZE);
  const auto offset = static_cast<off_t>(SY_RECORD_PAGE + all.chunks.size() * SY_CHUNK_SIZE);
  // Without this a full disk would end the process at a later write.
  if (posix_fallocate(all.file, offset, SY_CHUNK_SIZE) != 0) {
    if (memory != nullptr) all.free_chunks.push_back(memory);
    return nullptr;
  }
  const int flags = MAP_SHARED | (memory != nullptr ? MAP_FIXED : 0);
  return Map(flags, all.file, offset, SY_CHUNK_SIZE, memory);
}

SyChunk* AddChunk(Shared& all) {
  if (all.full) return nullptr;
  auto* const chunk = static_cast<SyChunk*>(NewMemory(all));
  all.full = chunk == nullptr;
  if (chunk != nullptr) all.chunks.push_back(chunk);
  return chunk;
}

// The oldest chunk of events, which are let go; null where each is being written.
SyChunk* OldestChunk(Shared& all) {
  if (all.finished.empty()) return nullptr;
  SyChunk* const chunk = all.finished.front();
  all.finished.pop_front();
  SyRecordHeader& header = *all.header;
  UnpackEvents({reinterpret_cast<const std::uint64_t*>(chunk + 1), chunk->used / 8},
               [&header](const SyEvent& event) {
                 ++header.dropped;
                 header.dropped_until = std::max(header.dropped_until, event.time);
               });
  chunk->used = 0;
  return chunk;
}

SyChunk* BeginChunk(ThreadBuffer& buffer, SyChunkKind kind) {
  Shared& all = shared();
  const std::scoped_lock lock(all.mutex);
  if (buffer.session != writing.load(std::memory_order_relaxed)) return nullptr;
  const bool gives_way = all.ring > 0 && kind == SY_PACKED_CHUNK;
  if (gives_way && buffer.events != nullptr) {
    all.finished.push_back(buffer.events);
    buffer.events = nullptr;
  }
  SyChunk* chunk = gives_way && all.event_chunks >= all.ring ? OldestChunk(all) : nullptr;
  if (chunk == nullptr) {
    chunk = AddChunk(all);
    if (chunk != nullptr && gives_way) ++all.event_chunks;
    if (chunk == nullptr && gives_way) chunk = OldestChunk(all);
  }
  if (chunk == nullptr) return nullptr;
  *chunk = {.kind = kind,
            .order = all.order++,
            .thread = buffer.thread,
            .used = 0,
            .system_thread = buffer.system_thread,
            .spare = {}};
  return chunk;
}

void CountLost() {
  Shared& all = shared();
  if (all.header == nullptr) return;
  std::atomic_ref(all.header->lost).fetch_add(1, std::memory_order_relaxed);
}

// Gives the buffer of a thread back when it ends.
struct AtThreadEnd {
  ThreadBuffer* buffer = nullptr;
  ~AtThreadEnd();
};
thread_local constinit bool thread_has_ended = false;

AtThreadEnd::~AtThreadEnd() {
  thread_has_ended = true;
  this_thread = nullptr;
  if (buffer == nullptr) return;
  Shared& all = shared();
  const std::scoped_lock lock(all.mutex);
  const bool writes = buffer->session == writing.load(std::memory_order_relaxed);
  if (all.ring > 0 && writes && buffer->events != nullptr) all.finished.push_back(buffer->events);
  buffer->session = 0;
  all.buffers.push_back(buffer);
}
thread_local AtThreadEnd at_thread_end;

// A child of fork has its parent's memory and only one of its threads: it writes nothing.
void BeforeFork() { shared().mutex.lock(); }
void InParent() { shared().mutex.unlock(); }
void InChild() {
  writing.store(0, std::memory_order_release);
  shared().mutex.unlock();
}

}  // namespace

std::atomic<std::uint64_t> writing{0};
thread_local constinit ThreadBuffer* this_thread = nullptr;

void HashSet::Insert(std::uint64_t hash) {
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<std::uint64_t> old(std::max<std::size_t>(256, 2 * slots_.size()), 0);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    count_ = 0;
    for (const std::uint64_t one : old) {
      if (one != 0) Insert(one);
    }
  }
  std::size_t at = (hash >> 1u) & mask_;
  while (slots_[at] != 0) at = (at + 1) & mask_;
  slots_[at] = hash;
  ++count_;
}

void HashSet::Clear() { *this = {}; }

ThreadBuffer* JoinSession(std::uint64_t session) {
  if (thread_has_ended) return nullptr;
  if (this_thread == nullptr) {
    Shared& all = shared();
    const std::scoped_lock lock(all.mutex);
    if (all.buffers.empty()) {
      this_thread = new ThreadBuffer;
    } else {
      this_thread = all.buffers.back();
      all.buffers.pop_back();
    }
    at_thread_end.buffer = this_thread;
  }
  ThreadBuffer& buffer = *this_thread;
  buffer.described.Clear();
  buffer.named.Clear();
  buffer.next = buffer.end = nullptr;
  buffer.events = buffer.entries = buffer.kept = nullptr;
  buffer.gradient = nullptr;
  buffer.open.clear();
  buffer.thread = at::RecordFunction::currentThreadId();
  buffer.system_thread = static_cast<std::uint64_t>(syscall(SYS_gettid));
  buffer.session = session;
  return &buffer;
}

bool NextChunk(ThreadBuffer& buffer) {
  SyChunk* const chunk = BeginChunk(buffer, SY_PACKED_CHUNK);
  if (chunk == nullptr) {
    CountLost();
    return false;
  }
  buffer.events = chunk;
  buffer.next = reinterpret_cast<std::uint64_t*>(chunk + 1);
  buffer.end = buffer.next + kWordsInChunk - kMostPackedWords + 1;
  buffer.last = 0;
  return true;
}

void WriteKept(ThreadBuffer& buffer, const SyEvent& event) {
  if (shared().ring == 0) return Write(buffer, event);
  if (buffer.kept == nullptr || buffer.kept->used + sizeof event > kRoom) {
    SyChunk* const chunk = BeginChunk(buffer, SY_KEPT_CHUNK);
    if (chunk == nullptr) return CountLost();
    buffer.kept = chunk;
  }
  std::memcpy(reinterpret_cast<char*>(buffer.kept + 1) + buffer.kept->used, &event, sizeof event);
  std::atomic_ref(buffer.kept->used)
      .store(buffer.kept->used + sizeof event, std::memory_order_release);
}

void WriteEntry(ThreadBuffer& buffer, SyEntry entry, std::string_view text) {
  text = text.substr(0, kRoom - sizeof(SyEntry) - 8);
  const std::size_t size = (sizeof(SyEntry) + text.size() + 7) / 8 * 8;
  if (buffer.entries == nullptr || buffer.entries->used + size > kRoom) {
    SyChunk* const chunk = BeginChunk(buffer, SY_ENTRY_CHUNK);
    if (chunk == nullptr) return CountLost();
    buffer.entries = chunk;
  }
  char* const at = reinterpret_cast<char*>(buffer.entries + 1) + buffer.entries->used;
  entry.size = static_cast<std::uint32_t>(size);
  entry.text_size = static_cast<std::uint32_t>(text.size());
  std::memcpy(at, &entry, sizeof entry);
  std::memcpy(at + sizeof entry, text.data(), text.size());
  std::atomic_ref(buffer.entries->used)
      .store(buffer.entries->used + size, std::memory_order_release);
}

bool OpenRecord(const SyWatchOptions& options, const char* torch, const char** problem) {
  static const int forks = pthread_atfork(BeforeFork, InParent, InChild);
  if (forks != 0) return *problem = "there is no memory", false;
  DiscardRecord();
  Shared& all = shared();
  const std::scoped_lock lock(all.mutex);
  // The next session has a file of its own, or none.
  const auto fail = [&](const char* why) {
    if (all.file >= 0) close(all.file);
    all.file = -1;
    *problem = why;
    return false;
  };
  if (options.path != nullptr) {
    all.file = open(options.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (all.file < 0) return fail("the file cannot be written");
    const int error = posix_fallocate(all.file, 0, SY_RECORD_PAGE);
    if (error == ENOSPC) return fail("there is no room on the disk");
    if (error != 0) return fail("it is no regular file, which a record is written to page by page");
  }
  const int flags = options.path != nullptr ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  all.header = static_cast<SyRecordHeader*>(Map(flags, all.file, 0, SY_RECORD_PAGE));
  if (all.header == nullptr) return fail("there is no memory");
  SyRecordHeader& header = *all.header;
  header = {};
  std::memcpy(header.magic, SY_RECORD_MAGIC, sizeof header.magic);
  header.version = SY_RECORD_VERSION;
  header.level = options.level;
  header.every = std::max(options.every, 1u);
  header.parts = options.parts;
  header.warmup = options.warmup;
  header.process = static_cast<std::uint32_t>(getpid());
  header.unix_nanoseconds = Nanoseconds(CLOCK_REALTIME);
  std::strncpy(header.torch, torch, sizeof header.torch - 1);
  header.first_ticks = Ticks();
  header.first_nanoseconds = Nanoseconds(CLOCK_MONOTONIC);
  // How fast the clock is, roughly, should the process be killed before it is noted again.
  const timespec moment{0, 200000};
  nanosleep(&moment, nullptr);
  header.last_ticks = Ticks();
  header.last_nanoseconds = Nanoseconds(CLOCK_MONOTONIC);
  all.order = 0;
  all.full = false;
  all.event_chunks = 0;
  all.finished.clear();
  all.ring = options.ring == 0 ? 0 : std::max<std::size_t>(2, options.ring / SY_CHUNK_SIZE);
  writing.store(++all.sessions, std::memory_order_release);
  return true;
}

void SetClock() {
  SyRecordHeader* const header = shared().header;
  // A child of fork shares the page, and has no part in the record.
  if (header == nullptr || header->process != static_cast<std::uint32_t>(getpid())) return;
  header->last_ticks = Ticks();
  header->last_nanoseconds = Nanoseconds(CLOCK_MONOTONIC);
}

void CloseRecord() {
  SetClock();
  writing.store(0, std::memory_order_release);
}

void ReadRecord(void* who, void (*on_bytes)(void* who, const void* bytes, std::size_t count)) {
  Shared& all = shared();
  const std::scoped_lock lock(all.mutex);
  if (all.header == nullptr) return;
  on_bytes(who, all.header, SY_RECORD_PAGE);
  for (const SyChunk* chunk : all.chunks) on_bytes(who, chunk, SY_CHUNK_SIZE);
}

void DiscardRecord() {
  Shared& all = shared();
  const std::scoped_lock lock(all.mutex);
  if (all.header == nullptr) return;
  for (SyChunk* chunk : all.chunks) {
    // In the place of a file's pages come pages of memory, for threads that write late.
    if (Map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, SY_CHUNK_SIZE, chunk) != nullptr) {
      all.free_chunks.push_back(chunk);
    }
  }
  all.chunks.clear();
  munmap(all.header, SY_RECORD_PAGE);
  all.header = nullptr;
  if (all.file >= 0) close(all.file);
  all.file = -1;
}

}  // namespace steelyard::engine
