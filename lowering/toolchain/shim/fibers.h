// Stackful fibers: one per GPU thread. A hand-written switch on x86-64, ucontext elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace albumen_shim {

constexpr std::size_t STACK_BYTES = 64 << 10;

#if defined(__x86_64__)

struct Fiber {
  void *stack_pointer;
};

// Saves the callee-saved registers on the old stack and takes them from the new one.
__attribute__((naked, noinline)) static void switch_stacks(void **, void *) {
  __asm__(
      "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
      "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
      "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n");
}

static inline void switch_fiber(Fiber &from, Fiber &to) { switch_stacks(&from.stack_pointer, to.stack_pointer); }

static inline void prepare_fiber(Fiber &fiber, unsigned char *stack, void (*entry)()) {
  auto *top = reinterpret_cast<void **>(stack + STACK_BYTES);
  *--top = nullptr;  // the entry sees a stack as after a call: 8 bytes off a multiple of 16
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  fiber.stack_pointer = top;
}

#else

struct Fiber {
  ucontext_t context;
};

static inline void switch_fiber(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }

static inline void prepare_fiber(Fiber &fiber, unsigned char *stack, void (*entry)()) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack;
  fiber.context.uc_stack.ss_size = STACK_BYTES;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, entry, 0);
}

#endif

// The stacks of one block. The compiler refuses frames that could not fit, so no page between two stacks is spent on guarding.
class Stacks {
 public:
  explicit Stacks(std::size_t count) : bytes_(count * STACK_BYTES) {
    void *memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base_ = memory == MAP_FAILED ? nullptr : static_cast<unsigned char *>(memory);
  }
  ~Stacks() {
    if (base_) munmap(base_, bytes_);
  }
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  unsigned char *at(std::size_t index) const { return base_ + index * STACK_BYTES; }
  bool valid() const { return base_ != nullptr; }

 private:
  std::size_t bytes_;
  unsigned char *base_;
};

}  // namespace albumen_shim
