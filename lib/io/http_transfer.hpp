// The state of one transfer and libcurl's callbacks on it: takes what arrives, reads the outgoing body,
// detects stalls. Used by http_client.cpp only.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/io/curl_library.hpp"
#include "lib/io/http_arrival.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::io {

// Detects a stalled upload. While the body is sent, stall_timeout_ms applies; after its last byte,
// answer_timeout_ms. libcurl has only one limit for both.
struct StallWatch {
    std::int64_t stall_timeout_ms = 0;
    std::int64_t answer_timeout_ms = 0;
    bool has_body = true;   // without a body the server works from the start
    curl_off_t moved = -1;  // bytes in both directions at the last change
    std::chrono::steady_clock::time_point changed = {};

    [[nodiscard]] base::Status check(curl_off_t down, curl_off_t up, curl_off_t up_total);
};

// The outgoing body: the bytes of `from` from `begin` to its end.
struct OutgoingBody {
    const base::Reader* from = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t at = 0;
};

struct Transfer : HttpArrival {
    std::filesystem::path file;  // of download()
    std::optional<base::Fd> fd;
    base::Status problem = {};  // why a callback stopped the transfer
    HttpProgress progress;
    bool is_upload = false;
    StallWatch stall;   // for uploads; libcurl's own limit applies to other transfers
    OutgoingBody body;  // for send()

    [[nodiscard]] base::Status write_to_file(std::string_view bytes);
    [[nodiscard]] base::Status open_file();
};

// libcurl's callbacks; `transfer` points to the Transfer.
std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer);
std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer);
int on_progress(void* transfer, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);
std::size_t on_read(char* into, std::size_t size, std::size_t count, void* transfer);
// Refuses private addresses.
curl_socket_t on_open_socket(void* transfer, curlsocktype purpose, curl_sockaddr* address);
int on_seek(void* transfer, curl_off_t offset, int origin);

// What libcurl allocates, as owning handles. Used by the clients of this folder only.

struct FreeCurl {
    void operator()(CURL* handle) const { curl_library()->easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_library()->slist_free_all(list); }
    void operator()(curl_mime* mime) const { curl_library()->mime_free(mime); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeCurl>;

// "http.header": a value has a line break.
[[nodiscard]] base::Result<HeaderList> header_list(const HttpHeaders& headers);
// The CA bundle from the settings; or, in the order that other clients use, from the environment (pip reads
// REQUESTS_CA_BUNDLE); or the system's.
[[nodiscard]] std::string ca_bundle_of(const HttpSettings& settings);
// "http.library"
[[nodiscard]] base::Result<const CurlLibrary*> loaded_curl();

}  // namespace wheelyard::io
