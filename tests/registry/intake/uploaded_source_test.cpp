// The source distribution that a task names: found by version, file name or digest.
#include "registry/intake/uploaded_source.hpp"

#include <doctest/doctest.h>

#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;

namespace {

struct Sources : catalog::CatalogFolder {
    std::unique_ptr<catalog::Catalog> opened = open();
    catalog::Catalog& catalog = *opened;

    Sources() {
        REQUIRE(catalog.add_file(catalog::row_of("ours", "torch", "2.4.0")));  // the wheel
        catalog::FileRow sdist = catalog::row_of("ours", "torch", "2.4.0", 'b');
        sdist.filename = "torch-2.4.0.tar.gz";
        REQUIRE(catalog.add_file(sdist));
    }
    // The file that a task with these names gets, or the code of the error.
    [[nodiscard]] std::string found(const std::string& version, const std::string& filename = {},
                                    const std::string& sha256 = {}) const {
        wire::TaskRequest request;
        request.package = "torch";
        request.version = version;
        request.source = wire::UploadedSource{"ours", filename, sha256};
        const auto resolved = registry::resolve_source(request, catalog);
        return resolved ? resolved->source->filename + " " + resolved->source->sha256.substr(0, 1)
                        : resolved.error().code;
    }
};

}  // namespace

TEST_CASE_FIXTURE(Sources, "a task names its source by version, by file name or by digest") {
    CHECK(found("2.4.0") == "torch-2.4.0.tar.gz b");
    CHECK(found("2.4.0", "torch-2.4.0.tar.gz") == "torch-2.4.0.tar.gz b");
    CHECK(found("2.4.0", {}, std::string(64, 'b')) == "torch-2.4.0.tar.gz b");
}

TEST_CASE_FIXTURE(Sources, "another version, name or digest is not there, and a wheel is no source") {
    CHECK(found("2.5.0") == "task.no_such_source");
    CHECK(found("2.4.0", "torch-2.4.0.zip") == "task.no_such_source");
    CHECK(found("2.4.0", {}, std::string(64, 'c')) == "task.no_such_source");
    CHECK(found("2.4.0", "torch-2.4.0-py3-none-any.whl") == "task.no_such_source");
}
