#include "registry/serve/control_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <future>
#include <utility>

#include "lib/base/version.hpp"
#include "lib/io/log.hpp"
#include "registry/access/person.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

constexpr std::size_t max_commands_at_once = 16;  // further ones wait for the greeting
constexpr std::int64_t request_ms = 5'000;        // to send what is asked
constexpr std::chrono::milliseconds page_poll{100};

Json problem_json(const wire::Problem& problem) {
    return Json::object({{"problem", wire::problem_to_json(problem)}});
}

wire::Problem failed(const char* what) {
    io::log_error("control.threw", {{"what", what}});
    return wire::make_problem("server.internal", "Internal server error", "Internal error", what,
                              "see the server's log");
}

}  // namespace

// What the thread of an operation and that of its connection know of each other.
struct ControlServer::Work {
    std::atomic<bool> is_unwanted = false;
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> of = 0;

    base::Status note(std::uint64_t done_now, std::uint64_t of_all) {
        done = done_now;
        of = of_all;
        if (!is_unwanted) return {};
        return base::fail("lifecycle.stopped", "It was stopped; what was done until then stays so", {},
                          "repeat the command: it does the rest");
    }
};

base::Result<std::unique_ptr<ControlServer>> ControlServer::open(const std::filesystem::path& store, Api& api,
                                                                 PublishQueue& pages) {
    WHEELYARD_ASSIGN(base::Fd listener, listen_for_commands(store));
    base::Fd stop(::eventfd(0, EFD_CLOEXEC));
    if (!stop) return base::fail_errno("eventfd", store.native(), errno);
    return std::unique_ptr<ControlServer>(
        new ControlServer(store, api, pages, std::move(listener), std::move(stop)));
}

ControlServer::ControlServer(const std::filesystem::path& store, Api& api, PublishQueue& pages,
                             base::Fd listener, base::Fd stop)
    : store_(store), api_(api), pages_(pages), listener_(std::move(listener)), stop_(std::move(stop)) {
    for (std::size_t i = 0; i < max_commands_at_once; ++i)
        threads_.emplace_back([this] { accept(); });
}

ControlServer::~ControlServer() {
    is_stopping_ = true;
    ::eventfd_write(stop_.get(), 1);
    if (const auto removed = remove_control_socket(store_); !removed)
        io::log_warn("control.not_removed", {{"error", removed.error().text()}});
    for (std::thread& thread : threads_)
        thread.join();
}

void ControlServer::accept() {
    while (!is_stopping_) {
        pollfd any[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
        if (::poll(any, std::size(any), -1) < 0 || is_stopping_) continue;
        base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket && errno != EAGAIN) std::this_thread::sleep_for(page_poll);  // no descriptors are left
        if (!socket) continue;
        try {
            serve(ControlConnection(std::move(socket)));
        } catch (const std::exception& error) {  // out of memory for one command
            io::log_error("control.threw", {{"what", error.what()}});
        }
    }
}

// The mode of the socket may be changed, the owner of the store not by others.
bool ControlServer::may_ask(uid_t user) const {
    struct stat of_store {};
    return user == 0 || (::stat(store_.c_str(), &of_store) == 0 && user == of_store.st_uid);
}

void ControlServer::serve(ControlConnection connection) const {
    const auto user = connection.peer();
    Json greeting = Json::object({{"format", control_format}, {"version", WHEELYARD_VERSION}});
    const bool is_refused = !user || !may_ask(*user);
    if (is_refused) {
        const std::string who = user ? local_actor(*user) : user.error().text();
        io::log_warn("control.refused", {{"user", who}});
        greeting.set("problem", wire::problem_to_json({.status = 403,
                                                       .code = "control.refused",
                                                       .title = "Refused",
                                                       .detail = "Only root and the owner of the store may "
                                                                 "ask its server here",
                                                       .value = who,
                                                       .advice = {}}));
    }
    if (connection.write(greeting) && !is_refused) answer(connection, local_actor(*user));
}

void ControlServer::answer(ControlConnection& connection, const std::string& actor) const {
    const auto asked = connection.read(request_ms);
    if (!asked) return;
    Work work;
    auto answer = std::async(std::launch::async, [&] { return perform(*asked, actor, work); });
    while (answer.wait_for(std::chrono::milliseconds(control_alive_ms)) != std::future_status::ready) {
        const Json alive = Json::object({{"done", work.done.load()}, {"of", work.of.load()}});
        if (is_stopping_ || !connection.write(alive)) work.is_unwanted = true;
    }
    (void)connection.write(answer.get());  // who has gone needs none
}

Json ControlServer::perform(const Json& asked, const std::string& actor, Work& work) const try {
    const Json* arguments = asked.find("arguments");
    auto answer = api_.answer_locally(asked.string_or("operation", ""),
                                      arguments == nullptr ? Json::object() : *arguments, actor,
                                      [&work](auto done, auto of) { return work.note(done, of); });
    if (!answer) return problem_json(answer.error());
    if (answer->when_visible) {
        const auto shown = std::make_shared<std::promise<bool>>();
        auto is_shown = shown->get_future();
        answer->when_visible([shown](bool visible) { shown->set_value(visible); });
        while (is_shown.wait_for(page_poll) != std::future_status::ready)
            if (work.is_unwanted) return problem_json(answer->if_not_visible);
        if (!is_shown.get() || !pages_.write_late_roots()) return problem_json(answer->if_not_visible);
    }
    return Json::object({{"answer", answer->text ? *std::move(answer->text) : std::move(answer->json)}});
} catch (const std::exception& error) {
    return problem_json(failed(error.what()));
}

}  // namespace wheelyard::registry
