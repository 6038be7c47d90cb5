#include "indexer/avail_wheels/ask_registry.hpp"

#include <cstddef>
#include <filesystem>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/netrc.hpp"
#include "lib/simple/registry_address.hpp"

namespace wheelyard::avail_wheels {

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

// That of `avail_wheels login`, which lies in ~/.netrc.
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
