// The compiles of one build, from the first message of their launchers to their ends. Sends the decisions of
// Dispatch to launchers and passes memory samples to Dispatch. Uses the sockets that the broker accepted; no
// call waits for a message.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/governor/admission/dispatch.hpp"
#include "builder/governor/admission/surprise.hpp"
#include "builder/governor/broker/build_record.hpp"
#include "builder/governor/launch/compiler_process.hpp"
#include "builder/governor/memory/compile_groups.hpp"
#include "builder/governor/memory/memory_watch.hpp"
#include "lib/base/files/fd.hpp"

namespace wheelyard::governor {

class GovernedBuild {
  public:
    // `root` is prefixed to the paths of the kernel's files; tests set it.
    GovernedBuild(const BrokerPlan& plan, CompileGroups& groups, const std::string& root = {});

    // A launcher connected; `session` is its process's session ID.
    void on_connect(TryId id, base::Fd socket, pid_t session);
    // The launcher's socket is readable, or its connection ended. Reads one message.
    void on_message(TryId id);
    // Reads one message of each launcher, at the end of the build.
    void read_remaining_messages();
    void start_what_fits();
    void sample_memory_when_due();
    // When the next sample is due, on the clock of monotonic_ms().
    [[nodiscard]] std::int64_t next_sample() const { return next_sample_ms_; }
    void reread_limits_when_due();
    void print_progress() const;
    void flush_history() { record_.flush_history(LockPatience::none); }
    // Looks for the largest process of the build that is not part of a governed compile.
    void sample_others_when_due();
    [[nodiscard]] std::int64_t next_others() const { return next_others_ms_; }
    // The build is cancelled: no compile starts from now on, and all launchers and their compiles end.
    void stop();
    [[nodiscard]] bool is_stopped() const { return is_stopped_; }
    // Kills the compiles that did not end.
    void kill_running();
    // Writes the report. Returns the exit status of the broker's process.
    [[nodiscard]] int finish() { return record_.finish(); }
    [[nodiscard]] bool is_busy() const { return dispatch_.admission().running() > 0; }

  private:
    // A connected launcher.
    struct Client {
        enum class State { silent, waiting, running } state = State::silent;
        base::Fd socket;
        CompileFacts facts;
        bool known = false;
        pid_t pid = 0, session = 0;
        std::int64_t start_ms = 0;
        std::uint64_t age = 0, oom_kills_before = 0;
        std::string group;  // cgroup.procs of its cgroup, or empty
        double bytes = 0, peak = 0, predicted = 0;
        bool stopped = false, dying = false, noted_throttled = false;
        std::int64_t stopped_since_ms = 0, stopped_total_ms = 0;  // the total excludes the present stop
        unsigned lane = 0;

        void resume(std::int64_t now_ms) {
            if (std::exchange(stopped, false)) stopped_total_ms += now_ms - stopped_since_ms;
        }
    };

    void on_ask(TryId id, Client& client, const std::vector<std::string>& message);
    void begin(TryId id, std::int64_t now_ms);
    void on_ended(TryId id, Client& client, const std::vector<std::string>& message);
    void on_success(TryId id, Client& client, double seconds, std::string_view compiled);
    [[nodiscard]] Retry on_failure(TryId id, Client& client, bool clue);
    [[nodiscard]] Retry on_out_of_memory(TryId id, const Client& client);
    void sample_memory();
    void sample_client(Client& client);
    void note_throttled(Client& client);
    [[nodiscard]] std::uint64_t count_kernel_kills(const Client& client) const;
    void on_disconnect(TryId id);
    void end_try(const Client& client, const char* end);
    void apply(const Remedy& remedy);
    void update_limit();

    const BrokerPlan& plan_;
    CompileGroups& groups_;
    BuildRecord record_;
    MemoryWatch watch_;
    Dispatch dispatch_;
    CompilerVersions versions_;
    Lanes lanes_;
    std::map<TryId, Client> clients_;
    std::uint64_t age_ = 0;
    std::int64_t sampled_ms_ = 0;
    std::int64_t next_sample_ms_ = 0;
    std::int64_t next_others_ms_ = 0;
    bool is_stopped_ = false;
    std::string give_up_reason_;  // shown to the user if a compile does not fit
};

}  // namespace wheelyard::governor
