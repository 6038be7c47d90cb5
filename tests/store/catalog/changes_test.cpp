// The life of a file after it was added: each change and its event are one; refusals change nothing.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/store/catalog/catalog.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::AddOutcome;
using catalog::Catalog;
using catalog::CatalogFolder;
using catalog::Cause;
using catalog::ChangeOutcome;
using catalog::EventKind;
using catalog::FileState;
using catalog::ProjectStatus;
using catalog::row_of;

namespace {

const std::string six = "six-1.0-py3-none-any.whl";
const Cause cause{.actor = "anna", .reason = "broken on ppc64le", .time = 1'795'000'000'000'777};

struct Filled {
    CatalogFolder folder;
    std::unique_ptr<Catalog> opened = folder.open();
    Catalog& catalog = *opened;
    Filled() {
        REQUIRE(catalog.add_file(row_of("main", "six", "1.0", 'a')));
        REQUIRE(catalog.add_file(row_of("main", "six", "1.1", 'b')));
    }
    [[nodiscard]] catalog::Event last_event() const {
        const auto events = catalog.events_after(catalog.last_serial().value() - 1, 1).value();
        REQUIRE(events.size() == 1);
        return events[0];
    }
    [[nodiscard]] catalog::FileRow file(const std::string& index, const std::string& name) const {
        const auto row = catalog.file(index, name).value();
        REQUIRE(row.has_value());
        return *row;
    }
    // The newest event contains the whole changed row.
    void check_recorded(EventKind kind, const std::string& index, const std::string& filename) const {
        const auto event = last_event();
        CHECK(event.kind == kind);
        CHECK(event.time == cause.time);
        CHECK(event.actor == cause.actor);
        CHECK(event.reason == cause.reason);
        CHECK(event.index == index);
        CHECK(event.filename == filename);
        const auto recorded = catalog::parse_file_row(event.details_json);
        REQUIRE(recorded.has_value());
        CHECK(recorded->filename == filename);
        if (kind != EventKind::file_deleted)
            CHECK(event.details_json == catalog::render_file_row(file(index, filename)));
    }
};

}  // namespace

TEST_CASE("a yank keeps its reason until it is taken back, and each is an event with who and why") {
    Filled filled;
    const auto yanked = filled.catalog.set_yanked({"main", six}, true, cause).value();
    CHECK(yanked.outcome == ChangeOutcome::changed);
    CHECK(yanked.serial == 3);
    CHECK(yanked.project == "six");
    CHECK(filled.file("main", six).yanked);
    CHECK(filled.file("main", six).yanked_reason == cause.reason);
    filled.check_recorded(EventKind::file_yanked, "main", six);

    CHECK(filled.catalog.set_yanked({"main", six}, false, cause)->serial == 4);
    CHECK_FALSE(filled.file("main", six).yanked);
    CHECK(filled.file("main", six).yanked_reason.empty());
    filled.check_recorded(EventKind::file_unyanked, "main", six);
}

TEST_CASE("a repeated change is no error and no second event; another reason is news") {
    Filled filled;
    REQUIRE(filled.catalog.set_yanked({"main", six}, true, cause));
    const auto again = filled.catalog.set_yanked({"main", six}, true, cause).value();
    CHECK(again.outcome == ChangeOutcome::already_so);
    CHECK(again.serial == 3);
    Cause other = cause;
    other.reason = "worse than that";
    CHECK(filled.catalog.set_yanked({"main", six}, true, other)->serial == 4);
    CHECK(filled.catalog.set_file_state({"main", six}, FileState::quarantined, cause)->serial == 5);
    CHECK(filled.catalog.set_file_state({"main", six}, FileState::quarantined, cause)->outcome ==
          ChangeOutcome::already_so);
    CHECK(filled.catalog.set_file_state({"main", six}, FileState::quarantined, other)->serial == 6);
    CHECK(filled.file("main", six).state_reason == other.reason);
    const auto refuse = [](const catalog::FileRow&) { return false; };
    CHECK(filled.catalog.set_file_state({"main", six}, FileState::active, cause, refuse)->outcome ==
          ChangeOutcome::already_so);
    CHECK(filled.catalog.set_file_state({"main", six}, FileState::active, cause)->serial == 7);
    CHECK(filled.catalog.set_file_state({"main", six}, FileState::active, cause)->outcome ==
          ChangeOutcome::already_so);
    CHECK(filled.catalog.set_pinned({"main", six}, false, cause)->outcome == ChangeOutcome::already_so);
    CHECK(filled.catalog.last_serial().value() == 7);
}

TEST_CASE("a change to a file that is not there changes nothing") {
    Filled filled;
    const catalog::FileName missing{"main", "seven-1.0-py3-none-any.whl"};
    CHECK(filled.catalog.set_yanked(missing, true, cause)->outcome == ChangeOutcome::no_such_file);
    CHECK(filled.catalog.set_file_state(missing, FileState::quarantined, cause)->outcome ==
          ChangeOutcome::no_such_file);
    CHECK(filled.catalog.set_pinned(missing, true, cause)->outcome == ChangeOutcome::no_such_file);
    CHECK(filled.catalog.delete_file(missing, cause)->outcome == ChangeOutcome::no_such_file);
    CHECK(catalog::promote_file(filled.catalog, missing, "other", cause)->outcome ==
          ChangeOutcome::no_such_file);
    CHECK(filled.catalog.set_project_status({.index = "main", .project = "seven"}, cause)->outcome ==
          ChangeOutcome::no_such_project);
    CHECK(filled.catalog.last_serial().value() == 2);
}

TEST_CASE("a deleted file leaves its name and its row in the log, and the name is never used again") {
    Filled filled;
    const auto deleted = filled.catalog.delete_file({"main", six}, cause).value();
    CHECK(deleted.outcome == ChangeOutcome::changed);
    filled.check_recorded(EventKind::file_deleted, "main", six);
    CHECK(catalog::parse_file_row(filled.last_event().details_json)->sha256 == std::string(64, 'a'));
    CHECK_FALSE(filled.catalog.file("main", six).value().has_value());
    CHECK(filled.catalog.files("main", "six").value().size() == 1);
    CHECK(filled.catalog.projects("main").value() == std::vector<std::string>{"six"});
    for (const char hash : {'a', 'f'})
        CHECK(filled.catalog.add_file(row_of("main", "six", "1.0", hash))->outcome ==
              AddOutcome::name_was_deleted);
    CHECK(filled.catalog.delete_file({"main", six}, cause)->outcome == ChangeOutcome::already_so);
    CHECK(filled.catalog.last_serial().value() == 3);
    CHECK(filled.catalog.add_file(row_of("other", "six", "1.0"))->outcome == AddOutcome::added);
}

TEST_CASE("a copy that was evicted returns with its own bytes only, as often as it is evicted") {
    Filled filled;
    const std::string a(64, 'a');
    for (int time = 0; time < 2; ++time) {
        CHECK(filled.catalog.evict({"main", six}, cause)->outcome == ChangeOutcome::changed);
        filled.check_recorded(EventKind::file_deleted, "main", six);
        CHECK_FALSE(filled.catalog.file("main", six).value().has_value());
        CHECK(filled.catalog.evicted_blobs().value() == std::vector<std::string>{a});
        CHECK(filled.catalog.evict({"main", six}, cause)->outcome == ChangeOutcome::no_such_file);
        CHECK(filled.catalog.delete_file({"main", six}, cause)->outcome == ChangeOutcome::no_such_file);
        const auto other = filled.catalog.add_file(row_of("main", "six", "1.0", 'f')).value();
        CHECK(other.outcome == AddOutcome::name_taken);
        CHECK(other.sha256_there == a);
        CHECK(filled.catalog.add_file(row_of("main", "six", "1.0", 'a'))->outcome == AddOutcome::added);
        CHECK(filled.catalog.evicted_blobs()->empty());
    }
    REQUIRE(filled.catalog.delete_file({"main", six}, cause));  // by a person: for good
    CHECK(filled.catalog.add_file(row_of("main", "six", "1.0", 'a'))->outcome ==
          AddOutcome::name_was_deleted);
    CHECK(filled.catalog.evicted_blobs()->empty());
}

TEST_CASE("what a person keeps is not evicted, and neither are the bytes of another file") {
    Filled filled;
    REQUIRE(filled.catalog.set_pinned({"main", six}, true, cause));
    CHECK(filled.catalog.evict({"main", six}, cause)->outcome == ChangeOutcome::pinned);
    REQUIRE(filled.catalog.set_pinned({"main", six}, false, cause));
    REQUIRE(filled.catalog.set_file_state({"main", six}, FileState::quarantined, cause));
    CHECK(filled.catalog.evict({"main", six}, cause)->outcome == ChangeOutcome::quarantined);
    REQUIRE(filled.catalog.set_file_state({"main", six}, FileState::active, cause));
    REQUIRE(catalog::promote_file(filled.catalog, {"main", six}, "other", cause));
    CHECK(filled.catalog.evict({"main", six}, cause)->outcome == ChangeOutcome::changed);
    CHECK(filled.catalog.evicted_blobs()->empty());
}

TEST_CASE("a blob is unreferenced from the moment its last file goes until another one comes") {
    Filled filled;
    const std::string a(64, 'a');
    const std::string metadata(64, 'e');
    CHECK(filled.catalog.blob(a).value()->referenced);
    REQUIRE(filled.catalog.delete_file({"main", six}, cause));
    CHECK_FALSE(filled.catalog.blob(a).value()->referenced);
    CHECK(filled.catalog.blob(a).value()->unreferenced_since == cause.time);
    CHECK(filled.catalog.blob(metadata).value()->referenced);  // by six 1.1
    CHECK(filled.catalog.blob(metadata).value()->unreferenced_since == 0);
    REQUIRE(filled.catalog.add_file(row_of("other", "six", "1.0", 'a')));
    CHECK(filled.catalog.blob(a).value()->referenced);
    CHECK(filled.catalog.blob(a).value()->unreferenced_since == 0);
    CHECK_FALSE(filled.catalog.blob(std::string(64, '0')).value().has_value());
}

TEST_CASE("only blobs that nothing refers to are forgotten, and the log names them") {
    Filled filled;
    REQUIRE(filled.catalog.delete_file({"main", six}, cause));
    const std::string gone(64, 'a');
    const std::string orphan(64, '0');
    const auto forgotten =
        filled.catalog.forget_blobs({gone, std::string(64, 'b'), orphan, std::string(64, 'e')}, cause)
            .value();
    CHECK(forgotten == std::vector<std::string>{gone, orphan});
    CHECK_FALSE(filled.catalog.blob(gone).value().has_value());
    CHECK(filled.catalog.blob(std::string(64, 'b')).value().has_value());
    const auto event = filled.last_event();
    CHECK(event.kind == EventKind::blobs_collected);
    CHECK(event.index.empty());
    CHECK(event.details_json.find(gone) != std::string::npos);
    const auto serial = filled.catalog.last_serial().value();
    CHECK(filled.catalog.forget_blobs({std::string(64, 'b')}, cause).value().empty());
    CHECK(filled.catalog.last_serial().value() == serial);
}

TEST_CASE("a quarantined file keeps row, name and bytes; released, it is as before") {
    Filled filled;
    const std::string before = catalog::render_file_row(filled.file("main", six));
    REQUIRE(filled.catalog.set_file_state({"main", six}, FileState::quarantined, cause));
    filled.check_recorded(EventKind::file_quarantined, "main", six);
    CHECK(filled.file("main", six).state == FileState::quarantined);
    CHECK(filled.file("main", six).state_reason == cause.reason);
    CHECK(filled.catalog.add_file(row_of("main", "six", "1.0", 'f'))->outcome == AddOutcome::name_taken);
    CHECK(catalog::promote_file(filled.catalog, {"main", six}, "other", cause)->outcome ==
          ChangeOutcome::quarantined);
    REQUIRE(filled.catalog.set_file_state({"main", six}, FileState::active, cause));
    filled.check_recorded(EventKind::file_released, "main", six);
    CHECK(catalog::render_file_row(filled.file("main", six)) == before);
}

TEST_CASE("a file may be quarantined from its first moment on") {
    Filled filled;
    catalog::FileRow row = row_of("main", "torch", "2.4.0", 'd');
    row.state = FileState::quarantined;
    row.state_reason = "elf.machine";
    REQUIRE(filled.catalog.add_file(row));
    CHECK(filled.file("main", row.filename).state == FileState::quarantined);
    CHECK(filled.file("main", row.filename).state_reason == "elf.machine");
    CHECK(catalog::parse_file_row(filled.last_event().details_json)->state == FileState::quarantined);
}

TEST_CASE("a pinned file is not deleted before it is unpinned") {
    Filled filled;
    REQUIRE(filled.catalog.set_pinned({"main", six}, true, cause));
    filled.check_recorded(EventKind::file_pinned, "main", six);
    CHECK(filled.catalog.delete_file({"main", six}, cause)->outcome == ChangeOutcome::pinned);
    CHECK(filled.catalog.file("main", six).value().has_value());
    REQUIRE(filled.catalog.set_pinned({"main", six}, false, cause));
    filled.check_recorded(EventKind::file_unpinned, "main", six);
    CHECK(filled.catalog.delete_file({"main", six}, cause)->outcome == ChangeOutcome::changed);
}

TEST_CASE("archived and quarantined projects refuse new files, deprecated and active ones take them") {
    struct Row {
        ProjectStatus status;
        AddOutcome outcome;
    };
    for (const Row& row :
         {Row{ProjectStatus::archived, AddOutcome::project_closed},
          Row{ProjectStatus::quarantined, AddOutcome::project_closed},
          Row{ProjectStatus::deprecated, AddOutcome::added}, Row{ProjectStatus::active, AddOutcome::added}}) {
        Filled filled;
        CAPTURE(catalog::project_status_text(row.status));
        REQUIRE(filled.catalog.set_project_status(
            {.index = "main", .project = "six", .status = row.status, .status_reason = "why"}, cause));
        CHECK(filled.catalog.project("main", "six").value()->status == row.status);
        CHECK(filled.catalog.project("main", "six").value()->status_reason == "why");
        CHECK(filled.catalog.add_file(row_of("main", "six", "9.0", '9'))->outcome == row.outcome);
        CHECK(filled.catalog.add_file(row_of("main", "six", "1.0", 'a'))->outcome ==
              AddOutcome::already_there);
        CHECK(filled.catalog.add_file(row_of("other", "six", "9.0", '9'))->outcome == AddOutcome::added);
        REQUIRE(filled.catalog.add_file(row_of("staging", "six", "8.0", '8')));
        CHECK(catalog::promote_file(filled.catalog, {"staging", "six-8.0-py3-none-any.whl"}, "main", cause)
                  ->outcome ==
              (row.outcome == AddOutcome::added ? ChangeOutcome::changed : ChangeOutcome::project_closed));
    }
}

TEST_CASE("a project's status change is an event, recorded once") {
    Filled filled;
    const catalog::ProjectRow wanted{
        .index = "main", .project = "six", .status = ProjectStatus::archived, .status_reason = "see seven"};
    CHECK(filled.catalog.set_project_status(wanted, cause)->serial == 3);
    const auto event = filled.last_event();
    CHECK(event.kind == EventKind::project_status_changed);
    CHECK(event.project == "six");
    CHECK(event.filename.empty());
    CHECK(event.details_json ==
          R"({"format":"wheelyard.project-status/1","status":"archived","reason":"see seven"})");
    CHECK(filled.catalog.set_project_status(wanted, cause)->outcome == ChangeOutcome::already_so);
    CHECK_FALSE(filled.catalog.project("main", "seven").value().has_value());
}

TEST_CASE("a promoted file is in both indexes, as uploaded, from the moment of its promotion") {
    Filled filled;
    REQUIRE(filled.catalog.set_pinned({"main", six}, true, cause));
    const auto promoted = catalog::promote_file(filled.catalog, {"main", six}, "stable", cause).value();
    CHECK(promoted.outcome == ChangeOutcome::changed);
    filled.check_recorded(EventKind::file_promoted, "stable", six);
    catalog::FileRow expected = filled.file("main", six);
    expected.index = "stable";
    expected.upload_time = cause.time;
    expected.pinned = false;
    CHECK(catalog::render_file_row(filled.file("stable", six)) == catalog::render_file_row(expected));
    CHECK(expected.uploaded_by == "agent");
    CHECK(catalog::promote_file(filled.catalog, {"main", six}, "stable", cause)->outcome ==
          ChangeOutcome::already_so);
    CHECK(filled.catalog.files_of_blob(expected.sha256).value().size() == 2);
    CHECK(filled.catalog.files_of_blob(expected.metadata_sha256).value().size() == 3);
}

TEST_CASE(
    "provenance and attestations of a file are kept with it in every index, and count as references to their "
    "blobs") {
    Filled filled;
    catalog::FileRow row = row_of("main", "seven", "1.0", 'f');
    row.provenance_sha256 = std::string(64, '9');
    row.provenance_size_bytes = 700;
    row.attestations_sha256 = std::string(64, '8');
    row.attestations_size_bytes = 7'000;
    REQUIRE(filled.catalog.add_file(row));
    REQUIRE(catalog::promote_file(filled.catalog, {"main", row.filename}, "stable", cause));
    const catalog::FileRow promoted = filled.file("stable", row.filename);
    CHECK(promoted.provenance_sha256 == row.provenance_sha256);
    CHECK(promoted.provenance_size_bytes == 700);
    CHECK(promoted.attestations_sha256 == row.attestations_sha256);
    CHECK(promoted.attestations_size_bytes == 7'000);
    CHECK(filled.file("main", six).provenance_sha256.empty());
    CHECK(filled.file("main", six).attestations_sha256.empty());
    CHECK(filled.catalog.faults().value().empty());
    for (const std::string& sha256 : {row.provenance_sha256, row.attestations_sha256})
        CHECK(filled.catalog.files_of_blob(sha256).value().size() == 2);
    REQUIRE(filled.catalog.delete_file({"main", row.filename}, cause));
    for (const std::string& sha256 : {row.provenance_sha256, row.attestations_sha256})
        CHECK(filled.catalog.blob(sha256).value()->referenced);
    REQUIRE(filled.catalog.delete_file({"stable", row.filename}, cause));
    for (const std::string& sha256 : {row.provenance_sha256, row.attestations_sha256}) {
        const auto blob = filled.catalog.blob(sha256).value();
        CHECK_FALSE(blob->referenced);
        CHECK(blob->unreferenced_since == cause.time);
    }
    CHECK(filled.catalog.forget_blobs({row.attestations_sha256}, cause).value().size() == 1);
}

TEST_CASE("a promotion never replaces: other bytes and deleted names are refused") {
    Filled filled;
    REQUIRE(filled.catalog.add_file(row_of("stable", "six", "1.0", 'f')));
    const auto taken = catalog::promote_file(filled.catalog, {"main", six}, "stable", cause).value();
    CHECK(taken.outcome == ChangeOutcome::name_taken);
    CHECK(taken.value_there == std::string(64, 'f'));
    REQUIRE(filled.catalog.delete_file({"stable", six}, cause));
    CHECK(catalog::promote_file(filled.catalog, {"main", six}, "stable", cause)->outcome ==
          ChangeOutcome::name_was_deleted);
}

TEST_CASE("a set is promoted in one transaction, with the first file's event last") {
    Filled filled;
    REQUIRE(filled.catalog.add_file(row_of("main", "nine", "1.0", 'f')));
    REQUIRE(filled.catalog.add_file(row_of("main", "ten", "1.0", 'e')));
    const std::vector<std::string> set{"ten-1.0-py3-none-any.whl", "nine-1.0-py3-none-any.whl", six};
    const auto before = filled.catalog.last_serial().value();
    const auto promoted = filled.catalog.promote_files("main", set, "stable", cause).value();
    CHECK(promoted.outcome == ChangeOutcome::changed);
    CHECK(promoted.serial == before + 3);
    const auto events = filled.catalog.events_after(before, 10).value();
    REQUIRE(events.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(events[i].kind == EventKind::file_promoted);
        CHECK(events[i].filename == set[2 - i]);
    }
    CHECK(filled.catalog.promote_files("main", set, "stable", cause)->outcome == ChangeOutcome::already_so);
    CHECK(filled.catalog.last_serial().value() == before + 3);
}

TEST_CASE("if one file of a set is refused, none is promoted") {
    Filled filled;
    REQUIRE(filled.catalog.add_file(row_of("main", "nine", "1.0", 'f')));
    REQUIRE(filled.catalog.add_file(row_of("stable", "six", "1.0", 'd')));
    const std::string nine = "nine-1.0-py3-none-any.whl";
    const auto before = filled.catalog.last_serial().value();
    const std::vector<std::string> taken{six, nine};
    const auto refused = filled.catalog.promote_files("main", taken, "stable", cause).value();
    CHECK(refused.outcome == ChangeOutcome::name_taken);
    CHECK(refused.filename == six);
    const std::vector<std::string> missing{nine, "eleven-1.0-py3-none-any.whl"};
    CHECK(filled.catalog.promote_files("main", missing, "stable", cause)->outcome ==
          ChangeOutcome::no_such_file);
    CHECK_FALSE(filled.catalog.file("stable", nine).value().has_value());
    CHECK(filled.catalog.last_serial().value() == before);
    const std::vector<std::string> partly{nine, nine};  // the second one is there already
    CHECK(filled.catalog.promote_files("main", partly, "stable", cause)->serial > before);
}

TEST_CASE("blobs come sorted by hash, in pieces") {
    Filled filled;
    const auto first = filled.catalog.blobs_after("", 2).value();
    REQUIRE(first.size() == 2);
    CHECK(first[0].sha256 == std::string(64, 'a'));
    CHECK(first[1].sha256 == std::string(64, 'b'));
    CHECK(first[1].referenced);
    CHECK(first[1].size_bytes == 1234);
    const auto rest = filled.catalog.blobs_after(first[1].sha256, 2).value();
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].sha256 == std::string(64, 'e'));
}

TEST_CASE("every kind, state and status has a word that is read back") {
    for (const auto kind :
         {EventKind::file_added, EventKind::file_yanked, EventKind::file_unyanked, EventKind::file_deleted,
          EventKind::file_quarantined, EventKind::file_released, EventKind::file_promoted,
          EventKind::file_pinned, EventKind::file_unpinned, EventKind::project_status_changed,
          EventKind::blobs_collected, EventKind::index_changed, EventKind::project_released}) {
        CHECK(catalog::parse_event_kind(catalog::event_kind_text(kind)) == kind);
    }
    for (const auto status : {ProjectStatus::active, ProjectStatus::archived, ProjectStatus::quarantined,
                              ProjectStatus::deprecated}) {
        CHECK(catalog::parse_project_status(catalog::project_status_text(status)) == status);
    }
    CHECK(catalog::parse_file_state("quarantined") == FileState::quarantined);
    for (const std::string_view text : {"", "Active", "gone"}) {
        CHECK_FALSE(catalog::parse_event_kind(text).has_value());
        CHECK_FALSE(catalog::parse_file_state(text).has_value());
        CHECK_FALSE(catalog::parse_project_status(text).has_value());
    }
}

TEST_CASE("a deleted name is used again in no spelling, and one that may return only in its own") {
    Filled filled;
    const auto spelled = [](const std::string& filename, const std::string& version) {
        catalog::FileRow row = row_of("main", "six", version, 'f');
        row.filename = filename;
        return row;
    };
    REQUIRE(filled.catalog.delete_file({"main", six}, cause)->outcome == ChangeOutcome::changed);
    for (const auto& [filename, version] :
         {std::pair<const char*, const char*>{"Six-1.0-py3-none-any.whl", "1.0"},
          {"SIX-1.0-py3-none-any.whl", "1.0"},
          {"six-1-py3-none-any.whl", "1"},
          {"six-1.0.0-py3-none-any.whl", "1.0.0"}}) {
        CAPTURE(filename);
        const auto refused = filled.catalog.add_file(spelled(filename, version)).value();
        CHECK(refused.outcome == AddOutcome::name_was_deleted);
        CHECK(refused.filename_there == six);
    }
    for (const auto& [filename, version] :
         {std::pair<const char*, const char*>{"six-1.0-1-py3-none-any.whl", "1.0"},
          {"six-1.0-py2-none-any.whl", "1.0"},
          {"six-1.0.1-py3-none-any.whl", "1.0.1"}}) {
        CAPTURE(filename);
        CHECK(filled.catalog.add_file(spelled(filename, version))->outcome == AddOutcome::added);
    }
    // An upstream may have a file in two spellings, and another project one that begins as this one.
    catalog::FileRow copy = spelled("Six-1.0-py3-none-any.whl", "1.0");
    copy.is_upstreams = true;
    CHECK(filled.catalog.add_file(copy)->outcome == AddOutcome::added);
    catalog::FileRow other = row_of("main", "six-more", "1.0", 'f');
    CHECK(filled.catalog.add_file(other)->outcome == AddOutcome::added);
}

TEST_CASE("who released a project is in the log") {
    Filled filled;
    const catalog::Serial before = filled.catalog.last_serial().value();
    REQUIRE(filled.catalog.note_release("main.public", "six", {"anna", "it moved", 9}));
    const auto events = filled.catalog.events_after(before, 10).value();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == EventKind::project_released);
    CHECK((events[0].index == "main.public" && events[0].project == "six" && events[0].actor == "anna" &&
           events[0].reason == "it moved"));
}

TEST_CASE(
    "a second spelling of a file is a taken name, at upload and at promotion, and a mirror keeps both") {
    Filled filled;
    const auto spelled = [](const std::string& index, const std::string& filename, char hash) {
        catalog::FileRow row = row_of(index, "six", "1.0", hash);
        row.filename = filename;
        return row;
    };
    const std::string other = "Six-1.0-py3-none-any.whl";
    for (const char hash : {'a', 'f'}) {
        const auto taken = filled.catalog.add_file(spelled("main", other, hash)).value();
        CHECK(taken.outcome == AddOutcome::name_taken);
        CHECK(taken.filename_there == six);
        CHECK(taken.sha256_there == std::string(64, 'a'));
    }
    CHECK(filled.catalog.add_file(spelled("main", "Six-1.0-1-py3-none-any.whl", 'f'))->outcome ==
          AddOutcome::added);
    REQUIRE(filled.catalog.add_file(spelled("stable", other, 'f'))->outcome == AddOutcome::added);
    CHECK(catalog::promote_file(filled.catalog, {"main", six}, "stable", cause)->outcome ==
          ChangeOutcome::name_taken);
    for (const char* version : {"1", "1.0.0"}) {
        catalog::FileRow equal = spelled("main", "six-" + std::string(version) + "-py3-none-any.whl", 'f');
        equal.version = version;
        CHECK(filled.catalog.add_file(equal)->filename_there == six);
    }
    for (const char* version : {"10", "1.0.dev20260101+cu126", "1.0.dev1", "1.0.post0"})
        CHECK(filled.catalog.add_file(row_of("main", "six", version, 'f'))->outcome == AddOutcome::added);
    catalog::FileRow nightly = spelled("main", "six-1.0.0.dev20260101+cu126-py3-none-any.whl", 'f');
    nightly.version = "1.0.0.dev20260101+cu126";
    CHECK(filled.catalog.add_file(nightly)->filename_there == "six-1.0.dev20260101+cu126-py3-none-any.whl");
    CHECK(filled.catalog.add_file(row_of("main", "six", "1.0.0.1", 'f'))->outcome == AddOutcome::added);
    catalog::FileRow copy = spelled("main", "SIX-1.0-py3-none-any.whl", 'd');
    copy.is_upstreams = true;
    CHECK(filled.catalog.add_file(copy)->outcome == AddOutcome::added);
}
