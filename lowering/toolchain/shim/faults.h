// What the processor and the compiler's checks report inside a kernel, turned into an error of the launch: bad addresses,
// misaligned accesses, indices outside an array, integer division by zero.
#pragma once
#include <csignal>
#include <pthread.h>
#include <unistd.h>
#if defined(__linux__)
#include <ucontext.h>
#endif

#include "machine.h"

namespace albumen_shim {

constexpr std::size_t SIGNAL_STACK_BYTES = 64 << 10;
constexpr int FAULT_SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int FAULT_COUNT = sizeof FAULT_SIGNALS / sizeof *FAULT_SIGNALS;

static struct {
  bool active;
  pthread_t thread;
  struct sigaction previous[FAULT_COUNT];
} faults;

static inline int access_kind(void *context) {
#if defined(__linux__) && defined(__x86_64__)
  return static_cast<int>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1);
#else
  static_cast<void>(context);
  return -1;
#endif
}

static void on_fault(int number, siginfo_t *info, void *context) {
  if (!faults.active || !pthread_equal(faults.thread, pthread_self())) {  // not ours: let the former handler see it again
    for (int i = 0; i < FAULT_COUNT; ++i)
      if (FAULT_SIGNALS[i] == number) sigaction(number, &faults.previous[i], nullptr);
    return;
  }
  Report &report = *machine.report;
  blame(report, machine.current);
  report.address = reinterpret_cast<uintptr_t>(info->si_addr);
  report.is_write = access_kind(context);
  switch (number) {
    case SIGFPE: report.code = ARITHMETIC; break;
    case SIGILL:
    case SIGABRT: report.code = TRAP; break;
    default: report.code = BAD_ADDRESS;
  }
  siglongjmp(machine.escape, 1);
}

// Handles the signals of the launching thread while it exists, on a stack of its own.
class FaultScope {
 public:
  FaultScope() {
    stack_t stack = {};
    stack.ss_sp = memory_.data();
    stack.ss_size = SIGNAL_STACK_BYTES;
    sigaltstack(&stack, &previous_stack_);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    faults.thread = pthread_self();
    for (int i = 0; i < FAULT_COUNT; ++i) sigaction(FAULT_SIGNALS[i], &action, &faults.previous[i]);
    faults.active = true;
  }
  ~FaultScope() {
    faults.active = false;
    for (int i = 0; i < FAULT_COUNT; ++i) sigaction(FAULT_SIGNALS[i], &faults.previous[i], nullptr);
    sigaltstack(&previous_stack_, nullptr);
  }
  FaultScope(const FaultScope &) = delete;
  FaultScope &operator=(const FaultScope &) = delete;

 private:
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(SIGNAL_STACK_BYTES);
  stack_t previous_stack_;
};

}  // namespace albumen_shim

// The checks that -fsanitize=alignment,bounds inserts call these; the records are those of the compiler's runtime library.
struct AlbumenSourceLocation {
  const char *file;
  uint32_t line, column;
};
struct AlbumenTypeDescriptor {
  uint16_t kind, info;
  char name[1];
};
struct AlbumenBoundsRecord {
  AlbumenSourceLocation location;
  const AlbumenTypeDescriptor *array_type, *index_type;
};
struct AlbumenAlignmentRecord {
  AlbumenSourceLocation location;
  const AlbumenTypeDescriptor *type;
  unsigned char log_alignment, kind;
};

// Under other names in C++, for which the compiler has built-in declarations.
#define ALBUMEN_CHECK extern "C" __attribute__((visibility("hidden"), noreturn, used))
ALBUMEN_CHECK void albumen_bad_index(AlbumenBoundsRecord *record, uintptr_t index) __asm__("__ubsan_handle_out_of_bounds_abort");
ALBUMEN_CHECK void albumen_misaligned(AlbumenAlignmentRecord *record, uintptr_t pointer)
    __asm__("__ubsan_handle_type_mismatch_v1_abort");

void albumen_bad_index(AlbumenBoundsRecord *record, uintptr_t index) {
  albumen_shim::fail(albumen_shim::BAD_INDEX, static_cast<int>(record->location.line), "%s: index %lld outside %s",
                     record->location.file, static_cast<long long>(index), record->array_type->name);
}
void albumen_misaligned(AlbumenAlignmentRecord *record, uintptr_t pointer) {
  albumen_shim::machine.report->address = pointer;
  albumen_shim::fail(albumen_shim::MISALIGNED, static_cast<int>(record->location.line),
                     "%s: %s needs an address that is a multiple of %u", record->location.file, record->type->name,
                     1u << record->log_alignment);
}
