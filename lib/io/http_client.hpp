// HTTP requests with libcurl: bounded answers, downloads to files, streamed multipart uploads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::io {

struct HttpSettings {
    std::string user_agent = "wheelyard/" WHEELYARD_VERSION;
    std::string ca_bundle = {};  // empty: SSL_CERT_FILE or the system's
    std::string proxy = {};      // empty: the environment's http_proxy, https_proxy, no_proxy
    std::int64_t connect_timeout_ms = 20'000;
    std::int64_t stall_timeout_ms = 60'000;  // maximum time without a byte
    std::int64_t answer_timeout_ms =
        900'000;  // after an upload's last byte: the server checks multi-GB wheels
    int max_redirects = 5;
    // For requests to servers that are not trusted (the upstreams of a registry):
    bool follows_redirects = true;      // false: a 3xx is the answer
    bool uses_environment = true;       // false: no proxy without `proxy`, and no log-ins
    bool permits_private_hosts = true;  // false: is_private_address() refuses the connection ("http.private")
    std::int64_t total_timeout_ms = 0;  // of get(), head() and post(); 0: none
    std::int64_t min_bytes_per_s = 1;   // averaged over stall_timeout_ms
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpAnswer {
    int status = 0;
    std::string reason;   // the reason phrase, if any
    HttpHeaders headers;  // names in lower case
    std::string body;
    std::string final_url;
    [[nodiscard]] std::string header(std::string_view name) const;  // empty when absent
};

// Says whether the same request may succeed later (RFC 9110, 6585, 8470): 5xx, 408, 425 and 429.
[[nodiscard]] constexpr bool is_temporary_status(int status) {
    return status >= 500 || status == 408 || status == 425 || status == 429;
}

// Fails with `error`, which an answer with this status caused: unavailable and worth a retry if the status is
// temporary, final for others.
[[nodiscard]] inline tl::unexpected<base::Error> fail_status(int status, base::Error error) {
    if (!is_temporary_status(status)) return base::fail(std::move(error));
    return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, std::move(error));
}

// Bytes transferred, total bytes (0: unknown). Returning false aborts the transfer.
using HttpProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// The protocols to which a request for `url` may be redirected: https never falls back to http. Pure.
[[nodiscard]] std::string redirect_protocols(std::string_view url);

// Takes the body of a 200 answer in pieces; an error ends the transfer and is its result.
using HttpSink = std::function<base::Status(std::string_view bytes)>;
// Takes status and headers of a 200 or 206 answer before the first byte of its body; an error ends the
// transfer and is its result.
using HttpHead = std::function<base::Status(const HttpAnswer& head)>;

// How much of a body is taken, in decoded bytes, counted while they arrive; more is an error
// ("http.too_large").
struct BodyLimit {
    BodyLimit(std::uint64_t most, const HttpSink* to = nullptr) : bytes(most), sink(to) {}
    std::uint64_t bytes;
    const HttpSink* sink;  // takes the body of a 200; nullptr: the answer
};

struct MultipartField {
    std::string name;
    std::string value;
};

// An HTTP client that keeps its connections; use one per thread. A status of 400 or more is an answer, not an
// error. Errors: http.resolve, http.connect, http.tls, http.timeout, http.too_large, http.cut, http.stopped,
// http.url (a protocol that is not allowed, such as a redirect from https to http), http.private.
class HttpClient {
  public:
    explicit HttpClient(HttpSettings settings = {});
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    ~HttpClient();

    [[nodiscard]] base::Result<HttpAnswer> get(const std::string& url, const HttpHeaders& headers = {},
                                               const BodyLimit& limit = 64u << 20,
                                               const HttpProgress& progress = {});
    [[nodiscard]] base::Result<HttpAnswer> head(const std::string& url, const HttpHeaders& headers = {});
    // Passes the body of a 200 answer to `sink`, as sent, and with `head` also that of a 206, to a request
    // for a range; other statuses keep their body in `body`.
    [[nodiscard]] base::Result<HttpAnswer> fetch(const std::string& url, const HttpHeaders& headers,
                                                 std::uint64_t limit_bytes, const HttpSink& sink,
                                                 const HttpProgress& progress = {},
                                                 const HttpHead& head = {});
    // Writes the body of a 200 answer to `file`, which must not exist; no fsync. Other statuses keep their
    // body in `body`.
    [[nodiscard]] base::Result<HttpAnswer> download(const std::string& url, const std::filesystem::path& file,
                                                    std::uint64_t limit_bytes,
                                                    const HttpProgress& progress = {},
                                                    const HttpHeaders& headers = {});
    // Sends a small body; `headers` include its Content-Type. Does not follow redirects: a POST would become
    // a GET. Waits for the answer as long as an upload does.
    [[nodiscard]] base::Result<HttpAnswer> post(const std::string& url, const std::string& body,
                                                const HttpHeaders& headers,
                                                std::uint64_t limit_bytes = 64u << 20);
    // Streams the bytes of `body` from `offset_bytes` on. The answer timeout starts after the last byte. Does
    // not follow redirects. `progress` counts from `offset_bytes`.
    [[nodiscard]] base::Result<HttpAnswer> send(const std::string& method, const std::string& url,
                                                const HttpHeaders& headers, const base::Reader& body,
                                                std::uint64_t offset_bytes,
                                                const HttpProgress& progress = {});
    // Streams multipart/form-data: `fields`, then the file as field "content" named `filename`. `user` and
    // `password` are sent as Basic authentication and never logged.
    [[nodiscard]] base::Result<HttpAnswer> upload_form(const std::string& url,
                                                       const std::vector<MultipartField>& fields,
                                                       const std::filesystem::path& file,
                                                       const std::string& filename, const std::string& user,
                                                       const std::string& password,
                                                       const HttpProgress& progress = {});

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Which file of log-ins our programs read: the one that pip does.

// What $NETRC names, even where that is not there (a `~` in it is the shell's to replace); else ~/_netrc
// where there is no ~/.netrc. nullopt: ~/.netrc.
[[nodiscard]] std::optional<std::filesystem::path> other_netrc(
    const std::map<std::string, std::string>& environment);

}  // namespace wheelyard::io
