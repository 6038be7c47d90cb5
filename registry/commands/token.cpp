// The commands open the catalog beside a running server, which applies the change to its next request.
#include "registry/commands/token.hpp"

#include <unistd.h>

#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "lib/status/site_report.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/local_actor.hpp"
#include "registry/access/person.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/access/tokens.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/owner.hpp"

namespace wheelyard::registry {
namespace {

base::Result<std::unique_ptr<catalog::Catalog>> open_for_tokens(const RegistryConfig& config) {
    create_as_owner_of(config.store);
    WHEELYARD_TRY(base::make_directories(config.store));
    return database::Store(config.database()).writer();
}

// Written before the token becomes valid: a token whose text is lost would have to be revoked.
base::Status write_token(const std::filesystem::path& file, const TokenText& token) {
    constexpr mode_t owner_alone = 0600;
    auto fd = base::create_new(file, owner_alone);
    if (!fd) {
        if (fd.error().os_error != EEXIST) return base::fail(std::move(fd.error()));
        return base::fail("token.exists", "The file exists already", file.string(),
                          "name another one, or remove that");
    }
    auto written = base::write_all(fd->get(), token.text() + "\n");
    if (written) written = base::fsync_file(fd->get(), file.string());
    if (written) written = base::fsync_directory(file.has_parent_path() ? file.parent_path() : ".");
    if (!written) static_cast<void>(base::remove_file(file));  // so that a second try can create it
    return written;
}

base::Status add_token(const RegistryConfig& config, const catalog::TokenRow& row) {
    WHEELYARD_ASSIGN(const auto catalog, open_for_tokens(config));
    return catalog->add_token(row);
}

std::string describe_expiry(const catalog::TokenRow& row) {
    return row.expires == 0 ? "never" : base::render_rfc3339(row.expires);
}

}  // namespace

namespace {

// What a token or an agent may do, and where its text goes.
void add_scope_options(CLI::App& command, TokenCreateArguments& arguments, const char* what) {
    command.add_option("--index", arguments.indexes, "An index that it may use; repeatable, '*' for all")
        ->required();
    command.add_option("--project", arguments.projects, "A project that it may use (default: all)");
    command.add_option(
        "--action", arguments.actions,
        "A permitted action, repeatable: " + base::join(token_actions(), ", ") + " (default: upload)");
    CLI::Option* as_json = command.add_flag(
        "--json", arguments.json, "One JSON document, the " + std::string(what) + "'s text in `token`");
    command
        .add_option("--to", arguments.to,
                    "Write the " + std::string(what) + " to this new file (mode 0600) instead of printing it")
        ->excludes(as_json);
}

}  // namespace

void add_token_create_options(CLI::App& command, TokenCreateArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("--name", arguments.name, "Name of its user or program")->required();
    add_scope_options(command, arguments, "token");
    command.add_option("--expires", arguments.expires, "Its lifetime: 12h, 90d, 8w (default: forever)");
}

void add_agent_enrol_options(CLI::App& command, TokenCreateArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("SITE", arguments.name, "`name` in the agent's site.toml")->required();
    add_scope_options(command, arguments, "code");
}

void add_agent_revoke_options(CLI::App& command, TokenArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("SITE", arguments.id, "The site, as `agent enrol` named it")->required();
}

void add_token_list_options(CLI::App& command, TokenArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_flag("--json", arguments.json, "A JSON array");
}

void add_token_revoke_options(CLI::App& command, TokenArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("id", arguments.id, "Its id, as `token list` shows it")->required();
}

void add_token_forget_options(CLI::App& command, TokenArguments& arguments) {
    add_config_option(command, arguments.config);
    command
        .add_option("person", arguments.id, "as the audit log and `token list` name it: login:IDENTITY:HASH")
        ->required();
}

namespace {

base::Status create(const TokenCreateArguments& arguments, const base::Clock& clock, bool is_code) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    const TokenText token = make_token_text();
    const TokenWish wish{arguments.name, arguments.indexes, arguments.projects, arguments.actions,
                         arguments.expires};
    WHEELYARD_ASSIGN(catalog::TokenRow row,
                     make_token_row(wish, config.index_names(), token, {local_actor(), {}, clock.now()}));
    if (is_code) row = make_agent_code(std::move(row), token, arguments.name);
    const char* const what = is_code ? "code" : "token";
    config.room().give_back_if_low();
    if (!arguments.to.empty()) WHEELYARD_TRY(write_token(arguments.to, token));
    if (auto added = add_token(config, row); !added) {
        if (!arguments.to.empty()) static_cast<void>(base::remove_file(arguments.to));
        return added;
    }
    if (arguments.json) {
        io::Json document = token_json(row, clock.now());
        document.set("token", token.text());
        std::printf("%s\n", document.render().c_str());
        return {};
    }
    if (arguments.to.empty()) {
        std::printf("%s\n\n", token.text().c_str());
        std::printf("This is the only time that the %s is shown. Its id is %s.\n", what, row.id.c_str());
    } else {
        std::printf("wrote %s. The %s's id is %s.\n", arguments.to.c_str(), what, row.id.c_str());
    }
    if (is_code)
        std::printf("It works once. On a login node of %s: wheelyard-builder enrol --site site.toml\n",
                    arguments.name.c_str());
    std::printf("  may     %s\n  index   %s\n  project %s\n  expires %s\n",
                base::join(row.actions, ", ").c_str(), base::join(row.indexes, ", ").c_str(),
                base::join(row.projects, ", ").c_str(), describe_expiry(row).c_str());
    return {};
}

// What is about all of the registry, or says who may run what: a login node's file has no such right.
constexpr std::array<std::string_view, 4> works_of_operators{catalog::index_action, catalog::audit_action,
                                                             catalog::approve_action, "gc"};

base::Status check_site(const std::string& site) {
    if (status::is_site_name(site)) return {};
    return base::fail("agent.site", "This cannot be the name of a site", site.substr(0, max_token_name),
                      "use `name` of the agent's site.toml, such as bede-gh200");
}

}  // namespace

base::Status run_token_create(const TokenCreateArguments& arguments, const base::Clock& clock) {
    return create(arguments, clock, false);
}

base::Status run_agent_enrol(const TokenCreateArguments& arguments, const base::Clock& clock) {
    WHEELYARD_TRY(check_site(arguments.name));
    // A token that it made would be bound to no site, and one that this one made would outlive the agent.
    for (const std::string& action : arguments.actions) {
        if (action == token_action || action == "*")
            return base::fail("agent.action", "An agent may not make tokens", action,
                              "name the actions that it needs, such as upload and build");
        if (std::find(works_of_operators.begin(), works_of_operators.end(), action) !=
            works_of_operators.end())
            return base::fail(
                "agent.action", "This is an operator's work, and no agent's", action,
                "name the actions that it needs, such as upload and build; a person gets others by "
                "`wheelyard-registry token create`");
    }
    return create(arguments, clock, true);
}

base::Status run_agent_revoke(const TokenArguments& arguments, const base::Clock& clock) {
    WHEELYARD_TRY(check_site(arguments.id));
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(arguments.config));
    bool is_enrolled = false;
    WHEELYARD_TRY(blobs::with_reserve(config.room(), [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto catalog, open_for_tokens(config));
        return catalog->replace_tokens([&](const std::vector<catalog::TokenRow>& rows) {
            catalog::TokenChange change{
                .added = {}, .revoked = {}, .cause = {local_actor(), {}, clock.now()}};
            for (const catalog::TokenRow& row : rows) {
                if (is_of_agent(row, arguments.id) && token_state(row, clock.now()) == "active")
                    change.revoked.push_back(row.id);
            }
            is_enrolled = !change.revoked.empty();
            return change;
        });
    }));
    if (!is_enrolled)
        return base::fail("agent.unknown", "No agent of this site is enrolled", arguments.id,
                          "wheelyard-registry token list shows the agents: agent:SITE");
    std::printf("revoked %s: it is refused from the next request on\n", agent_name(arguments.id).c_str());
    return {};
}

base::Status run_token_list(const std::filesystem::path& config_file, bool json, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(config_file));
    WHEELYARD_ASSIGN(const auto catalog, open_for_tokens(config));
    WHEELYARD_ASSIGN(const std::vector<catalog::TokenRow> rows, catalog->tokens());
    const base::UnixMicros now = clock.now();
    if (json) {
        io::Json list = io::Json::array();
        for (const catalog::TokenRow& row : rows)
            list.push(token_json(row, now));
        std::printf("%s\n", list.render().c_str());
        return {};
    }
    if (rows.empty()) {
        std::printf("no tokens yet: wheelyard-registry token create --help\n");
        return {};
    }
    std::vector<base::TableRow> table{{"ID", "STATE", "NAME", "ACTIONS", "INDEXES", "PROJECTS", "EXPIRES"}};
    for (const catalog::TokenRow& row : rows) {
        if (is_replaced(row, now)) continue;
        table.push_back({row.id, token_state(row, now), row.name, base::join(row.actions, ", "),
                         base::join(row.indexes, ", "), base::join(row.projects, ", "),
                         describe_expiry(row)});
    }
    base::print_untrusted(stdout, base::render_table(table, base::terminal_columns(STDOUT_FILENO)));
    return {};
}

base::Status run_token_revoke(const std::filesystem::path& config_file, const std::string& id,
                              const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(config_file));
    // Also accepts the complete text, because that is what leaks.
    const auto whole = parse_token_text(id);
    const std::string public_id = whole ? whole->id : id;
    WHEELYARD_ASSIGN(const bool known, blobs::with_reserve(config.room(), [&]() -> base::Result<bool> {
                         WHEELYARD_ASSIGN(const auto catalog, open_for_tokens(config));
                         return revoke_with_made(*catalog, public_id, {local_actor(), {}, clock.now()});
                     }));
    if (!known)
        return base::fail("token.unknown", "There is no token with this id",
                          public_id.substr(0, token_id_length),
                          "wheelyard-registry token list shows the ids");
    std::printf("revoked %s: it is refused from the next request on\n", public_id.c_str());
    return {};
}

base::Status run_token_forget(const std::filesystem::path& config_file, const std::string& person) {
    if (!is_person(person))
        return base::fail("token.unknown", "This is not the name of a person",
                          person.substr(0, max_token_name), "it begins with login: as in the audit log");
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(config_file));
    std::vector<std::string> ids;
    WHEELYARD_TRY(blobs::with_reserve(config.room(), [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto catalog, open_for_tokens(config));
        WHEELYARD_ASSIGN(const std::vector<catalog::TokenRow> rows, catalog->tokens());
        for (const catalog::TokenRow& row : rows) {
            if (is_same_actor(actor_of_token(row), person)) ids.push_back(row.id);
        }
        return catalog->drop_tokens(ids);
    }));
    std::printf(
        "forgot %zu log-ins and tokens of %s: they are refused from the next request on, and the audit log "
        "has no name\n",
        ids.size(), std::string(actor_of(person)).c_str());
    return {};
}

namespace {

base::Status list_tokens(const TokenArguments& arguments, const base::Clock& clock) {
    return run_token_list(arguments.config, arguments.json, clock);
}

base::Status revoke_token(const TokenArguments& arguments, const base::Clock& clock) {
    return run_token_revoke(arguments.config, arguments.id, clock);
}

base::Status forget_person(const TokenArguments& arguments, const base::Clock&) {
    return run_token_forget(arguments.config, arguments.id);
}

}  // namespace

std::vector<Command> token_commands() {
    return {
        {"token", "create", "Create a token and print it once",
         "-c registry.toml --name bede-agent --index bede-gh200 --expires 90d",
         setup(add_token_create_options, run_token_create)},
        {"token", "list", "List tokens, never their secrets", "-c registry.toml",
         setup(add_token_list_options, list_tokens)},
        {"token", "revoke", "Refuse a token from the next request on", "-c registry.toml wy_5f0c9a31d2be",
         setup(add_token_revoke_options, revoke_token)},
        {"token", "forget", "End all log-ins of a person and remove the person's name",
         "-c registry.toml login:campus:3f2a9c81d04e77b0", setup(add_token_forget_options, forget_person)},
        {"agent", "enrol", "Make a one-use code, by which the agent of a site gets tokens and renews them",
         "bede-gh200 -c registry.toml --index bede-gh200 --action upload --action build",
         setup(add_agent_enrol_options, run_agent_enrol),
         "The code ends after an hour. What the agent gets lasts 12 hours, and it renews that itself.\n"
         "An agent makes no tokens: the actions `token` and `*` are refused.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"agent", "revoke",
         "End the enrolment of a site's agent and all its tokens, from the next request on",
         "bede-gh200 -c registry.toml", setup(add_agent_revoke_options, run_agent_revoke)},
    };
}

}  // namespace wheelyard::registry
