#include "registry/indexes/index_request.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temporary_files.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::uint64_t max_index_request_bytes = 8 * 1024 * 1024;  // a configuration, twice escaped
constexpr std::int64_t apply_poll_ms = 20;                          // between looks at the server's result
constexpr std::int64_t apply_grace_ms = 30'000;  // beyond the wait for pages: reading, the catalog

namespace fs = std::filesystem;

constexpr mode_t owner_only = 0600;  // titles and names of private indexes are in these files
constexpr std::string_view request_format = "wheelyard.index_request/1";
constexpr std::string_view result_format = "wheelyard.index_result/1";

fs::path request_file(const fs::path& store) {
    return store / "index-request.json";
}

fs::path result_file(const fs::path& store) {
    return store / "index-result.json";
}

// One command at a time: a second request would replace the first one.
base::Result<base::Fd> lock_requests(const fs::path& store) {
    const std::string file = (store / "index-request.lock").string();
    base::Fd lock(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!lock) return base::fail_errno("open", file, errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    return base::fail_as(
        base::ErrorKind::busy, base::Recovery::retry,
        {"index.busy", "Another command changes the indexes", file, "repeat this command in a moment"});
}

// A request that root writes must be readable for the server.
base::Status write_request(const fs::path& store, const IndexRequest& request) {
    const fs::path file = request_file(store);
    WHEELYARD_TRY(base::replace_file(file,
                                     io::Json::object({{"format", request_format},
                                                       {"id", request.id},
                                                       {"before", request.before},
                                                       {"list", render_index_list(request.wanted)}})
                                         .render(),
                                     owner_only));
    struct stat of_store {};
    if (::stat(store.c_str(), &of_store) != 0) return base::fail_errno("stat", store.native(), errno);
    if (::geteuid() == 0 && ::lchown(file.c_str(), of_store.st_uid, of_store.st_gid) != 0)
        return base::fail_errno("chown", file.native(), errno);
    return {};
}

// The server's answer to `id`; nullopt: none yet.
base::Result<std::optional<std::string>> read_result(const fs::path& store, const std::string& id) {
    const auto text = base::read_file(result_file(store), max_index_request_bytes);
    if (!text && text.error().os_error == ENOENT) return std::nullopt;
    if (!text) return base::fail(text.error());
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(*text));
    if (document.string_or("id", "") != id) return std::nullopt;
    return document.string_or("problem", "");
}

}  // namespace

base::Status ask_server(const RegistryConfig& config, pid_t server, const IndexRequest& request) {
    WHEELYARD_ASSIGN(const base::Fd alone, lock_requests(config.store));
    WHEELYARD_TRY(write_request(config.store, request));
    if (::kill(server, SIGHUP) != 0) return base::fail_errno("kill", std::to_string(server), errno);
    const auto patience = std::chrono::milliseconds(config.server.page_wait_ms + apply_grace_ms);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline) {
        const bool runs = ::kill(server, 0) == 0 || errno != ESRCH;
        WHEELYARD_ASSIGN(const auto problem, read_result(config.store, request.id));
        if (problem && problem->empty()) return {};
        if (problem)
            return base::fail("index.not_changed", "The server did not make the change", *problem,
                              "nothing has changed, unless it says that pages lag");
        if (!runs)
            return base::fail("index.ended", "The server ended before it reported a result",
                              std::to_string(server), "`wheelyard-registry audit` shows what it changed");
        std::this_thread::sleep_for(std::chrono::milliseconds(apply_poll_ms));
    }
    return base::fail("index.slow", "The server has reported no result yet", std::to_string(server),
                      "its log says what it does");
}

base::Result<std::optional<IndexRequest>> take_request(const fs::path& store) {
    const fs::path file = request_file(store);
    const auto text = base::read_file(file, max_index_request_bytes);
    if (!text && text.error().os_error == ENOENT) return std::nullopt;
    WHEELYARD_TRY(base::remove_file(file));
    if (!text) return base::fail(text.error());
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(*text));
    WHEELYARD_ASSIGN(IndexList list, parse_index_list(document.string_or("list", "")));
    return IndexRequest{document.string_or("id", ""), document.string_or("before", ""), std::move(list)};
}

base::Status answer_request(const fs::path& store, const std::string& id, const std::string& problem) {
    return base::replace_file(
        result_file(store),
        io::Json::object({{"format", result_format}, {"id", id}, {"problem", problem}}).render() + "\n",
        owner_only);
}

base::Status remove_requests(const fs::path& store) {
    for (const fs::path& file : {request_file(store), result_file(store)}) {
        WHEELYARD_TRY(base::remove_temporary_files(file));
        WHEELYARD_TRY(base::remove_file(file));
    }
    return {};
}

}  // namespace wheelyard::registry
