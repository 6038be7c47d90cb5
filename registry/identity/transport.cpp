#include "registry/identity/transport.hpp"

#include "lib/base/text/encoding.hpp"
#include "lib/io/http_client.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {
namespace {

constexpr std::int64_t connect_timeout_ms = 2'000;

io::HttpSettings settings(bool permits_private) {
    io::HttpSettings settings;
    settings.connect_timeout_ms = connect_timeout_ms;
    settings.stall_timeout_ms = fetch_timeout_ms;
    settings.answer_timeout_ms = fetch_timeout_ms;
    settings.total_timeout_ms = fetch_timeout_ms;
    settings.follows_redirects = false;
    settings.uses_environment = false;
    settings.permits_private_hosts = permits_private;
    return settings;
}

}  // namespace

Provider::Fetch fetch_over_network(bool permits_private) {
    return [permits_private](const std::string& url) -> base::Result<std::string> {
        io::HttpClient client(settings(permits_private));
        WHEELYARD_ASSIGN(io::HttpAnswer answer,
                         client.get(url, {{"Accept", "application/json"}}, max_document_bytes));
        if (answer.status == 200) return std::move(answer.body);
        return base::fail_for_now("provider.status", "The provider answers with another status than 200",
                                  std::to_string(answer.status) + " " + url);
    };
}

// The id and the secret are form-encoded before they are joined (RFC 6749, 2.3.1).
Post post_over_network(bool permits_private) {
    return [permits_private](const std::string& url, const Form& form, const std::string& client_id,
                             const std::string& client_secret) -> base::Result<Answer> {
        io::HttpHeaders headers{{"Content-Type", "application/x-www-form-urlencoded"},
                                {"Accept", "application/json"}};
        if (!client_secret.empty())
            headers.emplace_back("Authorization",
                                 "Basic " + base::encode_base64(base::encode_percent(client_id) + ":" +
                                                                base::encode_percent(client_secret)));
        io::HttpClient client(settings(permits_private));
        WHEELYARD_ASSIGN(io::HttpAnswer answer,
                         client.post(url, render_form(form), headers, max_document_bytes));
        return Answer{answer.status, std::move(answer.body)};
    };
}

}  // namespace wheelyard::identity
