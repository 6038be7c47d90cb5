// One connection with its deadlines: internal to this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/store/engine/postgres/libpq.hpp"
#include "lib/store/engine/postgres/postgres.hpp"

namespace wheelyard::postgres {

// An answer of libpq, freed with it.
struct Rows {
    Rows(const Libpq& api, PGresult* answer) : library(api), result(answer) {}
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    ~Rows() { library.clear(result); }
    const Libpq& library;
    PGresult* result;
    std::string decoded = {};  // of a BYTEA column
};

class Connection {
  public:
    Connection(const Libpq& api, Target target, Database::Mode mode, Deadlines deadlines)
        : library_(api), target_(std::move(target)), mode_(mode), deadlines_(deadlines) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { give_up(); }

    [[nodiscard]] base::Status connect();
    // One statement, or several without parameters. Repeats a SELECT outside of a transaction once.
    [[nodiscard]] base::Result<std::unique_ptr<Rows>> execute(const std::string& sql,
                                                              std::span<const Value> values = {});
    // In a transaction, with the next execute() or commit().
    [[nodiscard]] base::Status execute_later(std::string sql, std::vector<Value> values);
    [[nodiscard]] base::Status begin(const std::string& sql);
    [[nodiscard]] base::Status commit();
    void roll_back() noexcept;
    [[nodiscard]] base::Result<bool> wait_notice(const std::string& channel, std::int64_t timeout_ms);
    [[nodiscard]] std::int64_t session() const { return sessions_; }
    std::int64_t set_deadline(std::int64_t statement_ms);  // returns the one before

  private:
    using Time = std::chrono::steady_clock::time_point;
    struct Host {
        std::string name, address, port;  // empty: as the URL says
    };
    [[nodiscard]] base::Status open_session();
    // `all`: the hosts of the URL, also if none of them is good.
    [[nodiscard]] base::Status open_at(const Host& host, std::vector<Host>* all = nullptr);
    [[nodiscard]] std::vector<Host> hosts() const;  // of the connection
    [[nodiscard]] base::Status check_server(const Rows& rows) const;
    struct Deferred {
        std::string sql;
        std::vector<Value> values;
    };
    base::Result<std::unique_ptr<Rows>> ask_in_session(const std::string& sql, std::span<const Value> values,
                                                       bool must_be_this_one, bool is_harmless);
    [[nodiscard]] base::Result<std::unique_ptr<Rows>> ask(const std::string& sql,
                                                          std::span<const Value> values);
    // The deferred ones first, all in one burst; the answer of the last.
    [[nodiscard]] base::Result<std::unique_ptr<Rows>> ask_together(const std::vector<Deferred>& deferred,
                                                                   const std::string& sql,
                                                                   std::span<const Value> values);
    [[nodiscard]] base::Status send(const std::string& sql, std::span<const Value> values);
    [[nodiscard]] base::Status wait_for_input(Time end);
    [[nodiscard]] base::Status skip_to_sync(Time end);
    // False: not within the time.
    [[nodiscard]] bool wait_for(short events, Time end) const;
    [[nodiscard]] base::Status send_all(Time end);
    [[nodiscard]] base::Result<std::unique_ptr<Rows>> receive(Time end);
    [[nodiscard]] tl::unexpected<base::Error> fail_lost(std::string reason);
    [[nodiscard]] tl::unexpected<base::Error> fail_late();
    [[nodiscard]] tl::unexpected<base::Error> fail_answer(const Rows& rows);
    void give_up() noexcept;
    [[nodiscard]] std::string newest_message() const;

    const Libpq& library_;
    const Target target_;
    const Database::Mode mode_;
    Deadlines deadlines_;
    PGconn* connection_ = nullptr;  // null: none
    std::string password_ = {};     // never part of a message
    std::string listens_to_ = {};
    std::int64_t sessions_ = 0;
    std::vector<Deferred> deferred_ = {};
    bool in_transaction_ = false;
    bool is_late_ = false;                     // the newest statement had no answer in time
    std::optional<base::Error> refused_ = {};  // why the last try to connect failed …
    Time refused_until_ = {};                  // … and how long no other one is made
};

// The newest timeline that this process has seen of each database. A promoted standby begins a new one, so a
// server on an older one was replaced: what it says is past, and what it is told will be lost.
class Timelines {
  public:
    // `timeline`: eight hexadecimal digits, as names of WAL files begin. Empty: it may be used; else the
    // newer one.
    [[nodiscard]] std::string newer_than(const std::string& system, const std::string& timeline);
    [[nodiscard]] static Timelines& of_process();

  private:
    std::mutex mutex_;
    std::map<std::string, std::string> newest_;  // by system identifier
};

}  // namespace wheelyard::postgres
