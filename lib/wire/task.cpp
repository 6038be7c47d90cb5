#include "lib/wire/task.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/version.hpp"
#include "lib/wire/members.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::wire {
namespace {

using base::Result;
using io::Json;

constexpr std::string_view task_format = "wheelyard.task/1";
constexpr std::string_view tasks_format = "wheelyard.tasks/1";
constexpr std::string_view claim_format = "wheelyard.claim/1";
constexpr std::string_view claimed_format = "wheelyard.claimed/1";
constexpr std::string_view lease_format = "wheelyard.lease/1";
constexpr std::string_view end_format = "wheelyard.task_end/1";
constexpr std::size_t max_document_depth = 32;
constexpr std::size_t sha256_digits = 64;

bool is_hex(std::string_view text, std::size_t digits) {
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_sha256(std::string_view text) {
    return is_hex(text, sha256_digits);
}

constexpr std::array<std::pair<TaskState, std::string_view>, 6> states{
    {{TaskState::awaits_approval, "awaits_approval"},
     {TaskState::queued, "queued"},
     {TaskState::claimed, "claimed"},
     {TaskState::done, "done"},
     {TaskState::failed, "failed"},
     {TaskState::cancelled, "cancelled"}}};

// A document, or a wish in it, that the queue does not take.
Result<Json> read_document(std::string_view body, std::string_view format) {
    auto document = io::parse_json(body, {.bytes = max_task_document, .depth = max_document_depth});
    if (!document || document->as_object() == nullptr)
        return fail("task.body", "The body must be a JSON object", std::string(body.substr(0, 80)),
                    "see docs/reference/task.md");
    if (document->string_or("format", "") != format)
        return fail("task.body", "The document does not have the format " + std::string(format),
                    document->string_or("format", ""), "see docs/reference/task.md");
    return *std::move(document);
}

Json render_time(base::UnixMicros time) {
    return time == 0 ? Json() : Json(base::render_rfc3339(time));
}

std::optional<UploadedSource> source_in(const Json& document) {
    const Json* source = document.find("source");
    if (source == nullptr || source->is_null()) return std::nullopt;
    return UploadedSource{source->string_or("index", ""), source->string_or("filename", ""),
                          source->string_or("sha256", "")};
}

TaskWish wish_in(const Json& document) {
    return {.index = document.string_or("index", ""),
            .package = document.string_or("package", ""),
            .version = document.string_or("version", ""),
            .python = document.string_or("python", ""),
            .accelerator = document.string_or("accelerator", ""),
            .source = source_in(document)};
}

Json wish_json(const TaskWish& wish) {
    Json document = Json::object({{"format", task_format},
                                  {"index", wish.index},
                                  {"package", wish.package},
                                  {"version", wish.version},
                                  {"python", wish.python},
                                  {"accelerator", wish.accelerator}});
    if (wish.source)
        document.set("source", Json::object({{"index", wish.source->index},
                                             {"filename", wish.source->filename},
                                             {"sha256", wish.source->sha256}}));
    return document;
}

// An agent builds the file that the task names, and no other.
Result<TaskWish> check_task(TaskWish wish) {
    WHEELYARD_ASSIGN(wish, check_wish(std::move(wish)));
    if (wish.source && (wish.source->filename.empty() || wish.source->sha256.empty()))
        return fail("task.body", "The uploaded source of a task must have a file name and a sha256",
                    wish.source->filename);
    return wish;
}

// A name and a digest that are given must be those of an sdist of this project and version.
base::Status check_source(const TaskWish& wish) {
    const UploadedSource& source = *wish.source;
    if (!is_task_word(source.index))
        return fail("task.wish", "An uploaded source must name the index that has it",
                    source.index.substr(0, 80));
    if (!source.sha256.empty() && !is_sha256(source.sha256))
        return fail("task.wish", "A sha256 must be 64 lower-case hex digits", source.sha256.substr(0, 80));
    if (source.filename.empty()) return {};
    const auto name = wheel::parse_sdist_filename(source.filename, wish.package);
    if (!is_task_word(source.filename) || !name || name->project != wish.package ||
        name->version.text() != wish.version)
        return fail("task.wish",
                    "Not the file name of a source distribution of " + wish.package + " " + wish.version,
                    source.filename.substr(0, 80));
    return {};
}

Result<Task> task_of(const Json& document) {
    Task task;
    task.id = document.string_or("id", "");
    if (!is_task_word(task.id)) return fail("task.body", "A task must have a valid id", task.id);
    WHEELYARD_ASSIGN(task.wish, check_task(wish_in(document)));
    const auto state = parse_task_state(document.string_or("state", ""));
    if (!state)
        return fail("task.body", "The state of the task is unknown", document.string_or("state", ""),
                    "upgrade this program");
    task.state = *state;
    task.reason = document.string_or("reason", "");
    task.asked_by = document.string_or("asked_by", "");
    task.approved_by = document.string_or("approved_by", "");
    task.asked = time_in(document, "asked");
    task.changed = time_in(document, "changed");
    task.attempts = document.int_or("attempts", 0);
    task.agent = document.string_or("agent", "");
    task.lease_until = time_in(document, "lease_until");
    task.log_bytes = document.int_or("log_bytes", 0);
    if (const Json* outcome = document.find("outcome")) task.outcome = *outcome;
    return task;
}

// The strings of a list; each must satisfy `fits`.
template <typename Fits>
Result<std::vector<std::string>> words_in(const Json& document, std::string_view name, Fits fits) {
    std::vector<std::string> words;
    const Json* member = document.find(name);
    if (member == nullptr) return words;
    if (member->as_array() == nullptr || member->as_array()->size() > max_claim_names)
        return fail("task.body", "`" + std::string(name) + "` must be a list of at most " +
                                     std::to_string(max_claim_names) + " names");
    for (const Json& item : *member->as_array()) {
        if (item.as_string() == nullptr || !fits(*item.as_string()))
            return fail("task.body", "`" + std::string(name) + "` contains an invalid name",
                        item.as_string() == nullptr ? std::string() : item.as_string()->substr(0, 80));
        words.push_back(*item.as_string());
    }
    return words;
}

Result<std::string> claim_in(const Json& document) {
    std::string claim = document.string_or("claim", "");
    if (is_claim_id(claim)) return claim;
    return fail("task.body", "A claim id must be 32 lower-case hex digits", claim.substr(0, 80),
                "use 128 random bits");
}

}  // namespace

std::string_view task_state_text(TaskState state) {
    return states.at(static_cast<std::size_t>(state)).second;
}

std::optional<TaskState> parse_task_state(std::string_view text) {
    for (const auto& [state, word] : states) {
        if (word == text) return state;
    }
    return std::nullopt;
}

bool is_claim_id(std::string_view text) {
    return is_hex(text, claim_id_length);
}

bool is_python_version(std::string_view text) {
    const auto parts = base::split(text, '.');
    return parts.size() == 2 && text.size() <= 8 && base::parse_decimal(parts[0]) &&
           base::parse_decimal(parts[1]);
}

bool is_task_word(std::string_view text) {
    return !text.empty() && text.size() <= max_task_word_bytes &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_alnum(c) || std::string_view("._-+!").find(c) != std::string_view::npos;
           });
}

Result<TaskWish> check_wish(TaskWish wish) {
    if (!is_task_word(wish.index)) return fail("task.wish", "A task must name an index", wish.index);
    if (!is_task_word(wish.package) || !wheel::is_valid_name(wish.package))
        return fail("task.wish", "A task must name one project (PEP 508)", wish.package.substr(0, 80));
    wish.package = wheel::normalize_name(wish.package);
    const auto version = wheel::Version::parse(wish.version);
    if (!version || !is_task_word(wish.version))
        return fail("task.wish", "A task must name one exact version (PEP 440)", wish.version.substr(0, 80),
                    "for example 2.4.0");
    wish.version = version->text();
    if (!is_python_version(wish.python))
        return fail("task.wish", "A task must name one Python version", wish.python.substr(0, 80),
                    "for example 3.11");
    if (!wish.accelerator.empty() && !is_task_word(wish.accelerator))
        return fail("task.wish", "Not a valid accelerator name", wish.accelerator.substr(0, 80),
                    "use the name of one of the site's [[accelerator]] tables");
    if (wish.source) WHEELYARD_TRY(check_source(wish));
    return wish;
}

bool meets_version(std::string_view made, std::string_view wanted) {
    const auto one = wheel::Version::parse(made);
    const auto other = wheel::Version::parse(wanted);
    if (!one || !other) return false;
    return other->has_local() ? *one == *other : one->compare_public(*other) == std::strong_ordering::equal;
}

bool meets_python(const std::vector<wheel::Tag>& tags, std::string_view python) {
    constexpr std::uint64_t newest =
        99;  // of major and minor number: supported tags are enumerated down from it
    const auto parts = base::split(python, '.');
    const auto major = base::parse_decimal(parts.front());
    const auto minor = base::parse_decimal(parts.back());
    if (parts.size() != 2 || !major || !minor || *major > newest || *minor > newest) return false;
    wheel::Environment environment;
    environment.python_major = static_cast<int>(*major);
    environment.python_minor = static_cast<int>(*minor);
    // CPython, its free-threaded build, PyPy.
    constexpr std::array<std::pair<bool, bool>, 3> kinds{{{true, false}, {true, true}, {false, false}}};
    return std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) {
        std::tie(environment.cpython, environment.free_threaded) = kind;
        const std::vector<wheel::Tag> supported = wheel::supported_tags(environment);
        return std::any_of(supported.begin(), supported.end(), [&](const wheel::Tag& there) {
            return std::any_of(tags.begin(), tags.end(), [&](const wheel::Tag& tag) {
                return tag.python == there.python && tag.abi == there.abi;
            });
        });
    });
}

std::string render_wish(const TaskWish& wish) {
    return wish_json(wish).render();
}

Result<TaskWish> parse_wish(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, task_format));
    return check_wish(wish_in(document));
}

Json task_json(const Task& task) {
    Json document = task_row_json(task);
    document.set("outcome", task.outcome);
    return document;
}

Json task_row_json(const Task& task) {
    Json document = wish_json(task.wish);
    document.set("id", task.id);
    document.set("state", task_state_text(task.state));
    document.set("reason", task.reason);
    document.set("asked_by", task.asked_by);
    if (task.wish.source) document.set("approved_by", task.approved_by);
    document.set("asked", render_time(task.asked));
    document.set("changed", render_time(task.changed));
    document.set("attempts", task.attempts);
    document.set("agent", task.agent);
    document.set("lease_until", render_time(task.lease_until));
    document.set("log_bytes", task.log_bytes);
    return document;
}

std::string render_tasks(const std::vector<Task>& tasks) {
    Json rows = Json::array();
    for (const Task& task : tasks)
        rows.push(task_row_json(task));
    return Json::object({{"format", tasks_format}, {"tasks", std::move(rows)}}).render();
}

Result<Task> parse_task(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, task_format));
    return task_of(document);
}

Result<std::vector<Task>> parse_tasks(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, tasks_format));
    std::vector<Task> tasks;
    const Json* rows = document.find("tasks");
    if (rows == nullptr || rows->as_array() == nullptr)
        return fail("task.body", "A list of tasks must have the member `tasks`");
    for (const Json& row : *rows->as_array()) {
        WHEELYARD_ASSIGN(Task task, task_of(row));
        tasks.push_back(std::move(task));
    }
    return tasks;
}

std::string render_claim(const ClaimOffer& offer) {
    Json document = Json::object({{"format", claim_format},
                                  {"claim", offer.claim},
                                  {"index", offer.index},
                                  {"agent", offer.agent},
                                  {"pythons", Json::array_of(offer.pythons)},
                                  {"accelerators", Json::array_of(offer.accelerators)}});
    if (offer.packages) document.set("packages", Json::array_of(*offer.packages));
    if (!offer.task.empty()) document.set("task", offer.task);
    document.set("uploaded_sources",
                 Json::object({{"builds", offer.uploads.builds}, {"reason", offer.uploads.reason}}));
    return document.render();
}

Result<ClaimOffer> parse_claim(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, claim_format));
    ClaimOffer offer;
    WHEELYARD_ASSIGN(offer.claim, claim_in(document));
    offer.index = document.string_or("index", "");
    offer.agent = document.string_or("agent", "");
    offer.task = document.string_or("task", "");
    for (const std::string* word : {&offer.index, &offer.agent}) {
        if (!is_task_word(*word))
            return fail("task.body", "A claim must name its index and its agent", word->substr(0, 80));
    }
    if (!offer.task.empty() && !is_task_word(offer.task))
        return fail("task.body", "Not a valid task id", offer.task.substr(0, 80));
    WHEELYARD_ASSIGN(offer.pythons, words_in(document, "pythons", is_python_version));
    WHEELYARD_ASSIGN(offer.accelerators, words_in(document, "accelerators", is_task_word));
    if (const Json* uploads = document.find("uploaded_sources")) {
        offer.uploads.builds = uploads->bool_or("builds", false);
        offer.uploads.reason = base::cut_utf8(uploads->string_or("reason", ""), max_uploads_reason_bytes);
    }
    const Json* packages = document.find("packages");
    if (packages != nullptr && !packages->is_null()) {
        WHEELYARD_ASSIGN(offer.packages, words_in(document, "packages", wheel::is_valid_name));
        for (std::string& package : *offer.packages)
            package = wheel::normalize_name(package);
    }
    return offer;
}

std::string render_claimed(const Claimed& claimed) {
    Json document = Json::object({{"format", claimed_format}});
    document.set("task", claimed.task ? task_json(*claimed.task) : Json());
    if (claimed.task) {
        document.set("index", claimed.index);
        document.set("lease_s", claimed.lease_s);
        document.set("grant", claimed.grant);
    }
    return document.render();
}

Result<Claimed> parse_claimed(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, claimed_format));
    Claimed claimed;
    const Json* task = document.find("task");
    if (task == nullptr || task->is_null()) return claimed;
    WHEELYARD_ASSIGN(claimed.task, task_of(*task));
    claimed.index = document.string_or("index", "");
    claimed.lease_s = document.int_or("lease_s", 0);
    claimed.grant = document.string_or("grant", "");
    if (!is_task_word(claimed.index) || !is_task_word(claimed.grant) || claimed.lease_s <= 0)
        return fail("task.body", "A claimed task must have index, lease_s and grant");
    return claimed;
}

std::string render_lease_request(std::string_view claim) {
    return Json::object({{"format", lease_format}, {"claim", claim}}).render();
}

Result<std::string> parse_lease_request(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, lease_format));
    return claim_in(document);
}

std::string render_lease(const Lease& lease) {
    return Json::object(
               {{"format", lease_format}, {"lease_s", lease.lease_s}, {"log_bytes", lease.log_bytes}})
        .render();
}

Result<Lease> parse_lease(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, lease_format));
    const Lease lease{document.int_or("lease_s", 0), document.int_or("log_bytes", -1)};
    if (lease.lease_s <= 0 || lease.log_bytes < 0)
        return fail("task.body", "A lease must have lease_s and log_bytes");
    return lease;
}

std::string render_task_end(const TaskEnd& end) {
    std::string document = Json::object({{"format", end_format}, {"claim", end.claim}}).render();
    document.back() = ',';  // append one more member, already rendered
    return document + "\"outcome\":" + render_outcome(end.outcome) + "}";
}

Result<TaskEnd> parse_task_end(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, end_format));
    TaskEnd end;
    WHEELYARD_ASSIGN(end.claim, claim_in(document));
    const Json* outcome = document.find("outcome");
    if (outcome == nullptr || outcome->as_object() == nullptr)
        return fail("task.body", "The end of a task must have an outcome");
    auto parsed = parse_outcome(outcome->render());
    if (!parsed) return fail("task.body", parsed.error().sentence, parsed.error().value);
    end.outcome = *std::move(parsed);
    return end;
}

}  // namespace wheelyard::wire
