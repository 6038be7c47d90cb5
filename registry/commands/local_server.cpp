#include "registry/commands/local_server.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "lib/base/process/terminal.hpp"
#include "registry/commands/door.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::chrono::milliseconds progress_interval{1'000};

// A connection, or why the server cannot be asked; an empty reason: none runs.
struct Greeted {
    std::optional<ControlConnection> server;
    std::string why_not = {};
};

std::string why_no_connection(const std::filesystem::path& store, const base::Error& error) {
    if (error.os_error != ENOENT && error.os_error != ECONNREFUSED) return error.text();
    const auto has_server = server_runs(store);
    if (!has_server || !*has_server) return {};
    return "it starts, it is of an older version, or it runs on another machine";
}

Greeted greet(const std::filesystem::path& store) {
    auto server = connect_to_server(store);
    if (!server) return {std::nullopt, why_no_connection(store, server.error())};
    const auto greeting = server->read(control_greeting_ms);
    if (!greeting) return {std::nullopt, greeting.error().sentence};
    const io::Json* problem = greeting->find("problem");
    if (problem != nullptr) return {std::nullopt, problem->string_or("detail", "")};
    const std::string version = greeting->string_or("version", "");
    if (greeting->string_or("format", "") != control_format || version != WHEELYARD_VERSION)
        return {std::nullopt, "it is of version " + version + ", this program of " WHEELYARD_VERSION};
    return {*std::move(server)};
}

// Ctrl-C ends the wait, not what the server does.
class InterruptNote {
  public:
    InterruptNote() : before_(std::signal(SIGINT, note)) {
        if (before_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);
    }
    ~InterruptNote() { std::signal(SIGINT, before_); }
    InterruptNote(const InterruptNote&) = delete;
    InterruptNote& operator=(const InterruptNote&) = delete;

  private:
    static void note(int number) {
        constexpr std::string_view text =
            "\nThe server ends what it began, but for gc and retain, which stop after the present step; "
            "`wheelyard-registry audit` shows what was done\n";
        if (::write(STDERR_FILENO, text.data(), text.size()) < 0) {
        }
        std::signal(number, SIG_DFL);
        ::raise(number);
    }
    void (*const before_)(int);
};

}  // namespace

std::optional<ControlConnection> greet_server(const std::filesystem::path& store) {
    Greeted greeted = greet(store);
    if (!greeted.why_not.empty())
        base::print_message(stderr, "The server of this store cannot be asked: " + greeted.why_not +
                                        ". This command works on the data folder itself.\n");
    return std::move(greeted.server);
}

base::Result<std::string> ask_server(ControlConnection server, std::string_view operation,
                                     const io::Json& arguments) {
    const InterruptNote interrupt;
    ProgressLine progress;
    const auto no_answer = [](base::Error error) {
        error.sentence = "The server has not said what it did: " + error.sentence;
        error.advice = "`wheelyard-registry audit` shows what it changed";
        return base::fail(std::move(error));
    };
    const auto asked = server.write(io::Json::object({{"operation", operation}, {"arguments", arguments}}));
    if (!asked) return no_answer(asked.error());
    for (;;) {
        const auto line = server.read(control_silence_ms);
        if (!line) return no_answer(line.error());
        if (const io::Json* answer = line->find("answer"); answer != nullptr)
            return line->string_or("answer", "");
        if (const io::Json* problem = line->find("problem"); problem != nullptr) {
            WHEELYARD_ASSIGN(const wire::Problem refusal, wire::parse_problem(problem->render()));
            return base::fail(error_of(refusal));
        }
        progress.show(static_cast<std::uint64_t>(line->int_or("done", 0)),
                      static_cast<std::uint64_t>(line->int_or("of", 0)));
    }
}

ProgressLine::ProgressLine()
    : is_read_(::isatty(STDERR_FILENO) == 1), next_(std::chrono::steady_clock::now() + progress_interval) {}

ProgressLine::~ProgressLine() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(std::uint64_t done, std::uint64_t of) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_read_ || now < next_) return;
    next_ = now + progress_interval;
    is_shown_ = true;
    std::fputs("\r", stderr);
    base::print(stderr,
                of == 0 ? "waiting for the pages" : std::to_string(done) + " of " + std::to_string(of));
}

}  // namespace wheelyard::registry
