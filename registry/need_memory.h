// Memory for libraries that do not survive its lack.
#ifndef CARETAKER_REGISTRY_NEED_MEMORY_H_
#define CARETAKER_REGISTRY_NEED_MEMORY_H_

#include <cstddef>
#include <memory>

namespace caretaker::registry {

// Throws std::bad_alloc unless `bytes` can be had at once. Called before a library that ends the process, or hangs,
// when it runs out of memory at its first use: what is needed then was there a moment ago. No promise where other
// threads take it meanwhile.
inline void NeedMemory(size_t bytes) {
  const std::unique_ptr<char[]> reserve(new char[bytes]);
  *static_cast<volatile char*>(reserve.get()) = 0;  // The compiler may leave out memory that nobody uses.
}

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_NEED_MEMORY_H_
