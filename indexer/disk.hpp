// The file operations of a publish run, behind an interface so that tests can stop it before and after each
// of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Called now and then during long work, whose end its failure is: the lock is renewed there.
using Meanwhile = std::function<base::Status()>;

class Disk {
  public:
    virtual ~Disk() = default;
    // nullopt: nothing of that name.
    [[nodiscard]] virtual base::Result<std::optional<std::uint64_t>> size_of(
        const std::filesystem::path& path) = 0;
    [[nodiscard]] virtual base::Result<std::string> read(const std::filesystem::path& path,
                                                         std::uint64_t limit_bytes) = 0;

    // Each new folder is durable when it returns.
    [[nodiscard]] virtual base::Status make_directories(const std::filesystem::path& path) = 0;
    // `to` names the blob's bytes: a hard link, or a copy (checked against `sha256`, fsynced, then renamed)
    // where the file system allows no link. An existing `to` is replaced. Durable with the next
    // sync_directory.
    [[nodiscard]] virtual base::Status link_or_copy(const std::filesystem::path& blob,
                                                    const std::filesystem::path& to, std::string_view sha256,
                                                    const Meanwhile& meanwhile) = 0;
    [[nodiscard]] virtual base::Status sync_directory(const std::filesystem::path& path) = 0;
    // Old bytes or new ones, never half; durable when it returns.
    [[nodiscard]] virtual base::Status replace(const std::filesystem::path& path, std::string_view bytes) = 0;
    // A file, or a folder if it is empty; what is absent is fine. Durable with the next sync_directory.
    [[nodiscard]] virtual base::Status remove(const std::filesystem::path& path) = 0;
    // Removes what killed runs left aside in this folder. Only the holder of the tree's lock may call it.
    [[nodiscard]] virtual base::Status remove_leftovers(const std::filesystem::path& folder) = 0;
};

class LocalDisk final : public Disk {
  public:
    [[nodiscard]] base::Result<std::optional<std::uint64_t>> size_of(
        const std::filesystem::path& path) override;
    [[nodiscard]] base::Result<std::string> read(const std::filesystem::path& path,
                                                 std::uint64_t limit_bytes) override;
    [[nodiscard]] base::Status make_directories(const std::filesystem::path& path) override;
    [[nodiscard]] base::Status link_or_copy(const std::filesystem::path& blob,
                                            const std::filesystem::path& to, std::string_view sha256,
                                            const Meanwhile& meanwhile) override;
    [[nodiscard]] base::Status sync_directory(const std::filesystem::path& path) override;
    [[nodiscard]] base::Status replace(const std::filesystem::path& path, std::string_view bytes) override;
    [[nodiscard]] base::Status remove(const std::filesystem::path& path) override;
    [[nodiscard]] base::Status remove_leftovers(const std::filesystem::path& folder) override;
};

// The copy that link_or_copy falls back to.
[[nodiscard]] base::Status copy_verified(const std::filesystem::path& from, const std::filesystem::path& to,
                                         std::string_view sha256, const Meanwhile& meanwhile);

}  // namespace wheelyard::indexer
