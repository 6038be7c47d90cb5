// `avail_wheels login` and `avail_wheels logout`: a token by the user's account at the site's provider.
#include "indexer/avail_wheels/run.hpp"

#include <ostream>
#include <variant>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/login.hpp"

namespace wheelyard::avail_wheels {
namespace {

constexpr int usage_error_status = 2;

// The registry of the index that the other commands ask; empty: none is known.
std::string registry_of_index(const std::string& site_file, const EnvironmentMap& environment) {
    std::vector<std::string> words;
    if (!site_file.empty()) words = {"--site", site_file};
    const auto parsed = parse_command_line(words, environment);
    const auto* options = std::get_if<Options>(&parsed);
    if (options == nullptr) return {};
    if (!options->site.requests_registry.empty()) return options->site.requests_registry;
    const auto queue = queue_of_index(options->source.index_url);
    return queue ? queue->registry : std::string();
}

}  // namespace

int run_login(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
              std::ostream& err) {
    const auto parsed = parse_login(arguments, world.help_columns);
    if (const auto* leave = std::get_if<Leave>(&parsed)) {
        (leave->status == 0 ? out : err) << leave->text;
        return leave->status;
    }
    const auto& words = std::get<LoginWords>(parsed);
    std::string registry =
        words.registry.empty() ? registry_of_index(words.site_file, world.environment) : words.registry;
    if (registry.empty()) {
        err << "avail_wheels: error: no registry is known here; name it: avail_wheels " << arguments.front()
            << " https://wheels.example.org\n";
        return usage_error_status;
    }
    if (auto url = base::parse_url(registry)) {
        url->userinfo.clear();
        registry = url->text();
    }
    const auto home = world.environment.find("HOME");
    if (home == world.environment.end() || home->second.empty()) {
        err << "avail_wheels: error: HOME is not set, so there is no place for a token\n";
        return usage_error_status;
    }
    const simple::LoginWorld login{.get = world.get,
                                   .post = world.post,
                                   .show = [&err](const std::string& text) { err << text; },
                                   .clock = *world.clock,
                                   .home = home->second,
                                   .other_netrc = io::other_netrc(world.environment),
                                   .program = "avail_wheels",
                                   .arguments = base::quote_shell(registry)};
    const auto done =
        words.is_login ? simple::log_in(login, registry, words.identity) : simple::log_out(login, registry);
    if (!done) {
        err << "avail_wheels: " << done.error().text() << '\n';
        return 1;
    }
    out << *done << '\n';
    return 0;
}

}  // namespace wheelyard::avail_wheels
