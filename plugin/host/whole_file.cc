#include "plugin/host/whole_file.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace caretaker::host {
namespace {

// The sum, or the largest number where it has no room.
uint64_t EndOf(uint64_t offset, uint64_t size) { return size > UINT64_MAX - offset ? UINT64_MAX : offset + size; }

// Where the last of what the headers name ends; 0 where there is no readable header.
uint64_t NamedEnd(std::ifstream& file) {
  ElfW(Ehdr) header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return 0;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (header.e_phentsize != sizeof(ElfW(Phdr))) return 0;
  uint64_t end = EndOf(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize);
  end = std::max(end, EndOf(header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize));
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof(segment))) break;
    end = std::max(end, EndOf(segment.p_offset, segment.p_filesz));
  }
  return end;
}

}  // namespace

absl::Status CheckWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const uint64_t end = NamedEnd(file);
  if (end == 0) return absl::OkStatus();
  file.clear();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (size < 0 || static_cast<uint64_t>(size) >= end) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the file is cut off, ", size, " bytes seen, at least ", end,
                                          " named in its header; copy it again"));
}

}  // namespace caretaker::host
