// Writes small source distributions for tests: a tar (ustar) of any entries, packed by gzip. It has its own tar writer
// because libraries refuse to write broken archives.
//
//     SdistWriter six("six", "1.16.0");            // has PKG-INFO and pyproject.toml
//     six.add({.name = "six-1.16.0/six.py", .data = "print('six')\n"});
//     const std::string bytes = six.bytes();       // the sdist six.filename(): six-1.16.0.tar.gz
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wheelyard::test_support {

struct TarEntry {
    std::string name;
    std::string data = {};
    char type = '0';        // '0' file, '1' hard link, '2' symbolic link, '5' folder, …
    std::string link = {};  // what a link leads to
    std::optional<std::uint64_t> said_size_bytes = {};  // of the data, as the header declares it
};

[[nodiscard]] std::string tar_of(const std::vector<TarEntry>& entries);
[[nodiscard]] std::string gzip_of(const std::string& bytes);

class SdistWriter {
  public:
    SdistWriter(const std::string& name, const std::string& version);

    SdistWriter& add(TarEntry entry);
    // Replaces what the entry of this name has; an empty one leaves it out.
    SdistWriter& replace(const std::string& name, const std::string& data);
    [[nodiscard]] std::string filename() const { return folder_ + ".tar.gz"; }
    [[nodiscard]] std::string bytes() const;

  private:
    std::string folder_;
    std::vector<TarEntry> entries_;
};

}  // namespace wheelyard::test_support
