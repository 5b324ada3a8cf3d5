/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written down of a program that is watched, and the functions that do so. C, for the
 * observer is in the engine's library, which is compiled apart from Steelyard, and the record may
 * be read after the program that wrote it was killed.
 *
 * A record is a header of SY_RECORD_PAGE bytes and chunks of SY_CHUNK_SIZE, in any order. A chunk
 * belongs to one thread and holds events, packed or of one size, or entries, which say once what
 * the ids in events stand for. Everything is in the byte order of the machine.
 */
#ifndef STEELYARD_RECORD_FORMAT_H_
#define STEELYARD_RECORD_FORMAT_H_

/* NOLINTBEGIN(modernize-*, readability-identifier-naming): this is C. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SY_RECORD_MAGIC "steelyrd"
#define SY_RECORD_VERSION 4u
/* Version 1 has no parts, no ranges, no inputs and no numbers of operators' nodes, 2 lets go of
 * nothing, 3 packs nothing; all that they have means the same. */
#define SY_OLDEST_RECORD_VERSION 1u
#define SY_RECORD_PAGE 4096u
#define SY_CHUNK_SIZE (128u << 10u)

/* SY_PROFILE: operators, nodes, and the stretches that a program or PyTorch gives names to. */
typedef enum SyLevel { SY_LIGHT, SY_OPS, SY_PROFILE } SyLevel;

/* What SY_PROFILE records besides names; the other levels have both. */
typedef enum SyPart { SY_PART_INPUTS = 1, SY_PART_MEMORY = 2 } SyPart;

typedef struct SyRecordHeader {
  char magic[8];
  uint32_t version;
  uint32_t level;            /* SyLevel */
  uint32_t process;          /* its id */
  uint32_t every;            /* operators are recorded of one step of so many */
  uint64_t unix_nanoseconds; /* when it began */
  /* The clock of events, and nanoseconds that passed, at two moments far apart. */
  uint64_t first_ticks, first_nanoseconds;
  uint64_t last_ticks, last_nanoseconds;
  uint64_t lost;    /* events for which there was no room */
  char torch[32];   /* its version */
  uint32_t parts;   /* of SyPart; SY_PROFILE */
  uint32_t warmup;  /* one more than the steps at its beginning that do not count; 0: not said */
  uint64_t dropped; /* events of its beginning that gave way to later ones */
  uint64_t dropped_until; /* the time of the last of them */
} SyRecordHeader;

typedef enum SyChunkKind {
  SY_UNUSED_CHUNK,
  SY_EVENT_CHUNK,
  SY_ENTRY_CHUNK,
  SY_KEPT_CHUNK,   /* events that give way to no others */
  SY_PACKED_CHUNK, /* events, in as few words as they need: packed_event.h */
  SY_KERNEL_CHUNK  /* of SyKernel; behind all others */
} SyChunkKind;

typedef struct SyChunk {
  uint32_t kind;          /* SyChunkKind */
  uint32_t order;         /* among all chunks, as they were begun */
  uint64_t thread;        /* as RecordFunction numbers it */
  uint64_t used;          /* bytes that follow this header */
  uint64_t system_thread; /* as the system numbers it, or 0 */
  uint64_t spare[4];
} SyChunk;

typedef enum SyEventKind {
  SY_NO_EVENT,
  SY_MODULE_ENTER, /* id: the module; key: the sequence number that the next node gets */
  SY_MODULE_LEAVE, /* the same */
  SY_NODE_ENTER,   /* id: its name; key: its number; amount: as above; thread: which made it */
  SY_NODE_LEAVE,
  SY_ACCUMULATE_ENTER, /* key: the parameter's address, as a tensor's entry has it */
  SY_ACCUMULATE_LEAVE, /* key: where the gradient lies; amount: its bytes, or 0; thread: in whose
                          memory */
  SY_OP_ENTER,         /* key: the call, as an entry has it; amount: SY_PROFILE: one more than the
                          number of the node that it makes, or 0 */
  SY_OP_LEAVE,         /* flags: SY_THROWN, or 0 */
  SY_ALLOCATE,         /* key: where; amount: bytes */
  SY_FREE,             /* key: where */
  SY_MARK, /* key: where; amount: bytes; flags: the category; id: its tensor, or SY_NO_ID */
  SY_OPTIMIZER_ENTER, /* id: which */
  SY_OPTIMIZER_LEAVE,
  SY_STEP,      /* a step of the program has ended; id: its number */
  SY_OPS_BEGIN, /* from here on operators are recorded */
  SY_OPS_END,
  SY_RANGE_ENTER, /* id: its name; flags: SyRange */
  SY_RANGE_LEAVE, /* id, flags: the same */
  SY_INPUTS,      /* key: the list of inputs of what was entered last, where that is no call's */
  /* What a device's allocator takes from the device, and gives back. */
  SY_RESERVE,   /* key: where, 0: all that it had before; amount: bytes; thread: as above */
  SY_UNRESERVE, /* the same */
  SY_TIME       /* of packed events: what the next one's is counted from; key: the time */
} SyEventKind;

/* In whose memory something lies: the host's, or that of CUDA device N, as N + 1. */
#define SY_HOST 0u

/* Whose a stretch with a name is. */
typedef enum SyRange {
  SY_USER_RANGE,    /* the program's: record_function */
  SY_ENGINE_RANGE,  /* around a node of autograd */
  SY_FUNCTION_RANGE /* a function of Python */
} SyRange;

/* Of an operator that has ended by an exception. */
#define SY_THROWN 1u

#define SY_NO_ID 0xffffffffu
#define SY_NO_SEQUENCE UINT64_MAX

typedef struct SyEvent {
  uint64_t time; /* ticks */
  uint64_t key;
  uint64_t amount;
  uint32_t id;
  uint8_t kind; /* SyEventKind */
  uint8_t flags;
  uint16_t thread;
} SyEvent;

typedef enum SyKernelKind { SY_COMPUTE, SY_COPY, SY_FILL } SyKernelKind;

/* What a device ran, as PyTorch's profiler tells it when it ends. */
typedef struct SyKernel {
  /* Ticks: the call of the device's runtime with which the program asked for it; 0: not known. */
  uint64_t asked, asked_end;
  uint64_t begin, end; /* ticks */
  uint64_t bytes;      /* copied or filled */
  uint32_t name;       /* as SY_NAME has it */
  uint32_t call;       /* the same, of the runtime's */
  uint32_t thread;     /* that asked, as the system numbers it */
  uint32_t stream;
  uint16_t device;
  uint16_t kind; /* SyKernelKind */
  uint32_t spare;
} SyKernel;

typedef enum SyEntryKind {
  SY_NO_ENTRY,
  SY_NAME,   /* id: a hash; text: of a node of autograd */
  SY_CALL,   /* id: a hash; text: "aten::mm(f32[2,3], f32[3,4])"; numbers[0]: 0 if incomplete */
  SY_MODULE, /* id; numbers: the parent or SY_NO_ID, 1 if it trains, of a second place of a module
                that events have by its first one more than that; text: path, class */
  SY_TENSOR, /* id; numbers: module, elements, bytes, the tensor's address; spare: its category;
                text: name, dtype */
  SY_OPTIMIZER,  /* id; text: its class */
  SY_REMARK,     /* text: what the report should say */
  SY_INPUT_LIST, /* id: a call's, or as SY_INPUTS has it; text: a line for each input, with tabs
                    between: sizes, strides, type, value; "[2, 3]", "[3, 1]", "float", "" */
  SY_FACT /* numbers[0]: of what the text names: "rank", "tensor_parallel"; the last one counts */
} SyEntryKind;

/* The text follows it, its parts separated by a byte of 0; all of it is padded to 8 bytes. */
typedef struct SyEntry {
  uint32_t size; /* with all of that */
  uint32_t kind; /* SyEntryKind */
  uint64_t id;
  uint64_t numbers[4];
  uint32_t text_size;
  uint32_t spare;
} SyEntry;

typedef struct SyWatchOptions {
  SyLevel level;
  uint32_t every;   /* SY_OPS: one step of so many, from the second one on if there are more */
  uint32_t parts;   /* SY_PROFILE: of SyPart */
  uint32_t warmup;  /* as the header has it */
  uint64_t ring;    /* bytes of events after which the oldest give way; 0: all are kept */
  const char* path; /* a file that the record is written to as it grows; null: memory */
} SyWatchOptions;

/* One session at a time in a process. Nothing here calls an operator or waits for a device. */
typedef struct SyObserver {
  uint32_t abi;
  const char* torch;

  /* Begins a record; false, with the reason, where it cannot. */
  bool (*start)(const SyWatchOptions* options, const char** problem);
  /* Ends it: nothing is heard from now on. The record stays readable until it is discarded. */
  void (*stop)(void);
  bool (*running)(void);
  /* Gives the record in pieces, as it stands in a file. */
  void (*read)(void* who, void (*on_bytes)(void* who, const void* bytes, size_t count));
  /* Lets it go, once it has ended; a file stays. */
  void (*discard)(void);

  void (*add_entry)(const SyEntry* entry, const char* text);
  /* Modules go by their addresses in the program. */
  void (*add_module)(const void* module, uint32_t id);
  void (*forget_module)(const void* module);
  /* What the hooks of modules call. `enter` tells whether it is a module that is known and runs
   * inside another: of one that does not, there is more to be noted. */
  bool (*enter)(const void* module);
  bool (*leave)(const void* module);
  void (*enter_optimizer)(uint32_t id);
  void (*leave_optimizer)(uint32_t id);
  void (*end_step)(uint32_t number);
  /* A stretch of this thread, by a name that has an entry. */
  void (*enter_range)(uint32_t name, SyRange kind);
  void (*leave_range)(uint32_t name, SyRange kind);

  /* Says what lies in memory; with a storage (a c10::StorageImpl) its end is heard of, too. What
   * lasts is said once, and gives way to nothing. `device` is as SY_HOST says. */
  void (*mark)(void* storage, uint64_t address, uint64_t bytes, uint8_t category, uint32_t tensor,
               bool lasts, uint16_t device);
  /* Begins to hear of CUDA's memory, once CUDA is initialised; false where it cannot. */
  bool (*hear_cuda)(void);
  /* Of SY_PROFILE: whether operators, nodes and stretches with names are heard from now on. */
  void (*hear_calls)(bool heard);
} SyObserver;

#define SY_OBSERVER_ABI 5u
#define SY_OBSERVER_ENTRY "steelyard_observer"
typedef const SyObserver* (*SyObserverEntry)(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*, readability-identifier-naming) */
#endif /* STEELYARD_RECORD_FORMAT_H_ */
