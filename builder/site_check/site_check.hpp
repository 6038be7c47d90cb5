// `wheelyard-builder site check`: compares the machine with its site file. Each line says what was found and,
// if it is wrong, what to do.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/schedule/batch_survey.hpp"
#include "builder/schedule/job_trial.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {

// Leaves nothing behind: it removes the files that it writes. Every check has a time limit.
[[nodiscard]] std::vector<SiteLine> check_site(const Site& site, const Recipes& recipes,
                                               const EnvironmentMap& environment);

// The line on whether this machine can build uploaded sources apart from the agent; nullopt: the site has no
// [uploaded_sources]. Starts the namespace of a build, in a temporary folder.
[[nodiscard]] std::optional<SiteLine> check_uploaded_sources(const Site& site,
                                                             const EnvironmentMap& environment,
                                                             uid_t user = ::geteuid());

// Names the lines that are required and not good: "C compiler cc: cc: command not found".
[[nodiscard]] std::vector<std::string> failed_requirements(const std::vector<SiteLine>& lines);
[[nodiscard]] bool all_good(const std::vector<SiteLine>& lines);
[[nodiscard]] std::string render_site_lines(const std::vector<SiteLine>& lines);
[[nodiscard]] io::Json json_of(const SiteLine& line);
[[nodiscard]] std::string render_site_lines_json(const std::string& site, const std::vector<SiteLine>& lines);

// The disk space that the work folder needs: more for cloned sources than for sdists. Pure.
[[nodiscard]] std::uint64_t min_work_bytes(const Site& site, const Recipes& recipes);

// Bash that loads the site's modules one by one and prints "@loaded NAME" or "@missing NAME" for each. Pure.
[[nodiscard]] std::string render_module_check(const Site& site);

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
