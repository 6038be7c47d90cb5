#include "builder/remote/enrolment.hpp"

#include <sys/types.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "builder/remote/secrets.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_format = "wheelyard.renewal/1";
constexpr std::string_view request_format = "wheelyard.agent_renewal/1";
constexpr std::string_view answer_format = "wheelyard.token/1";
constexpr mode_t owner_only = 0600;
constexpr std::int64_t renewal_lock_stale_ms = 10 * 60 * 1000;  // longer than the wait for an answer
constexpr std::uint64_t max_renewal_answer_bytes = base::mib;   // its projects are its longest part
constexpr std::size_t id_bytes = 6;
constexpr std::size_t secret_bytes = 32;
constexpr int status_good = 200;

struct Renewal {
    std::string renewal = {};  // what the registry knows; empty: a code is being exchanged
    std::string next = {};     // what was made to follow it; not empty: it may have been sent
    std::string code = {};     // the ID of the code, while it is being exchanged
    base::UnixMicros due = 0;  // when half the life of the token has passed
};

fs::path with_ending(fs::path file, const char* ending) {
    file += ending;
    return file;
}

fs::path enrolling_file(const fs::path& token_file) {
    return with_ending(token_file, ".enrolling");
}

// The form of the registry's tokens, which codes and renewals share.
std::string make_text() {
    return "wy_" + base::encode_hex(base::random_bytes(id_bytes)) + "_" +
           base::encode_hex(base::random_bytes(secret_bytes));
}

std::string id_of(std::string_view text) {
    return std::string(text.substr(0, text.rfind('_')));
}

bool is_text(std::string_view text) {
    return text.size() == make_text().size() && text.starts_with("wy_") &&
           text.find_first_not_of("0123456789abcdef_", 3) == std::string_view::npos;
}

base::Result<std::optional<Renewal>> read_renewal(const fs::path& file) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    WHEELYARD_ASSIGN(const std::string text, base::read_untrusted_file(file, max_token_bytes));
    const auto json = io::parse_json(text);
    if (!json || json->string_or("format", "") != file_format)
        return base::fail("enrol.file", "The file of the agent's renewal has another form", file.string(),
                          "ask the registry's operator for a code, then run `wheelyard-builder enrol`");
    const auto due = base::parse_rfc3339(json->string_or("renew_at", ""));
    return Renewal{json->string_or("renewal", ""), json->string_or("next", ""), json->string_or("code", ""),
                   due ? *due : 0};
}

base::Status write_renewal(const fs::path& file, const Renewal& renewal) {
    const auto json = io::Json::object({{"format", file_format},
                                        {"renewal", renewal.renewal},
                                        {"next", renewal.next},
                                        {"code", renewal.code},
                                        {"renew_at", base::render_rfc3339(renewal.due)}});
    return base::replace_file(file, json.render() + "\n", owner_only);
}

tl::unexpected<base::Error> fail_answer(const io::HttpAnswer& answer) {
    const auto problem = wire::parse_problem(answer.body);
    const bool is_known = problem && !problem->code.empty();
    return io::fail_status(
        answer.status,
        {is_known ? problem->code : "enrol.answer",
         "The registry answers " + std::to_string(answer.status) + ": " +
             (is_known ? problem->detail : std::string("no reason given")),
         is_known ? problem->value : "",
         is_known ? problem->advice : "check `url` in [registry] of site.toml, and the registry's version"});
}

// The registry's answer, whose `token` is a text of a token.
base::Result<io::Json> exchange(const EnrolmentParts& parts, const std::string& held,
                                const std::string& next) {
    const auto body = io::Json::object(
        {{"format", request_format}, {"site", parts.site}, {"credential", held}, {"next", next}});
    WHEELYARD_ASSIGN(const auto answer,
                     parts.http.post(parts.registry.url + "/api/v1/agents/renew", body.render(),
                                     {{"Content-Type", "application/json"}}, max_renewal_answer_bytes));
    WHEELYARD_TRY(simple::check_registry(simple::page_getter(parts.http), parts.registry.url, answer));
    if (answer.status != status_good) return fail_answer(answer);
    auto json = io::parse_json(answer.body);
    if (!json || json->string_or("format", "") != answer_format || !is_text(json->string_or("token", "")))
        return base::fail("enrol.answer", "The answer is not that of a registry to an agent", {},
                          "check `url` in [registry] of site.toml");
    parts.failpoints.hit(renewal_failpoint);
    return json;
}

// The token first: a renewal that says it is fresh while the token is the one before would come too late. Not
// without the lock: who took it over may have written a later renewal.
base::Status keep(const EnrolmentParts& parts, base::LockFile& held, const io::Json& answer,
                  const std::string& renewal) {
    WHEELYARD_TRY(held.refresh(parts.clock));
    const base::UnixMicros now = parts.clock.now();
    const auto ends = base::parse_rfc3339(answer.string_or("expires", ""));
    const base::UnixMicros due = ends ? now + std::max<base::UnixMicros>(*ends - now, 0) / 2 : now;
    const fs::path& file = parts.registry.token_file;
    WHEELYARD_TRY(base::replace_file(file, answer.string_or("token", "") + "\n", owner_only));
    return write_renewal(renewal_file(file), {.renewal = renewal, .due = due});
}

base::Result<base::LockFile> lock(const EnrolmentParts& parts) {
    return base::LockFile::acquire(with_ending(parts.registry.token_file, ".lock"), parts.clock,
                                   renewal_lock_stale_ms);
}

// A code and a renewal must not travel readable.
base::Status check_address(const std::string& address) {
    WHEELYARD_ASSIGN(const base::Url url, base::parse_url(address));
    if (url.scheme == "https" || base::is_loopback_host(url.host)) return {};
    return base::fail("enrol.address",
                      "An enrolment needs an https address: what it sends must not travel readable",
                      url.text_without_secrets(), "name the registry by its https address in site.toml");
}

std::string told(const EnrolmentParts& parts, const io::Json& answer, const std::string& before) {
    const fs::path& file = parts.registry.token_file;
    std::string text = "The agent is enrolled as " + answer.string_or("name", "?") + " at " +
                       parts.registry.url + ". It may: " + base::join(answer.texts("actions"), ", ") +
                       "; in the indexes: " + base::join(answer.texts("indexes"), ", ") +
                       "; for the projects: " + base::join(answer.texts("projects"), ", ") +
                       ".\nIts token is in " + file.string() + ", until " + answer.string_or("expires", "?") +
                       ". Each `tick` and `run` renews it in time, with " + renewal_file(file).string() + ".";
    if (!before.empty())
        text += "\nThe token " + before +
                " was there before. If nobody else uses it, let the operator revoke it: "
                "wheelyard-registry token revoke " +
                before;
    return text;
}

}  // namespace

fs::path renewal_file(const fs::path& token_file) {
    return with_ending(token_file, ".renewal");
}

base::Result<std::string> enrol(const EnrolmentParts& parts, const std::string& code) {
    if (!is_text(code))
        return base::fail("enrol.code", "This is no code of a registry", {},
                          "paste the whole line that `wheelyard-registry agent enrol` printed: wy_…");
    WHEELYARD_TRY(check_address(parts.registry.url));
    WHEELYARD_ASSIGN(auto held, lock(parts));
    const fs::path& file = parts.registry.token_file;
    const fs::path enrolling = enrolling_file(file);
    const auto begun = read_renewal(enrolling);
    Renewal wanted{.next = make_text(), .code = id_of(code)};
    if (begun && *begun && (*begun)->code == wanted.code && is_text((*begun)->next)) wanted = **begun;
    WHEELYARD_TRY(write_renewal(enrolling, wanted));
    const auto answer = exchange(parts, code, wanted.next);
    // The next attempt with this code sends the same; one with another code writes the file again.
    if (!answer) return tl::unexpected(answer.error());
    // What an enrolment wrote needs no revocation: the registry ended it.
    WHEELYARD_ASSIGN(const auto enrolled, read_renewal(renewal_file(file)));
    const auto text = base::read_untrusted_file(file, max_token_bytes);
    const std::string before =
        text && !enrolled && is_text(base::trim(*text)) ? id_of(base::trim(*text)) : std::string();
    WHEELYARD_TRY(keep(parts, held, *answer, wanted.next));
    WHEELYARD_TRY(base::remove_file(enrolling));
    return told(parts, *answer, before);
}

base::Status renew_token(const EnrolmentParts& parts) {
    const fs::path file = renewal_file(parts.registry.token_file);
    const auto is_due = [&](const std::optional<Renewal>& renewal) {
        return renewal && (!renewal->next.empty() || renewal->due <= parts.clock.now());
    };
    WHEELYARD_ASSIGN(auto before, read_renewal(file));
    if (!is_due(before)) return {};
    WHEELYARD_TRY(check_address(parts.registry.url));
    auto held = lock(parts);
    if (!held && held.error().kind == base::ErrorKind::busy) return {};
    if (!held) return tl::unexpected(held.error());
    WHEELYARD_ASSIGN(auto now, read_renewal(file));
    if (!is_due(now)) return {};
    if (now->next.empty()) {
        now->next = make_text();
        WHEELYARD_TRY(held->refresh(parts.clock));  // else another process may have sent another one
        WHEELYARD_TRY(write_renewal(file, *now));
    }
    const auto answer = exchange(parts, now->renewal, now->next);
    if (!answer) return tl::unexpected(answer.error());
    return keep(parts, *held, *answer, now->next);
}

}  // namespace wheelyard::builder
