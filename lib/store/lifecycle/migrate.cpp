#include "lib/store/lifecycle/migrate.hpp"

#include <cerrno>
#include <utility>

#include "lib/store/lifecycle/verify.hpp"

namespace wheelyard::lifecycle {
namespace {

constexpr int max_passes = 5;  // while uploads go on

class Migration {
  public:
    Migration(const blobs::BlobStore& from, const blobs::BlobStore& to, const MigrationProgress& progress)
        : from_(from), to_(to), progress_(progress) {}

    base::Result<MigrationReport> run(const catalog::Catalog& catalog) {
        for (int pass = 1;; ++pass) {
            WHEELYARD_ASSIGN(const catalog::Serial before, catalog.last_serial());
            WHEELYARD_TRY(pass_over(catalog));
            WHEELYARD_ASSIGN(const catalog::Serial after, catalog.last_serial());
            if (before == after || pass == max_passes) return std::move(report_);
        }
    }

  private:
    base::Status pass_over(const catalog::Catalog& catalog) {
        report_.blobs = 0;
        report_.bytes = 0;
        report_.damaged.clear();
        std::string last;
        for (;;) {
            WHEELYARD_ASSIGN(const auto rows, catalog.blobs_after(last, rows_at_once));
            for (const auto& row : rows) {
                last = row.sha256;
                if (row.referenced) WHEELYARD_TRY(take(row));
            }
            if (rows.size() < rows_at_once) return {};
        }
    }

    base::Status take(const catalog::BlobRow& row) {
        if (progress_) progress_(report_);
        ++report_.blobs;
        report_.bytes += row.size_bytes;
        WHEELYARD_ASSIGN(const auto there, to_.find(row.sha256));
        if (there && there->size_bytes == row.size_bytes) return {};
        WHEELYARD_ASSIGN(const auto here, from_.find(row.sha256));
        if (!here || here->size_bytes != row.size_bytes) return note_damage(row.sha256);
        WHEELYARD_ASSIGN(blobs::StagedBlob staged, to_.stage());
        base::Status written;
        const auto read = from_.stream(row.sha256, 0, row.size_bytes,
                                       [&](std::string_view bytes) { return written = staged.write(bytes); });
        if (!written) return written;
        const bool is_lost = !read && (read.error().os_error == ENOENT || read.error().os_error == EIO);
        if (!read && !is_lost) return read;
        if (is_lost || staged.finish() != row.sha256) return note_damage(row.sha256);
        WHEELYARD_TRY(to_.store(std::move(staged)));
        ++report_.copied_blobs;
        report_.copied_bytes += row.size_bytes;
        return {};
    }

    base::Status note_damage(const std::string& sha256) {
        report_.damaged.push_back(sha256);
        return {};
    }

    const blobs::BlobStore& from_;
    const blobs::BlobStore& to_;
    const MigrationProgress& progress_;
    MigrationReport report_;
};

}  // namespace

base::Result<MigrationReport> migrate(const catalog::Catalog& catalog, const blobs::BlobStore& from,
                                      const blobs::BlobStore& to, const MigrationProgress& progress) {
    return Migration(from, to, progress).run(catalog);
}

}  // namespace wheelyard::lifecycle
