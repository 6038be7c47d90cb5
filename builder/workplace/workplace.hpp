// Everything that one run of the program works with, wired from the site file.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "builder/agent/agent.hpp"
#include "builder/attempt/claim_record.hpp"
#include "builder/attempt/journal.hpp"
#include "builder/closure/resolve.hpp"
#include "builder/remote/task_client.hpp"
#include "builder/remote/upload.hpp"
#include "builder/schedule/scheduler.hpp"
#include "builder/show/report.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {

// How one run of the program differs from a tick of cron.
struct RunSettings {
    bool unchecked = false;  // AgentParts::is_unchecked
    std::function<void(const std::string&)> warn =
        nullptr;  // of pip's configuration; nullptr: standard error
};

// Of tests alone: WHEELYARD_FAILPOINT.
[[nodiscard]] Failpoints failpoints_of_environment();

class Workplace {
  public:
    using Note = std::function<void(const Attempt&, const std::string&)>;

    // Reads the site file, the recipes and pip's configuration, and probes each Python. A missing Python is
    // not an error: the plan marks its cells as impossible, with the reason. Errors: those of the readers,
    // "governor.missing".
    [[nodiscard]] static base::Result<std::unique_ptr<Workplace>> open(const std::filesystem::path& site_file,
                                                                       Note note = {},
                                                                       RunSettings settings = {});

    // Another want, for as long as this object lives: its closure is read with the others.
    void add_want(Want want);
    // Puts the releases of the closures that are known by now among the wants; `resolves`: goes on with the
    // others, too.
    void read_closures(bool resolves);
    [[nodiscard]] ClosurePorts closure_ports();

    [[nodiscard]] Agent& agent() { return *agent_; }
    [[nodiscard]] const Site& site() const { return site_; }
    [[nodiscard]] const Recipes& recipes() const { return recipes_; }
    [[nodiscard]] const Pythons& pythons() const { return pythons_; }
    [[nodiscard]] const Journal& journal() const { return *journal_; }
    [[nodiscard]] const simple::PipConfig& pip() const { return pip_; }
    [[nodiscard]] base::Clock& clock() { return clock_; }
    [[nodiscard]] AttemptFolder folder_of(const Attempt& attempt) const;
    // The log of the attempt's job, or, until the job has one, of its steps on the login node.
    [[nodiscard]] std::filesystem::path log_of(const Attempt& attempt) const;
    // The claimed tasks of the registry, as recorded on disk.
    [[nodiscard]] std::vector<ClaimRecord> claims() const;
    // Says whether the companions that the index has suit the torch of the plan: one or two requests, none
    // without such a companion.
    [[nodiscard]] base::Status explain_torch_abi(Plan& plan);
    // Renews the token of an agent that enrolled, if it is time. Returns what to tell a person: why it
    // cannot; the same only once.
    [[nodiscard]] std::optional<base::Error> renew_token();
    // The attempts with the progress from their logs.
    [[nodiscard]] std::vector<AttemptView> views(const std::vector<Attempt>& attempts) const;
    // Asks the scheduler about the jobs of those attempts, for at most about max_ask_ms and one query.
    void ask_jobs(std::vector<AttemptView>& views);
    // When the last tick began; nullopt: none has, or the work folder is away.
    [[nodiscard]] std::optional<base::UnixMicros> last_tick() const;

  private:
    Workplace() = default;
    [[nodiscard]] base::Status read(const std::filesystem::path& site_file,
                                    const EnvironmentMap& environment);
    // What asks indexes, registries and the batch system, of what read() has found.
    void connect(const EnvironmentMap& environment, std::function<void(const std::string&)> warn);
    [[nodiscard]] AttemptView view(const Attempt& attempt) const;
    base::SystemClock clock_;
    Site site_;
    std::vector<Want> wants_;  // of the site file; site_.wants has their closures, too
    std::string pip_conf_;
    Recipes recipes_;
    Pythons pythons_;
    simple::PipConfig pip_;
    std::optional<Journal> journal_;
    std::optional<io::HttpClient> source_http_;  // with pip's certificates, proxy and timeout
    std::optional<io::HttpClient> registry_http_;
    std::optional<Sources> sources_;
    std::unique_ptr<Scheduler> scheduler_;
    std::optional<HttpRegistry> registry_;
    std::optional<HttpRegistry> variants_;  // of variants_to
    std::optional<io::HttpClient> task_http_;
    std::optional<HttpTaskService> tasks_;
    Failpoints failpoints_ = failpoints_of_environment();
    base::UnixMicros next_renewal_ = 0;  // not before
    std::string told_;                   // of the last renewal
    std::optional<Agent> agent_;
};

}  // namespace wheelyard::builder
