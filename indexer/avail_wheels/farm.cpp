// Reads the farm's plan and writes requests.
#include "indexer/avail_wheels/farm.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "indexer/avail_wheels/source/source.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/index_folder.hpp"
#include "lib/simple/netrc.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/status/index_status.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_requests_per_user = 20;

// An index has its pages in simple/ and its status beside that folder: "https://farm/main/simple/" becomes
// "https://farm/main/status.json".
std::string beside_pages(std::string_view place) {
    constexpr std::string_view pages = "/simple";
    while (place.ends_with('/'))
        place.remove_suffix(1);
    if (place.ends_with(pages)) place.remove_suffix(pages.size());
    return std::string(place) + "/" + std::string(status::index_status_name);
}

std::string place_of_status(const Options& options) {
    if (!options.site.status.empty()) return options.site.status;
    if (!options.source.index_url.empty()) return beside_pages(options.source.index_url);
    return options.source.wheelhouse.empty() ? std::string()
                                             : beside_pages(options.source.wheelhouse.native());
}

base::Result<std::string> read_document(const simple::GetPage& get, const std::string& where) {
    if (where.empty()) {
        return base::fail("farm.no_status", "No index is named whose status could be shown", {},
                          "name one with --index-url, or set `status` in the site file");
    }
    if (!where.starts_with("http://") && !where.starts_with("https://")) {
        const bool is_url = simple::is_file_url(where);
        auto text = base::read_file(is_url ? where.substr(std::string_view("file://").size()) : where,
                                    status::max_index_status_bytes);
        if (text) return text;
        return base::fail("farm.status", "The farm's status could not be read: " + text.error().sentence,
                          where, "no site reports to this index, or `status` in the site file is wrong");
    }
    constexpr int status_ok = 200;
    constexpr int status_not_found = 404;
    WHEELYARD_ASSIGN(auto answer,
                     get(where, {{"Accept", "application/json"}}, status::max_index_status_bytes));
    if (answer.status == status_not_found)
        return base::fail_as(base::ErrorKind::missing, base::Recovery::never,
                             {"farm.no_report", "The farm's status could not be read: status 404", where,
                              "no site reports to this index"});
    if (answer.status != status_ok) {
        return base::fail("farm.http",
                          "The farm's status could not be read: status " + std::to_string(answer.status));
    }
    return std::move(answer.body);
}

// The cell's reason, and for what is being built how far it is.
std::string why_of(const status::CellReport& cell, const status::SiteReport& site) {
    for (const status::BuildReport& attempt : site.attempts) {
        if (attempt.id != cell.attempt || cell.attempt.empty()) continue;
        std::string text = attempt.phase.empty() ? attempt.state : attempt.phase;
        if (attempt.total > 0)
            text += " " + std::to_string(attempt.done) + "/" + std::to_string(attempt.total);
        return text + (attempt.waiting.empty() ? "" : ", " + attempt.waiting);
    }
    return cell.reason;
}

// Where a browser sees what became of it; empty: the status is a file. A browser asks for a token by itself.
std::string page_of_request(const std::string& place_of_status, const std::string& id) {
    auto url = base::parse_url(place_of_status);
    if (!url || !url->scheme.starts_with("http") || !url->path.ends_with(status::index_status_name))
        return {};
    url->userinfo.clear();
    url->path.resize(url->path.size() - status::index_status_name.size());
    url->path += "builds/request.html";
    url->query = "id=" + base::encode_percent(id);
    return url->text();
}

// Writes a TOML basic string; the text has no characters that need escaping.
std::string toml_text(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

}  // namespace

base::Result<status::IndexStatus> read_index_status(const simple::GetPage& get, const Options& options) {
    const auto text = read_document(get, place_of_status(options));
    const std::string& index = options.source.index_url;
    if (!text && text.error().kind == base::ErrorKind::missing && !index.empty() &&
        options.site.status.empty())
        WHEELYARD_TRY(check_index(get, index));
    return text.and_then(status::parse_index_status);
}

base::Result<FarmStatus> read_status(const simple::GetPage& get, const Options& options,
                                     base::UnixMicros now) {
    WHEELYARD_ASSIGN(const auto index, read_index_status(get, options));
    FarmStatus farm;
    const auto& wanted = options.query.wanted;
    for (const status::SiteReport& site : index.sites) {
        for (const status::CellReport& cell : site.cells) {
            const std::string project = wheel::normalize_name(cell.package);
            const bool is_wanted = std::any_of(wanted.begin(), wanted.end(),
                                               [&](const Wanted& one) { return one.matches(project); });
            if (!is_wanted) continue;
            const std::string name = cell.purpose.empty() ? cell.package : cell.package + " " + cell.purpose;
            farm.rows.push_back({name, cell.version, cell.python, cell.accelerator, site.site, cell.state,
                                 why_of(cell, site)});
        }
        if (const auto silent_ms = status::late_ms(site, now))
            farm.notices.push_back("the agent of " + site.site + " has not reported for " +
                                   base::render_duration_ms(*silent_ms));
        if (site.is_cut) farm.notices.push_back("the report of " + site.site + " is not complete");
    }
    const std::string place = place_of_status(options);
    for (const status::RequestReport& request : index.requests) {
        const std::string project = wheel::normalize_name(request.package);
        if (!std::any_of(wanted.begin(), wanted.end(),
                         [&](const Wanted& one) { return one.matches(project); }))
            continue;
        const std::string page = page_of_request(place, request.id);
        farm.rows.push_back({request.package, request.version, request.python, request.accelerator, "",
                             "request " + base::replace_all(request.state, "_", " "),
                             request.reason + (request.reason.empty() || page.empty() ? "" : "; ") + page});
    }
    return farm;
}

base::Result<std::string> write_request(const Options& options, const std::string& requirement,
                                        const std::string& user, const std::string& host,
                                        const base::Clock& clock) {
    const fs::path& folder = options.site.requests;
    if (const auto queue = queue_of_index(options.source.index_url); folder.empty() && queue)
        return base::fail(
            "farm.token", "A registry takes requests with a token, and there is none", queue->registry,
            "`avail_wheels login`, or put a token of the registry into ~/.config/wheelyard/token");
    if (folder.empty())
        return base::fail("farm.no_requests", "Nothing says where requests go", {},
                          "name a registry's index with --index-url, or set `requests` in the site file to a "
                          "folder or a registry");
    WHEELYARD_ASSIGN(const auto wanted, parse_wanted(requirement));
    if (wanted.is_glob())
        return base::fail("farm.glob", "A request needs a package name, not a pattern", requirement);
    // Only the normalised spelling of the specifiers is written: no quotes, no line ends.
    const std::string versions = wanted.specifiers.empty() ? "latest" : wanted.specifiers.text();
    std::vector<std::string> pythons;
    for (const auto& python : options.query.pythons)
        pythons.push_back(toml_text(python.text()));

    std::string text =
        "[[want]]\npackage = " + toml_text(wanted.pattern) + "\nversions = [" + toml_text(versions) + "]\n";
    if (!pythons.empty()) text += "pythons = [" + base::join(pythons, ", ") + "]\n";
    const std::string start = user + "-";
    const fs::path file = folder / (start + wanted.pattern + "-" + base::hash_text_hex(text) + ".toml");

    std::size_t open = 0;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path() == file) return "Already requested: " + file.native();
        if (entry->path().filename().native().starts_with(start)) ++open;
    }
    if (error) {
        return base::fail("farm.requests", "The folder for requests could not be read: " + error.message(),
                          folder.native(),
                          "`requests` in the site file names it; ask the site's administrator");
    }
    if (open >= max_requests_per_user) {
        return base::fail("farm.quota", "You have " + std::to_string(open) + " open requests already", {},
                          "wait until they are handled");
    }
    const std::string head =
        "# requested by " + user + " on " + host + ", " + base::render_rfc3339(clock.now()) + "\n";
    WHEELYARD_TRY(base::replace_file(file, head + text));
    return "Requested " + wanted.pattern + " (" + versions + "): " + file.native() +
           "\nAn administrator adds it to the farm's plan; --status then shows it.";
}

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_token_bytes = 4096;  // the file of a user's token

// The user's own file, whether it exists or not.
fs::path token_file(const EnvironmentMap& environment) {
    const auto value = [&environment](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    if (auto file = value("WHEELYARD_TOKEN_FILE"); !file.empty()) return file;
    const std::string config = value("XDG_CONFIG_HOME");
    if (config.empty() && value("HOME").empty()) return {};
    return (config.empty() ? fs::path(value("HOME")) / ".config" : fs::path(config)) / "wheelyard" / "token";
}

// The token of `avail_wheels login` lies in ~/.netrc.
std::optional<std::string> token_of_login(const std::string& registry, const EnvironmentMap& environment) {
    const auto home = environment.find("HOME");
    const auto url = base::parse_url(registry);
    if (home == environment.end() || !url) return std::nullopt;
    const auto netrc = simple::read_netrc(home->second);
    return netrc ? simple::find_login(*netrc, url->host) : std::nullopt;
}

base::Result<std::string> read_token(const std::string& registry, const EnvironmentMap& environment) {
    const fs::path file = token_file(environment);
    const auto text = base::read_file(file, max_token_bytes);
    if (!text) {
        if (auto token = token_of_login(registry, environment)) return *std::move(token);
    }
    const std::string token(text ? base::trim(*text) : std::string_view());
    if (token.empty() || token.find_first_of(" \t\r\n\"") != std::string::npos)
        return base::fail("farm.token", "The registry takes requests with a token, and there is none",
                          file.native(),
                          "log in (`avail_wheels login`), or ask the registry's operator for a token "
                          "(`wheelyard-registry token create --action "
                          "task`) and put it there, or set WHEELYARD_TOKEN_FILE");
    return token;
}

}  // namespace

std::optional<RequestQueue> queue_of_index(std::string_view url) {
    constexpr std::string_view pages = "/simple";
    while (url.ends_with('/'))
        url.remove_suffix(1);
    if (!url.ends_with(pages) || !url.starts_with("http")) return std::nullopt;
    url.remove_suffix(pages.size());
    const auto slash = url.rfind('/');
    if (slash == std::string_view::npos || slash < url.find("://") + 3) return std::nullopt;
    return RequestQueue{std::string(url.substr(0, slash)), std::string(url.substr(slash + 1))};
}

namespace {

// A task is for one exact version.
base::Result<std::string> exact_version(const Wanted& wanted) {
    const auto& specifiers = wanted.specifiers.specifiers();
    if (specifiers.size() == 1 && specifiers.front().is_exact()) {
        const std::string text = wanted.specifiers.text();
        return text.substr(text.find_first_not_of('='));
    }
    return base::fail("farm.version", "The registry takes requests for one exact version", wanted.name,
                      "name it: avail_wheels --request '" + wanted.name + "==VERSION'");
}

base::Error refusal_of(const io::HttpAnswer& answer) {
    const auto problem = io::parse_json(answer.body);
    const std::string said = problem ? problem->string_or("detail", "") : "";
    return {"farm.refused",
            "The registry answers " + std::to_string(answer.status) + (said.empty() ? "" : ": " + said),
            problem ? problem->string_or("value", "") : "", problem ? problem->string_or("advice", "") : ""};
}

}  // namespace

std::optional<RequestQueue> request_queue(const Options& options, const EnvironmentMap& environment) {
    auto queue = queue_of_index(options.source.index_url);
    const std::string& asked = options.site.requests_registry;
    if (!asked.empty()) return RequestQueue{asked, queue ? queue->index : std::string()};
    std::error_code error;
    const bool has_token = queue && (fs::exists(token_file(environment), error) ||
                                     token_of_login(queue->registry, environment).has_value());
    return options.site.requests.empty() && has_token ? queue : std::nullopt;
}

base::Result<std::string> ask_registry(const simple::GetPage& get, const PostDocument& post,
                                       const RequestQueue& queue, const Wanted& wanted,
                                       const std::vector<Python>& pythons,
                                       const EnvironmentMap& environment) {
    if (queue.index.empty())
        return base::fail("farm.index", "No index is named that the request is for", {},
                          "name one with --index-url, or set `index_url` in the site file");
    if (wanted.is_glob())
        return base::fail("farm.glob", "A request needs a package name, not a pattern", wanted.name);
    WHEELYARD_ASSIGN(const auto version, exact_version(wanted));
    if (pythons.empty())
        return base::fail("farm.python", "The registry takes requests for a Python, and none was found here",
                          wanted.name, "name it: -p 3.12");
    WHEELYARD_ASSIGN(const auto token, read_token(queue.registry, environment));
    std::vector<std::string> lines;
    for (const auto& python : pythons) {
        const io::Json task = io::Json::object({{"format", "wheelyard.task/1"},
                                                {"index", queue.index},
                                                {"package", wanted.pattern},
                                                {"version", version},
                                                {"python", python.text()},
                                                {"accelerator", ""}});
        WHEELYARD_ASSIGN(const auto answer,
                         post(queue.registry + "/api/v1/tasks", task.render(),
                              {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}}));
        WHEELYARD_TRY(simple::check_registry(get, queue.registry, answer));
        constexpr int status_ok = 200;
        constexpr int status_created = 201;
        if (answer.status != status_ok && answer.status != status_created)
            return base::fail(refusal_of(answer));
        const auto made = io::parse_json(answer.body);
        const std::string why = made ? made->string_or("nobody_takes", "") : std::string();
        lines.push_back(
            "Requested " + wanted.pattern + " " + version + " for Python " + python.text() + ": task " +
            (made ? made->string_or("id", "?") + " is " + made->string_or("state", "?") : std::string("?")) +
            (why.empty() ? "" : ", but " + why));
    }
    return base::join(lines, "\n") +
           "\n`avail_wheels --status` shows when an agent takes it, or why none does, and how it ends.";
}

}  // namespace wheelyard::avail_wheels
