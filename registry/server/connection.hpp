// One client: reads heads, replies from the published tree or passes the body to an upload, and keeps the
// connection for the next request. A coroutine on one I/O thread; not thread-safe. Internal to the server.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "registry/http/chunked.hpp"
#include "registry/http/reply.hpp"
#include "registry/http/request_head.hpp"
#include "registry/http/routes.hpp"
#include "registry/server/client_socket.hpp"
#include "registry/server/io_loop.hpp"

namespace wheelyard::http {

// One of a limited number of concurrent operations, released at the end of its scope. Thread-safe: threads
// share `now`, which outlives the slot.
class Slot {
  public:
    Slot(std::atomic<std::size_t>& now, std::size_t max) : now_(now), taken_(now.fetch_add(1) < max) {
        if (!taken_) now_.fetch_sub(1);
    }
    ~Slot() {
        if (taken_) now_.fetch_sub(1);
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    [[nodiscard]] bool taken() const { return taken_; }

  private:
    std::atomic<std::size_t>& now_;
    const bool taken_;
};

class Connection {
  public:
    using Time = std::chrono::steady_clock::time_point;
    template <typename T>
    using Task = boost::asio::awaitable<T>;

    // `tls` is null for a plain socket. If `place` is not taken, the first request is answered with 503.
    Connection(IoLoop& loop, ClientSocket::Socket socket, std::shared_ptr<const TlsContext> tls,
               std::unique_ptr<ConnectionPlaces::Place> place);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // The coroutine that serves the client; it owns the connection until the end.
    static Task<void> serve(std::shared_ptr<Connection> self);

    void expire_if_due(Time now);  // cancels the current wait if the deadline has passed
    void drain();                  // ends at once if no request is in progress
    void abort();                  // ends at the next wait; a commit in progress still gets its reply

  private:
    enum class Phase { idle, head, working, committing, lingering };
    enum class Filled { more, ended, gone, late, malformed };
    // Minimum speed of a body: each stall_timeout of waiting for the client has to bring
    // min_body_bytes_per_s of it.
    struct Pace {
        std::int64_t waited_ms = 0;
        std::uint64_t moved_bytes = 0;  // content only: the framing of chunks is no progress
        Time ends = Time::max();        // of the whole body, whatever its speed
    };

    struct Body {  // the unread rest of a request's body
        bool chunked = false;
        std::uint64_t left = 0;  // unread bytes of a body with Content-Length
        ChunkDecoder decoder;
        Pace pace;
        [[nodiscard]] bool ended() const { return chunked ? decoder.ended() : left == 0; }
    };

    Task<void> run();
    Task<bool> shake_hands();
    Task<bool> read_head();
    Task<void> refuse_head(wire::Problem problem);
    Task<bool> handle(RequestHead& head);

    // connection_answers.cpp
    [[nodiscard]] wire::Problem unknown_index(const std::string& index) const;
    Task<Reply> answer_front(const RequestHead& head);
    [[nodiscard]] Reply unknown_to_caller(const RequestHead& head, const Route& route) const;
    // Web pages of other origins may read what everyone may read.
    void open_to_other_origins(Reply& reply, const Route& route) const;
    [[nodiscard]] Reply asset(const std::string& name) const;
    [[nodiscard]] Reply answer_route(const RequestHead& head, const Route& route);
    [[nodiscard]] IndexEntry entry_of(std::string_view index) const;
    // Where uploads for this route go, as the client reaches the server.
    [[nodiscard]] std::string upload_url(const RequestHead& head, const Route& route) const;
    // With what the server itself knows.
    [[nodiscard]] ServiceState service_state();
    [[nodiscard]] Reply readiness();
    [[nodiscard]] Reply metrics();
    [[nodiscard]] bool is_from_proxy() const;
    [[nodiscard]] std::string base_url(const RequestHead& head) const;
    [[nodiscard]] PypiIndex pypi_place(const RequestHead& head, const Route& route) const;

    // connection_readers.cpp
    [[nodiscard]] bool is_private(const Route& route) const;
    [[nodiscard]] bool may_be_private(const Route& route) const;  // as far as a stranger can tell
    [[nodiscard]] bool asks_reader(const RequestHead& head, const Route& route) const;
    // The reply if the caller may not read, or if what it may read decides the reply; nullopt: answer.
    Task<std::optional<Reply>> answer_by_reader(const RequestHead& head, const Route& route);
    [[nodiscard]] PublishedTree& tree_of(const Route& route);

    // connection_api.cpp
    Task<bool> answer_api(const RequestHead& head, const Route& route);
    // nullopt: the client disconnected before the request was complete.
    Task<std::optional<Reply>> run_api(const RequestHead& head, const Route& route, Body& body);
    // The steps of a request: an error is the answer; false: the client is gone.
    Task<Answered<bool>> admit(const struct ApiRequest& request, class PoolJob& job,
                               struct Admission& admitted);
    Task<Answered<bool>> take_api_slot(const Operation& operation, const struct ApiRequest& request,
                                       const struct Admission& admitted,
                                       std::optional<OwnerSlots::Held>& slot);
    Task<Answered<bool>> read_small_body(const RequestHead& head, Body& body, const Operation& operation,
                                         std::string& into);
    Task<Reply> carry_out(const RequestHead& head, const struct ApiRequest& request, class PoolJob& job);
    Task<Reply> await_visible(struct ApiReply& answer);
    [[nodiscard]] std::optional<Reply> refusal_before_api(const RequestHead& head, const Route& route) const;

    // connection_upstream.cpp
    Task<Reply> answer_from_upstream(const RequestHead& head, const Route& route);
    Task<std::shared_ptr<UpstreamAnswer>> ask_for_page(UpstreamRequest request);
    Task<Reply> answer_pypi_json(const RequestHead& head, const Route& route, UpstreamRequest request,
                                 std::shared_ptr<const RenderedPage> page);
    Task<Reply> answer_upstream_project(const RequestHead& head, const Route& route, UpstreamRequest request,
                                        Reply missing);
    Task<std::shared_ptr<UpstreamAnswer>> ask_upstream(UpstreamRequest request, std::int64_t wait_ms);
    [[nodiscard]] bool may_come_from_upstream(const RequestHead& head, const Route& route) const;

    // connection_remote.cpp
    // A redirect to the store, or the bytes as they come from there.
    Task<Reply> answer_remote(const Route& route, Reply reply);
    // connection_forward.cpp
    [[nodiscard]] bool may_answer(const Route& route) const;
    [[nodiscard]] std::optional<wire::Problem> refusal_of_node(const RequestHead& head, const Route& route);
    [[nodiscard]] bool is_writer_here() const;
    // For limits of each client: of one whose request another node passes on, as that node says.
    [[nodiscard]] std::string client_address(const RequestHead& head) const;
    [[nodiscard]] std::string network_of(const RequestHead& head) const;
    [[nodiscard]] bool is_for_writer(const RequestHead& head, const Route& route) const;
    Task<bool> answer_by_writer(const RequestHead& head, const Route& route);
    Task<std::optional<wire::Problem>> refusal_before_forward(const RequestHead& head, const Route& route);
    // `stranger`: the network of a client that shows no credentials, for whom few slots are; empty: it does.
    // `operation`: of the API, whose small body is read before a slot is taken; nullptr: none.
    Task<bool> run_forward(const RequestHead& head, Body& body, Reply& reply, const std::string& stranger,
                           const Operation* operation);
    Task<Reply> answer_fetched_by_writer(const RequestHead& head, const Route& route);

    // connection_resumable.cpp
    Task<Reply> answer_resumable(const RequestHead& head, const Route& route);

    // connection_upload.cpp
    [[nodiscard]] static wire::Problem problem_of_body(bool late);
    [[nodiscard]] static wire::Problem problem_to_repeat();
    [[nodiscard]] wire::Problem token_busy() const;
    [[nodiscard]] Answered<std::unique_ptr<UploadRequest>> begin_upload(const RequestHead& head,
                                                                        const Route& route) const;
    Task<std::size_t> read_at_pace(char* into, std::size_t size, Pace& pace);
    // Returns true if the connection can take another request.
    Task<bool> receive_upload(const RequestHead& head, const Route& route);
    struct UploadOutcome {
        bool client_is_there = true;
        std::optional<wire::Problem> problem;
        UploadDone done;
    };
    Task<bool> wait_for_slot(std::optional<OwnerSlots::Held>& slot, const std::string& owner);
    Task<void> run_upload(const RequestHead& head, const Route& route, Body& body, UploadOutcome& outcome);
    [[nodiscard]] std::optional<wire::Problem> problem_before_body(const RequestHead& head,
                                                                   const Route& route) const;
    Task<bool> pump_body(Body& body, BodySink& request, class PoolJob& job,
                         std::optional<wire::Problem>& problem);
    Task<void> await_page(class PageWait& page, UploadOutcome& outcome);
    Task<Filled> fill(Body& body, char* into, std::size_t capacity, std::size_t& filled);
    Task<Filled> fill_chunked(Body& body, char* into, std::size_t capacity, std::size_t& filled);

    // connection_sending.cpp
    void count_answer(const RequestHead& head, const Reply& reply);
    // Return false if the client is gone or too slow.
    Task<bool> send(const RequestHead& head, Reply& reply, bool body_unread);
    Task<bool> send_and_linger(const RequestHead& head, Reply& reply);
    Task<bool> send_and_linger_if(bool body_unread, const RequestHead& head, Reply& reply);
    Task<bool> write(std::string_view head, std::string_view body, bool more_follows);
    Task<bool> write_file(std::string_view head, const FileSlice& slice);
    Task<bool> write_arriving(std::string_view head, ArrivingFile& file);
    Task<bool> write_part(int file, std::uint64_t offset, std::uint64_t length, Pace& pace);
    Task<bool> wait_for(ClientSocket::Step step);
    Task<bool> wait_at_pace(ClientSocket::Step step, Pace& pace);
    void note_moved(Pace& pace, std::uint64_t bytes) const;

    // Reading. Returns 0 at end of stream, after an error or abort, or past the deadline (timed_out_).
    Task<std::size_t> read_some(char* into, std::size_t size);
    // `pace`: of the body that the bytes belong to; nullptr: none, the deadline applies.
    Task<std::size_t> read_into_buffer(Pace* pace);
    Task<void> linger();

    [[nodiscard]] std::string_view buffered() const { return {buffer_.get() + begin_, end_ - begin_}; }
    void consume(std::size_t bytes);
    void set_deadline(std::int64_t from_now_ms);
    void clear_deadline() { deadline_ = Time::max(); }

    IoLoop& loop_;
    ServerShared& shared_;
    const ServedIndexes* served_ = nullptr;  // of the request under way
    ClientSocket socket_;
    // max_request_head_bytes, of which [begin_, end_) are unread. Null while empty, because there are many
    // idle clients.
    std::unique_ptr<char[]> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t head_size_ = 0;
    Time deadline_ = Time::max();
    Phase phase_ = Phase::idle;
    bool timed_out_ = false;
    bool ended_ = false;                 // drained or aborted: no more reads or writes
    RouteKind kind_ = RouteKind::front;  // of the current request, for metrics and the log
    Time request_began_{};
    std::string request_id_;
    std::string reading_only_;  // of the current request: the value of reading_only_field
    std::string client_;  // of the current request, for limits: the reader's token; empty: not known yet
    // Last member: destroyed before the socket is closed.
    const std::unique_ptr<ConnectionPlaces::Place> place_;
};

}  // namespace wheelyard::http
