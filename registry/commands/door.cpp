#include "registry/commands/door.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/wire/problem.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/indexes/local_indexes.hpp"
#include "registry/store/control_socket.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {

namespace {

// The running server of a data folder, asked over its control socket (registry/store/control_socket.hpp).

// How far an operation is, for a person who waits at a terminal; its end removes the line.
class ProgressLine {
  public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    // `of` 0: nobody knows.
    void show(std::uint64_t done, std::uint64_t of);

  private:
    const bool is_read_;
    bool is_shown_ = false;
    std::chrono::steady_clock::time_point next_;
};

constexpr std::chrono::milliseconds progress_interval{1'000};

// Empty: none runs.
std::string why_no_connection(const std::filesystem::path& store, const base::Error& error) {
    if (error.os_error != ENOENT && error.os_error != ECONNREFUSED) return error.text();
    const auto has_server = server_runs(store);
    if (!has_server || !*has_server) return {};
    return "it starts, it has no control socket, or it runs on another machine";
}

std::optional<ControlConnection> without_server(const std::string& why) {
    if (!why.empty())
        base::print_message(stderr, "The server of this store cannot be asked: " + why +
                                        ". This command works on the data folder itself.\n");
    return std::nullopt;
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

// Connected. nullopt: none runs, or it does not answer this user, which is said on stderr; nothing was asked
// then, so the command may work on the data folder itself. "control.version": it is of another version than
// this program.
base::Result<std::optional<ControlConnection>> greet_server(const std::filesystem::path& store) {
    auto server = connect_to_server(store);
    if (!server) return without_server(why_no_connection(store, server.error()));
    const auto greeting = server->read(control_greeting_ms);
    if (!greeting) return without_server(greeting.error().sentence);
    const io::Json* problem = greeting->find("problem");
    if (problem != nullptr) return without_server(problem->string_or("detail", ""));
    const std::string version = greeting->string_or("version", "");
    if (greeting->string_or("format", "") == control_format && version == WHEELYARD_VERSION)
        return std::optional(*std::move(server));
    return base::fail("control.version",
                      "The server of this store is of another version than this program, " WHEELYARD_VERSION,
                      version, "restart the server, or use the program of its version");
}

// The body of the answer, once pages show what it says. Errors: the refusal; "control.ended" and
// "control.silent" if nobody knows what the server did.
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

// Advice of refusals that asks for a request or an address of HTTP, and what a person at a shell does
// instead.
struct ShellAdvice {
    std::string_view http, shell;
};
constexpr std::string_view list_files = "`wheelyard-registry files INDEX` lists the files of an index";
constexpr ShellAdvice shell_advice[] = {
    {"GET / lists the indexes", "`wheelyard-registry index list` lists the indexes"},
    {"GET /api/v1/tokens lists the ids", "`wheelyard-registry token list` lists the ids"},
    {"see the project's page for its files", list_files},
    {"see the index's root page for its projects", list_files},
    {"check the URL", "check the names of this command: one is empty, too long or begins with a dot"},
    {"use component=zlib, with version=1.2.11 or without",
     "name a component, such as zlib, of at most 200 bytes"},
};

// The API of a registry anywhere, for commands with --url and --token-file.
class RemoteRegistry {
  public:
    // Errors: "lifecycle.token_file".
    [[nodiscard]] static base::Result<RemoteRegistry> open(std::string url,
                                                           const std::filesystem::path& token_file);
    // Returns the body of a 200; any other reply becomes an error with the server's message. `address` begins
    // with "/".
    [[nodiscard]] base::Result<std::string> post(const std::string& address, const std::string& json);
    [[nodiscard]] base::Result<std::string> get(const std::string& address);

  private:
    [[nodiscard]] base::Result<std::string> body_of(io::HttpAnswer answer);
    RemoteRegistry(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}
    std::string url_;
    std::string token_;
    io::HttpClient client_;
};

base::Result<std::string> read_token_file(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const std::string text, base::read_file(file, max_authorization_bytes));
    std::string token(base::trim(text));
    if (!parse_token_text(token))
        return base::fail("lifecycle.token_file", "The token file does not hold one token", file.string(),
                          "put the text that `wheelyard-registry token create` printed into it");
    return token;
}

base::Result<std::string> RemoteRegistry::body_of(io::HttpAnswer answer) {
    WHEELYARD_TRY(simple::check_registry(simple::page_getter(client_), url_, answer));
    if (answer.status == 200) return std::move(answer.body);
    const auto problem = wire::parse_problem(answer.body);
    if (!problem || problem->code.empty())
        return base::fail("lifecycle.refused", "The server refused it without a reason",
                          std::to_string(answer.status) + " " + answer.reason,
                          "check that the URL is a registry's");
    return base::fail(error_of(*problem));
}

base::Result<RemoteRegistry> RemoteRegistry::open(std::string url, const std::filesystem::path& token_file) {
    WHEELYARD_ASSIGN(std::string token, read_token_file(token_file));
    if (!url.starts_with("https://") && !url.starts_with("http://"))
        return base::fail("lifecycle.url", "The URL of a registry begins with https:// or http://", url,
                          "write it out: a token is sent there");
    while (url.ends_with('/'))
        url.pop_back();
    return RemoteRegistry(std::move(url), std::move(token));
}

base::Result<std::string> RemoteRegistry::post(const std::string& address, const std::string& json) {
    WHEELYARD_ASSIGN(io::HttpAnswer answer, client_.post(url_ + address, json,
                                                         {{"Authorization", "Bearer " + token_},
                                                          {"Content-Type", "application/json"}}));
    return body_of(std::move(answer));
}

base::Result<std::string> RemoteRegistry::get(const std::string& address) {
    WHEELYARD_ASSIGN(io::HttpAnswer answer,
                     client_.get(url_ + address, {{"Authorization", "Bearer " + token_}}));
    return body_of(std::move(answer));
}

class RemoteDoor final : public Door {
  public:
    explicit RemoteDoor(RemoteRegistry remote) : remote_(std::move(remote)) {}
    base::Result<std::string> ask(std::string_view operation, const io::Json& arguments) override {
        const OperationRow* row = find_row(operation);
        WHEELYARD_CHECK(row != nullptr);
        const RequestParts parts = split_arguments(*row, arguments);
        return row->http.method == "GET" ? remote_.get(parts.target())
                                         : remote_.post(parts.target(), parts.body);
    }

  private:
    RemoteRegistry remote_;
};

// The parts of a server that operations use, in this process.
class Process {
  public:
    static base::Result<std::unique_ptr<Process>> open(const RegistryConfig& file, NewStore new_store,
                                                       const OpenPublisher& open_publisher,
                                                       const base::Clock& clock) {
        WHEELYARD_ASSIGN(RegistryConfig config, config_in_force(file, database::Store(file.database())));
        WHEELYARD_ASSIGN(auto store, open_store(std::move(config), open_publisher, new_store));
        WHEELYARD_ASSIGN(auto reader, store->store.reader());
        auto tokens = std::make_unique<TokenVerifier>(std::move(reader), clock);
        WHEELYARD_ASSIGN(auto tasks, store->store.tasks(store->config.tasks, clock));
        WHEELYARD_ASSIGN(auto builds,
                         store->store.builds({.kept_days = store->config.tasks.kept_days}, clock));
        WHEELYARD_ASSIGN(auto catalog, store->store.writer());
        return std::unique_ptr<Process>(new Process(std::move(store), std::move(tokens), std::move(tasks),
                                                    std::move(builds), std::move(catalog), clock));
    }

    base::Result<std::string> ask(std::string_view operation, const io::Json& arguments) {
        ProgressLine progress;
        auto answer = api_.answer_locally(operation, arguments, local_actor(), [&](auto done, auto of) {
            progress.show(done, of);
            return base::Status();
        });
        if (!answer) return base::fail(error_of(answer.error()));
        if (answer->when_visible) WHEELYARD_TRY(show(answer->json));
        return answer->text ? *answer->text : answer->json;
    }

  private:
    Process(std::unique_ptr<OpenedStore> store, std::unique_ptr<TokenVerifier> tokens,
            std::unique_ptr<tasks::TaskStore> tasks, std::unique_ptr<tasks::BuildStore> builds,
            std::unique_ptr<catalog::Catalog> catalog, const base::Clock& clock)
        : store_(std::move(store)),
          tokens_(std::move(tokens)),
          tasks_(std::move(tasks)),
          builds_(std::move(builds)),
          writer_(std::move(catalog), clock),
          pages_(store_->publish),
          indexes_(store_->config, store_->store, clock),
          api_({.config = store_->config,
                .store = store_->store,
                .blobs = *store_->blobs,
                .tokens = *tokens_,
                .writer = writer_,
                .pages = pages_,
                .clock = clock,
                .tasks = tasks_.get(),
                .builds = builds_.get(),
                .indexes = &indexes_}) {}

    // All root pages, too, and the pages of other nodes.
    base::Status show(const std::string& answer) {
        std::vector<catalog::FileName> files;
        const auto document = io::parse_json(answer);
        if (document)
            for (const io::Json& file : document->items("files"))
                files.push_back({file.string_or("index", ""), file.string_or("filename", "")});
        base::Status shown = store_->show(files);
        if (!shown)
            shown.error().sentence =
                "The change is committed, but the pages could not be updated: " + shown.error().sentence;
        return shown;
    }

    const std::unique_ptr<OpenedStore> store_;
    const std::unique_ptr<TokenVerifier> tokens_;
    const std::unique_ptr<tasks::TaskStore> tasks_;
    const std::unique_ptr<tasks::BuildStore> builds_;
    Writer writer_;
    PublishQueue pages_;
    StoreIndexes indexes_;
    Api api_;
};

// A data folder: its server is asked as long as it answers.
class LocalDoor final : public Door {
  public:
    LocalDoor(RegistryConfig file, NewStore new_store, const OpenPublisher& open_publisher,
              const base::Clock& clock)
        : file_(std::move(file)), new_store_(new_store), open_publisher_(open_publisher), clock_(clock) {}

    base::Result<std::string> ask(std::string_view operation, const io::Json& arguments) override {
        if (!process_) {
            WHEELYARD_ASSIGN(auto server, greet_server(file_.store));
            if (server) return ask_server(*std::move(server), operation, arguments);
            WHEELYARD_ASSIGN(process_, Process::open(file_, new_store_, open_publisher_, clock_));
        }
        return process_->ask(operation, arguments);
    }
    bool is_served() const override { return process_ == nullptr; }

  private:
    const RegistryConfig file_;
    const NewStore new_store_;
    const OpenPublisher open_publisher_;
    const base::Clock& clock_;
    std::unique_ptr<Process> process_;  // once no server answers
};

}  // namespace

base::Error error_of(const wire::Problem& problem) {
    std::string advice = problem.advice;
    for (const ShellAdvice& row : shell_advice) {
        if (advice == row.http) advice = row.shell;
    }
    std::string sentence = problem.detail;
    if (sentence.ends_with('.')) sentence.pop_back();
    return {problem.code, std::move(sentence), problem.value, std::move(advice)};
}

base::Result<std::unique_ptr<Door>> Door::open(const DoorTarget& target, const OpenPublisher& open_publisher,
                                               const base::Clock& clock) {
    if (target.url.empty()) {
        WHEELYARD_ASSIGN(RegistryConfig file, read_config(target.config));
        base::become_owner_of(file.store);
        return std::make_unique<LocalDoor>(std::move(file), target.new_store, open_publisher, clock);
    }
    WHEELYARD_ASSIGN(RemoteRegistry remote, RemoteRegistry::open(target.url, target.token_file));
    return std::make_unique<RemoteDoor>(std::move(remote));
}

ShownNames Door::shown_names() {
    ShownNames names;
    const auto answer = ask("listPeople", io::Json::object());
    const auto document = answer ? io::parse_json(*answer) : tl::unexpected(answer.error());
    const io::Json* listed = document ? document->find("names") : nullptr;
    if (listed == nullptr || listed->as_object() == nullptr) return names;
    for (const auto& [name, shown] : *listed->as_object())
        if (shown.as_string() != nullptr) names.emplace(name, *shown.as_string());
    return names;
}

}  // namespace wheelyard::registry
