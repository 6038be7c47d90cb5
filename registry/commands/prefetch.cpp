// requirements, wants of sites ─► uv resolves them against our index ─► wheels of the index's pages ─► record ─► HEAD of each file
//
// The files are requested from the running server, which fetches them as for any client: hashes are pinned, and
// cooldown, `allow` and `deny` hold.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/lock.hpp"
#include "lib/wheel/filename.hpp"
#include "registry/catalog/version_variants.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/prefetch/kept.hpp"
#include "registry/upstream/prefetch/site_wants.hpp"
#include "registry/upstream/prefetch/target.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

struct PrefetchArguments {
    std::filesystem::path config;
    std::string index;
    std::vector<std::filesystem::path> requirements;
    std::vector<std::string> pythons;
    std::vector<std::string> platforms;
    bool wants = false;  // what the sites of the index want, as they report it
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
    // uv connects to no Unix socket.
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

// uv evaluates markers for the target; pip would evaluate them for this machine.
// `requirements`: files, or "-" for `input`.
base::Result<std::string> resolve(const std::vector<fs::path>& requirements, const std::string& input,
                                  const std::string& simple_url, const Target& target) {
    const base::ActingAs caller(base::FileUser::caller);
    base::Command command;
    command.argv = {"uv",
                    "pip",
                    "compile",
                    "--quiet",
                    "--no-config",
                    "--no-cache",
                    "--no-header",
                    "--no-python-downloads",
                    "--only-binary",
                    ":all:",
                    "--format",
                    "pylock.toml",
                    "--default-index",
                    simple_url,
                    "--python-version",
                    target.python,
                    "--python-platform",
                    target.platform_of_uv()};
    for (const fs::path& file : requirements)
        command.argv.push_back(file.native());
    command.input = input;
    command.timeout_ms = resolve_timeout_ms;
    command.output_limit_bytes = simple::max_lock_bytes;
    if (!base::find_program("uv"))
        return base::fail("prefetch.no_uv", "`uv` resolves requirements, and it is not on PATH", {},
                          "install uv, or give a pylock.toml, which needs no resolving");
    WHEELYARD_ASSIGN(base::Finished finished, base::run_command(command));
    if (finished.exit_code == 0) return std::move(finished.out);
    const std::string why = finished.timed_out ? "it took too long" : std::string(base::trim(finished.err));
    return base::fail("prefetch.unresolved", "uv cannot resolve the requirements for " + target.text(), why,
                      "`wheelyard-registry explain` shows why an index does not offer a project");
}

class Prefetch {
  public:
    Prefetch(const PrefetchArguments& arguments, const std::string& server_url)
        : arguments_(arguments),
          index_url_(server_url + "/" + arguments.index + "/"),
          simple_url_(index_url_ + "simple/"),
          http_(settings()) {}

    base::Status add(const Target& target) {
        const base::ActingAs caller(base::FileUser::caller);
        std::vector<fs::path> requirements;
        for (const fs::path& file : arguments_.requirements) {
            if (!simple::is_lock(file)) {
                requirements.push_back(file);
                continue;
            }
            WHEELYARD_ASSIGN(const std::string text, base::read_file(file, simple::max_lock_bytes));
            WHEELYARD_TRY(add_lock(text, file, target, Lock::given));
        }
        if (requirements.empty()) return {};
        WHEELYARD_ASSIGN(const std::string text, resolve(requirements, {}, simple_url_, target));
        return add_lock(text, "pylock.toml", target, Lock::resolved);
    }

    base::Result<std::vector<SiteWant>> read_wants() {
        constexpr int ok = 200;
        const std::string url = index_url_ + std::string(status::index_status_name);
        WHEELYARD_ASSIGN(const auto answer, http_.get(url));
        if (answer.status != ok)
            return base::fail("prefetch.no_reports", "No site has reported what it wants", arguments_.index,
                              "its agents do at each tick; until then name requirements with -r");
        WHEELYARD_ASSIGN(const auto reported, status::parse_index_status(answer.body));
        return wants_of(reported);
    }

    // With all that it needs, each want by itself: two versions of a package are not installed together. False: the
    // index has no wheel of it for this target.
    base::Result<bool> add_want(const SiteWant& want, const Target& target) {
        WHEELYARD_ASSIGN(const auto version, wheel::Version::parse(want.version));
        WHEELYARD_ASSIGN(const auto* page, find_page(want.package));
        if (page == nullptr || !has_wheel(*page, version, target)) return false;
        WHEELYARD_ASSIGN(const std::string text,
                         resolve({"-"}, want.requirement() + "\n", simple_url_, target));
        WHEELYARD_TRY(add_lock(text, "pylock.toml", target, Lock::resolved));
        return true;
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

    // A given lock says which variant wheels its nodes may take; what uv resolves here is for any of them.
    enum class Lock { given, resolved };

    base::Status add_lock(std::string_view text, const fs::path& file, const Target& target, Lock made) {
        WHEELYARD_ASSIGN(const simple::Lock lock, simple::parse_lock(text, file));
        WHEELYARD_ASSIGN(const auto packages, packages_for(lock, file, target));
        for (const simple::LockedPackage* package : packages)
            WHEELYARD_TRY(add_package(*package, target, made));
        return {};
    }

    base::Status add_package(const simple::LockedPackage& package, const Target& target, Lock made) {
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
        const auto* const locked = made == Lock::given ? &package.sha256s : nullptr;
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
                                .size_bytes = link.size.value_or(0)},
                       .url = link.url});
    }

    // nullptr: the index has no such project.
    base::Result<const simple::ProjectPage*> find_page(const std::string& project) {
        if (const auto known = pages_.find(project); known != pages_.end()) return &known->second;
        WHEELYARD_ASSIGN(auto page, simple::fetch_project(http_, simple_url_, project));
        if (!page) return nullptr;
        return &pages_.emplace(project, *std::move(page)).first->second;
    }

    base::Result<const simple::ProjectPage*> page_of(const std::string& project) {
        WHEELYARD_ASSIGN(const simple::ProjectPage* page, find_page(project));
        if (page != nullptr) return page;
        return base::fail("prefetch.no_project", "The index has no such project", project,
                          "`wheelyard-registry explain` shows why");
    }

    const PrefetchArguments& arguments_;
    const std::string index_url_;
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
    const bool has_requirements = !arguments.requirements.empty();
    if ((!has_requirements && !arguments.wants) ||
        (has_requirements && (arguments.pythons.empty() || arguments.platforms.empty())))
        return base::fail("prefetch.arguments", "prefetch needs -r, --python and --platform", {},
                          "or --wants; see wheelyard-registry prefetch --help");
    return {};
}

// Wants whose wheel no platform can use are not built yet, or are of other nodes: the next run finds them.
base::Status add_wants(Prefetch& prefetch, const PrefetchArguments& arguments, Kept& kept,
                       std::FILE* progress) {
    WHEELYARD_ASSIGN(const auto wants, prefetch.read_wants());
    std::set<std::string> targets(kept.targets.begin(), kept.targets.end());
    std::size_t without_wheel = 0;
    bool is_platform_known = wants.empty();
    for (const SiteWant& want : wants) {
        bool is_there = false;
        const auto& platforms = arguments.platforms.empty() ? want.platforms : arguments.platforms;
        is_platform_known = is_platform_known || !platforms.empty();
        for (const std::string& platform : platforms) {
            WHEELYARD_ASSIGN(const Target target, make_target(want.python, platform));
            WHEELYARD_ASSIGN(const bool is_added, prefetch.add_want(want, target));
            if (!is_added) continue;
            is_there = true;
            targets.insert(target.text());
            base::print(progress, "%s, %s: %zu wheels so far\n", want.requirement().c_str(),
                        target.text().c_str(), prefetch.files().size());
        }
        if (!is_there) ++without_wheel;
    }
    if (!is_platform_known)
        return base::fail("prefetch.no_platforms",
                          "No report names machine type and glibc of the site's nodes", arguments.index,
                          "name them with --platform, or update the agents");
    if (without_wheel > 0)
        base::print(progress, "%zu of %zu wants of the sites have no wheel for these platforms yet\n",
                    without_wheel, wants.size());
    kept.targets.assign(targets.begin(), targets.end());
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
    command.add_option("-r,--requirement", arguments.requirements,
                       "requirements.txt, pyproject.toml, or pylock.toml; repeatable");
    command.add_option("--python", arguments.pythons, "A Python of the nodes: 3.12; repeatable");
    command.add_option(
        "--platform", arguments.platforms,
        "A platform of the nodes: manylinux_2_28_aarch64 is glibc 2.28 on aarch64; repeatable");
    command.add_flag("--wants", arguments.wants,
                     "What the sites of the index want, as their agents report it, and what that needs");
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
    for (const std::string& python :
         arguments.requirements.empty() ? std::vector<std::string>() : arguments.pythons) {
        for (const std::string& platform : arguments.platforms) {
            WHEELYARD_ASSIGN(const Target target, make_target(python, platform));
            WHEELYARD_TRY(prefetch.add(target));
            kept.targets.push_back(target.text());
            base::print(progress, "%s: %zu wheels so far\n", target.text().c_str(), prefetch.files().size());
        }
    }
    if (arguments.wants) WHEELYARD_TRY(add_wants(prefetch, arguments, kept, progress));
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
         "Fetch what requirements need from the upstreams and keep it, for nodes without internet access",
         "base -r requirements.txt --python 3.12 --platform manylinux_2_28_aarch64 -c registry.toml",
         setup(add_prefetch_options, run_prefetch),
         "uv resolves the requirements, for each Python and platform, against the index of the running "
         "server. A pylock.toml needs no uv. With --wants the sites' reports name the Pythons and, without "
         "--platform, the platforms of their nodes.\n"
         "Exit status: 0 the server has all files, 1 failure (see standard error), 2 wrong usage or "
         "configuration.\n"},
    };
}

}  // namespace wheelyard::registry
