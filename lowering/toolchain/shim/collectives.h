// Operations of a warp and of a block. A warp operation completes when every live lane that its mask names has arrived at the
// same operation with the same mask; the last lane to arrive computes the results of all of them.
#pragma once
#include "machine.h"

namespace albumen_shim {

static inline bool complete_warp_operation(Warp &warp, const Thread &arrived) {
  const unsigned lanes = arrived.mask & warp.live;
  if ((warp.waiting & lanes) != lanes) return false;
  Thread *first = &machine.threads[arrived.linear / WARP * WARP];
  void *arguments[WARP];
  for (unsigned i = 0; i < WARP; ++i) {
    if (!(lanes >> i & 1)) continue;
    const Thread &other = first[i];
    if (other.mask != arrived.mask || other.function != arrived.function) return false;
    arguments[i] = other.argument;
  }
  arrived.function(arguments, lanes);
  for (unsigned i = 0; i < WARP; ++i)
    if (lanes >> i & 1) first[i].state = READY;
  warp.waiting &= ~lanes;
  return true;
}

static inline void warp_operation(unsigned mask, WarpFunction function, void *argument, const char *name, int line) {
  Thread &thread = *machine.current;
  Warp &warp = machine.warps[thread.linear / WARP];
  if (!(mask >> lane() & 1)) fail(DIVERGENT, line, "%s: the mask 0x%08x leaves out the calling lane %u", name, mask, lane());
  thread.state = AT_WARP_OPERATION;
  thread.mask = mask;
  thread.function = function;
  thread.argument = argument;
  thread.operation = name;
  thread.line = line;
  warp.waiting |= 1u << lane();
  if (!complete_warp_operation(warp, thread)) yield();
}

static inline void no_results(void *const *, unsigned) {}

static inline void warp_barrier(unsigned mask, const char *name, int line) {
  warp_operation(mask, no_results, nullptr, name, line);
}

template <class T> struct Exchange {
  T value, result;
  unsigned source;
};

// Each lane reads the value of its source lane; a source that does not take part gives poison.
template <class T> static void exchange_lanes(void *const *arguments, unsigned lanes) {
  for (unsigned i = 0; i < WARP; ++i) {
    if (!(lanes >> i & 1)) continue;
    auto *mine = static_cast<Exchange<T> *>(arguments[i]);
    if (lanes >> mine->source & 1)
      mine->result = static_cast<Exchange<T> *>(arguments[mine->source])->value;
    else
      memset(static_cast<void *>(&mine->result), POISON, sizeof(T));
  }
}

template <class T> static T exchange(unsigned mask, T value, unsigned source, const char *name, int line) {
  Exchange<T> record{value, value, source % WARP};
  warp_operation(mask, exchange_lanes<T>, &record, name, line);
  return record.result;
}

struct Ballot {
  bool predicate;
  unsigned result, lanes;
};

static inline void ballot_lanes(void *const *arguments, unsigned lanes) {
  unsigned result = 0;
  for (unsigned i = 0; i < WARP; ++i)
    if (lanes >> i & 1) result |= static_cast<unsigned>(static_cast<Ballot *>(arguments[i])->predicate) << i;
  for (unsigned i = 0; i < WARP; ++i)
    if (lanes >> i & 1) static_cast<Ballot *>(arguments[i])->result = result, static_cast<Ballot *>(arguments[i])->lanes = lanes;
}

// The lanes whose predicate holds, and the lanes that took part.
static inline Ballot ballot(unsigned mask, bool predicate, const char *name, int line) {
  Ballot record{predicate, 0, 0};
  warp_operation(mask, ballot_lanes, &record, name, line);
  return record;
}

// Reduces by the butterfly that kernels spell, so sums round as there; lanes that take no part are passed over.
template <class T, class Combine> static void reduce_lanes(void *const *arguments, unsigned lanes) {
  T values[WARP], next[WARP];
  bool present[WARP];
  for (unsigned i = 0; i < WARP; ++i)
    if ((present[i] = lanes >> i & 1)) values[i] = static_cast<Exchange<T> *>(arguments[i])->value;
  for (unsigned step = WARP / 2; step; step /= 2) {
    for (unsigned i = 0; i < WARP; ++i) {
      const unsigned other = i ^ step;
      if (present[i] && present[other])
        next[i] = Combine()(values[i], values[other]);
      else if (present[i] || present[other])
        next[i] = values[present[i] ? i : other];
    }
    for (unsigned i = 0; i < WARP; ++i) values[i] = next[i];
    for (unsigned i = 0; i < WARP; ++i) present[i] = present[i] || present[i ^ step];
  }
  for (unsigned i = 0; i < WARP; ++i)
    if (lanes >> i & 1) static_cast<Exchange<T> *>(arguments[i])->result = values[i];
}

template <class Combine, class T> static T reduce(unsigned mask, T value, const char *name, int line) {
  Exchange<T> record{value, value, lane()};
  warp_operation(mask, reduce_lanes<T, Combine>, &record, name, line);
  return record.result;
}

// Waits for the whole block; gives in how many threads the predicate held.
static inline unsigned block_barrier(bool predicate, const char *name, int line) {
  Thread &thread = *machine.current;
  thread.state = AT_BARRIER;
  thread.operation = name;
  thread.line = line;
  machine.votes += predicate;
  ++machine.at_barrier;
  yield();
  return machine.barrier_votes;
}

// Asynchronous copies land as late as the kernel allows, when the thread waits for their group; in a reversed launch at once.
static inline void land(const AsyncCopy &copy) {
  memcpy(copy.destination, copy.source, copy.valid);
  memset(copy.destination + copy.valid, 0, copy.bytes - copy.valid);
}

static inline void async_copy(void *shared, const void *global, unsigned bytes, int valid, int line) {
  Thread &thread = *machine.current;
  if (valid < 0 || static_cast<unsigned>(valid) > bytes)
    fail(TRAP, line, "asynchronous copy of %u bytes with %d of them valid", bytes, valid);
  if (reinterpret_cast<uintptr_t>(shared) % bytes || reinterpret_cast<uintptr_t>(global) % bytes)
    fail(MISALIGNED, line, "asynchronous copy of %u bytes from or to an address that is not a multiple of %u", bytes, bytes);
  const auto *source = static_cast<const unsigned char *>(global);
  if (valid) {  // an address that cannot be read is reported where it was computed, not where the copy lands
    volatile unsigned char probe = source[0];
    probe = source[valid - 1];
    static_cast<void>(probe);
  }
  const AsyncCopy copy{static_cast<unsigned char *>(shared), source, bytes, static_cast<unsigned>(valid), thread.open_group};
  if (machine.reverse)
    land(copy);
  else
    thread.copies.push_back(copy);
}

static inline void async_commit() { ++machine.current->open_group; }

static inline void async_wait(uint64_t newest) {
  Thread &thread = *machine.current;
  std::size_t kept = 0;
  for (const AsyncCopy &copy : thread.copies) {
    if (copy.group + newest < thread.open_group)
      land(copy);
    else
      thread.copies[kept++] = copy;
  }
  thread.copies.resize(kept);
}

}  // namespace albumen_shim
