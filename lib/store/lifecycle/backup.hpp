// Backups while serving: a consistent copy of the catalog first, then every blob that the copy refers to.
// Blobs of files that are deleted in the meantime stay for gc's grace. Only those that a mirror at its limit
// evicts are removed at once: where the copy refers to one, it is made again, and the blobs that were copied
// stay.
//
//     TO/catalog.sqlite            renamed into place last: a folder that has it is a complete backup
//     TO/blobs/sha256/ab/<hash>    copied and hashed on the way, or hard links (--link)
//     TO/suppliers.tsv             who supplies the projects of upstreams (registry/upstream/saved_suppliers.hpp)
//     TO/backup.json               {"format":"wheelyard.backup/1","serial":14,"time":…,"blobs":…,"lacks":[]}
//
// A backup into the folder of an earlier one copies only new blobs. A restore works the same way in the other
// direction. Either is as whole as what it is made of: it has all blobs but those that are missing or damaged
// there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::lifecycle {

struct BackupReport {
    catalog::Serial serial = 0;
    std::uint64_t blobs = 0;         // that the backup refers to
    std::uint64_t copied_blobs = 0;  // of them, copied by this run
    std::uint64_t copied_bytes = 0;
    std::vector<std::string> damaged;  // hashes of blobs that are missing or wrong, and were not copied
};

enum class BlobTransfer {
    copy,
    link,  // needs no space; protects against mistakes, not against a disk failure; copies across file systems
};

// Called for each blob, before it is looked at.
using BackupProgress = std::function<void(const BackupReport& so_far)>;

// What else belongs to it, written when all blobs are there, before the catalog makes it complete.
using BackupStep = std::function<base::Status()>;

// `store`: the registry's databases; `blobs`: what it stores.
[[nodiscard]] base::Result<BackupReport> back_up(const database::Place& store, const blobs::BlobStore& blobs,
                                                 const std::filesystem::path& to, BlobTransfer transfer,
                                                 const base::Clock& clock,
                                                 const BackupProgress& progress = {},
                                                 const BackupStep& before_catalog = {});
// When the last complete backup was made, for last_finished(). A backup that lacks blobs is complete.
inline constexpr std::string_view last_backup_file = "last-backup.json";
inline constexpr std::string_view last_backup_format = "wheelyard.last-backup/1";
[[nodiscard]] base::Status note_backup(const std::filesystem::path& data, base::UnixMicros time);

// "backup.store_there": `store` has a catalog already.
[[nodiscard]] base::Result<BackupReport> restore(const std::filesystem::path& from,
                                                 const database::Place& store,
                                                 const BackupProgress& progress = {},
                                                 const BackupStep& before_catalog = {});

}  // namespace wheelyard::lifecycle
