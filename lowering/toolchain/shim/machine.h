// The simulated machine: the threads of the running block, their states, and how an error leaves a kernel.
#pragma once
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "fibers.h"

namespace albumen_shim {

constexpr unsigned WARP = 32;
constexpr unsigned char POISON = 0xFF;  // NaN in every float type, -1 in the signed integers

struct Index {
  unsigned x, y, z;
};

// Mirrors launch_record.LaunchConfig in Python.
struct LaunchConfig {
  uint32_t grid[3], block[3];
  uint64_t shared_bytes;
  uint32_t reverse;      // threads and blocks run in descending order and asynchronous copies land at once
  uint32_t exits_count;  // a thread that returned counts as arrived at a block barrier (CUDA; not Metal)
};

enum ErrorCode : int32_t {
  NO_ERROR = 0,
  DIVERGENT = 1,        // threads wait for each other at different places, or for threads that returned
  BAD_ADDRESS = 2,      // access to unmapped, guarded or read-only memory
  MISALIGNED = 3,
  BAD_INDEX = 4,        // index outside an array of known size
  ARITHMETIC = 5,       // integer division by zero
  SHARED_OVERRUN = 6,   // write behind the dynamic shared memory
  TRAP = 7,             // __trap, a failed assert, an unsupported use of the shim
  NO_MEMORY = 8,
};

// Mirrors launch_record.Report in Python.
struct Report {
  int32_t code, line;
  uint32_t block[3], thread[3];
  uint64_t address, shared;  // of the access, and where the dynamic shared memory begins
  int32_t is_write;  // 1, 0, or -1 when the processor does not tell
  char message[340];
};

enum State : unsigned char { READY, AT_BARRIER, AT_WARP_OPERATION, FINISHED };

// Computes the results of all lanes of one warp operation: arguments[lane] is each lane's own record.
using WarpFunction = void (*)(void *const *arguments, unsigned lanes);

struct AsyncCopy {
  unsigned char *destination;
  const unsigned char *source;
  unsigned bytes, valid;
  uint64_t group;
};

struct Thread {
  Fiber fiber;
  Index index;
  unsigned linear;
  State state;
  int line;               // where the thread waits
  const char *operation;  // at what it waits
  unsigned mask;
  WarpFunction function;
  void *argument;
  uint64_t open_group;
  std::vector<AsyncCopy> copies;
};

struct Warp {
  unsigned live, waiting;
};

struct Machine {
  Fiber main;
  Thread *current;
  Index block, block_size, grid_size;
  unsigned char *dynamic_shared;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  unsigned finished, at_barrier;
  unsigned votes, barrier_votes;  // predicates counted by the barrier that is filling, and by the last one released
  bool reverse, exits_count;
  void (*entry)(void **);
  void **arguments;
  Report *report;
  sigjmp_buf escape;
};
static Machine machine;

static inline unsigned lane() { return machine.current->linear % WARP; }

static inline void blame(Report &report, const Thread *thread) {
  const Index block = machine.block, index = thread ? thread->index : Index{0, 0, 0};
  report.block[0] = block.x, report.block[1] = block.y, report.block[2] = block.z;
  report.thread[0] = index.x, report.thread[1] = index.y, report.thread[2] = index.z;
}

static inline void yield() { switch_fiber(machine.current->fiber, machine.main); }

// Ends the launch with an error found by the running thread. The launch loop sees the code and abandons every fiber.
[[noreturn]] __attribute__((format(printf, 3, 4))) static void fail(ErrorCode code, int line, const char *format, ...) {
  Report &report = *machine.report;
  report.code = code;
  report.line = line;
  blame(report, machine.current);
  va_list values;
  va_start(values, format);
  vsnprintf(report.message, sizeof report.message, format, values);
  va_end(values);
  yield();
  __builtin_trap();
}

}  // namespace albumen_shim
