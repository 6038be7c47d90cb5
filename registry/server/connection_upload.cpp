// The upload side of a connection: moves body bytes from the socket to the pool.
//
// Double buffering: the I/O thread fills one buffer while the pool hashes and writes the other. An upload
// uses two buffers whatever the wheel's size, feeds its pieces in order, and neither side waits longer than
// one buffer takes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "lib/base/limits.hpp"
#include "lib/io/log.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

// Two per upload: one is filled while the other is written.
constexpr std::size_t upload_buffer_bytes = 1 * base::mib;
// Uploads that wait for others of their token; each holds a connection.
constexpr std::size_t max_waiting_uploads = 256;

wire::Problem all_uploads_busy() {
    return wire::make_problem("upload.busy", "Too many uploads",
                              "The server has reached its limit of concurrent uploads.", {},
                              "try again shortly");
}

wire::Problem page_lags(const std::string& filename) {
    return wire::make_problem(
        "upload.page_lags", "Stored, but its page is not published yet: try again",
        "The file is stored and committed, but the page that shows it is not published yet.", filename,
        "send the same file again: this is safe and returns 200 once the page is published");
}

}  // namespace

wire::Problem Connection::token_busy() const {
    return wire::make_problem("upload.token_busy", "This token has too many uploads in progress",
                              "The server has reached its limit of concurrent uploads of one token.",
                              std::to_string(shared_.settings.max_token_uploads),
                              "try again when one of them has ended");
}

wire::Problem Connection::problem_to_repeat() {
    return internal_problem("try again; if it persists, report the request ID to the administrator");
}

// Runs on the pool.
Answered<std::unique_ptr<UploadRequest>> Connection::begin_upload(const RequestHead& head,
                                                                  const Route& route) const {
    const UploadHead upload_head{request_id_, route.index, head.authorization, head.content_type,
                                 head.content_length};
    if (route.kind == RouteKind::upload) return shared_.uploads.begin(upload_head);
    if (shared_.resumable == nullptr)
        return wire::refuse("upload.not_resumable", "Not found",
                            "This server does not support resumable uploads.", {},
                            "send the complete form to /<index>/legacy/");
    if (!head.upload_offset)
        return wire::refuse("upload.no_offset", "Upload-Offset is required",
                            "A part of an upload must declare the offset at which it continues.", {},
                            "get the offset with HEAD");
    return shared_.resumable->append(upload_head, route.upload_id, *head.upload_offset);
}

wire::Problem Connection::problem_of_body(bool late) {
    if (late)
        return wire::make_problem("request.timeout", "Request timeout",
                                  "The request body arrived too slowly.", {}, "try again");
    return wire::make_problem("request.chunk", "Bad request", "The framing of the chunked body is invalid.",
                              {}, "check the client, or a proxy in between");
}

std::optional<wire::Problem> Connection::problem_before_body(const RequestHead& head,
                                                             const Route& route) const {
    if (!served_->names.contains(route.index)) return unknown_index(route.index);
    if (!head.chunked && !head.content_length)
        return wire::make_problem("upload.length_required", "Length required",
                                  "An upload needs a Content-Length or chunked encoding.", {},
                                  "send Content-Length or chunks");
    return std::nullopt;
}

Connection::Task<bool> Connection::receive_upload(const RequestHead& head, const Route& route) {
    Body body;
    body.chunked = head.chunked;
    body.left = head.content_length.value_or(0);
    UploadOutcome outcome;
    // The slot is released before the reply: a client that reads slowly blocks no other uploads.
    co_await run_upload(head, route, body, outcome);
    if (!outcome.client_is_there) {
        loop_.metrics().count_cut_upload();
        io::log_info("upload.cut", {{"request", request_id_}, {"index", route.index}});
        co_return false;
    }
    Reply reply = outcome.problem ? reply_problem(*outcome.problem) : reply_uploaded(outcome.done);
    bool again = false;
    if (body.ended())
        again = co_await send(head, reply, false);
    else
        again = co_await send_and_linger(head, reply);
    co_return again;
}

// A client may send a dozen files at once, and twine gives up at the first 503: what is above the limit of
// its token waits for the others, without a slot that another token could use.
Connection::Task<bool> Connection::wait_for_slot(std::optional<OwnerSlots::Held>& slot,
                                                 const std::string& owner) {
    constexpr std::int64_t turn_ms = 50;
    const auto take = [&] {
        slot.emplace(shared_.uploads_now, owner, shared_.settings.max_uploads,
                     shared_.settings.max_token_uploads);
        return slot->taken();
    };
    if (take()) co_return true;
    const Slot waiting(shared_.uploads_waiting, max_waiting_uploads);
    for (std::int64_t left_ms = shared_.settings.token_wait_ms; left_ms > 0 && waiting.taken();
         left_ms -= turn_ms) {
        if (shared_.draining) break;
        PageWait turn(socket_.executor());
        co_await turn.wait(turn_ms);
        if (take()) co_return true;
    }
    co_return false;
}

Connection::Task<void> Connection::run_upload(const RequestHead& head, const Route& route, Body& body,
                                              UploadOutcome& outcome) {
    outcome.problem = problem_before_body(head, route);
    if (outcome.problem) co_return;

    PoolJob job(shared_.pool, socket_.executor());
    Answered<std::unique_ptr<UploadRequest>> request;
    job.start([&] { request = begin_upload(head, route); });
    const bool began = co_await job.join();
    if (!began || !request) {
        outcome.problem = began ? std::move(request.error()) : problem_to_repeat();
        co_return;
    }
    // Only now, so that who may not upload takes no place from those who may.
    std::optional<OwnerSlots::Held> slot;
    if (shared_.uploads_now.now() >= shared_.settings.max_uploads) {
        outcome.problem = all_uploads_busy();
    } else if (const bool has_slot = co_await wait_for_slot(slot, (*request)->owner()); !has_slot) {
        loop_.metrics().count_token_busy_upload();
        outcome.problem = token_busy();
    }

    if (!outcome.problem && head.expects_continue && buffered().empty() && !body.ended())
        outcome.client_is_there = co_await write("HTTP/1.1 100 Continue\r\n\r\n", {}, false);
    if (outcome.client_is_there && !outcome.problem)
        outcome.client_is_there = co_await pump_body(body, **request, job, outcome.problem);

    PageWait page(socket_.executor());
    bool committed = false;
    if (outcome.client_is_there && !outcome.problem) {
        phase_ = Phase::committing;
        Answered<UploadDone> finished;
        job.start([&] { finished = (*request)->finish(); });
        const bool ran = co_await job.join();
        committed = ran && finished;
        if (committed) {
            outcome.done = std::move(*finished);
            (*request)->when_visible(page.answer());
        } else {
            outcome.problem = ran ? std::move(finished.error()) : problem_to_repeat();
        }
    }
    // Undo what was not committed on the pool, because it touches the disk.
    job.start([&] { request->reset(); });
    co_await job.join();
    if (!committed) co_return;
    co_await await_page(page, outcome);
    if (outcome.problem || !outcome.done.clean_up) co_return;
    job.start(outcome.done.clean_up);
    co_await job.join();
}

// "Uploaded" means "installable". The wait occupies no pool thread, so other uploads continue.
Connection::Task<void> Connection::await_page(PageWait& page, UploadOutcome& outcome) {
    ++shared_.waiting_for_page;
    const std::optional<bool> visible = co_await page.wait(shared_.settings.page_wait_ms);
    --shared_.waiting_for_page;
    if (visible.value_or(false)) co_return;
    io::log_warn("upload.page_lags", {{"request", request_id_},
                                      {"filename", outcome.done.filename},
                                      {"serial", std::to_string(outcome.done.serial)},
                                      {"why", visible ? "publishing failed" : "page_wait_s has passed"}});
    outcome.problem = page_lags(outcome.done.filename);
}

// Feeds the whole body, or as much as the request wants. Returns false if the client is gone; true with
// `problem` if the request or the framing refused it.
Connection::Task<bool> Connection::pump_body(Body& body, BodySink& request, PoolJob& job,
                                             std::optional<wire::Problem>& problem) {
    const std::size_t capacity =
        body.chunked ? upload_buffer_bytes
                     : static_cast<std::size_t>(std::min<std::uint64_t>(body.left, upload_buffer_bytes));
    // Allocate both before the first job: a failed allocation must not free a buffer that a job uses.
    std::array<std::unique_ptr<char[]>, 2> buffers{std::make_unique_for_overwrite<char[]>(capacity),
                                                   std::make_unique_for_overwrite<char[]>(capacity)};
    std::size_t current = 0;
    Answered<void> fed;
    Filled state = Filled::more;
    while (!body.ended() && state == Filled::more) {
        const std::unique_ptr<char[]>& buffer = buffers[current];
        std::size_t filled = 0;
        state = co_await fill(body, buffer.get(), capacity, filled);
        // The job on the other buffer ends before the job on this one starts.
        const bool ran = co_await job.join();
        if (!ran || !fed) {
            problem = ran ? std::move(fed.error()) : problem_to_repeat();
            co_return true;
        }
        if (!request.wants_more()) {
            timed_out_ = false;
            co_return true;
        }
        if (state == Filled::gone || state == Filled::late || state == Filled::malformed) break;
        const std::string_view piece(buffer.get(), filled);
        job.start([&fed, &request, piece] { fed = request.feed(piece); });
        current = 1 - current;
    }
    const bool ran = co_await job.join();
    if (state == Filled::gone) co_return false;
    timed_out_ = false;
    if (!ran)
        problem = problem_to_repeat();
    else if (!fed)
        problem = std::move(fed.error());
    else if (state == Filled::late || state == Filled::malformed)
        problem = problem_of_body(state == Filled::late);
    co_return true;
}

// Fills `into` up to its end or the body's end. Bytes with a Content-Length go from the socket directly into
// the buffer.
Connection::Task<Connection::Filled> Connection::fill(Body& body, char* into, std::size_t capacity,
                                                      std::size_t& filled) {
    if (body.chunked) {
        const Filled state = co_await fill_chunked(body, into, capacity, filled);
        co_return state;
    }
    while (filled < capacity && body.left > 0) {
        const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(capacity - filled, body.left));
        std::size_t got = std::min(want, buffered().size());
        if (got > 0) {  // arrived together with the head
            std::memcpy(into + filled, buffered().data(), got);
            consume(got);
        } else {
            got = co_await read_at_pace(into + filled, want, body.pace);
            if (got == 0) co_return timed_out_ ? Filled::late : Filled::gone;
        }
        filled += got;
        body.left -= got;
    }
    co_return body.left == 0 ? Filled::ended : Filled::more;
}

Connection::Task<std::size_t> Connection::read_at_pace(char* into, std::size_t size, Pace& pace) {
    for (;;) {
        if (timed_out_ || ended_) co_return 0;
        const ClientSocket::Tried tried = socket_.try_read(into, size);
        if (tried.step == ClientSocket::Step::moved) {
            note_moved(pace, tried.bytes);
            loop_.metrics().count_received(tried.bytes);
            co_return tried.bytes;
        }
        const bool ready = co_await wait_at_pace(tried.step, pace);
        if (!ready) co_return 0;
    }
}

// Framing goes through the small buffer; data of large chunks goes directly into place.
Connection::Task<Connection::Filled> Connection::fill_chunked(Body& body, char* into, std::size_t capacity,
                                                              std::size_t& filled) {
    while (filled < capacity && !body.ended()) {
        if (!buffered().empty()) {
            const auto step = body.decoder.decode(buffered(), into + filled, capacity - filled);
            if (!step) co_return Filled::malformed;
            consume(step->consumed);
            filled += step->produced;
            note_moved(body.pace, step->produced);
            continue;
        }
        const auto ahead =
            static_cast<std::size_t>(std::min<std::uint64_t>(body.decoder.data_ahead(), capacity - filled));
        std::size_t got = 0;
        if (ahead > 0) {
            got = co_await read_at_pace(into + filled, ahead, body.pace);
            if (got > 0) body.decoder.skip_data(got);
            filled += got;
        } else {
            got = co_await read_into_buffer(&body.pace);
        }
        if (got == 0) co_return timed_out_ ? Filled::late : Filled::gone;
    }
    co_return body.ended() ? Filled::ended : Filled::more;
}

}  // namespace wheelyard::http
