// avail_wheels: supplies run() with the network, the terminal and the pager.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/show.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/table/table.hpp"
#ifndef WHEELYARD_STATIC
#include "lib/base/files/file.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/http_client.hpp"
#include "lib/wire/facts_json.hpp"
#endif
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/utf8.hpp"

namespace {

using namespace wheelyard;

// Creates the HTTP client on first use; most calls need none.
simple::GetPage network() {
#ifdef WHEELYARD_STATIC
    return avail_wheels::get_by_curl_program;
#else
    const auto http = std::make_shared<std::unique_ptr<io::HttpClient>>();
    return [http](const std::string& url, const io::HttpHeaders& headers, const io::BodyLimit& limit) {
        constexpr std::int64_t ms_per_s = 1000;
        if (!*http)
            *http = std::make_unique<io::HttpClient>(
                io::HttpSettings{.total_timeout_ms = avail_wheels::max_answer_s * ms_per_s});
        return (*http)->get(url, headers, limit);
    };
#endif
}

avail_wheels::PostDocument sender() {
#ifdef WHEELYARD_STATIC
    return avail_wheels::post_by_curl_program;
#else
    return [](const std::string& url, const std::string& body, const io::HttpHeaders& headers) {
        io::HttpClient http;
        return http.post(url, body, headers);
    };
#endif
}

#ifndef WHEELYARD_STATIC
base::Result<avail_wheels::ReadWheel> read_wheel(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const auto bytes, base::FileReader::open(file));
    inspect::InspectOptions options;
    constexpr unsigned max_threads = 4;  // a login node is shared
    options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, max_threads);
    WHEELYARD_ASSIGN(const auto inspection, inspect::inspect_wheel(bytes, file.filename().native(), options));
    if (inspection.metadata_bytes.empty())
        return base::fail("wheel.unreadable", "It is no wheel that can be read", file.filename().native());
    return avail_wheels::ReadWheel{inspection.facts.requires_python,
                                   wire::facts_to_json(inspection.facts).render()};
}
#endif

std::string user_name(const avail_wheels::EnvironmentMap& environment) {
    for (const char* name : {"USER", "LOGNAME"}) {
        const auto found = environment.find(name);
        if (found != environment.end() && !found->second.empty() &&
            found->second.find('/') == std::string::npos)
            return found->second;
    }
    return "uid" + std::to_string(::getuid());
}

// All of the output is printable; only a head in bold is ours.
std::string shown(std::string_view text) {
    using avail_wheels::bold;
    using avail_wheels::not_bold;
    const auto end = text.starts_with(bold) ? text.find(not_bold) : std::string_view::npos;
    if (end == std::string_view::npos) return base::printable(text);
    std::string head(bold);
    head.append(base::printable(text.substr(bold.size(), end - bold.size()))).append(not_bold);
    return head + base::printable(text.substr(end + not_bold.size()));
}

int write_out(const std::string& text, int status) {
    errno = 0;
    std::cout << text;
    std::cout.flush();
    if (std::cout) return status;
    if (errno != 0 && errno != EPIPE) base::print(stderr, "avail_wheels: the output could not be written\n");
    return 1;
}

}  // namespace

int main(int argc, char** argv) try {
    // A closed pipe (`avail_wheels | head`) is no error worth a message: the write fails with EPIPE.
    std::signal(SIGPIPE, SIG_IGN);
#ifdef __GLIBC__
    // The program allocates one long list after another; memory returned in between would be requested again.
    constexpr int never = 1 << 30;
    ::mallopt(M_MMAP_THRESHOLD, never);
    ::mallopt(M_TRIM_THRESHOLD, never);
#endif
    static base::SystemClock clock;
    avail_wheels::World world;
    world.environment = base::current_environment();
    world.probe = avail_wheels::local_host_probe(world.environment);
    world.clock = &clock;
    world.get = network();
    world.post = sender();
#ifndef WHEELYARD_STATIC
    world.read_wheel = read_wheel;
    world.prove = avail_wheels::prove_wheel;
#endif
    world.user = user_name(world.environment);
    const std::size_t rows = avail_wheels::terminal_rows();
    world.out_is_terminal = rows > 0 && base::allows_colour(world.environment);
    world.out_columns = rows > 0 ? base::terminal_columns(STDOUT_FILENO) : 0;

    world.help_columns = base::help_columns_of(STDOUT_FILENO, base::help_columns);
    world.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
    base::PrintedLines lines_of_err(stderr, true);
    std::ostream err(&lines_of_err);

    std::ostringstream out;
    bool wants_pager = false;
    const int status =
        avail_wheels::run(std::vector<std::string>(argv + 1, argv + argc), world, out, err, wants_pager);
    const std::string text = shown(std::move(out).str());
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (wants_pager && rows > 0 && lines >= rows && avail_wheels::show_in_pager(text, world.environment))
        return status;
    return write_out(text, status);
} catch (const std::exception& error) {
    base::print(stderr, "avail_wheels: internal error: %s\n", error.what());
    return 1;
}
