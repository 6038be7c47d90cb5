#include "registry/upstream/file_fetch.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/limits.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/validation.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

tl::unexpected<base::Error> refused(wire::Refusal row, std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                         {std::string(row.code()), std::move(sentence), std::move(value), {}});
}

tl::unexpected<base::Error> other_bytes(wire::Refusal row, std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                         {std::string(row.code()), std::move(sentence), std::move(value), {}});
}

// A broken connection or a pause of the upstream; what is wrong with the file stays wrong.
bool may_try_again(const base::Error& error) {
    return error.kind == base::ErrorKind::cut || error.kind == base::ErrorKind::unreachable;
}

struct Download {
    blobs::StagedBlob staged;
    std::uint64_t announced_bytes = 0;  // the size that readers may be promised; 0: they wait for the end
    http::SharedArrivingFile arriving = nullptr;
};

// Readers get Content-Length before the first byte. If the page does not give the size, the answer to a request for one
// byte does: "Content-Range: bytes 0-0/1234".
std::uint64_t announced_size(const FileFetchParts& parts, UpstreamClient& client,
                             const simple::FileLink& link) {
    if (!parts.arrives) return 0;
    if (link.size) return *link.size;
    constexpr std::string_view first_byte = "bytes 0-0/";
    const auto answer = client.get(link.url, {{"Range", "bytes=0-0"}}, 1);
    if (!answer || !answer->header("content-range").starts_with(first_byte)) return 0;
    return base::parse_decimal(answer->header("content-range").substr(first_byte.size())).value_or(0);
}

base::Status show_arriving(const FileFetchParts& parts, Download& download) {
    if (!download.arriving) {
        if (download.announced_bytes < http::min_arriving_bytes) return {};
        WHEELYARD_ASSIGN(base::Fd file, download.staged.open());
        download.arriving = std::make_shared<http::ArrivingFile>(std::move(file), download.announced_bytes);
        parts.arrives(download.arriving);
    }
    download.arriving->note_written(download.staged.size());
    return {};
}

// One try. Those before it may have left the file's beginning in `into`: the bytes up to there are not taken again, and
// the hash of the whole shows whether both belong together.
base::Status download(const FileFetchParts& parts, UpstreamClient& client, const simple::FileLink& link,
                      std::uint64_t limit_bytes, Download& into) {
    WHEELYARD_TRY(parts.config.room().check(link.size.value_or(0)));
    blobs::StagedBlob& staged = into.staged;
    std::uint64_t known = staged.size();
    std::uint64_t checked = staged.size();
    const auto take = [&](std::string_view bytes) -> base::Status {
        const std::uint64_t passed_over = std::min<std::uint64_t>(known, bytes.size());
        known -= passed_over;
        bytes.remove_prefix(static_cast<std::size_t>(passed_over));
        if (bytes.empty()) return {};
        if (staged.size() - checked >= room_check_bytes) {
            checked = staged.size();
            WHEELYARD_TRY(parts.config.room().check(0));
        }
        WHEELYARD_TRY(staged.write(bytes));
        return show_arriving(parts, into);
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
    return {};
}

base::Result<blobs::StagedBlob> download_patiently(const FileFetchParts& parts, UpstreamClient& client,
                                                   const simple::FileLink& link, std::uint64_t limit_bytes) {
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, parts.blobs.stage());
    Download into{std::move(staged), announced_size(parts, client, link)};
    for (int tries = 1;; ++tries) {
        auto done = download(parts, client, link, limit_bytes, into);
        if (done) return std::move(into.staged);
        if (tries == max_tries || !may_try_again(done.error())) return base::fail(std::move(done.error()));
    }
}

base::Result<inspect::Inspection> inspect_bytes(const FileFetchParts& parts, const blobs::StagedBlob& staged,
                                                const inspect::Policy& policy, const std::string& filename) {
    WHEELYARD_ASSIGN(const auto reader, staged.read());
    WHEELYARD_ASSIGN(
        inspect::Inspection inspection,
        inspect::inspect_file(reader, filename,
                              {.policy = policy, .threads = parts.inspect_threads, .progress = {}}));
    if (const auto good = check_inspection(inspection); !good)
        return refused("upstream.refused", good.error().detail, good.error().code);
    return inspection;
}

}  // namespace

base::Status check_bytes(blobs::StagedBlob& staged, const simple::FileLink& link) {
    if (link.size && staged.size() != *link.size)
        return other_bytes("upstream.size", "The upstream sent another number of bytes than its page gives",
                           std::to_string(staged.size()));
    if (staged.finish() != link.sha256)
        return other_bytes("upstream.hash", "The upstream sent bytes with another hash than its page gives",
                           staged.finish());
    return {};
}

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
    WHEELYARD_ASSIGN(const inspect::Inspection inspection,
                     inspect_bytes(parts, staged, upstream.policy, link.filename));
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
    return FetchedFile{added.serial, size_bytes, row.state_reason};
}

}  // namespace wheelyard::registry
