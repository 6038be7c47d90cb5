// `login` and `logout`: a person's token for the registry of the site.
#include <cstdio>

#include "builder/commands/commands.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/login.hpp"

namespace wheelyard::builder {
namespace {

// `identity`: the provider; nullptr: out.
int log_in_or_out(const std::filesystem::path& file, const std::string* identity) {
    const auto site = read_site(file);
    if (!site) return complain(site.error(), exit_usage);
    if (!site->registry)
        return complain({"login.no_registry", "The site file names no registry", file.string(),
                         "set `url` and `index` in [registry]"},
                        exit_usage);
    const auto environment = base::current_environment();
    const auto home = environment.find("HOME");
    if (home == environment.end() || home->second.empty())
        return complain({"login.home", "HOME is not set, so there is no place for a token"}, exit_usage);
    io::HttpClient http;
    base::SystemClock clock;
    const simple::LoginWorld world{
        .get = simple::page_getter(http),
        .post = [&http](const std::string& url, const std::string& body,
                        const io::HttpHeaders& headers) { return http.post(url, body, headers); },
        .show = [](const std::string& text) { base::print_message(stderr, text); },
        .clock = clock,
        .home = home->second,
        .other_netrc = io::other_netrc(environment),
        .program = "wheelyard-builder",
        .arguments = "--site " + base::quote_shell(file.native())};
    const auto done = identity != nullptr ? simple::log_in(world, site->registry->url, *identity)
                                          : simple::log_out(world, site->registry->url);
    if (!done) return complain(done.error(), exit_failed);
    tell(*done + "\n");
    return exit_well;
}

}  // namespace

int run_login(const LoginOptions& options) {
    return log_in_or_out(options.site, &options.identity);
}

int run_logout(const SiteOptions& options) {
    return log_in_or_out(options.site, nullptr);
}

}  // namespace wheelyard::builder
