// A library with the shape of the plugin's. Each macro plants one fault, which elf_check.py must find.
#include <string>

#define EXPORTED extern "C" __attribute__((visibility("default")))

extern "C" {
[[noreturn]] void abort();
[[noreturn]] void exit(int status);
[[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function);
int pthread_create(unsigned long* thread, const void* attributes, void* (*start)(void*), void* argument);
int sigaction(int number, const void* action, void* old_action);
double cos(double x);
extern int nowhere_defined;
}

namespace {

[[maybe_unused]] void* Start(void* argument) { return argument; }

// Not a constant, so that no call is folded away.
volatile int answer = 42;

}  // namespace

#ifdef FAULT_GFLAGS_VARIABLE
namespace fLI {
__attribute__((visibility("default"))) int FLAGS_toy = 1;
}
#endif

#ifdef FAULT_UNIQUE
template <typename T>
struct __attribute__((visibility("default"))) Holder {
  static int value;
};
template <typename T>
int Holder<T>::value = 1;
template struct Holder<int>;
#endif

#ifdef FAULT_CONSTRUCTOR
namespace {
std::string early(static_cast<size_t>(answer), 'x');
}
#endif

#ifdef FAULT_ENGINE
namespace rocksdb {
struct Status {
  std::string ToString() const;
};
}  // namespace rocksdb
#endif

#ifdef FAULT_INITIAL_EXEC
static __thread int counter __attribute__((tls_model("initial-exec")));
#endif

#ifdef FAULT_THREAD_LOCAL
static thread_local std::string name = "x";
#endif

#ifdef FAULT_EXTRA_EXPORT
EXPORTED int toy_extra() { return answer; }
#endif

#ifdef FAULT_DATA_EXPORT
EXPORTED int toy_run;
int toy_run = 1;
#else
EXPORTED int toy_run();
int toy_run() {
  std::string text(static_cast<size_t>(answer), 'x');
  int result = static_cast<int>(text.size());
#if defined(FAULT_ABORT)
  if (answer == 0) abort();
#elif defined(FAULT_EXIT)
  if (answer == 0) exit(1);
#elif defined(FAULT_ASSERT)
  if (answer == 0) __assert_fail("answer", "toy.cc", 1, "toy_run");
#elif defined(FAULT_THREAD)
  unsigned long thread = 0;
  result += pthread_create(&thread, nullptr, &Start, nullptr);
#elif defined(FAULT_SIGNAL)
  result += sigaction(answer, nullptr, nullptr);
#elif defined(FAULT_NEEDED)
  result += static_cast<int>(cos(answer));
#elif defined(FAULT_UNRESOLVED)
  result += nowhere_defined;
#elif defined(FAULT_ENGINE)
  result += static_cast<int>(reinterpret_cast<const rocksdb::Status*>(&text)->ToString().size());
#elif defined(FAULT_INITIAL_EXEC)
  result += ++counter;
#elif defined(FAULT_THREAD_LOCAL)
  result += static_cast<int>(name.size());
#elif defined(FAULT_TEXT_RELOCATION)
  const void* place;
  asm("movabs $toy_run, %0" : "=r"(place));
  result += place != nullptr;
#endif
  return result;
}
#endif
