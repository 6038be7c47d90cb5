#include "registry/commands_apply.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "registry/commands_config.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/index_apply.hpp"
#include "registry/limits.hpp"

namespace wheelyard::registry {
namespace {

// The process that has the lock of the store (commands_serve.cpp); nullopt: no server runs.
base::Result<std::optional<pid_t>> find_server(const RegistryConfig& config) {
    const std::string file = (config.store / "serve.lock").string();
    const base::Fd lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!lock && errno == ENOENT) return std::nullopt;
    if (!lock) return base::fail_errno("open", file, errno);
    if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;
    WHEELYARD_ASSIGN(const std::string text, base::read_file(lock, file, max_lock_bytes));
    const auto number = base::parse_decimal(base::trim(text));
    constexpr std::uint64_t max_pid = 1 << 22;  // Linux's PID_MAX_LIMIT
    if (number && *number > 1 && *number <= max_pid) return static_cast<pid_t>(*number);
    return base::fail("apply.no_pid", "The server that runs has not written its process id", file,
                      "send SIGHUP to the server (`systemctl reload`)");
}

base::Result<std::vector<IndexChange>> changes_of(const RegistryConfig& wanted,
                                                  const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const std::string text, base::read_file(applied_text_file(wanted), max_config_bytes));
    WHEELYARD_ASSIGN(const RegistryConfig in_force, parse_config(text, file));
    return find_index_changes(in_force, wanted);
}

void print(const std::vector<IndexChange>& changes) {
    for (const IndexChange& change : changes)
        base::print_untrusted(stdout, change.index + ": " + change.text() + "\n");
    if (changes.empty()) std::printf("no index changes\n");
}

// Empty: none yet.
std::string last_result(const RegistryConfig& config) {
    return base::read_file(applied_result_file(config), max_config_bytes).value_or("");
}

base::Status await_result(const RegistryConfig& wanted, const std::string& before, pid_t server) {
    const std::string sha256 = base::sha256_hex(wanted.text);
    const auto patience = std::chrono::milliseconds(wanted.server.page_wait_ms + apply_grace_ms);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline) {
        const std::string result = last_result(wanted);
        if (result != before) {
            WHEELYARD_ASSIGN(const io::Json document, io::parse_json(result));
            const std::string problem = document.string_or("problem", "");
            if (!problem.empty())
                return base::fail("apply.refused", "The server did not apply the file", problem,
                                  "nothing has changed, unless it says that pages lag");
            if (document.string_or("sha256", "") == sha256) return {};
        }
        if (::kill(server, 0) != 0 && errno == ESRCH)
            return base::fail("apply.ended", "The server ended before it reported a result",
                              std::to_string(server), "its next start applies the file");
        std::this_thread::sleep_for(std::chrono::milliseconds(apply_poll_ms));
    }
    return base::fail("apply.slow", "The server has reported no result yet", std::to_string(server),
                      "its log says what it does");
}

}  // namespace

void add_apply_command(CLI::App& app, ApplyArguments& arguments) {
    CLI::App* command = app.add_subcommand(
        "apply", "show what the file changes in the indexes, and apply it to the running server");
    add_config_option(command, arguments.config);
    command->add_flag("--check", arguments.check, "only show the changes");
    command->footer(
        "\nExample:\n  wheelyard-registry apply --check -c registry.toml\n\n"
        "Run it on the server's machine, as its user or as root. Without a running server, the next start "
        "applies the file.\n"
        "Exit status: 0 success, 1 the file is refused or was not applied (see standard error), 2 wrong "
        "usage.\n");
}

base::Status run_apply(const ApplyArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig wanted, read_config(arguments.config));
    WHEELYARD_ASSIGN(const auto server, find_server(wanted));
    if (!server) {
        std::printf("no server runs with this store; the next start applies the file\n");
        return {};
    }
    WHEELYARD_ASSIGN(const auto changes, changes_of(wanted, arguments.config));
    print(changes);
    if (arguments.check) return {};
    const std::string before = last_result(wanted);
    if (::kill(*server, SIGHUP) != 0) return base::fail_errno("kill", std::to_string(*server), errno);
    WHEELYARD_TRY(await_result(wanted, before, *server));
    std::printf("applied\n");
    return {};
}

}  // namespace wheelyard::registry
