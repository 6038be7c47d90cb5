// One compile's ends: well, by itself, of memory, of a mystery, or with its launcher.
#include "builder/governor/broker/governed_build.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <utility>

#include "builder/governor/broker/limits.hpp"
#include "builder/governor/launch/message.hpp"
#include "builder/governor/memory/limits.hpp"
#include "builder/governor/memory/process_tree.hpp"
#include "lib/base/process.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::governor {
namespace {

std::string size(double bytes) {
    return base::render_bytes(static_cast<std::uint64_t>(bytes));
}

// What has run at all was charged more than this.
constexpr double min_group_peak_bytes = 64.0 * kib;

double number(const std::string& text) {
    return static_cast<double>(base::parse_decimal(text).value_or(0));
}

}  // namespace

GovernedBuild::GovernedBuild(const BrokerPlan& plan, CompileGroups& groups)
    : plan_(plan),
      groups_(groups),
      record_(plan),
      watch_(LimitReader("", base::current_environment(), plan.setting_bytes, plan.pbs_bytes)),
      dispatch_(plan.cores > 0 ? plan.cores : watch_.limits().cores(), record_.recall()) {
    record_.report.cores = plan.cores > 0 ? plan.cores : watch_.limits().cores();
    watch_.read(0, monotonic_ms());
    take_limit();
}

void GovernedBuild::join(TryId id, base::Fd socket, pid_t session) {
    auto& client = clients_[id];
    client.socket = std::move(socket);
    client.session = session;
}

void GovernedBuild::hear(TryId id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    auto& client = found->second;
    const auto message = receive_message(client.socket.get(), false);
    if (message.empty()) {
        if (errno != EAGAIN && errno != EWOULDBLOCK) lose(id);
    } else if (message[0] == "hit" && client.state == Client::State::silent) {
        ++record_.report.cache_hits;
    } else if (message[0] == "ask" && message.size() == 7 && client.state == Client::State::silent) {
        ask(id, client, message);
    } else if (message[0] == "started" && message.size() == 2) {
        client.pid = static_cast<pid_t>(base::parse_decimal(message[1]).value_or(0));
    } else if (message[0] == "ended" && message.size() == 5 && client.state == Client::State::running) {
        ended(id, client, message);
    } else {
        lose(id);
    }
}

void GovernedBuild::hear_all() {
    std::vector<TryId> ids;
    for (const auto& [id, unused] : clients_)
        ids.push_back(id);
    for (const auto id : ids)
        hear(id);
}

void GovernedBuild::ask(TryId id, Client& client, const std::vector<std::string>& message) {
    client.facts.source = message[1];
    client.facts.arguments = message[2];
    client.facts.compiler = versions_.of(message[3]);
    client.facts.language = message[4];
    client.facts.architectures = message[5];
    client.facts.threads =
        static_cast<unsigned>(std::clamp<std::uint64_t>(base::parse_decimal(message[6]).value_or(1), 1, 64));
    client.known = dispatch_.predictor().knows(client.facts);
    client.state = Client::State::waiting;
    dispatch_.arrive(id, client.facts);
    auto& most = record_.report.max_waiting;
    most = std::max<std::uint64_t>(most, dispatch_.admission().waiting());
}

void GovernedBuild::begin(TryId id, std::int64_t now_ms) {
    auto& client = clients_.at(id);
    client.state = Client::State::running;
    client.start_ms = now_ms;
    client.age = ++age_;
    client.pid = 0;
    client.bytes = client.peak = 0;
    client.stopped = client.dying = false;
    client.stood_ms = 0;
    const auto& need = dispatch_.need(id);
    client.predicted = need.typical_bytes;
    client.lane = lanes_.take();
    client.group = need.seconds >= group_from_s ? groups_.take(client.lane) : "";
    client.oom_kills_before = client.group.empty() ? watch_.kernel_kills() : groups_.kills(client.lane);
}

void GovernedBuild::start_what_fits() {
    if (dispatch_.admission().waiting() == 0) return;
    const auto now = monotonic_ms();
    std::vector<TryId> lost;
    for (const auto id : dispatch_.start(static_cast<double>(now) / 1000)) {
        begin(id, now);
        if (!send_message(clients_.at(id).socket.get(), {"run", clients_.at(id).group})) lost.push_back(id);
    }
    const auto running = dispatch_.admission().running();
    auto& most = record_.report.max_running;
    most = std::max<std::uint64_t>(most, running);
    // More of them fill the room sooner.
    next_look_ms_ =
        std::min(next_look_ms_, looked_ms_ + next_look_ms(watch_.own_bytes(), watch_.room().shared, running));
    for (const auto id : lost)
        lose(id);
}

void GovernedBuild::end_try(const Client& client, const char* end) {
    lanes_.give(client.lane);
    record_.add_try({client.facts.source, 0, 0, client.peak, client.predicted, end, client.lane},
                    client.start_ms);
}

void GovernedBuild::ended(TryId id, Client& client, const std::vector<std::string>& message) {
    const int status = static_cast<int>(base::parse_decimal(message[1]).value_or(1));
    const double largest = number(message[2]) * kib;
    const bool clue = message[3] == "1";
    auto& report = record_.report;
    if (client.group.empty()) {
        client.peak = std::max(client.peak, largest);
    } else {
        look_at(client);
        // It never got there, should the kernel have refused.
        if (client.peak < min_group_peak_bytes) client.peak = largest;
    }
    report.high_water_bytes = std::max(report.high_water_bytes, client.peak);
    const auto now_ms = monotonic_ms();
    client.go_on(now_ms);  // it may end, by a signal, while it stands still
    const double seconds = static_cast<double>(now_ms - client.start_ms - client.stood_ms) / 1000;
    report.compile_seconds += seconds;
    if (status == 0) return ended_well(id, client, seconds, message[4]);
    if (judge(id, client, clue) == Verdict::again) {
        client.state = Client::State::waiting;
        if (!send_message(client.socket.get(), {"again"})) lose(id);
        return;
    }
    ++report.failed;
    ++report.compiles;
    // A launcher that is gone needs no answer.
    (void)send_message(client.socket.get(), why_.empty() ? std::vector<std::string>{"done"}
                                                         : std::vector<std::string>{"fail", why_});
    dispatch_.ended(id, 0, 0, false);
    clients_.erase(id);
}

// `compiled` as the message has it.
void GovernedBuild::ended_well(TryId id, Client& client, double seconds, std::string_view compiled) {
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

// A compile ended badly: of memory, of a mystery, or by itself? Leaves the sentence for people in why_.
Verdict GovernedBuild::judge(TryId id, Client& client, bool clue) {
    why_.clear();
    // Its own group knows, whatever the driver says of it; the count of all groups only fits a clue.
    const bool kernel = was_killed_by_kernel(client);
    if (client.dying || (kernel && !client.group.empty()) ||
        (clue && (kernel || watch_.was_short(monotonic_ms())))) {
        return judge_memory(id, client);
    }
    end_try(client, "failed");
    if (!clue) return Verdict::give_up;
    const auto verdict = dispatch_.died_unexplained(id);
    if (verdict == Verdict::again) {
        ++record_.report.unexplained;
        record_.note(client.facts.source +
                     " died as if killed, without a sign of memory pressure; once more, alone");
    }
    return verdict;
}

bool GovernedBuild::was_killed_by_kernel(const Client& client) {
    const auto all = watch_.count_kernel_kills();
    return (client.group.empty() ? all : groups_.kills(client.lane)) > client.oom_kills_before;
}

Verdict GovernedBuild::judge_memory(TryId id, const Client& client) {
    end_try(client, client.dying ? "killed" : "oom");
    ++(client.dying ? record_.report.killed : record_.report.oom_kills);
    record_.remember(client.facts, 0, 0, client.peak);
    const auto verdict = dispatch_.killed_for_memory(id, client.peak);
    if (verdict == Verdict::give_up) {
        ++record_.report.gave_up;
        why_ = client.facts.source + " does not fit: it was killed at " + size(client.peak) +
               " while it ran alone, and the limit is " + watch_.limit().tightest_killing.text() +
               "; give the build more memory, or this file lighter options";
        record_.note(why_);
    } else {
        record_.note(client.facts.source +
                     (client.dying ? " was killed at " : " was killed by the kernel at ") +
                     size(client.peak) + " and will run again");
    }
    return verdict;
}

// A launcher that went away frees what it held; what its compile left running is ended.
void GovernedBuild::lose(TryId id) {
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

void GovernedBuild::look_at(Client& client) {
    if (!client.group.empty()) {
        const auto use = groups_.use(client.lane);
        client.bytes = use.bytes;
        client.peak = std::max({client.peak, use.bytes, use.peak_bytes});
    } else if (client.pid > 1) {
        client.bytes = tree_bytes(client.pid);
        client.peak = std::max(client.peak, client.bytes);
    }
}

void GovernedBuild::look_when_due() {
    const auto now = monotonic_ms();
    if (now < next_look_ms_) return;
    look();
    looked_ms_ = now;
    next_look_ms_ =
        now + next_look_ms(watch_.own_bytes(), watch_.room().shared, dispatch_.admission().running());
    if (watch_.is_stalled(now)) next_look_ms_ = std::min(next_look_ms_, now + stall_window_ms);
}

void GovernedBuild::look() {
    double own = 0;
    std::vector<RunningView> views;
    for (auto& [id, client] : clients_) {
        if (client.state != Client::State::running) continue;
        look_at(client);
        own += client.bytes;
        dispatch_.observe(id, client.bytes);
        views.push_back({id, client.age, client.bytes, client.predicted, client.stopped, client.dying});
    }
    auto& high_water = record_.report.high_water_bytes;
    high_water = std::max(high_water, own);
    if (watch_.note_use(own, monotonic_ms())) take_limit();
    if (!views.empty()) record_.add_memory(own);
    const auto room = watch_.room();
    if (views.size() == 1 && own > room.shared) note_slowed(clients_.at(views.front().id));
    const auto& limit = watch_.limit();
    apply(find_remedy(views, marks_of(room, limit.tightest.cap_bytes, limit.tightest_killing.cap_bytes),
                      watch_.is_stalled(monotonic_ms())));
}

// Of a compile that runs alone and takes more room than several would get: once, that it may, and what it
// costs.
void GovernedBuild::note_slowed(Client& client) {
    const auto& limit = watch_.limit();
    if (limit.tightest.kills || std::exchange(client.noted_slowed, true)) return;
    record_.note(client.facts.source + " needs more than " + limit.tightest.text() +
                 " and runs alone; the kernel slows it down there, and " + limit.tightest_killing.text() +
                 " is what it may use");
}

void GovernedBuild::apply(const Remedy& remedy) {
    if (remedy.kill) {
        auto& client = clients_.at(*remedy.kill);
        client.dying = send_message(client.socket.get(), {"kill"});
    }
    if (remedy.stop) {
        auto& client = clients_.at(*remedy.stop);
        client.stopped = send_message(client.socket.get(), {"stop"});
        client.stopped_ms = monotonic_ms();
        if (client.stopped) ++record_.report.stopped;
    }
    if (remedy.resume) {
        auto& client = clients_.at(*remedy.resume);
        if (send_message(client.socket.get(), {"continue"})) client.go_on(monotonic_ms());
    }
}

void GovernedBuild::reread_limits_when_due() {
    const auto now = monotonic_ms();
    if (!watch_.is_due(now)) return;
    watch_.read(watch_.own_bytes(), now);
    take_limit();
}

void GovernedBuild::take_limit() {
    dispatch_.set_limit(watch_.room(), watch_.widest_room());
    record_.report.limit_bytes = watch_.limit().tightest.cap_bytes;
    record_.report.room_bytes = watch_.room().shared;
    record_.report.limit_name = watch_.limit().tightest.name;
}

void GovernedBuild::say_progress() const {
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
    std::fprintf(stderr, "%s\n", render_progress(progress).c_str());
}

}  // namespace wheelyard::governor
