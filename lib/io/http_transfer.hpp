// One transfer as libcurl calls back into it: what came is collected within its limits, what goes out is
// read, and a silent other side is noticed. Belongs to http_client.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "lib/base/fd.hpp"
#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/io/curl_library.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::io {

inline constexpr std::uint64_t max_header_bytes = 256u << 10;  // of one answer
inline constexpr std::uint64_t max_error_body_bytes = 1u << 20;

// Silence on an upload: while the body is under way it has stalled, after its last byte the server is at
// work. libcurl knows only one limit for both.
struct StallWatch {
    std::int64_t stall_timeout_ms = 0;
    std::int64_t answer_timeout_ms = 0;
    bool has_body = true;   // without one the server is at work from the start
    curl_off_t moved = -1;  // bytes in both directions when they last changed
    std::chrono::steady_clock::time_point changed = {};

    [[nodiscard]] base::Status look(curl_off_t down, curl_off_t up, curl_off_t up_total);
};

// What goes out: the bytes of `from` behind `offset`, to its end.
struct OutgoingBody {
    const base::Reader* from = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t at = 0;
};

struct Transfer {
    HttpAnswer answer;
    std::uint64_t limit_bytes = 0;
    std::uint64_t received = 0, header_bytes = 0;
    std::filesystem::path file;  // a 200 answer's body goes here; empty: into the answer
    std::optional<base::Fd> fd;
    base::Status problem = {};  // why a callback stopped the transfer
    HttpProgress progress;
    bool is_upload = false;
    StallWatch stall;   // of uploads; other transfers have libcurl's
    OutgoingBody body;  // of send()

    [[nodiscard]] base::Status take_body(std::string_view bytes);
    [[nodiscard]] base::Status take_header(std::string_view line);
    [[nodiscard]] base::Status open_file();
};

// libcurl's callbacks; the last argument is the Transfer.
std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer);
std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer);
int on_progress(void* transfer, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);
std::size_t on_read(char* into, std::size_t size, std::size_t count, void* transfer);
int on_seek(void* transfer, curl_off_t offset, int origin);

}  // namespace wheelyard::io
