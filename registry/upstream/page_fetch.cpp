#include "registry/upstream/page_fetch.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/limits.hpp"
#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"
#include "registry/http/request_head.hpp"
#include "registry/upstream/freshness.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

// A page of 64 MiB takes 400 MiB while it is read, and as much while it is rendered: of larger ones than
// these, one at a time.
constexpr std::uint64_t large_page_bytes = 8 * base::mib;

// Caches on the way ask the upstream, too.
const std::pair<std::string, std::string> no_cache{"Cache-Control", "no-cache"};

constexpr int status_not_modified = 304;
constexpr int status_forbidden = 403;
constexpr int status_loop = 508;

// 403 means absent: so the CUDA and ROCm indexes of PyTorch answer for projects that they do not have.
// refuses() has the exceptions.
bool means_absent(int status) {
    return status == 404 || status == status_forbidden || status == 410;
}

tl::unexpected<PageFailure> failure_of(base::Error error) {
    // A page that cannot be read is one project's; no answer at all is the upstream's.
    const bool is_one_page = error.kind == base::ErrorKind::malformed ||
                             error.kind == base::ErrorKind::too_large ||
                             error.kind == base::ErrorKind::refused;
    return tl::unexpected(PageFailure{std::move(error), !is_one_page});
}

tl::unexpected<PageFailure> failure_of(const io::HttpAnswer& answer, const std::string& url) {
    const bool is_denied = answer.status == 401 || answer.status == 403;
    base::Error error = fail_answer(answer.status, url).value();
    error.advice = is_denied ? "check the credentials of its [[index.upstream]]"
                             : "open the address; `serve` asks again by itself";
    return tl::unexpected(
        PageFailure{std::move(error), io::is_temporary_status(answer.status), asked_pause_s(answer)});
}

bool has_distributions(const CachedPage& page) {
    return std::any_of(page.files.begin(), page.files.end(), [](const UpstreamFile& file) {
        return wheel::parse_wheel_filename(file.link.filename) ||
               wheel::parse_sdist_filename(file.link.filename);
    });
}

// A captive portal, a page about maintenance and JSON that is sent as HTML have no links; neither does a page
// that says nothing of its project.
tl::unexpected<PageFailure> no_links(const std::string& url) {
    base::Error error{"upstream.no_links",
                      "The upstream answered 200 without a link to a file, and had some before", url,
                      "open the address: another page may be in its place"};
    error.kind = base::ErrorKind::malformed;
    return failure_of(std::move(error));
}

bool is_json(const io::HttpAnswer& answer) {
    return base::ascii_lower(answer.header("content-type")).find("json") != std::string::npos;
}

// HTML that was cut off has links, too; JSON that was cut off cannot be read.
bool has_end(const io::HttpAnswer& answer) {
    constexpr std::size_t end_bytes = 1'000;  // what may follow: comments
    const std::string_view body = answer.body;
    return is_json(answer) ||
           base::ascii_lower(body.substr(body.size() - std::min(body.size(), end_bytes))).find("</html>") !=
               std::string::npos;
}

// An upstream lists no files of a project that it keeps in quarantine (PEP 792): nothing is offered, and what
// was known stays known.
void keep_quarantined(const CachedPage& before, CachedPage& page) {
    page.files = before.files;
    page.gone = before.gone;
}

void keep(const CachedPage& before, base::UnixMicros now, FetchedPage& fetched) {
    fetched.has_left = before.absent_since == 0;
    fetched.page = kept_page(before, now);
}

// 403 to an account, or for a project that was there, is a permission lost or a firewall's. Were it taken for
// absent, the next upstream would supply the name.
bool refuses(const io::HttpAnswer& answer, const UpstreamConfig& upstream, const CachedPage* before) {
    const bool was_there = before != nullptr && !before->is_absent && !before->is_of_other(upstream.url);
    return answer.status == status_forbidden && (!upstream.username.empty() || was_there);
}

// Nothing is known of the project: another registry's question may be on the way, whose answer the upstream
// lacks.
tl::unexpected<PageFailure> loop_of(const std::string& url) {
    base::Error error{"upstream.loop", "The upstream is a registry that would have to ask this one", url,
                      "`deny` the project in the [[index.upstream]] of one of the two"};
    error.kind = base::ErrorKind::unavailable;
    error.recovery = base::Recovery::retry;
    return tl::unexpected(PageFailure{.error = std::move(error), .is_loop = true});
}

}  // namespace

tl::expected<FetchedPage, PageFailure> read_page_answer(const io::HttpAnswer& answer, const std::string& url,
                                                        const CachedPage* before, base::UnixMicros now) {
    FetchedPage fetched;
    std::int64_t fresh_s = fresh_seconds(answer);
    if (answer.status == status_not_modified && before != nullptr) {
        fetched.page = *before;
        fetched.page.absent_since = 0;
        fetched.is_unchanged = true;
    } else if (answer.status == status_ok) {
        const auto place = base::parse_url(answer.final_url.empty() ? url : answer.final_url);
        if (!place) return failure_of(place.error());
        auto page = simple::parse_project_page(answer.body, answer.header("content-type"), *place);
        if (!page) return failure_of(std::move(page.error()));
        const bool is_html = !is_json(answer);
        MergedPage merged = merge_page(before, *std::move(page), now);
        const bool is_empty = !has_distributions(merged.page);
        const bool was_there = before != nullptr && has_distributions(*before);
        fetched.is_full = has_end(answer) && !(is_empty && is_html);
        if (is_empty && was_there && is_html) return no_links(url);
        if (is_empty && was_there && !merged.page.is_quarantined()) {
            keep(*before, now, fetched);
            fresh_s = absent_fresh_s;
        } else {
            if (is_empty && was_there) keep_quarantined(*before, merged.page);
            if (is_empty && is_html) fresh_s = std::min(fresh_s, absent_fresh_s);
            fetched.page = std::move(merged.page);
            fetched.alarms = std::move(merged.alarms);
            fetched.page.etag = answer.header("etag");
            fetched.page.last_modified = answer.header("last-modified");
        }
    } else if (means_absent(answer.status)) {
        if (before != nullptr && !before->is_absent && !(before->files.empty() && before->gone.empty()))
            keep(*before, now, fetched);
        else
            fetched.page = absent_page(before);
        fetched.is_full = answer.status != status_forbidden;
        fresh_s = absent_fresh_s;
    } else if (answer.status == status_loop && !answer.header(http::upstream_via_field).empty()) {
        return loop_of(url);
    } else {
        return failure_of(answer, url);
    }
    fetched.page.checked = now;
    fetched.page.fresh_until = now + fresh_s * base::second_us;
    return fetched;
}

tl::expected<FetchedPage, PageFailure> fetch_page(UpstreamClient& client, const UpstreamConfig& upstream,
                                                  const std::string& project, const CachedPage* before,
                                                  const base::Clock& clock,
                                                  std::unique_lock<std::mutex>& large) {
    const std::string url = upstream.url + project + "/";
    io::HttpHeaders headers{{"Accept", std::string(simple::accept_pages)}};
    if (before != nullptr && !before->missing.empty()) {  // a 304 would not say whether it is so still
        headers.emplace_back(no_cache);
    } else if (before != nullptr && !before->is_absent && !before->is_of_other(upstream.url)) {
        if (!before->etag.empty())
            headers.emplace_back("If-None-Match", before->etag);
        else if (!before->last_modified.empty())
            headers.emplace_back("If-Modified-Since", before->last_modified);
    }
    auto answer = client.get(url, headers, simple::max_page_bytes);
    if (!answer) return failure_of(std::move(answer.error()));
    if (refuses(*answer, upstream, before)) return failure_of(*answer, url);
    if (answer->body.size() > large_page_bytes) large.lock();
    auto fetched = read_page_answer(*answer, url, before, clock.now());
    if (fetched) fetched->page.from = upstream.url;
    return fetched;
}

bool lists_files(UpstreamClient& client, const UpstreamConfig& upstream, const std::string& project) {
    const std::string url = upstream.url + project + "/";
    const auto answer =
        client.get(url, {{"Accept", std::string(simple::accept_pages)}, no_cache}, large_page_bytes);
    const auto read = answer ? read_page_answer(*answer, url, nullptr, 0) : failure_of(answer.error());
    return read && has_distributions(read->page);
}

}  // namespace wheelyard::registry
