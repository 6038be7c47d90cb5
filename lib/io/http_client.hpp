// HTTP requests by libcurl: bounded answers, downloads to files, streamed multipart uploads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::io {

struct HttpSettings {
    std::string user_agent = "wheelyard/" WHEELYARD_VERSION;
    std::string ca_bundle = {};  // empty: SSL_CERT_FILE / the system's
    std::string proxy = {};      // empty: the environment's http_proxy, https_proxy, no_proxy
    std::int64_t connect_timeout_ms = 20'000;
    std::int64_t stall_timeout_ms = 60'000;  // no byte for this long
    std::int64_t answer_timeout_ms =
        900'000;  // after the last byte of an upload: the server checks multi-GB wheels
    int max_redirects = 5;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpAnswer {
    int status = 0;
    std::string reason;   // the reason phrase, where the server says one
    HttpHeaders headers;  // names in lower case
    std::string body;
    std::string final_url;
    [[nodiscard]] std::string header(std::string_view name) const;  // empty when absent
};

// `error`, of an answer with this status: unavailable and worth a retry, or final.
[[nodiscard]] inline tl::unexpected<base::Error> fail_status(int status, base::Error error) {
    const bool is_passing = status >= 500 || status == 408 || status == 425 || status == 429;
    if (!is_passing) return base::fail(std::move(error));
    return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, std::move(error));
}

// Bytes so far, bytes in all (0: unknown). Return false to stop the transfer.
using HttpProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// The protocols that a request for `url` may be redirected to: what was asked for over https is not taken
// from a plain connection. Pure.
[[nodiscard]] std::string redirect_protocols(std::string_view url);

struct MultipartField {
    std::string name;
    std::string value;
};

// One client a thread; keeps its connections. A status of 400 or more is an answer, not an error; errors are
// "http.*": http.resolve, http.connect, http.tls, http.timeout, http.too_large, http.cut, http.stopped,
// http.url (a protocol that is not allowed here, https that redirects to http among them).
class HttpClient {
  public:
    explicit HttpClient(HttpSettings settings = {});
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    ~HttpClient();

    [[nodiscard]] base::Result<HttpAnswer> get(const std::string& url, const HttpHeaders& headers = {},
                                               std::uint64_t limit_bytes = 64u << 20,
                                               const HttpProgress& progress = {});
    [[nodiscard]] base::Result<HttpAnswer> head(const std::string& url, const HttpHeaders& headers = {});
    // Writes a 200 answer's body to `file` (made new; not fsynced); other statuses keep their body in `body`.
    [[nodiscard]] base::Result<HttpAnswer> download(const std::string& url, const std::filesystem::path& file,
                                                    std::uint64_t limit_bytes,
                                                    const HttpProgress& progress = {});
    // A small body, whose Content-Type is among the headers. Redirects are not followed: a POST would become
    // a GET. The answer may take as long as an upload's.
    [[nodiscard]] base::Result<HttpAnswer> post(const std::string& url, const std::string& body,
                                                const HttpHeaders& headers,
                                                std::uint64_t limit_bytes = 64u << 20);
    // `method` with the bytes of `body` behind `offset_bytes`, streamed; the time for the answer counts from
    // the last of them. Redirects are not followed. `progress` counts from `offset_bytes`.
    [[nodiscard]] base::Result<HttpAnswer> send(const std::string& method, const std::string& url,
                                                const HttpHeaders& headers, const base::Reader& body,
                                                std::uint64_t offset_bytes,
                                                const HttpProgress& progress = {});
    // multipart/form-data with `fields` first and then the file as field "content" named `filename`,
    // streamed. `user` and `password` become Basic authentication; they are never logged.
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

}  // namespace wheelyard::io
