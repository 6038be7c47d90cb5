// The scrub: flipped bits are found and their files quarantined, no blob is changed, and a stopped run goes on.
#include "lib/store/lifecycle/verify.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;
namespace fs = std::filesystem;

namespace {

struct Scrubbed : PlaceFixture {
    int publishes = 0;
    bool pages_lag = false;
    VerifySettings settings{.state_file = dir.path() / "verify.json"};
    // Called at each step of reading.
    std::function<void(const VerifyProgress&)> progress;

    base::Result<VerifyReport> scrub() {
        return verify(place, clock, settings,
                      {.show = [this](const std::vector<catalog::FileName>& files) -> base::Status {
                           ++publishes;
                           CHECK_FALSE(files.empty());
                           if (!pages_lag) return {};
                           return base::fail("os.EIO", "a page cannot be written");
                       },
                       .progress = progress});
    }
    void flip_bit(const std::string& sha256) const {  // as a disk does it: the time stays
        const auto path = blobs.path_of(sha256);
        const auto time = fs::last_write_time(path);
        auto bytes = base::read_file(path, base::mib).value();
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        REQUIRE(base::replace_file(path, bytes, 0444));
        fs::last_write_time(path, time);
    }
    [[nodiscard]] catalog::FileState state_of(const catalog::FileRow& row) const {
        return catalog.file(row.index, row.filename).value()->state;
    }
};

}  // namespace

TEST_CASE("a store that is whole has no faults, and nothing is changed") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    fixture.store("an orphan");
    const auto report = fixture.scrub().value();
    CHECK(report.faults.empty());
    CHECK(report.blobs == 3);
    CHECK(report.orphans == 1);
    CHECK_FALSE(report.resumed);
    CHECK(fixture.publishes == 0);
    CHECK(fixture.catalog.last_serial().value() == 1);
    CHECK(last_finished(fixture.dir.path() / "verify.json") == fixture.clock.now());
    CHECK(fixture.blobs.contains(row.sha256));
}

TEST_CASE(
    "one flipped bit: every file with the bytes is quarantined, the pages follow, an intact read releases") {
    Scrubbed fixture;
    const auto bad = fixture.add("staging", "six", "1.0");
    const auto good = fixture.add("staging", "torch", "2.4.0");
    REQUIRE(fixture.act(
        {.verb = Verb::promote, .index = "staging", .filename = bad.filename, .to_index = "main"}));
    fixture.flip_bit(bad.sha256);
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "damaged");
    CHECK(report.faults[0].subject == bad.sha256);
    REQUIRE(report.faults[0].files.size() == 2);
    CHECK(fixture.publishes == 1);
    CHECK(fixture.state_of(bad) == catalog::FileState::quarantined);
    CHECK(fixture.catalog.file("main", bad.filename).value()->state == catalog::FileState::quarantined);
    CHECK(fixture.state_of(good) == catalog::FileState::active);
    CHECK(fixture.blobs.contains(bad.sha256));
    const auto events = fixture.catalog.events_after(3, 10).value();
    REQUIRE(events.size() == 2);
    CHECK(events[0].actor == "verify");
    CHECK(events[0].reason.find(bad.sha256) != std::string::npos);

    REQUIRE(fixture.scrub().value().faults.size() == 1);  // it stays one
    CHECK(fixture.state_of(bad) == catalog::FileState::quarantined);
    // A person's word counts, also while verify's does.
    REQUIRE(fixture.act(
        {.verb = Verb::quarantine, .index = "main", .filename = bad.filename, .reason = "crashes"}));
    fixture.store("wheel " + bad.filename);  // from a backup
    CHECK(fixture.scrub().value().faults.empty());
    CHECK(fixture.state_of(bad) == catalog::FileState::active);
    CHECK(fixture.catalog.file("main", bad.filename).value()->state_reason == "crashes");
}

TEST_CASE("damaged METADATA quarantines the wheels that it belongs to") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    fixture.flip_bit(row.metadata_sha256);
    REQUIRE(fixture.scrub().value().faults.size() == 1);
    CHECK(fixture.state_of(row) == catalog::FileState::quarantined);
    CHECK(fixture.blobs.contains(row.sha256));
}

TEST_CASE("a missing blob is stored again from the published tree; without it its files are quarantined") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    const fs::path tree = fixture.dir.path() / "public";
    const fs::path file = tree / "main/files" / row.sha256.substr(0, 2) / row.sha256 / row.filename;
    fs::create_directories(file.parent_path());
    fs::create_hard_link(fixture.blobs.path_of(row.sha256), file);
    fs::create_hard_link(fixture.blobs.path_of(row.metadata_sha256), file.native() + ".metadata");
    fixture.settings.trees = {fixture.dir.path() / "none", tree};
    for (const std::string& sha256 : {row.sha256, row.metadata_sha256})
        REQUIRE(base::remove_file(fixture.blobs.path_of(sha256)));
    // By an earlier run, which found no tree.
    REQUIRE(fixture.catalog.set_file_state({row.index, row.filename}, catalog::FileState::quarantined,
                                           {"verify", std::string(verify_reason) + row.sha256, noon}));
    const auto restored = fixture.scrub().value();
    REQUIRE(restored.faults.size() == 2);
    CHECK(restored.faults[0].code == "restored");
    CHECK(restored.faults[0].files.at(0).filename == row.filename);
    CHECK(fixture.state_of(row) == catalog::FileState::active);
    CHECK(fixture.publishes == 1);
    CHECK(fixture.scrub().value().faults.empty());

    REQUIRE(base::remove_file(fixture.blobs.path_of(row.sha256)));
    REQUIRE(base::replace_file(file, "other bytes"));
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "missing");
    CHECK(report.faults[0].subject == row.sha256);
    CHECK(fixture.state_of(row) == catalog::FileState::quarantined);
    CHECK(fixture.publishes == 2);
    REQUIRE(fixture.blobs.store_bytes("wheel " + row.filename));
    CHECK(fixture.scrub().value().faults.empty());
    CHECK(fixture.state_of(row) == catalog::FileState::active);
}

TEST_CASE("a missing blob whose last copy cannot be read leaves pages and tree as they are") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    const fs::path file =
        fixture.dir.path() / "public/main/files" / row.sha256.substr(0, 2) / row.sha256 / row.filename;
    fs::create_directories(file);  // as unreadable as a file of a broken disk
    fixture.settings.trees = {fixture.dir.path() / "public"};
    REQUIRE(base::remove_file(fixture.blobs.path_of(row.sha256)));
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "missing");
    CHECK(fixture.state_of(row) == catalog::FileState::active);
}

TEST_CASE("blobs that are older than the catalog and of no file: an earlier catalog is lost") {
    Scrubbed fixture;
    fixture.store("an orphan");
    fixture.store("another");
    CHECK(fixture.scrub().value().faults.at(0).subject.find("2 blobs are of no file") == 0);
    const base::UnixMicros hour = 3'600'000'000;
    fixture.clock.set(noon + hour + 1'000'000);
    fixture.add("main", "six", "1.0");
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "catalog");
    CHECK(report.faults[0].subject.find("restore a backup") != std::string::npos);
    CHECK(report.orphans == 2);
}

TEST_CASE("the orphan of a first upload that was killed is no earlier catalog") {
    Scrubbed fixture;
    fixture.store("an orphan");
    fixture.clock.set(noon + 60'000'000);
    fixture.add("main", "six", "1.0");
    const auto report = fixture.scrub().value();
    CHECK(report.faults.empty());
    CHECK(report.orphans == 1);
}

TEST_CASE("a fetched copy whose blob is gone is evicted, and a promoted one is quarantined") {
    Scrubbed fixture;
    const auto cached = fixture.add("main.public", "six", "1.0", "py3-none-any", "upstream:public");
    const auto pinned = fixture.add("main.public", "torch", "1.0", "py3-none-any", "upstream:public");
    const auto uploaded = fixture.add("main.public", "numpy", "1.0");
    REQUIRE(fixture.act(
        {.verb = Verb::promote, .index = "main.public", .filename = cached.filename, .to_index = "public"}));
    REQUIRE(fixture.act({.verb = Verb::pin, .index = "main.public", .filename = pinned.filename}));
    for (const auto& row : {cached, pinned, uploaded})
        REQUIRE(base::remove_file(fixture.blobs.path_of(row.sha256)));
    const auto report = fixture.scrub().value();
    CHECK(report.faults.size() == 3);
    CHECK_FALSE(fixture.catalog.file("main.public", cached.filename).value().has_value());
    CHECK(fixture.catalog.file("public", cached.filename).value()->state == catalog::FileState::quarantined);
    CHECK(fixture.state_of(pinned) == catalog::FileState::quarantined);
    CHECK(fixture.state_of(uploaded) == catalog::FileState::quarantined);
    CHECK(fixture.catalog.add_file(cached)->outcome == catalog::AddOutcome::added);  // fetched again
}

TEST_CASE("blobs that gc takes while the reader is tried do not count against it") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    const std::string missing = std::min(row.sha256, row.metadata_sha256);
    REQUIRE(missing > "01");
    REQUIRE(base::remove_file(fixture.blobs.path_of(missing)));
    std::vector<std::string> first;  // of the store, and more than max_control_tries
    for (int number = 10'000; first.size() < 18; ++number) {
        const std::string bytes = "an orphan that is larger than the suspect, " + std::to_string(number);
        if (base::sha256_hex(bytes).starts_with("00")) first.push_back(fixture.store(bytes));
    }
    std::sort(first.begin(), first.end());
    std::size_t reads = 0;
    fixture.progress = [&](const VerifyProgress&) {
        ++reads;
        if (reads == first.size()) {  // this one would show that the reader is right
            REQUIRE(base::remove_file(fixture.blobs.path_of(first.back())));
            fixture.flip_bit(first.front());
        }
        if (reads == first.size() + 1) {  // the first try, after they were listed
            for (std::size_t i = 1; i + 1 < first.size(); ++i)
                REQUIRE(base::remove_file(fixture.blobs.path_of(first[i])));
        }
    };
    const auto report = fixture.scrub();
    REQUIRE_MESSAGE(report, report.error().text());
    REQUIRE(report->faults.size() == 1);
    CHECK(report->faults[0].code == "missing");
}

TEST_CASE("a missing blob is seen beside a larger hash in its folder, too") {
    Scrubbed fixture;
    std::map<std::string, std::string> first_of_folder;  // two digits → hash
    std::string smaller;
    for (int minor = 0; smaller.empty(); ++minor) {
        const auto row = fixture.add("main", "six", "1." + std::to_string(minor));
        const auto [there, is_new] = first_of_folder.emplace(row.sha256.substr(0, 2), row.sha256);
        if (!is_new) smaller = std::min(there->second, row.sha256);
    }
    REQUIRE(base::remove_file(fixture.blobs.path_of(smaller)));
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "missing");
    CHECK(report.faults[0].subject == smaller);
}

TEST_CASE("what is not a file in the place of a blob is damage, and the run reads what is behind it") {
    Scrubbed fixture;
    std::map<std::string, catalog::FileRow> rows;
    for (const char* project : {"six", "torch", "numpy", "flip"}) {
        const auto row = fixture.add("main", project, "1.0");
        rows.emplace(row.sha256, row);
    }
    int number = 0;
    for (const auto& [sha256, row] : rows) {
        const fs::path blob = fixture.blobs.path_of(sha256);
        if (number == 3) fixture.flip_bit(sha256);
        if (number < 3) fs::remove(blob);
        if (number == 0) fs::create_directory(blob);
        if (number == 1) REQUIRE(::mkfifo(blob.c_str(), 0600) == 0);
        if (number == 2) fs::create_symlink("/etc/passwd", blob);
        ++number;
    }
    const auto report = fixture.scrub();
    REQUIRE_MESSAGE(report, report.error().text());
    CHECK(report->faults.size() == 4);
    for (const auto& [sha256, row] : rows)
        CHECK(fixture.state_of(row) == catalog::FileState::quarantined);
    for (const auto& [sha256, row] : rows)
        REQUIRE(fixture.blobs.store_bytes("wheel " + row.filename).value() == sha256);
    CHECK(fixture.scrub().value().faults.empty());
    for (const auto& [sha256, row] : rows)
        CHECK(fixture.state_of(row) == catalog::FileState::active);
}

TEST_CASE("a damaged orphan is a fault, too, and stays") {
    Scrubbed fixture;
    fixture.add("main", "six", "1.0");
    const std::string orphan = fixture.store("an orphan");
    fixture.flip_bit(orphan);
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].files.empty());
    CHECK(fixture.blobs.contains(orphan));
}

TEST_CASE("what the catalog itself has wrong is a fault: broken references, wrong sizes") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    {
        const auto database =
            sqlite::Database::open(fixture.dir.path() / "catalog.sqlite", sqlite::Database::Mode::read_write)
                .value();
        REQUIRE(database.run("UPDATE blob SET size_bytes = 7 WHERE sha256 = ?", row.sha256));
    }
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() ==
            2);  // the file's row has a different size than the blob's, and so do the bytes
    CHECK(report.faults[0].code == "catalog");
    CHECK(report.faults[0].subject.find(row.filename) != std::string::npos);
    CHECK(report.faults[1].code == "catalog");
    CHECK(report.faults[1].subject.find(row.sha256) != std::string::npos);
    CHECK(fixture.state_of(row) == catalog::FileState::active);
}

TEST_CASE("a stopped run continues where it was, unless restarted") {
    Scrubbed fixture;
    for (int i = 0; i < 40; ++i)
        fixture.store("blob " + std::to_string(i));
    std::uint64_t done_before = 0;
    fixture.progress = [&](const VerifyProgress& progress) {
        done_before = progress.blobs;
        if (progress.blobs == 20) throw std::runtime_error("stopped");
    };
    CHECK_THROWS(static_cast<void>(fixture.scrub()));
    CHECK(done_before == 20);
    CHECK(fs::exists(fixture.dir.path() / "verify.json"));
    std::uint64_t steps = 0;
    fixture.progress = [&](const VerifyProgress&) { ++steps; };
    const auto report = fixture.scrub().value();
    CHECK(report.resumed);
    CHECK(report.blobs == 40);
    CHECK(steps <= 21);  // not the first ones again
    CHECK(steps >= 20);
    steps = 0;
    CHECK_FALSE(fixture.scrub()->resumed);  // the one before came to its end
    CHECK(steps == 40);
}

TEST_CASE("without a readable progress of its own format, a run begins at the first blob") {
    Scrubbed fixture;
    fixture.store("one");
    const std::string after = std::string(64, 'f');
    for (const std::string& text :
         {std::string(), std::string("{"), "{\"format\":\"wheelyard.other/1\",\"after\":\"" + after + "\"}",
          std::string("{\"format\":\"wheelyard.verify/1\",\"after\":\"x\"}")}) {
        CAPTURE(text);
        REQUIRE(base::replace_file(fixture.dir.path() / "verify.json", text));
        const auto report = fixture.scrub().value();
        CHECK_FALSE(report.resumed);
        CHECK(report.blobs == 1);
    }
}

TEST_CASE("a rate is kept by waiting") {
    Scrubbed fixture;
    fixture.store(std::string(3 * base::mib, 'x'));
    fixture.settings.bytes_per_second = base::mib;
    const auto before = fixture.clock.now();
    REQUIRE(fixture.scrub());
    const auto waited_ms = (fixture.clock.now() - before) / 1000;
    CHECK(waited_ms >= 2'990);
    CHECK(waited_ms <= 3'000);
}

TEST_CASE("a run fails while a page shows the file of a damaged blob, and the next run says what it found") {
    Scrubbed fixture;
    const auto bad = fixture.add("main", "six", "1.0");
    fixture.flip_bit(bad.sha256);
    fixture.pages_lag = true;
    CHECK(fixture.scrub().error().code == "os.EIO");
    CHECK(fixture.state_of(bad) == catalog::FileState::quarantined);
    fixture.pages_lag = false;
    CHECK(fixture.scrub().value().faults.size() == 1);
    CHECK(fixture.state_of(bad) == catalog::FileState::quarantined);
}

TEST_CASE("an upload that stores the bytes while the damaged ones are read has repaired them") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    fixture.flip_bit(row.sha256);
    const std::uint64_t before = row.sha256 < row.metadata_sha256 ? 0 : 1;  // blobs that are read before
    fixture.progress = [&](const VerifyProgress& progress) {
        if (progress.blobs == before) REQUIRE(fixture.blobs.store_bytes("wheel " + row.filename));
    };
    CHECK(fixture.scrub().value().faults.empty());
    CHECK(fixture.state_of(row) == catalog::FileState::active);
    CHECK(fixture.publishes == 0);
    CHECK(fixture.blobs.is_intact(row.sha256));
}

TEST_CASE("an upload that stores the bytes while the pages drop the damaged ones brings the files back") {
    Scrubbed fixture;
    const auto row = fixture.add("main", "six", "1.0");
    REQUIRE(
        fixture.act({.verb = Verb::promote, .index = "main", .filename = row.filename, .to_index = "other"}));
    REQUIRE(
        fixture.act({.verb = Verb::quarantine, .index = "other", .filename = row.filename, .reason = "x"}));
    fixture.flip_bit(row.sha256);
    std::vector<std::size_t> shown;
    const auto show = [&](const std::vector<catalog::FileName>& files) -> base::Status {
        shown.push_back(files.size());
        REQUIRE(fixture.blobs.store_bytes("wheel " + row.filename));
        return {};
    };
    CHECK(verify(fixture.place, fixture.clock, fixture.settings, {.show = show}).value().faults.empty());
    CHECK(shown == std::vector<std::size_t>{2, 1});
    CHECK(fixture.state_of(row) == catalog::FileState::active);
    CHECK(fixture.catalog.file("other", row.filename).value()->state == catalog::FileState::quarantined);
    CHECK(fixture.blobs.is_intact(row.sha256));
}
