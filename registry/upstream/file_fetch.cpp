#include "registry/upstream/file_fetch.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/limits.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {
namespace {

constexpr int max_tries = 3;  // of one download in a row that bring less than `min_progress_bytes`
constexpr std::uint64_t min_progress_bytes = 64 * base::kib;
constexpr std::uint64_t room_check_bytes = 16 * base::mib;  // free space is checked this often

constexpr int status_partial = 206;
constexpr int status_no_such_range = 416;

tl::unexpected<base::Error> refused(wire::Refusal row, std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                         {std::string(row.code()), std::move(sentence), std::move(value), {}});
}

tl::unexpected<base::Error> other_bytes(wire::Refusal row, std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                         {std::string(row.code()), std::move(sentence), std::move(value), {}});
}

struct Download {
    std::optional<blobs::StagedBlob> staged = {};
    std::optional<std::uint64_t> size = {};  // of the page, else of the answer
    std::string validator = {};  // of the first answer, for If-Range (RFC 9110, 13.1.5); empty: it has none
    bool is_pieced = false;      // of more than one answer
    int restarts = 0;
    http::SharedArrivingFile arriving = nullptr;
};

std::optional<std::uint64_t> stated_size(const simple::FileLink& link) {
    return link.size_bytes > 0 ? std::optional(link.size_bytes) : std::nullopt;
}

// A strong ETag, else Last-Modified, which is strong enough for a file that does not change.
std::string validator_of(const io::HttpAnswer& head) {
    const std::string etag = head.header("etag");
    return etag.starts_with('"') ? etag : head.header("last-modified");
}

// "Content-Range: bytes 200-1000/67589", "bytes 200-1000/*"; of a 416 "bytes */67589".
struct ContentRange {
    std::optional<std::uint64_t> start;
    std::optional<std::uint64_t> total;
};
ContentRange content_range(const io::HttpAnswer& head) {
    const std::string range = head.header("content-range");
    constexpr std::string_view unit = "bytes ";
    if (!range.starts_with(unit)) return {};
    const std::string_view rest = std::string_view(range).substr(unit.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size() - 1);
    return {base::parse_decimal(rest.substr(0, rest.find('-'))), base::parse_decimal(rest.substr(slash + 1))};
}

tl::unexpected<base::Error> wrong_part(base::ErrorKind kind, std::string sentence,
                                       const simple::FileLink& link) {
    return base::fail_as(kind, base::Recovery::retry,
                         {"upstream.range", std::move(sentence), link.filename, {}});
}

// What came so far is not the beginning of what the upstream has now. Its readers get no more; the file is
// stored for those who come later.
base::Status begin_again(const FileFetchParts& parts, const simple::FileLink& link, Download& into) {
    if (into.arriving) into.arriving->end(false);
    if (into.restarts++ == max_tries)
        return wrong_part(base::ErrorKind::unavailable, "The upstream sends another file each time", link);
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, parts.blobs.stage());
    into.staged.emplace(std::move(staged));
    into.size = stated_size(link);
    into.validator.clear();
    into.is_pieced = false;
    return {};
}

// The same, with the answer in progress of no use: another one may be asked for.
base::Status other_file(const FileFetchParts& parts, const simple::FileLink& link, Download& into) {
    WHEELYARD_TRY(begin_again(parts, link, into));
    return wrong_part(base::ErrorKind::cut,
                      "The upstream sent another file than the one whose beginning it sent before", link);
}

base::Status show_arriving(const FileFetchParts& parts, Download& download) {
    if (!download.arriving) {
        const std::uint64_t announced_bytes = download.size.value_or(0);
        if (!parts.arrives || announced_bytes < http::min_arriving_bytes) return {};
        WHEELYARD_ASSIGN(base::Fd file, download.staged->open());
        download.arriving = std::make_shared<http::ArrivingFile>(std::move(file), announced_bytes);
        parts.arrives(download.arriving);
    }
    download.arriving->note_written(download.staged->size());
    return {};
}

// Says whether `bytes` are those that the file has at this place.
base::Result<bool> repeats(const base::Reader& file, std::uint64_t at, std::string_view bytes) {
    std::string known(bytes.size(), '\0');
    WHEELYARD_TRY(file.read_at(at, known.data(), known.size()));
    return known == bytes;
}

// One answer of the upstream. Those before it may have left the file's beginning in `into`: bytes up to there
// that come again are compared, the rest is added.
class Answer {
  public:
    Answer(const FileFetchParts& parts, const simple::FileLink& link, std::uint64_t limit_bytes,
           Download& into, base::FileReader known)
        : parts_(parts), link_(link), limit_bytes_(limit_bytes), into_(into), known_(std::move(known)) {}
    // Before the first byte.
    [[nodiscard]] base::Status read_head(const io::HttpAnswer& head);
    [[nodiscard]] base::Status take(std::string_view bytes);

  private:
    [[nodiscard]] base::Status read_length(const io::HttpAnswer& head, std::optional<std::uint64_t> length);
    [[nodiscard]] base::Status add(std::string_view bytes);

    const FileFetchParts& parts_;
    const simple::FileLink& link_;
    const std::uint64_t limit_bytes_;
    Download& into_;
    const base::FileReader known_;                  // what was there before
    std::uint64_t at_ = 0;                          // where in the file the next byte belongs
    std::uint64_t checked_ = into_.staged->size();  // size at which the disk had room
};

base::Status Answer::read_head(const io::HttpAnswer& head) {
    const bool is_partial = head.status == status_partial;
    const ContentRange range = content_range(head);
    const std::uint64_t kept = into_.staged->size();
    if (is_partial && (kept == 0 || !range.start || *range.start > kept))
        return wrong_part(base::ErrorKind::unavailable,
                          "The upstream sent another part of the file than it was asked for", link_);
    WHEELYARD_TRY(
        read_length(head, is_partial ? range.total : base::parse_decimal(head.header("content-length"))));
    at_ = is_partial ? *range.start : 0;
    if (!is_partial) into_.validator = validator_of(head);
    checked_ = std::min(checked_, into_.staged->size());
    return {};
}

// Readers get Content-Length before the first byte. If the page does not give the size, the answer's own
// length does, which ends the transfer, too.
base::Status Answer::read_length(const io::HttpAnswer& head, std::optional<std::uint64_t> length) {
    const bool is_encoded = !head.header("content-encoding").empty();
    if (!length || is_encoded) return {};
    if (link_.size_bytes > 0 && *length != link_.size_bytes)
        return other_bytes("upstream.size", "The upstream sends another number of bytes than its page states",
                           std::to_string(*length));
    if (into_.staged->size() > 0 && into_.size && *length != *into_.size) {
        if (head.status == status_partial) return other_file(parts_, link_, into_);
        WHEELYARD_TRY(begin_again(parts_, link_, into_));
    }
    into_.size = length;
    return {};
}

base::Status Answer::take(std::string_view bytes) {
    const auto again =
        static_cast<std::size_t>(std::min<std::uint64_t>(into_.staged->size() - at_, bytes.size()));
    if (again > 0) {
        WHEELYARD_ASSIGN(const bool is_same, repeats(known_, at_, bytes.substr(0, again)));
        if (!is_same) return other_file(parts_, link_, into_);
    }
    at_ += bytes.size();
    bytes.remove_prefix(again);
    return bytes.empty() ? base::Status() : add(bytes);
}

base::Status Answer::add(std::string_view bytes) {
    blobs::StagedBlob& staged = *into_.staged;
    if (bytes.size() > limit_bytes_ - std::min(limit_bytes_, staged.size()))
        return base::fail_as(
            base::ErrorKind::too_large, base::Recovery::never,
            {"upstream.too_large", "The file is larger than max_file_mib of the index", link_.filename, {}});
    if (staged.size() >= checked_ + room_check_bytes) {
        checked_ = staged.size();
        WHEELYARD_TRY(parts_.config.room().check(0));
    }
    WHEELYARD_TRY(staged.write(bytes));
    return show_arriving(parts_, into_);
}

// For what is missing of the file, if it is still the same one.
io::HttpHeaders headers_for(const Download& into) {
    const std::uint64_t kept = into.staged->size();
    if (kept == 0) return {};
    io::HttpHeaders headers{{"Range", "bytes=" + std::to_string(kept) + "-"}};
    if (!into.validator.empty()) headers.emplace_back("If-Range", into.validator);
    return headers;
}

// One try.
base::Status download(const FileFetchParts& parts, UpstreamClient& client, const simple::FileLink& link,
                      std::uint64_t limit_bytes, Download& into) {
    if (auto room = parts.config.room().check(link.size_bytes); !room) {
        parts.cut.clear();
        return room;
    }
    const std::uint64_t kept = into.staged->size();
    into.is_pieced = kept > 0;
    WHEELYARD_ASSIGN(base::FileReader known, into.staged->read());
    Answer taken(parts, link, limit_bytes, into, std::move(known));
    const auto answer = client.fetch(
        link.url, headers_for(into), limit_bytes, [&](std::string_view bytes) { return taken.take(bytes); },
        [&](const io::HttpAnswer& head) { return taken.read_head(head); });
    if (!answer && answer.error().kind == base::ErrorKind::too_large && link.size_bytes > 0)
        return other_bytes("upstream.size", "The upstream sent more bytes than its page states",
                           link.filename);
    if (!answer) return base::fail(answer.error());
    if (kept > 0 && answer->status == status_no_such_range)
        return content_range(*answer).total == kept ? base::Status() : other_file(parts, link, into);
    if (answer->status != status_ok && answer->status != status_partial)
        return fail_answer(answer->status, link.url);
    return {};
}

// A file that no single connection carries arrives in pieces, as long as each brings something. A cut after
// its last byte is none.
base::Status download_patiently(const FileFetchParts& parts, UpstreamClient& client,
                                const simple::FileLink& link, std::uint64_t limit_bytes, Download& into) {
    for (int fruitless = 0;;) {
        const std::uint64_t before = into.staged->size();
        auto done = download(parts, client, link, limit_bytes, into);
        if (done) return {};
        const bool may_go_on = done.error().is_of_connection();  // what is wrong with the file stays wrong
        if (may_go_on && into.staged->size() == into.size) return {};
        const bool has_progress = into.staged->size() >= before + min_progress_bytes;
        fruitless = has_progress ? 0 : fruitless + 1;
        if (fruitless == max_tries || !may_go_on) return done;
    }
}

// A break says nothing against what came before it: the next download goes on from there. Readers of this one
// have their end. Uploads keep at least as much room.
void keep_cut(const FileFetchParts& parts, const base::Error& error, Download&& download) {
    if (!error.is_of_connection() || download.staged->size() < min_progress_bytes) return;
    if (!parts.config.room().check(download.staged->size())) return;
    parts.cut.keep(parts.file, {*std::move(download.staged), download.size, std::move(download.validator)},
                   parts.clock.now());
}

// Pieces of two files have the hash of neither: the upstream may have changed it between them, which is no
// alarm.
base::Result<blobs::StagedBlob> download_whole(const FileFetchParts& parts, UpstreamClient& client,
                                               const simple::FileLink& link, std::uint64_t limit_bytes) {
    Download into{.size = stated_size(link)};
    if (auto cut = parts.cut.take(parts.file, parts.clock.now())) {
        into.staged.emplace(std::move(cut->staged));
        into.size = cut->size;
        into.validator = std::move(cut->validator);
    } else {
        WHEELYARD_ASSIGN(blobs::StagedBlob staged, parts.blobs.stage());
        into.staged.emplace(std::move(staged));
    }
    if (auto done = download_patiently(parts, client, link, limit_bytes, into); !done) {
        keep_cut(parts, done.error(), std::move(into));
        return base::fail(std::move(done.error()));
    }
    base::Status good = check_bytes(*into.staged, link);
    if (!good && into.is_pieced) {
        WHEELYARD_TRY(begin_again(parts, link, into));
        WHEELYARD_TRY(download_patiently(parts, client, link, limit_bytes, into));
        good = check_bytes(*into.staged, link);
    }
    WHEELYARD_TRY(good);
    return *std::move(into.staged);
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
    const OfferedFiles offered = offered_files(parts.writer, index);
    WHEELYARD_ASSIGN(inspect::Inspection inspection,
                     inspect::inspect_file(
                         reader, filename,
                         {.policy = policy,
                          .threads = parts.inspect_threads,
                          .progress = {},
                          .libraries_of = library_lookup(offered),
                          .torches_for = torch_lookup(policy, offered, {parts.blobs, parts.config.store})}));
    if (const auto good = check_inspection(inspection); !good)
        return refused("upstream.refused", good.error().detail, good.error().code);
    return inspection;
}

}  // namespace

base::Status check_bytes(blobs::StagedBlob& staged, const simple::FileLink& link) {
    if (link.size_bytes > 0 && staged.size() != link.size_bytes)
        return other_bytes("upstream.size", "The upstream sent another number of bytes than its page states",
                           std::to_string(staged.size()));
    if (staged.finish() != link.sha256)
        return other_bytes("upstream.hash", "The upstream sent bytes with another hash than its page states",
                           staged.finish());
    return {};
}

base::Result<FetchedFile> fetch_file(const FileFetchParts& parts, UpstreamClient& client,
                                     const IndexConfig& index, const UpstreamConfig& upstream,
                                     const UpstreamFile& file) {
    const simple::FileLink& link = file.link;
    const std::uint64_t limit_bytes =
        std::min(index.max_file_bytes, stated_size(link).value_or(index.max_file_bytes));
    if (link.size_bytes > index.max_file_bytes)
        return base::fail_as(base::ErrorKind::too_large, base::Recovery::person,
                             {"upstream.too_large",
                              "The file is larger than max_file_mib of the index",
                              std::to_string(link.size_bytes),
                              {}});
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, download_whole(parts, client, link, limit_bytes));
    WHEELYARD_ASSIGN(const inspect::Inspection inspection,
                     inspect_bytes(parts, staged, index.name, upstream.policy, link.filename));
    const std::uint64_t size_bytes = staged.size();
    WHEELYARD_ASSIGN(const std::string metadata, parts.blobs.store_bytes(inspection.metadata_bytes));
    WHEELYARD_ASSIGN(const std::string stored, parts.blobs.store(std::move(staged)));
    catalog::FileRow row = stored_row({{.filename = link.filename,
                                        .yanked = link.yanked,
                                        .yanked_reason = link.yanked_reason,
                                        .size_bytes = size_bytes,
                                        .sha256 = stored,
                                        .metadata_sha256 = metadata},
                                       upstream.cache_index},
                                      inspection);
    row.uploaded_by = "upstream:" + upstream.name;
    row.is_upstreams = true;
    WHEELYARD_ASSIGN(const catalog::Added added, parts.writer.add_file(row));
    if (const auto refusal = refusal_of(added, row))
        return refused("upstream.refused", refusal->detail, refusal->code);
    return FetchedFile{added.serial, size_bytes, added.state == catalog::FileState::quarantined,
                       added.state_reason};
}

}  // namespace wheelyard::registry
