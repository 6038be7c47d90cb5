#include "registry/store/opened_store.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/store/index_list.hpp"

using namespace wheelyard;
using registry::NewStore;

namespace {

struct Fixture {
    base::TempDir dir = base::TempDir::make("opened-store").value();
    std::filesystem::path file = dir.path() / "registry.toml";
    registry::Published published{catalog::Serial{0}};

    Fixture() {
        REQUIRE(base::replace_file(file,
                                   "config_version = 1\n[[index]]\nname = \"main\"\n"
                                   "[[index]]\nname = \"other\"\n"));
    }
    [[nodiscard]] base::Result<std::unique_ptr<registry::OpenedStore>> open(
        NewStore new_store = NewStore::created) const {
        const registry::OpenPublisher publisher =
            [this](registry::ConfigView, const database::Store&,
                   const blobs::BlobStore&) -> base::Result<registry::PublishFunction> {
            return [this](registry::RootPages) -> base::Result<registry::Published> { return published; };
        };
        return registry::open_store(registry::read_config_in_force(file).value(), publisher, new_store);
    }
};

}  // namespace

TEST_CASE("a store is only created where a server would create it") {
    const Fixture fixture;
    CHECK_FALSE(fixture.open(NewStore::refused).has_value());
    CHECK_FALSE(std::filesystem::exists(fixture.dir.path() / "data"));
    CHECK(fixture.open().has_value());
    CHECK(fixture.open(NewStore::refused).has_value());
}

TEST_CASE("a page that lags is an error for its own files, and no error for others") {
    Fixture fixture;
    const auto opened = fixture.open();
    REQUIRE(opened.has_value());
    fixture.published.lagging.push_back(
        {.index = "main", .project = "six", .filename = "six-1.0.tar.gz", .error = {"os.EIO", "It fails"}});
    const auto shown = [&](const std::string& index, const std::string& filename) {
        return (*opened)->show({{"other", "six-1.0.tar.gz"}, {index, filename}}).has_value();
    };
    CHECK_FALSE(shown("main", "six-1.0.tar.gz"));
    CHECK(shown("main", "six-2.0.tar.gz"));
    fixture.published.lagging.front().filename.clear();  // the page of the index
    CHECK_FALSE(shown("main", "six-2.0.tar.gz"));
    CHECK(shown("other", "six-2.0.tar.gz"));
}
