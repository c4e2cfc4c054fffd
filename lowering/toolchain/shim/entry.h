// What the host calls: for every kernel one function that launches it and one that tells the sizes of its parameters.
#pragma once
#include <type_traits>
#include <utility>

#include "launch.h"

namespace albumen_shim {

// Calls a kernel with the values that `arguments` points at, as cuLaunchKernel does.
template <class... Parameters, std::size_t... Indices>
static void call(void (*function)(Parameters...), void **arguments, std::index_sequence<Indices...>) {
  function(*static_cast<typename std::remove_const<Parameters>::type *>(arguments[Indices])...);
}
template <class... Parameters> static void call(void (*function)(Parameters...), void **arguments) {
  call(function, arguments, std::index_sequence_for<Parameters...>());
}

// Writes at most `limit` sizes in bytes and returns how many parameters there are.
template <class... Parameters> static unsigned parameter_sizes(void (*)(Parameters...), uint32_t *sizes, unsigned limit) {
  const uint32_t all[] = {static_cast<uint32_t>(sizeof(Parameters))..., 0};
  for (unsigned i = 0; i < sizeof...(Parameters) && i < limit; ++i) sizes[i] = all[i];
  return sizeof...(Parameters);
}

}  // namespace albumen_shim

#define ALBUMEN_EXPORT extern "C" __attribute__((visibility("default")))
#define ALBUMEN_LAUNCH(kernel_name)                                                                                        \
  ALBUMEN_EXPORT int albumen_launch_##kernel_name(const albumen_shim::LaunchConfig *config, void **arguments,              \
                                                  albumen_shim::Report *report) {                                          \
    return albumen_shim::launch(config, albumen_entry_##kernel_name, arguments, report);                                   \
  }
#define ALBUMEN_SIGNATURE(kernel_name, function)                                                                           \
  ALBUMEN_EXPORT unsigned albumen_sizes_##kernel_name(uint32_t *sizes, unsigned limit) {                                   \
    return albumen_shim::parameter_sizes(function, sizes, limit);                                                          \
  }
