#include "lib/simple/login.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/netrc.hpp"
#include "lib/simple/registry_address.hpp"

namespace wheelyard::simple {
namespace {

constexpr std::uint64_t max_login_answer_bytes = base::mib;
constexpr std::size_t max_login_token_bytes = 1024;

using io::Json;

constexpr int status_good = 200;
constexpr int status_no_token = 401;
constexpr int status_unknown = 404;
constexpr std::size_t secret_bytes = 32;
constexpr std::int64_t min_poll_s = 1;
constexpr std::int64_t max_poll_s = 60;
constexpr std::int64_t ms_per_s = 1000;
constexpr base::UnixMicros max_wait = 3600 * base::second_us;  // for a code to be entered

tl::unexpected<base::Error> fail_login(const io::HttpAnswer& answer) {
    const auto problem = io::parse_json(answer.body);
    if (!problem)
        return base::fail("login.answer",
                          "The registry answers " + std::to_string(answer.status) + " and no reason", {},
                          "check the address");
    return base::fail(
        problem->string_or("code", "login.answer"),
        base::printable_line("The registry answers " + std::to_string(answer.status) + ": " +
                             problem->string_or("detail", problem->string_or("title", "no reason"))),
        base::printable_line(problem->string_or("value", "")),
        base::printable_line(problem->string_or("advice", "")));
}

base::Result<Json> document_of(const base::Result<io::HttpAnswer>& answer, std::string_view format) {
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status != status_good) return fail_login(*answer);
    auto json = io::parse_json(answer->body);
    if (!json || (!format.empty() && json->string_or("format", "") != format))
        return base::fail("login.answer", "The answer is not that of a registry's log-in", {},
                          "check the address");
    return json;
}

std::string api_of(const std::string& registry) {
    return registry + (registry.ends_with('/') ? "" : "/") + "api/v1/";
}

base::Result<std::string> choose_identity(const LoginWorld& world, const std::string& registry,
                                          const std::string& wanted) {
    const auto answer =
        world.get(api_of(registry) + "login", {{"Accept", "application/json"}}, max_login_answer_bytes);
    if (answer) WHEELYARD_TRY(check_registry(world.get, registry, *answer));
    if (answer && answer->status == status_unknown)
        return base::fail("login.none", "This registry has no log-in", registry,
                          "ask its operator for a token");
    WHEELYARD_ASSIGN(const Json listed, document_of(answer, "wheelyard.logins/1"));
    std::vector<std::string> names;
    for (const Json& row : listed.items("identities")) {
        if (row.bool_or("has_device_code", false) || !row.bool_or("is_ready", false))
            names.push_back(row.string_or("name", ""));
    }
    if (names.empty())
        return base::fail(
            "login.none", "This registry has no log-in from a shell", registry,
            "ask its operator for a token, or log in with a browser: " + api_of(registry) + "login/");
    if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end())
        return base::fail("login.unknown", "This registry has no log-in of this name", wanted,
                          "choose from " + base::join(names, ", "));
    if (wanted.empty() && names.size() > 1)
        return base::fail(
            "login.several", "This registry has several log-ins", base::join(names, ", "),
            "name one: " + world.program + " login " + world.arguments + " --identity " + names.front());
    return wanted.empty() ? names.front() : wanted;
}

// Where an answer was lost, the next one may come: the code stays entered.
bool may_come(const base::Result<io::HttpAnswer>& answer) {
    return answer ? io::is_temporary_status(answer->status) : true;
}

base::Result<Json> await_token(const LoginWorld& world, const std::string& address, const std::string& secret,
                               const Json& begun) {
    const base::UnixMicros now = world.clock.now();
    const auto told = base::parse_rfc3339(begun.string_or("until", ""));
    const base::UnixMicros until = told ? std::min(*told, now + max_wait) : now + max_wait;
    const std::string body =
        Json::object(
            {{"format", "wheelyard.login/1"}, {"state", begun.string_or("state", "")}, {"secret", secret}})
            .render();
    std::int64_t interval_s = begun.int_or("interval_s", max_poll_s);
    for (;;) {
        interval_s = std::clamp(interval_s, min_poll_s, max_poll_s);
        world.clock.sleep_ms(interval_s * ms_per_s);
        const auto answer =
            world.post(address + "/device/poll", body, {{"Content-Type", "application/json"}});
        const bool is_over = world.clock.now() >= until;
        if (may_come(answer) && !is_over) continue;
        WHEELYARD_ASSIGN(const Json json, document_of(answer, {}));
        if (!json.bool_or("is_pending", false)) return json;
        if (is_over)
            return base::fail("login.late", "Nobody has entered the code in time", {},
                              "log in again: " + world.program + " login " + world.arguments);
        interval_s = json.int_or("interval_s", interval_s);
    }
}

// Where programs read another file than ~/.netrc, none would find the token.
base::Status check_place(const LoginWorld& world) {
    if (!world.other_netrc) return {};
    const std::filesystem::path own = world.home / ".netrc";
    const std::filesystem::path& other = *world.other_netrc;
    std::error_code error;
    if (other.lexically_normal() == own.lexically_normal() || std::filesystem::equivalent(other, own, error))
        return {};
    const bool is_old_name = other == world.home / "_netrc";
    return base::fail_as(
        base::ErrorKind::refused, base::Recovery::person,
        {"netrc.elsewhere",
         "Programs read another file than ~/.netrc here, where the token would lie: they would not find it",
         other.native(),
         is_old_name ? "rename it to ~/.netrc, and log in again"
                     : "run `unset NETRC`, remove it where it is set, and log in again"});
}

bool is_token(std::string_view text) {
    return !text.empty() && text.size() <= max_login_token_bytes &&
           std::all_of(text.begin(), text.end(), [](char c) { return base::is_ascii_alnum(c) || c == '_'; });
}

std::string told_of_token(const Json& token, const base::Url& url, const LoginWorld& world) {
    const std::vector<std::string> projects = token.texts("projects");
    const bool has_all = std::find(projects.begin(), projects.end(), "*") != projects.end();
    std::string text =
        "You are logged in as " + token.string_or("shown_name", "somebody") + ". Until " +
        token.string_or("expires", "an unknown time") +
        " you may: " + base::join(token.texts("actions"), ", ") +
        "; in the indexes: " + base::join(token.texts("indexes"), ", ") +
        (has_all ? "" : "; for the projects: " + base::join(projects, ", ")) + ".\nThe token is in " +
        (world.home / ".netrc").native() +
        ", where pip and uv find it. pip does not say when it has ended: " + "it asks for a user then.";
    if (!url.port.empty())
        text += "\nThe entry is for the host " + url.host +
                " without its port, as pip and uv look it up: they send " + "it to every port of this host.";
    return text + "\nEnd it before: " + world.program + " logout " + world.arguments;
}

base::Result<base::Url> url_of_registry(const std::string& registry) {
    WHEELYARD_ASSIGN(base::Url url, base::parse_url(registry));
    const bool is_safe = url.scheme == "https" || (url.scheme == "http" && base::is_loopback_host(url.host));
    if (is_safe) return url;
    return base::fail("login.address", "A log-in needs an https address: a token must not travel readable",
                      url.text_without_secrets(), "name the registry by its https address");
}

}  // namespace

base::Result<std::string> log_in(const LoginWorld& world, const std::string& registry,
                                 const std::string& identity) {
    WHEELYARD_ASSIGN(const base::Url url, url_of_registry(registry));
    WHEELYARD_TRY(check_place(world));
    WHEELYARD_ASSIGN(const std::string before, read_netrc(world.home));
    WHEELYARD_TRY(with_login(before, url.host, "checked"));  // nobody enters a code in vain
    WHEELYARD_ASSIGN(const std::string name, choose_identity(world, registry, identity));
    const std::string address = api_of(registry) + "login/" + base::encode_percent(name);
    const std::string secret = base::encode_hex(base::random_bytes(secret_bytes));
    WHEELYARD_ASSIGN(
        const Json begun,
        document_of(world.post(address + "/device",
                               Json::object({{"format", "wheelyard.login/1"}, {"secret", secret}}).render(),
                               {{"Content-Type", "application/json"}}),
                    "wheelyard.device_login/1"));
    const std::string complete = begun.string_or("complete_url", "");
    world.show("Open " + begun.string_or("url", "?") + " in a browser, on any machine, and enter the code " +
               begun.string_or("user_code", "?") + "\n" +
               (complete.empty() ? "" : "or open " + complete + "\n") +
               "Enter only a code that you asked for yourself. Waiting until " +
               begun.string_or("until", "it is entered") + " …\n");
    WHEELYARD_ASSIGN(const Json token, await_token(world, address, secret, begun));
    const std::string text = token.string_or("token", "");
    if (!is_token(text)) return base::fail("login.answer", "The registry's answer has no token");
    WHEELYARD_ASSIGN(const std::string now, read_netrc(world.home));
    WHEELYARD_ASSIGN(const std::string after, with_login(now, url.host, text));
    WHEELYARD_TRY(write_netrc(world.home, after));
    return told_of_token(token, url, world);
}

base::Result<std::string> log_out(const LoginWorld& world, const std::string& registry) {
    WHEELYARD_ASSIGN(const base::Url url, url_of_registry(registry));
    WHEELYARD_ASSIGN(const std::string netrc, read_netrc(world.home));
    const auto token = find_login(netrc, url.host);
    if (!token) return "You are not logged in at " + url.host + ": ~/.netrc has no entry of a log-in.";
    const std::string id = token->substr(0, token->rfind('_'));
    const auto answer =
        world.post(api_of(registry) + "tokens/" + base::encode_percent(id) + "/revoke",
                   Json::object({{"format", "wheelyard.change/1"}, {"reason", "logged out"}}).render(),
                   {{"Authorization", "Bearer " + *token}, {"Content-Type", "application/json"}});
    if (!answer) return tl::unexpected(answer.error());
    WHEELYARD_TRY(check_registry(world.get, registry, *answer));
    if (answer->status != status_good && answer->status != status_no_token) return fail_login(*answer);
    WHEELYARD_TRY(write_netrc(world.home, without_login(netrc, url.host)));
    return answer->status == status_good ? "You are logged out; the token is revoked and gone from ~/.netrc."
                                         : "This log-in had ended before; its token is gone from ~/.netrc.";
}

}  // namespace wheelyard::simple
