// Starts compiles, samples their memory and handles their ends.
#include "builder/governor/broker/governed_build.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <utility>

#include "builder/governor/launch/message.hpp"
#include "builder/governor/memory/limits.hpp"
#include "builder/governor/memory/process_tree.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

// Only compiles predicted to take this long get a cgroup: joining one takes 4 to 16 ms.
constexpr double group_from_s = 1;

// Through a cache that does not report hits, a run with a smaller peak counts as a hit and is not measured.
constexpr std::uint64_t cache_hit_bytes = 32 * mib;

std::string size(double bytes) {
    return base::render_bytes(static_cast<std::uint64_t>(bytes));
}

// Pause between samples of other processes, which take at most this part of the broker's time.
constexpr std::int64_t min_others_pause_ms = 100;
constexpr std::int64_t others_divisor = 20;

// A group that a process joined has a larger peak than this.
constexpr double min_group_peak_bytes = 64.0 * kib;

double number(const std::string& text) {
    return static_cast<double>(base::parse_decimal(text).value_or(0));
}

}  // namespace

GovernedBuild::GovernedBuild(const BrokerPlan& plan, CompileGroups& groups, const std::string& root)
    : plan_(plan),
      groups_(groups),
      record_(plan),
      watch_(LimitReader(root, plan.setting_bytes, plan.job_limits)),
      dispatch_(plan.cores > 0 ? plan.cores : watch_.limits().cores(), record_.recall()) {
    record_.report.cores = plan.cores > 0 ? plan.cores : watch_.limits().cores();
    watch_.read(0, monotonic_ms());
    update_limit();
    record_.report.forms = plan.coverage.forms;
    if (!plan.coverage.capped) return;
    record_.report.capped_jobs = plan.coverage.jobs;
    if (!plan.quiet) record_.note(plan.coverage.text());
}

void GovernedBuild::on_connect(TryId id, base::Fd socket, pid_t session) {
    auto& client = clients_[id];
    client.socket = std::move(socket);
    client.session = session;
}

void GovernedBuild::on_message(TryId id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    auto& client = found->second;
    const auto message = receive_message(client.socket.get(), false);
    if (message.empty()) {
        if (errno != EAGAIN && errno != EWOULDBLOCK) on_disconnect(id);
    } else if (message[0] == "hit" && client.state == Client::State::silent) {
        ++record_.report.cache_hits;
    } else if (message[0] == "ask" && message.size() == 7 && client.state == Client::State::silent) {
        on_ask(id, client, message);
    } else if (message[0] == "started" && message.size() == 2) {
        client.pid = static_cast<pid_t>(base::parse_decimal(message[1]).value_or(0));
    } else if (message[0] == "ended" && message.size() == 5 && client.state == Client::State::running) {
        on_ended(id, client, message);
    } else {
        on_disconnect(id);  // not the protocol
    }
}

void GovernedBuild::read_remaining_messages() {
    std::vector<TryId> ids;
    for (const auto& [id, unused] : clients_)
        ids.push_back(id);
    for (const auto id : ids)
        on_message(id);
}

void GovernedBuild::stop() {
    is_stopped_ = true;
    for (const auto& [id, client] : clients_) {
        if (client.state == Client::State::waiting) (void)send_message(client.socket.get(), {"quit"});
        if (client.state == Client::State::running) (void)send_message(client.socket.get(), {"kill"});
    }
}

void GovernedBuild::kill_running() {
    std::vector<TryId> ids;
    for (const auto& [id, client] : clients_) {
        if (client.state == Client::State::running) ids.push_back(id);
    }
    for (const auto id : ids)
        on_disconnect(id);
}

void GovernedBuild::sample_others_when_due() {
    const auto now = monotonic_ms();
    if (now < next_others_ms_) return;
    std::set<pid_t> governed{::getpid()};
    for (const auto& [id, client] : clients_) {
        if (client.pid > 1) governed.insert(client.pid);
    }
    auto& largest = record_.report.largest_other;
    if (const auto found = largest_process(::getppid(), governed); found.bytes > largest.bytes)
        largest = found;
    next_others_ms_ = now + std::max(min_others_pause_ms, others_divisor * (monotonic_ms() - now));
}

void GovernedBuild::on_ask(TryId id, Client& client, const std::vector<std::string>& message) {
    client.facts.source = message[1];
    client.facts.arguments = message[2];
    client.facts.compiler = versions_.of(message[3]);
    client.facts.language = message[4];
    client.facts.architectures = message[5];
    client.facts.threads =
        static_cast<unsigned>(std::clamp<std::uint64_t>(base::parse_decimal(message[6]).value_or(1), 1, 64));
    client.known = dispatch_.predictor().knows(client.facts);
    client.state = Client::State::waiting;
    if (is_stopped_) (void)send_message(client.socket.get(), {"quit"});
    dispatch_.arrive(id, client.facts);
    auto& max_waiting = record_.report.max_waiting;
    max_waiting = std::max<std::uint64_t>(max_waiting, dispatch_.admission().waiting());
}

void GovernedBuild::begin(TryId id, std::int64_t now_ms) {
    auto& client = clients_.at(id);
    client.state = Client::State::running;
    client.start_ms = now_ms;
    client.age = ++age_;
    client.pid = 0;
    client.bytes = client.peak = 0;
    client.stopped = client.dying = false;
    client.stopped_total_ms = 0;
    const auto& need = dispatch_.need(id);
    client.predicted = need.typical_bytes;
    client.lane = lanes_.take();
    client.group = need.seconds >= group_from_s ? groups_.take(client.lane) : "";
    client.oom_kills_before = count_kernel_kills(client);
}

void GovernedBuild::start_what_fits() {
    if (is_stopped_ || dispatch_.admission().waiting() == 0) return;
    const auto now = monotonic_ms();
    std::vector<TryId> lost;
    for (const auto id : dispatch_.start(static_cast<double>(now) / 1000)) {
        begin(id, now);
        if (!send_message(clients_.at(id).socket.get(), {"run", clients_.at(id).group})) lost.push_back(id);
    }
    const auto running = dispatch_.admission().running();
    auto& max_running = record_.report.max_running;
    max_running = std::max<std::uint64_t>(max_running, running);
    // More running compiles use the memory sooner.
    next_sample_ms_ = std::min(
        next_sample_ms_, sampled_ms_ + next_sample_ms(watch_.own_bytes(), watch_.room().shared, running));
    for (const auto id : lost)
        on_disconnect(id);
}

void GovernedBuild::end_try(const Client& client, const char* end) {
    lanes_.give(client.lane);
    record_.add_try({client.facts.source, 0, 0, client.peak, client.predicted, end, client.lane},
                    client.start_ms);
}

void GovernedBuild::on_ended(TryId id, Client& client, const std::vector<std::string>& message) {
    const int status = static_cast<int>(base::parse_decimal(message[1]).value_or(1));
    const double largest = number(message[2]) * kib;
    const bool clue = message[3] == "1";
    auto& report = record_.report;
    if (client.group.empty()) {
        client.peak = std::max(client.peak, largest);
    } else {
        sample_client(client);
        // The compile did not join the group if the kernel refused.
        if (client.peak < min_group_peak_bytes) client.peak = largest;
    }
    report.high_water_bytes = std::max(report.high_water_bytes, client.peak);
    const auto now_ms = monotonic_ms();
    client.resume(now_ms);  // a stopped compile may be ended by a signal
    const double seconds = static_cast<double>(now_ms - client.start_ms - client.stopped_total_ms) / 1000;
    report.compile_seconds += seconds;
    if (status == 0) return on_success(id, client, seconds, message[4]);
    give_up_reason_.clear();
    if (is_stopped_) {
        end_try(client, "failed");
    } else if (on_failure(id, client, clue) == Retry::again) {
        client.state = Client::State::waiting;
        if (!send_message(client.socket.get(), {"again"})) on_disconnect(id);
        return;
    }
    ++report.failed;
    ++report.compiles;
    // The launcher may be gone.
    (void)send_message(client.socket.get(), give_up_reason_.empty()
                                                ? std::vector<std::string>{"done"}
                                                : std::vector<std::string>{"fail", give_up_reason_});
    dispatch_.ended(id, 0, 0, false);
    clients_.erase(id);
}

// `compiled`: the COMPILED field of "ended" (message.hpp).
void GovernedBuild::on_success(TryId id, Client& client, double seconds, std::string_view compiled) {
    const bool measured =
        compiled == "1" || (compiled.empty() && client.peak >= static_cast<double>(cache_hit_bytes));
    const bool hit = compiled == "0";
    end_try(client, hit ? "hit" : "ok");
    auto& report = record_.report;
    ++(hit ? report.cache_hits : report.compiles);
    if (measured) {
        report.note_worst({client.facts.source, client.peak, seconds});
        if (client.known) {
            ++report.known;
            if (client.predicted > 0)
                report.prediction_errors.push_back(std::abs(client.peak / client.predicted - 1));
        }
        record_.remember(client.facts, client.peak, seconds, 0);
    }
    dispatch_.ended(id, client.peak, seconds, measured);
    clients_.erase(id);
}

// Decides why a compile failed: for lack of memory, by SIGKILL of unknown origin, or by itself. Sets
// give_up_reason_ if it does not fit.
//
// A compile during which the kernel killed a process for memory is repeated, whatever it printed and
// whichever status it has: compilers, linkers and their wrappers report a killed child in their own words and
// language. `clue`: its words or its status indicate a kill, which counts where the kernel counts nothing.
Retry GovernedBuild::on_failure(TryId id, Client& client, bool clue) {
    const bool killed = count_kernel_kills(client) > client.oom_kills_before;
    // The count of a group that several compiles share says which one was killed only if this one ran alone.
    const bool its_own = !client.group.empty() || dispatch_.admission().running() == 1;
    if (client.dying || (killed && (its_own || clue)) || (clue && watch_.was_short(monotonic_ms())))
        return on_out_of_memory(id, client);
    end_try(client, "failed");
    if (!clue && !killed) return Retry::give_up;
    const auto retry = dispatch_.died_unexplained(id);
    if (retry == Retry::again) {
        ++record_.report.unexplained;
        record_.note(client.facts.source +
                     (killed ? " failed while the kernel killed a process for memory; retrying it alone"
                             : " was killed without a sign of memory pressure; retrying it alone"));
    }
    return retry;
}

// Of the compile's own group, or of the groups and the machine that it shares with others.
std::uint64_t GovernedBuild::count_kernel_kills(const Client& client) const {
    return client.group.empty() ? watch_.count_kernel_kills() : groups_.kills(client.lane);
}

Retry GovernedBuild::on_out_of_memory(TryId id, const Client& client) {
    end_try(client, client.dying ? "killed" : "oom");
    ++(client.dying ? record_.report.killed : record_.report.oom_kills);
    record_.remember(client.facts, 0, 0, client.peak);
    const auto retry = dispatch_.killed_for_memory(id, client.peak);
    if (retry == Retry::give_up) {
        ++record_.report.gave_up;
        give_up_reason_ = client.facts.source + " does not fit: it was killed at " + size(client.peak) +
                          " while it ran alone, and the limit is " + watch_.limit().tightest_killing.text() +
                          "; give the build more memory, or compile this file with fewer optimizations";
        record_.note(give_up_reason_);
    } else {
        record_.note(client.facts.source +
                     (client.dying ? " was killed at " : " was killed by the kernel at ") +
                     size(client.peak) + " and is retried");
    }
    return retry;
}

// A launcher is gone. Frees what its compile held and kills the processes that it left.
void GovernedBuild::on_disconnect(TryId id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    auto& client = found->second;
    if (client.state == Client::State::running) {
        ++record_.report.lost;
        if (client.pid > 1) {
            for (const auto pid : members_of(client.pid, client.session))
                ::kill(pid, SIGKILL);
            if (!client.group.empty()) groups_.kill_all(client.lane);
        }
        end_try(client, "lost");
    }
    dispatch_.leave(id);
    clients_.erase(found);
}

void GovernedBuild::sample_client(Client& client) {
    if (!client.group.empty()) {
        const auto use = groups_.use(client.lane);
        client.bytes = use.bytes;
        client.peak = std::max({client.peak, use.bytes, use.peak_bytes});
    } else if (client.pid > 1) {
        client.bytes = tree_bytes(client.pid);
        client.peak = std::max(client.peak, client.bytes);
    }
}

void GovernedBuild::sample_memory_when_due() {
    const auto now = monotonic_ms();
    if (now < next_sample_ms_) return;
    sample_memory();
    sampled_ms_ = now;
    next_sample_ms_ =
        now + next_sample_ms(watch_.own_bytes(), watch_.room().shared, dispatch_.admission().running());
    if (watch_.is_stalled(now)) next_sample_ms_ = std::min(next_sample_ms_, now + stall_window_ms);
}

void GovernedBuild::sample_memory() {
    double own = 0;
    std::vector<RunningView> views;
    for (auto& [id, client] : clients_) {
        if (client.state != Client::State::running) continue;
        sample_client(client);
        own += client.bytes;
        dispatch_.observe(id, client.bytes);
        views.push_back({id, client.age, client.bytes, client.predicted, client.stopped, client.dying});
    }
    auto& high_water = record_.report.high_water_bytes;
    high_water = std::max(high_water, own);
    if (watch_.note_use(own, monotonic_ms())) update_limit();
    if (!views.empty()) record_.add_memory(own);
    const auto room = watch_.room();
    if (views.size() == 1 && own > room.shared) note_throttled(clients_.at(views.front().id));
    const auto& limit = watch_.limit();
    apply(find_remedy(views, thresholds_of(room, limit.tightest.cap_bytes, limit.tightest_killing.cap_bytes),
                      watch_.is_stalled(monotonic_ms())));
}

// Reports once per try that a compile which runs alone exceeds a throttling limit.
void GovernedBuild::note_throttled(Client& client) {
    const auto& limit = watch_.limit();
    if (limit.tightest.kills || std::exchange(client.noted_throttled, true)) return;
    record_.note(client.facts.source + " needs more than " + limit.tightest.text() +
                 " and runs alone; the kernel throttles it, and it may use " + limit.tightest_killing.text());
}

void GovernedBuild::apply(const Remedy& remedy) {
    if (remedy.kill) {
        auto& client = clients_.at(*remedy.kill);
        client.dying = send_message(client.socket.get(), {"kill"});
    }
    if (remedy.stop) {
        auto& client = clients_.at(*remedy.stop);
        client.stopped = send_message(client.socket.get(), {"stop"});
        client.stopped_since_ms = monotonic_ms();
        if (client.stopped) ++record_.report.stopped;
    }
    if (remedy.resume) {
        auto& client = clients_.at(*remedy.resume);
        if (send_message(client.socket.get(), {"continue"})) client.resume(monotonic_ms());
    }
}

void GovernedBuild::reread_limits_when_due() {
    const auto now = monotonic_ms();
    if (!watch_.is_due(now)) return;
    watch_.read(watch_.own_bytes(), now);
    update_limit();
}

void GovernedBuild::update_limit() {
    dispatch_.set_limit(watch_.room(), watch_.widest_room());
    record_.report.limit_bytes = watch_.limit().tightest.cap_bytes;
    record_.report.room_bytes = watch_.room().shared;
    record_.report.limit_name = watch_.limit().tightest.name;
}

void GovernedBuild::print_progress() const {
    const auto& admission = dispatch_.admission();
    if (plan_.quiet || admission.waiting() + admission.running() == 0) return;
    const auto& report = record_.report;
    Progress progress;
    progress.done = report.compiles + report.cache_hits;
    progress.running = admission.running();
    progress.waiting = admission.waiting();
    progress.again = report.killed + report.oom_kills + report.unexplained;
    progress.used_bytes = watch_.own_bytes();
    progress.room_bytes = watch_.room().shared;
    progress.left_seconds = admission.left_s();
    base::print(stderr, "%s\n", render_progress(progress).c_str());
}

}  // namespace wheelyard::governor
