// Is a shared object all there?
//
// The dynamic linker maps a file by what its header says. Where the file ends before that, half of an interrupted copy
// for example, the first access ends the process with SIGBUS: a server that loads a new plugin would die of it.
#ifndef CARETAKER_PLUGIN_HOST_WHOLE_FILE_H_
#define CARETAKER_PLUGIN_HOST_WHOLE_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace caretaker::host {

// DataLoss: the file at `path` is a shared object that ends before its last segment or its section table does; the
// message has both sizes. OK for everything else, also for what can not be read or is no shared object: the linker says
// that better. Reads a few hundred bytes. Thread-safety: any thread. A file that shrinks afterwards is not caught:
// write a new one beside it, and rename.
absl::Status CheckWholeFile(const std::string& path);

}  // namespace caretaker::host

#endif  // CARETAKER_PLUGIN_HOST_WHOLE_FILE_H_
