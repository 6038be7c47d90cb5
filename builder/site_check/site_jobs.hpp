// Every kind of job that a site file describes, tried with the batch system itself: builds, the largest retry, hardware
// tests on each accelerator, a job of a user. A refusal names the key that decides, and where it was set.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/schedule/job_trial.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// What decides one part of a job.
struct DecidingKey {
    std::string key;    // "scheduler.partition"; empty: no key is set
    std::string place;  // "/etc/site.toml:31:1"; empty: the key's default
};

struct SiteJob {
    std::string what;  // "build of torch, torchvision"
    TrialJob job;
    std::map<JobPart, DecidingKey> keys;
    const NodeType* node = nullptr;  // that it is sent to; null: not known
};

// Equal jobs are one. Empty where jobs are processes of this machine. Pure.
[[nodiscard]] std::vector<SiteJob> site_jobs(const Site& site, const Recipes& recipes);

// One line for each job. Pure, apart from `ask`.
[[nodiscard]] std::vector<SiteLine> try_site_jobs(const Site& site, const Recipes& recipes,
                                                  const AskMachine& ask);

}  // namespace wheelyard::builder
