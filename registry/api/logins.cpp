#include "registry/api/logins.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_failed_logins = 10'000;  // networks that are remembered; the oldest give way
constexpr std::size_t max_client_secret_bytes = 4 * 1024;

bool has(const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

void add_new(std::vector<std::string>& list, const std::vector<std::string>& more) {
    for (const std::string& item : more) {
        if (!has(list, item)) list.push_back(item);
    }
}

bool is_equal_set(std::vector<std::string> a, std::vector<std::string> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

// A token's scope is a product: indexes × projects × actions. Two are one where they differ in one factor
// only.
bool merge(AllowRule& into, const AllowRule& more) {
    const bool same_indexes = is_equal_set(into.indexes, more.indexes);
    const bool same_projects = is_equal_set(into.projects, more.projects);
    const bool same_actions = is_equal_set(into.actions, more.actions);
    if (static_cast<int>(same_indexes) + static_cast<int>(same_projects) + static_cast<int>(same_actions) < 2)
        return false;
    add_new(into.indexes, more.indexes);
    add_new(into.projects, more.projects);
    add_new(into.actions, more.actions);
    return true;
}

}  // namespace

bool RunningLogins::has_failed(const Asker& asker, base::UnixMicros now) const {
    const auto found = failed_.find(asker);
    return found != failed_.end() && now - found->second < login_memory_s * base::second_us;
}

bool RunningLogins::enter(Kind kind, const std::string& network, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    const bool failed = has_failed({kind, network}, now);
    std::size_t of_kind = 0;
    std::size_t of_failed = 0;
    for (const auto& [running, had_failed] : running_) {
        of_kind += running.first == kind ? 1 : 0;
        of_failed += running.first == kind && had_failed ? 1 : 0;
    }
    const bool has_room = running_.size() < max_running_logins && of_kind < max_running_logins_of_a_kind &&
                          (!failed || of_failed < max_running_logins_of_failed);
    return has_room && running_.emplace(Asker(kind, network), failed).second;
}

void RunningLogins::leave(Kind kind, const std::string& network, bool has_token, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    running_.erase({kind, network});
    failed_.erase({kind, network});
    if (has_token) return;
    if (failed_.size() >= max_failed_logins)
        failed_.erase(std::min_element(failed_.begin(), failed_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; }));
    failed_.emplace(Asker(kind, network), now);
}

base::Result<std::string> read_client_secret(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return base::fail_errno("stat", file.native(), errno);
    if ((status.st_mode & base::rights_of_strangers) != 0)
        return base::fail("login.secret_mode", "Others than its owner may use the client's secret",
                          file.native(), "chmod 600, or 640 if the service reads it by its group");
    WHEELYARD_ASSIGN(const std::string secret, base::read_file(file, max_client_secret_bytes));
    return std::string(base::trim(secret));
}

Logins::Logins(const RegistryConfig& config, const base::Clock& clock, const NetworkOf& network)
    : public_url_(config.server.public_url) {
    for (const IdentityConfig& identity : config.identities) {
        Network parts = network(identity.provider);
        known_.push_back(
            {identity, std::make_unique<identity::Provider>(identity.provider, std::move(parts.fetch), clock),
             std::move(parts.post)});
    }
    for (const PublisherConfig& publisher : config.publishers) {
        if (find_issuer(publisher.provider.issuer) == nullptr)
            of_publishers_.push_back(std::make_unique<identity::Provider>(
                publisher.provider, network(publisher.provider).fetch, clock));
    }
}

const Logins::Known* Logins::find(std::string_view name) const {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [name](const Known& one) { return one.config.name == name; });
    return found == known_.end() ? nullptr : &*found;
}

identity::Provider* Logins::find_issuer(std::string_view issuer) const {
    for (const Known& known : known_) {
        if (known.provider->rules().issuer == issuer) return known.provider.get();
    }
    for (const auto& provider : of_publishers_) {
        if (provider->rules().issuer == issuer) return provider.get();
    }
    return nullptr;
}

std::string Logins::page() const {
    return public_url_ + "/api/v1/login/";
}

std::string Logins::redirect_of(const Known& known) const {
    return page() + known.config.name + "/";
}

void Logins::fetch_due() const {
    const auto fetch = [](identity::Provider& provider, const std::string& name) {
        if (!provider.is_due()) return;
        if (const auto fetched = provider.fetch(); !fetched)
            io::log_warn("login.provider_not_fetched",
                         {{"identity", name}, {"error", fetched.error().text()}});
    };
    for (const Known& known : known_)
        fetch(*known.provider, known.config.name);
    for (const auto& provider : of_publishers_)
        fetch(*provider, provider->rules().issuer);
}

AllowRule scope_of(const std::vector<AllowRule>& rules, const std::vector<std::string>& groups,
                   identity::Purpose purpose, const std::vector<std::string>& known_indexes) {
    std::vector<AllowRule> allowed;
    for (const AllowRule& rule : rules) {
        if (!rule.group.empty() && !has(groups, rule.group)) continue;
        AllowRule part = rule;
        std::erase_if(part.indexes,
                      [&](const std::string& index) { return index != "*" && !has(known_indexes, index); });
        if (purpose == identity::Purpose::read)
            std::erase_if(part.actions, [](const std::string& action) { return !is_reading_action(action); });
        if (!part.indexes.empty() && !part.actions.empty()) allowed.push_back(std::move(part));
    }
    if (allowed.empty()) return {};
    AllowRule scope = allowed.front();
    allowed.erase(allowed.begin());
    // A merged scope may fit to one that it did not fit to before.
    const auto merged = [&](const AllowRule& more) { return merge(scope, more); };
    while (std::erase_if(allowed, merged) > 0) {
    }
    scope.group.clear();
    return scope;
}

}  // namespace wheelyard::registry
