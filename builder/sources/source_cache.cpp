// Lists the cache's entries, measures each once, and chooses which to evict.
#include "builder/sources/source_cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
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

}  // namespace wheelyard::builder
