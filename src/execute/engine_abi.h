/* SPDX-License-Identifier: Apache-2.0
 *
 * What Steelyard and libsteelyard_engine know of each other. The engine is built against one
 * PyTorch and loaded when something is to run; this header is plain C, so that neither side has to
 * have been built with the other's compiler, library or flags. Both check SY_ENGINE_ABI first.
 *
 * A session holds tensors by the ids of a program's values and runs stretches of its calls.
 * Pointers are borrowed for the duration of a call, unless it says otherwise. A function that
 * returns a bool has failed when it returns false, and has then filled in the error.
 */
#ifndef STEELYARD_EXECUTE_ENGINE_ABI_H_
#define STEELYARD_EXECUTE_ENGINE_ABI_H_

/* NOLINTBEGIN(modernize-*, readability-identifier-naming): this is C, too. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of what follows. */
enum { SY_ENGINE_ABI = 6 };

/* The one function that the library exports: `const SyEngine* steelyard_engine(void)`. */
#define SY_ENGINE_ENTRY "steelyard_engine"

enum { SY_ERROR_SIZE = 1024 };
#define SY_NO_VALUE UINT32_MAX
#define SY_NO_CALL SIZE_MAX

typedef enum SyKind {
  SY_NONE,
  SY_VALUE,
  SY_INT,
  SY_REAL,
  SY_BOOL, /* integer: 0 or 1 */
  SY_TEXT,
  SY_DTYPE, /* text: "float32" */
  SY_LIST,
  SY_COMPLEX /* two elements, real: the parts */
} SyKind;

/* An argument of a call. One without a name stands at its place in the operator's schema. */
typedef struct SyArgument {
  SyKind kind;
  const char* name;
  int64_t integer;
  double real;
  uint32_t value;
  const char* text;
  const struct SyArgument* elements;
  size_t count; /* of elements */
} SyArgument;

/* A call of an operator, "aten::add.Tensor". Without an operator: its arguments are let go.
 * One of the host makes tensors in the host's memory, whatever device the program runs on. */
typedef struct SyCall {
  const char* op;
  bool on_host;
  const SyArgument* arguments;
  size_t argument_count;
  const uint32_t* results; /* SY_NO_VALUE: left out */
  size_t result_count;
} SyCall;

/* It runs on `device`, which has been opened: "cpu", "cuda" (the current one), "cuda:1". */
typedef struct SyProgram {
  const char* device;
  const SyCall* calls;
  size_t call_count;
  size_t value_count;
} SyProgram;

/* Sizes and strides in elements. */
typedef struct SyLayout {
  const char* dtype;
  const int64_t* sizes;
  const int64_t* strides;
  size_t rank;
} SyLayout;

/* What a tensor is filled with: the bytes of its elements, row by row, as they lie in a file; or
 * the elements of a tensor that was placed before, cast; or random numbers around `mean`; integers
 * from 0 on below `below`, or if that is 0 each the mean. */
typedef struct SyContent {
  const void* bytes;
  uint32_t copied; /* SY_NO_VALUE: none */
  double mean;
  double deviation;
  int64_t below;
} SyContent;

/* The device that a program runs on; what is not known is empty or 0. */
enum { SY_NAME_SIZE = 96 };
typedef struct SyDevice {
  char bus[SY_NAME_SIZE]; /* where it is, as NVML knows it: "0000:19:00.0" */
  int capability;         /* 10 x major + minor */
  int multiprocessors;
  int multiprocessor_threads;
  int64_t memory; /* bytes */
} SyDevice;

/* Bytes of a device's allocator since the last call of `reset_peaks`; of the host: all 0. */
typedef struct SyDeviceMemory {
  int64_t allocated_peak;
  int64_t reserved_peak;
  int64_t reserved; /* now */
} SyDeviceMemory;

/* The elements of a tensor, row by row. */
typedef struct SyElements {
  SyLayout layout;
  const void* bytes;
  size_t byte_count;
} SyElements;

typedef enum SyProblem {
  SY_OTHER_PROBLEM,
  SY_NO_KERNEL, /* PyTorch has none of the operator for the dtypes or the device */
  SY_NO_MEMORY
} SyProblem;

typedef struct SyError {
  char message[SY_ERROR_SIZE];
  size_t call; /* the call that failed, or SY_NO_CALL */
  SyProblem problem;
} SyError;

/* What is to be told of a run; any of it may be null. */
typedef struct SyRecord {
  double* seconds; /* by call: what it took is added */
  /* Called for every allocation (bytes > 0) and free (bytes < 0) of the thread that runs, in the
   * memory of the program's device. */
  void (*on_memory)(void* who, int64_t bytes, const void* address, size_t call);
  void* who;
  /* Looked at before every call: where it is not 0 the run stops, as if it failed. */
  const volatile int* stop;
} SyRecord;

typedef struct SySession SySession;

typedef struct SyEngine {
  uint32_t abi;
  const char* torch; /* the version of PyTorch that it is built against: "2.15.0" */

  /* Of the process. */
  void (*set_threads)(int threads);
  void (*set_seed)(uint64_t seed);
  void (*set_deterministic)(bool on); /* as torch.use_deterministic_algorithms */
  /* Of operators that are not PyTorch's own: they are there from then on. */
  bool (*load_library)(const char* file, SyError* error);

  /* Makes a device ready and tells of it. The program's other calls may then name it. */
  bool (*open_device)(const char* name, SyDevice* device, SyError* error);
  SyDeviceMemory (*memory_of)(const char* device);
  void (*reset_peaks)(const char* device);

  /* A session for a program; null on failure. Copies what it needs of it. */
  SySession* (*open)(const SyProgram* program, SyError* error);
  void (*close)(SySession* session);
  /* Takes another program in place of the first. What was placed is the same values' in both. */
  bool (*reload)(SySession* session, const SyProgram* program, SyError* error);

  /* Makes a tensor that stays until the session is closed, whatever the program lets go: on the
   * program's device, or on the host. */
  bool (*place)(SySession* session, uint32_t value, bool on_host, const SyLayout* layout,
                const SyContent* content, SyError* error);
  /* Gives a tensor that was placed the name of a second value. */
  void (*share)(SySession* session, uint32_t value, uint32_t of);
  /* From now on the program's letting go of this value is passed over. */
  void (*keep)(SySession* session, uint32_t value);

  /* Runs the calls from `begin` to before `end`, and waits until the device has done them. Where
   * calls are timed it waits after each. */
  bool (*run)(SySession* session, size_t begin, size_t end, const SyRecord* record, SyError* error);
  /* Lets go of all values that the caller holds, but for those that were placed, in this order. */
  void (*release)(SySession* session, const uint32_t* values, size_t count, const SyRecord* record);
  /* Lets go of everything that was not placed. */
  void (*clear)(SySession* session);

  /* The elements of a value, valid until the next call of this session. */
  bool (*read)(SySession* session, uint32_t value, SyElements* elements, SyError* error);
} SyEngine;

typedef const SyEngine* (*SyEngineEntry)(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*, readability-identifier-naming) */
#endif /* STEELYARD_EXECUTE_ENGINE_ABI_H_ */
