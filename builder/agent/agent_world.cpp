// What the plan needs to know: the registry's pages and the offers of the source indexes.
#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "builder/agent/agent.hpp"
#include "builder/agent/task_leases.hpp"
#include "builder/attempt/held_queues.hpp"
#include "builder/attempt/known_store.hpp"
#include "builder/plan/plan_history.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::builder {
namespace {

std::set<std::string> names_of_ended(const std::vector<Attempt>& attempts) {
    std::set<std::string> names;
    for (const auto& attempt : attempts) {
        if (is_over(attempt.state)) names.insert(attempt.id);
    }
    return names;
}

// What keeps the other packages from being asked for: its URL is the index's, not that of the package that
// got no answer.
base::Error of_the_index(base::Error error) {
    const auto& url = error.value;
    const auto project =
        url.ends_with('/') && url.size() > 1 ? url.rfind('/', url.size() - 2) : url.rfind('/');
    if (url.find("://") < project) error.value.resize(project + 1);
    return error;
}

}  // namespace

const World& Agent::world_with(const JournalContent& journal, Ask ask) {
    world_.now = parts_.clock.now();
    world_.submits_nothing = parts_.submits_nothing;
    world_.attempts = journal.attempts;
    world_.journal_problems = journal.problems;
    world_.held_queues = parts_.held_queues.list();
    // Attempts that ended since, here or on another login node, may have changed the index; a task that was
    // claimed since may want a package that nobody asked for.
    auto ended = names_of_ended(journal.attempts);
    const auto wants = wanted_packages(site_, parts_.recipes);
    const bool has_new =
        parts_.registry != nullptr && std::any_of(wants.begin(), wants.end(), [this](const auto& want) {
            return !world_.published.contains(want.package);
        });
    const bool is_stale = ask == Ask::always || has_new || ended != ended_then_ ||
                          has_passed(parts_.clock.now(), world_asked_, world_fresh_ms);
    if (!is_stale) return world_;
    ended_then_ = std::move(ended);
    world_.pythons = parts_.pythons;
    world_.no_uploaded_sources = tasks_.no_uploaded_sources();
    ask_registry();
    ask_sources();
    look_for_programs();
    world_asked_ = parts_.clock.now();
    return world_;
}

void Agent::ask_registry() {
    world_.published.clear();
    world_.promoted.clear();
    world_.refused_uploads.clear();
    store_.reset();
    if (parts_.registry == nullptr) return;
    // Only the site's own wants: the wheel of a task is uploaded because the site has the task.
    std::vector<std::string> packages;
    for (const auto& want : wanted_packages(parts_.site, parts_.recipes))
        packages.push_back(want.package);
    Access access = parts_.registry->access(packages);
    world_.refused_uploads = std::move(access.refused);
    store_ = std::move(access.store);
    const std::string known = read_known_store(parts_.site.state_directory);
    world_.is_other_store = store_ && !known.empty() && *store_ != known;
    std::optional<base::Error> unreachable;  // after one failure the registry is not asked again in this tick
    for (const auto& want : wanted_packages(site_, parts_.recipes)) {
        if (world_.published.contains(want.package)) continue;
        auto page = unreachable
                        ? base::Result<std::optional<simple::ProjectPage>>(tl::unexpected(*unreachable))
                        : parts_.registry->page(want.package);
        if (!page && page.error().may_pass()) unreachable = of_the_index(page.error());
        if (!parts_.site.registry->promote_to.empty() && page && *page) {
            auto promoted =
                unreachable ? base::Result<std::optional<simple::ProjectPage>>(tl::unexpected(*unreachable))
                            : parts_.registry->promoted_page(want.package);
            if (!promoted && promoted.error().may_pass()) unreachable = of_the_index(promoted.error());
            world_.promoted.emplace(want.package, std::move(promoted));
        }
        world_.published.emplace(want.package, std::move(page));
    }
}

// The store of the first wheels, or one that has them all: another one is not noted before a person has
// decided.
base::Status Agent::note_store() const {
    if (!store_ || store_->empty()) return {};
    const Uploaded wheels = uploaded_wheels(world_, parts_.site);
    const bool has_them = world_.is_other_store ? wheels.lost + wheels.unknown == 0 : !wheels.has_lost_all();
    if (!has_them || read_known_store(parts_.site.state_directory) == *store_) return {};
    return write_known_store(parts_.site.state_directory, *store_);
}

namespace {

// Who answers for the offers of a recipe: its repository, its upstream's index, or (empty) the places that
// pip is configured for. Where one does not answer, the others are still asked.
std::string answering_for(const Recipe& recipe) {
    if (recipe.source == SourceKind::git) return recipe.url;
    return recipe.source == SourceKind::upstream ? recipe.index : "";
}

// The host whose repository let git wait until its time was over; its other ones are not waited for in this
// tick.
std::string host_of(const Recipe& recipe) {
    const auto url = base::parse_url(recipe.url);
    if (recipe.source != SourceKind::git || !url) return answering_for(recipe);
    return url->scheme + "://" + url->host_and_port() + "/";
}

}  // namespace

void Agent::look_for_programs() {
    world_.programs.clear();
    for (const auto& want : wanted_packages(site_, parts_.recipes)) {
        for (const auto& need : parts_.recipes.of(want.package).needs) {
            for (const auto& one : need.second) {
                if (is_needed_program(one) && base::find_program(one)) world_.programs.insert(one);
            }
        }
    }
}

void Agent::ask_sources() {
    std::map<std::string, base::Error> unreachable;
    for (const auto& want : wanted_packages(site_, parts_.recipes)) {
        const bool known = world_.offers.contains(want.package) && world_.offers.at(want.package);
        const Recipe recipe = parts_.recipes.of(want.package);
        if (known || !needs_offers(want, recipe, world_)) continue;
        const std::string source = answering_for(recipe);
        const std::string host = host_of(recipe);
        const auto known_error =
            unreachable.contains(host) ? unreachable.find(host) : unreachable.find(source);
        auto offers = known_error != unreachable.end()
                          ? base::Result<SdistOffers>(tl::unexpected(known_error->second))
                          : parts_.sources.offers(recipe);
        if (!offers && offers.error().may_pass()) {
            base::Error error = offers.error();
            const bool is_git = recipe.source == SourceKind::git;
            const bool is_host = is_git && error.os_error == ETIMEDOUT;
            if (is_host) error.value = host;
            unreachable.emplace(is_host ? host : source,
                                is_git ? std::move(error) : of_the_index(std::move(error)));
        }
        world_.offers.insert_or_assign(want.package, std::move(offers));
    }
}

Plan Agent::plan_with(const JournalContent& journal, Ask ask) {
    site_ = tasks_.wanting();
    return make_plan(site_, parts_.recipes, world_with(journal, ask));
}

}  // namespace wheelyard::builder
