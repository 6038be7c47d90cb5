// Source distributions: a valid one is accepted, and each defect is found under its code.
#include "lib/inspect/inspect.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "tests/support/sdist_writer.hpp"

using namespace wheelyard;
using test_support::SdistWriter;
using test_support::TarEntry;

namespace {

SdistWriter six() {
    SdistWriter sdist("six", "1.16.0");
    sdist.add({.name = "six-1.16.0/six.py", .data = "print('six')\n"});
    return sdist;
}

std::string six_with(TarEntry entry) {
    return six().add(std::move(entry)).bytes();
}

std::string six_metadata(const std::string& text) {
    return six().replace("PKG-INFO", text).bytes();
}

inspect::Inspection checked(const std::string& bytes, const std::string& filename = "six-1.16.0.tar.gz",
                            const inspect::Policy& policy = {}) {
    return inspect::inspect_file(base::MemoryReader(bytes), filename,
                                 {.policy = policy, .threads = 1, .progress = {}})
        .value();
}

std::string codes_of(const inspect::Inspection& inspection) {
    std::set<std::string> codes;
    for (const auto& verdict : inspection.verdicts)
        codes.insert(std::string(verdict.code));
    std::string text;
    for (const auto& code : codes)
        text += (text.empty() ? "" : " ") + code;
    return text;
}

std::string metadata(const std::string& more = {}, const std::string& version = "2.2") {
    return "Metadata-Version: " + version + "\nName: six\nVersion: 1.16.0\n" + more;
}

inspect::Policy small() {
    inspect::Policy policy;
    policy.sizes = {.unpacked_bytes = 1 << 20, .ratio = 100, .ratio_from_bytes = 1 << 16};
    return policy;
}

}  // namespace

TEST_CASE("a valid sdist has no findings, and its facts are those of PKG-INFO") {
    const auto inspection = checked(six().bytes());
    CHECK(codes_of(inspection) == "");
    CHECK(inspection.accepted());
    CHECK(inspection.filename.project == "six");
    CHECK(inspection.filename.version.text() == "1.16.0");
    CHECK(inspection.metadata.name == "six");
    CHECK(inspection.metadata_bytes.starts_with("Metadata-Version: 2.2\n"));
    CHECK(inspection.facts.requires_python == ">=3.8");
    CHECK(inspection.facts.static_metadata);
    CHECK(inspection.facts.members == 4);
}

TEST_CASE("what an sdist may have: links inside its folder, folders twice, files without their folder") {
    const TarEntry rows[] = {
        {.name = "six-1.16.0/docs/index.md", .data = "x"},
        {.name = "six-1.16.0/", .type = '5'},
        {.name = "six-1.16.0/copy.py", .type = '1', .link = "six-1.16.0/six.py"},
        {.name = "six-1.16.0/link.py", .type = '2', .link = "six.py"},
        {.name = "six-1.16.0/docs/up.py", .type = '2', .link = "../six.py"},
        {.name = "six-1.16.0/\xC3\xA9.py", .data = "x"},
    };
    for (const TarEntry& row : rows) {
        CAPTURE(row.name);
        CHECK(codes_of(checked(six_with(row))) == "");
    }
}

TEST_CASE("each defect has its code") {
    const std::string whole = six().bytes();
    const std::string tar = test_support::tar_of({{.name = "six-1.16.0/PKG-INFO", .data = metadata()}});
    struct Row {
        const char* what;
        std::string bytes;
        const char* codes;
    };
    const Row rows[] = {
        {"empty", "", "sdist.archive_invalid"},
        {"not a gzip file", "PK\x03\x04 and so on", "sdist.archive_invalid"},
        {"a tar without gzip", tar, "sdist.archive_invalid"},
        {"gzip of text", test_support::gzip_of("hello"), "sdist.archive_invalid"},
        {"cut in the middle", whole.substr(0, whole.size() / 2), "sdist.archive_invalid"},
        {"damaged after its first bytes", whole.substr(0, 20) + whole, "sdist.archive_invalid"},
        {"a path upwards", six_with({.name = "six-1.16.0/../../evil", .data = "x"}), "sdist.member_unsafe"},
        {"a path upwards at once", six_with({.name = "../evil", .data = "x"}),
         "sdist.folder sdist.member_unsafe"},
        {"an absolute path", six_with({.name = "/etc/evil", .data = "x"}),
         "sdist.folder sdist.member_unsafe"},
        {"an absolute link", six_with({.name = "six-1.16.0/a", .type = '2', .link = "/etc/passwd"}),
         "sdist.member_unsafe"},
        {"a link upwards", six_with({.name = "six-1.16.0/a", .type = '2', .link = "../../evil"}),
         "sdist.member_unsafe"},
        {"a link down and upwards",
         six_with({.name = "six-1.16.0/a", .type = '2', .link = "b/../../../evil"}), "sdist.member_unsafe"},
        {"a hard link upwards", six_with({.name = "six-1.16.0/a", .type = '1', .link = "../evil"}),
         "sdist.member_unsafe"},
        {"a link out of the folder and back by its name",
         six_with({.name = "six-1.16.0/a/x", .type = '2', .link = "../../six-1.16.0/PKG-INFO"}),
         "sdist.member_unsafe"},
        {"a hard link to nothing", six_with({.name = "six-1.16.0/a", .type = '1', .link = "six-1.16.0/b"}),
         "sdist.member_unsafe"},
        {"a hard link to a file after it",
         six()
             .add({.name = "six-1.16.0/a", .type = '1', .link = "six-1.16.0/b"})
             .add({.name = "six-1.16.0/b", .data = "x"})
             .bytes(),
         "sdist.member_unsafe"},
        {"a hard link to a folder", six_with({.name = "six-1.16.0/a", .type = '1', .link = "six-1.16.0"}),
         "sdist.member_unsafe"},
        {"a file with holes",
         six()
             .add({.name = "PaxHeaders/a",
                   .data = "24 GNU.sparse.size=1024\n26 GNU.sparse.numblocks=1\n24 GNU.sparse.map=512,3\n",
                   .type = 'x'})
             .add({.name = "six-1.16.0/a", .data = "abc"})
             .bytes(),
         "sdist.member_unsafe"},
        {"a file below a link",
         six()
             .add({.name = "six-1.16.0/a", .type = '2', .link = ".."})
             .add({.name = "six-1.16.0/a/b", .data = "x"})
             .bytes(),
         "sdist.member_unsafe"},
        {"a file below a file", six_with({.name = "six-1.16.0/six.py/b", .data = "x"}),
         "sdist.member_unsafe"},
        {"a device", six_with({.name = "six-1.16.0/null", .type = '3'}), "sdist.member_unsafe"},
        {"a named pipe", six_with({.name = "six-1.16.0/pipe", .type = '6'}), "sdist.member_unsafe"},
        {"another top folder", six_with({.name = "seven-1.0/six.py", .data = "x"}), "sdist.folder"},
        {"a file at the top", six_with({.name = "setup.py", .data = "x"}), "sdist.folder"},
        {"a file in place of the folder", six_with({.name = "six-1.16.0", .data = "x"}),
         "sdist.folder sdist.member_duplicate"},
        {"a file twice", six_with({.name = "six-1.16.0/six.py", .data = "x"}), "sdist.member_duplicate"},
        {"PKG-INFO twice", six_with({.name = "six-1.16.0/PKG-INFO", .data = metadata()}),
         "sdist.member_duplicate"},
        {"a folder that becomes a link",
         six()
             .add({.name = "six-1.16.0/a/b", .data = "x"})
             .add({.name = "six-1.16.0/a", .type = '2', .link = "six.py"})
             .bytes(),
         "sdist.member_duplicate"},
        {"a control character", six_with({.name = "six-1.16.0/a\x1b[31m", .data = "x"}), "sdist.member_name"},
        {"a direction", six_with({.name = "six-1.16.0/a\u202e", .data = "x"}), "sdist.member_name"},
        {"not UTF-8", six_with({.name = "six-1.16.0/\xff", .data = "x"}), "sdist.member_name"},
        {"a part `.`", six_with({.name = "six-1.16.0/./a", .data = "x"}), "sdist.member_name"},
        {"an empty part", six_with({.name = "six-1.16.0//a", .data = "x"}), "sdist.member_name"},
        {"no PKG-INFO", six().replace("PKG-INFO", "").bytes(), "sdist.pkg_info_missing"},
        {"no pyproject.toml", six().replace("pyproject.toml", "").bytes(), "sdist.pyproject_missing"},
        {"another name", six_metadata("Metadata-Version: 2.2\nName: seven\nVersion: 1.16.0\n"),
         "metadata.name_mismatch"},
        {"another version", six_metadata("Metadata-Version: 2.2\nName: six\nVersion: 1.17\n"),
         "metadata.version_mismatch"},
        {"PKG-INFO is not one", six_metadata("nothing"), "metadata.invalid"},
        {"four gibibytes, declared", six_with({.name = "six-1.16.0/a", .said_size_bytes = 1ULL << 32U}),
         "sdist.bomb"},
        {"more than there is, declared", six_with({.name = "six-1.16.0/a", .said_size_bytes = 1 << 20}),
         "sdist.archive_invalid"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const auto inspection = checked(row.bytes);
        CHECK(codes_of(inspection) == row.codes);
        CHECK(inspection.accepted() == (std::string(row.codes) == "sdist.pyproject_missing"));
    }
}

TEST_CASE("what unpacks to more than the limit is a bomb") {
    const auto filled = [](std::size_t bytes) {
        return checked(six_with({.name = "six-1.16.0/a", .data = std::string(bytes, '\0')}),
                       "six-1.16.0.tar.gz", small());
    };
    CHECK(codes_of(filled(1U << 15U)) == "");
    CHECK(codes_of(filled(1U << 21U)) == "sdist.bomb");
    CHECK_FALSE(filled(1U << 21U).accepted());
}

TEST_CASE("the number of members has a limit, which is lower for a small archive") {
    inspect::Policy policy;
    policy.sizes.ratio_from_bytes = policy.sizes.unpacked_bytes;
    std::vector<TarEntry> entries{{.name = "six-1.16.0/PKG-INFO", .data = metadata()}};
    const auto codes_with = [&](std::size_t members, const std::string& data) {
        while (entries.size() < members)
            entries.push_back({.name = "six-1.16.0/" + std::to_string(entries.size())});
        entries.back().data = data;
        return codes_of(
            checked(test_support::gzip_of(test_support::tar_of(entries)), "six-1.16.0.tar.gz", policy));
    };
    CHECK(codes_with(20'000, "").find("too_many") == std::string::npos);
    CHECK(codes_with(20'001, "") == "sdist.too_many_members");
    CHECK(codes_with(20'001, base::random_bytes(2'000'000)).find("too_many") == std::string::npos);
    CHECK(codes_with(inspect::max_sdist_members + 1, base::random_bytes(20'000'000)) ==
          "sdist.too_many_members");
}

TEST_CASE("metadata is static from version 2.2 on, and only where no field is dynamic") {
    struct Row {
        std::string text;
        bool is_static;
    };
    const Row rows[] = {
        {metadata(), true},
        {metadata({}, "2.4"), true},
        {metadata({}, "2.1"), false},
        {metadata("Dynamic: Requires-Dist\n"), false},
        {metadata("dynamic: license-file\n", "2.4"), false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const auto inspection = checked(six_metadata(row.text));
        CHECK(inspection.accepted());
        CHECK(inspection.facts.static_metadata == row.is_static);
    }
}

TEST_CASE("the file name must be that of PEP 625") {
    struct Row {
        const char* filename;
        const char* code;
    };
    const Row rows[] = {
        {"six-1.16.0.zip", "filename.invalid"}, {"six.tar.gz", "filename.invalid"},
        {"six-one.tar.gz", "filename.invalid"}, {"six-1.16.0.tar.bz2", "filename.invalid"},
        {"-1.16.0.tar.gz", "filename.invalid"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.filename);
        const auto inspection = checked(six().bytes(), row.filename);
        CHECK(codes_of(inspection) == row.code);
        CHECK_FALSE(inspection.accepted());
    }
    CHECK(codes_of(checked(SdistWriter("Six", "1.16.0").bytes(), "Six-1.16.0.tar.gz")) ==
          "filename.not_normalized");
}

TEST_CASE("a mirror takes sdists from before PEP 625, but no unsafe ones") {
    const auto mirror = inspect::make_preset("mirror").value();
    CHECK(checked(six_with({.name = "setup.py", .data = "x"}), "six-1.16.0.tar.gz", mirror).accepted());
    CHECK_FALSE(checked(six_with({.name = "../evil", .data = "x"}), "six-1.16.0.tar.gz", mirror).accepted());
}
