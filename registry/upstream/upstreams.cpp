// The steps of a request. A step that lacks something starts the work that brings it, and the request begins
// again after that; `Ask::tried` ends the circle.
#include "registry/upstream/upstreams.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/upstream/freshness.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/offer.hpp"
#include "registry/upstream/supplier.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t stale_while_revalidate_s = 3600;  // served at once, and fetched again behind that
constexpr std::size_t max_via_bytes = 512;  // a request through more registries than that goes in a circle
constexpr std::size_t max_waiting_work = 1'024;

using Kind = http::UpstreamAnswer::Kind;

constexpr std::string_view metadata_suffix = ".metadata";

// "six-1.0-py3-none-any.whl.metadata" → the file
std::string_view without_suffix(std::string_view filename) {
    for (const std::string_view suffix : {metadata_suffix, http::attestations_suffix})
        if (filename.ends_with(suffix)) return filename.substr(0, filename.size() - suffix.size());
    return filename;
}

http::UpstreamAnswer problem_answer(wire::Problem problem) {
    return {.kind = Kind::problem, .problem = std::move(problem)};
}

wire::Problem log_internal_problem(const base::Error& error) {
    io::log_error("upstream.failed", {{"error", error.text()}});
    return http::internal_problem("report the request ID to the administrator");
}

wire::Problem quarantined_problem(const catalog::FileRow& row) {
    const std::string why = row.state_reason.empty() ? "no reason is recorded" : row.state_reason;
    return wire::make_problem("upstream.quarantined", "In quarantine: " + why,
                              "The registry keeps this file in quarantine: " + why + ".", row.filename,
                              "ask the administrator of this registry");
}

// The project that a request is about; empty if there is no such name.
std::string project_of(const http::UpstreamRequest& request) {
    if (!request.project.empty()) return request.project;
    const auto name = parse_offered_name(without_suffix(request.filename));
    return name ? name->project : std::string();
}

bool is_usable(const std::string& project) {
    return project.size() <= max_project_bytes && wheel::is_valid_name(project) &&
           wheel::normalize_name(project) == project;
}

std::set<std::string, std::less<>> served_indexes(const RegistryConfig& config,
                                                  const catalog::Inheritance& inheritance) {
    std::set<std::string, std::less<>> served;
    for (const IndexConfig& index : config.indexes)
        if (has_upstreams(config, inheritance, index.name)) served.insert(index.name);
    return served;
}

enum class Age { fresh, stale, old };
Age age_of(const CachedPage& page, const UpstreamConfig& upstream, base::UnixMicros now) {
    if (page.is_of_other(upstream.url)) return Age::old;
    if (now < page.fresh_until) return Age::fresh;
    return now < page.fresh_until + stale_while_revalidate_s * base::second_us ? Age::stale : Age::old;
}

}  // namespace

Upstreams::Rules::Rules(SharedConfig from)
    : config(std::move(from)),
      inheritance(index_rules(*config)),
      served(served_indexes(*config, inheritance)),
      upstreams(config->cache_names().size()),
      has_cache_limit(registry::has_cache_limit(*config)) {}

base::Result<std::unique_ptr<Upstreams>> Upstreams::open(UpstreamParts parts) {
    WHEELYARD_ASSIGN(auto reader, parts.store.reader());
    return std::unique_ptr<Upstreams>(new Upstreams(std::move(parts), std::move(reader)));
}

Upstreams::Upstreams(UpstreamParts parts, std::unique_ptr<const catalog::Catalog> reader)
    : parts_(std::move(parts)),
      id_("wheelyard-" + base::encode_hex(base::random_bytes(8))),
      rules_(std::make_shared<Rules>(parts_.config.held().shared())),
      store_(rules_->config->store / "upstream"),
      last_failures_(rules_->config->store / "upstream"),
      reader_(std::move(reader)),
      page_work_(page_threads, max_waiting_work, rules_->upstreams),
      small_file_work_(file_threads, max_waiting_work, rules_->upstreams),
      large_file_work_(file_threads, max_waiting_work, rules_->upstreams) {}

Upstreams::~Upstreams() {
    stop();
}

void Upstreams::stop() {
    stopping_ = true;
    for (SharedWork* work : pools())
        work->stop();
}

// What is remembered of an upstream belongs to its address and its credentials.
void Upstreams::use_new_config() {
    const SharedRules next = std::make_shared<Rules>(parts_.config.held().shared());
    const SharedRules before = [&] {
        const std::lock_guard lock(rules_mutex_);
        return std::exchange(rules_, next);
    }();
    for (SharedWork* work : pools())
        work->set_owners(next->upstreams);
    const std::lock_guard lock(mutex_);
    for (const IndexConfig& index : before->config->indexes) {
        const IndexConfig* now = next->config->find_index(index.name);
        if (now != nullptr && now->upstreams == index.upstreams) continue;
        for (const UpstreamConfig& upstream : index.upstreams)
            health_.erase(upstream.cache_index);
        failures_.clear();
    }
}

Upstreams::SharedRules Upstreams::rules() const {
    const std::lock_guard lock(rules_mutex_);
    return rules_;
}

Upstreams::Errand Upstreams::errand_of(const Ask& ask, const Candidate& candidate,
                                       const std::string& work) const {
    return {candidate, work, via_of(ask), ask.rules};
}

bool Upstreams::serves(std::string_view index) const {
    return rules()->served.contains(index);
}

// METADATA is read by every resolver, also for versions that nobody installs.
void Upstreams::note_use(std::string_view filename, const std::string& sha256) {
    if (!rules()->has_cache_limit || without_suffix(filename) != filename || is_variants_file(filename))
        return;
    parts_.last_used.note(sha256, parts_.clock.now());
}

void Upstreams::find(const http::UpstreamRequest& request, Then then) {
    const auto ask = std::make_shared<Ask>(
        Ask{.request = request, .project = project_of(request), .then = std::move(then)});
    if (!is_usable(ask->project)) return ask->then({});
    if (was_here(ask->request.via)) {
        ask->is_loop = true;
        ask->request.may_wait = false;
    }
    answer(ask);
}

std::string Upstreams::via_of(const Ask& ask) const {
    return ask.request.via.empty() ? id_ : ask.request.via + ", " + id_;
}

bool Upstreams::was_here(const std::string& via) const {
    if (via.size() > max_via_bytes) return true;
    const auto registries = base::split(via, ',');
    return std::any_of(registries.begin(), registries.end(),
                       [this](std::string_view one) { return base::trim(one) == id_; });
}

void Upstreams::answer(const SharedAsk& ask) {
    const SharedRules now = rules();  // to the end of this step, also if the next one has others
    ask->rules = now;
    std::unique_lock lock(reader_mutex_);
    const auto source =
        find_source(*now->config, now->inheritance, *reader_, ask->request.index, ask->project);
    lock.unlock();
    if (!source) return ask->then(problem_answer(log_internal_problem(source.error())));
    if (source->kind == SourceKind::upstream) return answer_from(ask, *source);
    // Files that were fetched before the configuration denied the project are in the tree.
    const bool is_denied =
        source->kind == SourceKind::nobody && std::any_of(source->steps.begin(), source->steps.end(),
                                                          [](const SourceStep& step) { return step.has; });
    if (!is_denied) return ask->then({});
    ask->then(problem_answer(wire::make_problem(
        "upstream.denied", "Not found", "The configuration of this index does not permit this project.",
        ask->project, "ask the administrator of this registry")));
}

// The first candidate that has the project supplies it, unless another one supplied it before. A candidate
// that does not answer and has no cached page ends the search: the next one must not take its place.
void Upstreams::answer_from(const SharedAsk& ask, const Source& source) {
    std::vector<SharedPage> pages;
    for (const Candidate& candidate : source.candidates)
        pages.push_back(store_.head(candidate.upstream->cache_index, ask->project));
    bool is_only_ours = false;
    for (std::size_t i = 0; i < source.candidates.size(); ++i) {
        const Candidate& candidate = source.candidates[i];
        const SharedPage& page = pages[i];
        if (!may_supply(candidate, source.candidates, pages, ask->request.index)) continue;
        const std::string work = page_work_of(*candidate.upstream, *ask);
        const auto run = [this, errand = errand_of(*ask, candidate, work), project = ask->project] {
            refresh_page(errand, project);
        };
        const Age age = page ? age_of(*page, *candidate.upstream, parts_.clock.now()) : Age::old;
        // A file's hash is its identity: any page that lists it will do.
        const bool will_do = age != Age::old || (page && !page->is_absent && !ask->request.sha256.empty());
        if (!will_do && ask->request.may_wait && !ask->tried.contains(work) &&
            is_worth_asking(candidate, work))
            return start(page_work_, work, candidate, ask, run);
        if (age == Age::stale && !ask->is_loop && is_worth_asking(candidate, work))
            page_work_.start(work, {candidate.upstream->cache_index, ask->request.client}, run, {});
        if (!page || (page->is_absent && age == Age::old)) {
            if (candidate.has_files) return answer_absent(ask, source, candidate);
            // What the upstream has of its own, it would have sent.
            if (ask->is_loop || has_looped(work)) {
                is_only_ours = is_only_ours || !ask->request.via.empty();
                continue;
            }
            return ask->then(problem_answer(unavailable(candidate, work, ask->project)));
        }
        const Standing standing = standing_of(candidate, page.get());
        if (standing == Standing::passes) continue;
        if (standing != Standing::supplies) return answer_absent(ask, source, candidate);
        if (age != Age::fresh) ++counts_.stale_pages;
        const Supply supply{candidate, supply_from(ask, source, candidate, pages)};
        if (!supply.page) return ask->then(problem_answer(http::upstream_unavailable(ask->project)));
        if (ask->request.filename.empty()) return answer_page(ask, supply);
        return answer_file(ask, supply);
    }
    if (is_only_ours) return answer_loop(ask);
    // No upstream has the project: 404, unless files of it were fetched while one had it.
    ask->then({});
}

void Upstreams::answer_loop(const SharedAsk& ask) {
    if (ask->is_loop)
        io::log_warn("upstream.loop", {{"index", ask->request.index},
                                       {"project", ask->project},
                                       {"via", ask->request.via.substr(0, max_via_bytes)}});
    http::UpstreamAnswer answer = problem_answer(http::upstream_loop(ask->project));
    answer.via = id_;
    ask->then(std::move(answer));
}

// The published tree lists what was fetched of the first candidate that has files: it is the answer only if
// no other one has any.
void Upstreams::answer_absent(const SharedAsk& ask, const Source& source, const Candidate& candidate) {
    const auto is_other = [&](const Candidate& other) { return &other != &candidate && other.has_files; };
    if (std::none_of(source.candidates.begin(), source.candidates.end(), is_other)) return ask->then({});
    ask->then(problem_answer(wire::make_problem(
        "upstream.kept", "Not found",
        "The upstream to which this project belongs has no files of it now, and no other one may supply it.",
        ask->project, "ask the administrator of this registry")));
}

// From now on nobody else supplies the project to this index, nor to those through which it has the upstream,
// whatever upstreams they get. nullptr: that could not be stored, and another upstream might take the name.
SharedPage Upstreams::supply_from(const SharedAsk& ask, const Source& source, const Candidate& candidate,
                                  std::span<const SharedPage> pages) {
    const SharedPage& page = pages[static_cast<std::size_t>(&candidate - source.candidates.data())];
    const auto is_noted = [&](const std::string& index) {
        return std::find(page->supplies.begin(), page->supplies.end(), index) != page->supplies.end();
    };
    std::vector<std::string> unnoted;
    for (const std::string& index : candidate.shown_by) {
        const Candidate* const supplier = supplier_of(source.candidates, pages, index);
        if (!is_noted(index) && (supplier == nullptr || supplier == &candidate)) unnoted.push_back(index);
    }
    if (unnoted.empty()) return page;
    auto noted = store_.note_supply(candidate.upstream->cache_index, ask->project, unnoted);
    if (noted && *noted) return store_.head(candidate.upstream->cache_index, ask->project);
    if (noted) return page;
    io::log_error("upstream.page_not_stored", {{"project", ask->project}, {"error", noted.error().text()}});
    const bool has_rival = source.candidates.size() > 1 && !is_noted(ask->request.index);
    return has_rival ? nullptr : page;
}

void Upstreams::answer_page(const SharedAsk& ask, const Supply& supply) {
    auto pages = render(*ask, supply);
    if (!pages) return ask->then(problem_answer(log_internal_problem(pages.error())));
    ask->then({.kind = Kind::page, .page = *std::move(pages), .upstream = supply.candidate.upstream->name});
}

// Only a file that the page offers now is fetched, under the hash that the page gives.
void Upstreams::answer_file(const SharedAsk& ask, const Supply& supply) {
    const http::UpstreamRequest& request = ask->request;
    const std::string_view filename = without_suffix(request.filename);
    const bool is_metadata = request.filename.ends_with(metadata_suffix);
    const bool is_attestations = request.filename.ends_with(http::attestations_suffix);
    const UpstreamConfig& upstream = *supply.candidate.upstream;
    const SharedPage page = store_.find(upstream.cache_index, ask->project);
    if (!page) return ask->then({});
    const auto row = fetched_row(supply.candidate, std::string(filename));
    if (!row) return ask->then(problem_answer(log_internal_problem(row.error())));
    // What is said about the file is held back with it.
    const bool is_of_row = *row && (request.sha256.empty() || (*row)->sha256 == request.sha256);
    if (is_of_row && (*row)->state == catalog::FileState::quarantined)
        return ask->then(problem_answer(quarantined_problem(**row)));
    const auto& files = page->files;
    const auto file = std::find_if(files.begin(), files.end(), [&](const UpstreamFile& candidate) {
        return candidate.link.filename == filename &&
               (candidate.link.sha256 == request.sha256 || (is_attestations && request.sha256.empty()));
    });
    const bool is_offered =
        file != files.end() && !page->is_quarantined() && (*row || offers_unfetched(*page, upstream)) &&
        why_withheld(*file, ask->project, upstream, parts_.clock.now()) == Withheld::nothing;
    if (!is_offered) return ask->then({});
    if (!request.version.empty() && parse_offered_name(filename)->version.text() != request.version)
        return ask->then({});
    if (!*row) {
        const auto marked = marked_row(upstream, ask->project, *file);
        if (!marked) return ask->then(problem_answer(log_internal_problem(marked.error())));
        if (marked->state == catalog::FileState::quarantined)
            return ask->then(problem_answer(quarantined_problem(*marked)));
    }
    if (is_attestations) return answer_attestations(ask, supply, *file);
    if (is_metadata || is_variants_file(filename)) return answer_text(ask, supply, *file);
    if (*row) return await_published(ask);
    answer_wheel(ask, supply, *file);
}

void Upstreams::answer_text(const SharedAsk& ask, const Supply& supply, const UpstreamFile& file) {
    const std::string hash = hash_of_text(file);
    if (hash.empty()) return ask->then({});
    const std::string& cache_index = supply.candidate.upstream->cache_index;
    const std::string key = key_of_text(file);
    auto bytes = store_.find_metadata(cache_index, key, hash);
    if (bytes) return ask->then({.kind = Kind::text, .text = std::move(bytes)});
    answer_small(ask, supply, "metadata " + cache_index + "/" + key + "/" + hash,
                 [this, file](const Errand& errand) { load_text(errand, file); });
}

void Upstreams::answer_attestations(const SharedAsk& ask, const Supply& supply, const UpstreamFile& file) {
    const UpstreamConfig& upstream = *supply.candidate.upstream;
    if (!has_attestations(file, upstream)) return ask->then({});
    if (auto bytes = kept_attestations(upstream, file))
        return ask->then({.kind = Kind::text, .text = std::move(bytes)});
    answer_small(ask, supply, "attestations " + upstream.cache_index + "/" + key_of_attestations(file),
                 [this, file](const Errand& errand) { load_attestations(errand, file); });
}

// What is not kept yet: `load` brings it, or remembers why not.
void Upstreams::answer_small(const SharedAsk& ask, const Supply& supply, const std::string& work,
                             std::function<void(const Errand&)> load) {
    if (const auto failure = recent_failure(work)) return ask->then(problem_answer(*failure));
    if (ask->is_loop) return answer_loop(ask);
    if (ask->tried.contains(work) || is_paused(supply.candidate) || !ask->request.may_wait)
        return ask->then(problem_answer(unavailable(supply.candidate, work, ask->project)));
    start(page_work_, work, supply.candidate, ask,
          [errand = errand_of(*ask, supply.candidate, work), load = std::move(load)] { load(errand); });
}

void Upstreams::answer_wheel(const SharedAsk& ask, const Supply& supply, const UpstreamFile& file) {
    const std::string work =
        "file " + supply.candidate.upstream->cache_index + "/" + file.link.sha256 + "/" + file.link.filename;
    if (const auto failure = recent_failure(work)) return ask->then(problem_answer(*failure));
    auto file_so_far = arriving(work);
    const bool is_arriving = file_so_far != nullptr;
    if (is_arriving && ask->request.may_arrive)
        return ask->then({.kind = Kind::arriving, .arriving = std::move(file_so_far)});
    const bool may_start = !ask->tried.contains(work) && !is_paused(supply.candidate);
    if (ask->is_loop) return answer_loop(ask);
    if ((!may_start && !is_arriving) || !ask->request.may_wait)
        return ask->then(problem_answer(unavailable(supply.candidate, work, ask->project)));
    start(pool_of(file), work, supply.candidate, ask,
          [this, errand = errand_of(*ask, supply.candidate, work), file] { load_wheel(errand, file); });
}

// The file is committed; the tree has it once its page is published.
void Upstreams::await_published(const SharedAsk& ask) {
    std::unique_lock lock(reader_mutex_);
    const auto serial = reader_->last_serial();
    lock.unlock();
    if (!serial) return ask->then(problem_answer(log_internal_problem(serial.error())));
    const PageOf page{ask->request.index, ask->project, ask->request.filename};
    parts_.pages.call_when_visible(*serial, page, [ask](const base::Status& visible) {
        if (visible) return ask->then({});
        io::log_warn("upstream.page_lags", {{"project", ask->project}, {"error", visible.error().text()}});
        ask->then(problem_answer(http::upstream_unavailable(ask->project)));
    });
}

std::vector<http::Sample> Upstreams::samples() const {
    if (rules()->served.empty()) return {};
    const auto number = [](const std::atomic<std::uint64_t>& count) { return static_cast<double>(count); };
    std::unique_lock lock(mutex_);
    const std::uint64_t rendered = rendered_.bytes();
    lock.unlock();
    return {{"upstream_memory_bytes", static_cast<double>(store_.memory_bytes() + rendered)},
            {"upstream_page_requests_total", number(counts_.page_requests)},
            {"upstream_pages_unchanged_total", number(counts_.pages_unchanged)},
            {"upstream_page_failures_total", number(counts_.page_failures)},
            {"upstream_stale_pages_total", number(counts_.stale_pages)},
            {"upstream_files_total", number(counts_.files)},
            {"upstream_file_bytes_total", number(counts_.file_bytes)},
            {"upstream_file_failures_total", number(counts_.file_failures)},
            {"upstream_alarms_total", number(counts_.alarms)},
            {"upstream_waiting", static_cast<double>(page_work_.waiting() + small_file_work_.waiting() +
                                                     large_file_work_.waiting())}};
}

}  // namespace wheelyard::registry
