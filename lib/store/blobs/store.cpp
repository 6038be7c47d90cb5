#include "lib/store/blobs/store.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "lib/store/blobs/s3/s3_blobs.hpp"

namespace wheelyard::blobs {

base::Result<std::string> BlobStore::store_bytes(std::string_view bytes) const {
    WHEELYARD_ASSIGN(StagedBlob staged, stage());
    WHEELYARD_TRY(staged.write(bytes));
    return store(std::move(staged));
}

base::Result<std::string> BlobStore::read_bytes(std::string_view sha256, std::uint64_t limit_bytes) const {
    WHEELYARD_ASSIGN(const auto reader, open(sha256, ReadFrom::cache));
    if (reader->size() > limit_bytes)
        return base::fail("file.too_large",
                          "The file has more than " + std::to_string(limit_bytes) + " bytes",
                          std::string(sha256));
    std::string bytes(static_cast<std::size_t>(reader->size()), '\0');
    WHEELYARD_TRY(reader->read_at(0, bytes.data(), bytes.size()));
    return bytes;
}

bool BlobStore::contains(std::string_view sha256) const {
    const auto found = find(sha256);
    return found && found->has_value();
}

bool BlobStore::is_intact(std::string_view sha256) const {
    const auto reader = open(sha256, ReadFrom::medium);
    if (!reader) return false;
    base::Digest digest(base::DigestKind::sha256);
    const auto read = base::for_each_piece(**reader, base::mib, [&](std::string_view piece) -> base::Status {
        digest.update(piece);
        return {};
    });
    return read && base::encode_hex(digest.finish()) == sha256;
}

base::Result<bool> BlobStore::has_changed(const StoredBlob& blob) const {
    WHEELYARD_ASSIGN(const auto now, find(blob.sha256));
    return !now || now->stored != blob.stored;
}

std::optional<std::string> BlobStore::url_for(std::string_view, std::string_view) const {
    return std::nullopt;
}

base::Status BlobStore::stream(std::string_view sha256, std::uint64_t offset, std::uint64_t length,
                               const TakeBytes& take) const {
    WHEELYARD_ASSIGN(const auto reader, open(sha256, ReadFrom::cache));
    std::string piece;
    while (length > 0) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(length, base::mib)));
        WHEELYARD_TRY(reader->read_at(offset, piece.data(), piece.size()));
        WHEELYARD_TRY(take(piece));
        offset += piece.size();
        length -= piece.size();
    }
    return {};
}

base::Result<std::unique_ptr<BlobStore>> open_blob_store(const Place& place) {
    if (!place.url.empty()) return S3Blobs::open(place);
    WHEELYARD_ASSIGN(FolderBlobs opened, FolderBlobs::open(place.folder));
    return std::make_unique<FolderBlobs>(std::move(opened));
}

base::Result<std::unique_ptr<BlobStore>> read_blob_store(const Place& place) {
    if (!place.url.empty()) return S3Blobs::read(place);
    return std::make_unique<FolderBlobs>(FolderBlobs::read(place.folder));
}

}  // namespace wheelyard::blobs
