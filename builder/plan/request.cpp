// Raises a request that was too small, and keeps a raised request.
#include "builder/plan/request.hpp"

#include <algorithm>
#include <cstdint>

#include "builder/attempt/limits.hpp"
#include "builder/plan/version_choice.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// The new request in percent of the limit or peak at which a build ran out of memory. Few steps, little
// waste.
constexpr std::int64_t memory_raise_percent = 150;

const Attempt* guide_among(const std::vector<Attempt>& earlier, const std::string& package,
                           const std::string& cell) {
    const Attempt* guide = nullptr;
    for (const auto& attempt : earlier) {
        // An attempt without a job gives no information about memory.
        if (attempt.asked.package != package || !is_over(attempt.state) || attempt.job.submits == 0) continue;
        if (!makes_wheel(attempt.asked.purpose)) continue;
        const auto rank = [&](const Attempt& one) { return std::pair(one.asked.cell == cell, one.changed); };
        if (guide == nullptr || rank(*guide) < rank(attempt)) guide = &attempt;
    }
    return guide;
}

std::int64_t to_mib(std::uint64_t bytes) {
    return static_cast<std::int64_t>((bytes + base::mib - 1) / base::mib);
}

const Attempt* last_failed(const std::vector<Attempt>& earlier, const std::string& cell,
                           bool with_superseded = false) {
    const Attempt* last = nullptr;
    for (const auto& attempt : earlier) {
        if (attempt.asked.cell != cell || (attempt.superseded && !with_superseded) || !attempt.failure)
            continue;
        if (last == nullptr || attempt.number > last->number) last = &attempt;
    }
    return last;
}

bool asks_for_fewer_jobs(const Failure& failure, const Site& site) {
    const DoctorRule* rule = site.doctor_rules->find(failure.cause);
    return rule != nullptr && rule->automatic == Automatic::fewer_jobs && failure.end == EndCause::failed;
}

// A maximum, or what is usual, and the key that sets it; 0: none.
struct Limit {
    std::int64_t value = 0;
    std::string key;
};

Limit min_limit(const std::vector<Limit>& limits) {
    Limit min;
    for (const auto& one : limits) {
        if (one.value > 0 && (min.value == 0 || one.value < min.value)) min = one;
    }
    return min;
}

std::string node_key(const NodeType* node, const std::string& name) {
    return node == nullptr ? "" : "node." + node->name + "." + name;
}

// Without max_memory_mib the site's memory_mib is the maximum.
Limit memory_limit(const Site& site) {
    const NodeType* node = site.build_node_type();
    const bool has_max = site.max_memory_mib > site.memory_mib;
    return min_limit({{std::max(site.memory_mib, site.max_memory_mib),
                       has_max ? "scheduler.max_memory_mib" : "scheduler.memory_mib"},
                      {node == nullptr ? 0 : node->memory_mib, node_key(node, "memory_mib")}});
}

std::string place_of(const KeyPlaces& places, const std::string& key) {
    const auto found = places.find(key);
    return found == places.end() ? "" : found->second;
}

SizeDecision decide(const Site& site, const Recipe& recipe, const std::string& name, std::int64_t asked,
                    const Limit& usual, const Limit& limit) {
    const std::string of_recipe = "resources." + name;
    SizeDecision decision{name,
                          usual.value,
                          usual.value > 0 ? usual.key + " of the site" : "",
                          place_of(site.places, usual.key),
                          0,
                          ""};
    if (asked > 0) {
        decision.value = asked;
        decision.key = of_recipe + " of the recipe";
        decision.place = place_of(recipe.places, of_recipe);
    }
    if (limit.value == 0 || decision.value <= limit.value) return decision;
    if (asked > 0) {
        decision.asked = asked;
        decision.asked_place = decision.place;
    }
    decision.value = limit.value;
    decision.key = limit.key + " of the site";
    decision.place = place_of(site.places, limit.key);
    return decision;
}

// The memory limit of the attempt's job; 0: not known.
std::int64_t limit_of(const Attempt& attempt) {
    if (attempt.job.memory_mib > 0) return attempt.job.memory_mib;
    return attempt.job.governed ? to_mib(attempt.job.governed->limit_bytes) : 0;
}

}  // namespace

bool ran_out_of_memory(const Attempt& attempt) {
    if (attempt.job.governed && attempt.job.governed->could_not_fit > 0) return true;
    return attempt.failure && attempt.failure->end == EndCause::out_of_memory;
}

JobSizes decide_sizes(const Site& site, const Recipe& recipe) {
    const NodeType* node = site.build_node_type();
    const Limit cores = {node == nullptr ? 0 : node->cores, node_key(node, "cores")};
    const Limit minutes = {site.max_walltime_minutes, "scheduler.max_walltime_minutes"};
    // All of the node is charged, so all of it is used, whatever a recipe asks for.
    const bool whole = node != nullptr && node->exclusive;
    const bool by_node = whole && site.places.find("scheduler.cores") == site.places.end();
    return {decide(site, recipe, "cores", whole ? 0 : recipe.cores,
                   {site.cores, by_node ? cores.key : "scheduler.cores"}, cores),
            decide(site, recipe, "memory_mib", whole ? 0 : recipe.memory_mib,
                   {site.memory_mib, "scheduler.memory_mib"}, memory_limit(site)),
            decide(site, recipe, "minutes", recipe.minutes, {site.minutes, "scheduler.minutes"}, minutes)};
}

std::string describe(const SizeDecision& decision) {
    std::string text = decision.name + " = " + std::to_string(decision.value);
    if (decision.value == 0) text = decision.name + ": not requested";
    std::vector<std::string> parts;
    if (!decision.key.empty())
        parts.push_back(decision.key + (decision.place.empty() ? " by default" : ", " + decision.place));
    if (decision.asked > 0)
        parts.push_back("the recipe asks for " + std::to_string(decision.asked) +
                        (decision.asked_place.empty() ? "" : ", " + decision.asked_place));
    return parts.empty() ? text : text + " (" + base::join(parts, "; ") + ")";
}

std::string describe_sizes(const Site& site, const Recipe& recipe) {
    const JobSizes sizes = decide_sizes(site, recipe);
    return describe(sizes.cores) + "; " + describe(sizes.memory_mib) + "; " + describe(sizes.minutes);
}

base::Error with_sizes(base::Error error, const Site& site, const Recipe& recipe) {
    error.advice += (error.advice.empty() ? "" : ". ") + std::string("Its first job requests ") +
                    describe_sizes(site, recipe);
    return error;
}

base::Error with_the_maximum(base::Error error, EndCause cause, const Attempt& attempt, const Site& site) {
    const auto raise = [&site](const std::string& key) {
        const std::string place = place_of(site.places, key);
        return "raise " + key + " of the site" + (place.empty() ? "" : ", " + place) +
               ", as far as its queue allows";
    };
    const std::string all = " are all that the site allows: ";
    const JobRecord& job = attempt.job;
    if (cause == EndCause::time_limit && site.max_walltime_minutes > 0 &&
        job.max_walltime_minutes >= site.max_walltime_minutes)
        error.advice =
            "its " + std::to_string(job.max_walltime_minutes) + " minutes" + all +
            "the next attempt continues in its build tree and gets no more. If it does not get to the end, " +
            raise("scheduler.max_walltime_minutes");
    const Limit limit = memory_limit(site);
    if (cause != EndCause::out_of_memory || limit.value == 0 || job.memory_mib < limit.value) return error;
    const bool is_one_too_large = job.governed && job.governed->could_not_fit > 0;
    const bool has_fewer = !is_one_too_large && (job.cores > 0 ? job.cores : site.cores) > 1;
    error.advice =
        "its " + std::to_string(job.memory_mib) + " MiB" + all +
        (has_fewer ? "the next attempt runs half as many jobs at once. If it runs out of memory again, "
                   : "") +
        raise(limit.key);
    return error;
}

std::int64_t bound_memory(const Site& site, std::int64_t memory_mib) {
    const std::int64_t limit = memory_limit(site).value;
    return limit > 0 ? std::min(memory_mib, limit) : memory_mib;
}

std::int64_t bound_minutes(const Site& site, std::int64_t minutes) {
    return site.max_walltime_minutes > 0 ? std::min(minutes, site.max_walltime_minutes) : minutes;
}

Site sized_for(const Site& site, const Recipe& recipe) {
    Site sized = site;
    const auto sizes = decide_sizes(site, recipe);
    sized.cores = static_cast<int>(sizes.cores.value);
    sized.memory_mib = sizes.memory_mib.value;
    sized.minutes = sizes.minutes.value;
    sized.max_memory_mib = std::max(sized.memory_mib, site.max_memory_mib);
    return sized;
}

Site sized_for(const Site& site, const Recipe& recipe, const Attempt& attempt) {
    Site sized = for_gpus(sized_for(site, recipe), recipe, attempt.asked);
    if (attempt.job.cores > 0) sized.cores = attempt.job.cores;
    return sized;
}

std::int64_t choose_minutes(const Site& site, const std::string& cell, const std::vector<Attempt>& earlier) {
    const std::int64_t first = site.minutes > 0 ? site.minutes : site.max_walltime_minutes;
    // Who retries a build knows no better than its last job how long it takes; likewise for its memory.
    const Attempt* last = last_failed(earlier, cell, true);
    if (last == nullptr || last->job.max_walltime_minutes == 0) return first;
    const bool too_short = last->failure->end == EndCause::time_limit;
    const std::int64_t wanted = last->job.max_walltime_minutes * (too_short ? 2 : 1);
    return site.max_walltime_minutes > 0
               ? std::clamp(wanted, first, std::max(first, site.max_walltime_minutes))
               : wanted;
}

MemoryRequest choose_memory(const Site& site, const std::string& package, const std::string& cell,
                            const std::vector<Attempt>& earlier) {
    const Attempt* guide = guide_among(earlier, package, cell);
    if (guide == nullptr) return {site.memory_mib, ""};
    std::int64_t wanted = guide->job.memory_mib;
    std::string why = "as in attempt " + guide->id;
    if (ran_out_of_memory(*guide)) {
        wanted = limit_of(*guide) * memory_raise_percent / 100;
        if (guide->job.governed && !guide->job.governed->worst.empty()) {
            // The compile was killed at this peak, so it needs more.
            const auto peak = to_mib(guide->job.governed->worst.front().peak_bytes);
            wanted = std::max(wanted, peak * memory_raise_percent / 100);
        }
        why = "attempt " + guide->id + " ran out of memory";
    }
    const std::int64_t max = std::max(site.memory_mib, site.max_memory_mib);
    const std::int64_t chosen = std::clamp(wanted, site.memory_mib, max);
    return {chosen, chosen == site.memory_mib ? "" : why};
}

CoresRequest choose_cores(const Site& site, const std::string& cell, std::int64_t memory_mib,
                          const std::vector<Attempt>& earlier) {
    const Attempt* last = last_failed(earlier, cell);
    if (last == nullptr) return {};
    const bool one_is_too_large = last->job.governed && last->job.governed->could_not_fit > 0;
    const bool no_more_memory =
        ran_out_of_memory(*last) && !one_is_too_large && memory_mib <= last->job.memory_mib;
    const std::string as_before = "as in attempt " + last->id;
    if (!no_more_memory && !asks_for_fewer_jobs(*last->failure, site))
        return {last->job.cores, last->job.cores > 0 ? as_before : ""};
    const int before = last->job.cores > 0 ? last->job.cores : site.cores;
    const std::string why = last->failure->cause.empty() ? last->failure->error.code : last->failure->cause;
    return {std::max(1, before / 2), why + " ended attempt " + last->id};
}

bool resumes_after(const Failure& failure, const Site& site) {
    return (failure.end && end_row(*failure.end).resumes) || asks_for_fewer_jobs(failure, site);
}

}  // namespace wheelyard::builder
