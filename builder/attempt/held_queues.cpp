// Stores which queues refuse jobs, and chooses their probes.
#include "builder/attempt/held_queues.hpp"

#include <algorithm>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/io/record.hpp"

namespace wheelyard::builder {

namespace {

using io::field;
using io::Need;
using Q = HeldQueue;

constexpr std::string_view held_format = "wheelyard.held_queues/1";

struct Queues {
    std::vector<HeldQueue> list;
};
constexpr auto queue_record = io::record<Q>({
    field<&Q::queue>("queue", "its name; empty: the default", Need::even_empty),
    field<&Q::reason>("reason", "the batch system's own words"),
    field<io::Time, &Q::since>("since", "the first refusal"),
    field<&Q::tries>("tries", "refusals in a row"),
    field<io::Time, &Q::not_before>("not_before", "when the next job is tried"),
    field<&Q::refused>("refused", "attempts whose job was refused, in this order"),
});
constexpr auto queues_record = io::record<Queues>({
    field<io::ListOf<io::Nested<queue_record>>, &Queues::list>("queues", "the held queues"),
});

}  // namespace

HeldQueues HeldQueues::read(const std::filesystem::path& state_directory) {
    HeldQueues held;
    held.file_ = state_directory / "held_queues.json";
    const auto text = base::read_untrusted_file(held.file_, max_record_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<io::Json>(tl::unexpected(text.error()));
    if (!json || json->string_or("format", "") != held_format) return held;
    Queues queues;
    if (queues_record.read(*json, queues)) held.queues_ = std::move(queues.list);
    return held;
}

const HeldQueue* HeldQueues::find(const std::string& queue) const {
    const auto found = std::find_if(queues_.begin(), queues_.end(),
                                    [&](const HeldQueue& one) { return one.queue == queue; });
    return found == queues_.end() ? nullptr : &*found;
}

void HeldQueues::choose_probe(const std::string& queue, const std::vector<std::string>& waiting) {
    std::erase_if(probes_, [&](const auto& probe) { return probe.first == queue; });
    const HeldQueue* held = find(queue);
    if (held == nullptr || waiting.empty()) return;
    const auto refusal = [held](const std::string& attempt) {  // those that were not refused come first
        const auto at = std::find(held->refused.begin(), held->refused.end(), attempt);
        return at == held->refused.end() ? -1 : at - held->refused.begin();
    };
    probes_.emplace_back(queue, *std::min_element(waiting.begin(), waiting.end(),
                                                  [&](const std::string& one, const std::string& other) {
                                                      return refusal(one) < refusal(other);
                                                  }));
}

bool HeldQueues::may_submit(const std::string& queue, const std::string& attempt,
                            base::UnixMicros now) const {
    const HeldQueue* held = find(queue);
    if (held == nullptr) return true;
    const auto probe =
        std::find_if(probes_.begin(), probes_.end(), [&](const auto& one) { return one.first == queue; });
    const bool is_probe = probe == probes_.end() || probe->second == attempt;
    return is_probe && is_due(now, held->not_before, max_wait_ms);
}

base::Result<bool> HeldQueues::refuse(const std::string& queue, const std::string& attempt,
                                      const std::string& reason, base::UnixMicros now) {
    auto held = std::find_if(queues_.begin(), queues_.end(),
                             [&](const HeldQueue& one) { return one.queue == queue; });
    if (held == queues_.end()) held = queues_.insert(held, HeldQueue{queue, "", now, 0, 0, {}});
    const bool is_new = std::exchange(held->reason, reason) != reason;
    held->not_before = now + backoff_delay_ms(held->tries++, wait_first_ms, max_wait_ms) * 1000;
    std::erase(held->refused, attempt);
    held->refused.push_back(attempt);
    if (held->refused.size() > max_refused_jobs) held->refused.erase(held->refused.begin());
    WHEELYARD_TRY(write());
    return is_new;
}

base::Status HeldQueues::accept(const std::string& queue) {
    if (std::erase_if(queues_, [&](const HeldQueue& one) { return one.queue == queue; }) == 0) return {};
    return write();
}

base::Status HeldQueues::write() const {
    if (file_.empty()) return {};
    if (queues_.empty()) return base::remove_file(file_);
    io::Json json = io::Json::object({{"format", held_format}});
    queues_record.write_into(json, Queues{queues_});
    return base::replace_file(file_, json.render_pretty());
}

io::Json held_queues_json(const std::vector<HeldQueue>& queues) {
    io::Json list = io::Json::array();
    for (const HeldQueue& held : queues)
        list.push(queue_record.write(held));
    return list;
}

std::string queue_words(const std::string& queue) {
    return queue.empty() ? "the default queue" : "queue `" + queue + "`";
}

std::string describe(const HeldQueue& held) {
    const std::string subject = held.queue.empty() ? "The default queue" : "Queue `" + held.queue + "`";
    return subject + " takes no jobs since " + base::render_rfc3339(held.since) + ": " + held.reason +
           " (one job is tried again from " + base::render_rfc3339(held.not_before) + ")";
}

bool is_due(base::UnixMicros now, base::UnixMicros when, std::int64_t max_ms) {
    constexpr std::int64_t with_jitter = 2;  // backoff_delay_ms adds up to a quarter
    return when <= now || when - now > max_ms * 1000 * with_jitter;
}

bool has_passed(base::UnixMicros now, base::UnixMicros then, std::int64_t period_ms) {
    return now < then || now - then >= period_ms * 1000;
}

std::int64_t backoff_delay_ms(int tries, std::int64_t first_ms, std::int64_t max_ms) {
    constexpr int max_doublings = 20;
    const std::int64_t delay = std::min(max_ms, first_ms << std::clamp(tries, 0, max_doublings));
    const auto random = static_cast<unsigned char>(base::random_bytes(1)[0]);
    return delay + delay * random / 1024;
}

}  // namespace wheelyard::builder
