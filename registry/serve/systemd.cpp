#include "registry/serve/systemd.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>

#include "lib/base/files/fd.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t min_work_ms = 10;  // of CPU time; looking costs less
constexpr int longer_s = 60;              // within which the next extension must come
// The network may answer late: what a start asks of a bucket, a database and other nodes lasts 20 to 60 s
// each, and uses neither CPU nor disk.
constexpr std::chrono::minutes waits_for_others(5);
constexpr std::int64_t systemctl_limit_ms = 5'000;

std::int64_t milliseconds_of(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000;
}

}  // namespace

void notify_systemd(std::string_view state) {
    const char* const socket = std::getenv("NOTIFY_SOCKET");
    if (socket == nullptr) return;
    const std::string_view path = socket;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() < 2 || path.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';  // an abstract one, whose length is its name's
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    const base::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd) return;
    static_cast<void>(::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&address), size));
}

Work Work::so_far() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return {milliseconds_of(used.ru_utime) + milliseconds_of(used.ru_stime),
            used.ru_inblock + used.ru_oublock};
}

bool Work::is_beyond(const Work& before) const {
    return cpu_ms - before.cpu_ms >= min_work_ms || blocks != before.blocks;
}

LongStart::LongStart(std::int64_t pause_ms)
    : extending_(0, pause_ms, [this](base::Clock&) {
          const Work now = Work::so_far();
          const bool may_wait = std::chrono::steady_clock::now() - start_ < waits_for_others;
          if (!may_wait && before_ && !now.is_beyond(*before_)) return;
          before_ = now;
          notify_systemd("EXTEND_TIMEOUT_USEC=" + std::to_string(longer_s) + "000000");
      }) {}

bool is_below(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& folders) {
    const std::filesystem::path normal = std::filesystem::absolute(folder).lexically_normal() / "";
    return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path& one) {
        return normal.native().starts_with((one / "").native());
    });
}

std::optional<ServiceUnit> parse_service_unit(std::string_view shown, const std::filesystem::path& config) {
    std::map<std::string, std::string, std::less<>> properties;
    for (const std::string_view line : base::split_lines(shown)) {
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos)
            properties.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    if (properties["ExecStart"].find(" " + config.string() + " ") == std::string::npos) return std::nullopt;
    ServiceUnit unit;
    unit.user = properties["User"].empty() ? "root" : properties["User"];
    unit.has_low_ports = properties["AmbientCapabilities"].find("cap_net_bind_service") != std::string::npos;
    for (const std::string_view name : base::split(std::string_view(properties["StateDirectory"]), ' ')) {
        if (!name.empty()) unit.made.push_back(std::filesystem::path("/var/lib") / name);
    }
    if (properties["ProtectSystem"] != "strict") {
        unit.writable = {"/"};
        return unit;
    }
    unit.writable = unit.made;
    for (std::string_view path : base::split(std::string_view(properties["ReadWritePaths"]), ' ')) {
        path.remove_prefix(std::min(path.find_first_not_of("-+"), path.size()));
        if (!path.empty()) unit.writable.emplace_back(path);
    }
    return unit;
}

std::optional<ServiceUnit> find_service_unit(const std::filesystem::path& config) {
    if (::geteuid() != 0) return std::nullopt;
    const auto shown = base::run_command(
        {.argv =
             {"systemctl", "show", "wheelyard-registry",
              "--property=ExecStart,User,AmbientCapabilities,StateDirectory,ProtectSystem,ReadWritePaths"},
         .timeout_ms = systemctl_limit_ms});
    if (!shown || shown->exit_code != 0) return std::nullopt;
    return parse_service_unit(shown->out, std::filesystem::absolute(config).lexically_normal());
}

}  // namespace wheelyard::registry
