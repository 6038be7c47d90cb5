// libcurl's multi interface with one transfer: its read callback pauses the transfer while the caller has no
// bytes.
#include "lib/io/http_push.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "lib/base/check.hpp"
#include "lib/io/curl_library.hpp"
#include "lib/io/http_transfer.hpp"

namespace wheelyard::io {
namespace {

struct FreeMulti {
    void operator()(CURLM* multi) const { curl_library()->multi_cleanup(multi); }
};

constexpr int longest_wait_ms = 100;

}  // namespace

struct HttpPush::State {
    HttpSettings settings;
    std::string url;
    std::string method;
    std::string ca_bundle;
    std::function<bool()> is_given_up;
    const CurlLibrary* curl = nullptr;
    Transfer transfer;
    HeaderList headers;
    std::string_view pending;  // of the caller
    bool has_ended = false;    // no more bytes come
    std::optional<CURLcode> result;
    char detail[CURL_ERROR_SIZE] = {};
    std::unique_ptr<CURL, FreeCurl> handle;
    std::unique_ptr<CURLM, FreeMulti> multi;  // last: it refers to the handle

    template <typename Value>
    void set(CURLoption option, Value value) const {
        WHEELYARD_CHECK(curl->easy_setopt(handle.get(), option, value) == CURLE_OK);
    }

    static std::size_t on_pending(char* into, std::size_t size, std::size_t count, void* state) {
        auto& self = *static_cast<State*>(state);
        if (self.pending.empty()) return self.has_ended ? 0 : CURL_READFUNC_PAUSE;
        const std::size_t taken = std::min(size * count, self.pending.size());
        std::memcpy(into, self.pending.data(), taken);
        self.pending.remove_prefix(taken);
        return taken;
    }

    void prepare(const PushedRequest& request) {
        handle.reset(curl->easy_init());
        multi.reset(curl->multi_init());
        WHEELYARD_CHECK(handle != nullptr && multi != nullptr);
        set(CURLOPT_ERRORBUFFER, detail);
        set(CURLOPT_URL, url.c_str());
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_USERAGENT, settings.user_agent.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
        set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
        set(CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
        if (!ca_bundle.empty()) set(CURLOPT_CAINFO, ca_bundle.c_str());
        if (!settings.proxy.empty() || !settings.uses_environment) set(CURLOPT_PROXY, settings.proxy.c_str());
        set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect_timeout_ms));
        set(CURLOPT_WRITEFUNCTION, on_body);
        set(CURLOPT_WRITEDATA, &transfer);
        set(CURLOPT_HEADERFUNCTION, on_header);
        set(CURLOPT_HEADERDATA, &transfer);
        set(CURLOPT_CUSTOMREQUEST, method.c_str());
        if (method == "HEAD") set(CURLOPT_NOBODY, 1L);
        if (request.length_bytes != std::uint64_t{0}) {
            set(CURLOPT_UPLOAD, 1L);
            set(CURLOPT_READFUNCTION, on_pending);
            set(CURLOPT_READDATA, this);
            if (request.length_bytes)
                set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(*request.length_bytes));
        }
        set(CURLOPT_HTTPHEADER, headers.get());
        WHEELYARD_CHECK(curl->multi_add_handle(multi.get(), handle.get()) == CURLM_OK);
    }

    // Moves bytes until `is_done`, the end of the transfer, the time without progress, or the caller gives
    // up.
    template <typename IsDone>
    base::Status run(std::int64_t patience_ms, IsDone is_done) {
        auto since = std::chrono::steady_clock::now();
        curl_off_t moved_before = -1;
        while (true) {
            int running = 0;
            WHEELYARD_CHECK(curl->multi_perform(multi.get(), &running) == CURLM_OK);
            int left = 0;
            while (const CURLMsg* message = curl->multi_info_read(multi.get(), &left)) {
                if (message->msg == CURLMSG_DONE) result = message->data.result;
            }
            if (result || is_done()) return {};
            const auto now = std::chrono::steady_clock::now();
            curl_off_t up = 0, down = 0;
            curl->easy_getinfo(handle.get(), CURLINFO_SIZE_UPLOAD_T, &up);
            curl->easy_getinfo(handle.get(), CURLINFO_SIZE_DOWNLOAD_T, &down);
            if (up + down != moved_before) {
                moved_before = up + down;
                since = now;
            }
            if (now - since > std::chrono::milliseconds(patience_ms))
                return base::fail_as(
                    base::ErrorKind::cut, base::Recovery::retry,
                    {"http.timeout", "The server does not answer", shown_url(url), "try again"});
            if (is_given_up && is_given_up())
                return base::fail_as(
                    base::ErrorKind::cut, base::Recovery::retry,
                    {"http.given_up", "The request was given up", shown_url(url), "try again"});
            int ready = 0;
            curl->multi_wait(multi.get(), nullptr, 0, longest_wait_ms, &ready);
        }
    }
};

HttpPush::HttpPush(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpPush::~HttpPush() {
    if (state_->multi) state_->curl->multi_remove_handle(state_->multi.get(), state_->handle.get());
}

base::Result<std::unique_ptr<HttpPush>> HttpPush::begin(const HttpSettings& settings,
                                                        const PushedRequest& request) {
    auto state = std::make_unique<State>();
    WHEELYARD_ASSIGN(state->curl, loaded_curl());
    state->settings = settings;
    state->url = request.url;
    state->method = request.method;
    state->is_given_up = request.is_given_up;
    state->ca_bundle = ca_bundle_of(settings);
    state->transfer.limit = request.limit_bytes;
    WHEELYARD_ASSIGN(state->headers, header_list(request.headers));
    state->prepare(request);
    return std::unique_ptr<HttpPush>(new HttpPush(std::move(state)));
}

base::Status HttpPush::feed(std::string_view bytes) {
    State& state = *state_;
    if (state.result) return {};
    state.pending = bytes;
    state.curl->easy_pause(state.handle.get(), CURLPAUSE_CONT);
    const base::Status fed =
        state.run(state.settings.stall_timeout_ms, [&] { return state.pending.empty(); });
    state.pending = {};
    return fed;
}

bool HttpPush::has_ended() const {
    return state_->result.has_value();
}

base::Result<HttpAnswer> HttpPush::finish() {
    State& state = *state_;
    state.has_ended = true;
    if (!state.result) {
        state.curl->easy_pause(state.handle.get(), CURLPAUSE_CONT);
        WHEELYARD_TRY(state.run(state.settings.answer_timeout_ms, [] { return false; }));
    }
    // A server that refuses early closes the connection, and its answer says more than the error of sending.
    const bool has_refused = *state.result == CURLE_SEND_ERROR && state.transfer.answer.status >= 400;
    if (*state.result == CURLE_OK || has_refused) return std::move(state.transfer.answer);
    if (!state.transfer.problem) return base::fail(std::move(state.transfer.problem.error()));
    long verify_result = 0;
    state.curl->easy_getinfo(state.handle.get(), CURLINFO_SSL_VERIFYRESULT, &verify_result);
    return fail_curl(*state.result, state.detail, state.url, verify_result);
}

}  // namespace wheelyard::io
