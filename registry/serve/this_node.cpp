#include "registry/serve/this_node.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/log.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "registry/config/config.hpp"
#include "registry/http/reply.hpp"

namespace wheelyard::registry {
namespace {

// Machine and data folder, "login1:/var/lib/wheelyard".
std::string place_of(const RegistryConfig& config) {
    return name_of_machine() + ":" + config.store.string();
}

// For what the writer does beside waiting for pages: checks and stores a wheel of several gigabytes, or
// fetches one.
constexpr std::int64_t answer_margin_ms = 16 * 60'000;

constexpr std::int64_t compare_pause_ms = 15'000;  // of the files of the nodes

// indexer/publish/same_history.hpp
bool is_of_other_history(const base::Error& error) {
    return error.kind == base::ErrorKind::conflict;
}

// By what each says on its front page. None within the time: it is away itself, or frozen.
bool is_any_connected(const std::vector<std::string>& addresses) {
    io::HttpSettings settings;
    settings.connect_timeout_ms = 1'000;
    settings.total_timeout_ms = 2'000;
    settings.follows_redirects = false;
    settings.uses_environment = false;  // the nodes of a registry are neighbours
    io::HttpClient client(settings);
    return std::any_of(addresses.begin(), addresses.end(), [&client](const std::string& address) {
        const auto answer = client.head(address + "/");
        return answer && answer->status == 200 && answer->header(http::reading_only_field).empty();
    });
}

double as_sample(auto value) {
    return static_cast<double>(value);
}

}  // namespace

base::Result<std::unique_ptr<ThisNode>> ThisNode::open(const database::Store& store, const LiveConfig& live,
                                                       const blobs::BlobStore& blobs,
                                                       const std::string& signing_key) {
    const SharedConfig held = live.now();
    const RegistryConfig& config = *held;
    WHEELYARD_ASSIGN(auto board, store.node_board());
    WHEELYARD_ASSIGN(auto own, OwnStore::open(store, config, blobs));
    nodes::SharedSettings shared;
    if (!board->is_alone()) {
        if (!own->name().empty()) shared["[stores] blobs"] = own->name();
        shared["[node] lease_s"] = std::to_string(config.node.lease_ms / 1000);
        shared["the key of [attest]"] = signing_key;
    }
    WHEELYARD_ASSIGN(auto lock, store.writer_lock());
    WHEELYARD_ASSIGN(auto reader, store.reader());
    WHEELYARD_ASSIGN(auto publishers_reader, store.reader());
    return std::unique_ptr<ThisNode>(new ThisNode(store, live, blobs, std::move(shared), std::move(own),
                                                  std::move(board), std::move(lock), std::move(reader),
                                                  std::move(publishers_reader)));
}

ThisNode::ThisNode(const database::Store& store, const LiveConfig& live, const blobs::BlobStore& blobs,
                   nodes::SharedSettings shared, std::unique_ptr<OwnStore> own_store,
                   std::unique_ptr<nodes::NodeBoard> board, std::unique_ptr<nodes::WriterLock> lock,
                   std::unique_ptr<const catalog::Catalog> reader,
                   std::unique_ptr<const catalog::Catalog> publishers_reader)
    : store_(store),
      live_(live),
      config_(live.now()->node),
      blobs_(blobs),
      trees_(*live.now()),
      own_store_(std::move(own_store)),
      board_(std::move(board)),
      lock_(std::move(lock)),
      reader_(std::move(reader)),
      publishers_reader_(std::move(publishers_reader)),
      lease_(*board_, clock_,
             {.id = {},
              .name = config_.name,
              .address = config_.address,
              .place = place_of(*live.now()),
              .settings = std::move(shared)},
             {.lease_ms = config_.lease_ms,
              .serves_on = !has_address(),
              .read_on_ms = has_address() ? config_.read_without_database_ms : 0},
             hooks()),
      role_(
          *lock_, clock_, config_.lease_ms, [this] { lease_.wake(); }, [this] { return !lease_.is_blind(); }),
      forward_(
          lease_.id(), [this] { return may_write(); },
          [this] {
              auto writer = lease_.seen().writer;
              if (writer && writer->id == lease_.id()) writer.reset();
              return writer;
          },
          live.now()->server.page_wait_ms + answer_margin_ms) {}

nodes::LeaseHooks ThisNode::hooks() {
    return {
        .newest = [this] { return reader_->last_serial(); },
        .show = [this](catalog::Serial serial) { pages_->want(serial); },
        .show_newest = [this](std::function<void()> then) { pages_->call_after_next_run(std::move(then)); },
        .is_awaited = [this] { return pages_->awaits_others(); },
        .others_show = [this](catalog::Serial serial) { pages_->note_others_show(serial); },
        .is_writer = [this] { return role_.may_write(); },
        .sees_blobs = [this] { return sees_blobs(); },
        .tables = [this] { return live_.now()->shared; },
        .is_any_connected = is_any_connected};
}

void ThisNode::look_at_store() {
    looks_since_us_ = clock_.boot_us();
    was_store_seen_ = is_alone() || own_store_->is_there();
    if (role_.may_write() && clock_.boot_us() >= notes_at_us_) {
        static_cast<void>(own_store_->note());
        notes_at_us_ = clock_.boot_us() + note_store_ms * 1'000;
    }
    looks_since_us_ = 0;
}

void ThisNode::compare_files() {
    const auto seen = store_.node_board().and_then([](const auto& board) { return board->nodes(); });
    if (!seen) return;  // the lease says so
    std::string found = nodes::list_differences({.id = lease_.id(), .tables = live_.now()->shared}, *seen);
    const std::lock_guard lock(differences_mutex_);
    if (found == differences_) return;
    differences_ = std::move(found);
    if (differences_.empty())
        io::log_info("node.files_alike", {{"node", config_.name}});
    else
        io::log_warn(
            "node.files_differ",
            {{"node", config_.name},
             {"from", differences_},
             {"advice", "give all nodes the same; a file is read at a start, [[index]] also by a reload"}});
}

std::string ThisNode::differences() const {
    const std::lock_guard lock(differences_mutex_);
    return differences_;
}

bool ThisNode::sees_blobs() const {
    const std::int64_t since_us = looks_since_us_;
    return was_store_seen_ && (since_us == 0 || clock_.boot_us() - since_us < config_.lease_ms * 1'000 / 2);
}

base::Status ThisNode::check_neighbours() {
    if (is_alone()) return {};
    if (!has_address()) role_.start();
    base::SystemClock clock;
    const auto has_role = [this] {
        const auto seen = role_.seen();
        return seen.is_writer || seen.is_waiting;
    };
    return nodes::check_neighbours(*board_, lease_.row(), has_role, clock,
                                   std::max(config_.lease_ms, nodes::writer_idle_ms) + nodes::renewal_ms);
}

PublishFunction ThisNode::guard(PublishFunction publish) {
    return [this, publish = std::move(publish)](RootPages roots) -> base::Result<Published> {
        if (!is_alone()) {
            const std::lock_guard lock(before_mutex_);
            // A node that cannot, as of an older version, must not keep all uploads waiting for it, nor show
            // to everybody what is private elsewhere.
            const base::Status done = before_pages_ ? before_pages_(*publishers_reader_) : base::Status();
            const std::string why = done ? std::string() : done.error().text();
            if (why != std::exchange(why_not_adopted_, why) && !done)
                io::log_error("indexes.not_adopted", {{"error", why}});
            if (done || done.error().recovery != base::Recovery::retry) lease_.set_fit(done.has_value());
        }
        auto published = publish(roots);
        if (!published && is_of_other_history(published.error())) {
            lease_.forget_shown();
            ++lost_histories_;
            is_rebuilding_ = true;
            io::log_error("node.history_lost",
                          {{"error", published.error().text()},
                           {"advice",
                            "the database lacks events that this node has shown, as after a failover to an "
                            "asynchronous standby, or with an older copy of the catalog; its pages are made "
                            "again"}});
            WHEELYARD_TRY(set_trees_aside(trees_, blobs_));
            published = publish(RootPages::all);
        }
        if (published && is_rebuilding_.exchange(false)) {
            published->is_rebuilt = true;
            if (const auto listed = list_lost_files(trees_, blobs_); !listed)
                io::log_warn("node.lost_files_not_listed", {{"error", listed.error().text()}});
        }
        return published;
    };
}

std::shared_ptr<void> ThisNode::call_before_pages(BeforePages before) {
    const auto set = [this](BeforePages next) {
        const std::lock_guard lock(before_mutex_);
        before_pages_ = std::move(next);
    };
    set(std::move(before));
    return {this, [set](void*) { set(nullptr); }};
}

ThisNode::Member::Member(ThisNode& node, PublishQueue& pages) : node_(node) {
    node.pages_ = &pages;
    if (!node.is_alone())
        pages.wait_for_others({.shown = [&node](catalog::Serial serial) { node.lease_.note_shown(serial); },
                               .awaited = [&node] { node.lease_.wake(); },
                               .troubled =
                                   [&node](std::size_t lost, bool is_behind) {
                                       node.lease_.note_troubles(static_cast<std::int64_t>(lost), is_behind);
                                   },
                               .lost_after_ms = nodes::lost_after_ms(node.config_.lease_ms)});
    if (node.is_alone() || node.has_address()) node.role_.start();  // else check_neighbours() did
    node.lease_.start();
    node.looks_.emplace(0, node.is_alone() ? note_store_ms : node.config_.lease_ms / 2,
                        [&node](base::Clock&) { node.look_at_store(); });
    if (!node.is_alone())
        node.comparisons_.emplace(0, compare_pause_ms, [&node](base::Clock&) { node.compare_files(); });
}

ThisNode::Member::~Member() {
    node_.comparisons_.reset();
    node_.looks_.reset();
    node_.lease_.stop();
    node_.role_.stop();
}

void ThisNode::wait_joined(std::int64_t timeout_ms) const {
    constexpr std::chrono::milliseconds pause(10);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!may_answer() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(pause);
}

std::string ThisNode::reading_only() const {
    const auto outage = lease_.outage();
    if (!outage) return {};
    return base::render_rfc3339(outage->since) + " until " + base::render_rfc3339(outage->until);
}

std::optional<http::WhyNotReady> ThisNode::why_not_ready() const {
    using http::NotReady;
    using Why = http::WhyNotReady;
    const std::string reading = reading_only();
    const auto seen = lease_.seen();
    if (own_store_->is_of_another())
        return Why{NotReady::store_of_another,
                   "the store of the wheels is another registry's: the log says more"};
    if (own_store_->has_other_history() && may_write())
        return Why{NotReady::newer_catalog,
                   "degraded: the store of the wheels knows a newer or another copy of this catalog: the log "
                   "says more"};
    if (!may_answer())
        return Why{NotReady::node_stopped,
                   "this node is " + std::string(nodes::lease_states.text(seen.state)) +
                       " and answers no page" + (seen.last_failure.empty() ? "" : ": " + seen.last_failure)};
    if (!reading.empty())
        return Why{NotReady::reading_only,
                   "degraded: reading only since " + reading + ": " + seen.last_failure};
    if (!seen.is_clock_off) return std::nullopt;
    return Why{NotReady::clock_differs,
               "degraded: the clock of this node is " +
                   std::to_string(std::abs(seen.clock_ahead_ms) / 1'000) + " s " +
                   (seen.clock_ahead_ms > 0 ? "ahead of" : "behind") +
                   " the database's: tokens end at other times than at the other nodes. Set the one that is "
                   "wrong"};
}

std::string ThisNode::text() const {
    const auto lease = lease_.seen();
    const auto role = role_.seen();
    std::string text = "node " + config_.name + ": " + std::string(nodes::lease_states.text(lease.state));
    text += role.is_writer ? ", writer" : role.is_waiting ? ", waits one lease before it writes" : "";
    text += ", lease " + std::to_string(lease.left_ms) + " ms";
    const std::string others = differences();
    return others.empty() ? text : text + ", its file differs from " + others;
}

std::vector<http::Sample> ThisNode::samples() const {
    if (is_alone()) return {};
    const auto lease = lease_.seen();
    const auto role = role_.seen();
    return {{"node_serving", may_answer() ? 1.0 : 0.0},
            {"node_reading_only", reading_only().empty() || !may_answer() ? 0.0 : 1.0},
            {"node_lease_seconds", as_sample(lease.left_ms) / 1000},
            {"node_lapses_total", as_sample(lease.lapses)},
            {"node_clock_ahead_seconds", as_sample(lease.clock_ahead_ms) / 1000},
            {"node_writer", role.is_writer ? 1.0 : 0.0},
            {"node_file_differs", differences().empty() ? 0.0 : 1.0},
            {"node_knows_writer", role.is_writer || lease.writer ? 1.0 : 0.0},
            {"node_lost_histories_total", as_sample(lost_histories_.load())}};
}

}  // namespace wheelyard::registry
