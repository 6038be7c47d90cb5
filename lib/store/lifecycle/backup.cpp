#include "lib/store/lifecycle/backup.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "lib/store/blobs/saved_blobs.hpp"
#include "lib/store/lifecycle/verify.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::lifecycle {
namespace {

// Copies of the catalog until none refers to a blob that a mirror has evicted since. Only the first one takes
// long, so the second is usually the last.
constexpr int max_backup_tries = 10;

namespace fs = std::filesystem;

// A missing blob and one that the disk cannot read count as damaged. An error of the target does not: another
// run may succeed.
base::Error damaged_if_lost(const base::Error& error) {
    if (error.os_error != ENOENT && error.os_error != EIO) return error;
    return base::fail_malformed("backup.damaged", error.sentence, error.value, error.advice).value();
}

// "backup.damaged": the bytes do not match the hash in their name; then nothing is left in `to`.
base::Status copy_blob(const blobs::BlobStore& from, base::FileUser reads, const blobs::SavedBlobs& to,
                       const std::string& sha256) {
    const auto reader = base::acting_as(reads, [&] { return from.open(sha256, blobs::ReadFrom::cache); });
    if (!reader) return base::fail(damaged_if_lost(reader.error()));
    WHEELYARD_ASSIGN(auto copy, to.begin(sha256));
    base::Digest digest(base::DigestKind::sha256);
    base::Status written;
    const auto copied =
        base::for_each_piece(**reader, verify_step_bytes, [&](std::string_view piece) -> base::Status {
            digest.update(piece);
            return written = copy.write(piece);
        });
    if (!copied) return written ? base::fail(damaged_if_lost(copied.error())) : written;
    if (base::encode_hex(digest.finish()) != sha256)
        return base::fail_malformed("backup.damaged",
                                    "The bytes of a stored file do not match the hash in its name", sha256,
                                    "run `wheelyard-registry verify`");
    return copy.commit();
}

class BlobCopy {
  public:
    // `so_far`: of the tries before this one.
    BlobCopy(const blobs::BlobStore& from, base::FileUser reads, blobs::SavedBlobs& to, BlobTransfer transfer,
             const BackupProgress& progress, const BackupReport& so_far = {})
        : from_(from), reads_(reads), to_(to), transfer_(transfer), progress_(progress) {
        report_.copied_blobs = so_far.copied_blobs;
        report_.copied_bytes = so_far.copied_bytes;
    }

    base::Result<BackupReport> run(const catalog::Catalog& catalog) {
        WHEELYARD_ASSIGN(report_.serial, catalog.last_serial());
        std::string last;
        while (true) {
            WHEELYARD_ASSIGN(const auto rows, catalog.blobs_after(last, rows_at_once));
            for (const auto& row : rows) {
                last = row.sha256;
                if (row.referenced) WHEELYARD_TRY(take(row));
            }
            if (rows.size() < rows_at_once) break;
        }
        WHEELYARD_TRY(to_.sync_links());
        return std::move(report_);
    }

  private:
    base::Status take(const catalog::BlobRow& row) {
        if (progress_) progress_(report_);
        ++report_.blobs;
        const auto there = to_.size_of(row.sha256);
        if (there == row.size_bytes) return {};
        const bool is_linked = transfer_ == BlobTransfer::link && !there && to_.link(from_, row.sha256);
        if (auto copied = is_linked ? base::Status() : copy_blob(from_, reads_, to_, row.sha256); !copied) {
            if (copied.error().kind != base::ErrorKind::malformed) return copied;
            report_.damaged.push_back(row.sha256);
            return {};
        }
        ++report_.copied_blobs;
        report_.copied_bytes += row.size_bytes;
        return {};
    }

    const blobs::BlobStore& from_;
    const base::FileUser reads_;
    blobs::SavedBlobs& to_;
    const BlobTransfer transfer_;
    const BackupProgress& progress_;
    BackupReport report_;
};

base::Status write_manifest(const fs::path& to, const BackupReport& report, const base::Clock& clock) {
    return base::replace_file(to / "backup.json",
                              io::Json::object({{"format", "wheelyard.backup/1"},
                                                {"serial", report.serial},
                                                {"time", clock.now()},
                                                {"blobs", report.blobs},
                                                {"lacks", io::Json::array_of(report.damaged)}})
                                      .render() +
                                  "\n");
}

// Says whether the live catalog no longer has a file with one of these blobs.
base::Result<bool> refers_to_evicted(const catalog::Catalog& live, const std::vector<std::string>& blobs) {
    const base::ActingAs owner(base::FileUser::owner);
    for (const std::string& sha256 : blobs) {
        WHEELYARD_ASSIGN(const auto files, live.files_of_blob(sha256));
        if (files.empty()) return true;
    }
    return false;
}

}  // namespace

base::Result<BackupReport> back_up(const database::Place& store, const blobs::BlobStore& blobs,
                                   const fs::path& to, BlobTransfer transfer, const base::Clock& clock,
                                   const BackupProgress& progress, const BackupStep& before_catalog) {
    const database::Store live_store(store);
    const database::Store backup(to);
    WHEELYARD_ASSIGN(const auto live, live_store.reader());
    const base::ActingAs caller(base::FileUser::caller);
    WHEELYARD_ASSIGN(auto saved, blobs::SavedBlobs::open(to));
    std::error_code unknown;
    if (fs::equivalent(store.folder, to, unknown))
        return base::fail("backup.same_folder",
                          "A backup cannot be written to the registry's own data folder", to.string(),
                          "name another folder, if possible on another disk");
    BackupReport report;
    for (int tries = 1;; ++tries) {
        WHEELYARD_ASSIGN(const auto copy, backup.make_copy_of(live_store));
        WHEELYARD_ASSIGN(
            report, BlobCopy(blobs, base::FileUser::owner, saved, transfer, progress, report).run(*copy));
        WHEELYARD_ASSIGN(const bool is_outdated, refers_to_evicted(*live, report.damaged));
        if (!is_outdated || tries == max_backup_tries) break;
    }
    if (before_catalog) WHEELYARD_TRY(before_catalog());
    WHEELYARD_TRY(backup.keep_copy());
    WHEELYARD_TRY(write_manifest(to, report, clock));
    return report;
}

base::Status note_backup(const fs::path& data, base::UnixMicros time) {
    return base::replace_file(
        data / last_backup_file,
        io::Json::object({{"format", last_backup_format}, {"time", time}}).render() + "\n",
        base::private_file_mode);
}

base::Result<BackupReport> restore(const fs::path& from, const database::Place& store,
                                   const BackupProgress& progress, const BackupStep& before_catalog) {
    const database::Store restored(store);
    // Files beside a lost catalog belong to other serials: its old log would be replayed onto the restored
    // one, and the old trees would count as newer than it.
    WHEELYARD_TRY(restored.check_empty());
    for (const fs::path& part : {store.folder / "public", store.folder / "private"}) {
        std::error_code ignored;
        if (fs::exists(part, ignored))
            return base::fail("backup.store_there", "This folder contains a registry or parts of one",
                              part.string(),
                              "restore into a new folder, and name that one in the configuration");
    }
    WHEELYARD_ASSIGN(auto blobs, blobs::SavedBlobs::open(store.folder));
    BackupReport report;
    {
        WHEELYARD_ASSIGN(const auto saved, restored.restore_copy_of(database::Store(from)));
        WHEELYARD_ASSIGN(const auto of_backup, blobs::read_blob_store(from));
        WHEELYARD_ASSIGN(
            report,
            BlobCopy(*of_backup, base::FileUser::caller, blobs, BlobTransfer::copy, progress).run(*saved));
    }
    if (before_catalog) WHEELYARD_TRY(before_catalog());
    // The catalog comes last: a partly restored store has none, so nothing serves it.
    WHEELYARD_TRY(restored.keep_copy());
    return report;
}

}  // namespace wheelyard::lifecycle
