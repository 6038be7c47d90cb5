// The lower bound for an upload: a program that receives a wheel, hashes it, writes it to disk, unpacks and
// hashes every member, and answers. No form, no rules, no catalog, no page. bench/http_upload.py runs it.
//
//     upload_bound FOLDER
//
// Prints its port, then serves PUT requests with Content-Length, one after another, until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"

using namespace wheelyard;

namespace {

constexpr std::size_t receive_bytes = 1u << 20;
constexpr std::size_t max_head_bytes = 16u << 10;
constexpr std::string_view length_field = "content-length:";

base::Status unpack_and_hash(const base::Reader& bytes, const inspect::Member& member) {
    inspect::MemberStream stream(bytes, member);
    base::Digest digest(base::DigestKind::sha256);
    for (;;) {
        WHEELYARD_ASSIGN(const auto piece, stream.next());
        if (piece.empty()) break;
        digest.update(piece);
    }
    return digest.finish().empty() ? base::fail("bench.digest", "No digest.", member.name) : base::Status();
}

base::Status unpack_all(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
    inspect::Findings findings{inspect::Policy{}};
    WHEELYARD_ASSIGN(const auto frame, inspect::read_frame(reader, findings));
    if (!frame) return base::fail("bench.frame", "No frame of a wheel.", file.string());
    return inspect::for_each_parallel(
        frame->members.size(), std::max(1u, std::thread::hardware_concurrency()),
        [&](std::size_t i) -> base::Status {
            const auto& member = frame->members[i];
            return member.readable ? unpack_and_hash(reader, member) : base::Status();
        });
}

// `rest` has the body bytes that were received with the head.
std::uint64_t read_head(int client, std::string& rest) {
    std::string bytes;
    std::size_t end = std::string::npos;
    while ((end = bytes.find("\r\n\r\n")) == std::string::npos && bytes.size() < max_head_bytes) {
        char piece[4096];
        const ssize_t got = ::recv(client, piece, sizeof piece, 0);
        if (got <= 0) return 0;
        bytes.append(piece, static_cast<std::size_t>(got));
    }
    if (end == std::string::npos) return 0;
    rest = bytes.substr(end + 4);
    const std::string head = base::ascii_lower(bytes.substr(0, end));
    const auto at = head.find(length_field);
    if (at == std::string::npos) return 0;
    const std::string_view value = std::string_view(head).substr(at + length_field.size());
    return base::parse_decimal(base::trim(value.substr(0, value.find('\r')))).value_or(0);
}

base::Status take(int client, const std::filesystem::path& file) {
    std::string rest;
    const std::uint64_t length = read_head(client, rest);
    WHEELYARD_ASSIGN(const auto fd, base::create_new(file));
    base::Digest digest(base::DigestKind::sha256);
    std::vector<char> buffer(receive_bytes);
    std::copy(rest.begin(), rest.end(), buffer.begin());
    for (std::uint64_t done = rest.size(), fresh = rest.size(); done <= length;) {
        digest.update({buffer.data(), static_cast<std::size_t>(fresh)});
        WHEELYARD_TRY(base::write_all(fd.get(), {buffer.data(), static_cast<std::size_t>(fresh)}));
        if (done == length) break;
        const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), length - done));
        const ssize_t got = ::recv(client, buffer.data(), want, MSG_WAITALL);
        if (got <= 0) return base::fail("bench.cut", "The upload was cut.");
        fresh = static_cast<std::uint64_t>(got);
        done += fresh;
    }
    if (digest.finish().empty()) return base::fail("bench.digest", "No digest.");
    WHEELYARD_TRY(base::fsync_file(fd.get(), file.native()));
    return unpack_all(file);
}

int serve(const char* folder) {
    const base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener.get(), generic, size) != 0 || ::listen(listener.get(), 4) != 0 ||
        ::getsockname(listener.get(), generic, &size) != 0)
        return std::perror("listen"), 2;
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    const auto file = std::filesystem::path(folder) / "taken.whl";
    for (;;) {
        const base::Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) continue;
        const auto taken = take(client.get(), file);
        if (!taken) std::fprintf(stderr, "%s\n", taken.error().text().c_str());
        const std::string_view answer = taken ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                              : "HTTP/1.1 500 Failed\r\nContent-Length: 0\r\n\r\n";
        (void)::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        (void)base::remove_file(file);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return std::fprintf(stderr, "usage: upload_bound FOLDER\n"), 2;
    return serve(arguments[1]);
}
