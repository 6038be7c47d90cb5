// Each file is fetched into the tree's state folder, verified there, and then linked into its place.
#include "indexer/follow/followed_files.hpp"

#include <algorithm>
#include <utility>

#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::indexer {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t max_followed_file_bytes = 64 * base::gib;

tl::unexpected<base::Error> wrong_size(const std::string& path, std::uint64_t size_bytes) {
    return base::fail_malformed("follow.wrong_size", "A fetched file does not have the size on its page",
                                path,
                                "it has " + std::to_string(size_bytes) + " bytes; repair the followed tree");
}

bool has_hash(const fs::path& file, const std::string& sha256) {
    const auto found = base::sha256_hex_of_file(file);
    return found && *found == sha256;
}

}  // namespace

base::Status FollowedFiles::fetch(const FollowedPage& page) {
    for (const auto& promised : page.files) {
        const fs::path folder = file_folder(tree_, index_, promised.file.sha256);
        const std::string below = followed_path(promised.file);
        bool changed = false;
        WHEELYARD_TRY(fetch_file(folder / promised.file.filename, below, promised.file.sha256,
                                 promised.size_bytes, changed));
        for (const auto& [suffix, sha256] : {std::pair(metadata_suffix, &promised.metadata_sha256),
                                             std::pair(provenance_suffix, &promised.provenance_sha256),
                                             std::pair(attestations_suffix, &promised.attestations_sha256)}) {
            if (sha256->empty()) continue;
            WHEELYARD_TRY(fetch_file(folder / (promised.file.filename + std::string(suffix)),
                                     below + std::string(suffix), *sha256, 0, changed));
        }
        if (changed) WHEELYARD_TRY(disk_.sync_directory(folder));
        if (find_links_) WHEELYARD_TRY(show_flat(promised.file));
    }
    return {};
}

base::Status FollowedFiles::fetch_variants(const std::string& project, const FollowedPage& page) {
    const fs::path folder = project_folder(tree_, index_, project);
    for (const catalog::VariantsFile& file : page.view.variants) {
        const fs::path place = folder / file.sha256;
        const std::string path = followed_path(project, file);
        bool changed = false;
        WHEELYARD_TRY(fetch_file(place / file.filename, path, file.sha256, 0, changed));
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(place / file.filename));
        if (size != file.size_bytes) return wrong_size(path, size.value_or(0));
        WHEELYARD_TRY(disk_.sync_directory(place));
    }
    return {};
}

base::Status FollowedFiles::fetch_file(const fs::path& file, const std::string& path,
                                       const std::string& sha256, std::uint64_t size_bytes, bool& changed) {
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
    const bool is_beside = size_bytes == 0;
    if (size && (is_beside ? has_hash(file, sha256) : *size == size_bytes)) return {};
    WHEELYARD_TRY(keep_alive_());
    WHEELYARD_TRY(disk_.make_directories(file.parent_path()));
    WHEELYARD_TRY(disk_.remove_leftovers(file.parent_path()));
    const fs::path temp = state_folder(tree_) / (".tmp." + base::encode_hex(base::random_bytes(8)));
    const std::uint64_t limit =
        is_beside ? max_followed_metadata_bytes : std::min(size_bytes, max_followed_file_bytes);
    const auto size_fetched = source_.fetch(path, temp, sha256, limit);
    auto fetched = size_fetched ? base::Status{} : base::Status(base::fail(size_fetched.error()));
    if (fetched && !is_beside && *size_fetched != size_bytes) fetched = wrong_size(path, *size_fetched);
    if (fetched) fetched = disk_.link_or_copy(temp, file, sha256, keep_alive_);
    const auto removed = disk_.remove(temp);
    WHEELYARD_TRY(fetched);
    WHEELYARD_TRY(removed);
    bytes_fetched_ += *size_fetched;
    if (!is_beside) ++fetched_;
    changed = true;
    return {};
}

base::Status FollowedFiles::show_flat(const TreeFile& file) {
    const fs::path folder = flat_folder(tree_, index_);
    WHEELYARD_TRY(disk_.make_directories(folder));
    WHEELYARD_ASSIGN(const bool changed,
                     disk_.symlink(folder / file.filename, flat_target(file.sha256, file.filename)));
    flat_changed_ = flat_changed_ || changed;
    return {};
}

base::Status FollowedFiles::sync_flat() {
    if (!std::exchange(flat_changed_, false)) return {};
    return disk_.sync_directory(flat_folder(tree_, index_));
}

void FollowedFiles::read_metadata_names(FollowedPage& page) const {
    for (catalog::FileRow& row : page.view.files) {
        const fs::path folder = file_folder(tree_, index_, row.sha256);
        const auto text = base::read_file(folder / (row.filename + std::string(metadata_suffix)),
                                          max_followed_metadata_bytes);
        const auto headers = text ? wheel::parse_headers(*text) : base::fail(text.error());
        const std::string* name = headers ? headers->first("Name") : nullptr;
        if (name != nullptr) row.metadata_name = *name;
    }
}

base::Status FollowedFiles::remove(const TreeFile& gone, bool keeps_name) {
    const fs::path folder = file_folder(tree_, index_, gone.sha256);
    if (!keeps_name) WHEELYARD_TRY(disk_.remove(flat_folder(tree_, index_) / gone.filename));
    WHEELYARD_TRY(disk_.remove(folder / gone.filename));
    for (const std::string_view suffix : {metadata_suffix, provenance_suffix, attestations_suffix})
        WHEELYARD_TRY(disk_.remove(folder / (gone.filename + std::string(suffix))));
    WHEELYARD_TRY(disk_.remove(folder));
    ++removed_;
    return {};
}

}  // namespace wheelyard::indexer
