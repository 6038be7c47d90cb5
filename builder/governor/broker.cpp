// An epoll loop. Launchers ask, Dispatch answers, samples correct it.
#include "builder/governor/broker.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "builder/governor/dispatch.hpp"
#include "builder/governor/history.hpp"
#include "builder/governor/limits.hpp"
#include "builder/governor/message.hpp"
#include "builder/governor/process_tree.hpp"
#include "builder/governor/report.hpp"
#include "builder/governor/surprise.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/file.hpp"
#include "lib/base/process.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::int64_t micros_per_day = 86'400'000'000;
constexpr int events_at_once = 256;

std::int64_t monotonic_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

struct Client {
    enum class State { silent, waiting, running } state = State::silent;
    base::Fd socket;
    Facts facts;
    bool cached = false, known = false;
    pid_t pid = 0, session = 0;
    std::int64_t start_ms = 0;
    std::uint64_t age = 0, oom_kills_before = 0;
    double bytes = 0, peak = 0, predicted = 0;
    bool stopped = false, was_stopped = false, dying = false;
    unsigned lane = 0;
};

class Broker {
  public:
    Broker(const BrokerPlan& plan, base::Fd listening, base::Fd control)
        : plan_(plan),
          listening_(std::move(listening)),
          control_(std::move(control)),
          poll_(::epoll_create1(EPOLL_CLOEXEC)),
          limits_("", base::current_environment(), plan.setting_bytes, plan.pbs_bytes),
          cores_(plan.cores > 0 ? plan.cores : limits_.cores()),
          dispatch_(cores_, recall()),
          begun_ms_(monotonic_ms()) {
        report_.cores = cores_;
    }

    int run() {
        watch(listening_.get(), 0);
        watch(control_.get(), 1);
        reread_limits();
        std::int64_t next_sample = 0, next_progress = begun_ms_ + plan_.progress_s * 1000,
                     next_flush = begun_ms_ + flush_history_ms;
        std::array<epoll_event, events_at_once> events;
        for (bool over = false; !over;) {
            const bool busy = dispatch_.admission().running() > 0;
            const std::int64_t now = monotonic_ms();
            const std::int64_t until = busy ? next_sample : now + reread_limits_ms;
            const int count =
                ::epoll_wait(poll_.get(), events.data(), events_at_once,
                             static_cast<int>(std::clamp<std::int64_t>(until - now, 0, reread_limits_ms)));
            for (int i = 0; i < count; ++i) {
                const auto id = events[static_cast<std::size_t>(i)].data.u64;
                if (id == 0) {
                    accept_all();
                } else if (id == 1) {
                    over = true;
                } else {
                    hear(id);
                }
            }
            const std::int64_t then = monotonic_ms();
            if (then >= next_sample) next_sample = then + sample();
            if (then - limits_read_ms_ >= reread_limits_ms) reread_limits();
            start_what_fits();
            if (plan_.progress_s > 0 && then >= next_progress) {
                say_progress();
                next_progress = then + plan_.progress_s * 1000;
            }
            if (then >= next_flush) {
                flush_history();
                next_flush = monotonic_ms() + flush_history_ms;
            }
        }
        return finish();
    }

  private:
    Predictor recall() {
        Predictor predictor;
        if (plan_.history.empty()) return predictor;
        std::string complaint;
        for (const auto& [key, record] : load_history(plan_.history, complaint))
            predictor.recall(key, record);
        if (!complaint.empty()) note("the history cannot be used: " + complaint);
        return predictor;
    }

    void note(std::string sentence) {
        for (char& c : sentence) {  // a value quoted from a broken file may hold anything
            if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
        }
        std::fprintf(stderr, "governor: %s\n", sentence.c_str());
        if (report_.messages.size() < 1000) report_.messages.push_back(sentence);
    }

    void watch(int fd, std::uint64_t id) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = id;
        ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
    }

    void accept_all() {
        while (true) {
            base::Fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!socket) return;
            ucred peer{};
            socklen_t size = sizeof peer;
            if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
                peer.uid != ::getuid()) {
                continue;  // the folder is 0700, so this is root or a mistake
            }
            const auto id = next_id_++;
            watch(socket.get(), id);
            auto& client = clients_[id];
            client.socket = std::move(socket);
            client.session = ::getsid(peer.pid);
        }
    }

    void hear(TryId id) {
        const auto found = clients_.find(id);
        if (found == clients_.end()) return;
        const auto message = receive_message(found->second.socket.get(), false);
        if (message.empty()) {
            if (errno != EAGAIN && errno != EWOULDBLOCK) lose(id);
        } else if (message[0] == "ask" && message.size() == 8 &&
                   found->second.state == Client::State::silent) {
            ask(id, found->second, message);
        } else if (message[0] == "started" && message.size() == 2) {
            found->second.pid = static_cast<pid_t>(base::parse_decimal(message[1]).value_or(0));
        } else if (message[0] == "ended" && message.size() == 5 &&
                   found->second.state == Client::State::running) {
            ended(id, found->second, message);
        } else {
            lose(id);
        }
    }

    void ask(TryId id, Client& client, const std::vector<std::string>& message) {
        client.facts.source = message[1];
        client.facts.arguments = message[2];
        client.facts.compiler = version_of(message[3]);
        client.facts.language = message[4];
        client.facts.architectures = message[5];
        client.facts.threads = static_cast<unsigned>(
            std::clamp<std::uint64_t>(base::parse_decimal(message[6]).value_or(1), 1, 64));
        client.cached = message[7] == "1";
        client.known = dispatch_.predictor().knows(client.facts);
        client.state = Client::State::waiting;
        dispatch_.arrive(id, client.facts);
        report_.most_waiting = std::max<std::uint64_t>(report_.most_waiting, dispatch_.admission().waiting());
    }

    // The first line of `compiler --version`, asked once for each file on disk.
    std::string version_of(const std::string& compiler) {
        struct stat status {};
        const bool there = ::stat(compiler.c_str(), &status) == 0;
        const std::string name = compiler + '\t' + (there ? std::to_string(status.st_mtime) : "");
        if (const auto found = versions_.find(name); found != versions_.end()) return found->second;
        base::Command command;
        command.argv = {compiler, "--version"};
        command.timeout_ms = version_timeout_ms;
        const auto finished = base::run_command(command);
        std::string version = compiler.substr(compiler.rfind('/') + 1);
        if (finished && finished->exit_code == 0) {
            const auto lines = base::split_lines(finished->out);
            if (!lines.empty()) version += " " + std::string(lines[0].substr(0, 120));
        }
        return versions_[name] = version;
    }

    void start_what_fits() {
        if (dispatch_.admission().waiting() == 0) return;
        const auto now = monotonic_ms();
        for (const auto id : dispatch_.start(static_cast<double>(now) / 1000)) {
            auto& client = clients_.at(id);
            client.state = Client::State::running;
            client.start_ms = now;
            client.age = ++age_;
            client.pid = 0;
            client.bytes = client.peak = 0;
            client.stopped = client.was_stopped = client.dying = false;
            client.oom_kills_before = oom_kills_;
            client.predicted = dispatch_.need(id).typical_bytes;
            client.lane = free_lanes_.empty() ? lanes_++ : *free_lanes_.begin();
            free_lanes_.erase(client.lane);
            if (!send_message(client.socket.get(), {"run"})) lost_later_.push_back(id);
        }
        report_.most_running = std::max<std::uint64_t>(report_.most_running, dispatch_.admission().running());
        for (const auto id : std::exchange(lost_later_, {}))
            lose(id);
    }

    bool wants_timeline() const { return !plan_.trace.empty() || !plan_.svg.empty(); }

    void record_try(Client& client, const char* end) {
        free_lanes_.insert(client.lane);
        if (wants_timeline() && report_.tries.size() < most_trace_entries) {
            report_.tries.push_back({client.facts.source, client.start_ms - begun_ms_,
                                     monotonic_ms() - begun_ms_, client.peak, client.predicted, end,
                                     client.lane});
        }
    }

    void ended(TryId id, Client& client, const std::vector<std::string>& message) {
        const int status = static_cast<int>(base::parse_decimal(message[1]).value_or(1));
        const double maxrss = static_cast<double>(base::parse_decimal(message[2]).value_or(0)) * 1024;
        const bool clue = message[4] == "1";
        client.peak = std::max(client.peak, maxrss);
        report_.high_water_bytes = std::max(report_.high_water_bytes, maxrss);
        const double wall_s = static_cast<double>(monotonic_ms() - client.start_ms) / 1000;
        const double cpu_s = static_cast<double>(base::parse_decimal(message[3]).value_or(0)) / 1000;
        const double seconds = client.was_stopped ? cpu_s : wall_s;
        report_.compile_seconds += seconds;
        if (status == 0) return ended_well(id, client, seconds);
        const auto verdict = judge(id, client, clue);
        if (verdict == Verdict::again) {
            client.state = Client::State::waiting;
            if (!send_message(client.socket.get(), {"again"})) lose(id);
            return;
        }
        ++report_.failed;
        ++report_.compiles;
        // A launcher that is gone needs no answer.
        (void)send_message(client.socket.get(), why_.empty() ? std::vector<std::string>{"done"}
                                                             : std::vector<std::string>{"fail", why_});
        dispatch_.ended(id, 0, 0, false);
        clients_.erase(id);
    }

    void ended_well(TryId id, Client& client, double seconds) {
        record_try(client, "ok");
        ++report_.compiles;
        const bool measured = !(client.cached && client.peak < static_cast<double>(cache_hit_bytes));
        if (measured) {
            report_.note_worst({client.facts.source, client.peak, seconds});
            if (client.known) {
                ++report_.known;
                if (client.predicted > 0)
                    report_.prediction_errors.push_back(std::abs(client.peak / client.predicted - 1));
            }
            remember(client.facts, client.peak, seconds, 0);
        }
        dispatch_.ended(id, client.peak, seconds, measured);
        clients_.erase(id);
    }

    // A compile ended badly: of memory, of a mystery, or by itself? Leaves the sentence for people in why_.
    Verdict judge(TryId id, Client& client, bool clue) {
        why_.clear();
        const auto kills_now = limits_.oom_kills();
        const bool kernel = kills_now > client.oom_kills_before;
        oom_kills_ = kills_now;
        const bool pressure = monotonic_ms() - pressure_ms_ < pressure_memory_ms;
        if (client.dying || (clue && (kernel || pressure))) {
            record_try(client, client.dying ? "killed" : "oom");
            ++(client.dying ? report_.killed : report_.oom_kills);
            remember(client.facts, 0, 0, client.peak);
            const auto verdict = dispatch_.killed_for_memory(id, client.peak);
            if (verdict == Verdict::give_up) {
                ++report_.gave_up;
                why_ = client.facts.source + " does not fit: it was killed at " + size(client.peak) +
                       " while it ran alone, and the limit is " + limit_.text() +
                       "; give the build more memory, or this file lighter options";
                note(why_);
            } else {
                note(client.facts.source +
                     (client.dying ? " was killed at " : " was killed by the kernel at ") +
                     size(client.peak) + " and will run again");
            }
            return verdict;
        }
        record_try(client, "failed");
        if (!clue) return Verdict::give_up;
        const auto verdict = dispatch_.died_unexplained(id);
        if (verdict == Verdict::again) {
            ++report_.unexplained;
            note(client.facts.source +
                 " died as if killed, without a sign of memory pressure; once more, alone");
        }
        return verdict;
    }

    static std::string size(double bytes) { return base::render_bytes(static_cast<std::uint64_t>(bytes)); }

    // A launcher that went away frees what it held; what its compile left running is ended.
    void lose(TryId id) {
        const auto found = clients_.find(id);
        if (found == clients_.end()) return;
        auto& client = found->second;
        if (client.state == Client::State::running) {
            record_try(client, "lost");
            ++report_.lost;
            if (client.pid > 1) {
                for (const auto pid : members_of(client.pid, client.session))
                    ::kill(pid, SIGKILL);
            }
        }
        dispatch_.leave(id);
        clients_.erase(found);
    }

    void remember(const Facts& facts, double peak, double seconds, double at_least) {
        if (plan_.history.empty()) return;
        Observation observation;
        observation.key = key_of(facts);
        observation.seen.source = facts.source;
        observation.seen.compiler = facts.compiler;
        observation.seen.language = facts.language;
        observation.seen.architectures = facts.architectures;
        observation.seen.peak_bytes = peak;
        observation.seen.seconds = seconds;
        observation.seen.at_least_bytes = at_least;
        observation.seen.last_day = base::SystemClock{}.now() / micros_per_day;
        unwritten_.push_back(std::move(observation));
    }

    void flush_history() {
        if (unwritten_.empty()) return;
        const auto stored = store_observations(plan_.history, unwritten_, base::SystemClock{});
        if (stored) {
            unwritten_.clear();
        } else if (!history_complained_) {
            history_complained_ = true;
            note("the history cannot be written: " + stored.error().text());
        }
    }

    // Looks at every running compile; returns the milliseconds to the next look.
    std::int64_t sample() {
        double own = 0;
        std::vector<RunningView> views;
        for (auto& [id, client] : clients_) {
            if (client.state != Client::State::running) continue;
            if (client.pid > 1) client.bytes = tree_bytes(client.pid);
            client.peak = std::max(client.peak, client.bytes);
            own += client.bytes;
            dispatch_.observe(id, client.bytes);
            views.push_back({id, client.age, client.bytes, client.stopped, client.dying});
        }
        own_bytes_ = own;
        report_.high_water_bytes = std::max(report_.high_water_bytes, own);
        if (own > room_ * pressure_above) {
            pressure_ms_ = monotonic_ms();
            reread_limits();  // what others use may just have changed
        }
        if (wants_timeline() && report_.memory.size() < most_trace_entries && !views.empty()) {
            report_.memory.emplace_back(monotonic_ms() - begun_ms_, own);
        }
        apply(find_remedy(views, room_, room_ + reserve_of(limit_.tightest.cap_bytes)));
        return own > room_ * sample_often_above ? sample_often_ms : sample_seldom_ms;
    }

    void apply(const Remedy& remedy) {
        if (remedy.kill) {
            auto& client = clients_.at(*remedy.kill);
            client.dying = send_message(client.socket.get(), {"kill"});
        }
        if (remedy.stop) {
            auto& client = clients_.at(*remedy.stop);
            client.stopped = client.was_stopped = send_message(client.socket.get(), {"stop"});
            ++report_.stopped;
        }
        if (remedy.resume) {
            auto& client = clients_.at(*remedy.resume);
            client.stopped = !send_message(client.socket.get(), {"continue"});
        }
    }

    void reread_limits() {
        limit_ = limits_.read(own_bytes_);
        limits_read_ms_ = monotonic_ms();
        room_ = limit_.room_bytes;
        oom_kills_ = limits_.oom_kills();
        dispatch_.set_limit(room_);
        report_.limit_bytes = limit_.tightest.cap_bytes;
        report_.room_bytes = room_;
        report_.limit_name = limit_.tightest.name;
    }

    void say_progress() {
        const auto& admission = dispatch_.admission();
        if (plan_.quiet || admission.waiting() + admission.running() == 0) return;
        Progress progress;
        progress.done = report_.compiles;
        progress.running = admission.running();
        progress.waiting = admission.waiting();
        progress.again = report_.killed + report_.oom_kills + report_.unexplained;
        progress.used_bytes = own_bytes_;
        progress.room_bytes = room_;
        progress.left_seconds = admission.left_s();
        std::fprintf(stderr, "%s\n", render_progress(progress).c_str());
    }

    int finish() {
        flush_history();
        report_.wall_seconds = static_cast<double>(monotonic_ms() - begun_ms_) / 1000;
        if (!plan_.quiet && report_.compiles + report_.lost > 0) {
            std::fputs(render_summary(report_).c_str(), stderr);
        }
        int status = 0;
        for (const auto& [file, text] :
             {std::pair{&plan_.json, &render_json}, std::pair{&plan_.trace, &render_trace},
              std::pair{&plan_.svg, &render_svg}}) {
            if (file->empty()) continue;
            if (const auto written = base::replace_file(*file, text(report_)); !written) {
                note(written.error().text());
                status = 1;
            }
        }
        return status;
    }

    const BrokerPlan& plan_;
    base::Fd listening_, control_, poll_;
    BuildReport report_;
    LimitReader limits_;
    unsigned cores_;
    Dispatch dispatch_;
    MemoryLimit limit_;
    double room_ = 0, own_bytes_ = 0;
    std::int64_t begun_ms_, limits_read_ms_ = 0, pressure_ms_ = -pressure_memory_ms;
    std::uint64_t oom_kills_ = 0, age_ = 0;
    TryId next_id_ = 2;  // 0 and 1 are the listening socket and the control pipe
    std::map<TryId, Client> clients_;
    std::vector<TryId> lost_later_;
    std::map<std::string, std::string> versions_;
    std::vector<Observation> unwritten_;
    std::set<unsigned> free_lanes_;
    unsigned lanes_ = 0;
    bool history_complained_ = false;
    std::string why_;
};

}  // namespace

int run_broker(const BrokerPlan& plan, base::Fd listening, base::Fd control) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        ::signal(number, SIG_IGN);
    return Broker(plan, std::move(listening), std::move(control)).run();
}

}  // namespace wheelyard::governor
