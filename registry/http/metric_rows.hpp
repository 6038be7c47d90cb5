// Every metric of /metrics: type, name, labels, meaning. The text, the table of
// docs/reference/registry-monitoring.md (tests/registry/http/metrics_test.cpp) and the Grafana dashboard
// (scripts/generate-dashboard) are made of these rows; the alert rules may use no other name.
//
//     Sample{"connections", 12}    // a name without a row does not compile
//
// Names follow Prometheus (https://prometheus.io/docs/practices/naming): what only grows is a counter and ends
// in `_total`, the word before it is the unit, which is a base unit: seconds, bytes.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace wheelyard::http {

// A summary has no quantiles: `_sum` and `_count`.
enum class MetricType { counter, gauge, histogram, summary };

struct MetricRow {
    MetricType type;
    std::string_view part;    // of the registry: a heading of the document and of the dashboard
    std::string_view name;    // without "wheelyard_"; "process_…" has no such prefix
    std::string_view labels;  // separated by commas
    std::string_view help;    // a sentence without its full stop, in Markdown
};

namespace metric {
inline constexpr MetricType counter = MetricType::counter;
inline constexpr MetricType gauge = MetricType::gauge;
inline constexpr MetricType histogram = MetricType::histogram;
inline constexpr MetricType summary = MetricType::summary;

// clang-format off
inline constexpr MetricRow rows[] = {
    {gauge, "State", "ready", "", "1 while `/readyz` answers 200"},
    {gauge, "State", "not_ready", "reason", "1 for the one reason that `/readyz` gives, 0 for all others"},
    {gauge, "State", "build_info", "version,commit", "1, with the version of the program"},
    {counter, "State", "process_cpu_seconds_total", "", "CPU time of the process, in user and system mode"},
    {gauge, "State", "process_resident_memory_bytes", "", "Resident memory of the process"},
    {gauge, "State", "process_open_fds", "", "Open file descriptors of the process"},
    {gauge, "State", "process_max_fds", "", "Limit of open file descriptors"},
    {gauge, "State", "process_start_time_seconds", "", "Start of the process, in seconds since 1970"},

    {counter, "Requests", "requests_total", "route,status", "Requests answered"},
    {histogram, "Requests", "request_duration_seconds", "route", "Time from the end of the request head to the end of the response"},
    {counter, "Requests", "sent_bytes_total", "route", "Response body bytes (Content-Length)"},
    {counter, "Requests", "received_bytes_total", "", "Bytes of uploads and API bodies received"},
    {gauge, "Requests", "connections", "", "Clients connected"},
    {gauge, "Requests", "max_connections", "", "Limit of connected clients"},
    {gauge, "Requests", "files_in_progress", "", "Files and large pages being sent"},
    {gauge, "Requests", "max_files", "", "Limit of files being sent"},
    {gauge, "Requests", "api_requests_in_progress", "", "API requests in progress"},

    {gauge, "Uploads", "uploads_in_progress", "", "Uploads in progress"},
    {gauge, "Uploads", "max_uploads", "", "Limit of uploads in progress"},
    {gauge, "Uploads", "top_token_uploads", "", "Uploads in progress of the token with the most"},
    {gauge, "Uploads", "max_token_uploads", "", "Limit of uploads in progress of one token"},
    {gauge, "Uploads", "uploads_waiting_for_page", "", "Committed uploads whose page is not published yet"},
    {counter, "Uploads", "uploads_cut_total", "", "Uploads whose client disconnected before the end"},
    {counter, "Uploads", "uploads_token_busy_total", "", "Uploads refused because their token had too many in progress"},
    {counter, "Uploads", "tasks_removed_total", "", "Ended tasks removed after `kept_days`"},

    {gauge, "Pages", "serial_visible", "", "The newest event whose pages are published"},
    {gauge, "Pages", "serial_wanted", "", "The newest event that a request waits for"},
    {summary, "Pages", "publish_duration_seconds", "", "Time of a publish run"},
    {counter, "Pages", "publish_failures_total", "", "Publish runs that failed"},
    {gauge, "Pages", "publish_lag_seconds", "", "Time for which the pages have been behind"},
    {gauge, "Pages", "publish_lagging_pages", "", "Pages that the last run could not update"},
    {gauge, "Pages", "publish_damaged_pages", "", "Of them, those that lack only a lost or damaged blob"},
    {gauge, "Pages", "publish_late_root_pages", "", "Large root pages that lack a project's name, plus 1 while the web UI or compressed copies are behind"},
    {gauge, "Pages", "publish_root_lag_seconds", "", "Time for which they have lacked it"},
    {gauge, "Pages", "publish_waiting", "", "Requests that wait for pages"},

    {gauge, "Store", "store_free_bytes", "", "Free space on the store's disk"},
    {gauge, "Store", "store_min_free_bytes", "", "Free space below which uploads are refused"},
    {gauge, "Store", "store_reserve", "", "1 while the reserve for administrators is allocated"},
    {gauge, "Store", "store_writable", "", "1 while the last trial writes to the catalog and to the tasks succeeded"},
    {gauge, "Store", "commits_queued", "", "Commits that wait for the catalog's writer"},
    {summary, "Store", "database_duration_seconds", "", "Time of a statement of the databases"},
    {summary, "Store", "s3_request_duration_seconds", "", "Time of a request to the bucket, with its bodies; each try counts"},
    {counter, "Store", "s3_request_failures_total", "", "Of them, those without an answer, or with an error other than 404 and 416"},
    {counter, "Store", "scrub_rounds_total", "", "Complete rounds of the scrub"},
    {counter, "Store", "scrub_blobs_total", "", "Blobs that these rounds read"},
    {counter, "Store", "scrub_faults_total", "", "Damaged and missing blobs that the scrub found"},
    {gauge, "Store", "last_scrub_timestamp_seconds", "", "End of the last complete scrub or `verify`, in seconds since 1970; 0: none"},
    {gauge, "Store", "last_backup_timestamp_seconds", "", "End of the last complete `backup`, in seconds since 1970; 0: none"},

    {gauge, "Indexes", "index_files", "index", "Files of the index that count for its quota, as all of these of indexes with a quota that are not private"},
    {gauge, "Indexes", "index_quota_files", "index", "Quota of files of the index"},
    {gauge, "Indexes", "index_bytes", "index", "Bytes of the index that count for its quota"},
    {gauge, "Indexes", "index_quota_bytes", "index", "Quota of bytes of the index"},
    {gauge, "Indexes", "index_top_token_files", "index", "Files of the token with the most bytes in the index, whose name the log of its uploads shows"},
    {gauge, "Indexes", "index_token_quota_files", "index", "Quota of files for each token in the index"},
    {gauge, "Indexes", "index_top_token_bytes", "index", "Bytes of the token with the most bytes in the index"},
    {gauge, "Indexes", "index_token_quota_bytes", "index", "Quota of bytes for each token in the index"},
    {gauge, "Indexes", "site_report_age_seconds", "index,site", "Time since the last report of a site"},
    {gauge, "Indexes", "site_late", "index,site", "1 while the next report of a site is overdue"},

    {counter, "Upstreams", "upstream_page_requests_total", "", "Requests for pages sent to upstreams"},
    {counter, "Upstreams", "upstream_pages_unchanged_total", "", "Of them, those answered 304"},
    {counter, "Upstreams", "upstream_page_failures_total", "", "Of them, those without a usable answer"},
    {counter, "Upstreams", "upstream_stale_pages_total", "", "Answers from a page past its freshness"},
    {counter, "Upstreams", "upstream_files_total", "", "Files fetched and stored"},
    {counter, "Upstreams", "upstream_file_bytes_total", "", "Their size"},
    {counter, "Upstreams", "upstream_file_failures_total", "", "Files that could not be fetched or stored"},
    {counter, "Upstreams", "upstream_alarms_total", "", "Changed hashes, wrong bytes and lost projects of upstreams"},
    {gauge, "Upstreams", "upstream_waiting", "", "Requests to upstreams that wait for a thread"},
    {gauge, "Upstreams", "upstream_memory_bytes", "", "Memory that pages of upstreams take, with what their compressed copies take as a rule, at most 144 MiB and one page"},
    {counter, "Upstreams", "upstream_given_back_files_total", "", "Fetched files evicted, with `max_cache_mib`"},
    {counter, "Upstreams", "upstream_given_back_bytes_total", "", "Their size"},
    {gauge, "Upstreams", "upstream_cache_bytes", "upstream", "Fetched files in the cache, for each public upstream with a limit"},
    {gauge, "Upstreams", "upstream_cache_limit_bytes", "upstream", "`max_cache_mib` of the upstream"},

    {gauge, "Nodes", "node_serving", "", "Of several nodes: 1 while this one may answer from its pages"},
    {gauge, "Nodes", "node_reading_only", "", "1 while the database does not answer and this node goes on reading"},
    {gauge, "Nodes", "node_lease_seconds", "", "Rest of this node's lease"},
    {counter, "Nodes", "node_lapses_total", "", "Leases of this node that ended although it ran"},
    {gauge, "Nodes", "node_clock_ahead_seconds", "", "This node's clock less the database's, at the last renewal"},
    {gauge, "Nodes", "node_writer", "", "1 while this node accepts changes; the sum over all nodes is 1 except for seconds"},
    {gauge, "Nodes", "node_knows_writer", "", "1 while this node writes or knows the one that does"},
    {gauge, "Nodes", "node_file_differs", "", "1 while the file of another node differs in what all should have alike"},
    {counter, "Nodes", "node_lost_histories_total", "", "Times that the database had lost events which this node had shown, as after a failover to an asynchronous standby; its pages were made again"},
};
// clang-format on

// Is called only for a name without a row: no function that a constant may call.
void there_is_no_row_of_this_name();
}  // namespace metric

// The row of a name. A conversion of a literal, which the compiler looks up.
class Metric {
  public:
    consteval Metric(const char* name) : at_(find(name)) {}  // NOLINT(google-explicit-constructor)
    [[nodiscard]] constexpr std::size_t at() const { return at_; }
    [[nodiscard]] constexpr const MetricRow& row() const { return metric::rows[at_]; }

  private:
    static consteval std::size_t find(std::string_view name) {
        for (std::size_t at = 0; at < std::size(metric::rows); ++at) {
            if (metric::rows[at].name == name) return at;
        }
        metric::there_is_no_row_of_this_name();
        return 0;
    }
    std::size_t at_;
};

[[nodiscard]] std::string_view type_of(const MetricRow& row);  // as the text format names it
// "seconds", "bytes", or empty: a number of things.
[[nodiscard]] std::string_view unit_of(const MetricRow& row);
[[nodiscard]] std::string full_name_of(const MetricRow& row);
// The rows as tables in Markdown, one of each part.
[[nodiscard]] std::string render_metric_rows();

}  // namespace wheelyard::http
