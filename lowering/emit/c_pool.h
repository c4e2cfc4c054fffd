/* Threads of a program: workers that wait for numbered pieces of a loop, and scratch memory a thread.
   A call that finds the workers busy (another caller's loop, or a loop inside a loop) runs its own loop alone. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#if defined(__x86_64__) || defined(__i386__)
#define ALB_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define ALB_PAUSE() __asm__ volatile("yield")
#else
#define ALB_PAUSE() ((void)0)
#endif

#define ALB_SPINS 20000 /* looks at the ticket before a worker sleeps: some 200 us */
#define ALB_MAX_WORKERS 255

typedef void (*alb_body)(void *context, int64_t begin, int64_t end);

/* `ticket` holds generation << 32 | pieces << 16 | next piece. A piece is claimed by adding one; its loop is described by
   the fields beside it, which cannot change before every piece of that generation is done. */
static struct {
  _Atomic uint64_t ticket;
  _Atomic int64_t done;
  _Atomic int busy, sleepers;
  alb_body body;
  void *context;
  int64_t count;
  int workers;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
} alb_pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static bool alb_run_piece(void) {
  const uint64_t ticket = atomic_fetch_add_explicit(&alb_pool.ticket, 1, memory_order_acq_rel);
  const int64_t piece = (int64_t)(ticket & 0xffff), pieces = (int64_t)(ticket >> 16 & 0xffff);
  if (piece >= pieces) return false;
  const int64_t count = alb_pool.count;
  alb_pool.body(alb_pool.context, count * piece / pieces, count * (piece + 1) / pieces);
  atomic_fetch_add_explicit(&alb_pool.done, 1, memory_order_acq_rel);
  return true;
}

static void *alb_worker(void *unused) {
  uint32_t seen = 0;
  for (;;) {
    int spins = 0;
    while ((uint32_t)(atomic_load_explicit(&alb_pool.ticket, memory_order_acquire) >> 32) == seen) {
      if (++spins < ALB_SPINS) {
        ALB_PAUSE();
        continue;
      }
      pthread_mutex_lock(&alb_pool.mutex);
      atomic_fetch_add(&alb_pool.sleepers, 1);
      while ((uint32_t)(atomic_load(&alb_pool.ticket) >> 32) == seen) pthread_cond_wait(&alb_pool.wake, &alb_pool.mutex);
      atomic_fetch_sub(&alb_pool.sleepers, 1);
      pthread_mutex_unlock(&alb_pool.mutex);
    }
    seen = (uint32_t)(atomic_load_explicit(&alb_pool.ticket, memory_order_acquire) >> 32);
    while (alb_run_piece()) continue;
  }
  return unused;
}

/* After fork only the calling thread exists. */
static void alb_forget_workers(void) {
  alb_pool.workers = 0;
  atomic_store(&alb_pool.sleepers, 0);
  atomic_store(&alb_pool.busy, 0);
  pthread_mutex_init(&alb_pool.mutex, NULL);
  pthread_cond_init(&alb_pool.wake, NULL);
}

static void alb_start_workers(int wanted) {
  static bool registered;
  if (!registered) registered = pthread_atfork(NULL, NULL, alb_forget_workers) == 0;
  while (alb_pool.workers < wanted && alb_pool.workers < ALB_MAX_WORKERS) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, alb_worker, NULL) != 0) return; /* the loop still runs, on fewer threads */
    pthread_detach(thread);
    ++alb_pool.workers;
  }
}

/* body over [0, count), in pieces of at least `grain`; returns when all of it is done. */
__attribute__((unused)) static void alb_parallel(const albumen_host *host, alb_body body, void *context, int64_t count, int64_t grain) {
  if (count <= 0) return;
  int64_t pieces = count / (grain > 1 ? grain : 1);
  if (pieces > host->threads) pieces = host->threads;
  if (pieces > 1 && host->parallel_for != NULL) {
    host->parallel_for(host->pool, body, context, count, grain);
    return;
  }
  if (pieces <= 1 || atomic_exchange_explicit(&alb_pool.busy, 1, memory_order_acquire)) {
    body(context, 0, count);
    return;
  }
  alb_start_workers((int)pieces - 1);
  alb_pool.body = body;
  alb_pool.context = context;
  alb_pool.count = count;
  atomic_store_explicit(&alb_pool.done, 0, memory_order_relaxed);
  const uint64_t generation = (atomic_load_explicit(&alb_pool.ticket, memory_order_relaxed) >> 32) + 1;
  atomic_store(&alb_pool.ticket, generation << 32 | (uint64_t)pieces << 16);
  if (atomic_load(&alb_pool.sleepers) > 0) {
    pthread_mutex_lock(&alb_pool.mutex);
    pthread_cond_broadcast(&alb_pool.wake);
    pthread_mutex_unlock(&alb_pool.mutex);
  }
  while (alb_run_piece()) continue;
  for (int spins = 0; atomic_load_explicit(&alb_pool.done, memory_order_acquire) < pieces; ++spins) {
    if (spins < ALB_SPINS) ALB_PAUSE();
    else sched_yield();
  }
  atomic_store_explicit(&alb_pool.busy, 0, memory_order_release);
}

/* Scratch memory of the calling thread, kept until the thread ends; NULL if there is none left. */
static pthread_key_t alb_scratch_key[2];
static pthread_once_t alb_scratch_once = PTHREAD_ONCE_INIT;
static _Thread_local struct { void *memory; size_t size; } alb_scratch_of[2];

static void alb_make_scratch_keys(void) {
  pthread_key_create(&alb_scratch_key[0], free);
  pthread_key_create(&alb_scratch_key[1], free);
}

__attribute__((unused)) static void *alb_scratch(int slot, size_t bytes) {
  if (alb_scratch_of[slot].size >= bytes) return alb_scratch_of[slot].memory;
  pthread_once(&alb_scratch_once, alb_make_scratch_keys);
  free(alb_scratch_of[slot].memory);
  const size_t size = (bytes + bytes / 2 + 4095) & ~(size_t)4095;
  void *memory = aligned_alloc(4096, size);
  alb_scratch_of[slot].memory = memory;
  alb_scratch_of[slot].size = memory == NULL ? 0 : size;
  pthread_setspecific(alb_scratch_key[slot], memory);
  return memory;
}

/* The same number, of which the compiler knows nothing. */
__attribute__((unused)) static inline int64_t alb_opaque(int64_t x) {
  __asm__("" : "+r"(x));
  return x;
}

/* An index that data gave, or 0 and a note that it is out of range. */
__attribute__((unused)) static int64_t alb_check_index(int64_t index, int64_t extent, int status, _Atomic int *failed) {
  if ((uint64_t)index < (uint64_t)extent) return index;
  atomic_store_explicit(failed, status, memory_order_relaxed);
  return 0;
}
