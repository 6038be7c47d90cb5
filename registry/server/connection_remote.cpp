// Files whose bytes are in a blob store: the tree has said that the client may have them, and which bytes it
// wants.
#include "registry/server/connection.hpp"
#include "registry/server/limits.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {
namespace {

wire::Problem store_late(const std::string& filename) {
    return wire::make_problem("file.store", "The registry's blob store does not answer",
                              "The store that has this file does not answer now.", filename,
                              "try again shortly");
}

}  // namespace

// HEAD has been answered by then: the URL is signed for GET only. A URL is a key for anyone who has it, so
// files of private indexes are passed on.
Connection::Task<Reply> Connection::answer_remote(const Route& route, Reply reply) {
    const RemoteFile file = std::get<RemoteFile>(reply.body);
    RemoteFileService* const store = shared_.settings.remote_files;
    if (store == nullptr) co_return reply_problem(store_late(file.filename));
    if (!is_private(route)) {
        if (const auto url = store->url_for(file)) {
            Reply redirect{307};
            redirect.add("Location", *url);
            redirect.add("Cache-Control", "no-cache");  // the URL ends before any other age
            co_return redirect;
        }
    }
    const auto found = std::make_shared<RemoteAnswer>();
    PageWait arrival(socket_.executor());
    store->fetch(file, [found, done = arrival.answer()](RemoteAnswer answer) {
        *found = std::move(answer);
        done(true);
    });
    const std::optional<bool> came = co_await arrival.wait(upstream_file_wait_ms);
    if (!came) co_return reply_problem(store_late(file.filename));
    if (!found->arriving) co_return reply_problem(found->problem);
    reply.body = found->arriving;
    co_return reply;
}

}  // namespace wheelyard::http
