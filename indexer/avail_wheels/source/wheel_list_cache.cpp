// Conditional requests (RFC 9110, section 13) and the cache of their responses.
#include "indexer/avail_wheels/source/wheel_list_cache.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/limits.hpp"

namespace wheelyard::avail_wheels {
namespace {

constexpr std::int64_t wheel_list_fresh_s = 60;  // age up to which a cached wheel list is used without asking
constexpr std::uint64_t max_wheel_list_state_bytes = 64 * base::kib;

}  // namespace

namespace fs = std::filesystem;
using io::Json;

namespace {

constexpr int status_ok = 200;
constexpr int status_not_modified = 304;

struct State {
    base::UnixMicros asked = 0;  // time of the index's last response
    bool absent = false;         // the index has no wheel list
    std::string base_etag;
    std::string delta_etag;
};

State read_state(const fs::path& file) {
    const auto text = base::read_file(file, max_wheel_list_state_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<Json>(Json());
    if (!json || json->string_or("format", {}) != "wheelyard.catalogue-cache/1") return {};
    return {std::max<std::int64_t>(0, json->int_or("asked", 0)), json->bool_or("absent", false),
            json->string_or("base_etag", {}), json->string_or("delta_etag", {})};
}

void write_state(const fs::path& file, const State& state) {
    const Json json = Json::object({{"format", "wheelyard.catalogue-cache/1"},
                                    {"asked", state.asked},
                                    {"absent", state.absent},
                                    {"base_etag", state.base_etag},
                                    {"delta_etag", state.delta_etag}});
    // If this fails, the index is asked again next time; nothing else is lost.
    (void)base::replace_file(file, json.render_pretty());
}

// Updates one of the two files. False: the index has no such file.
base::Result<bool> refresh(const simple::GetPage& get, const std::string& url, const fs::path& file,
                           std::string& etag) {
    io::HttpHeaders headers{{"Accept", "text/plain, */*;q=0.1"}};
    std::error_code gone;
    const bool is_kept = fs::exists(file, gone);
    if (is_kept && !etag.empty()) headers.emplace_back("If-None-Match", etag);
    simple::WheelListArrival arrival(file);
    const io::HttpSink sink = [&arrival](std::string_view bytes) { return arrival.take(bytes); };
    const auto answer = get(url, headers, {simple::max_wheel_list_bytes, &sink});
    // An answer that is no wheel list (such as a login page) must not replace one.
    if (!answer && answer.error().kind == base::ErrorKind::malformed && !arrival.is_one()) return false;
    if (!answer) return base::fail(answer.error());
    if (answer->status == status_not_modified && is_kept) return true;
    if (simple::is_refusal(answer->status)) {  // the pages say why
        WHEELYARD_TRY(base::remove_file(file));
        etag.clear();
        return false;
    }
    if (answer->status != status_ok) {
        return base::fail("catalogue.http",
                          "The index answered with status " + std::to_string(answer->status), {},
                          "try again later");
    }
    if (!arrival.is_one()) return false;
    WHEELYARD_TRY(arrival.finish());
    etag = answer->header("etag");
    return true;
}

base::Status refresh_both(const simple::GetPage& get, const std::string& simple_url, const fs::path& folder,
                          State& state) {
    const std::string url = simple_url + (simple_url.ends_with('/') ? "" : "/");
    WHEELYARD_ASSIGN(const bool has_base, refresh(get, url + std::string(simple::wheel_list_name),
                                                  folder / simple::wheel_list_name, state.base_etag));
    state.absent = !has_base;
    if (!has_base) return {};
    WHEELYARD_ASSIGN(const bool has_delta, refresh(get, url + std::string(simple::wheel_list_delta_name),
                                                   folder / simple::wheel_list_delta_name, state.delta_etag));
    (void)has_delta;
    return {};
}

// Of another version, damaged, or too large.
bool is_unreadable(const base::Error& error) {
    return error.kind == base::ErrorKind::malformed || error.kind == base::ErrorKind::too_large;
}

// What the index answers, where nothing of it can be kept: no home, one that is full or read-only.
base::Result<WheelListAnswer> fetch_unkept(const simple::GetPage& get, const std::string& simple_url) {
    WheelListAnswer answer;
    const auto folder = base::TempDir::make("wheelyard-index");
    if (!folder) return answer;
    State state;
    const auto asked = refresh_both(get, simple_url, folder->path(), state);
    const bool is_asked = asked || asked.error().os_error != 0 || is_unreadable(asked.error());
    if (!is_asked) return base::fail(asked.error());
    if (!asked || state.absent) return answer;
    if (auto wheel_list = simple::WheelList::open(folder->path())) answer.wheel_list = std::move(*wheel_list);
    return answer;  // without a wheel list the caller reads the pages
}

// False: there are files, and they do not parse.
bool is_kept_whole(const fs::path& folder) {
    const auto kept = simple::WheelList::open(folder);
    return kept || kept.error().os_error == ENOENT;
}

// The index's folder. One that a version with another hash made is taken over by its readable name.
fs::path kept_folder(const fs::path& cache, const std::string& simple_url) {
    fs::path folder = index_folder(cache, simple_url);
    std::error_code error;
    if (fs::exists(folder, error)) return folder;
    const std::string name = folder.filename().native();
    const std::string readable = name.substr(0, name.rfind('-') + 1);
    std::vector<fs::path> older;
    for (fs::directory_iterator entry(folder.parent_path(), error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string other = entry->path().filename().native();
        if (other.size() == name.size() && other.starts_with(readable)) older.push_back(entry->path());
    }
    if (older.size() == 1) fs::rename(older[0], folder, error);
    return folder;
}

std::string host_of(const std::string& url) {
    const auto parsed = base::parse_url(url);
    return parsed ? parsed->host : std::string("the index");
}

}  // namespace

fs::path index_folder(const fs::path& cache, const std::string& simple_url) {
    constexpr std::size_t max_readable = 100;
    const auto parsed = base::parse_url(simple_url);
    // Without user and password: even a hash could leak them.
    const std::string shown = parsed ? parsed->text_without_secrets() : simple_url;
    std::string name;
    for (const char c : shown.substr(0, max_readable))
        name += base::is_ascii_alnum(c) || c == '.' || c == '-' ? c : '_';
    return cache / "index" / (name + "-" + base::hash_text_hex(shown));
}

base::Result<WheelListAnswer> fetch_wheel_list(const simple::GetPage& get, const std::string& simple_url,
                                               const fs::path& cache, const base::Clock& clock,
                                               Freshness freshness) {
    WheelListAnswer answer;
    if (cache.empty() && freshness == Freshness::cached) return answer;
    if (cache.empty()) return fetch_unkept(get, simple_url);
    const fs::path folder = kept_folder(cache, simple_url);
    State state = read_state(folder / "state.json");
    bool is_kept = true;
    // No ETag is sent for a file that does not parse: the index would confirm the damage.
    if (!is_kept_whole(folder)) {
        state.base_etag.clear();
        state.delta_etag.clear();
        if (!state.absent) is_kept = false;
    }
    const auto age = clock.now() - state.asked;
    const bool is_recent = is_kept && age >= 0 && age < wheel_list_fresh_s * base::second_us;
    if (freshness != Freshness::cached && (freshness == Freshness::now || !is_recent)) {
        std::error_code error;
        fs::create_directories(folder, error);
        // A private index's wheel list, too, and homes may be open to others.
        if (!error) fs::permissions(folder, fs::perms::owner_all, error);
        if (error) return fetch_unkept(get, simple_url);
        const auto asked = refresh_both(get, simple_url, folder, state);
        if (!asked && asked.error().os_error != 0) {
            WHEELYARD_ASSIGN(answer, fetch_unkept(get, simple_url));
            answer.warning = "what the index answers is not kept: " + asked.error().text();
            return answer;
        }
        if (!asked && is_unreadable(asked.error())) {  // the caller reads the pages instead
            answer.warning = asked.error().text();
            return answer;
        }
        if (asked) {
            state.asked = clock.now();
            write_state(folder / "state.json", state);
        } else if (state.asked == 0 || state.absent) {
            return base::fail(asked.error());
        } else {
            answer.warning = host_of(simple_url) + " is not reachable (" + asked.error().sentence +
                             "); showing its answer from " + base::render_duration_ms(age / 1000) + " ago";
        }
    }
    if (state.absent) return answer;
    auto wheel_list = simple::WheelList::open(folder);
    if (wheel_list) {
        answer.wheel_list = std::move(*wheel_list);
    } else {  // the caller reads the pages instead
        answer.warning = wheel_list.error().os_error == ENOENT ? std::string() : wheel_list.error().text();
    }
    return answer;
}

void forget_wheel_list(const fs::path& cache, const std::string& simple_url) {
    if (cache.empty()) return;
    const fs::path folder = kept_folder(cache, simple_url);
    // What cannot be removed is not used either: without its state it has no ETag.
    for (const std::string_view name :
         {std::string_view("state.json"), simple::wheel_list_name, simple::wheel_list_delta_name})
        (void)base::remove_file(folder / name);
}

}  // namespace wheelyard::avail_wheels
