// libcurl's callbacks.
#include "lib/io/http_transfer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "lib/base/check.hpp"
#include "lib/io/private_address.hpp"

namespace wheelyard::io {

using base::Status;

Status StallWatch::check(curl_off_t down, curl_off_t up, curl_off_t up_total) {
    const auto now = std::chrono::steady_clock::now();
    if (down + up != moved) {
        moved = down + up;
        changed = now;
        return {};
    }
    const bool sent = !has_body || (up_total > 0 && up >= up_total);
    const auto silent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - changed).count();
    if (silent_ms <= (sent ? answer_timeout_ms : stall_timeout_ms)) return {};
    return base::fail_as(
        base::ErrorKind::cut, base::Recovery::retry,
        {"http.timeout", sent ? "the server did not answer the upload in time" : "the upload stalled", "",
         "try again"});
}

Status Transfer::write_to_file(std::string_view bytes) {
    WHEELYARD_TRY(open_file());
    auto written = base::write_all(fd->get(), bytes);
    if (!written) written.error().value = file.native();
    return written;
}

Status Transfer::open_file() {
    if (fd) return {};
    WHEELYARD_ASSIGN(fd, base::create_new(file));
    return {};
}

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
        self.problem = self.stall.check(down, up, up_total);
        if (!self.problem) return 1;
    }
    if (!self.progress) return 0;
    const auto done = static_cast<std::uint64_t>(std::max<curl_off_t>(0, self.is_upload ? up : down));
    const auto total =
        static_cast<std::uint64_t>(std::max<curl_off_t>(0, self.is_upload ? up_total : down_total));
    return self.progress(done, total) ? 0 : 1;
}

std::size_t on_read(char* into, std::size_t size, std::size_t count, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    auto& body = self.body;
    const auto length = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::uint64_t{size} * count, body.from->size() - body.at));
    self.problem = body.from->read_at(body.at, into, length);
    if (!self.problem) return CURL_READFUNC_ABORT;
    body.at += length;
    return length;
}

// libcurl rewinds when a reused connection turns out to be dead after the first bytes.
int on_seek(void* transfer, curl_off_t offset, int origin) {
    auto& body = static_cast<Transfer*>(transfer)->body;
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
    const std::uint64_t at = body.begin + static_cast<std::uint64_t>(offset);
    if (at > body.from->size()) return CURL_SEEKFUNC_FAIL;
    body.at = at;
    return CURL_SEEKFUNC_OK;
}

curl_socket_t on_open_socket(void* transfer, curlsocktype /*purpose*/, curl_sockaddr* address) {
    auto& self = *static_cast<Transfer*>(transfer);
    if (is_private_address(address->addr)) {
        self.problem =
            base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                          {"http.private", "The host has a private address", render_address(address->addr),
                           "permit the host by name if it is yours"});
        return CURL_SOCKET_BAD;
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

namespace fs = std::filesystem;
using base::fail;
using base::Result;

std::string ca_bundle_of(const HttpSettings& settings) {
    if (!settings.ca_bundle.empty()) return settings.ca_bundle;
    for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}) {
        const char* value = std::getenv(name);
        std::error_code ignored;
        if (value && fs::is_regular_file(value, ignored)) return value;
    }
    return default_ca_bundle();
}

Result<HeaderList> header_list(const HttpHeaders& headers) {
    HeaderList list;
    for (const auto& [name, value] : headers) {
        const auto line = name + ": " + value;
        if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
            return fail("http.header", "A header value contains a line break", name);
        }
        auto* longer = curl_library()->slist_append(list.get(), line.c_str());
        WHEELYARD_CHECK(longer != nullptr);
        static_cast<void>(list.release());
        list.reset(longer);
    }
    return list;
}

Result<const CurlLibrary*> loaded_curl() {
    const CurlLibrary* const library = curl_library();
    if (library != nullptr) return library;
    return base::fail_as(base::ErrorKind::other, base::Recovery::person,
                         {"http.library", "libcurl is not installed", "libcurl.so.4",
                          "install the package libcurl4, or add its folder to LD_LIBRARY_PATH"});
}

}  // namespace wheelyard::io
