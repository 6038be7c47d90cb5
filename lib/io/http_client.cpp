// HTTP with libcurl 7.60 or newer. One easy handle per client keeps connections alive between requests; the
// first request loads libcurl.
#include "lib/io/http_client.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "lib/base/check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/curl_library.hpp"
#include "lib/io/http_transfer.hpp"

namespace wheelyard::io {

namespace fs = std::filesystem;
using base::fail;
using base::Result;
using base::Status;

namespace {

using Mime = std::unique_ptr<curl_mime, FreeCurl>;

}  // namespace

std::string redirect_protocols(std::string_view url) {
    return base::ascii_lower(url.substr(0, 8)) == "https://" ? "https" : "http,https";
}

struct HttpClient::State {
    HttpSettings settings;
    std::string ca_bundle;
    std::optional<fs::path> netrc;      // in place of ~/.netrc
    const CurlLibrary* curl = nullptr;  // `curl` and `handle` are set by the first request
    std::unique_ptr<CURL, FreeCurl> handle;
    HeaderList headers;  // of the request in progress
    char detail[CURL_ERROR_SIZE] = {};

    Status open() {
        if (handle) return {};
        WHEELYARD_ASSIGN(curl, loaded_curl());
        handle.reset(curl->easy_init());
        WHEELYARD_CHECK(handle != nullptr);
        return {};
    }

    template <typename Value>
    void set(CURLoption option, Value value) const {
        WHEELYARD_CHECK(curl->easy_setopt(handle.get(), option, value) == CURLE_OK);
    }

    // The options common to all requests. curl_easy_reset keeps the connections.
    Status prepare(const std::string& url, const HttpHeaders& with, Transfer& transfer) {
        WHEELYARD_TRY(open());
        WHEELYARD_ASSIGN(headers, header_list(with));
        curl->easy_reset(handle.get());
        detail[0] = '\0';
        set(CURLOPT_ERRORBUFFER, detail);
        set(CURLOPT_URL, url.c_str());
        set(CURLOPT_HTTPHEADER, headers.get());
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_TCP_KEEPALIVE, 1L);
        set(CURLOPT_USERAGENT, settings.user_agent.c_str());
        set(CURLOPT_FOLLOWLOCATION, settings.follows_redirects ? 1L : 0L);
        set(CURLOPT_MAXREDIRS, long{settings.max_redirects});
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
        if (!settings.proxy.empty() || !settings.uses_environment)
            set(CURLOPT_PROXY, settings.proxy.c_str());  // empty: none, whatever the environment says
        // As pip and uv do, so that one line lets all of them read a private index. Credentials of the
        // request win.
        if (settings.uses_environment) set(CURLOPT_NETRC, long{CURL_NETRC_OPTIONAL});
        if (netrc) set(CURLOPT_NETRC_FILE, netrc->c_str());
        // With a proxy, the connection is the proxy's: it checks addresses.
        if (!settings.permits_private_hosts && settings.proxy.empty()) {
            set(CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
            set(CURLOPT_OPENSOCKETDATA, &transfer);
        }
        set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect_timeout_ms));
        set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(settings.min_bytes_per_s));
        set(CURLOPT_LOW_SPEED_TIME,
            static_cast<long>(std::max<std::int64_t>(1, (settings.stall_timeout_ms + 999) / 1000)));
        set(CURLOPT_WRITEFUNCTION, on_body);
        set(CURLOPT_WRITEDATA, &transfer);
        set(CURLOPT_HEADERFUNCTION, on_header);
        set(CURLOPT_HEADERDATA, &transfer);
        set(CURLOPT_XFERINFOFUNCTION, on_progress);
        set(CURLOPT_XFERINFODATA, &transfer);
        set(CURLOPT_NOPROGRESS, transfer.progress ? 0L : 1L);
        return {};
    }

    // Sets the timeouts for a large upload and for the answer to it.
    void watch_upload(Transfer& transfer) const {
        transfer.stall.stall_timeout_ms = settings.stall_timeout_ms;
        transfer.stall.answer_timeout_ms = settings.answer_timeout_ms;
        set(CURLOPT_LOW_SPEED_TIME, 0L);
        set(CURLOPT_NOPROGRESS, 0L);
        // Following a redirect would turn a POST into a GET and forward credentials: return the 3xx instead.
        set(CURLOPT_FOLLOWLOCATION, 0L);
    }

    Result<HttpAnswer> perform(const std::string& url, Transfer& transfer) {
        const CURLcode number = curl->easy_perform(handle.get());
        const char* final_url = nullptr;
        curl->easy_getinfo(handle.get(), CURLINFO_EFFECTIVE_URL, &final_url);
        transfer.answer.final_url = final_url ? final_url : url;
        long verify_result = 0;
        curl->easy_getinfo(handle.get(), CURLINFO_SSL_VERIFYRESULT, &verify_result);
        // Drops the references to the headers, the form and the password before they are freed.
        curl->easy_reset(handle.get());
        headers.reset();
        // A server that rejects an upload early closes the connection. Its answer is more useful than the
        // send error.
        const bool refused =
            transfer.is_upload && number == CURLE_SEND_ERROR && transfer.answer.status >= 400;
        if (number != CURLE_OK && !refused) {
            if (!transfer.problem) {
                if (transfer.problem.error().value.empty()) transfer.problem.error().value = shown_url(url);
                return fail(std::move(transfer.problem.error()));
            }
            if (!settings.proxy.empty() &&
                (number == CURLE_COULDNT_CONNECT || number == CURLE_COULDNT_RESOLVE_PROXY))
                return base::fail_as(
                    base::ErrorKind::unreachable, base::Recovery::retry,
                    {"http.connect", std::string("The proxy cannot be reached (") + detail + ")",
                     shown_url(settings.proxy),
                     "check `proxy` in the configuration, and that the proxy runs"});
            return fail_curl(number, detail, url, verify_result);
        }
        return std::move(transfer.answer);
    }
};

HttpClient::HttpClient(HttpSettings settings) : state_(std::make_unique<State>()) {
    state_->ca_bundle = ca_bundle_of(settings);
    if (settings.uses_environment) state_->netrc = other_netrc(base::current_environment());
    state_->settings = std::move(settings);
}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpAnswer> HttpClient::get(const std::string& url, const HttpHeaders& headers, const BodyLimit& limit,
                                   const HttpProgress& progress) {
    Transfer transfer;
    transfer.limit = limit;
    transfer.progress = progress;
    WHEELYARD_TRY(state_->prepare(url, headers, transfer));
    state_->set(CURLOPT_TIMEOUT_MS, static_cast<long>(state_->settings.total_timeout_ms));
    state_->set(CURLOPT_ACCEPT_ENCODING,
                "");  // all encodings that libcurl supports; the limit counts decoded bytes
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::head(const std::string& url, const HttpHeaders& headers) {
    Transfer transfer;
    WHEELYARD_TRY(state_->prepare(url, headers, transfer));
    state_->set(CURLOPT_NOBODY, 1L);
    state_->set(CURLOPT_TIMEOUT_MS, static_cast<long>(state_->settings.total_timeout_ms));
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::fetch(const std::string& url, const HttpHeaders& headers,
                                     std::uint64_t limit_bytes, const HttpSink& sink,
                                     const HttpProgress& progress, const HttpHead& head) {
    Transfer transfer;
    transfer.progress = progress;
    transfer.limit = {limit_bytes, &sink};
    if (head) transfer.head = &head;
    WHEELYARD_TRY(state_->prepare(url, headers, transfer));
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::post(const std::string& url, const std::string& body,
                                    const HttpHeaders& headers, std::uint64_t limit_bytes) {
    Transfer transfer;
    transfer.limit = limit_bytes;
    WHEELYARD_TRY(state_->prepare(url, headers, transfer));
    state_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    state_->set(CURLOPT_POSTFIELDS, body.c_str());  // borrowed until the transfer ends
    state_->set(CURLOPT_FOLLOWLOCATION, 0L);
    state_->set(CURLOPT_LOW_SPEED_TIME,
                static_cast<long>(std::max<std::int64_t>(1, state_->settings.answer_timeout_ms / 1000)));
    state_->set(CURLOPT_TIMEOUT_MS, static_cast<long>(state_->settings.total_timeout_ms));
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::send(const std::string& method, const std::string& url,
                                    const HttpHeaders& headers, const base::Reader& body,
                                    std::uint64_t offset_bytes, const HttpProgress& progress) {
    WHEELYARD_CHECK(offset_bytes <= body.size());
    Transfer transfer;
    transfer.limit = max_error_body_bytes;
    transfer.progress = progress;
    transfer.is_upload = true;
    transfer.body = {&body, offset_bytes, offset_bytes};
    transfer.stall.has_body = offset_bytes < body.size();
    WHEELYARD_TRY(state_->prepare(url, headers, transfer));
    state_->set(CURLOPT_UPLOAD, 1L);
    state_->set(CURLOPT_CUSTOMREQUEST, method.c_str());
    state_->set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.size() - offset_bytes));
    state_->set(CURLOPT_READFUNCTION, on_read);
    state_->set(CURLOPT_READDATA, &transfer);
    state_->set(CURLOPT_SEEKFUNCTION, on_seek);
    state_->set(CURLOPT_SEEKDATA, &transfer);
    state_->watch_upload(transfer);
    return state_->perform(url, transfer);
}

Result<HttpAnswer> HttpClient::download(const std::string& url, const fs::path& file,
                                        std::uint64_t limit_bytes, const HttpProgress& progress,
                                        const HttpHeaders& headers) {
    Transfer transfer;
    const HttpSink sink = [&transfer](std::string_view bytes) { return transfer.write_to_file(bytes); };
    transfer.limit = {limit_bytes, &sink};
    transfer.file = file;
    transfer.progress = progress;
    WHEELYARD_TRY(state_->prepare(url, headers, transfer));
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
    Transfer transfer;
    transfer.limit = max_error_body_bytes;
    transfer.progress = progress;
    transfer.is_upload = true;
    WHEELYARD_TRY(state_->prepare(url, {}, transfer));
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
    state_->watch_upload(transfer);
    if (!user.empty() || !password.empty()) {
        state_->set(CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        state_->set(CURLOPT_USERNAME, user.c_str());
        state_->set(CURLOPT_PASSWORD, password.c_str());
    }
    return state_->perform(url, transfer);
}

// The part of http_client.hpp that needs no libcurl; callers that only read answers do not link it.
std::string HttpAnswer::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (base::equals_ignoring_case(key, name)) return value;
    }
    return {};
}

namespace fs = std::filesystem;

std::optional<fs::path> other_netrc(const std::map<std::string, std::string>& environment) {
    if (const auto named = environment.find("NETRC"); named != environment.end()) return named->second;
    const auto home = environment.find("HOME");
    if (home == environment.end() || home->second.empty()) return std::nullopt;
    const fs::path folder = home->second;
    std::error_code ignored;
    if (fs::exists(folder / ".netrc", ignored) || !fs::exists(folder / "_netrc", ignored))
        return std::nullopt;
    return folder / "_netrc";
}

}  // namespace wheelyard::io
