// The jobs, sized by the functions that size the agent's own.
#include "builder/site_check/site_check.hpp"

#include <algorithm>
#include <set>

#include "builder/plan/plan.hpp"
#include "builder/plan/request.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/users/user_files.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// A rank that imports a torch for GPUs maps some 3 GiB of libraries and touches more than half of that.
constexpr std::int64_t least_memory_of_a_rank_mib = 2048;

// A wanted package as one recipe builds it.
struct Wanted {
    std::string package, accelerator;
    Recipe recipe;
};

std::vector<Wanted> wanted_recipes(const Site& site, const Recipes& recipes) {
    std::vector<Wanted> all;
    const auto add = [&](const Want& want, const std::string& package, const std::string& version) {
        for (const std::string& accelerator : accelerators_for(site, want, recipes.of(package))) {
            const bool exact = exact_version(package + "==" + version).has_value();
            all.push_back(
                {package, accelerator,
                 exact ? recipe_for(site, recipes, package, version, accelerator) : recipes.of(package)});
        }
    };
    for (const Want& want : site.wants) {
        for (const auto& version : want.versions)
            add(want, want.package, version);
        for (const auto& follow_up : want.follow_ups)
            add(want, follow_up, "");
    }
    return all;
}

std::string found_in(const KeyPlaces& places, const std::string& key) {
    const auto found = places.find(key);
    return found == places.end() ? "" : found->second;
}

class Jobs {
  public:
    Jobs(const Site& site, const Recipes& recipes)
        : site_(site), batch_(*site.scheduler->batch), recipes_(wanted_recipes(site, recipes)) {}

    std::vector<SiteJob> all() {
        for (const auto& one : recipes_)
            add_build(one);
        add_largest();
        for (const Purpose purpose : {Purpose::gpu_test, Purpose::multi_node_test}) {
            for (const auto& one : recipes_)
                add_test(one, purpose);
        }
        if (site_.users) add_users();
        return std::move(jobs_);
    }

  private:
    [[nodiscard]] DecidingKey of_site(const std::string& key) const {
        return {key, found_in(site_.places, key)};
    }
    [[nodiscard]] std::string queue_key() const { return std::string(batch_.queue_key); }
    [[nodiscard]] DecidingKey queue_of_builds() const {
        DecidingKey own = of_site("scheduler." + queue_key());
        if (!own.place.empty() || site_.build_node.empty()) return own;
        return of_site("node." + site_.build_node + ".queue");
    }

    void add(const std::string& kind, const std::string& package, SiteJob job) {
        job.what = kind + package;
        const std::string header = kind + render_trial_header(batch_, job.job);
        const auto [at, is_new] = known_.emplace(header, jobs_.size());
        if (is_new) {
            jobs_.push_back(std::move(job));
        } else if (!package.empty() && named_.insert(header + package).second) {
            jobs_[at->second].what += ", " + package;
        }
        named_.insert(header + package);
    }

    [[nodiscard]] SiteJob as_builds() const {
        SiteJob job;
        job.job.queue = site_.queue;
        job.node = site_.build_node_type();
        job.keys = {{JobPart::queue, queue_of_builds()},
                    {JobPart::account, of_site("scheduler.account")},
                    {JobPart::options, of_site("scheduler.options")},
                    {JobPart::gpus, of_site("scheduler.gpus")}};
        return job;
    }

    // Charges the job of a package with an account of its own to that account.
    void charge(const std::string& package, SiteJob& job) const {
        const std::string before = job.job.queue.account;
        job.job.queue = site_.charged(job.job.queue, package);
        if (job.job.queue.account != before) job.keys[JobPart::account] = of_site("scheduler.accounts");
    }

    void add_build(const Wanted& one) {
        const JobSizes sizes = decide_sizes(site_, one.recipe);
        const Site sized = sized_for(site_, one.recipe);
        SiteJob job = as_builds();
        charge(one.package, job);
        job.job.cores = sized.cores;
        job.job.memory_mib = sized.memory_mib;
        job.job.minutes = choose_minutes(sized, "", {});
        job.keys[JobPart::cores] = {sizes.cores.key, sizes.cores.place};
        job.keys[JobPart::memory] = {sizes.memory_mib.key, sizes.memory_mib.place};
        job.keys[JobPart::minutes] = sizes.minutes.key.empty()
                                         ? of_site("scheduler.max_walltime_minutes")
                                         : DecidingKey{sizes.minutes.key, sizes.minutes.place};
        add("build of ", one.package, std::move(job));
    }

    // What the agent asks for at most after builds that ran out of memory or of time.
    void add_largest() {
        SiteJob job = as_builds();
        job.job.cores = site_.cores;
        job.job.memory_mib = bound_memory(site_, site_.max_memory_mib);
        job.job.minutes = site_.max_walltime_minutes;
        const bool by_node = job.job.memory_mib < site_.max_memory_mib;
        job.keys[JobPart::cores] = of_site("scheduler.cores");
        job.keys[JobPart::memory] =
            of_site(by_node ? "node." + site_.build_node + ".memory_mib" : "scheduler.max_memory_mib");
        job.keys[JobPart::minutes] = of_site("scheduler.max_walltime_minutes");
        add("largest retry of a build", "", std::move(job));
    }

    void add_test(const Wanted& one, Purpose purpose) {
        const HardwareTest& test = hardware_test_of(one.recipe, purpose);
        if (!is_run_here(test, purpose, site_, one.accelerator)) return;
        const bool gpu = purpose == Purpose::gpu_test;
        const TestJob sized = size_test_job(test, purpose, site_, one.accelerator);
        const std::int64_t memory_mib = test.memory_mib > 0 ? test.memory_mib : site_.memory_mib;
        SiteJob job;
        job.job = {sized.queue,
                   sized.nodes,
                   sized.ranks_per_node,
                   sized.cores,
                   bound_memory(site_, memory_mib),
                   bound_minutes(site_, test.minutes)};
        const std::string section = gpu ? "hardware_tests.gpu." : "hardware_tests.multi_node.";
        const auto own_or = [&](const std::string& key, const DecidingKey& other) {
            const DecidingKey own = of_site(section + key);
            return own.place.empty() ? other : own;
        };
        const auto of_recipe = [&](const std::string& name) {
            const std::string key = (gpu ? "test.gpu." : "test.multi_node.") + name;
            return DecidingKey{key + " of the recipe", found_in(one.recipe.places, key)};
        };
        const NodeType* node = node_of_test(site_, purpose, one.accelerator);
        const DecidingKey of_node = node == nullptr || node->queue.empty() || node == site_.build_node_type()
                                        ? queue_of_builds()
                                        : of_site("node." + node->name + ".queue");
        const bool bounded = job.job.minutes < test.minutes;
        job.keys = {
            {JobPart::queue, own_or(queue_key(), of_node)},
            {JobPart::account, own_or("account", of_site("scheduler.account"))},
            {JobPart::options, of_site(section + "options")},
            {JobPart::gpus, test.gpus_per_node > 0 ? of_recipe("gpus_per_node") : of_site("scheduler.gpus")},
            {JobPart::nodes, of_recipe("nodes")},
            {JobPart::cores, of_site("scheduler.cores")},
            {JobPart::memory, job.job.memory_mib < memory_mib ? of_site("scheduler.max_memory_mib")
                              : test.memory_mib > 0           ? of_recipe("memory_mib")
                                                              : of_site("scheduler.memory_mib")},
            {JobPart::minutes, bounded ? of_site("scheduler.max_walltime_minutes") : of_recipe("minutes")}};
        job.node = node;
        charge(one.package, job);
        const std::string on = one.accelerator.empty() ? "" : " on " + one.accelerator;
        add((gpu ? "GPU test" : "multi-node test") + on + " of ", one.package, std::move(job));
    }

    void add_users() {
        const UserJob users = job_of_users(site_, *site_.users, "users");
        SiteJob job;
        job.job = {users.queue,
                   users.nodes,
                   users.ranks_per_node,
                   users.cores_per_node,
                   users.memory_mib,
                   users.max_walltime_minutes,
                   true,
                   users.cores_per_rank};
        job.job.queue.gpus = users.gpus_per_node;
        const NodeType* node = node_of_users(site_, *site_.users);
        const bool by_node = node != nullptr && !node->queue.empty();
        job.node = node;
        job.keys = {{JobPart::queue, by_node ? of_site("node." + node->name + ".queue") : queue_of_builds()},
                    {JobPart::account, of_site("scheduler.account")},
                    {JobPart::options, of_site("users.options")},
                    {JobPart::nodes, of_site("users.nodes")},
                    {JobPart::cores,
                     of_site(users.cores_per_rank > 0 ? "users.cores_per_rank" : "users.ranks_per_node")},
                    {JobPart::memory, of_site("users.memory_mib")},
                    {JobPart::minutes, of_site("users.minutes")}};
        if (node != nullptr) job.keys[JobPart::gpus] = of_site("node." + node->name + ".gpus");
        add("job of a user", "", std::move(job));
    }

    const Site& site_;
    const BatchSystem& batch_;
    std::vector<Wanted> recipes_;
    std::vector<SiteJob> jobs_;
    std::map<std::string, std::size_t> known_;  // kind and header → its place in jobs_
    std::set<std::string> named_;
};

std::string value_of(const TrialJob& job, const RefusedPart& refused) {
    switch (refused.part) {
        case JobPart::minutes:
            return std::to_string(job.minutes) + " minutes";
        case JobPart::memory:
            return std::to_string(job.memory_mib) + " MiB";
        case JobPart::nodes:
            return std::to_string(job.nodes) + " nodes";
        case JobPart::gpus:
            return std::to_string(job.queue.gpus) + " GPUs per node";
        case JobPart::cores:
            return std::to_string(job.ranks_per_node) + " × " + std::to_string(job.cores) + " cores";
        case JobPart::environment:
            return "--export";
        case JobPart::options:
            return refused.option.empty() ? base::join(job.queue.options, " ") : refused.option;
        case JobPart::account:
            return job.queue.account.empty() ? "no account" : "account " + job.queue.account;
        case JobPart::queue:
            return "queue " + job.queue.queue;
    }
    return "";
}

// A user's job has the options of the site before its own.
DecidingKey key_of(const Site& site, const SiteJob& job, const RefusedPart& refused) {
    const auto& of_builds = site.queue.options;
    const auto& of_node = job.job.queue.node_options;
    if (refused.part == JobPart::options && job.node != nullptr &&
        std::find(of_node.begin(), of_node.end(), refused.option) != of_node.end()) {
        const std::string key = "node." + job.node->name + ".options";
        return {key, found_in(site.places, key)};
    }
    if (job.job.of_user && refused.part == JobPart::options &&
        std::find(of_builds.begin(), of_builds.end(), refused.option) != of_builds.end())
        return {"scheduler.options", found_in(site.places, "scheduler.options")};
    const auto found = job.keys.find(refused.part);
    return found == job.keys.end() ? DecidingKey() : found->second;
}

// The site's own filter takes no job that names such a part, whatever its size.
std::string describe_unnameable(const SiteJob& job, const RefusedPart& refused) {
    const std::string name(nameable_parts.text(refused.part));
    const std::string node = job.node == nullptr ? "a [[node]] that scheduler.node names in place of a queue"
                                                 : "[[node]] `" + job.node->name + "`";
    return name + ": no job here may ask for it; write not_asked = [\"" + name + "\"] in " + node +
           ", and in its options what the site's guide asks for instead";
}

std::string describe_part(const Site& site, const SiteJob& job, const RefusedPart& refused) {
    const bool may_lack_it = refused.part == JobPart::gpus && (job.node == nullptr || job.node->gpus == 0);
    if (refused.by_name && !may_lack_it) return describe_unnameable(job, refused);
    const DecidingKey key = key_of(site, job, refused);
    std::string text = value_of(job.job, refused);
    if (!key.key.empty())
        text += ": " + key.key + ", " + (key.place.empty() ? "not set, its default" : key.place);
    if (refused.by_name)
        text += "; or, if there are GPUs here all the same, " + describe_unnameable(job, refused);
    return text;
}

// Nothing that is requested can be left out: something is missing, or the account is none of the site's.
std::string advise_without_part(const Site& site, const SiteJob& job, const std::string& message) {
    const QueueSettings& queue = job.job.queue;
    std::vector<std::string> advice;
    const bool is_of_account =
        !queue.account.empty() && (message.find(queue.account) != std::string::npos ||
                                   base::ascii_lower(message).find("invalid account") != std::string::npos);
    // What is missing comes first: an account that the message does not name is rarely the reason.
    std::vector<std::string> unset;
    if (queue.account.empty()) unset.emplace_back("scheduler.account");
    if (queue.options.empty() && !is_of_account) unset.emplace_back("scheduler.options");
    if (!unset.empty())
        advice.push_back(base::join(unset, " and ") + (unset.size() == 1 ? " is" : " are") +
                         " not set, and a job script of the site's guide shows what it demands");
    if (!queue.account.empty()) advice.push_back("check " + describe_part(site, job, {JobPart::account}));
    return "no single part of the request is the reason: " + base::join(advice, "; ") +
           "; otherwise ask the site's staff why it says `" + message + "`";
}

std::string advise(const Site& site, const SiteJob& job, const TrialAnswer& answer) {
    if (answer.parts.empty()) return advise_without_part(site, job, answer.message);
    std::vector<std::string> all;
    for (const auto& refused : answer.parts)
        all.push_back(describe_part(site, job, refused));
    return "correct what is refused: " + base::join(all, "; ");
}

// What a job gets on each of its nodes that asks for no memory; 0: it asks, or that is not known.
std::int64_t default_memory_mib(const SiteJob& job) {
    const TrialJob& asked = job.job;
    const bool asks = asked.memory_mib > 0 && asked.queue.may_ask(JobPart::memory);
    if (asks || job.node == nullptr || job.node->exclusive) return 0;
    const int of_rank = asked.of_user ? std::max(1, asked.cores_per_rank) : asked.cores;
    return job.node->memory_per_core_mib * of_rank * asked.ranks_per_node;
}

// A job that is taken, and will run out of memory.
std::string advise_on_memory(const SiteJob& job, std::int64_t mib) {
    const DecidingKey key =
        job.keys.count(JobPart::memory) > 0 ? job.keys.at(JobPart::memory) : DecidingKey{"memory_mib", ""};
    return "it asks for no memory and gets " + std::to_string(mib) + " MiB on a node, by [[node]] `" +
           job.node->name + "`: set " + (key.key.empty() ? "memory_mib" : key.key);
}

}  // namespace

std::vector<SiteJob> site_jobs(const Site& site, const Recipes& recipes) {
    if (!site.scheduler->batch) return {};
    return Jobs(site, recipes).all();
}

std::vector<SiteLine> try_site_jobs(const Site& site, const Recipes& recipes, const AskMachine& ask) {
    std::vector<SiteLine> lines;
    for (const SiteJob& job : site_jobs(site, recipes)) {
        const TrialAnswer answer = try_job(*site.scheduler->batch, job.job, ask);
        const bool good = answer.end != TrialEnd::refused;
        const std::string end = answer.end == TrialEnd::unknown ? "not known: " : good ? "" : "refused: ";
        lines.push_back({job.what, good, end + answer.message, good ? "" : advise(site, job, answer)});
        const std::int64_t mib = default_memory_mib(job);
        if (good && mib > 0 && mib < least_memory_of_a_rank_mib * job.job.ranks_per_node)
            lines.push_back({job.what, false, "too little memory", advise_on_memory(job, mib)});
    }
    return lines;
}

}  // namespace wheelyard::builder
