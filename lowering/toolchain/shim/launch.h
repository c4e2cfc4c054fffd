// Runs a grid: blocks one after another, the threads of a block as fibers that switch where they wait.
#pragma once
#include <new>

#include "buffers.h"
#include "collectives.h"
#include "faults.h"

// Static shared variables lie in one section of the object, whose bounds the linker names.
extern "C" {
extern unsigned char __start_albumen_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_albumen_shared[] __attribute__((weak, visibility("hidden")));
}

namespace albumen_shim {

constexpr std::size_t SHARED_ALIGNMENT = 128;

static void run_thread() {
  machine.entry(machine.arguments);
  Thread &thread = *machine.current;
  Warp &warp = machine.warps[thread.linear / WARP];
  thread.state = FINISHED;
  ++machine.finished;
  warp.live &= ~(1u << lane());
  if (warp.waiting) {  // the lanes that wait may have waited for this one
    Thread *first = &machine.threads[thread.linear / WARP * WARP];
    for (unsigned i = 0; i < WARP; ++i)
      if (warp.waiting >> i & 1) complete_warp_operation(warp, first[i]);
  }
  yield();
  __builtin_trap();
}

// No thread can go on: says how many wait where, by the first two different places, and how many returned.
static void report_divergence() {
  const Thread *kinds[2] = {nullptr, nullptr};
  unsigned counts[2] = {0, 0};
  for (const Thread &thread : machine.threads) {
    if (thread.state == FINISHED) continue;
    for (int i = 0; i < 2; ++i) {
      if (!kinds[i]) kinds[i] = &thread;
      if (kinds[i]->line != thread.line || kinds[i]->operation != thread.operation) continue;
      ++counts[i];
      break;
    }
  }
  Report &report = *machine.report;
  report.code = DIVERGENT;
  report.line = kinds[0]->line;
  blame(report, kinds[0]);
  int used = snprintf(report.message, sizeof report.message, "%u of %u threads wait at %s (line %d)", counts[0],
                      static_cast<unsigned>(machine.threads.size()), kinds[0]->operation, kinds[0]->line);
  if (kinds[1])
    used += snprintf(report.message + used, sizeof report.message - used, ", %u at %s (line %d)", counts[1],
                     kinds[1]->operation, kinds[1]->line);
  if (machine.finished)
    snprintf(report.message + used, sizeof report.message - used, ", %u have returned", machine.finished);
}

// Lets the block go on when every thread waits at its barrier, and at the same one.
static bool release_barrier() {
  const unsigned count = static_cast<unsigned>(machine.threads.size());
  if (!machine.at_barrier || machine.at_barrier + machine.finished != count) return false;
  if (machine.finished && !machine.exits_count) return false;
  int line = -1;
  for (const Thread &thread : machine.threads) {
    if (thread.state != AT_BARRIER) continue;
    if (line >= 0 && thread.line != line) return false;
    line = thread.line;
  }
  for (Thread &thread : machine.threads)
    if (thread.state == AT_BARRIER) thread.state = READY;
  machine.at_barrier = 0;
  machine.barrier_votes = machine.votes;
  machine.votes = 0;
  return true;
}

static void start_block(const Stacks &stacks) {
  machine.finished = machine.at_barrier = machine.votes = 0;
  const unsigned count = static_cast<unsigned>(machine.threads.size());
  for (unsigned i = 0; i < count; ++i) {
    Thread &thread = machine.threads[i];
    thread.state = READY;
    thread.open_group = 0;
    thread.copies.clear();
    prepare_fiber(thread.fiber, stacks.at(i), run_thread);
  }
  for (unsigned i = 0; i < machine.warps.size(); ++i) {
    const unsigned lanes = count - i * WARP;
    machine.warps[i] = {lanes >= WARP ? ~0u : (1u << lanes) - 1, 0};
  }
}

static bool run_block() {
  const unsigned count = static_cast<unsigned>(machine.threads.size());
  while (machine.finished != count) {
    bool ran = false;
    for (unsigned i = 0; i < count; ++i) {
      Thread &thread = machine.threads[machine.reverse ? count - 1 - i : i];
      if (thread.state != READY) continue;
      machine.current = &thread;
      switch_fiber(machine.main, thread.fiber);
      if (machine.report->code != NO_ERROR) return false;
      ran = true;
    }
    if (!release_barrier() && !ran) {
      report_divergence();
      return false;
    }
  }
  return true;
}

static void run_grid(const Stacks &stacks, GuardedMemory &shared) {
  const Index grid = machine.grid_size;
  const uint64_t blocks = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t block = machine.reverse ? blocks - 1 - i : i;
    machine.block = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
                     static_cast<unsigned>(block / grid.x / grid.y)};
    shared.poison();
    if (__start_albumen_shared) memset(__start_albumen_shared, POISON, __stop_albumen_shared - __start_albumen_shared);
    start_block(stacks);
    if (!run_block()) return;
    if (!shared.intact()) {
      machine.report->code = SHARED_OVERRUN;
      blame(*machine.report, nullptr);
      return;
    }
  }
}

static void set_up(const LaunchConfig &config, void (*entry)(void **), void **arguments, Report *report) {
  machine.grid_size = {config.grid[0], config.grid[1], config.grid[2]};
  machine.block_size = {config.block[0], config.block[1], config.block[2]};
  machine.reverse = config.reverse;
  machine.exits_count = config.exits_count;
  machine.entry = entry;
  machine.arguments = arguments;
  machine.report = report;
  machine.current = nullptr;
  const Index size = machine.block_size;
  const unsigned count = size.x * size.y * size.z;
  machine.threads.resize(count);
  machine.warps.resize((count + WARP - 1) / WARP);
  for (unsigned i = 0; i < count; ++i) {
    machine.threads[i].linear = i;
    machine.threads[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
  }
}

static int launch(const LaunchConfig *config, void (*entry)(void **), void **arguments, Report *report) {
  set_up(*config, entry, arguments, report);
  const Stacks stacks(machine.threads.size());
  GuardedMemory shared(config->shared_bytes, SHARED_ALIGNMENT, 0);
  machine.dynamic_shared = shared.data();
  report->shared = reinterpret_cast<uintptr_t>(shared.data());
  if (!stacks.valid() || !shared.valid()) {
    report->code = NO_MEMORY;
    return report->code;
  }
  {
    const FaultScope scope;
    if (sigsetjmp(machine.escape, 1) == 0) run_grid(stacks, shared);
  }
  machine.threads.clear();
  return report->code;
}

}  // namespace albumen_shim
