// `enrol`: reads the code of `wheelyard-registry agent enrol` from standard input, never from the command
// line.
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>

#include "builder/commands/commands.hpp"
#include "builder/remote/enrolment.hpp"
#include "builder/site/site.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_code_line_bytes = 256;

constexpr std::array ending_signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

termios shown_input = {};  // a handler of signals has no other way to it

// Shows what is typed again, then ends the process as the signal does by itself (SA_RESETHAND).
void show_and_end(int signal) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &shown_input);
    ::raise(signal);
}

// While it lives, what is typed is not shown. One at a time.
class HiddenInput {
  public:
    HiddenInput() {
        is_changed_ = ::tcgetattr(STDIN_FILENO, &shown_input) == 0;
        struct sigaction action = {};
        action.sa_handler = show_and_end;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        for (std::size_t i = 0; is_changed_ && i < ending_signals.size(); ++i) {
            ::sigaction(ending_signals[i], &action, &before_[i]);
            if (before_[i].sa_handler == SIG_IGN) ::sigaction(ending_signals[i], &before_[i], nullptr);
        }
        termios hidden = shown_input;
        hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        if (is_changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    ~HiddenInput() {
        if (!is_changed_) return;
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown_input);
        for (std::size_t i = 0; i < ending_signals.size(); ++i)
            ::sigaction(ending_signals[i], &before_[i], nullptr);
    }
    HiddenInput(const HiddenInput&) = delete;
    HiddenInput& operator=(const HiddenInput&) = delete;

  private:
    std::array<struct sigaction, ending_signals.size()> before_ = {};
    bool is_changed_ = false;
};

std::string read_code() {
    std::array<char, max_code_line_bytes> line{};
    if (::isatty(STDIN_FILENO) == 0) {
        const char* got = std::fgets(line.data(), line.size(), stdin);
        return got == nullptr ? std::string() : std::string(base::trim(got));
    }
    base::print(stderr, "Code of `wheelyard-registry agent enrol` (not shown): ");
    const HiddenInput hidden;
    const char* got = std::fgets(line.data(), line.size(), stdin);
    base::print(stderr, "\n");
    return got == nullptr ? std::string() : std::string(base::trim(got));
}

}  // namespace

int run_enrol(const SiteOptions& options) {
    const auto site = read_site(options.site);
    if (!site) return complain(site.error(), exit_usage);
    if (!site->registry)
        return complain({"enrol.no_registry", "The site file names no registry", options.site.string(),
                         "set `url`, `index` and `token_file` in [registry]"},
                        exit_usage);
    io::HttpClient http;
    const base::SystemClock clock;
    const Failpoints failpoints = failpoints_of_environment();
    const auto done = enrol({http, clock, *site->registry, site->name, failpoints}, read_code());
    if (!done) return complain(done.error(), exit_failed);
    print(*done + "\n");
    return exit_well;
}

}  // namespace wheelyard::builder
