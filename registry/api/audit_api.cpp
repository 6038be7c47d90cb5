// The audit log, and what the people in it are called.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/file_members.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/fields.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"

namespace wheelyard::registry {
namespace {

// Events in one reply of the audit log, and those that a filter looks at for it.
constexpr std::size_t max_events_returned = 1'000;
constexpr std::int64_t max_events_read = 100'000;
constexpr std::size_t max_filter_bytes = 200;  // of one part of the filter

using catalog::EventFilter;
using io::field;

// As the request has them.
struct AuditQuery {
    catalog::Serial after = 0;
    catalog::Serial before = 0;  // 0: none
    std::int64_t newest = 0;     // a number of events; 0: from `after` on
    EventFilter filter = {};
    std::string from = {};
    std::string until = {};
};
constexpr auto of_audit = arguments<AuditQuery>({
    in_query(field<&AuditQuery::after>("after", "Only after this serial")),
    in_query(field<&AuditQuery::before>("before", "Only before this serial")),
    in_query(field<&AuditQuery::newest>("newest", "The last ones, at most so many")),
    in_query(field<&AuditQuery::filter, &EventFilter::who>(
        "who", "Only changes by those with this part in their name")),
    in_query(field<&AuditQuery::filter, &EventFilter::kind>(
        "action", "Only changes with this part in their kind, such as yank")),
    in_query(field<&AuditQuery::filter, &EventFilter::what>(
        "what", "Only changes of projects or files with this part in their name")),
    in_query(field<&AuditQuery::filter, &EventFilter::index>("index", "Only this index")),
    in_query(field<&AuditQuery::filter, &EventFilter::project>("project", "Only this project")),
    in_query(field<&AuditQuery::filter, &EventFilter::filename>("filename", "Only this file")),
    in_query(field<&AuditQuery::from>("from", "Only from this day or time on (UTC): 2026-11-20")),
    in_query(field<&AuditQuery::until>("until", "Only until this day, which is in it, or time")),
});

wire::Answered<catalog::EventRange> check_query(AuditQuery& asked) {
    if (asked.newest < 0 || asked.newest > static_cast<std::int64_t>(max_events_returned))
        return refuse("lifecycle.newest", "`newest` must be a number of events, at most 1000",
                      std::to_string(asked.newest), "newest=50 shows the last 50 events");
    EventFilter& filter = asked.filter;
    for (const auto& [name, part] :
         {std::pair{"who", &filter.who}, std::pair{"action", &filter.kind}, std::pair{"what", &filter.what},
          std::pair{"index", &filter.index}, std::pair{"project", &filter.project},
          std::pair{"filename", &filter.filename}}) {
        if (part->size() > max_filter_bytes)
            return refuse("audit.query", "A part of the filter is over 200 bytes", name,
                          "search for a shorter part of it");
    }
    filter.kind = base::replace_all(filter.kind, " ", "_");
    if (!filter.project.empty()) filter.project = wheel::normalize_name(filter.project);
    if (const base::Status read = catalog::read_times(asked.from, asked.until, filter); !read)
        return refuse("audit.query", read.error().sentence, read.error().value, read.error().advice);
    catalog::EventRange range;
    range.after = asked.after;
    if (asked.before != 0) range.before = asked.before;
    range.is_newest = asked.newest > 0 || asked.before != 0;
    range.limit = asked.newest > 0 ? static_cast<std::size_t>(asked.newest) : max_events_returned;
    return range;
}

// Those who are called so: what is searched for is a part of what a list shows,
// "login:campus:3f2a9c81d04e77b0 Anna Müller".
std::string people_called(const std::string& who, const ShownNames& names) {
    const std::string folded = base::fold_case(who);
    std::string people;
    for (const auto& [name, shown] : names) {
        if (base::fold_case(name + " " + shown).find(folded) != std::string::npos)
            people += (people.empty() ? " " : "") + name + " ";
    }
    return people;
}

struct ShownEvent {
    catalog::Event event;
    std::string actor_name;
};
constexpr auto actor_record = io::record<ShownEvent>({
    field<&ShownEvent::actor_name>("actor_name", "what people call the actor; absent: not known",
                                   io::Need::optional, io::Written::if_given),
});
struct EventWithName : io::OnlyWritten {
    static io::Json to(const ShownEvent& shown) {
        io::Json json = catalog::event_to_json(shown.event);
        actor_record.write_into(json, shown);
        return json;
    }
    static std::string type() { return "object"; }
    static io::Document document() {
        return {.name = {}, .tables = {catalog::event_members(), actor_record.members}};
    }
};
struct ShownAudit {
    std::vector<ShownEvent> events = {};
    std::optional<catalog::Serial> next = {};
};
constexpr auto audit_record = io::record<ShownAudit>(
    {
        field<io::ListOf<EventWithName>, &ShownAudit::events>("events", "in the order of their serials"),
        field<&ShownAudit::next>("next", "where the next page begins; null: there is none"),
    },
    "wheelyard.audit/1");
constexpr auto people_record = io::record_of<wire::NamedTexts, wire::TextPairs>(
    "names", "what people are called, by the name that lists have", "wheelyard.people/1");

Reply read_audit(const ApiParts& parts, const Call& call, AuditQuery asked) {
    const auto wanted = check_query(asked);
    if (!wanted) return tl::unexpected(wanted.error());
    const auto names = parts.tokens.shown_names();
    if (!asked.filter.who.empty()) asked.filter.people = people_called(asked.filter.who, names);
    std::vector<catalog::Event> events;
    ShownAudit shown;
    // A connection of its own: a filter looks at many events, and commits must not wait for that.
    const auto read =
        parts.store.reader().and_then([&](const std::unique_ptr<catalog::Catalog>& reader) -> base::Status {
            catalog::EventRange range = *wanted;
            WHEELYARD_ASSIGN(const catalog::Serial last, reader->last_serial());
            range.before = std::min(range.before, last + 1);
            range.after = std::min(range.after, last);
            if (range.is_newest)
                range.after = std::max(range.after, range.before - 1 - max_events_read);
            else
                range.before = std::min(range.before, range.after + 1 + max_events_read);
            WHEELYARD_ASSIGN(events, reader->find_events(asked.filter, range));
            const bool is_full = events.size() == range.limit;
            if (range.is_newest) {
                const catalog::Serial first = is_full ? events.front().serial : range.after + 1;
                if (first > wanted->after + 1) shown.next = first;
            } else {
                const catalog::Serial seen = is_full ? events.back().serial : range.before - 1;
                if (seen < std::min(wanted->before - 1, last)) shown.next = seen;
            }
            return {};
        });
    if (!read) return fail_read(call, read.error());
    for (catalog::Event& event : events) {
        const auto name = names.find(event.actor);
        shown.events.push_back({std::move(event), name == names.end() ? std::string() : name->second});
    }
    return reply_with(audit_record.write(shown));
}

// What everybody who reads an index may see of its changes: no actors, and reasons only of yanks, which its
// pages show.
constexpr std::int64_t shown_days = 7;
constexpr std::size_t max_changes_returned = 200;
constexpr std::int64_t max_changes_read = 20'000;  // of all indexes, for one reply

struct ChangesOf {
    std::string index;
};
constexpr auto changes_of = arguments<ChangesOf>({in_path(field<&ChangesOf::index>("index", "The index"))});
struct FileChange {
    std::string kind;
    catalog::Event event;
};
struct FileChanges {
    std::vector<FileChange> changes = {};
    bool is_cut = false;
};
constexpr auto file_change_record = io::record<FileChange>({
    field<&FileChange::kind>("kind", "`new`, `gone` (deleted, or in quarantine) or `yanked`"),
    field<io::Moment, &FileChange::event, &catalog::Event::time>("time", "when"),
    field<&FileChange::event, &catalog::Event::project>("project", "its normalised name"),
    field<&FileChange::event, &catalog::Event::filename>("filename", "the file"),
    field<&FileChange::event, &catalog::Event::reason>("reason", "of a yank", io::Need::optional,
                                                       io::Written::if_given),
});
constexpr auto file_changes_record = io::record<FileChanges>(
    {
        field<io::ListOf<io::Nested<file_change_record>>, &FileChanges::changes>(
            "changes", "the newest first, at most 200"),
        field<&FileChanges::is_cut>("cut", "whether there may be more"),
    },
    "wheelyard.file_changes/1");

std::string_view word_of(catalog::EventKind kind) {
    using catalog::EventKind;
    switch (kind) {
        case EventKind::file_added:
        case EventKind::file_promoted:
        case EventKind::file_released:
            return "new";
        case EventKind::file_deleted:
        case EventKind::file_quarantined:
            return "gone";
        case EventKind::file_yanked:
            return "yanked";
        default:
            return {};
    }
}

Reply list_file_changes(const ApiParts& parts, const Call& call, const ChangesOf& of) {
    const auto index = index_to_read(parts.config, call.caller, of.index, {});
    if (!index) return tl::unexpected(index.error());
    std::vector<catalog::Event> events;
    FileChanges shown;
    const auto read =
        parts.store.reader().and_then([&](const std::unique_ptr<catalog::Catalog>& reader) -> base::Status {
            WHEELYARD_ASSIGN(const catalog::Serial last, reader->last_serial());
            const catalog::EventFilter filter{.index = of.index,
                                              .from = parts.clock.now() - shown_days * base::day_us};
            const catalog::EventRange range{.after = std::max<catalog::Serial>(0, last - max_changes_read),
                                            .before = last + 1,
                                            .limit = max_changes_returned,
                                            .is_newest = true};
            WHEELYARD_ASSIGN(events, reader->find_events(filter, range));
            shown.is_cut = events.size() == range.limit;
            if (range.after == 0) return {};
            WHEELYARD_ASSIGN(const catalog::EventMark oldest, reader->event_at(range.after));
            shown.is_cut = shown.is_cut || oldest.time >= filter.from;
            return {};
        });
    if (!read) return fail_read(call, read.error());
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
        const std::string_view word = word_of(event->kind);
        if (word.empty()) continue;
        if (event->kind != catalog::EventKind::file_yanked) event->reason.clear();
        shown.changes.push_back({std::string(word), std::move(*event)});
    }
    return reply_with(file_changes_record.write(shown));
}

Reply list_people(const ApiParts& parts, const Call&, const NoArguments&) {
    const auto names = parts.tokens.shown_names();
    return reply_with(people_record.write({names.begin(), names.end()}));
}

// Who may read the audit log may also learn the names of the people in it.
constexpr Right of_auditors{.scope = Scope::every_index,
                            .action = audit_action,
                            .to = "reading the audit log",
                            .advice = "the action `audit` for all indexes (`*`)"};

constexpr std::array audit_rows{
    row<of_audit, read_audit>(
        got("/api/v1/audit", "readAudit", io::document_of<audit_record>,
            "Lists changes after a serial, or the newest before one: who, what, when and "
            "why; with a filter"),
        "audit.query", of_auditors),
    row<no_arguments, list_people>(
        got("/api/v1/people", "listPeople", io::document_of<people_record>,
            "Returns what people are called, by the name that requests, files and the audit "
            "log have"),
        "audit.query", of_auditors),
    row<changes_of, list_file_changes>(
        open_to_all(got("/api/v1/indexes/{index}/changes", "listFileChanges",
                        io::document_of<file_changes_record>,
                        "Lists the files of an index that came, went or were yanked in the last seven days")),
        "audit.query", {.callers = Callers::everyone, .advice = "`read` for all projects"}),
};

}  // namespace

std::span<const OperationRow> audit_operations() {
    return audit_rows;
}

}  // namespace wheelyard::registry
