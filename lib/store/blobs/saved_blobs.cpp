#include "lib/store/blobs/saved_blobs.hpp"

#include <fcntl.h>

#include "lib/base/files/file.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"

namespace wheelyard::blobs {

namespace fs = std::filesystem;

base::Result<SavedBlobs> SavedBlobs::open(const fs::path& folder) {
    WHEELYARD_TRY(base::make_directories(fs::absolute(folder)));
    WHEELYARD_TRY(base::make_private_directories(root_of(fs::absolute(folder)).parent_path()));
    return SavedBlobs(folder);
}

std::optional<std::uint64_t> SavedBlobs::size_of(std::string_view sha256) const {
    const auto size = base::file_size(file_of(folder_, sha256));
    return size ? std::optional(*size) : std::nullopt;
}

base::Result<base::FileReplacement> SavedBlobs::begin(std::string_view sha256) const {
    const fs::path file = file_of(folder_, sha256);
    WHEELYARD_TRY(base::make_directories(file.parent_path()));
    return base::FileReplacement::begin(file, stored_mode);
}

bool SavedBlobs::link(const BlobStore& from, std::string_view sha256) {
    const fs::path file = file_of(folder_, sha256);
    if (!base::make_directories(file.parent_path())) return false;
    if (!from.link_into(sha256, AT_FDCWD, file.c_str())) return false;
    linked_in_.insert(file.parent_path());
    return true;
}

base::Status SavedBlobs::sync_links() {
    for (const fs::path& folder : linked_in_)
        WHEELYARD_TRY(base::fsync_directory(folder));
    linked_in_.clear();
    return {};
}

}  // namespace wheelyard::blobs
