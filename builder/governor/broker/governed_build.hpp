// The compiles of one build, from their launchers' asking to their ends: decisions of Dispatch carried to
// launchers, samples of memory carried to Dispatch. Speaks through sockets that the broker accepted; waits
// for nothing.
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
#include "builder/governor/launch/compiler_version.hpp"
#include "builder/governor/memory/compile_groups.hpp"
#include "builder/governor/memory/memory_watch.hpp"
#include "lib/base/fd.hpp"

namespace wheelyard::governor {

class GovernedBuild {
  public:
    GovernedBuild(const BrokerPlan& plan, CompileGroups& groups);

    // A launcher connected; `session` is its process's.
    void join(TryId id, base::Fd socket, pid_t session);
    // Its socket has something to read, or is at its end.
    void hear(TryId id);
    // Each of them once, at the end.
    void hear_all();
    void start_what_fits();
    // Looks at every running compile, when it is time.
    void look_when_due();
    [[nodiscard]] std::int64_t next_look() const { return next_look_ms_; }  // of monotonic_ms()
    void reread_limits_when_due();
    void say_progress() const;
    void flush_history() { record_.flush_history(LockPatience::none); }
    // The exit status of the broker's process.
    [[nodiscard]] int finish() { return record_.finish(); }
    [[nodiscard]] bool is_busy() const { return dispatch_.admission().running() > 0; }

  private:
    struct Client {
        enum class State { silent, waiting, running } state = State::silent;
        base::Fd socket;
        Facts facts;
        bool known = false;
        pid_t pid = 0, session = 0;
        std::int64_t start_ms = 0;
        std::uint64_t age = 0, oom_kills_before = 0;
        std::string group;  // its own cgroup's cgroup.procs, or empty
        double bytes = 0, peak = 0, predicted = 0;
        bool stopped = false, dying = false, noted_slowed = false;
        std::int64_t stopped_ms = 0, stood_ms = 0;  // since when it stands still, and how long it did before
        unsigned lane = 0;

        void go_on(std::int64_t now_ms) {
            if (std::exchange(stopped, false)) stood_ms += now_ms - stopped_ms;
        }
    };

    void ask(TryId id, Client& client, const std::vector<std::string>& message);
    void begin(TryId id, std::int64_t now_ms);
    void ended(TryId id, Client& client, const std::vector<std::string>& message);
    void ended_well(TryId id, Client& client, double seconds, std::string_view compiled);
    [[nodiscard]] Verdict judge(TryId id, Client& client, bool clue);
    [[nodiscard]] Verdict judge_memory(TryId id, const Client& client);
    void look();
    void look_at(Client& client);
    void note_slowed(Client& client);
    [[nodiscard]] bool was_killed_by_kernel(const Client& client);
    void lose(TryId id);
    void end_try(const Client& client, const char* end);
    void apply(const Remedy& remedy);
    void take_limit();

    const BrokerPlan& plan_;
    CompileGroups& groups_;
    BuildRecord record_;
    MemoryWatch watch_;
    Dispatch dispatch_;
    CompilerVersions versions_;
    Lanes lanes_;
    std::map<TryId, Client> clients_;
    std::uint64_t age_ = 0;
    std::int64_t looked_ms_ = 0;
    std::int64_t next_look_ms_ = 0;
    std::string why_;  // a compile fails: the sentence for people
};

}  // namespace wheelyard::governor
