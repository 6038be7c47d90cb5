#include "indexer/tree/paths.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/url.hpp"
#include "tests/indexer/sample_view.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

TEST_CASE("a link leads from the project's page to the file's path") {
    const auto row = sample_row("1!1.0+cu126", "sample-1!1.0+cu126-py3-none-any.whl", 'a');
    CHECK(file_link(row) == "../../files/aa/" + row.sha256 + "/sample-1%211.0%2Bcu126-py3-none-any.whl");
    // Under any prefix.
    const auto url =
        base::resolve_url(*base::parse_url("https://host/deep/tree/main/simple/sample/"), file_link(row));
    REQUIRE(url);
    CHECK(url->path == "/deep/tree/main/files/aa/" + row.sha256 + "/sample-1%211.0%2Bcu126-py3-none-any.whl");
    CHECK(file_folder("/deep/tree", "main", row.sha256) == "/deep/tree/main/files/aa/" + row.sha256);
}
