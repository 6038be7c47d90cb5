// Follows redirects itself: libcurl would follow them to any host.
#include "registry/upstream/upstream_client.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "registry/http/request_head.hpp"
#include "registry/upstream/freshness.hpp"
#include "registry/upstream/offer.hpp"

namespace wheelyard::registry {
namespace {

constexpr int max_redirects = 5;
constexpr std::int64_t page_timeout_ms = 60'000;
constexpr std::int64_t connect_timeout_ms = 10'000;
constexpr std::int64_t file_stall_timeout_ms = 30'000;  // before the first byte: it may fetch the file itself
constexpr std::int64_t idle_body_ms = 10'000;           // between bytes
constexpr std::int64_t min_file_bytes_per_s = 1'024;
constexpr std::size_t max_password_bytes = 4'096;

io::HttpSettings settings_of(const UpstreamConfig& upstream, bool permits_private) {
    io::HttpSettings settings;
    settings.proxy = upstream.proxy;
    settings.connect_timeout_ms = connect_timeout_ms;
    settings.stall_timeout_ms = file_stall_timeout_ms;
    settings.min_bytes_per_s = min_file_bytes_per_s;
    settings.total_timeout_ms = page_timeout_ms;
    settings.follows_redirects = false;
    settings.uses_environment = false;
    settings.permits_private_hosts = permits_private;
    return settings;
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// A URL may carry an account before its host and a signature after its path.
std::string without_secrets(const std::string& url) {
    auto parsed = base::parse_url(url);
    if (!parsed) return {};
    parsed->query.clear();
    return parsed->text_without_secrets();
}

bool has_same_origin(const base::Url& a, const base::Url& b) {
    return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

}  // namespace

tl::unexpected<base::Error> fail_answer(int status, const std::string& url) {
    base::Error error{"upstream.status", "The upstream answered with status " + std::to_string(status),
                      without_secrets(url)};
    if (io::is_temporary_status(status)) return io::fail_status(status, std::move(error));
    if (status == 404 || status == 410)
        return base::fail_as(base::ErrorKind::missing, base::Recovery::person, std::move(error));
    return base::fail_as(base::ErrorKind::unauthorized, base::Recovery::person, std::move(error));
}

bool is_upstreams_no(const base::Error& error) {
    return error.kind == base::ErrorKind::missing || error.kind == base::ErrorKind::unauthorized;
}

UpstreamClient::UpstreamClient(const UpstreamConfig& upstream, const std::atomic<bool>& stopping,
                               IsOwn is_own)
    : upstream_(upstream),
      stopping_(stopping),
      is_own_(std::move(is_own)),
      public_(settings_of(upstream, false)),
      private_(settings_of(upstream, true)) {}

// The client for this URL, and the headers with the credentials if it is the upstream's own.
base::Result<UpstreamClient::Place> UpstreamClient::place_of(const std::string& url,
                                                             const io::HttpHeaders& headers) {
    WHEELYARD_ASSIGN(const base::Url place, base::parse_url(url));
    if (!may_request(upstream_, url))
        return base::fail_as(
            base::ErrorKind::refused, base::Recovery::person,
            {"upstream.redirect", "The upstream refers to a host that is not named in `hosts`", place.host,
             "add it to the upstream's `hosts` if you trust it"});
    if (is_own_ && !is_own_(upstream_.url) && is_own_(url))
        return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                             {"upstream.redirect", "The upstream refers back to this registry", url, {}});
    Place found{may_be_private(upstream_, place) ? &private_ : &public_, headers};
    if (!via_.empty()) found.headers.emplace_back(http::upstream_via_field, via_);
    WHEELYARD_ASSIGN(const base::Url own, base::parse_url(upstream_.url));
    if (upstream_.username.empty() || !has_same_origin(place, own)) return found;
    WHEELYARD_ASSIGN(const std::string password,
                     base::read_file(upstream_.password_file, max_password_bytes));
    const std::string pair = upstream_.username + ":" + std::string(base::trim(password));
    found.headers.emplace_back("Authorization", "Basic " + base::encode_base64(pair));
    return found;
}

template <typename Request>
base::Result<io::HttpAnswer> UpstreamClient::follow(std::string url, const io::HttpHeaders& headers,
                                                    Request request) {
    asked_pause_s_ = 0;
    std::set<std::string> seen;
    for (int hops = 0;; ++hops) {
        WHEELYARD_ASSIGN(const Place place, place_of(url, headers));
        WHEELYARD_ASSIGN(io::HttpAnswer answer, request(*place.http, url, place.headers));
        asked_pause_s_ = registry::asked_pause_s(answer);
        if (!is_redirect(answer.status)) return answer;
        seen.insert(url);
        if (hops == max_redirects)
            return base::fail_for_now("upstream.redirect", "The upstream redirects too often", url);
        WHEELYARD_ASSIGN(const base::Url from, base::parse_url(url));
        WHEELYARD_ASSIGN(const base::Url to, base::resolve_url(from, answer.header("location")));
        if (from.scheme == "https" && to.scheme != "https")
            return base::fail_for_now("upstream.redirect", "The upstream redirects from https to http", url);
        url = to.text();
        if (seen.contains(url))
            return base::fail_for_now("upstream.redirect", "The upstream redirects in a circle", url);
    }
}

base::Result<io::HttpAnswer> UpstreamClient::get(const std::string& url, const io::HttpHeaders& headers,
                                                 std::uint64_t limit_bytes) {
    const auto goes_on = [this](std::uint64_t, std::uint64_t) { return !stopping_; };
    return follow(url, headers,
                  [&](io::HttpClient& http, const std::string& at, const io::HttpHeaders& sent) {
                      return http.get(at, sent, limit_bytes, goes_on);
                  });
}

base::Result<io::HttpAnswer> UpstreamClient::fetch(const std::string& url, const io::HttpHeaders& headers,
                                                   std::uint64_t limit_bytes, const io::HttpSink& sink,
                                                   const io::HttpHead& head) {
    using Clock = std::chrono::steady_clock;
    std::uint64_t moved = 0;
    Clock::time_point changed = Clock::now();
    bool is_idle = false;
    const auto goes_on = [&](std::uint64_t done,
                             std::uint64_t) {  // libcurl asks each second, also if nothing comes
        if (done != moved) {
            moved = done;
            changed = Clock::now();
        }
        is_idle = done > 0 && Clock::now() - changed > std::chrono::milliseconds(idle_body_ms);
        return !stopping_ && !is_idle;
    };
    auto answer =
        follow(url, headers, [&](io::HttpClient& http, const std::string& at, const io::HttpHeaders& sent) {
            moved = 0;
            return http.fetch(at, sent, limit_bytes, sink, goes_on, head);
        });
    if (!answer && is_idle)
        return base::fail_as(base::ErrorKind::cut, base::Recovery::retry,
                             {"http.timeout", "The upstream stopped in the middle of the file",
                              answer.error().value, "try again later"});
    return answer;
}

}  // namespace wheelyard::registry
