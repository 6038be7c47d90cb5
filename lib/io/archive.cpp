// Unpacks archives with libarchive. Every name is checked lexically here and again by libarchive against the
// disk (no writes through links).
#include "lib/io/archive.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include "lib/base/text/text.hpp"
#include "lib/io/archive_entry.hpp"

namespace wheelyard::io {
namespace fs = std::filesystem;
using base::fail;
using base::Result;
using base::Status;

namespace {

tl::unexpected<base::Error> fail_broken(archive* reader, const fs::path& path) {
    const char* why = archive_error_string(reader);
    return base::fail_malformed("archive.broken",
                                std::string("this archive is malformed: ") + (why ? why : "unknown reason"),
                                path.native());
}

tl::unexpected<base::Error> fail_unsafe(std::string_view name, const char* why) {
    return fail("archive.unsafe", std::string("An entry of this archive ") + why,
                std::string(name.substr(0, 200)));
}

// Errors that the entries themselves cause: one takes the place of another, or its name cannot exist. Another
// try would end the same way.
constexpr std::array errors_of_entries = {EEXIST, EILSEQ, EINVAL, EISDIR, EMLINK, ENOTDIR, ENOTEMPTY};

class Unpacking {
  public:
    Unpacking(archive* reader, fs::path into, const UnpackLimits& limits, const base::KeepAlive& keep_alive)
        : reader_(reader),
          into_(std::move(into)),
          limits_(limits),
          keep_alive_(keep_alive),
          writer_(archive_write_disk_new()) {
        archive_write_disk_set_options(writer_.get(), ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS |
                                                          ARCHIVE_EXTRACT_SECURE_NODOTDOT);
    }

    Result<std::vector<std::string>> run(const fs::path& path) {
        for (;;) {
            archive_entry* entry = nullptr;
            const int state = archive_read_next_header(reader_, &entry);
            if (state == ARCHIVE_EOF) break;
            if (state != ARCHIVE_OK && state != ARCHIVE_WARN) return fail_broken(reader_, path);
            if (++entries_ > limits_.entries) {
                return fail("archive.too_large",
                            "This archive has more than " + std::to_string(limits_.entries) + " entries",
                            path.native());
            }
            WHEELYARD_TRY(pause(path));
            WHEELYARD_TRY(take(entry, path));
        }
        // Closing applies the folders' times and modes.
        if (archive_write_close(writer_.get()) != ARCHIVE_OK) return fail_write(path.native());
        return std::vector<std::string>(tops_.begin(), tops_.end());
    }

  private:
    Status take(archive_entry* entry, const fs::path& path) {
        const std::string name(name_of(entry));
        const auto parts = safe_parts(name);
        if (name.empty())
            return base::fail_malformed("archive.broken", "An entry of this archive has no readable name",
                                        path.native());
        if (name.size() > limits_.name_bytes) return fail_unsafe(name, "has a name that is too long");
        if (!parts) return fail_unsafe(name, "has an absolute name or a `..` in it");
        if (parts->empty()) return {};  // the folder itself
        fs::path target = into_;
        for (const auto part : *parts)
            target /= part;
        archive_entry_set_pathname(entry, target.c_str());
        WHEELYARD_TRY(check_kind(entry, name, parts->size() - 1));
        WHEELYARD_TRY(check_size(entry, path));
        tops_.emplace(parts->front());
        if (archive_write_header(writer_.get(), entry) < ARCHIVE_WARN) return fail_write(name);
        WHEELYARD_TRY(copy_data(path, name));
        if (archive_write_finish_entry(writer_.get()) < ARCHIVE_WARN) return fail_write(name);
        return {};
    }

    Status check_kind(archive_entry* entry, const std::string& name, std::size_t depth) const {
        const bool is_hardlink = !hardlink_of(entry).empty();
        const auto kind = archive_entry_filetype(entry);
        if (is_hardlink) {
            const auto other = safe_parts(hardlink_of(entry));
            if (!other || other->empty()) return fail_unsafe(name, "is a link that leaves the folder");
            const auto target = unpacked_file(*other);
            if (!target) return fail_unsafe(name, "is a hard link to what is not a file of this archive");
            archive_entry_set_hardlink(entry, target->c_str());
        } else if (kind == AE_IFLNK) {
            const std::string target(symlink_of(entry));
            if (!stays_inside(target, depth)) return fail_unsafe(name, "is a link that leaves the folder");
            archive_entry_set_symlink(entry, target.c_str());
        } else if (kind != AE_IFREG && kind != AE_IFDIR) {
            return fail_unsafe(name, "is neither file, folder nor link");
        }
        // Drop setuid, setgid and sticky bits, and make sure that the owner can read and remove the entry.
        const auto required = kind == AE_IFDIR ? 0700 : 0600;
        if (!is_hardlink)
            archive_entry_set_perm(entry, (archive_entry_perm(entry) & 0777) | static_cast<mode_t>(required));
        return {};
    }

    // A sparse file has its whole size on the disk after a copy, however little the archive holds of it.
    Status check_size(archive_entry* entry, const fs::path& path) {
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_size_is_set(entry) == 0) return {};
        const auto size = static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_entry_size(entry)));
        if (size > limits_.total_bytes - sizes_) return fail_too_large(path);
        sizes_ += size;
        return {};
    }

    [[nodiscard]] tl::unexpected<base::Error> fail_too_large(const fs::path& path) const {
        return fail("archive.too_large",
                    "This archive unpacks to more than " + base::render_bytes(limits_.total_bytes),
                    path.native());
    }

    // The regular file of this name that an earlier entry has made; nullopt if there is none. A hard link to
    // a symbolic link would move that link to another depth, where its target may be outside.
    [[nodiscard]] std::optional<fs::path> unpacked_file(const std::vector<std::string_view>& parts) const {
        fs::path target = into_;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            target /= parts[i];
            struct stat status {};
            if (::lstat(target.c_str(), &status) != 0) return std::nullopt;
            const bool is_last = i + 1 == parts.size();
            if (is_last ? !S_ISREG(status.st_mode) : !S_ISDIR(status.st_mode)) return std::nullopt;
        }
        return target;
    }

    Status copy_data(const fs::path& path, const std::string& name) {
        for (;;) {
            const void* bytes = nullptr;
            std::size_t length = 0;
            la_int64_t offset = 0;
            const int state = archive_read_data_block(reader_, &bytes, &length, &offset);
            if (state == ARCHIVE_EOF) return {};
            if (state != ARCHIVE_OK && state != ARCHIVE_WARN) return fail_broken(reader_, path);
            bytes_ += length;
            // A sparse file may name an offset far beyond the data in the archive.
            if (bytes_ > limits_.total_bytes || static_cast<std::uint64_t>(offset) > limits_.total_bytes)
                return fail_too_large(path);
            if (archive_write_data_block(writer_.get(), bytes, length, offset) < ARCHIVE_WARN)
                return fail_write(name);
            WHEELYARD_TRY(pause(path));
        }
    }

    // Between two pieces of work.
    Status pause(const fs::path& path) {
        const auto passed = std::chrono::steady_clock::now() - began_;
        if (passed >= std::chrono::milliseconds(limits_.time_ms)) {
            return fail("archive.too_slow",
                        "This archive is not unpacked within " + base::render_duration_ms(limits_.time_ms),
                        path.native());
        }
        return base::renew_or_abort(keep_alive_);
    }

    // libarchive's own checks fail without an errno.
    tl::unexpected<base::Error> fail_write(const std::string& name) {
        const int number = archive_errno(writer_.get());
        const char* why = archive_error_string(writer_.get());
        if (number > 0) {
            auto failed = base::fail_errno("unpacking", name, number);
            if (std::find(errors_of_entries.begin(), errors_of_entries.end(), number) !=
                errors_of_entries.end())
                failed.value().recovery = base::Recovery::never;
            return failed;
        }
        return fail("archive.unsafe",
                    std::string("an entry cannot be unpacked: ") + (why ? why : "unknown reason"), name);
    }

    archive* reader_;
    fs::path into_;
    const UnpackLimits& limits_;
    const base::KeepAlive& keep_alive_;
    Archive writer_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::uint64_t entries_ = 0, bytes_ = 0, sizes_ = 0;
    std::set<std::string> tops_;
};

}  // namespace

Result<std::vector<std::string>> unpack(const fs::path& archive, const fs::path& into,
                                        const UnpackLimits& limits, const base::KeepAlive& keep_alive) {
    // Resolve links in the target folder's own path; libarchive's check against links in entries would reject
    // them.
    std::error_code error;
    const auto real = fs::canonical(into, error);
    if (error) return base::fail_errno("resolving the folder", into.native(), error.value());
    const Utf8Locale locale;
    const Archive reader(archive_read_new());
    archive_read_support_format_tar(reader.get());
    archive_read_support_format_zip(reader.get());
    archive_read_support_filter_gzip(reader.get());
    archive_read_support_filter_xz(reader.get());
    archive_read_support_filter_bzip2(reader.get());
    archive_read_support_filter_zstd(reader.get());
    constexpr std::size_t block_bytes = 64 << 10;
    if (archive_read_open_filename(reader.get(), archive.c_str(), block_bytes) != ARCHIVE_OK) {
        return fail_broken(reader.get(), archive);
    }
    return Unpacking(reader.get(), real, limits, keep_alive).run(archive);
}

}  // namespace wheelyard::io
