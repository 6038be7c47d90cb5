// Requests have size limits. Status codes become errors of one project or of the whole round.
#include "indexer/follow/followed_source.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/limits.hpp"
#include "lib/simple/page.hpp"
#include "lib/simple/wheel_list.hpp"
#include "lib/status/index_status.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

constexpr mode_t file_mode = 0444;  // as in a published tree
constexpr int status_ok = 200;
constexpr int status_not_modified = 304;
constexpr int status_forbidden = 403;
constexpr int status_not_found = 404;

}  // namespace

tl::unexpected<base::Error> FollowedSource::unexpected_status(const std::string& path,
                                                              const io::HttpAnswer& answer) const {
    const bool is_server_wide = io::is_temporary_status(answer.status);
    return base::fail_as(
        is_server_wide ? base::ErrorKind::unavailable : base::ErrorKind::refused, base::Recovery::retry,
        simple::error_of_answer(is_server_wide ? "http.status" : "follow.status", answer, url(path),
                                "see the log of its server; the next round retries"));
}

template <typename Request>
base::Result<io::HttpAnswer> FollowedSource::ask(Request request) const {
    base::Status goes_on;
    auto answer = request([&](std::uint64_t, std::uint64_t) {
        goes_on = keep_alive_();
        return goes_on.has_value();
    });
    WHEELYARD_TRY(std::move(goes_on));
    // No response: it would affect every project. A response that is too large is of one project.
    if (!answer && answer.error().os_error == 0 && answer.error().kind != base::ErrorKind::too_large)
        answer.error().kind = base::ErrorKind::unavailable;
    return answer;
}

base::Result<std::optional<std::string>> FollowedSource::get(const std::string& path, std::uint64_t limit) {
    WHEELYARD_ASSIGN(auto answer, ask([&](const io::HttpProgress& progress) {
                         return http_.get(url(path), {}, limit, progress);
                     }));
    if (answer.status == status_not_found) return std::nullopt;
    if (answer.status != status_ok) return unexpected_status(path, answer);
    if (!may_be_private_ && answer.header("cache-control").starts_with("private"))
        return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                             {"follow.private_source", "The index is private, and others can read the tree",
                              url(path), "follow it into a folder of mode 0700: install -d -m 700 FOLDER"});
    return std::optional(std::move(answer.body));
}

base::Result<EventSegment> FollowedSource::segment(const std::string& name) {
    if (name.find('/') != std::string::npos)
        return base::fail_malformed("follow.log", "The event log refers to an invalid file name", name,
                                    "repair the followed tree");
    const std::string path = std::string(event_folder) + "/" + name;
    WHEELYARD_ASSIGN(const auto text, get(path, max_event_segment_bytes));
    if (text) return parse_event_segment(*text);
    if (name == event_tail) return EventSegment{};
    return base::fail_malformed("follow.log", "The event log refers to a missing file", url(path),
                                "repair the followed tree");
}

base::Result<std::vector<std::string>> FollowedSource::projects() {
    const std::string path = "simple/" + std::string(json_page);
    WHEELYARD_ASSIGN(const auto text, get(path, max_page_bytes));
    if (text) return simple::parse_root_json(*text);
    return base::fail("http.status", "There is no root page at this URL", url(path),
                      "--from takes the URL of an index, the one above simple/");
}

base::Result<std::optional<std::string>> FollowedSource::signed_file(const std::string& path) {
    return get(path, attest::max_page_list_bytes);
}

base::Result<std::optional<FollowedPage>> FollowedSource::page(const std::string& project,
                                                               const CheckPage& check) {
    WHEELYARD_ASSIGN(const auto json,
                     get("simple/" + project + "/" + std::string(json_page), max_page_bytes));
    if (!json) return std::nullopt;
    WHEELYARD_TRY(check(*json));
    WHEELYARD_ASSIGN(auto page, read_followed_page(*json, from_, project));
    return std::optional(std::move(page));
}

base::Result<std::optional<TaggedFile>> FollowedSource::wheel_list(std::string_view name,
                                                                   const std::string& known_etag,
                                                                   const fs::path& file) {
    const std::string path = "simple/" + std::string(name);
    io::HttpHeaders headers;
    if (!known_etag.empty()) headers.emplace_back("If-None-Match", known_etag);
    simple::WheelListArrival arrival(file);
    const io::HttpSink sink = [&arrival](std::string_view bytes) { return arrival.take(bytes); };
    const auto asked = ask([&](const io::HttpProgress& progress) {
        return http_.get(url(path), headers, {simple::max_wheel_list_bytes, &sink}, progress);
    });
    if (!asked && asked.error().kind == base::ErrorKind::malformed) return std::nullopt;
    WHEELYARD_ASSIGN(const auto answer, asked);
    if (answer.status == status_not_modified && !known_etag.empty())
        return TaggedFile{.is_unchanged = true, .etag = known_etag};
    // Some servers answer 403 for unknown files; avail_wheels treats it the same.
    if (answer.status == status_not_found || answer.status == status_forbidden) return std::nullopt;
    if (answer.status != status_ok) return unexpected_status(path, answer);
    if (const auto whole = arrival.finish(); !whole) {
        if (whole.error().kind == base::ErrorKind::malformed) return std::nullopt;
        return base::fail(whole.error());
    }
    return TaggedFile{.etag = answer.header("etag")};
}

base::Result<std::optional<std::string>> FollowedSource::status() {
    const std::string path(status::index_status_name);
    WHEELYARD_ASSIGN(auto answer, ask([&](const io::HttpProgress& progress) {
                         return http_.get(url(path), {}, status::max_index_status_bytes, progress);
                     }));
    if (answer.status == status_not_found || answer.status == status_forbidden) return std::nullopt;
    if (answer.status != status_ok) return unexpected_status(path, answer);
    return std::move(answer.body);
}

base::Result<std::uint64_t> FollowedSource::fetch(const std::string& path, const fs::path& to,
                                                  const std::string& sha256, std::uint64_t limit_bytes) {
    WHEELYARD_ASSIGN(const auto answer, ask([&](const io::HttpProgress& progress) {
                         return http_.download(url(path), to, limit_bytes, progress);
                     }));
    if (answer.status == status_not_found)
        return base::fail_as(base::ErrorKind::missing, base::Recovery::retry,
                             {"follow.file_gone", "A file was removed after its page was fetched", url(path),
                              "the next round retries"});
    if (answer.status != status_ok) return unexpected_status(path, answer);
    WHEELYARD_ASSIGN(const auto found, base::sha256_hex_of_file(to, keep_alive_));
    if (found != sha256)
        return base::fail_malformed(
            "follow.wrong_hash", "A fetched file does not match the hash on its page", url(path),
            "its hash is " + found + "; run `wheelyard-indexer check` on the followed tree");
    WHEELYARD_ASSIGN(const auto fd, base::open_read(to));
    WHEELYARD_TRY(base::fsync_file(fd.get(), to.native()));
    if (::fchmod(fd.get(), file_mode) != 0) return base::fail_errno("fchmod", to.native(), errno);
    return base::file_size(to);
}

}  // namespace wheelyard::indexer
