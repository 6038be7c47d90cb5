// HTTP by libcurl, with nothing newer than its 7.60. One easy handle per client keeps connections alive
// between requests; libcurl itself is loaded by the first of them.
#include "lib/io/http_client.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "lib/base/check.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"
#include "lib/io/curl_errors.hpp"
#include "lib/io/curl_library.hpp"

namespace wheelyard::io {
namespace fs = std::filesystem;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr std::uint64_t most_header_bytes = 256u << 10;  // of one answer
constexpr std::uint64_t most_error_body_bytes = 1u << 20;

struct FreeCurl {
    void operator()(CURL* handle) const { curl_library()->easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_library()->slist_free_all(list); }
    void operator()(curl_mime* mime) const { curl_library()->mime_free(mime); }
};
using Mime = std::unique_ptr<curl_mime, FreeCurl>;
using HeaderList = std::unique_ptr<curl_slist, FreeCurl>;

// Where the requests and other tools of the farm look, in that order (pip reads REQUESTS_CA_BUNDLE).
std::string ca_bundle_of(const HttpSettings& settings) {
    if (!settings.ca_bundle.empty()) return settings.ca_bundle;
    for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}) {
        const char* value = std::getenv(name);
        std::error_code ignored;
        if (value && fs::is_regular_file(value, ignored)) return value;
    }
    return {};
}

// Silence on an upload: while the body is under way it has stalled, after its last byte the server is at
// work. libcurl knows only one limit for both.
struct StallWatch {
    std::int64_t stall_timeout_ms = 0;
    std::int64_t answer_timeout_ms = 0;
    curl_off_t moved = -1;  // bytes in both directions when they last changed
    std::chrono::steady_clock::time_point changed;

    Status look(curl_off_t down, curl_off_t up, curl_off_t up_total) {
        const auto now = std::chrono::steady_clock::now();
        if (down + up != moved) {
            moved = down + up;
            changed = now;
            return {};
        }
        const bool sent = up_total > 0 && up >= up_total;
        const auto silent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - changed).count();
        if (silent_ms <= (sent ? answer_timeout_ms : stall_timeout_ms)) return {};
        return fail("http.timeout",
                    sent ? "the server did not answer the upload in time" : "the upload stands still", "",
                    "try again");
    }
};

// What one transfer collects; libcurl calls back into it.
struct Transfer {
    HttpAnswer answer;
    std::uint64_t limit_bytes = 0;
    std::uint64_t received = 0, header_bytes = 0;
    fs::path file;  // a 200 answer's body goes here; empty: into the answer
    std::optional<base::Fd> fd;
    Status problem = {};  // why a callback stopped the transfer
    HttpProgress progress;
    bool is_upload = false;
    StallWatch stall;  // of uploads; other transfers have libcurl's

    Status take_body(std::string_view bytes) {
        const bool to_file = !file.empty() && answer.status == 200;
        const auto limit = file.empty() || to_file ? limit_bytes : most_error_body_bytes;
        received += bytes.size();
        if (received > limit) {
            return fail("http.too_large", "the answer has more than " + std::to_string(limit) + " bytes");
        }
        if (!to_file) {
            answer.body += bytes;
            return {};
        }
        WHEELYARD_TRY(open_file());
        auto written = base::write_all(fd->get(), bytes);
        if (!written) written.error().value = file.native();
        return written;
    }

    Status open_file() {
        if (fd) return {};
        WHEELYARD_ASSIGN(fd, base::create_new(file));
        return {};
    }

    // A status line opens a new header section: of an interim answer, of a redirect, of the last answer.
    Status take_header(std::string_view line) {
        header_bytes += line.size();
        if (header_bytes > most_header_bytes)
            return fail("http.too_large", "the answer's headers are too large");
        line = base::trim(line);
        if (line.starts_with("HTTP/")) {
            answer.headers.clear();
            const auto code_at = line.find(' ');
            const auto rest =
                code_at == std::string_view::npos ? std::string_view() : line.substr(code_at + 1);
            answer.status = static_cast<int>(base::parse_decimal(rest.substr(0, 3)).value_or(0));
            answer.reason = std::string(base::trim(rest.substr(std::min<std::size_t>(3, rest.size()))));
            return {};
        }
        if (const auto colon = line.find(':'); colon != std::string_view::npos && colon > 0) {
            answer.headers.emplace_back(base::ascii_lower(line.substr(0, colon)),
                                        std::string(base::trim(line.substr(colon + 1))));
        }
        return {};
    }
};

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    self.problem = self.take_body({bytes, size * count});
    return self.problem ? size * count : 0;
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    self.problem = self.take_header({bytes, size * count});
    return self.problem ? size * count : 0;
}

int on_progress(void* transfer, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up) {
    auto& self = *static_cast<Transfer*>(transfer);
    if (self.is_upload) {
        self.problem = self.stall.look(down, up, up_total);
        if (!self.problem) return 1;
    }
    if (!self.progress) return 0;
    const auto done = static_cast<std::uint64_t>(std::max<curl_off_t>(0, self.is_upload ? up : down));
    const auto total =
        static_cast<std::uint64_t>(std::max<curl_off_t>(0, self.is_upload ? up_total : down_total));
    return self.progress(done, total) ? 0 : 1;
}

Result<HeaderList> header_list(const HttpHeaders& headers) {
    HeaderList list;
    for (const auto& [name, value] : headers) {
        const auto line = name + ": " + value;
        if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
            return fail("http.header", "a header's value must not hold a line break", name);
        }
        auto* longer = curl_library()->slist_append(list.get(), line.c_str());
        WHEELYARD_CHECK(longer != nullptr);
        static_cast<void>(list.release());
        list.reset(longer);
    }
    return list;
}

}  // namespace

std::string redirect_protocols(std::string_view url) {
    return base::ascii_lower(url.substr(0, 8)) == "https://" ? "https" : "http,https";
}

struct HttpClient::State {
    HttpSettings settings;
    std::string ca_bundle;
    const CurlLibrary* curl = nullptr;       // both are there
    std::unique_ptr<CURL, FreeCurl> handle;  // from the first request on
    char detail[CURL_ERROR_SIZE] = {};

    Status open() {
        if (handle) return {};
        curl = curl_library();
        if (curl == nullptr) {
            return fail("http.library", "libcurl is not there, and without it nothing is fetched or sent",
                        "libcurl.so.4", "install the package libcurl4, or add its folder to LD_LIBRARY_PATH");
        }
        handle.reset(curl->easy_init());
        WHEELYARD_CHECK(handle != nullptr);
        return {};
    }

    template <typename Value>
    void set(CURLoption option, Value value) const {
        WHEELYARD_CHECK(curl->easy_setopt(handle.get(), option, value) == CURLE_OK);
    }

    // What every request has; curl_easy_reset keeps the connections.
    void prepare(const std::string& url, Transfer& transfer) {
        curl->easy_reset(handle.get());
        detail[0] = '\0';
        set(CURLOPT_ERRORBUFFER, detail);
        set(CURLOPT_URL, url.c_str());
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_TCP_KEEPALIVE, 1L);
        set(CURLOPT_USERAGENT, settings.user_agent.c_str());
        set(CURLOPT_FOLLOWLOCATION, 1L);
        set(CURLOPT_MAXREDIRS, long{settings.most_redirects});
        const std::string redirects = redirect_protocols(url);
#if LIBCURL_VERSION_NUM >= 0x075500
        set(CURLOPT_PROTOCOLS_STR, "http,https");
        set(CURLOPT_REDIR_PROTOCOLS_STR, redirects.c_str());
#else
        set(CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
        set(CURLOPT_REDIR_PROTOCOLS,
            long{redirects == "https" ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        if (!ca_bundle.empty()) set(CURLOPT_CAINFO, ca_bundle.c_str());
        if (!settings.proxy.empty()) set(CURLOPT_PROXY, settings.proxy.c_str());
        set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect_timeout_ms));
        set(CURLOPT_LOW_SPEED_LIMIT, 1L);
        set(CURLOPT_LOW_SPEED_TIME,
            static_cast<long>(std::max<std::int64_t>(1, (settings.stall_timeout_ms + 999) / 1000)));
        set(CURLOPT_WRITEFUNCTION, on_body);
        set(CURLOPT_WRITEDATA, &transfer);
        set(CURLOPT_HEADERFUNCTION, on_header);
        set(CURLOPT_HEADERDATA, &transfer);
        set(CURLOPT_XFERINFOFUNCTION, on_progress);
        set(CURLOPT_XFERINFODATA, &transfer);
        set(CURLOPT_NOPROGRESS, transfer.progress ? 0L : 1L);
    }

    Result<HttpAnswer> perform(const std::string& url, Transfer& transfer) {
        const CURLcode number = curl->easy_perform(handle.get());
        // A server that refuses an upload early closes the connection on us; its answer says more than the
        // broken pipe.
        const bool refused =
            transfer.is_upload && number == CURLE_SEND_ERROR && transfer.answer.status >= 400;
        if (number != CURLE_OK && !refused) {
            if (!transfer.problem) {
                if (transfer.problem.error().value.empty()) transfer.problem.error().value = shown_url(url);
                return fail(std::move(transfer.problem.error()));
            }
            return fail_curl(number, detail, url);
        }
        const char* final_url = nullptr;
        curl->easy_getinfo(handle.get(), CURLINFO_EFFECTIVE_URL, &final_url);
        transfer.answer.final_url = final_url ? final_url : url;
        return std::move(transfer.answer);
    }
};

HttpClient::HttpClient(HttpSettings settings) : state_(std::make_unique<State>()) {
    state_->ca_bundle = ca_bundle_of(settings);
    state_->settings = std::move(settings);
}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpAnswer> HttpClient::get(const std::string& url, const HttpHeaders& headers,
                                   std::uint64_t limit_bytes) {
    WHEELYARD_TRY(state_->open());
    Transfer transfer;
    transfer.limit_bytes = limit_bytes;
    WHEELYARD_ASSIGN(const auto list, header_list(headers));
    state_->prepare(url, transfer);
    state_->set(CURLOPT_HTTPHEADER, list.get());
    state_->set(CURLOPT_ACCEPT_ENCODING, "");  // whatever libcurl can unpack; the limit counts unpacked bytes
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::head(const std::string& url, const HttpHeaders& headers) {
    WHEELYARD_TRY(state_->open());
    Transfer transfer;
    WHEELYARD_ASSIGN(const auto list, header_list(headers));
    state_->prepare(url, transfer);
    state_->set(CURLOPT_HTTPHEADER, list.get());
    state_->set(CURLOPT_NOBODY, 1L);
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::post(const std::string& url, const std::string& body,
                                    const HttpHeaders& headers, std::uint64_t limit_bytes) {
    WHEELYARD_TRY(state_->open());
    Transfer transfer;
    transfer.limit_bytes = limit_bytes;
    WHEELYARD_ASSIGN(const auto list, header_list(headers));
    state_->prepare(url, transfer);
    state_->set(CURLOPT_HTTPHEADER, list.get());
    state_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    state_->set(CURLOPT_POSTFIELDS, body.c_str());  // borrowed until the end of the transfer
    state_->set(CURLOPT_FOLLOWLOCATION, 0L);
    state_->set(CURLOPT_LOW_SPEED_TIME,
                static_cast<long>(std::max<std::int64_t>(1, state_->settings.answer_timeout_ms / 1000)));
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::download(const std::string& url, const fs::path& file,
                                        std::uint64_t limit_bytes, const HttpProgress& progress) {
    WHEELYARD_TRY(state_->open());
    Transfer transfer;
    transfer.limit_bytes = limit_bytes;
    transfer.file = file;
    transfer.progress = progress;
    state_->prepare(url, transfer);
    auto answer = state_->perform(url, transfer);
    if (answer && answer->status == 200) {
        if (auto made = transfer.open_file(); !made) return fail(std::move(made.error()));  // an empty body
    } else if (transfer.fd) {
        if (auto removed = base::remove_file(file); !removed && answer)
            return fail(std::move(removed.error()));
    }
    return answer;
}

Result<HttpAnswer> HttpClient::upload_form(const std::string& url, const std::vector<MultipartField>& fields,
                                           const fs::path& file, const std::string& filename,
                                           const std::string& user, const std::string& password,
                                           const HttpProgress& progress) {
    WHEELYARD_TRY(base::file_size(file));
    WHEELYARD_TRY(state_->open());
    Transfer transfer;
    transfer.limit_bytes = most_error_body_bytes;
    transfer.progress = progress;
    transfer.is_upload = true;
    state_->prepare(url, transfer);
    const CurlLibrary* curl = state_->curl;
    const Mime form(curl->mime_init(state_->handle.get()));
    const auto require = [](CURLcode number) { WHEELYARD_CHECK(number == CURLE_OK); };
    for (const auto& field : fields) {
        auto* part = curl->mime_addpart(form.get());
        require(curl->mime_name(part, field.name.c_str()));
        require(curl->mime_data(part, field.value.data(), field.value.size()));
    }
    auto* part = curl->mime_addpart(form.get());
    require(curl->mime_name(part, "content"));
    if (const auto number = curl->mime_filedata(part, file.c_str()); number != CURLE_OK) {
        return fail_curl(number, "", url);
    }
    require(curl->mime_filename(part, filename.c_str()));
    require(curl->mime_type(part, "application/octet-stream"));
    state_->set(CURLOPT_MIMEPOST, form.get());
    transfer.stall.stall_timeout_ms = state_->settings.stall_timeout_ms;
    transfer.stall.answer_timeout_ms = state_->settings.answer_timeout_ms;
    state_->set(CURLOPT_LOW_SPEED_TIME, 0L);
    state_->set(CURLOPT_NOPROGRESS, 0L);
    // A redirected POST would turn into a GET, and credentials would travel: the caller sees the 3xx instead.
    state_->set(CURLOPT_FOLLOWLOCATION, 0L);
    if (!user.empty() || !password.empty()) {
        state_->set(CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        state_->set(CURLOPT_USERNAME, user.c_str());
        state_->set(CURLOPT_PASSWORD, password.c_str());
    }
    auto answer = state_->perform(url, transfer);
    curl->easy_reset(state_->handle.get());  // the form and the password go before their owners do
    return answer;
}

}  // namespace wheelyard::io
