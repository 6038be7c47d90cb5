#include "registry/api/login_api.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/identity/limits.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t min_login_secret = 32;  // characters that the client chooses
constexpr std::size_t max_login_secret = 128;

using identity::Purpose;

constexpr std::string_view login_format = "wheelyard.login/1";

struct ShownProvider {
    std::string name;
    std::string title;
    bool is_ready = false;
    bool has_device_code = false;
    std::int64_t reading_s = 0;
    std::int64_t publishing_s = 0;
};
constexpr auto provider_record = io::record<ShownProvider>({
    io::field<&ShownProvider::name>("name", "as in the addresses below"),
    io::field<&ShownProvider::title>("title", "what people call it"),
    io::field<&ShownProvider::is_ready>("is_ready",
                                        "whether the registry has the provider's own description"),
    io::field<&ShownProvider::has_device_code>("has_device_code", "whether it takes log-ins by device code"),
    io::field<&ShownProvider::reading_s>("reading_s", "how long a log-in to read lasts"),
    io::field<&ShownProvider::publishing_s>("publishing_s", "how long a log-in to publish lasts"),
});
struct ShownLogins {
    std::string page;
    std::vector<ShownProvider> identities = {};
};
constexpr auto logins_record = io::record<ShownLogins>(
    {
        io::field<&ShownLogins::page>("page", "the page on which people log in"),
        io::field<io::ListOf<io::Nested<provider_record>>, &ShownLogins::identities>("identities",
                                                                                     "the providers"),
    },
    "wheelyard.logins/1");

struct BegunLogin {
    std::string url;
    base::UnixMicros until = 0;
};
constexpr auto begun_record = io::record<BegunLogin>(
    {
        io::field<&BegunLogin::url>("url", "the provider's address for the browser"),
        io::field<io::Moment, &BegunLogin::until>("until", "until when the log-in can be finished"),
    },
    "wheelyard.login_begun/1");

struct DeviceLogin {
    std::string state;
    bool is_pending = false;
    std::string user_code = {};
    std::string url = {};
    std::string complete_url = {};
    std::int64_t interval_s = 0;
    base::UnixMicros until = 0;
};
constexpr auto device_record = io::record<DeviceLogin>(
    {
        io::field<&DeviceLogin::state>("state", "for the polls"),
        io::field<&DeviceLogin::is_pending>("is_pending", "of a poll: nobody has entered the code yet",
                                            io::Need::optional, io::Written::if_given),
        io::field<&DeviceLogin::user_code>("user_code", "of the beginning: what the person enters",
                                           io::Need::optional, io::Written::if_given),
        io::field<&DeviceLogin::url>("url", "of the beginning: where", io::Need::optional,
                                     io::Written::if_given),
        io::field<&DeviceLogin::complete_url>("complete_url", "an address that has the code",
                                              io::Need::optional, io::Written::if_given),
        io::field<&DeviceLogin::interval_s>("interval_s", "seconds before the next poll"),
        io::field<io::Time, &DeviceLogin::until>("until", "of the beginning: until when the code is taken",
                                                 io::Need::optional, io::Written::unless_null),
    },
    "wheelyard.device_login/1");
// Of a poll.
io::Document polled_document() {
    io::Document token = token_document();
    token.other = io::document_of<device_record>;
    return token;
}

tl::unexpected<wire::Problem> refuse_body(std::string detail, std::string value = {}) {
    return wire::refuse("login.body", "The request of a log-in has another form", std::move(detail),
                        std::move(value), "see docs/reference/api.md");
}

// The members of a request: texts that are short enough to be looked up.
wire::Answered<io::Json> read_request(const http::ApiRequest& request) {
    auto json = io::parse_json(request.body);
    if (!json || json->as_object() == nullptr) return refuse_body("The body is not a JSON object.");
    if (const std::string format = json->string_or("format", ""); format != login_format)
        return refuse_body("The body's format is not " + std::string(login_format) + ".",
                           format.substr(0, 100));
    for (const auto& [name, value] : *json->as_object()) {
        if (value.as_string() == nullptr || value.as_string()->size() > identity::max_code_bytes)
            return refuse_body("A member is no text, or too long.", name.substr(0, 100));
    }
    return *std::move(json);
}

std::optional<std::string> secret_of(const io::Json& json) {
    std::string secret = json.string_or("secret", "");
    if (secret.size() < min_login_secret || secret.size() > max_login_secret) return std::nullopt;
    return secret;
}

tl::unexpected<wire::Problem> refuse_secret() {
    return refuse_body("`secret` must be 32 to 128 random characters.");
}

std::optional<Purpose> purpose_of(const io::Json& json) {
    const std::string word = json.string_or("purpose", "read");
    if (word == "read") return Purpose::read;
    if (word == "publish") return Purpose::publish;
    return std::nullopt;
}

tl::unexpected<wire::Problem> refuse_provider(const http::ApiRequest& request, const Logins::Known& known,
                                              const base::Error& error) {
    io::log_warn("login.provider_failed",
                 {{"request", request.request_id}, {"identity", known.config.name}, {"error", error.text()}});
    return wire::refuse(
        "login.provider", "The provider of log-ins cannot be used now",
        "The provider of this log-in does not answer as it should, or has a new key that is not fetched yet; "
        "the registry's log has the reason.",
        known.config.shown(), "try again in a minute");
}

tl::unexpected<wire::Problem> refuse_login(const http::ApiRequest& request, const Logins::Known& known,
                                           const base::Error& error) {
    io::log_warn("login.refused",
                 {{"request", request.request_id}, {"identity", known.config.name}, {"error", error.text()}});
    return wire::refuse(
        "login.refused", "This log-in is refused", error.sentence + ".", error.value,
        error.advice.empty() ? "log in again; if it stays so, ask the administrator" : error.advice);
}

tl::unexpected<wire::Problem> refuse_waiting(const base::Error& error) {
    if (error.kind != base::ErrorKind::refused)
        return wire::refuse("login.state", "This log-in cannot be continued", error.sentence + ".", {},
                            error.advice);
    return wire::refuse("login.another_browser", "Another browser began this log-in", error.sentence + ".",
                        {}, error.advice);
}

wire::Problem busy() {
    return wire::make_problem("login.busy", "Too many log-ins at once",
                              "As many log-ins are being finished as the registry does at once.", {},
                              "try again in a few seconds");
}

wire::Problem busy_device() {
    return wire::make_problem("login.busy", "Too many log-ins at once",
                              "Too many log-ins by device code were begun from this address.", {},
                              "try again in a minute, or log in with a browser");
}

// One of the requests to providers that may run at once.
class Running {
  public:
    Running(RunningLogins& running, RunningLogins::Kind kind, const http::ApiRequest& request,
            const base::Clock& clock)
        : running_(running),
          kind_(kind),
          network_(http::network_of_client(request.client)),
          clock_(clock),
          is_in_(running.enter(kind, network_, clock.now())) {}
    ~Running() {
        if (is_in_) running_.leave(kind_, network_, has_token_, clock_.now());
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    [[nodiscard]] bool is_in() const { return is_in_; }
    LoginApi::Reply end(LoginApi::Reply reply) {
        has_token_ = reply.has_value();
        return reply;
    }

  private:
    RunningLogins& running_;
    const RunningLogins::Kind kind_;
    const std::string network_;
    const base::Clock& clock_;
    const bool is_in_;
    bool has_token_ = false;
};

base::Result<identity::Client> client_of(const Logins& logins, const Logins::Known& known) {
    identity::Client client{.id = known.config.provider.client_id,
                            .secret = {},
                            .redirect = logins.redirect_of(known),
                            .scopes = known.config.scopes};
    if (known.config.client_secret_file.empty()) return client;
    WHEELYARD_ASSIGN(client.secret, read_client_secret(known.config.client_secret_file));
    return client;
}

}  // namespace

LoginApi::Reply LoginApi::list() const {
    ShownLogins shown{.page = parts_.logins.page()};
    for (const Logins::Known& known : parts_.logins.all()) {
        const auto described = known.provider->now();
        shown.identities.push_back(
            {.name = known.config.name,
             .title = known.config.shown(),
             .is_ready = described != nullptr,
             .has_device_code = described != nullptr && !described->endpoints.device.empty(),
             .reading_s = known.config.reading_s,
             .publishing_s = known.config.publishing_s});
    }
    return http::ApiReply{.json = logins_record.write(shown).render()};
}

LoginApi::Reply LoginApi::begin(const http::ApiRequest& request, const Logins::Known& known) {
    const auto json = read_request(request);
    if (!json) return tl::unexpected(json.error());
    const auto secret = secret_of(*json);
    const auto purpose = purpose_of(*json);
    if (!secret) return refuse_secret();
    if (!purpose) return refuse_body("`purpose` is read or publish.");
    const auto described = known.provider->now();
    if (described == nullptr)
        return refuse_provider(request, known, {"provider.unknown", "Nothing was fetched yet"});
    const auto client = client_of(parts_.logins, known);
    if (!client) return refuse_provider(request, known, client.error());
    identity::Begin begun{{}, identity::random_text(), identity::random_text()};
    const base::UnixMicros now = parts_.clock.now();
    begun.state = parts_.logins.waiting().begin({.provider = known.config.name,
                                                 .purpose = *purpose,
                                                 .secret_sha256 = base::sha256_hex(*secret),
                                                 .verifier = begun.verifier,
                                                 .nonce = begun.nonce,
                                                 .until = now + identity::waiting_life_s * base::second_us});
    return http::ApiReply{
        .json = begun_record
                    .write({.url = identity::authorization_url(described->endpoints, *client, begun),
                            .until = now + identity::waiting_life_s * base::second_us})
                    .render()};
}

LoginApi::Reply LoginApi::finish(const http::ApiRequest& request, const Logins::Known& known) {
    const auto json = read_request(request);
    if (!json) return tl::unexpected(json.error());
    Running running(parts_.logins.running(), RunningLogins::Kind::page, request, parts_.clock);
    if (!running.is_in()) return tl::unexpected(busy());  // it waits on
    const auto waiting = parts_.logins.waiting().take(json->string_or("state", ""),
                                                      json->string_or("secret", ""), parts_.clock.now());
    if (!waiting) return refuse_waiting(waiting.error());
    const auto described = known.provider->now();
    const std::string issuer = json->string_or("iss", "");
    const bool is_mixed_up = waiting->provider != known.config.name || waiting->nonce.empty() ||
                             (!issuer.empty() && issuer != known.config.provider.issuer) ||
                             (issuer.empty() && described != nullptr && described->endpoints.names_itself);
    if (is_mixed_up)
        return wire::refuse("login.issuer", "The answer is of another provider",
                            "The log-in began at one provider and came back from another.",
                            known.config.shown(), "log in again; if it stays so, tell the administrator");
    if (described == nullptr)
        return refuse_provider(request, known, {"provider.unknown", "Nothing was fetched yet"});
    const auto client = client_of(parts_.logins, known);
    if (!client) return refuse_provider(request, known, client.error());
    const auto token = identity::exchange_code(described->endpoints, *client, json->string_or("code", ""),
                                               waiting->verifier, known.post);
    if (!token && token.error().kind == base::ErrorKind::refused)
        return refuse_login(request, known, token.error());
    if (!token) return refuse_provider(request, known, token.error());
    const auto claims = verify(request, known, *token, waiting->nonce);
    if (!claims) return tl::unexpected(claims.error());
    return running.end(admit(request, known, *claims, waiting->purpose));
}

LoginApi::Reply LoginApi::begin_device(const http::ApiRequest& request, const Logins::Known& known) {
    const auto json = read_request(request);
    if (!json) return tl::unexpected(json.error());
    const auto secret = secret_of(*json);
    if (!secret) return refuse_secret();
    const Running running(parts_.logins.running(), RunningLogins::Kind::device, request, parts_.clock);
    if (!running.is_in()) return tl::unexpected(busy());
    const auto described = known.provider->now();
    if (described == nullptr)
        return refuse_provider(request, known, {"provider.unknown", "Nothing was fetched yet"});
    const auto client = client_of(parts_.logins, known);
    if (!client) return refuse_provider(request, known, client.error());
    if (described->endpoints.device.empty())
        return wire::refuse("login.no_device", "The provider has no log-in by device code",
                            "The provider of this log-in takes only browsers.", known.config.shown(),
                            "log in with a browser: " + parts_.logins.page());
    const base::UnixMicros now = parts_.clock.now();
    // Also where the provider refuses.
    if (!parts_.logins.waiting().ask_for(http::home_of_client(request.client), now))
        return tl::unexpected(busy_device());
    identity::Waiting waiting{.provider = known.config.name,
                              .purpose = Purpose::read,
                              .secret_sha256 = base::sha256_hex(*secret),
                              .verifier = identity::random_text()};
    const auto code = identity::begin_device(described->endpoints, *client, waiting.verifier, known.post);
    if (!code && code.error().kind == base::ErrorKind::refused)
        return refuse_login(request, known, code.error());
    if (!code) return refuse_provider(request, known, code.error());
    waiting.device = code->device;
    waiting.interval_s = code->interval_s;
    waiting.asked = now;
    waiting.until = now + code->life_s * base::second_us;
    const std::string key = parts_.logins.waiting().begin(waiting);
    return http::ApiReply{.json = device_record
                                      .write({.state = key,
                                              .user_code = code->user,
                                              .url = code->url,
                                              .complete_url = code->complete_url,
                                              .interval_s = code->interval_s,
                                              .until = now + code->life_s * base::second_us})
                                      .render()};
}

LoginApi::Reply LoginApi::poll_device(const http::ApiRequest& request, const Logins::Known& known) {
    const auto json = read_request(request);
    if (!json) return tl::unexpected(json.error());
    const std::string key = json->string_or("state", "");
    const std::string secret = json->string_or("secret", "");
    const base::UnixMicros now = parts_.clock.now();
    auto waiting = parts_.logins.waiting().look(key, secret, now);
    if (!waiting) return refuse_waiting(waiting.error());
    const auto described = known.provider->now();
    if (waiting->provider != known.config.name || waiting->device.empty() || described == nullptr)
        return wire::refuse("login.state", "This log-in cannot be continued", "It was begun in another way.",
                            {}, "log in again");
    const auto wait_on = [&]() -> Reply {
        return http::ApiReply{
            .json = device_record.write({.state = key, .is_pending = true, .interval_s = waiting->interval_s})
                        .render()};
    };
    const auto client = client_of(parts_.logins, known);
    if (!client) return refuse_provider(request, known, client.error());
    Running running(parts_.logins.running(), RunningLogins::Kind::device, request, parts_.clock);
    // The provider would slow us down if it were asked too often.
    if (!running.is_in() || !parts_.logins.waiting().ask(key, *waiting, now)) return wait_on();
    const auto poll =
        identity::poll_device(described->endpoints, *client, waiting->device, waiting->verifier, known.post);
    if (!poll && poll.error().kind != base::ErrorKind::refused) {
        io::log_warn("login.provider_failed",
                     {{"identity", known.config.name}, {"error", poll.error().text()}});
        return wait_on();  // one answer that is lost ends no log-in
    }
    if (poll && poll->id_token.empty()) {
        waiting->interval_s = std::min(waiting->interval_s + poll->longer_by_s, identity::max_poll_s);
        parts_.logins.waiting().slow_down(key, waiting->interval_s);
        return wait_on();
    }
    if (const auto ended = parts_.logins.waiting().take(key, secret, now); !ended)
        return refuse_waiting(ended.error());
    if (!poll) return refuse_login(request, known, poll.error());
    const auto claims = verify(request, known, poll->id_token, std::nullopt);
    if (!claims) return tl::unexpected(claims.error());
    return running.end(admit(request, known, *claims, waiting->purpose));
}

wire::Answered<identity::Claims> LoginApi::verify(const http::ApiRequest& request, const Logins::Known& known,
                                                  const std::string& token,
                                                  const std::optional<std::string>& nonce) const {
    auto claims =
        known.provider->verify(token, {known.config.provider.issuer, known.config.provider.client_id, nonce},
                               identity::fetch_timeout_ms);
    if (claims) return *std::move(claims);
    if (claims.error().may_pass()) return refuse_provider(request, known, claims.error());
    return refuse_login(request, known, claims.error());
}

LoginApi::Reply LoginApi::admit(const http::ApiRequest& request, const Logins::Known& known,
                                const identity::Claims& claims, Purpose purpose) {
    const AllowRule scope = scope_of(known.config.allow, claims.groups(known.config.groups_claim), purpose,
                                     parts_.config.index_names());
    if (scope.actions.empty())
        return wire::refuse(
            "login.no_rights", "This log-in permits nothing here",
            "The provider knows you, but none of your groups may do anything here" +
                std::string(purpose == Purpose::read ? " without a log-in for changes." : "."),
            claims.shown_name(), "ask the administrator which group you need");
    const TokenText text = make_token_text();
    const base::UnixMicros now = parts_.clock.now();
    const std::int64_t life_s = purpose == Purpose::read ? known.config.reading_s : known.config.publishing_s;
    const catalog::TokenRow row{
        .id = text.id,
        .secret_sha256 = hash_token_secret(text.secret),
        .name = person_name(known.config.name, claims.issuer, claims.subject, claims.shown_name()),
        .indexes = scope.indexes,
        .projects = scope.projects,
        .actions = scope.actions,
        .created = now,
        .expires = now + life_s * base::second_us,
        .revoked = false,
        .created_by = claims.issuer + " " + claims.subject};
    const auto added = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        std::size_t active = 0;  // of all people
        std::size_t own = 0;
        const catalog::TokenRow* oldest = nullptr;
        for (const catalog::TokenRow& token : tokens) {
            if (!is_person(token.name) || token_state(token, now) != "active") continue;
            ++active;
            if (!is_same_actor(token.name, row.name)) continue;
            ++own;
            if (oldest == nullptr || token.created < oldest->created) oldest = &token;
        }
        // Tabs that were closed leave log-ins behind, which nobody can end.
        if (own >= max_logins_of_person) {
            WHEELYARD_TRY(catalog.revoke_token(
                oldest->id, {std::string(actor_of(row.name)), "a newer log-in took its place", now}));
        } else if (active >= max_active_logins) {
            return wire::fail("token.too_many", "Too many people are logged in", std::to_string(active),
                              "ask the administrator to revoke some", base::Recovery::person);
        }
        return catalog.add_token(row);
    });
    if (!added) {
        io::log_warn("login.not_kept", {{"request", request.request_id}, {"error", added.error().text()}});
        return tl::unexpected(problem_of_change(added.error()));
    }
    io::log_info("login.done", {{"request", request.request_id},
                                {"id", row.id},
                                {"name", std::string(actor_of(row.name))},
                                {"indexes", base::join(row.indexes, ",")},
                                {"actions", base::join(row.actions, ",")}});
    return http::ApiReply{.json = token_json(row, now, text.text(), claims.shown_name()).render()};
}

namespace {

using io::field;

struct OneLogin {
    std::string identity;
};
constexpr auto identity_argument =
    in_path(field<&OneLogin::identity>("identity", "The name of the provider"));
constexpr auto secret_argument =
    in_document<OneLogin>("secret", "32 to 128 random characters that the client keeps", true);
constexpr auto of_beginning = arguments<OneLogin>(
    {identity_argument, secret_argument, in_document<OneLogin>("purpose", "read (default) or publish")});
constexpr auto of_login_end = arguments<OneLogin>({
    identity_argument,
    in_document<OneLogin>("code", "The provider's", true),
    in_document<OneLogin>("state", "The provider's", true),
    in_document<OneLogin>("iss", "The provider's, if it sends one"),
    secret_argument,
});
constexpr auto of_device = arguments<OneLogin>({identity_argument, secret_argument});
constexpr auto of_poll = arguments<OneLogin>({
    identity_argument,
    in_document<OneLogin>("state", "As the beginning returned it", true),
    secret_argument,
});

LoginApi api_of(const ApiParts& parts) {
    return LoginApi({parts.config, *parts.logins, parts.writer, parts.clock});
}

Reply list_logins(const ApiParts& parts, const Call&, const NoArguments&) {
    return api_of(parts).list();
}

// A step of a log-in with the provider that the path names.
template <auto Step>
Reply step(const ApiParts& parts, const Call& call, const OneLogin& of) {
    const Logins::Known* known = parts.logins->find(of.identity);
    if (known != nullptr) return (api_of(parts).*Step)(call.request, *known);
    return wire::refuse("login.unknown", "There is no log-in of this name",
                        "The configuration has no [[identity]] of this name.",
                        of.identity.substr(0, max_token_name),
                        "GET /api/v1/login lists them; without one, ask an administrator for a token");
}

constexpr http::Operation posted_by_person(std::string_view path, std::string_view id, Answer answer,
                                           std::string_view summary) {
    return in_pool(http::StrangersPool::login,
                   open_to_all(posted(path, id, answer, summary, http::BodyKind::document, login_format)));
}
// Who logs in again has a token that ended.
constexpr Right by_person{.callers = Callers::nobody};

constexpr std::array login_rows{
    row<no_arguments, list_logins>(
        in_pool(http::StrangersPool::login,
                open_to_all(got("/api/v1/login", "listLogins", io::document_of<logins_record>,
                                "Lists the providers by which people log in"))),
        "login.body", by_person),
    row<of_beginning, step<&LoginApi::begin>>(
        posted_by_person("/api/v1/login/{identity}/begin", "beginLogin", io::document_of<begun_record>,
                         "Begins a log-in by page and returns the provider's address"),
        "login.body", by_person),
    row<of_login_end, step<&LoginApi::finish>>(
        posted_by_person("/api/v1/login/{identity}/finish", "finishLogin", token_document,
                         "Exchanges the provider's code for a token of the person, once"),
        "login.body", by_person),
    row<of_device, step<&LoginApi::begin_device>>(
        posted_by_person("/api/v1/login/{identity}/device", "beginDeviceLogin",
                         io::document_of<device_record>,
                         "Begins a log-in by device code and returns what to enter where"),
        "login.body", by_person),
    row<of_poll, step<&LoginApi::poll_device>>(
        posted_by_person("/api/v1/login/{identity}/device/poll", "pollDeviceLogin", polled_document,
                         "Returns the token of a log-in by device code, or that nobody has entered "
                         "the code yet"),
        "login.body", by_person),
};

}  // namespace

std::span<const OperationRow> login_operations() {
    return login_rows;
}

}  // namespace wheelyard::registry
