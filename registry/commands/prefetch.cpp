// locks, names with a version ─► wheels of the index's pages ─► record ─► HEAD of each file
//
// The files are requested from the running server, which fetches them as for any client: hashes are pinned,
// and cooldown, `allow` and `deny` hold.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/lock.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/requirement.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/prefetch/kept.hpp"
#include "registry/upstream/prefetch/target.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

struct PrefetchArguments {
    std::filesystem::path config;
    std::string index;
    std::vector<std::string> names;  // "torch==2.6.0"
    std::vector<std::filesystem::path> locks;
    std::vector<std::string> pythons;
    std::vector<std::string> platforms;
    std::string name = "default";
    std::string url;  // of the running server; empty: the configuration's (server_url)
    bool forget = false;
    bool json = false;
};

struct WantedFile {
    KeptFile kept;
    std::string url;
    bool operator<(const WantedFile& other) const { return kept < other.kept; }
};

base::Result<std::string> server_url(const PrefetchArguments& arguments, const RegistryConfig& config) {
    if (!arguments.url.empty()) return arguments.url;
    const auto& points = config.server.listen;
    const auto found = std::find_if(points.begin(), points.end(), [](const http::ListenPoint& each) {
        return each.unix_socket.empty() && each.port != 0;
    });
    if (found == points.end()) {
        if (!config.server.public_url.empty()) return config.server.public_url;
        return base::fail("prefetch.url",
                          "The configuration names no address of the server but sockets or port 0",
                          points.front().unix_socket.string(),
                          "name the address of the web server in front with --url https://HOST/PREFIX, or "
                          "let the server also listen on one: also_listen = [\"127.0.0.1:8080\"]");
    }
    const http::ListenPoint& point = *found;
    const bool any = point.address == "0.0.0.0" || point.address == "::";
    const std::string address = any ? "127.0.0.1" : point.address;
    const bool ipv6 = address.find(':') != std::string::npos;
    return std::string(point.tls ? "https://" : "http://") + (ipv6 ? "[" + address + "]" : address) + ":" +
           std::to_string(point.port);
}

class Prefetch {
  public:
    Prefetch(const PrefetchArguments& arguments, const std::string& server_url)
        : arguments_(arguments),
          simple_url_(server_url + "/" + arguments.index + "/simple/"),
          http_(settings()) {}

    base::Status add(const Target& target) {
        const base::ActingAs caller(base::FileUser::caller);
        for (const fs::path& file : arguments_.locks) {
            WHEELYARD_ASSIGN(const simple::Lock lock, simple::read_lock(file));
            WHEELYARD_ASSIGN(const auto packages, packages_for(lock, file, target));
            for (const simple::LockedPackage* package : packages)
                WHEELYARD_TRY(add_package(*package, target, &package->sha256s));
        }
        for (const std::string& name : arguments_.names)
            WHEELYARD_TRY(add_name(name, target));
        return {};
    }

    [[nodiscard]] const std::set<WantedFile>& files() const { return files_; }

    // The server answers when it has the file.
    base::Status fetch(const WantedFile& file, base::Clock& clock) {
        for (int tries = 1;; ++tries) {
            const auto answer = http_.head(file.url);
            constexpr int ok = 200;
            if (answer && answer->status == ok) return {};
            const bool may_try_again =
                tries < max_file_tries && (!answer || io::is_temporary_status(answer->status));
            if (!may_try_again)
                return base::fail(
                    "prefetch.not_fetched", "The server does not have the file", file.kept.filename,
                    answer ? "it answered " + std::to_string(answer->status) + "; its log says why"
                           : answer.error().text());
            clock.sleep_ms(file_pause_ms);
        }
    }

  private:
    static io::HttpSettings settings() {
        io::HttpSettings settings;
        settings.stall_timeout_ms = file_wait_ms;
        return settings;
    }

    // The wheel alone: what it needs stands in a lock.
    base::Status add_name(const std::string& text, const Target& target) {
        WHEELYARD_ASSIGN(const auto wanted, wheel::Requirement::parse(text));
        const auto& exact = wanted.specifiers.specifiers();
        const bool is_pin = exact.size() == 1 && exact.front().is_exact() && wanted.extras.empty() &&
                            wanted.url.empty() && !wanted.marker;
        const std::string pinned = is_pin ? exact.front().text() : std::string();
        const auto version = wheel::Version::parse(base::replace_all(pinned, "=", ""));
        if (!version)
            return base::fail(
                "prefetch.not_exact", "The name has no exact version", text,
                "write it as torch==2.6.0; for a choice, and for what it needs, a resolver writes a "
                "lock: uv pip compile --format pylock.toml");
        return add_package({.name = wanted.name, .project = wanted.project, .version = *version}, target,
                           nullptr);
    }

    // `locked`: the hashes of the lock, which says which variant wheels its nodes may take; nullptr: any of
    // them.
    base::Status add_package(const simple::LockedPackage& package, const Target& target,
                             const std::set<std::string>* locked) {
        WHEELYARD_ASSIGN(const simple::ProjectPage* page, page_of(package.project));
        const std::string subject = package.project + " " + package.version->text();
        const simple::FileLink* link = choose_wheel(*page, *package.version, target);
        if (link == nullptr)
            return base::fail("prefetch.no_wheel", "The index offers no wheel for " + target.text(), subject,
                              "`wheelyard-registry explain` shows what it withholds");
        if (!package.sha256s.empty() && !package.sha256s.contains(link->sha256))
            return base::fail("prefetch.hash_differs", "The lock has another hash for this wheel",
                              link->filename, "make the lock from this index");
        add_file(package.project, *link);
        // Which variant the node takes is its own choice (PEP 825), for which it reads what the labels mean.
        for (const auto* variant : choose_variants(*page, *package.version, target, locked)) {
            add_file(package.project, *variant);
            const auto name = wheel::parse_wheel_filename(variant->filename);
            const auto* meanings =
                simple::find_file(*page, catalog::variants_filename(package.project, name->version.text()));
            if (meanings != nullptr) add_file(package.project, *meanings);
        }
        return {};
    }

    void add_file(const std::string& project, const simple::FileLink& link) {
        files_.insert({.kept = {.filename = link.filename,
                                .project = project,
                                .sha256 = link.sha256,
                                .size_bytes = link.size_bytes},
                       .url = link.url});
    }

    base::Result<const simple::ProjectPage*> page_of(const std::string& project) {
        if (const auto known = pages_.find(project); known != pages_.end()) return &known->second;
        WHEELYARD_ASSIGN(auto page, simple::fetch_project(http_, simple_url_, project));
        if (!page)
            return base::fail("prefetch.no_project", "The index has no such project", project,
                              "`wheelyard-registry explain` shows why");
        return &pages_.emplace(project, *std::move(page)).first->second;
    }

    const PrefetchArguments& arguments_;
    const std::string simple_url_;
    io::HttpClient http_;
    std::map<std::string, simple::ProjectPage> pages_;
    std::set<WantedFile> files_;
};

base::Status check_arguments(const PrefetchArguments& arguments, const RegistryConfig& config) {
    const IndexConfig* index = config.find_index(arguments.index);
    if (index == nullptr)
        return base::fail("index.unknown", "There is no index with this name", arguments.index,
                          "configured: " + base::join(config.index_names(), ", "));
    if (const std::string fault = index_name_fault(arguments.name); !fault.empty())
        return base::fail("prefetch.name", "A name of a prefetch is written like an index's", arguments.name,
                          fault);
    if (arguments.forget) return {};
    if (index->is_private)
        return base::fail("prefetch.private", "This index is private, and `prefetch` sends no token",
                          arguments.index,
                          "prefetch for the public index that has the upstream; this one may inherit it");
    for (const fs::path& file : arguments.locks)
        if (!simple::is_lock(file))
            return base::fail(
                "prefetch.no_lock", "This is no lock by its name, pylock.toml or pylock.NAME.toml",
                file.native(),
                "a resolver writes one of requirements: uv pip compile --universal --only-binary "
                ":all: --format pylock.toml --default-index URL-OF-THE-INDEX");
    if ((arguments.locks.empty() && arguments.names.empty()) || arguments.pythons.empty() ||
        arguments.platforms.empty())
        return base::fail("prefetch.arguments", "prefetch needs a lock or names, and --python and --platform",
                          {}, "see wheelyard-registry prefetch --help");
    return {};
}

std::string render_done(const Kept& kept, const std::vector<base::Error>& failures) {
    io::Json document = render_kept(kept);
    io::Json::Array failed;
    for (const base::Error& error : failures)
        failed.push_back(
            io::Json::object({{"filename", error.value}, {"code", error.code}, {"why", error.text()}}));
    document.set("failed", std::move(failed));
    return document.render_pretty();
}

// As JSON: the record as it is now, with no files.
base::Status forget(const PrefetchArguments& arguments, const RegistryConfig& config, base::Clock& clock) {
    WHEELYARD_ASSIGN(const bool had_it, forget_kept(config.store, arguments.index, arguments.name));
    if (!had_it)
        return base::fail("prefetch.no_record", "Nothing is kept under this name", arguments.name,
                          "they are the files in " + (config.store / "prefetch" / arguments.index).native());
    if (arguments.json)
        base::print(
            stdout, "%s",
            render_done({.index = arguments.index, .name = arguments.name, .made = clock.now()}, {}).c_str());
    else
        base::print(stdout, "no longer kept: %s\n", arguments.name.c_str());
    return {};
}

void add_prefetch_options(CLI::App& command, PrefetchArguments& arguments) {
    command.add_option("index", arguments.index, "The index that the nodes install from")->required();
    command.add_option("names", arguments.names,
                       "Names with an exact version, torch==2.6.0: their wheels without what these need");
    command.add_option("-r,--lock", arguments.locks,
                       "pylock.toml or pylock.NAME.toml, as a resolver writes it; repeatable");
    command.add_option("--python", arguments.pythons, "A Python of the nodes: 3.12; repeatable");
    command.add_option(
        "--platform", arguments.platforms,
        "A platform of the nodes: manylinux_2_28_aarch64 is glibc 2.28 on aarch64; repeatable");
    command.add_option("--name", arguments.name,
                       "Name of the record of what is kept; the next run with it replaces the record "
                       "(default: default)");
    command.add_option(
        "--url", arguments.url,
        "URL of the running server (default: the first address of the configuration that is no "
        "Unix socket, else its public_url)");
    command.add_flag("--forget", arguments.forget,
                     "Remove the record of this name instead: its files are "
                     "kept no longer than others");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
    add_config_option(command, arguments.config);
}

base::Status run_prefetch(const PrefetchArguments& arguments, base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_TRY(check_arguments(arguments, config));
    if (arguments.forget) return forget(arguments, config, clock);
    WHEELYARD_ASSIGN(const std::string url, server_url(arguments, config));
    Prefetch prefetch(arguments, url);
    Kept kept{.index = arguments.index, .name = arguments.name, .made = clock.now()};
    std::FILE* progress = arguments.json ? stderr : stdout;
    for (const std::string& python : arguments.pythons) {
        for (const std::string& platform : arguments.platforms) {
            WHEELYARD_ASSIGN(const Target target, make_target(python, platform));
            WHEELYARD_TRY(prefetch.add(target));
            kept.targets.push_back(target.text());
            base::print(progress, "%s: %zu wheels so far\n", target.text().c_str(), prefetch.files().size());
        }
    }
    std::uint64_t bytes = 0;
    for (const WantedFile& file : prefetch.files()) {
        kept.files.insert(file.kept);
        bytes += file.kept.size_bytes;
    }
    // First the record: the limit of the cache evicts none of them while the others are fetched.
    WHEELYARD_TRY(write_kept(config.store, kept));
    std::vector<base::Error> failures;
    std::size_t number = 0;
    for (const WantedFile& file : prefetch.files()) {
        base::print(progress, "[%zu/%zu] %s  %s\n", ++number, prefetch.files().size(),
                    file.kept.filename.c_str(), base::render_bytes(file.kept.size_bytes).c_str());
        std::fflush(progress);
        if (const auto fetched = prefetch.fetch(file, clock); !fetched) {
            failures.push_back(fetched.error());
            base::print(progress, "  %s\n", fetched.error().text().c_str());
        }
    }
    if (arguments.json)
        base::print(stdout, "%s", render_done(kept, failures).c_str());
    else
        base::print(stdout, "kept as %s: %zu files, %s\n", kept.name.c_str(), kept.files.size(),
                    base::render_bytes(bytes).c_str());
    if (failures.empty()) return {};
    return base::fail("prefetch.incomplete", "Some files were not fetched",
                      std::to_string(failures.size()) + " of " + std::to_string(kept.files.size()),
                      "repeat the command: it goes on with what is missing");
}

}  // namespace

std::vector<Command> prefetch_commands() {
    return {
        {heading::adding, "prefetch",
         "Fetch the wheels of a lock from the upstreams and keep them, for nodes without internet access",
         "base --lock pylock.toml --python 3.12 --platform manylinux_2_28_aarch64 -c registry.toml",
         setup(add_prefetch_options, run_prefetch),
         "A resolver writes the lock: uv pip compile --universal --format pylock.toml, pip lock, uv export.\n"
         "Exit status: 0 the server has all files, 1 failure (see standard error), 2 wrong usage or "
         "configuration.\n"},
    };
}

}  // namespace wheelyard::registry
