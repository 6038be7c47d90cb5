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
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/table/pager.hpp"
#ifdef WHEELYARD_STATIC
#include "indexer/avail_wheels/source/curl_program.hpp"
#else
#include "lib/base/files/file.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/http_client.hpp"
#include "lib/wire/facts_json.hpp"
#endif
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/text_table.hpp"

namespace {

using namespace wheelyard;

// Creates the HTTP client on first use; most calls need none.
simple::GetPage network() {
#ifdef WHEELYARD_STATIC
    return avail_wheels::get_by_curl_program;
#else
    const auto http = std::make_shared<std::unique_ptr<io::HttpClient>>();
    return [http](const std::string& url, const io::HttpHeaders& headers, std::uint64_t limit_bytes) {
        if (!*http) *http = std::make_unique<io::HttpClient>();
        return (*http)->get(url, headers, limit_bytes);
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

// Standard error on a terminal: each line is broken between words at its width.
class WrappedLines : public std::streambuf {
  protected:
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
        line_ += traits_type::to_char_type(c);
        if (line_.back() == '\n') sync();
        return c;
    }
    int sync() override {
        std::cerr << base::wrap_lines(line_, base::terminal_columns(STDERR_FILENO));
        line_.clear();
        return 0;
    }

  private:
    std::string line_;
};

int write_out(const std::string& text, int status) {
    errno = 0;
    std::cout << text;
    std::cout.flush();
    if (std::cout) return status;
    if (errno != 0 && errno != EPIPE) std::cerr << "avail_wheels: the output could not be written\n";
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
#endif
    world.user = user_name(world.environment);
    const std::size_t rows = avail_wheels::terminal_rows();
    world.out_is_terminal = rows > 0 && base::allows_colour(world.environment);
    world.out_columns = rows > 0 ? base::terminal_columns(STDOUT_FILENO) : 0;

    world.help_columns = base::help_columns_of(STDOUT_FILENO, base::help_columns);
    world.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
    WrappedLines wrapped;
    std::ostream err(world.err_is_terminal ? &wrapped : std::cerr.rdbuf());

    std::ostringstream out;
    bool wants_pager = false;
    const int status =
        avail_wheels::run(std::vector<std::string>(argv + 1, argv + argc), world, out, err, wants_pager);
    const std::string text = std::move(out).str();
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (wants_pager && rows > 0 && lines >= rows && avail_wheels::show_in_pager(text, world.environment))
        return status;
    return write_out(text, status);
} catch (const std::exception& error) {
    std::cerr << "avail_wheels: internal error: " << error.what() << '\n';
    return 1;
}
