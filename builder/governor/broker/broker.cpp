// An epoll loop around a GovernedBuild: launchers' sockets, timers, and the end of the build.
#include "builder/governor/broker/broker.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "builder/governor/broker/governed_build.hpp"
#include "builder/governor/launch/message.hpp"
#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::int64_t flush_history_ms = 20'000;
constexpr std::int64_t cancel_wait_ms = 2 * term_grace_ms;  // for the compiles of a cancelled build

constexpr int events_at_once = 256;
constexpr TryId listening_id = 0, control_id = 1, first_client_id = 2;

class Broker {
  public:
    Broker(const BrokerPlan& plan, base::Fd listening, base::Fd control, CompileGroups& groups)
        : plan_(plan),
          listening_(std::move(listening)),
          control_(std::move(control)),
          poll_(::epoll_create1(EPOLL_CLOEXEC)),
          build_(plan, groups) {}

    int run() {
        watch(listening_.get(), listening_id);
        watch(control_.get(), control_id);
        std::int64_t next_progress = monotonic_ms() + plan_.progress_s * 1000,
                     next_flush = monotonic_ms() + flush_history_ms;
        while (serve(next_due())) {
            const std::int64_t now = monotonic_ms();
            build_.sample_memory_when_due();
            build_.reread_limits_when_due();
            build_.sample_others_when_due();
            build_.start_what_fits();
            if (plan_.progress_s > 0 && now >= next_progress) {
                build_.print_progress();
                next_progress = now + plan_.progress_s * 1000;
            }
            if (now >= next_flush) {
                build_.flush_history();
                next_flush = monotonic_ms() + flush_history_ms;
            }
        }
        // The compiles of a cancelled build get SIGTERM, and a second later SIGKILL.
        ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, control_.get(), nullptr);
        const std::int64_t until = monotonic_ms() + cancel_wait_ms;
        while (build_.is_stopped() && build_.is_busy() && monotonic_ms() < until)
            serve(until);
        if (build_.is_stopped()) build_.kill_running();
        // Launchers do not wait after "hit", so such messages may still be unread.
        accept_all();
        build_.read_remaining_messages();
        return build_.finish();
    }

  private:
    // When there is something to do without a message.
    [[nodiscard]] std::int64_t next_due() const {
        return std::min(build_.is_busy() ? build_.next_sample() : monotonic_ms() + reread_limits_ms,
                        build_.next_others());
    }

    // Handles messages, and waits for them at most until then. False at the end of the build.
    bool serve(std::int64_t until) {
        const std::int64_t now = monotonic_ms();
        std::array<epoll_event, events_at_once> events;
        const int count =
            ::epoll_wait(poll_.get(), events.data(), events_at_once,
                         static_cast<int>(std::clamp<std::int64_t>(until - now, 0, reread_limits_ms)));
        bool goes_on = true;
        for (int i = 0; i < count; ++i) {
            const auto id = events[static_cast<std::size_t>(i)].data.u64;
            if (id == listening_id) {
                accept_all();
            } else if (id == control_id) {
                char request = 0;  // one byte: the build is cancelled; end of file: it has ended
                if (::read(control_.get(), &request, 1) == 1) {
                    build_.stop();
                } else {
                    goes_on = false;
                }
            } else {
                build_.on_message(id);
            }
        }
        return goes_on;
    }

    void watch(int fd, TryId id) const {
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
                continue;  // root: the folder has mode 0700
            }
            watch(socket.get(), next_id_);
            build_.on_connect(next_id_++, std::move(socket), ::getsid(peer.pid));
        }
    }

    const BrokerPlan& plan_;
    base::Fd listening_, control_, poll_;
    GovernedBuild build_;
    TryId next_id_ = first_client_id;
};

}  // namespace

int run_broker(const BrokerPlan& plan, base::Fd listening, base::Fd control, CompileGroups& groups) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
        ::signal(number, SIG_IGN);
    return Broker(plan, std::move(listening), std::move(control), groups).run();
}

}  // namespace wheelyard::governor
