// Blobs being written: files of `staging/` in the data folder, from the first byte until a store has taken them over.
//
// Whatever store takes the bytes, they are hashed and inspected here first. Every writer holds a flock(2) on the file
// that it stages, and the kernel releases the lock when the process ends. open() therefore removes exactly the staged
// files that it can lock: leftovers of dead processes go, files of running ones (a CLI command, or a server in another
// container) stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::blobs {

// The destructor removes the file: a store that keeps it as the blob has given it another name.
class StagedBlob {
  public:
    StagedBlob(StagedBlob&& other) noexcept;
    StagedBlob& operator=(StagedBlob&&) noexcept = delete;
    StagedBlob(const StagedBlob&) = delete;
    StagedBlob& operator=(const StagedBlob&) = delete;
    ~StagedBlob();

    [[nodiscard]] base::Status write(std::string_view bytes);  // appends and hashes
    [[nodiscard]] std::uint64_t size() const { return size_; }
    // The SHA-256 (hex) of the written bytes. No write() after this.
    [[nodiscard]] const std::string& finish();
    // What is written so far. The descriptor also sees what comes later.
    [[nodiscard]] base::Result<base::FileReader> read() const { return base::FileReader::open(path_); }
    [[nodiscard]] base::Result<base::Fd> open() const { return base::open_read(path_); }

    // For stores whose blobs are files beside it: the bytes and this mode are durable, under no lasting name yet.
    [[nodiscard]] base::Status make_durable(mode_t mode) const;
    // One more name for the file. `os_error` is that of link(2).
    [[nodiscard]] base::Status link_as(const std::filesystem::path& target) const;

  private:
    friend class Staging;
    StagedBlob(std::filesystem::path path, base::Fd fd);
    std::filesystem::path path_;
    base::Fd fd_;
    base::Digest sha256_;
    std::string digest_;
    std::uint64_t size_ = 0;
    std::uint64_t written_back_ = 0;  // bytes for which writeback was started
};

class Staging {
  public:
    // Creates the folder where it is missing and removes what a crash left there.
    [[nodiscard]] static base::Result<Staging> open(const std::filesystem::path& data);
    // Neither. One that was not opened cannot stage where the folder is missing.
    explicit Staging(const std::filesystem::path& data) : folder_(data / "staging") {}

    [[nodiscard]] base::Result<StagedBlob> stage() const;

  private:
    std::filesystem::path folder_;
};

}  // namespace wheelyard::blobs
