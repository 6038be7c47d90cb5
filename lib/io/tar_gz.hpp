// Reads the members of an untrusted tar.gz one after the other with libarchive, and writes nothing to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::io {

enum class TarKind { file, folder, link, other };  // other: devices, pipes, files with holes

struct TarMember {
    std::string name;  // as written
    TarKind kind = TarKind::file;
    std::uint64_t size_bytes = 0;  // of its data in the archive, as declared
    // Writing it touches only what is below the archive's top: the name has no "..", and a symbolic link
    // leads to a place in the archive's folder, which pip's filter takes for the top.
    bool is_inside = true;
    std::string hard_link;  // the member whose file it is, too; empty: it is no hard link
};

class TarGzReader {
  public:
    // `bytes` must outlive the reader. Error "archive.broken": not a tar.gz.
    // `max_unpacked_bytes`: of the tar, headers included, to within what one block of 16 KiB unpacks to,
    // which is at most 16 MiB.
    [[nodiscard]] static base::Result<TarGzReader> open(const base::Reader& bytes,
                                                        std::uint64_t max_unpacked_bytes);
    TarGzReader(TarGzReader&&) noexcept;
    TarGzReader& operator=(TarGzReader&&) noexcept;
    TarGzReader(const TarGzReader&) = delete;
    TarGzReader& operator=(const TarGzReader&) = delete;
    ~TarGzReader();

    // Unpacks what is left of the member before. nullopt at the end. Errors: "archive.broken" (malformed),
    // "archive.too_large" (too_large), those of the reader.
    [[nodiscard]] base::Result<std::optional<TarMember>> next();
    // The content of the member that next() returned. Errors: those of next().
    [[nodiscard]] base::Result<std::string> read(std::uint64_t max_bytes);

  private:
    struct State;
    explicit TarGzReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::io
