// `wheelyard-registry token create|list|revoke`: open the catalog beside a running server, which applies the
// change to its next request.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "lib/base/file.hpp"
#include "lib/base/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/name.hpp"
#include "registry/access/tokens.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commands.hpp"
#include "registry/limits.hpp"

namespace wheelyard::registry {
namespace {

base::Result<catalog::Catalog> open_catalog(const RegistryConfig& config) {
    WHEELYARD_TRY(base::make_directories(config.store));
    return catalog::Catalog::open(config.catalog_file(), catalog::Catalog::Mode::read_write);
}

base::Status check_words(const std::vector<std::string>& words, const std::vector<std::string>& known,
                         const std::string& what) {
    for (const std::string& word : words) {
        if (word == "*" || std::find(known.begin(), known.end(), word) != known.end()) continue;
        const auto near = base::nearest(word, known);
        return base::fail("token.unknown_" + what, "There is no such " + what, word,
                          near ? "did you mean " + *near + "?" : "known: " + base::join(known, ", "));
    }
    return {};
}

base::Result<catalog::TokenRow> make_row(const TokenCreateArguments& arguments, const RegistryConfig& config,
                                         const TokenText& token, base::UnixMicros now) {
    const bool printable = std::all_of(arguments.name.begin(), arguments.name.end(),
                                       [](char c) { return c >= ' ' && c != '\x7f'; });
    if (arguments.name.empty() || arguments.name.size() > max_token_name || !printable)
        return base::fail("token.name", "A token's name must be one line of 1 to 120 characters",
                          arguments.name, "say who or what uses it");
    if (arguments.indexes.empty())
        return base::fail("token.no_index", "A token needs the indexes it is for", {},
                          "--index NAME, or --index '*' for all");
    WHEELYARD_TRY(check_words(arguments.indexes, config.index_names(), "index"));
    WHEELYARD_TRY(check_words(arguments.actions, token_actions(), "action"));
    catalog::TokenRow row{.id = token.id,
                          .secret_sha256 = hash_token_secret(token.secret),
                          .name = arguments.name,
                          .indexes = arguments.indexes,
                          .projects = {},
                          .actions = arguments.actions,
                          .created = now,
                          .expires = 0,
                          .revoked = false};
    for (const std::string& project : arguments.projects) {
        if (project != "*" && !wheel::is_valid_name(project))
            return base::fail("token.project", "This cannot be a project's name", project);
        row.projects.push_back(project == "*" ? project : wheel::normalize_name(project));
    }
    if (row.projects.empty()) row.projects.emplace_back("*");
    if (row.actions.empty()) row.actions.emplace_back(upload_action);
    if (!arguments.expires.empty()) {
        WHEELYARD_ASSIGN(const std::int64_t lifetime_ms, parse_lifetime_ms(arguments.expires));
        row.expires = now + lifetime_ms * 1000;
    }
    return row;
}

std::string state_of(const catalog::TokenRow& row, base::UnixMicros now) {
    if (row.revoked) return "revoked";
    return row.expires != 0 && row.expires <= now ? "expired" : "active";
}

io::Json render_token(const catalog::TokenRow& row, base::UnixMicros now) {
    return io::Json::object(
        {{"format", "wheelyard.token/1"},
         {"id", row.id},
         {"name", row.name},
         {"indexes", io::Json::array_of(row.indexes)},
         {"projects", io::Json::array_of(row.projects)},
         {"actions", io::Json::array_of(row.actions)},
         {"created", base::render_rfc3339(row.created)},
         {"expires", row.expires == 0 ? io::Json() : io::Json(base::render_rfc3339(row.expires))},
         {"state", state_of(row, now)}});
}

// Written before the token becomes valid: a token whose text is lost would have to be revoked.
base::Status write_token(const std::filesystem::path& file, const TokenText& token) {
    constexpr mode_t owner_alone = 0600;
    auto fd = base::create_new(file, owner_alone);
    if (!fd) {
        if (fd.error().os_error != EEXIST) return base::fail(std::move(fd.error()));
        return base::fail("token.exists", "There is a file of this name already", file.string(),
                          "name another one, or remove that");
    }
    auto written = base::write_all(fd->get(), token.text() + "\n");
    if (written) written = base::fsync_file(fd->get(), file.string());
    if (written) written = base::fsync_directory(file.has_parent_path() ? file.parent_path() : ".");
    if (!written) static_cast<void>(base::remove_file(file));  // so that a second try can create it
    return written;
}

std::string describe_expiry(const catalog::TokenRow& row) {
    return row.expires == 0 ? "never" : base::render_rfc3339(row.expires);
}

}  // namespace

base::Status run_token_create(const TokenCreateArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(arguments.config));
    const TokenText token = make_token_text();
    WHEELYARD_ASSIGN(const catalog::TokenRow row, make_row(arguments, config, token, clock.now()));
    config.room().give_back_if_low();
    WHEELYARD_ASSIGN(catalog::Catalog catalog, open_catalog(config));
    if (!arguments.to.empty()) WHEELYARD_TRY(write_token(arguments.to, token));
    if (auto added = catalog.add_token(row); !added) {
        if (!arguments.to.empty()) static_cast<void>(base::remove_file(arguments.to));
        return added;
    }
    if (arguments.json) {
        io::Json document = render_token(row, clock.now());
        document.set("token", token.text());
        std::printf("%s\n", document.render().c_str());
        return {};
    }
    if (arguments.to.empty()) {
        std::printf("%s\n\n", token.text().c_str());
        std::printf("This is the only time that the token is shown. Its id is %s.\n", row.id.c_str());
    } else {
        std::printf("wrote %s. The token's id is %s.\n", arguments.to.c_str(), row.id.c_str());
    }
    std::printf("  may     %s\n  index   %s\n  project %s\n  expires %s\n",
                base::join(row.actions, ", ").c_str(), base::join(row.indexes, ", ").c_str(),
                base::join(row.projects, ", ").c_str(), describe_expiry(row).c_str());
    return {};
}

base::Status run_token_list(const std::filesystem::path& config_file, bool json, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(config_file));
    WHEELYARD_ASSIGN(const catalog::Catalog catalog, open_catalog(config));
    WHEELYARD_ASSIGN(const std::vector<catalog::TokenRow> rows, catalog.tokens());
    const base::UnixMicros now = clock.now();
    if (json) {
        io::Json list = io::Json::array();
        for (const catalog::TokenRow& row : rows)
            list.push(render_token(row, now));
        std::printf("%s\n", list.render().c_str());
        return {};
    }
    if (rows.empty()) std::printf("no tokens yet: wheelyard-registry token create --help\n");
    for (const catalog::TokenRow& row : rows) {
        std::printf("%s  %-8s %-24s %s on %s, projects %s, expires %s\n", row.id.c_str(),
                    state_of(row, now).c_str(), row.name.c_str(), base::join(row.actions, ",").c_str(),
                    base::join(row.indexes, ",").c_str(), base::join(row.projects, ",").c_str(),
                    describe_expiry(row).c_str());
    }
    return {};
}

base::Status run_token_revoke(const std::filesystem::path& config_file, const std::string& id) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(config_file));
    // Also accepts the complete text, because that is what leaks.
    const auto whole = parse_token_text(id);
    const std::string public_id = whole ? whole->id : id;
    WHEELYARD_ASSIGN(const bool known, blobs::with_reserve(config.room(), [&]() -> base::Result<bool> {
                         WHEELYARD_ASSIGN(catalog::Catalog catalog, open_catalog(config));
                         return catalog.revoke_token(public_id);
                     }));
    if (!known)
        return base::fail("token.unknown", "There is no token with this id",
                          public_id.substr(0, token_id_length),
                          "wheelyard-registry token list shows the ids");
    std::printf("revoked %s: it is refused from the next request on\n", public_id.c_str());
    return {};
}

}  // namespace wheelyard::registry
