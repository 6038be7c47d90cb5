#include "registry/upstream/file_fetch.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/inspect/inspect.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/validation.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

tl::unexpected<base::Error> refused(std::string code, std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                         {std::move(code), std::move(sentence), std::move(value), {}});
}

tl::unexpected<base::Error> other_bytes(std::string code, std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                         {std::move(code), std::move(sentence), std::move(value), {}});
}

// A broken connection or a pause of the upstream; what is wrong with the file stays wrong.
bool may_try_again(const base::Error& error) {
    return error.kind == base::ErrorKind::cut || error.kind == base::ErrorKind::unreachable;
}

base::Result<blobs::StagedBlob> download(const FileFetchParts& parts, UpstreamClient& client,
                                         const simple::FileLink& link, std::uint64_t limit_bytes) {
    WHEELYARD_TRY(parts.config.room().check(link.size.value_or(0)));
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, parts.blobs.stage());
    std::uint64_t checked = 0;
    const auto take = [&](std::string_view bytes) -> base::Status {
        if (staged.size() - checked >= room_check_bytes) {
            checked = staged.size();
            WHEELYARD_TRY(parts.config.room().check(0));
        }
        return staged.write(bytes);
    };
    const auto answer = client.fetch(link.url, limit_bytes, take);
    if (!answer && answer.error().kind == base::ErrorKind::too_large && link.size)
        return other_bytes("upstream.size", "The upstream sent more bytes than its page gives",
                           link.filename);
    if (!answer) return base::fail(answer.error());
    if (answer->status != status_ok)
        return io::fail_status(
            answer->status,
            {"upstream.status", "The upstream answered with status " + std::to_string(answer->status),
             link.filename});
    return staged;
}

base::Result<blobs::StagedBlob> download_patiently(const FileFetchParts& parts, UpstreamClient& client,
                                                   const simple::FileLink& link, std::uint64_t limit_bytes) {
    for (int tries = 1;; ++tries) {
        auto staged = download(parts, client, link, limit_bytes);
        if (staged || tries == max_tries || !may_try_again(staged.error())) return staged;
    }
}

// Bytes that are not those of the page are discarded here.
base::Status check_bytes(blobs::StagedBlob& staged, const simple::FileLink& link) {
    if (link.size && staged.size() != *link.size)
        return other_bytes("upstream.size", "The upstream sent another number of bytes than its page gives",
                           std::to_string(staged.size()));
    if (staged.finish() != link.sha256)
        return other_bytes("upstream.hash", "The upstream sent bytes with another hash than its page gives",
                           staged.finish());
    return {};
}

// Files of others: what pip installs is taken, with warnings.
base::Result<inspect::Inspection> inspect_bytes(const FileFetchParts& parts, const blobs::StagedBlob& staged,
                                                const std::string& filename) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(staged.path()));
    WHEELYARD_ASSIGN(inspect::Inspection inspection,
                     inspect::inspect_file(reader, filename,
                                           {.policy = inspect::make_preset("mirror").value(),
                                            .threads = parts.inspect_threads,
                                            .progress = {}}));
    if (const auto good = check_inspection(inspection); !good)
        return refused("upstream.refused", good.error().detail, good.error().code);
    return inspection;
}

}  // namespace

base::Result<FetchedFile> fetch_file(const FileFetchParts& parts, UpstreamClient& client,
                                     const IndexConfig& index, const UpstreamConfig& upstream,
                                     const UpstreamFile& file) {
    const simple::FileLink& link = file.link;
    const std::uint64_t limit_bytes =
        std::min(index.max_file_bytes, link.size.value_or(index.max_file_bytes));
    if (link.size.value_or(0) > index.max_file_bytes)
        return base::fail_as(base::ErrorKind::too_large, base::Recovery::person,
                             {"upstream.too_large",
                              "The file is larger than max_file_mib of the index",
                              std::to_string(*link.size),
                              {}});
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, download_patiently(parts, client, link, limit_bytes));
    WHEELYARD_TRY(check_bytes(staged, link));
    WHEELYARD_ASSIGN(const inspect::Inspection inspection, inspect_bytes(parts, staged, link.filename));
    const std::uint64_t size_bytes = staged.size();
    WHEELYARD_ASSIGN(const std::string metadata, parts.blobs.store_bytes(inspection.metadata_bytes));
    WHEELYARD_ASSIGN(const std::string stored, parts.blobs.store(std::move(staged)));
    catalog::FileRow row = stored_row({.index = upstream.cache_index,
                                       .filename = link.filename,
                                       .sha256 = stored,
                                       .size_bytes = size_bytes,
                                       .metadata_sha256 = metadata,
                                       .uploaded_by = "upstream:" + upstream.name},
                                      inspection);
    row.yanked = link.yanked;
    row.yanked_reason = link.yanked_reason;
    WHEELYARD_ASSIGN(const catalog::Added added, parts.writer.add_file(row));
    if (const auto refusal = refusal_of(added, row))
        return refused("upstream.refused", refusal->detail, refusal->code);
    return FetchedFile{added.serial, size_bytes};
}

}  // namespace wheelyard::registry
