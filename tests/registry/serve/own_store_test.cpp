// What a server knows of its store while it runs.
#include "registry/serve/own_store.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "lib/base/text/text.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using lifecycle::PlaceFixture;
using registry::OwnStore;

namespace {

std::unique_ptr<OwnStore> opened(const PlaceFixture& fixture) {
    registry::RegistryConfig config;
    config.store = fixture.dir.path();
    return OwnStore::open(database::Store(fixture.dir.path()), config, fixture.blobs).value();
}

}  // namespace

TEST_CASE("a server knows that its store has seen a newer catalog, until the store is adopted") {
    PlaceFixture fixture;
    CHECK_FALSE(opened(fixture)->has_other_history());
    const std::string noted = fixture.blobs.read_identity().value();
    REQUIRE(fixture.blobs.write_identity(base::replace_all(noted, "\"serial\":0", "\"serial\":7")));
    const auto own = opened(fixture);
    CHECK(own->has_other_history());
    REQUIRE(lifecycle::adopt_store(fixture.place));
    CHECK(own->note());
    CHECK_FALSE(own->has_other_history());
}

TEST_CASE("a store that did not answer at the start is there once it answers as this catalog's") {
    const PlaceFixture fixture;
    const auto document = fixture.dir.path() / "blobs" / "registry.json";
    const std::string noted = fixture.blobs.read_identity().value();
    std::filesystem::remove(document);
    std::filesystem::create_directory(document);
    const auto own = opened(fixture);
    REQUIRE(own->name().empty());
    CHECK_FALSE(own->is_there());
    std::filesystem::remove(document);
    REQUIRE(fixture.blobs.write_identity(
        base::replace_all(noted, fixture.catalog.registry_id().value(), "of-another")));
    CHECK_FALSE(own->is_there());
    REQUIRE(fixture.blobs.write_identity(noted));
    CHECK(own->is_there());
}

TEST_CASE(
    "an empty folder where a server's store did not answer at the start is no store of another registry") {
    PlaceFixture fixture;
    fixture.add("main", "six", "1.0");
    const auto document = fixture.dir.path() / "blobs" / "registry.json";
    std::filesystem::remove(document);
    std::filesystem::create_directory(document);
    const auto own = opened(fixture);
    REQUIRE(own->name().empty());
    std::filesystem::rename(fixture.dir.path() / "blobs", fixture.dir.path() / "unmounted");
    std::filesystem::create_directory(fixture.dir.path() / "blobs");
    CHECK(own->note().error().code == "store.document_gone");
    CHECK_FALSE(own->is_of_another());
}

TEST_CASE("a running server begins no store in an empty folder where its own was") {
    const PlaceFixture fixture;
    const auto own = opened(fixture);
    REQUIRE_FALSE(own->name().empty());
    const auto document = fixture.dir.path() / "blobs" / "registry.json";
    REQUIRE(std::filesystem::remove(document));
    CHECK(own->note().error().code == "store.document_gone");
    CHECK_FALSE(own->is_of_another());  // its file system may come back
    CHECK_FALSE(std::filesystem::exists(document));
    REQUIRE(lifecycle::adopt_store(fixture.place));
    CHECK(std::filesystem::exists(document));
}
