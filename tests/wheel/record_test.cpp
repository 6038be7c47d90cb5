// RECORD: rows, quoting, digests, and errors with line numbers.
#include "lib/wheel/record.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

const std::string empty_sha256 = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";

}  // namespace

TEST_CASE("a RECORD is parsed row by row") {
    const auto rows = parse_record("torch/__init__.py," + empty_sha256 + ",0\r\n\"a,b \"\"c\"\".py\"," +
                                   empty_sha256 + ",\ntorch-2.4.0.dist-info/RECORD,,");
    REQUIRE(rows.has_value());
    REQUIRE(rows->size() == 3);
    CHECK((*rows)[0].path == "torch/__init__.py");
    CHECK((*rows)[0].algorithm == "sha256");
    CHECK(base::encode_hex((*rows)[0].digest) == base::sha256_hex(""));
    CHECK((*rows)[0].size == 0);
    CHECK((*rows)[1].path == "a,b \"c\".py");
    CHECK_FALSE((*rows)[1].size.has_value());
    CHECK((*rows)[2].path == "torch-2.4.0.dist-info/RECORD");
    CHECK((*rows)[2].algorithm.empty());
    CHECK((*rows)[2].digest.empty());
    CHECK_FALSE((*rows)[2].size.has_value());
    CHECK(parse_record("")->empty());
}

TEST_CASE("no reader takes a RECORD that is not UTF-8") {
    Faults faults;
    CHECK(parse_record("a,,\nb\xFF,,\n").error().code == "record.encoding");
    CHECK(parse_record("a,,\nb\xFF,,\n", &faults).error().code == "record.encoding");
}

TEST_CASE("a blank line is a fault: csv readers skip it, and pip ends with an error") {
    const std::string text = "a,,\n\nb,,\n";
    CHECK(parse_record(text).error().code == "record.blank");
    Faults faults;
    CHECK(parse_record(text, &faults)->size() == 2);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].code == "record.blank");
}

TEST_CASE("digests must have the length of their algorithm; weak algorithms and padding are accepted") {
    CHECK(parse_record("a," + empty_sha256 + "=,0\n").has_value());
    CHECK(parse_record("a,sha512=" + base::encode_base64url(std::string(64, 'x')) + ",1\n").has_value());
    CHECK(parse_record("a,sha384=" + base::encode_base64url(std::string(48, 'x')) + ",1\n").has_value());
    CHECK(parse_record("a,md5=" + base::encode_base64url(std::string(16, 'x')) + ",1\n").has_value());
}

TEST_CASE("a parsed RECORD is rendered byte for byte") {
    const std::string text = "torch/a.py," + empty_sha256 + ",12\n\"a,b\"\"c\"," + empty_sha256 +
                             ",18446744073709551615\nx.dist-info/RECORD,,\n";
    CHECK(render_record(*parse_record(text)) == text);
}

TEST_CASE("a RECORD may have as many rows as an archive has files") {
    std::string text;
    for (std::size_t i = 0; i < max_record_rows; ++i)
        text += "a,,\n";
    CHECK(max_record_rows < 1'000'000);  // each needs some 300 bytes of memory
    CHECK(parse_record(text).has_value());
    text += "a,,\n";
    const auto more = parse_record(text);
    REQUIRE_FALSE(more.has_value());
    CHECK(more.error().code == "record.too_many");
}

TEST_CASE("an invalid row is rejected with its line number") {
    struct Row {
        std::string row;
        const char* code;
    };
    const Row rows[] = {{"a", "record.columns"},
                        {"a,", "record.columns"},
                        {"a,,,", "record.columns"},
                        {"a," + empty_sha256 + ",0,", "record.columns"},
                        {"\"a," + empty_sha256 + ",0", "record.columns"},
                        {"\"a\"b," + empty_sha256 + ",0", "record.columns"},
                        {",,", "record.path"},
                        {"a\tb,,", "record.path"},
                        {std::string("a\0b,,", 5), "record.path"},
                        {"a,47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0", "record.hash"},
                        {"a,sha256=,0", "record.hash"},
                        {"a,sha256=47DEQpj8HBSa,0", "record.hash"},
                        {"a,sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU,0", "record.hash"},
                        {"a,sha512=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0", "record.hash"},
                        {"a,crc32=AAAA,0", "record.algorithm"},
                        {"a,SHA256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0", "record.algorithm"},
                        {"a," + empty_sha256 + ",-1", "record.size"},
                        {"a," + empty_sha256 + ", 1", "record.size"},
                        {"a," + empty_sha256 + ",18446744073709551616", "record.size"}};
    for (const auto& row : rows) {
        const auto record = parse_record("ok,,\n" + row.row + "\nok2,,\n");
        REQUIRE_MESSAGE(!record.has_value(), row.row);
        CHECK_MESSAGE(record.error().code == row.code, row.row);
        CHECK_MESSAGE(record.error().sentence.find("line 2") != std::string::npos, row.row);
    }
}

TEST_CASE("a lenient reader goes on after a fault, and keeps what it can of the row") {
    struct Row {
        std::string row;
        const char* code;
        bool kept;
    };
    const std::string hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    for (const Row& row : {Row{"a,sha256=" + hex + ",0", "record.hash", true},
                           Row{"a,sha256=" + hex.substr(2) + ",0", "record.hash", true},
                           Row{"a,crc32=AAAA,0", "record.algorithm", true}, Row{"a", "record.columns", true},
                           Row{"a," + empty_sha256 + ",-1", "record.size", true},
                           Row{"\"a," + empty_sha256 + ",0", "record.columns", false}}) {
        CAPTURE(row.row);
        Faults faults;
        const auto rows = parse_record("ok,,\n" + row.row + "\nok2,,\n", &faults);
        REQUIRE(rows.has_value());
        REQUIRE(faults.size() == 1);
        CHECK(faults[0].code == row.code);
        CHECK(faults[0].sentence.find("line 2") != std::string::npos);
        REQUIRE(rows->size() == (row.kept ? 3 : 2));
        CHECK(rows->back().path == "ok2");
        if (row.kept) CHECK(rows->at(1).has_fault);
        CHECK_FALSE(rows->front().has_fault);
    }
    Faults faults;
    const auto rows = parse_record("a,sha256=" + hex + ",0\n", &faults);
    REQUIRE(rows.has_value());
    CHECK("sha256=" + base::encode_base64url(rows->front().digest) == empty_sha256);
    std::string many;
    for (std::size_t i = 0; i < 2 * max_faults; ++i)
        many += "a\n";
    faults.clear();
    CHECK(parse_record(many, &faults).has_value());
    CHECK(faults.size() == max_faults);
}

}  // namespace wheelyard::wheel
