// Requests to upstreams, on the threads of SharedWork: what they bring is stored, and how they fail is
// remembered for a while, so that a dead or lying upstream is not asked again by every client.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "lib/attest/sigstore/attestation.hpp"
#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/log.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/upstream/freshness.hpp"
#include "registry/upstream/offer.hpp"
#include "registry/upstream/removed.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {
namespace {

// Pauses after failures, of one page and of a whole upstream.
constexpr std::int64_t page_retry_s = 10;
constexpr std::int64_t min_backoff_s = 1;
constexpr std::int64_t max_backoff_s = 60;
constexpr std::int64_t file_retry_s = 10;
constexpr std::int64_t refused_file_retry_s = 600;  // wrong bytes will be wrong again
constexpr std::uint64_t small_file_bytes = 8 * base::mib;
constexpr std::size_t max_idle_clients = 8;  // of one upstream, with their connections
constexpr std::size_t max_failures = 10'000;
constexpr std::size_t max_verified = 10'000;  // documents of attestations, of 200 bytes each

constexpr std::string_view accept_integrity =
    "application/vnd.pypi.integrity.v1+json, application/json;q=0.5";

// Other bytes than the page promises.
bool is_alarm(const base::Error& error) {
    return error.kind == base::ErrorKind::conflict;
}

// Another try would end the same way.
bool is_final(const base::Error& error) {
    return is_alarm(error) || error.kind == base::ErrorKind::refused ||
           error.kind == base::ErrorKind::too_large;
}

wire::Problem problem_of_file(const base::Error& error, const std::string& filename) {
    return wire::make_problem(wire::Refusal::coded(502, error.code), "The upstream's file is refused",
                              "The upstream's file is refused: " + error.sentence + ".", filename,
                              "report this to the administrator of this registry");
}

// An address in the site's network is for its administrators: they find it in the log and with `explain`.
wire::Problem problem_of_answer(const UpstreamConfig& upstream, const base::Error& error,
                                const std::string& value) {
    const auto url = base::parse_url(error.value);
    const std::string what =
        error.sentence + (url && !may_be_private(upstream, *url) ? " for " + error.value : "");
    if (error.kind == base::ErrorKind::missing)
        return wire::make_problem("upstream.missing", what, what + ", which its own page lists.", value,
                                  "install another version, or report it to the upstream");
    return wire::make_problem("upstream.status", what,
                              what + ": it does not give this registry what it was asked for.", value,
                              "report it to the administrator of this registry");
}

// Of attestations, which nobody installs with: what is wrong with them is no failure of the upstream.
wire::Problem problem_of_attestations(const base::Error& error, const std::string& filename) {
    const std::string reason =
        error.kind == base::ErrorKind::too_large ? "attestation.too_large" : error.code;
    return wire::make_problem(
        "upstream.attestations", error.sentence,
        "The upstream's attestations of this file are not passed on: " + error.sentence + ".",
        reason + ": " + filename, "the file can be installed; ask its publisher for attestations that hold");
}

}  // namespace

Upstreams::Passing::Passing(Upstreams& owner, SharedWork& pool, std::string work)
    : owner_(owner), pool_(pool), work_(std::move(work)) {}

Upstreams::Passing::~Passing() {
    if (!file_) return;
    {
        const std::lock_guard lock(owner_.mutex_);
        owner_.arriving_.erase(work_);
    }
    file_->end(false);  // no effect on what is complete
}

// Those who wait are answered with the file; those who come later find it.
void Upstreams::Passing::begin(http::SharedArrivingFile file) {
    file_ = std::move(file);
    {
        const std::lock_guard lock(owner_.mutex_);
        owner_.arriving_[work_] = file_;
    }
    pool_.answer_waiters(work_);
}

void Upstreams::Passing::complete(std::uint64_t bytes) {
    if (file_) file_->end(bytes == file_->size_bytes());
}

http::SharedArrivingFile Upstreams::arriving(const std::string& work) const {
    const std::lock_guard lock(mutex_);
    const auto found = arriving_.find(work);
    const bool is_broken =
        found != arriving_.end() && found->second->progress().state == http::ArrivingFile::State::broken;
    return found == arriving_.end() || is_broken ? nullptr : found->second;
}

base::Result<std::optional<catalog::FileRow>> Upstreams::fetched_row(const Candidate& candidate,
                                                                     const std::string& filename) {
    const std::lock_guard lock(reader_mutex_);
    return reader_->file(candidate.upstream->cache_index, filename);
}

// Another registry's request adds its way: that it would go in a circle says nothing of the requests of
// clients.
std::string Upstreams::page_work_of(const UpstreamConfig& upstream, const Ask& ask) {
    const std::string& via = ask.request.via;
    return "page " + upstream.cache_index + "/" + ask.project + " of " + upstream.url +
           (via.empty() ? "" : " via " + via);
}

bool Upstreams::is_worth_asking(const Candidate& candidate, const std::string& work) const {
    const base::UnixMicros now = parts_.clock.now();
    const std::lock_guard lock(mutex_);
    const auto health = health_.find(candidate.upstream->cache_index);
    if (health != health_.end() && now < health->second.not_before) return false;
    const auto failure = failures_.find(work);
    return failure == failures_.end() || now >= failure->second.until;
}

bool Upstreams::is_paused(const Candidate& candidate) const {
    const std::lock_guard lock(mutex_);
    const auto health = health_.find(candidate.upstream->cache_index);
    return health != health_.end() && parts_.clock.now() < health->second.files_not_before;
}

void Upstreams::start(SharedWork& pool, const std::string& work, const Candidate& candidate,
                      const SharedAsk& ask, std::function<void()> run) {
    ask->tried.insert(work);
    pool.start(work, {candidate.upstream->cache_index, ask->request.client}, std::move(run),
               [this, ask](bool ran) {
                   if (ran) return answer(ask);
                   ask->then({.kind = http::UpstreamAnswer::Kind::problem, .problem = http::upstream_busy()});
               });
}

void Upstreams::refresh_page(const Errand& errand, const std::string& project) {
    const UpstreamConfig& upstream = *errand.candidate.upstream;
    const std::string& work = errand.work;
    const SharedPage before = store_.find(upstream.cache_index, project);
    auto client = take_client(errand);
    ++counts_.page_requests;
    std::unique_lock large(large_page_read_, std::defer_lock);  // to the end
    auto fetched = fetch_page(*client, upstream, project, before.get(), parts_.clock, large);
    give_client(errand, std::move(client));
    if (!fetched) {
        const PageFailure& failure = fetched.error();
        ++counts_.page_failures;
        io::log_warn(
            "upstream.page_failed",
            {{"upstream", upstream.cache_index}, {"project", project}, {"error", failure.error.text()}});
        if (failure.is_loop) {
            const base::UnixMicros next_try = parts_.clock.now() + page_retry_s * base::second_us;
            keep_failure({upstream, project, project, failure.error}, next_try);
            return remember_failure(work, page_retry_s, http::upstream_loop(project), true);
        }
        if (failure.is_upstream_wide) note_failure(upstream.cache_index, failure.pause_s);
        return remember_trouble(work, page_retry_s,
                                {upstream, project, project, failure.error, failure.is_upstream_wide});
    }
    note_success(upstream.cache_index);
    if (fetched->is_unchanged) ++counts_.pages_unchanged;
    if (fetched->has_left) {
        ++counts_.alarms;
        io::log_error("upstream.alarm", {{"upstream", upstream.cache_index},
                                         {"project", project},
                                         {"because",
                                          "the upstream no longer has this project; it is kept as it was, "
                                          "and no other upstream may supply it until `release-project`"}});
    }
    for (const HashAlarm& alarm : fetched->alarms) {
        ++counts_.alarms;
        io::log_error("upstream.alarm", {{"upstream", upstream.cache_index},
                                         {"filename", alarm.filename},
                                         {"pinned_sha256", alarm.pinned},
                                         {"claimed_sha256", alarm.claimed}});
    }
    if (upstream.quarantines_removed) follow_removals(errand, project, before.get(), *fetched);
    if (const auto stored = store_.put(upstream.cache_index, project, std::move(fetched->page)); !stored) {
        io::log_error("upstream.page_not_stored", {{"project", project}, {"error", stored.error().text()}});
        remember_trouble(work, page_retry_s, {upstream, project, project, stored.error()});
    }
}

// A server that answers 404 to everything has removed nothing.
bool Upstreams::lists_another(const Errand& errand, const std::string& project) {
    std::string other;
    {
        const std::lock_guard lock(mutex_);
        other = last_listed_[errand.candidate.upstream->cache_index];
    }
    if (other.empty() || other == project) return false;
    auto client = take_client(errand);
    ++counts_.page_requests;
    const bool is_there = lists_files(*client, *errand.candidate.upstream, other);
    give_client(errand, std::move(client));
    return is_there;
}

void Upstreams::follow_removals(const Errand& errand, const std::string& project, const CachedPage* before,
                                FetchedPage& fetched) {
    const UpstreamConfig& upstream = *errand.candidate.upstream;
    const std::string& index = upstream.cache_index;
    CachedPage& page = fetched.page;
    if (page.absent_since == 0 && !page.is_quarantined() && !page.files.empty()) {
        const std::lock_guard lock(mutex_);
        last_listed_[index] = project;
    }
    const auto fail = [&](const base::Error& error) {
        io::log_error("upstream.removals_failed", {{"project", project}, {"error", error.text()}});
    };
    const auto rows = [&] {
        const std::lock_guard lock(reader_mutex_);
        return reader_->files(index, project);
    }();
    if (!rows) return fail(rows.error());
    std::vector<MissingFile> missing;
    if (before != nullptr && !before->is_of_other(upstream.url)) missing = before->missing;
    const auto found = find_removed(missing, *rows, fetched.is_full, page);
    const bool is_lost = page.absent_since != 0 || (page.files.empty() && !page.is_quarantined());
    if (found.empty() || (is_lost && !lists_another(errand, project))) return;
    std::vector<catalog::StateChange> changes;
    for (const RemovedFile& file : found) {
        std::string reason = file.reason;
        const std::string damaged =
            reason.empty() ? lifecycle::find_damaged(parts_.blobs, file.row) : std::string();
        if (!damaged.empty()) reason = std::string(lifecycle::verify_reason) + damaged + " are damaged";
        const bool is_released = reason.empty();
        changes.push_back({{index, file.row.filename},
                           is_released ? catalog::FileState::active : catalog::FileState::quarantined,
                           {"upstream:" + upstream.name, is_released ? "the upstream lists it again" : reason,
                            page.checked},
                           file.reason.empty() ? is_quarantined_as_removed : may_be_removed});
    }
    catalog::Serial serial = 0;
    const auto done = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto all, catalog.change_states(changes));
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].outcome != catalog::ChangeOutcome::changed) continue;
            serial = all[i].serial;
            io::log_warn(found[i].reason.empty() ? "upstream.listed_again" : "upstream.removed",
                         {{"upstream", index},
                          {"filename", found[i].row.filename},
                          {"because", changes[i].cause.reason}});
        }
        return {};
    });
    if (!done) return fail(done.error());
    if (serial != 0) parts_.pages.call_when_visible(serial, {index, project, {}}, [](const base::Status&) {});
}

// ErrorKind::missing: the upstream has no such text.
base::Result<std::string> Upstreams::fetch_text(const Errand& errand, const std::string& url,
                                                const io::HttpHeaders& headers, std::uint64_t limit_bytes) {
    const UpstreamConfig& upstream = *errand.candidate.upstream;
    auto client = take_client(errand);
    auto answer = client->get(url, headers, limit_bytes);
    const std::int64_t pause_s = client->asked_pause_s();
    if (pause_s > 0) note_failure(upstream.cache_index, pause_s);
    give_client(errand, std::move(client));
    if (!answer) return base::fail(std::move(answer.error()));
    if (answer->status == status_ok) return std::move(answer->body);
    return fail_answer(answer->status, url);
}

void Upstreams::load_text(const Errand& errand, const UpstreamFile& file) {
    const UpstreamConfig& upstream = *errand.candidate.upstream;
    const auto text = fetch_text(errand, url_of_text(file), {}, max_bytes_of_text(file));
    base::Status loaded = text ? check_text(file, *text) : base::Status(base::fail(text.error()));
    if (loaded) loaded = store_.put_metadata(upstream.cache_index, key_of_text(file), *text);
    if (loaded) return;
    const auto name = parse_offered_name(file.link.filename);
    const base::ErrorKind kind = loaded.error().kind;
    if (name && name->is_variants &&
        (kind == base::ErrorKind::missing || kind == base::ErrorKind::malformed)) {
        if (const auto expired = store_.expire(upstream.cache_index, name->project); !expired)
            io::log_error("upstream.page_not_stored",
                          {{"project", name->project}, {"error", expired.error().text()}});
    }
    ++counts_.file_failures;
    if (is_alarm(loaded.error())) ++counts_.alarms;
    io::log_warn("upstream.metadata_failed",
                 {{"upstream", upstream.cache_index}, {"error", loaded.error().text()}});
    note_file_failure(errand.work, file_retry_s, upstream, file, loaded.error());
}

// It holds by the trusted root of this run, which may be another one than when it came.
std::shared_ptr<const std::string> Upstreams::kept_attestations(const UpstreamConfig& upstream,
                                                                const UpstreamFile& file) {
    const std::string key = key_of_attestations(file);
    auto bytes = store_.find_text(upstream.cache_index, key);
    if (!bytes) return nullptr;
    const std::string seen = key + base::sha256_hex(*bytes);
    std::unique_lock lock(mutex_);
    if (verified_.contains(seen)) return bytes;
    lock.unlock();
    if (!sigstore::verify_provenance(*bytes, file.link.filename, file.link.sha256, *parts_.trusted_root))
        return nullptr;
    lock.lock();
    if (verified_.size() >= max_verified) verified_.clear();
    verified_.insert(seen);
    return bytes;
}

void Upstreams::load_attestations(const Errand& errand, const UpstreamFile& file) {
    const UpstreamConfig& upstream = *errand.candidate.upstream;
    const simple::FileLink& link = file.link;
    const auto text = fetch_text(errand, link.provenance_url, {{"Accept", std::string(accept_integrity)}},
                                 sigstore::max_document_bytes);
    const auto verified =
        text ? sigstore::verify_provenance(*text, link.filename, link.sha256, *parts_.trusted_root)
             : base::Result<sigstore::FileProvenance>(base::fail(text.error()));
    const base::Status kept =
        verified ? store_.put_metadata(upstream.cache_index, key_of_attestations(file), verified->document)
                 : base::Status(base::fail(verified.error()));
    if (kept) return;
    const base::Error& error = kept.error();
    ++counts_.file_failures;
    io::log_warn("upstream.attestations_failed",
                 {{"upstream", upstream.cache_index}, {"filename", link.filename}, {"error", error.text()}});
    const bool is_wrong = !verified && (text || error.kind == base::ErrorKind::missing ||
                                        error.kind == base::ErrorKind::too_large);
    if (is_wrong)
        remember_failure(errand.work, refused_file_retry_s, problem_of_attestations(error, link.filename));
    else
        note_file_failure(errand.work, is_final(error) ? refused_file_retry_s : file_retry_s, upstream, file,
                          error);
}

SharedWork& Upstreams::pool_of(const UpstreamFile& file) {
    return file.link.size_bytes > 0 && file.link.size_bytes <= small_file_bytes ? small_file_work_
                                                                                : large_file_work_;
}

void Upstreams::load_wheel(const Errand& errand, const UpstreamFile& file) {
    const Candidate& candidate = errand.candidate;
    const std::string& work = errand.work;
    const UpstreamConfig& upstream = *candidate.upstream;
    // A row may have been stored after its look-up, just before the end of an earlier run.
    if (const auto row = fetched_row(candidate, file.link.filename); row && *row) return;
    SharedWork& pool = pool_of(file);
    Passing passing(*this, pool, work);
    FileFetchParts fetch{.config = *errand.rules->config,
                         .blobs = parts_.blobs,
                         .writer = parts_.writer,
                         .inspections = &pool == &small_file_work_ ? small_inspections_ : large_inspections_,
                         .inspect_threads = parts_.inspect_threads,
                         .cut = cut_downloads_,
                         .file = work,
                         .clock = parts_.clock};
    if (!upstream.inspect_first)
        fetch.arrives = [&](http::SharedArrivingFile arriving) { passing.begin(std::move(arriving)); };
    auto client = take_client(errand);
    const auto fetched = fetch_file(fetch, *client, *candidate.index, upstream, file);
    const std::int64_t pause_s = client->asked_pause_s();
    if (pause_s > 0) note_failure(upstream.cache_index, pause_s);
    give_client(errand, std::move(client));
    if (fetched) {
        if (!fetched->is_quarantined)
            passing.complete(fetched->bytes);
        else
            io::log_warn("upstream.quarantined", {{"upstream", upstream.cache_index},
                                                  {"filename", file.link.filename},
                                                  {"because", fetched->quarantined_because}});
        ++counts_.files;
        counts_.file_bytes += fetched->bytes;
        io::log_info("upstream.fetched", {{"upstream", upstream.cache_index},
                                          {"filename", file.link.filename},
                                          {"sha256", file.link.sha256},
                                          {"bytes", std::to_string(fetched->bytes)},
                                          {"serial", std::to_string(fetched->serial)}});
        return;
    }
    const base::Error& error = fetched.error();
    ++counts_.file_failures;
    if (is_alarm(error)) ++counts_.alarms;
    const auto log = is_alarm(error) ? io::log_error : io::log_warn;
    log(is_alarm(error) ? "upstream.alarm" : "upstream.file_failed",
        {{"upstream", upstream.cache_index}, {"filename", file.link.filename}, {"error", error.text()}});
    note_file_failure(work, is_final(error) ? refused_file_retry_s : file_retry_s, upstream, file, error);
}

void Upstreams::note_success(const std::string& upstream) {
    const std::lock_guard lock(mutex_);
    health_.erase(upstream);
}

void Upstreams::note_failure(const std::string& upstream, std::int64_t pause_s) {
    const base::UnixMicros now = parts_.clock.now();
    const std::lock_guard lock(mutex_);
    Health& health = health_[upstream];
    health.backoff_s = std::clamp(health.backoff_s * 2, min_backoff_s, max_backoff_s);
    const std::int64_t wait_s = pause_s > 0 ? pause_s : health.backoff_s;
    health.not_before = std::max(health.not_before, now + wait_s * base::second_us);
    if (pause_s > 0) health.files_not_before = health.not_before;
}

void Upstreams::note_file_failure(const std::string& work, std::int64_t for_s, const UpstreamConfig& upstream,
                                  const UpstreamFile& file, const base::Error& error) {
    const auto name = parse_offered_name(file.link.filename);
    const Trouble trouble{upstream, name ? name->project : std::string(), file.link.filename, error};
    if (!is_final(error)) return remember_trouble(work, for_s, trouble);
    remember_failure(work, for_s, problem_of_file(error, file.link.filename));
    keep_failure(trouble, parts_.clock.now() + for_s * base::second_us);
}

void Upstreams::keep_failure(const Trouble& trouble, base::UnixMicros next_try) {
    last_failures_.note(trouble.upstream.cache_index, {.time = parts_.clock.now(),
                                                       .next_try = next_try,
                                                       .project = trouble.project,
                                                       .code = trouble.error.code,
                                                       .sentence = trouble.error.sentence,
                                                       .value = trouble.error.value,
                                                       .told = public_sentence(trouble.error),
                                                       .is_upstream_wide = trouble.is_upstream_wide});
}

void Upstreams::remember_trouble(const std::string& work, std::int64_t for_s, const Trouble& trouble) {
    base::UnixMicros next_try = parts_.clock.now() + for_s * base::second_us;
    const bool is_no = is_upstreams_no(trouble.error);
    wire::Problem problem = is_no ? problem_of_answer(trouble.upstream, trouble.error, trouble.value)
                                  : http::upstream_unavailable(trouble.value);
    if (!is_no) {
        const std::lock_guard lock(mutex_);
        const auto health = health_.find(trouble.upstream.cache_index);
        if (health != health_.end()) next_try = std::max(next_try, health->second.not_before);
        const std::string what = public_sentence(trouble.error);
        const std::string when = base::render_rfc3339(next_try);
        problem.title = "The upstream fails: " + what + "; next try at " + when;
        problem.detail += " Its last failure: " + what + ". It is asked again from " + when + " on.";
        if (trouble.is_upstream_wide && health != health_.end()) {
            health->second.problem = problem;
            health->second.problem->value.clear();  // those who ask for others may not read this project
        }
    }
    remember_failure(work, for_s, std::move(problem));
    keep_failure(trouble, next_try);
}

wire::Problem Upstreams::unavailable(const Candidate& candidate, const std::string& work,
                                     const std::string& value) const {
    if (auto failure = recent_failure(work)) return *std::move(failure);
    const std::lock_guard lock(mutex_);
    const auto health = health_.find(candidate.upstream->cache_index);
    if (health == health_.end() || !health->second.problem) return http::upstream_unavailable(value);
    wire::Problem problem = *health->second.problem;
    problem.value = value;
    return problem;
}

void Upstreams::remember_failure(const std::string& work, std::int64_t for_s, wire::Problem problem,
                                 bool is_loop) {
    const base::UnixMicros until = parts_.clock.now() + for_s * base::second_us;
    const std::lock_guard lock(mutex_);
    if (failures_.size() >= max_failures) failures_.clear();
    failures_[work] = {until, std::move(problem), is_loop};
}

bool Upstreams::has_looped(const std::string& work) const {
    const std::lock_guard lock(mutex_);
    const auto failure = failures_.find(work);
    return failure != failures_.end() && failure->second.is_loop &&
           parts_.clock.now() < failure->second.until;
}

std::optional<wire::Problem> Upstreams::recent_failure(const std::string& work) const {
    const std::lock_guard lock(mutex_);
    const auto failure = failures_.find(work);
    if (failure == failures_.end() || parts_.clock.now() >= failure->second.until) return std::nullopt;
    return failure->second.problem;
}

// A client refers to the rules, which the errand or, while it is idle, the rules themselves keep.
std::unique_ptr<UpstreamClient> Upstreams::take_client(const Errand& errand) {
    const UpstreamConfig& upstream = *errand.candidate.upstream;
    std::unique_ptr<UpstreamClient> client;
    {
        const std::lock_guard lock(mutex_);
        auto& idle = errand.rules->clients[&upstream];
        if (!idle.empty()) {
            client = std::move(idle.back());
            idle.pop_back();
        }
    }
    const auto is_own = [&config = *errand.rules->config](const std::string& url) {
        return own_index(url, config).has_value();
    };
    if (!client) client = std::make_unique<UpstreamClient>(upstream, stopping_, is_own);
    client->send_via(errand.via);
    return client;
}

void Upstreams::give_client(const Errand& errand, std::unique_ptr<UpstreamClient> client) {
    const std::lock_guard lock(mutex_);
    auto& idle = errand.rules->clients[errand.candidate.upstream];
    if (idle.size() < max_idle_clients) idle.push_back(std::move(client));
}

}  // namespace wheelyard::registry
