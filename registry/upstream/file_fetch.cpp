#include "registry/upstream/file_fetch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/limits.hpp"
#include "registry/intake/library_lookup.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/validation.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr int status_partial = 206;

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
    std::string validator = {};  // of the first answer, for If-Range (RFC 9110, 13.1.5); empty: it has none
    http::SharedArrivingFile arriving = nullptr;
};

// A strong ETag, else Last-Modified, which is strong enough for a file that does not change.
std::string validator_of(const io::HttpAnswer& head) {
    const std::string etag = head.header("etag");
    return etag.starts_with('"') ? etag : head.header("last-modified");
}

// Where the bytes of a 206 begin: "Content-Range: bytes 200-1000/67589".
std::optional<std::uint64_t> range_start(const io::HttpAnswer& head) {
    const std::string range = head.header("content-range");
    constexpr std::string_view unit = "bytes ";
    if (!range.starts_with(unit)) return std::nullopt;
    const std::string_view rest = std::string_view(range).substr(unit.size());
    return base::parse_decimal(rest.substr(0, rest.find('-')));
}

// Readers get Content-Length before the first byte. If the page does not give the size, the answer's own length does,
// which ends the transfer, too.
base::Status read_head(const FileFetchParts& parts, const io::HttpAnswer& head, const simple::FileLink& link,
                       Download& into, std::uint64_t& known) {
    const std::uint64_t kept = into.staged.size();
    known = kept;
    if (head.status == status_partial) {
        const auto start = range_start(head);
        if (kept == 0 || !start || *start > kept)
            return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry,
                                 {"upstream.range",
                                  "The upstream sent another part of the file than it was asked for",
                                  link.filename,
                                  {}});
        known = kept - *start;
        return {};
    }
    into.validator = validator_of(head);
    const auto length = base::parse_decimal(head.header("content-length"));
    const bool is_encoded = !head.header("content-encoding").empty();
    if (length && link.size && !is_encoded && *length != *link.size)
        return other_bytes("upstream.size", "The upstream sends another number of bytes than its page gives",
                           std::to_string(*length));
    if (kept == 0 && parts.arrives)
        into.announced_bytes = link.size ? *link.size : is_encoded ? 0 : length.value_or(0);
    return {};
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

// One try. Those before it may have left the file's beginning in `into`: the rest is asked for, bytes up to there are not
// taken again, and the hash of the whole shows whether both belong together.
base::Status download(const FileFetchParts& parts, UpstreamClient& client, const simple::FileLink& link,
                      std::uint64_t limit_bytes, Download& into) {
    WHEELYARD_TRY(parts.config.room().check(link.size.value_or(0)));
    blobs::StagedBlob& staged = into.staged;
    std::uint64_t known = 0;
    std::uint64_t checked = staged.size();
    const auto take = [&](std::string_view bytes) -> base::Status {
        const std::uint64_t passed_over = std::min<std::uint64_t>(known, bytes.size());
        known -= passed_over;
        bytes.remove_prefix(static_cast<std::size_t>(passed_over));
        if (bytes.empty()) return {};
        if (bytes.size() > limit_bytes - std::min(limit_bytes, staged.size()))
            return base::fail_as(base::ErrorKind::too_large, base::Recovery::never,
                                 {"upstream.too_large",
                                  "The file is larger than max_file_mib of the index",
                                  link.filename,
                                  {}});
        if (staged.size() - checked >= room_check_bytes) {
            checked = staged.size();
            WHEELYARD_TRY(parts.config.room().check(0));
        }
        WHEELYARD_TRY(staged.write(bytes));
        return show_arriving(parts, into);
    };
    io::HttpHeaders headers;
    if (staged.size() > 0) {
        headers.emplace_back("Range", "bytes=" + std::to_string(staged.size()) + "-");
        if (!into.validator.empty()) headers.emplace_back("If-Range", into.validator);
    }
    const auto head = [&](const io::HttpAnswer& answer) {
        return read_head(parts, answer, link, into, known);
    };
    const auto answer = client.fetch(link.url, headers, limit_bytes, take, head);
    if (!answer && answer.error().kind == base::ErrorKind::too_large && link.size)
        return other_bytes("upstream.size", "The upstream sent more bytes than its page gives",
                           link.filename);
    if (!answer) return base::fail(answer.error());
    if (answer->status != status_ok && answer->status != status_partial)
        return io::fail_status(
            answer->status,
            {"upstream.status", "The upstream answered with status " + std::to_string(answer->status),
             link.filename});
    return {};
}

// A file that no single connection carries arrives in pieces, as long as each brings something.
base::Result<blobs::StagedBlob> download_patiently(const FileFetchParts& parts, UpstreamClient& client,
                                                   const simple::FileLink& link, std::uint64_t limit_bytes) {
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, parts.blobs.stage());
    Download into{std::move(staged)};
    for (int fruitless = 0;;) {
        const std::uint64_t before = into.staged.size();
        auto done = download(parts, client, link, limit_bytes, into);
        if (done) return std::move(into.staged);
        const bool has_progress = into.staged.size() - before >= min_progress_bytes;
        fruitless = has_progress ? 0 : fruitless + 1;
        if (fruitless == max_tries || !may_try_again(done.error()))
            return base::fail(std::move(done.error()));
    }
}

class InspectionSlot {
  public:
    explicit InspectionSlot(std::counting_semaphore<>& slots) : slots_(slots) { slots_.acquire(); }
    ~InspectionSlot() { slots_.release(); }
    InspectionSlot(const InspectionSlot&) = delete;
    InspectionSlot& operator=(const InspectionSlot&) = delete;

  private:
    std::counting_semaphore<>& slots_;
};

base::Result<inspect::Inspection> inspect_bytes(const FileFetchParts& parts, const blobs::StagedBlob& staged,
                                                const std::string& index, const inspect::Policy& policy,
                                                const std::string& filename) {
    WHEELYARD_ASSIGN(const auto reader, staged.read());
    const InspectionSlot slot(parts.inspections);
    WHEELYARD_ASSIGN(inspect::Inspection inspection,
                     inspect::inspect_file(reader, filename,
                                           {.policy = policy,
                                            .threads = parts.inspect_threads,
                                            .progress = {},
                                            .libraries_of = library_lookup(parts.writer, index)}));
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
                     inspect_bytes(parts, staged, index.name, upstream.policy, link.filename));
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
    row.is_upstreams = true;
    row.yanked = link.yanked;
    row.yanked_reason = link.yanked_reason;
    WHEELYARD_ASSIGN(const catalog::Added added, parts.writer.add_file(row));
    if (const auto refusal = refusal_of(added, row))
        return refused("upstream.refused", refusal->detail, refusal->code);
    return FetchedFile{added.serial, size_bytes, row.state_reason};
}

}  // namespace wheelyard::registry
