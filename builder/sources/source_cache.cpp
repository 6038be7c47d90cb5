// Lists the cache's entries, measures each once, and chooses which to evict.
#include "builder/sources/source_cache.hpp"

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

constexpr std::int64_t cache_rest_ms = 60 * 60'000;  // a source used more recently is not removed

}  // namespace

namespace fs = std::filesystem;

std::uint64_t bytes_below(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code failed;
        if (at->is_symlink(failed) || !at->is_regular_file(failed)) continue;
        const auto size = at->file_size(failed);
        if (!failed) bytes += size;
    }
    return bytes;
}

namespace {

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.is_directory(error) && !entry.is_symlink(error)) found.push_back(entry.path());
    }
    return found;
}

// A clone has tens of thousands of files, so it is measured once, when it is complete.
std::uint64_t bytes_of_clone(const fs::path& folder) {
    const fs::path kept = folder / "bytes";
    if (const auto text = base::read_untrusted_file(kept, max_record_bytes)) {
        if (const auto bytes = base::parse_decimal(base::trim(*text))) return *bytes;
    }
    const std::uint64_t bytes = bytes_below(folder);
    std::error_code error;
    const auto used = fs::last_write_time(folder, error);
    static_cast<void>(
        base::replace_file(kept, std::to_string(bytes) + "\n"));  // if this fails, it is measured again
    fs::last_write_time(folder, used, error);                     // measuring does not count as use
    return bytes;
}

void add_entry(const fs::path& folder, std::uint64_t bytes, std::vector<CacheEntry>& entries) {
    std::error_code error;
    const auto used = fs::last_write_time(folder, error);
    if (!error) entries.push_back({folder, bytes, used});
}

}  // namespace

void mark_used(const fs::path& entry) {
    std::error_code ignored;
    fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
}

std::vector<CacheEntry> list_cache(const fs::path& sources) {
    std::vector<CacheEntry> entries;
    for (const auto& shard : folders_in(sources / "sha256")) {
        for (const auto& folder : folders_in(shard))
            add_entry(folder, bytes_below(folder), entries);
    }
    for (const auto& folder : folders_in(sources / "git")) {
        std::error_code error;
        if (fs::exists(folder / "commit", error)) add_entry(folder, bytes_of_clone(folder), entries);
    }
    return entries;
}

std::vector<CacheEntry> choose_to_remove(std::vector<CacheEntry> entries, std::uint64_t max_bytes,
                                         fs::file_time_type rest_after) {
    std::uint64_t held = 0;
    for (const auto& entry : entries)
        held += entry.bytes;
    std::sort(entries.begin(), entries.end(), [](const CacheEntry& a, const CacheEntry& b) {
        return a.used != b.used ? a.used < b.used : a.folder < b.folder;
    });
    std::vector<CacheEntry> chosen;
    for (auto& entry : entries) {
        if (held <= max_bytes || entry.used > rest_after) break;
        held -= entry.bytes;
        chosen.push_back(std::move(entry));
    }
    return chosen;
}

base::Result<std::vector<CacheEntry>> trim_cache(const fs::path& sources, std::uint64_t max_bytes,
                                                 const base::KeepAlive& keep_alive) {
    const auto rest_after = fs::file_time_type::clock::now() - std::chrono::milliseconds(cache_rest_ms);
    auto chosen = choose_to_remove(list_cache(sources), max_bytes, rest_after);
    for (const auto& entry : chosen) {
        std::error_code ignored;
        // Rename first: a removal that is killed must not leave half a clone under its name.
        const fs::path renamed = sources / ("incoming-old-" + entry.folder.filename().string());
        fs::rename(entry.folder, renamed, ignored);
        WHEELYARD_TRY(free_space(renamed, keep_alive));
    }
    return chosen;
}

namespace {

namespace fs = std::filesystem;

// Errors about the files themselves: their names, kinds and owners.
constexpr std::array<int, 10> lasting = {EACCES, EPERM,  ENOENT, ENOTDIR,      EEXIST,
                                         EINVAL, EISDIR, ELOOP,  ENAMETOOLONG, EFBIG};

base::Status copy_file(const fs::path& from, const fs::path& to, fs::perms mode,
                       const base::KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(from));
    WHEELYARD_ASSIGN(auto file, base::create_new(to, static_cast<mode_t>(mode & fs::perms::all)));
    auto copied = base::for_each_piece(reader, copy_piece_bytes, [&](std::string_view piece) -> base::Status {
        if (auto written = base::write_all(file.get(), piece); !written) {
            written.error().value = to.native();
            return written;
        }
        return base::renew_or_abort(keep_alive);
    });
    if (copied) return base::close_file(std::move(file), to.native());
    base::Error& error = copied.error();
    if (error.value.empty()) error.value = from.native();
    return copied;
}

base::Status copy_entry(const fs::directory_entry& entry, const fs::path& to,
                        const base::KeepAlive& keep_alive) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (fs::is_regular_file(status)) return copy_file(entry.path(), to, status.permissions(), keep_alive);
    if (fs::is_symlink(status)) {
        fs::copy_symlink(entry.path(), to, error);
    } else if (fs::is_directory(status)) {
        fs::create_directory(to, entry.path(), error);
    } else if (!error) {
        return base::fail("file.not_regular", "Not a file, folder or symbolic link", entry.path().native());
    }
    if (error) return base::fail_errno("copy", entry.path().native(), error.value());
    return {};
}

base::Status copy_folder(const fs::path& from, const fs::path& to, const base::KeepAlive& keep_alive) {
    std::error_code error;
    fs::recursive_directory_iterator entry(from, error);
    if (!error) fs::create_directory(to, from, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        WHEELYARD_TRY(base::renew_or_abort(keep_alive));
        WHEELYARD_TRY(copy_entry(*entry, to / entry->path().lexically_relative(from), keep_alive));
    }
    if (error) return base::fail_errno("copy", from.native(), error.value());
    return {};
}

}  // namespace

base::Status copy_source(const fs::path& from, const fs::path& to, const base::KeepAlive& keep_alive) {
    auto copied = copy_folder(from, to, keep_alive);
    if (copied) return {};
    if (copied.error().kind == base::ErrorKind::lost) return copied;  // the lock's error, not the source's
    return base::fail(copy_error(std::move(copied.error())));
}

base::Error copy_error(base::Error refusal) {
    refusal.sentence = "A source cannot be copied: " + refusal.sentence;
    const bool is_lasting =
        !refusal.may_pass() || std::find(lasting.begin(), lasting.end(), refusal.os_error) != lasting.end();
    if (!is_lasting) return refusal;
    refusal.code = "source.unreadable";
    refusal.recovery = base::Recovery::never;
    return refusal;
}

}  // namespace wheelyard::builder
