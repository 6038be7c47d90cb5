// Starts the phases, serves until a signal, and stops them.
#include "registry/serve/serve.hpp"

#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/io/log.hpp"
#include "registry/access/person.hpp"
#include "registry/serve/phases.hpp"
#include "registry/serve/systemd.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

// Blocks SIGTERM, SIGINT and SIGHUP in every thread, and so before any thread starts, and waits for them in
// one place.
class StopSignals {
  public:
    StopSignals() {
        ::sigemptyset(&signals_);
        ::sigaddset(&signals_, SIGTERM);
        ::sigaddset(&signals_, SIGINT);
        ::sigaddset(&signals_, SIGHUP);
        ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        std::signal(SIGPIPE, SIG_IGN);  // a disconnected client is an error of its connection only
    }
    siginfo_t wait() {
        siginfo_t received{};
        while (::sigwaitinfo(&signals_, &received) < 0) {
        }
        return received;
    }
    // From here on a second signal ends the process at once, which is as safe as a crash.
    void release() { ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr); }

  private:
    sigset_t signals_{};
};

std::string url_of(const http::ListenPoint& point, std::uint16_t port) {
    if (!point.unix_socket.empty()) return "unix:" + point.unix_socket.string();
    const bool ipv6 = point.address.find(':') != std::string::npos;
    std::string url = point.tls ? "https://" : "http://";
    url += ipv6 ? "[" + point.address + "]" : point.address;
    return url + ":" + std::to_string(port);
}

// Waits for the signal that stops the server; SIGHUP reloads the certificate and applies a changed
// configuration.
int serve_until_stopped(StopSignals& stop, http::Server& server, IndexApply& indexes) {
    for (;;) {
        const siginfo_t received = stop.wait();
        if (received.si_signo != SIGHUP) return received.si_signo;
        if (const auto reloaded = server.reload_certificate(); !reloaded)
            io::log_error("serve.reload_failed", {{"error", reloaded.error().text()}});
        else
            io::log_info("serve.reloaded");
        indexes.on_signal(received.si_code == SI_USER ? local_actor(received.si_uid) : "configuration");
    }
}

// Requests are answered from here on.
base::Status announce(const http::Server& server, const RegistryConfig& config,
                      const std::filesystem::path& ready_file) {
    for (std::size_t i = 0; i < config.server.listen.size(); ++i)
        base::print(stdout, "listening on %s\n", url_of(config.server.listen[i], server.port(i)).c_str());
    std::fflush(stdout);
    const std::string url = url_of(config.server.listen.front(), server.port());
    if (!ready_file.empty())
        WHEELYARD_TRY(base::acting_as(base::FileUser::caller,
                                      [&] { return base::replace_file(ready_file, url + "\n"); }));
    io::log_info("serve.ready", {{"url", url}, {"store", config.store.string()}});
    notify_systemd("READY=1\nSTATUS=listening on " + url);
    return {};
}

void drain(int signal, Doors& doors, Upstreams& upstreams, const blobs::BlobStore& blobs, LastUsed& last_used,
           const base::Clock& clock) {
    io::log_info("serve.draining", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    notify_systemd("STOPPING=1");
    doors.control.reset();
    upstreams.stop();  // a request that waits for a large file would outlast the drain
    blobs.stop_waiting();
    doors.server.drain();
    if (const auto saved = last_used.save(clock.now()); !saved)
        io::log_warn("upstream.last_used_not_saved", {{"error", saved.error().text()}});
    io::log_info("serve.stopped");
}

}  // namespace

base::Status run_serve(const ServeArguments& arguments, const OpenPublisher& open_publisher,
                       const RenderProject& render, const ShowStatus& show_status, const base::Clock& clock) {
    StopSignals stop;
    WHEELYARD_ASSIGN(const RegistryConfig file, read_config(arguments.config));
    io::log_as_json(file.server.log_json);
    if (arguments.check) {
        const auto unit = find_service_unit(arguments.config);
        WHEELYARD_TRY(base::stay_owner_of(file.store));
        WHEELYARD_ASSIGN(const RegistryConfig as_server, read_config(arguments.config));
        return check_configuration(as_server, unit);
    }
    base::become_owner_of(file.store);
    std::optional<LongStart> starting(std::in_place);
    WHEELYARD_TRY(check_start(file));
    const Program program{open_publisher, render, show_status, clock};
    WHEELYARD_ASSIGN(const auto claim, Claim::take(file, program));
    // A ready file of an earlier run would be wrong while this run starts.
    if (!arguments.ready_file.empty())
        WHEELYARD_TRY(
            base::acting_as(base::FileUser::caller, [&] { return base::remove_file(arguments.ready_file); }));
    WHEELYARD_ASSIGN(const auto kept, KeptParts::open(*claim));
    WHEELYARD_ASSIGN(const auto shown, Shown::show(*claim, *kept));
    PublishQueue& pages = shown->pages;
    WHEELYARD_ASSIGN(const auto services, ServingParts::open(*claim, *kept, pages));
    const Chores chores(*claim, *kept, pages, *services);
    WHEELYARD_ASSIGN(const auto doors, Doors::open(*claim, *kept, pages, *services, chores));
    starting.reset();
    WHEELYARD_TRY(announce(doors->server, claim->config, arguments.ready_file));
    const int signal = serve_until_stopped(stop, doors->server, services->indexes);
    stop.release();
    drain(signal, *doors, *services->upstreams, *kept->blobs, *services->last_used, clock);
    return {};
}

}  // namespace wheelyard::registry
