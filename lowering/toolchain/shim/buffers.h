// Memory that ends where nothing is mapped, so that an access behind it faults: the arguments and the dynamic shared memory.
#pragma once
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"

namespace albumen_shim {

constexpr std::size_t GUARD_BYTES = 1 << 20;

// `bytes` bytes whose address is `offset` more than a multiple of `alignment`, as close to the guard behind them as that allows.
// The bytes between them and the guards are poison, and `intact` tells whether someone wrote there.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, std::size_t alignment, std::size_t offset) : bytes_(bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    area_bytes_ = (bytes + alignment + page - 1) / page * page;
    void *memory = mmap(nullptr, area_bytes_ + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    area_ = static_cast<unsigned char *>(memory) + GUARD_BYTES;
    if (mprotect(area_, area_bytes_, PROT_READ | PROT_WRITE) != 0) {
      munmap(memory, area_bytes_ + 2 * GUARD_BYTES);
      area_ = nullptr;
      return;
    }
    const std::size_t room = area_bytes_ - bytes;
    data_ = area_ + (room >= offset ? (room - offset) / alignment * alignment + offset : room);
    memset(area_, POISON, area_bytes_);
  }
  ~GuardedMemory() {
    if (area_) munmap(area_ - GUARD_BYTES, area_bytes_ + 2 * GUARD_BYTES);
  }
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  bool valid() const { return area_ != nullptr; }
  unsigned char *data() const { return data_; }
  void poison() { memset(data_, POISON, bytes_); }
  void protect() { mprotect(area_, area_bytes_, PROT_READ); }
  bool intact() const {
    const unsigned char *end = area_ + area_bytes_;
    for (const unsigned char *p = area_; p < data_; ++p)
      if (*p != POISON) return false;
    for (const unsigned char *p = data_ + bytes_; p < end; ++p)
      if (*p != POISON) return false;
    return true;
  }

 private:
  std::size_t bytes_, area_bytes_ = 0;
  unsigned char *area_ = nullptr, *data_ = nullptr;
};

}  // namespace albumen_shim

extern "C" {
// For the caller of a launch: memory for one argument; gives a handle, or null when there is no memory.
__attribute__((visibility("default"))) void *albumen_buffer_new(uint64_t bytes, uint32_t offset, unsigned char **data) {
  auto *memory = new albumen_shim::GuardedMemory(bytes, 16, offset);
  *data = memory->data();
  if (memory->valid()) return memory;
  delete memory;
  return nullptr;
}
__attribute__((visibility("default"))) void albumen_buffer_protect(void *buffer) {
  static_cast<albumen_shim::GuardedMemory *>(buffer)->protect();
}
__attribute__((visibility("default"))) int albumen_buffer_intact(void *buffer) {
  return static_cast<albumen_shim::GuardedMemory *>(buffer)->intact();
}
__attribute__((visibility("default"))) void albumen_buffer_delete(void *buffer) {
  delete static_cast<albumen_shim::GuardedMemory *>(buffer);
}
}
