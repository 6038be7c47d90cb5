// The variants of a version: what its wheels say together, against the file that variantlib makes, and the contradictions
// that the catalog refuses.
#include "lib/store/catalog/version_variants.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::AddOutcome;
using catalog::ChangeOutcome;
using catalog::FileRow;
using io::Json;

namespace {

// By `variantlib make-variant` and `variantlib generate-index-json` 0.2.2, from four wheels.
Json index_of_variantlib() {
    const auto text = base::read_file(
        std::string(WHEELYARD_TEST_DATA) + "/store/catalog/data/variantlib-0.2.2.json", 1u << 20);
    REQUIRE(text.has_value());
    return io::parse_json(*text).value();
}

FileRow variant_row(const std::string& label, const std::string& document, const std::string& index = "main",
                    const std::string& version = "1.0") {
    FileRow row = catalog::row_of(index, "probe", version);
    row.filename = "probe-" + version + "-py3-none-any-" + label + ".whl";
    row.sha256 = base::sha256_hex(row.filename + document);
    row.facts_json = R"({"machines":[],"variant":)" + document + "}";
    return row;
}

// A wheel of this label, whose variant.json has the members of `from`.
FileRow variant_row_of(const Json& from, const std::string& label, const Json& properties) {
    Json json = from;
    json.set("variants", Json::object({{label, properties}}));
    const auto variant = inspect::parse_variant_json(json.render(), label);
    REQUIRE_MESSAGE(variant.has_value(), variant.error().text());
    return variant_row(label, variant->document);
}

std::string document(const std::string& label, const std::string& level,
                     const std::string& namespaces = R"(["x86_64"])", const std::string& providers = {},
                     const std::string& schema = "v0.1.1") {
    return R"({"$schema":"https://variants-schema.wheelnext.dev/peps/825/)" + schema +
           R"(.json","default-priorities":{"namespace":)" + namespaces + "}" +
           (providers.empty() ? "" : R"(,"providers":)" + providers) + R"(,"variants":{")" + label +
           R"(":{"x86_64":{"level":[")" + level + R"("]}}}})";
}

const catalog::Cause why{.actor = "anna", .reason = {}, .time = 1'795'000'000'000'777};

}  // namespace

TEST_CASE("the index's file is the one that variantlib makes of these wheels, in any order of the wheels") {
    const Json expected = index_of_variantlib();
    std::vector<FileRow> rows;
    for (const auto& [label, properties] : *expected.find("variants")->as_object())
        rows.push_back(variant_row_of(expected, label, properties));
    REQUIRE(rows.size() == 4);
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.filename < b.filename; });
    do {
        const auto files = catalog::variants_files(rows);
        REQUIRE(files.size() == 1);
        CHECK(files[0].filename == "probe-1.0-variants.json");
        CHECK(files[0].sha256 == base::sha256_hex(files[0].bytes));
        CHECK(io::parse_json(files[0].bytes).value() == expected);
    } while (std::next_permutation(rows.begin(), rows.end(),
                                   [](const auto& a, const auto& b) { return a.filename < b.filename; }));
}

TEST_CASE("only versions with variant wheels have such a file") {
    std::vector<FileRow> rows{catalog::row_of("main", "probe", "1.0")};
    CHECK(catalog::variants_files(rows).empty());
    rows.push_back(variant_row("v3", document("v3", "v3"), "main", "1.1"));
    rows.back().upload_time = 7;
    rows.push_back(variant_row("v3", document("v3", "v2"), "main", "1.2+cu126"));
    const auto files = catalog::variants_files(rows);
    REQUIRE(files.size() == 2);
    CHECK(files[0].filename == "probe-1.1-variants.json");
    CHECK(files[0].upload_time == 7);
    CHECK(files[1].filename == "probe-1.2+cu126-variants.json");
}

TEST_CASE("a variant wheel that contradicts another one of its version is refused, and nothing is added") {
    const std::string provider = R"({"x86_64":{"builtin":"x86_64"}})";
    const std::string other_provider = R"({"x86_64":{"requires":["x86-64-variant-provider"]}})";
    struct Row {
        std::string there, comes;
        const char* code;  // empty: it is added
    };
    const Row rows[] = {
        {document("v3", "v3"), document("v2", "v2"), ""},
        {document("v3", "v3"), document("v2", "v2", R"(["x86_64","nvidia"])"), ""},
        {document("v3", "v3", R"(["x86_64","nvidia"])"), document("v2", "v2"), ""},
        {document("v3", "v3", {R"(["x86_64","nvidia"])"}), document("v2", "v2", R"(["nvidia","x86_64"])"),
         "variants.namespaces"},
        {document("v3", "v3"), document("v3", "v2"), "variants.label"},
        // variantlib 0.2.2: "all of ['v2', 'v3'] correspond to variant hash …"; PEP 825: a label "uniquely corresponds" to a set.
        {document("v3", "v3"), document("v2", "v3"), "variants.same_properties"},
        {document("v3", "v3"), document("v3", "v3"), ""},
        {document("v3", "v3", R"(["x86_64"])", provider), document("v2", "v2", R"(["x86_64"])", provider),
         ""},
        {document("v3", "v3", R"(["x86_64"])", provider),
         document("v2", "v2", R"(["x86_64"])", other_provider), "variants.provider"},
        {document("v3", "v3", R"(["x86_64"])", provider), document("v2", "v2"), "variants.providers"},
        {document("v3", "v3"), document("v2", "v2", R"(["x86_64"])", {}, "v0.1.0"), "variants.schema"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.comes);
        catalog::CatalogFolder folder((catalog::InSqlite()));
        const auto opened = folder.open();
        catalog::Catalog& catalog = *opened;
        // Of one label, two wheels with other tags.
        FileRow there = variant_row("v3", row.there);
        FileRow comes = variant_row(row.comes.find("\"v3\":") == std::string::npos ? "v2" : "v3", row.comes);
        comes.filename.replace(comes.filename.find("py3-"), 4, "py31-");
        REQUIRE(catalog.add_file(there)->outcome == AddOutcome::added);
        const auto added = catalog.add_file(comes).value();
        CHECK(added.why.code == row.code);
        CHECK((added.outcome == AddOutcome::added) == std::string(row.code).empty());
        CHECK(catalog.files("main", "probe")->size() == (std::string(row.code).empty() ? 2 : 1));
        if (added.outcome == AddOutcome::added) continue;
        CHECK(added.outcome == AddOutcome::variants_differ);
        CHECK(added.filename_there == there.filename);
        // Another version is another matter.
        comes.version = "1.0.1";
        comes.filename.replace(0, 9, "probe-1.0.1");
        CHECK(catalog.add_file(comes)->outcome == AddOutcome::added);
    }
}

TEST_CASE("contradictions are found in one transaction, in promotions, and with quarantined wheels") {
    const catalog::CatalogFolder folder;
    const auto opened = folder.open();
    catalog::Catalog& catalog = *opened;
    const FileRow v3 = variant_row("v3", document("v3", "v3"));
    FileRow liar = variant_row("v3", document("v3", "v4"));
    liar.filename = "probe-1.0-py31-none-any-v3.whl";
    const std::vector<FileRow> both{v3, liar};
    const auto added = catalog.add_files(both).value();
    CHECK(added[0].outcome == AddOutcome::added);
    CHECK(added[1].outcome == AddOutcome::variants_differ);
    REQUIRE(catalog.set_file_state({"main", v3.filename}, catalog::FileState::quarantined, why));
    CHECK(catalog.find_obstacle(liar).value()->outcome == AddOutcome::variants_differ);
    REQUIRE(catalog.set_file_state({"main", v3.filename}, catalog::FileState::active, why));

    liar.index = "other";
    REQUIRE(catalog.add_file(liar)->outcome == AddOutcome::added);
    const auto promoted = catalog::promote_file(catalog, {"other", liar.filename}, "main", why).value();
    CHECK(promoted.outcome == ChangeOutcome::variants_differ);
    CHECK(promoted.value_there == "v3 in " + v3.filename);
    CHECK_FALSE(catalog.file("main", liar.filename).value().has_value());
    REQUIRE(catalog.delete_file({"main", v3.filename}, why));
    CHECK(catalog::promote_file(catalog, {"other", liar.filename}, "main", why)->outcome ==
          ChangeOutcome::changed);
}

TEST_CASE("all variant wheels of a version write it alike: 1.0 is 1.0.0 (PEP 440)") {
    const catalog::CatalogFolder folder;
    const auto opened = folder.open();
    catalog::Catalog& catalog = *opened;
    const FileRow there = variant_row("v3", document("v3", "v3"), "main", "1.0");
    REQUIRE(catalog.add_file(there)->outcome == AddOutcome::added);
    for (const char* version : {"1", "1.0.0"}) {
        CAPTURE(version);
        FileRow comes = variant_row("v3", document("v3", "v4"), "main", version);
        comes.filename.replace(comes.filename.find("py3-"), 4, "py31-");
        const auto added = catalog.add_file(comes).value();
        CHECK(added.outcome == AddOutcome::variants_differ);
        CHECK(added.why.code == "variants.version");
        CHECK(added.filename_there == there.filename);
        comes.index = "with-" + comes.version;
        REQUIRE(catalog.add_file(comes)->outcome == AddOutcome::added);
        const auto promoted =
            catalog::promote_file(catalog, {comes.index, comes.filename}, "main", why).value();
        CHECK(promoted.outcome == ChangeOutcome::variants_differ);
        CHECK(promoted.value_there == "1.0 in " + there.filename);
    }
    // These are other versions, and a wheel without a label has no part in the file of variants.
    for (const char* version : {"10", "1.0.0.1", "1.0+a", "1.0rc1", "1!1.0"})
        CHECK(catalog.add_file(variant_row("v3", document("v3", "v4"), "main", version))->outcome ==
              AddOutcome::added);
    FileRow plain = catalog::row_of("main", "probe", "1.0.0");
    CHECK(catalog.add_file(plain)->outcome == AddOutcome::added);
}

TEST_CASE("a variant wheel whose properties are not known is refused") {
    const catalog::CatalogFolder folder;
    const auto opened = folder.open();
    FileRow row = variant_row("v3", document("v3", "v3"));
    row.facts_json = R"({"machines":[]})";
    CHECK(opened->add_file(row)->why.code == "variants.unknown");
    CHECK(catalog::variants_files({&row, 1}).empty());
}

TEST_CASE("a variant wheel that is refused changes nothing") {
    const std::string providers = R"({"x86_64":{"builtin":"x86_64"},"nvidia":{"builtin":"nvidia"}})";
    catalog::VersionVariants variants;
    REQUIRE(variants.add(
        variant_row("v3", document("v3", "v3", R"(["x86_64"])", R"({"x86_64":{"builtin":"x86_64"}})"))));
    const std::string before = variants.render();
    // Its namespaces, providers and first label would be new.
    const std::string liar =
        base::replace_all(document("v3", "v4", R"(["x86_64","nvidia"])", providers), R"("variants":{)",
                          R"("variants":{"v2":{"x86_64":{"level":["v2"]}},)");
    const auto refused = variants.add(variant_row("v3", liar));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "variants.label");
    CHECK(variants.render() == before);
    CHECK(variants.add(
        variant_row("v2", document("v2", "v1", R"(["x86_64","amd"])",
                                   R"({"x86_64":{"builtin":"x86_64"},"amd":{"builtin":"amd"}})"))));
}

TEST_CASE("the file of a version has a limit, which it nearly reaches") {
    catalog::VersionVariants variants;
    const std::string label(200, 'a');
    std::string values = "v0";
    for (int i = 1; i < 3'000; ++i)
        values += "\",\"v" + std::to_string(i);
    std::string code;
    for (int i = 0; i < 100 && code.empty(); ++i) {
        const std::string one = label + std::to_string(i);
        const auto added =
            variants.add(variant_row(one, document(one, values + "\",\"w" + std::to_string(i))));
        if (!added) code = added.error().code;
    }
    CHECK(code == "variants.large");
    const std::size_t bytes = variants.render().size();
    CHECK(bytes <= catalog::max_variants_file_bytes);
    CHECK(bytes >
          catalog::max_variants_file_bytes - (64u << 10));  // the estimate, and the wheel that was refused
}

TEST_CASE("a variant wheel is known by its name") {
    CHECK(catalog::is_variant_wheel("probe-1.0-py3-none-any-null.whl"));
    CHECK(catalog::is_variant_wheel("probe-1.0-1-py3-none-any-x86_64_v3.whl"));
    CHECK_FALSE(catalog::is_variant_wheel("probe-1.0-1-py3-none-any.whl"));
    CHECK_FALSE(catalog::is_variant_wheel("probe-1.0-py3-none-any.whl"));
    CHECK_FALSE(catalog::is_variant_wheel("a-b-c-d-e-f-1.0.tar.gz"));
}
