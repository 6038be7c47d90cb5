// Answers requests for projects that no index has or owns, from the upstreams
// (docs/explanation/decisions/0013).
//
//     page:  source ─► cached page ─(old or missing)─► fetch, once for all who ask ─► merge, store ─► offer ─► render
//     file:  source ─► cached page ─► offered? ─► fetch, once for all who ask ─► blob, row, event ─► published tree
//                                                 └► a large one: sent while it arrives, its end after the event
//
// Threads: find() runs on the server's pool and reads the catalog and cache files only. Requests to upstreams
// run on threads of their own, pages beside files, and answer their waiters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/inheritance.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/store.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/metrics.hpp"
#include "registry/http/upstream.hpp"
#include "registry/upstream/file_fetch.hpp"
#include "registry/upstream/last_failures.hpp"
#include "registry/upstream/last_used.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/page_fetch.hpp"
#include "registry/upstream/page_store.hpp"
#include "registry/upstream/shared_work.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {

// What a page of a project lists; the indexer renders it (main.cpp joins the two).
struct OfferedProject {
    std::string project;
    std::vector<catalog::FileRow> files = {};
    std::vector<catalog::VariantsFile> variants = {};  // without their bytes
    catalog::ProjectStatus status = catalog::ProjectStatus::active;
    std::string status_reason = {};
    // Names of files with attestations that are asked for when somebody wants them, and the absolute URL of
    // the folder of the indexes, below which they are; empty: unknown.
    std::set<std::string, std::less<>> attested = {};
    std::string root_url = {};
};
struct ProjectPages {
    std::string html;
    std::string json;
};
using RenderProject = std::function<ProjectPages(OfferedProject)>;

// Every referenced object outlives the Upstreams.
struct UpstreamParts {
    ConfigView config;
    const database::Store& store;
    const blobs::BlobStore& blobs;
    Writer& writer;
    PublishQueue& pages;
    const base::Clock& clock;
    RenderProject render;
    LastUsed& last_used;
    unsigned inspect_threads = 1;
    const sigstore::TrustedRoot* trusted_root = &sigstore::public_root();  // of attestations
};

class Upstreams final : public http::UpstreamService {
  public:
    // Opens a connection of its own to the catalog.
    [[nodiscard]] static base::Result<std::unique_ptr<Upstreams>> open(UpstreamParts parts);
    ~Upstreams() override;

    // Requests go by the new configuration from now on; those in progress continue with it after the work
    // that they wait for, which ends as it began. One thread at a time.
    void use_new_config();

    [[nodiscard]] bool serves(std::string_view index) const override;
    void note_use(std::string_view filename, const std::string& sha256) override;
    void find(const http::UpstreamRequest& request, std::function<void(http::UpstreamAnswer)> then) override;
    // Aborts transfers within about a second and answers those who wait; for the end of the server.
    void stop();
    // What is known of the upstreams' projects, also of those that they lack.
    [[nodiscard]] PageStore& pages() { return store_; }
    // Changed hashes since the start.
    [[nodiscard]] std::uint64_t alarms() const { return counts_.alarms; }
    // For /metrics. None without upstreams.
    [[nodiscard]] std::vector<http::Sample> samples() const;

  private:
    using Then = std::function<void(http::UpstreamAnswer)>;
    // What a configuration says of upstreams, and the idle clients of those.
    struct Rules {
        explicit Rules(SharedConfig from);
        const SharedConfig config;
        const catalog::Inheritance inheritance;
        const std::set<std::string, std::less<>> served;
        const std::size_t upstreams;
        const bool has_cache_limit;
        std::map<const UpstreamConfig*, std::vector<std::unique_ptr<UpstreamClient>>> clients =
            {};  // with mutex_
    };
    using SharedRules = std::shared_ptr<Rules>;
    // One request, passed from step to step.
    struct Ask {
        http::UpstreamRequest request;
        std::string project;
        std::set<std::string> tried = {};  // names of work that ran for it
        SharedRules rules = {};            // of its present step, whose upstreams it refers to
        bool is_loop = false;              // it has come through this registry: nobody is asked for it
        Then then;
    };
    using SharedAsk = std::shared_ptr<Ask>;
    // The upstream that supplies a project, with its page.
    struct Supply {
        Candidate candidate;
        SharedPage page;  // its head
    };
    // A piece of work as the request that began it wants it.
    struct Errand {
        Candidate candidate;
        std::string work;  // its name
        std::string via;
        SharedRules rules;  // which the candidate refers to
    };
    struct Failure {
        base::UnixMicros until = 0;
        wire::Problem problem;
        bool is_loop = false;  // of the page: the upstream would have to ask this registry
    };
    struct Health {  // of one upstream
        base::UnixMicros not_before = 0;
        base::UnixMicros files_not_before = 0;  // it asked for a pause
        std::int64_t backoff_s = 0;
        std::optional<wire::Problem> problem =
            {};  // the last one without its value, for what is not asked because of it
    };
    struct Rendered {
        SharedPage page;
        std::shared_ptr<const UpstreamConfig> upstream;  // whose rules decide what is offered
        std::vector<catalog::FileRow> rows;              // that the catalog had
        std::vector<catalog::FileRow> marks;             // likewise
        std::optional<catalog::ProjectRow> status;       // likewise
        std::int64_t catalog_changes = -1;               // for which `rows` were compared
        base::UnixMicros until = 0;                      // the next end of a cooldown; 0: none
        std::shared_ptr<const http::RenderedPage> pages;
    };

    Upstreams(UpstreamParts parts, std::unique_ptr<const catalog::Catalog> reader);
    [[nodiscard]] SharedRules rules() const;
    [[nodiscard]] Errand errand_of(const Ask& ask, const Candidate& candidate, const std::string& work) const;

    // upstreams.cpp: the steps of a request. Each answers the ask, or hands it to work that continues it.
    void answer(const SharedAsk& ask);
    void answer_from(const SharedAsk& ask, const Source& source);
    void answer_absent(const SharedAsk& ask, const Source& source, const Candidate& candidate);
    void answer_loop(const SharedAsk& ask);
    [[nodiscard]] SharedPage supply_from(const SharedAsk& ask, const Source& source,
                                         const Candidate& candidate, std::span<const SharedPage> pages);
    void answer_page(const SharedAsk& ask, const Supply& supply);
    void answer_file(const SharedAsk& ask, const Supply& supply);
    // METADATA of a wheel, or a version's variants: small texts, which are no files of the store.
    void answer_text(const SharedAsk& ask, const Supply& supply, const UpstreamFile& file);
    // Those that the upstream has of a file, once they are verified.
    void answer_attestations(const SharedAsk& ask, const Supply& supply, const UpstreamFile& file);
    void answer_small(const SharedAsk& ask, const Supply& supply, const std::string& work,
                      std::function<void(const Errand&)> load);
    void answer_wheel(const SharedAsk& ask, const Supply& supply, const UpstreamFile& file);
    void await_published(const SharedAsk& ask);
    // What requests to upstreams say of the way of this one, and whether it has been here.
    [[nodiscard]] std::string via_of(const Ask& ask) const;
    [[nodiscard]] bool was_here(const std::string& via) const;

    // upstream_work.cpp: requests to upstreams.
    // The name of the work. The page of a former `url` is another one.
    [[nodiscard]] static std::string page_work_of(const UpstreamConfig& upstream, const Ask& ask);
    // A large file that is sent while it arrives. What nobody completes ends broken, and so does what was
    // announced with another size.
    class Passing {
      public:
        Passing(Upstreams& owner, SharedWork& pool, std::string work);
        ~Passing();
        Passing(const Passing&) = delete;
        Passing& operator=(const Passing&) = delete;
        void begin(http::SharedArrivingFile file);
        void complete(std::uint64_t bytes);  // of the whole file

      private:
        Upstreams& owner_;
        SharedWork& pool_;
        const std::string work_;
        http::SharedArrivingFile file_;
    };
    // nullptr: none, or its readers get no more.
    [[nodiscard]] http::SharedArrivingFile arriving(const std::string& work) const;
    [[nodiscard]] bool is_worth_asking(const Candidate& candidate, const std::string& work) const;
    [[nodiscard]] bool is_paused(const Candidate& candidate) const;
    void start(SharedWork& pool, const std::string& work, const Candidate& candidate, const SharedAsk& ask,
               std::function<void()> run);
    void refresh_page(const Errand& errand, const std::string& project);
    // With `removed = "quarantine"`: quarantines fetched files that the page does not list, and releases those
    // that it lists again.
    void follow_removals(const Errand& errand, const std::string& project, const CachedPage* before,
                         FetchedPage& fetched);
    // Says whether the upstream has another project now.
    [[nodiscard]] bool lists_another(const Errand& errand, const std::string& project);
    [[nodiscard]] base::Result<std::string> fetch_text(const Errand& errand, const std::string& url,
                                                       const io::HttpHeaders& headers,
                                                       std::uint64_t limit_bytes);
    void load_text(const Errand& errand, const UpstreamFile& file);
    void load_attestations(const Errand& errand, const UpstreamFile& file);
    // nullptr: none is kept, or it does not hold (any more) for this file.
    [[nodiscard]] std::shared_ptr<const std::string> kept_attestations(const UpstreamConfig& upstream,
                                                                       const UpstreamFile& file);
    [[nodiscard]] SharedWork& pool_of(const UpstreamFile& file);
    [[nodiscard]] std::array<SharedWork*, 3> pools() {
        return {&page_work_, &small_file_work_, &large_file_work_};
    }
    void load_wheel(const Errand& errand, const UpstreamFile& file);
    void note_success(const std::string& upstream);
    void note_failure(const std::string& upstream, std::int64_t pause_s);
    void remember_failure(const std::string& work, std::int64_t for_s, wire::Problem problem,
                          bool is_loop = false);
    struct Trouble {
        const UpstreamConfig& upstream;
        std::string project;
        std::string value;  // what the client asked for
        const base::Error& error;
        bool is_upstream_wide = false;
    };
    // As remember_failure(), for an error that time may cure; clients are told what it was and when the
    // upstream is asked again.
    void remember_trouble(const std::string& work, std::int64_t for_s, const Trouble& trouble);
    [[nodiscard]] bool has_looped(const std::string& work) const;
    void note_file_failure(const std::string& work, std::int64_t for_s, const UpstreamConfig& upstream,
                           const UpstreamFile& file, const base::Error& error);
    void keep_failure(const Trouble& trouble, base::UnixMicros next_try);
    [[nodiscard]] wire::Problem unavailable(const Candidate& candidate, const std::string& work,
                                            const std::string& value) const;
    // The row of what was fetched under this name.
    [[nodiscard]] base::Result<std::optional<catalog::FileRow>> fetched_row(const Candidate& candidate,
                                                                            const std::string& filename);
    [[nodiscard]] std::optional<wire::Problem> recent_failure(const std::string& work) const;
    [[nodiscard]] std::unique_ptr<UpstreamClient> take_client(const Errand& errand);
    void give_client(const Errand& errand, std::unique_ptr<UpstreamClient> client);

    // offered_page.cpp
    [[nodiscard]] static std::uint64_t size_of(const Rendered& rendered);
    // A file that was not fetched, with its marks.
    [[nodiscard]] base::Result<catalog::FileRow> marked_row(const UpstreamConfig& upstream,
                                                            const std::string& project,
                                                            const UpstreamFile& file);
    [[nodiscard]] base::Result<std::shared_ptr<const http::RenderedPage>> render(const Ask& ask,
                                                                                 const Supply& supply);

    UpstreamParts parts_;
    const std::string
        id_;  // of this run, in upstream_via_field: a restored store has not the name of its original
    mutable std::mutex rules_mutex_;
    SharedRules rules_;
    PageStore store_;
    LastFailures last_failures_;
    CutDownloads cut_downloads_;

    std::mutex reader_mutex_;
    const std::unique_ptr<const catalog::Catalog> reader_;

    mutable std::mutex mutex_;  // guards what is below, up to the counts
    std::map<std::string, Health> health_;
    std::map<std::string, std::string> last_listed_;  // by upstream: the project of its last page with files
    std::map<std::string, Failure> failures_;         // by the name of the work
    std::map<std::string, http::SharedArrivingFile> arriving_;  // by the name of the work
    std::set<std::string> verified_;  // attestations that hold: their keys, each with the hash of the bytes
    RecentlyUsed<std::shared_ptr<const Rendered>> rendered_{max_rendered_bytes};
    std::uint64_t dropped_bytes_ = 0;  // of it, since memory was given back

    struct Counts {
        std::atomic<std::uint64_t> page_requests = 0;
        std::atomic<std::uint64_t> pages_unchanged = 0;
        std::atomic<std::uint64_t> page_failures = 0;
        std::atomic<std::uint64_t> stale_pages = 0;  // served although old
        std::atomic<std::uint64_t> files = 0;
        std::atomic<std::uint64_t> file_bytes = 0;
        std::atomic<std::uint64_t> file_failures = 0;
        std::atomic<std::uint64_t> alarms = 0;
    };
    Counts counts_;
    std::atomic<bool> stopping_ = false;
    std::mutex large_page_read_, large_page_rendered_;  // held meanwhile
    std::counting_semaphore<> small_inspections_{inspections_at_once};
    std::counting_semaphore<> large_inspections_{inspections_at_once};
    // Last: their threads use all of the above.
    SharedWork page_work_;
    SharedWork small_file_work_;
    SharedWork large_file_work_;  // and those of unknown size
};

}  // namespace wheelyard::registry
