// `wheelyard-registry token create|list|revoke|forget` and `agent enrol|revoke`.
#include <unistd.h>

#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "registry/access/tokens.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/operation_command.hpp"

namespace wheelyard::registry {

// The file for the text of a token or a code, of this user alone. It exists before the token, whose text
// would be lost without it, and is removed unless it is written.
class NewFile {
  public:
    static base::Result<std::shared_ptr<NewFile>> create(const std::filesystem::path& path) {
        constexpr mode_t owner_alone = 0600;
        auto fd = base::create_new(path, owner_alone);
        if (fd) return std::make_shared<NewFile>(path, *std::move(fd));
        if (fd.error().os_error != EEXIST) return base::fail(std::move(fd.error()));
        return base::fail("token.exists", "The file exists already", path.string(),
                          "name another one, or remove that");
    }
    NewFile(std::filesystem::path path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        const base::ActingAs caller(base::FileUser::caller);
        if (!is_written_) static_cast<void>(base::remove_file(path_));
    }
    base::Status write(const std::string& text) {
        const base::ActingAs caller(base::FileUser::caller);
        WHEELYARD_TRY(base::write_all(fd_.get(), text + "\n"));
        WHEELYARD_TRY(base::fsync_file(fd_.get(), path_.string()));
        WHEELYARD_TRY(base::fsync_directory(path_.has_parent_path() ? path_.parent_path() : "."));
        is_written_ = true;
        return {};
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    const std::filesystem::path path_;
    const base::Fd fd_;
    bool is_written_ = false;
};

namespace {

std::string joined(const io::Json& token, std::string_view list) {
    return base::join(token.texts(list), ", ");
}

std::string expiry_of(const io::Json& token) {
    return token.string_or("expires", "never");
}

// What a token or an agent may do.
void print_scope(const io::Json& token) {
    base::print(stdout, "  may     %s\n  index   %s\n  project %s\n  expires %s\n",
                joined(token, "actions").c_str(), joined(token, "indexes").c_str(),
                joined(token, "projects").c_str(), expiry_of(token).c_str());
}

// Prints the text of what was made, or writes it to --to. It cannot be shown again.
base::Status print_made(Door& door, Asked& asked, const std::string& what) {
    WHEELYARD_ASSIGN(const io::Json token, ask_document(door, asked));
    const std::string id = token.string_or("id", "");
    const std::string text = token.string_or("token", "");
    if (asked.json) {
        base::print(stdout, "%s\n", token.render().c_str());
        return {};
    }
    if (asked.file == nullptr) {
        base::print(stdout, "%s\n\nThis is the only time that the %s is shown. Its id is %s.\n", text.c_str(),
                    what.c_str(), id.c_str());
    } else {
        const base::Status written = asked.file->write(text);
        if (!written) static_cast<void>(door.ask("revokeToken", io::Json::object({{"token", id}})));
        WHEELYARD_TRY(written);
        base::print(stdout, "wrote %s. The %s's id is %s.\n", asked.file->path().c_str(), what.c_str(),
                    id.c_str());
    }
    if (const std::string site = asked.arguments.string_or("site", ""); !site.empty())
        base::print(stdout,
                    "It works once. On a login node of %s: wheelyard-builder enrol --site site.toml\n",
                    site.c_str());
    print_scope(token);
    return {};
}

PrintAnswer make(std::string what) {
    return [what = std::move(what)](Door& door, Asked& asked) { return print_made(door, asked, what); };
}

void add_made_options(CLI::App& command, Asked& asked, const std::string& what) {
    on_new_store(command, asked);
    CLI::Option* as_json =
        command.add_flag("--json", asked.json, "One JSON document, the " + what + "'s text in `token`");
    const auto create = [&asked](const std::string& path) {
        // Before the store is opened: the file is this user's, not the store's owner's.
        asked.readers.emplace_back([&asked, path]() -> base::Status {
            WHEELYARD_ASSIGN(asked.file, NewFile::create(path));
            return {};
        });
    };
    command
        .add_option_function<std::string>(
            "--to", create, "Write the " + what + " to this new file (mode 0600) instead of printing it")
        ->excludes(as_json);
}

base::Status print_tokens(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const io::Json document, ask_document(door, asked));
    if (asked.json) {
        base::print(stdout, "%s\n", io::Json(document.items("tokens")).render().c_str());
        return {};
    }
    std::vector<base::TableRow> table{{"ID", "STATE", "NAME", "ACTIONS", "INDEXES", "PROJECTS", "EXPIRES"}};
    for (const io::Json& token : document.items("tokens"))
        table.push_back({token.string_or("id", ""), token.string_or("state", ""), token.string_or("name", ""),
                         joined(token, "actions"), joined(token, "indexes"), joined(token, "projects"),
                         expiry_of(token)});
    if (table.size() == 1)
        base::print(stdout, "no tokens yet: wheelyard-registry token create --help\n");
    else
        base::print(stdout, base::render_table(table, base::terminal_columns(STDOUT_FILENO)));
    return {};
}

// Also accepts the complete text, because that is what leaks.
base::Result<io::Json> read_token_id(const std::string& text) {
    const auto whole = parse_token_text(text);
    return io::Json(whole ? whole->id : text);
}

void print_revoked(const io::Json& token) {
    base::print(stdout, "revoked %s: it is refused from the next request on\n",
                token.string_or("id", token.string_or("agent", "")).c_str());
}

void print_forgotten(const io::Json& person) {
    base::print(
        stdout,
        "forgot %lld log-ins and tokens of %s: they are refused from the next request on, and the audit log "
        "has no name\n",
        static_cast<long long>(person.int_or("tokens", 0)), person.string_or("person", "").c_str());
}

std::vector<Option> with_scope(std::vector<Option> options) {
    options.push_back({"--index", "indexes"});
    options.push_back({"--project", "projects"});
    options.push_back(
        {"--action", "actions",
         "A permitted action, repeatable: " + base::join(token_actions(), ", ") + " (default: upload)"});
    return options;
}

}  // namespace

std::vector<Command> token_commands() {
    return {
        of_operation({"token",
                      "create",
                      "Create a token and print it once",
                      "-c registry.toml --name bede-agent --index bede-gh200 --expires 90d",
                      {}},
                     "createToken", with_scope({{"--name"}, {"--expires"}}), make("token"), {},
                     [](CLI::App& command, Asked& asked) { add_made_options(command, asked, "token"); }),
        of_operation({"token", "list", "List tokens, never their secrets", "-c registry.toml", {}},
                     "listTokens", {}, print_tokens, "A JSON array", on_new_store),
        of_operation({"token",
                      "revoke",
                      "Refuse a token from the next request on",
                      "-c registry.toml wy_5f0c9a31d2be",
                      {}},
                     "revokeToken", {{.name = "id", .argument = "token", .read = read_token_id}},
                     print_answer<print_revoked>, {}),
        of_operation({"token",
                      "forget",
                      "End all log-ins of a person and remove the person's name",
                      "-c registry.toml login:campus:3f2a9c81d04e77b0",
                      {}},
                     "forgetPerson", {{"person"}}, print_answer<print_forgotten>, {}),
        of_operation(
            {"agent",
             "enrol",
             "Make a one-use code, by which the agent of a site gets tokens and renews them",
             "bede-gh200 -c registry.toml --index bede-gh200 --action upload --action build",
             {},
             "The code ends after an hour. What the agent gets lasts 12 hours, and it renews that itself.\n"
             "An agent makes no tokens: the actions `token` and `*` are refused.\n"
             "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n"},
            "enrolAgent", with_scope({{"SITE", "site"}}), make("code"), {},
            [](CLI::App& command, Asked& asked) { add_made_options(command, asked, "code"); }),
        of_operation({"agent",
                      "revoke",
                      "End the enrolment of a site's agent and all its tokens, from the next request on",
                      "bede-gh200 -c registry.toml",
                      {}},
                     "revokeAgent", {{"SITE", "site"}}, print_answer<print_revoked>, {}),
    };
}

}  // namespace wheelyard::registry
