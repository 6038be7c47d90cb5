// The identity of a store: whose it is, who gets it where nobody says so, and which copies of a catalog it refuses.
#include "lib/store/lifecycle/store_identity.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "tests/store/catalog/row_fixture.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;

namespace {

const Action gc_of_all{.verb = Verb::collect, .grace_ms = day_ms};

// A catalog that uses the store of the fixture.
struct OtherCatalog {
    explicit OtherCatalog(PlaceFixture& fixture) : clock(fixture.clock), blobs(fixture.blobs) {}
    base::TempDir dir = base::TempDir::make("other").value();
    base::ManualClock& clock;
    const blobs::FolderBlobs& blobs;
    std::unique_ptr<catalog::Catalog> opened = {};
    LifecycleParts place{.on_catalog = [this](const CatalogWork& work) { return work(*opened); },
                         .blobs = blobs,
                         .clock = clock,
                         .admits = [](const auto&...) { return base::Status(); },
                         .store = "s3://farm",
                         .config = "/etc/wheel yard/registry.toml"};

    void open() { opened = database::Store(dir.path()).writer().value(); }
    // As the catalog of the fixture is now.
    void copy_of(const PlaceFixture& fixture) {
        const database::Store store(dir.path());
        REQUIRE(store.make_copy_of(database::Store(fixture.dir.path())));
        REQUIRE(store.keep_copy());
        open();
    }
    void pin(const catalog::FileRow& row) {
        clock.sleep_ms(1);  // a later event
        REQUIRE(perform(
            place, {.verb = Verb::pin, .index = row.index, .filename = row.filename, .reason = "x"}, "b"));
    }
};

std::string refused_gc(const LifecycleParts& place) {
    Action dry = gc_of_all;
    dry.dry_run = true;  // a figure is wrong as well
    const auto done = perform(place, dry, "anna");
    CHECK(perform(place, gc_of_all, "anna").has_value() == done.has_value());
    return done ? std::string() : done.error().code;
}

}  // namespace

TEST_CASE("another registry's catalog gets nothing of a store, and is told both identities and what to do") {
    PlaceFixture fixture;
    const auto row = fixture.add("main", "six", "1.0");
    fixture.clock.sleep_ms(30 * day_ms);
    REQUIRE(claim_store(fixture.place));
    OtherCatalog other(fixture);
    other.open();
    CHECK(refused_gc(other.place) == "store.of_another");
    CHECK(fixture.blobs.contains(row.sha256));
    const base::Error error = claim_store(other.place).error();
    CHECK(is_of_store(error));
    CHECK(check_store(other.place).error().code == error.code);
    CHECK(error.value.find("s3://farm: registry " + fixture.catalog.registry_id().value() + " at serial 1") ==
          0);
    CHECK(error.value.find(other.opened->registry_id().value() + " at serial 0") != std::string::npos);
    CHECK(error.advice.ends_with("wheelyard-registry store adopt -c '/etc/wheel yard/registry.toml'"));
}

TEST_CASE("a copy of the catalog removes nothing, neither while it is behind nor after it went its own way") {
    PlaceFixture fixture;
    const auto first = fixture.add("main", "six", "1.0");
    OtherCatalog copy(fixture);
    copy.copy_of(fixture);
    fixture.clock.sleep_ms(1);
    const auto later = fixture.add("main", "six", "1.1");
    REQUIRE(claim_store(fixture.place));
    fixture.clock.sleep_ms(30 * day_ms);
    CHECK(refused_gc(copy.place) == "store.other_history");
    copy.pin(first);  // as many events as the store was told of
    CHECK(refused_gc(copy.place) == "store.other_history");
    CHECK(claim_store(copy.place)->history.error().value.find("another event") != std::string::npos);
    CHECK(fixture.blobs.contains(later.sha256));
    CHECK(refused_gc(fixture.place).empty());
}

TEST_CASE("who adopts a store has it, and the catalog that had it is refused") {
    PlaceFixture fixture;
    fixture.add("main", "six", "1.0");
    OtherCatalog copy(fixture);
    copy.copy_of(fixture);
    REQUIRE(claim_store(fixture.place));
    const std::string before = fixture.catalog.registry_id().value();
    const auto adopted = adopt_store(copy.place).value();
    CHECK(adopted.before->registry == before);
    CHECK(adopted.now.registry == copy.opened->registry_id().value());
    CHECK(adopted.now.registry != before);
    CHECK(adopted.now.store == adopted.before->store);  // the nodes over it go on
    CHECK(refused_gc(copy.place).empty());
    CHECK(refused_gc(fixture.place) == "store.of_another");
    REQUIRE(adopt_store(fixture.place));
    CHECK(refused_gc(fixture.place).empty());
    CHECK(refused_gc(copy.place) == "store.of_another");
}

TEST_CASE("a server that notes its newest event while its store is adopted leaves the new registry there") {
    PlaceFixture fixture;
    fixture.add("main", "six", "1.0");
    LifecycleParts server = fixture.place;
    bool adopts = true;
    server.on_catalog = [&](const CatalogWork& work) {
        auto done = work(fixture.catalog);
        if (std::exchange(adopts, false)) REQUIRE(adopt_store(fixture.place));
        return done;
    };
    REQUIRE(claim_store(server));
    CHECK(read_identity(fixture.blobs).value()->registry == fixture.catalog.registry_id().value());
    CHECK(refused_gc(fixture.place).empty());
}

TEST_CASE("a store of an older program is taken by the catalog that knows its wheels, orphans or not") {
    PlaceFixture fixture;
    REQUIRE(base::remove_file(fixture.dir.path() / "blobs" / "registry.json"));
    for (int i = 0; i < 20; ++i)
        fixture.store("an orphan " + std::to_string(i));
    OtherCatalog other(fixture);
    other.open();
    CHECK(claim_store(other.place).error().code == "store.of_another");
    fixture.add("main", "six", "1.0");
    CHECK(claim_store(other.place).error().code == "store.of_another");
    CHECK_FALSE(read_identity(fixture.blobs).value().has_value());
    const auto claim = claim_store(fixture.place).value();
    CHECK(claim.history);
    CHECK(claim.identity.registry == fixture.catalog.registry_id().value());
    CHECK(claim.identity.event.serial == 1);
    CHECK(read_identity(fixture.blobs).value()->store == claim.identity.store);
}

TEST_CASE("an empty store is a new one only to a catalog without wheels, or as the copy of another store") {
    const catalog::CatalogFolder folder;
    const auto opened = folder.open();
    const base::TempDir dir = base::TempDir::make("store").value();
    const blobs::FolderBlobs blobs = blobs::FolderBlobs::open(dir.path()).value();
    base::ManualClock clock{noon};
    const LifecycleParts place{.on_catalog = [&](const CatalogWork& work) { return work(*opened); },
                               .blobs = blobs,
                               .clock = clock,
                               .admits = [](const auto&...) { return base::Status(); },
                               .store = "/mnt/wheels",
                               .config = "/etc/registry.toml"};
    const auto lose_document = [&] { REQUIRE(base::remove_file(dir.path() / "blobs" / "registry.json")); };
    REQUIRE(claim_store(place));
    lose_document();
    CHECK(claim_store(place, EmptyStore::was_there).error().code == "store.document_gone");
    REQUIRE(claim_store(place));
    lose_document();

    auto row = catalog::row_of("main", "six", "1.0");
    row.sha256 = base::sha256_hex("a wheel");
    REQUIRE(opened->add_file(row));
    const auto refused = claim_store(place);
    REQUIRE_FALSE(refused);
    CHECK(is_of_store(refused.error()));
    CHECK(refused.error().code == "store.document_gone");
    CHECK(refused.error().value.starts_with("/mnt/wheels: "));
    CHECK(refused.error().advice.starts_with("mount its file system"));
    CHECK(refused.error().advice.ends_with("wheelyard-registry store adopt -c /etc/registry.toml"));
    CHECK(refused_gc(place) == "store.document_gone");
    CHECK_FALSE(read_identity(blobs).value().has_value());

    REQUIRE(claim_store(place, EmptyStore::is_new));
    lose_document();
    REQUIRE(blobs.store_bytes("a wheel").value() == row.sha256);  // its file system is mounted again
    CHECK(claim_store(place, EmptyStore::was_there).error().code == "store.document_gone");
    CHECK(claim_store(place));
}

TEST_CASE("an identity that cannot be read gives nobody the store until it is adopted") {
    PlaceFixture fixture;
    fixture.add("main", "six", "1.0");
    for (const char* damaged :
         {"", "{", "{\"format\":\"wheelyard.store/1\"}", "{\"format\":\"wheelyard.store/9\"}"}) {
        CAPTURE(damaged);
        REQUIRE(fixture.blobs.write_identity(damaged));
        const auto refused = claim_store(fixture.place);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == "store.identity");
        CHECK(is_of_store(refused.error()));
    }
    CHECK_FALSE(adopt_store(fixture.place)->before.has_value());
    CHECK(claim_store(fixture.place));
}
