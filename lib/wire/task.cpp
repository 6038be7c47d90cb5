// The documents of the task service as JSON.
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
#include "lib/wire/documents.hpp"
#include "lib/wire/fields.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::wire {
namespace {

using base::Result;
using io::field;
using io::Json;
using io::Need;

constexpr std::string_view task_format = "wheelyard.task/1";
constexpr std::string_view claim_format = "wheelyard.claim/2";
constexpr std::size_t max_document_depth = 32;
constexpr std::size_t sha256_digits = 64;

bool is_hex(std::string_view text, std::size_t digits) {
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_sha256(std::string_view text) {
    return is_hex(text, sha256_digits);
}

constexpr auto request_record = io::record<TaskRequest>({
    field<&TaskRequest::index>("index", "the index whose site should build it"),
    field<&TaskRequest::package>("package", "one project"),
    field<&TaskRequest::version>(
        "version",
        "one exact version (PEP 440); a wheel with a local label satisfies a version without one. The "
        "recipe is the agent's own: a task carries no command"),
    field<&TaskRequest::python>("python", "`3.11`"),
    field<&TaskRequest::accelerator>("accelerator", "one of the site's accelerators, or empty"),
    field<io::Nested<uploaded_record>, &TaskRequest::source>(
        "source", "absent, or the [uploaded source](#uploaded-sources)", Need::valid,
        io::Written::unless_null),
});

// A task that needed an approval has it.
struct ApprovedBy {
    static Json to(const Task& task) {
        return task.request.source || !task.approved_by.empty() ? Json(task.approved_by) : Json();
    }
    static bool from(const Json& json, Task& into) {
        return io::Plain<std::string>::from(json, into.approved_by);
    }
    static std::string type() { return io::Plain<std::string>::type(); }
};

// The members of a task after those of its request.
constexpr auto task_record = io::record<Task>({
    field<&Task::id>("id", "the task's ID", Need::required),
    field<io::WordOf<task_states>, &Task::state>("state", "as above", Need::required),
    field<&Task::reason>("reason", "explains the state to people"),
    field<&Task::asked_by>("asked_by", "the token's name, or `local:USER`"),
    io::field_of<Task, ApprovedBy>(
        "approved_by", "who approved it; empty: nobody yet; absent: it needed no approval, or has none",
        Need::optional, io::Written::unless_null),
    field<io::Time, &Task::asked>("asked", "when it was added"),
    field<io::Time, &Task::changed>("changed", "when it entered its state"),
    field<&Task::attempts>("attempts", "how often it was claimed"),
    field<&Task::agent>("agent", "the agent of the site that has it, or had it last"),
    field<io::Time, &Task::lease_until>("lease_until", "until when its site has it; null: no site has it"),
});

// Lists leave it out.
struct OutcomeOrNull : io::Rendered<outcome_document> {
    static constexpr bool may_be_null = true;
};
constexpr auto outcome_of_task = io::record<Task>({
    field<OutcomeOrNull, &Task::outcome>(
        "outcome", "how it ended ([wheelyard.outcome/1](journal.md#wheelyardoutcome1)); null: not yet",
        Need::optional, io::Written::unless_null),
});

// Without its outcome.
struct InList : io::OnlyWritten {
    static Json to(const Task& task) { return task_row_json(task); }
    static std::string type() { return "object"; }
    static io::Document document() { return task_document(); }
};

constexpr auto tasks_record = io::record_of<std::vector<Task>, io::ListOf<InList>>(
    "tasks", "the tasks, without outcomes", "wheelyard.tasks/1");
constexpr auto claimed_record = io::record<Claimed>(
    {
        field<&Claimed::index>("index", "the index that the wheels are uploaded to"),
        field<&Claimed::lease_s>("lease_s", "the site has the tasks for so long from now, in seconds"),
        field<io::ListOf<InList>, &Claimed::tasks>("tasks", "all that the site has"),
    },
    "wheelyard.claimed/2");

// A list of names; each must satisfy `fits`.
template <bool (*fits)(std::string_view)>
struct Names : io::Plain<std::vector<std::string>> {
    static bool from(const Json& json, std::vector<std::string>& into, io::Fault& fault) {
        if (json.items().size() > max_claim_names || !io::Plain<std::vector<std::string>>::from(json, into))
            return false;
        const auto odd = std::find_if(json.items().begin(), json.items().end(), [](const Json& item) {
            return item.as_string() == nullptr || !fits(*item.as_string());
        });
        if (odd == json.items().end()) return true;
        fault.expected = "a list of valid names";
        fault.value = odd->as_string() == nullptr ? "" : odd->as_string()->substr(0, 80);
        return false;
    }
    static std::string type() { return "list of at most " + std::to_string(max_claim_names) + ": text"; }
};

constexpr auto claim_record = io::record<ClaimOffer>({
    field<&ClaimOffer::index>("index", "the index whose tasks it takes", Need::required),
    field<&ClaimOffer::agent>("agent", "the name of the agent: SITE.HOST, the host without its domain",
                              Need::required),
    field<Names<is_python_version>, &ClaimOffer::pythons>("pythons", "`3.11`, …", Need::valid),
    field<Names<is_task_word>, &ClaimOffer::accelerators>("accelerators", "names in the site file",
                                                          Need::valid),
    field<Names<wheel::is_valid_name>, &ClaimOffer::packages>("packages", "absent: any", Need::valid,
                                                              io::Written::unless_null),
    field<Names<is_task_word>, &ClaimOffer::tasks>("tasks", "the tasks that it works at", Need::valid),
    field<Names<is_task_word>, &ClaimOffer::agents>(
        "agents", "other names under which the agent asked for them, as on other login nodes", Need::valid),
    field<&ClaimOffer::room>("room", "how many more it would take", Need::valid),
    field<&ClaimOffer::uploads, &UploadsOffer::builds>("uploaded_sources.builds",
                                                       "whether the site builds uploaded sources"),
    field<&ClaimOffer::uploads, &UploadsOffer::reason>("uploaded_sources.reason", "why not, for people"),
});

// A document, or a request in it, that the queue does not take.
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

template <typename Owner, std::size_t Count>
base::Status read(const io::Record<Owner, Count>& record, const Json& document, Owner& into) {
    io::Fault fault;
    if (record.read(document, into, fault)) return {};
    return fail("task.body", fault.sentence(), fault.value, "see docs/reference/task.md");
}

template <typename Owner, std::size_t Count>
Json write(const io::Record<Owner, Count>& record, std::string_view format, const Owner& owner) {
    Json document = Json::object({{"format", format}});
    record.write_into(document, owner);
    return document;
}

// An agent builds the file that the task names, and no other.
Result<TaskRequest> check_task(TaskRequest request) {
    WHEELYARD_ASSIGN(request, check_task_request(std::move(request)));
    if (request.source && (request.source->filename.empty() || request.source->sha256.empty()))
        return fail("task.body", "The uploaded source of a task must have a file name and a sha256",
                    request.source->filename);
    return request;
}

// A name and a digest that are given must be those of an sdist of this project and version.
base::Status check_source(const TaskRequest& request) {
    const UploadedSource& source = *request.source;
    if (!is_task_word(source.index))
        return fail("task.wish", "An uploaded source must name the index that has it",
                    source.index.substr(0, 80));
    if (!source.sha256.empty() && !is_sha256(source.sha256))
        return fail("task.wish", "A sha256 must be 64 lower-case hex digits", source.sha256.substr(0, 80));
    if (source.filename.empty()) return {};
    const auto name = wheel::parse_sdist_filename(source.filename, request.package);
    if (!is_task_word(source.filename) || !name || name->project != request.package ||
        name->version.text() != request.version)
        return fail(
            "task.wish",
            "Not the file name of a source distribution of " + request.package + " " + request.version,
            source.filename.substr(0, 80));
    return {};
}

Result<Task> task_of(const Json& document) {
    Task task;
    WHEELYARD_TRY(read(request_record, document, task.request));
    WHEELYARD_TRY(read(task_record, document, task));
    if (!is_task_word(task.id)) return fail("task.body", "A task must have a valid id", task.id);
    WHEELYARD_ASSIGN(task.request, check_task(std::move(task.request)));
    if (const Json* outcome = document.find("outcome")) task.outcome = *outcome;
    return task;
}

Result<std::vector<Task>> tasks_in(const Json& document) {
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

}  // namespace

std::string_view task_state_text(TaskState state) {
    return task_states.text(state);
}

std::optional<TaskState> parse_task_state(std::string_view text) {
    return task_states.find(text);
}

std::string_view site_of_agent(std::string_view agent) {
    return agent.substr(0, agent.rfind('.'));
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

Result<TaskRequest> check_task_request(TaskRequest request) {
    if (!is_task_word(request.index)) return fail("task.wish", "A task must name an index", request.index);
    if (!is_task_word(request.package) || !wheel::is_valid_name(request.package))
        return fail("task.wish", "A task must name one project (PEP 508)", request.package.substr(0, 80));
    request.package = wheel::normalize_name(request.package);
    const auto version = wheel::Version::parse(request.version);
    if (!version || !is_task_word(request.version))
        return fail("task.wish", "A task must name one exact version (PEP 440)",
                    request.version.substr(0, 80), "for example 2.4.0");
    request.version = version->text();
    if (!is_python_version(request.python))
        return fail("task.wish", "A task must name one Python version", request.python.substr(0, 80),
                    "for example 3.11");
    if (!request.accelerator.empty() && !is_task_word(request.accelerator))
        return fail("task.wish", "Not a valid accelerator name", request.accelerator.substr(0, 80),
                    "use the name of one of the site's [[accelerator]] tables");
    if (request.source) WHEELYARD_TRY(check_source(request));
    return request;
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

std::string render_task_request(const TaskRequest& request) {
    return write(request_record, task_format, request).render();
}

Result<TaskRequest> parse_task_request(std::string_view body, std::string index) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, task_format));
    TaskRequest request;
    request.index = std::move(index);
    WHEELYARD_TRY(read(request_record, document, request));
    return check_task_request(std::move(request));
}

Json task_json(const Task& task) {
    Json document = task_row_json(task);
    document.set("outcome", Json());
    outcome_of_task.write_into(document, task);
    return document;
}

Json task_row_json(const Task& task) {
    Json document = write(request_record, task_format, task.request);
    task_record.write_into(document, task);
    return document;
}

std::string render_tasks(const std::vector<Task>& tasks) {
    return tasks_record.write(tasks).render();
}

Result<Task> parse_task(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, task_format));
    return task_of(document);
}

Result<std::vector<Task>> parse_tasks(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, tasks_record.format));
    return tasks_in(document);
}

std::string render_claim(const ClaimOffer& offer) {
    return write(claim_record, claim_format, offer).render();
}

Result<ClaimOffer> parse_claim(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, claim_format));
    ClaimOffer offer;
    WHEELYARD_TRY(read(claim_record, document, offer));
    for (const std::string* word : {&offer.index, &offer.agent}) {
        if (!is_task_word(*word))
            return fail("task.body", "An agent must name its index and itself", word->substr(0, 80));
    }
    if (offer.room < 0 || offer.room > static_cast<std::int64_t>(max_site_tasks))
        return fail("task.body", "The room must be a number of tasks", std::to_string(offer.room),
                    "ask for at most " + std::to_string(max_site_tasks));
    offer.uploads.reason.resize(base::cut_utf8(offer.uploads.reason, max_uploads_reason_bytes).size());
    if (offer.packages) {
        for (std::string& package : *offer.packages)
            package = wheel::normalize_name(package);
    }
    return offer;
}

std::string render_claimed(const Claimed& taken) {
    return claimed_record.write(taken).render();
}

Result<Claimed> parse_claimed(std::string_view body) {
    WHEELYARD_ASSIGN(const Json document, read_document(body, claimed_record.format));
    Claimed taken{document.string_or("index", ""), document.int_or("lease_s", 0), {}};
    if (!is_task_word(taken.index) || taken.lease_s <= 0)
        return fail("task.body", "What a site has must name an index and lease_s");
    WHEELYARD_ASSIGN(taken.tasks, tasks_in(document));
    return taken;
}

io::Document task_document() {
    return {task_format, {request_record.members, task_record.members, outcome_of_task.members}};
}

io::Document tasks_document() {
    return io::document_of<tasks_record>();
}

io::Document claimed_document() {
    return io::document_of<claimed_record>();
}

std::string document_task() {
    return request_record.document(task_format) + task_record.rows();
}

std::string document_claim() {
    return claim_record.document(claim_format);
}

}  // namespace wheelyard::wire
