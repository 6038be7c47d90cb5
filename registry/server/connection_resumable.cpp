// Creates, queries and deletes resumable uploads. Their parts take the path of normal uploads
// (connection_upload.cpp).
#include "registry/http/forwarded.hpp"
#include "registry/http/upload.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

Reply reply_state(int status, const ResumableState& state) {
    Reply reply{status};
    reply.add("Upload-Offset", std::to_string(state.offset_bytes));
    reply.add("Upload-Length", std::to_string(state.length_bytes));
    reply.add("Cache-Control", "no-store");
    return reply;
}

}  // namespace

// POST, HEAD and DELETE, which have no body.
Connection::Task<Reply> Connection::answer_resumable(const RequestHead& head, const Route& route) {
    if (!served_->names.contains(route.index)) co_return reply_problem(unknown_index(route.index));
    const bool creates = route.kind == RouteKind::resumable;
    const std::string allowed = allowed_methods(route);
    if (creates ? head.method != "POST" : head.method != "HEAD" && head.method != "DELETE")
        co_return reply_method_not_allowed(head.method, allowed);
    if (shared_.resumable == nullptr)
        co_return reply_problem(wire::make_problem("upload.not_resumable", "Not found",
                                                   "This server does not support resumable uploads.", {},
                                                   "send the complete form to /<index>/legacy/"));
    if (creates && !head.upload_length)
        co_return reply_problem(
            wire::make_problem("upload.no_length", "Upload-Length is required",
                               "A resumable upload must declare the length of its complete form.", {},
                               "send Upload-Length in bytes"));
    const UploadHead upload{request_id_, route.index, head.authorization, head.content_type,
                            head.upload_length};
    PoolJob job(shared_.pool, socket_.executor());
    Answered<ResumableState> state;
    job.start([&] {
        if (creates) {
            state = shared_.resumable->create(upload);
        } else if (head.method == "HEAD") {
            state = shared_.resumable->find(upload, route.upload_id);
        } else if (auto dropped = shared_.resumable->drop(upload, route.upload_id); !dropped) {
            state = tl::unexpected(std::move(dropped.error()));
        }
    });
    const bool ran = co_await job.join();
    if (!ran) co_return reply_problem(problem_to_repeat());
    if (!state) co_return reply_problem(state.error());
    if (head.method == "DELETE") co_return Reply{204};
    Reply reply = reply_state(creates ? 201 : 204, *state);
    if (creates)
        reply.add("Location",
                  relative_url(path_of_target(head.target), "/" + route.index + "/uploads/" + state->id));
    co_return reply;
}

}  // namespace wheelyard::http
