// Valid archives by real tools, and wheels that were truncated or corrupted.
#include "lib/inspect/zip/zip.hpp"

#include <doctest/doctest.h>

#include "lib/inspect/verdict/findings.hpp"
#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using test_support::ZipEntry;
using test_support::ZipLayout;

namespace {

std::vector<inspect::Verdict> verdicts_of(const std::string& bytes) {
    const base::MemoryReader reader(bytes);
    const auto inspection = inspect::inspect_wheel(reader, "six-1.16.0-py3-none-any.whl");
    REQUIRE(inspection);
    return inspection->verdicts;
}

void check_clean(const WheelWriter& wheel) {
    for (const auto& verdict : verdicts_of(wheel.bytes()))
        CHECK_MESSAGE(false, verdict.text());
}

}  // namespace

TEST_CASE("stored members, folders and empty files are accepted") {
    WheelWriter wheel = valid_wheel();
    ZipEntry stored;
    stored.name = "six_data/stored.bin";
    stored.data = std::string("\0\1\2", 3);
    stored.deflate = false;
    ZipEntry folder;
    folder.name = "six_data/";
    folder.deflate = false;
    folder.external_attributes = 0040755u << 16 | 0x10;
    ZipEntry empty;
    empty.name = "six_data/__init__.py";
    check_clean(wheel.add_entry(stored).add_entry(folder).add_entry(empty));
}

TEST_CASE("Unix modes without a file type are accepted") {
    check_clean(valid_wheel().edit_entry(
        "six.py", [](ZipEntry& e) { e.external_attributes = 0, e.version_made_by = 20; }));
}

TEST_CASE("non-ASCII names are accepted if they are marked as UTF-8") {
    WheelWriter wheel = valid_wheel();
    ZipEntry member;
    member.name = "six_data/\xc3\xbc.txt";
    member.flags = 1 << 11;
    check_clean(wheel.add_entry(member));
}

TEST_CASE("timestamps in extra fields are accepted") {
    check_clean(valid_wheel().edit_entry(
        "six.py", [](ZipEntry& e) { e.local_extra = e.central_extra = std::string("UT\5\0\3abcd", 9); }));
}

TEST_CASE("ZIP64 is accepted if all copies of its values agree") {
    ZipLayout layout;
    layout.zip64 = true;
    check_clean(valid_wheel().layout(layout));
    check_clean(valid_wheel().edit_entry("six.py", [](ZipEntry& e) { e.zip64 = true; }));
    // A reserved ZIP64 field in the local header only, as by writers that do not know the size in advance.
    check_clean(valid_wheel().edit_entry("six.py", [](ZipEntry& e) {
        e.local_extra.assign("\1\0\x10\0", 4).append("\x0d\0\0\0\0\0\0\0", 8);
        e.local_extra.append("\x0f\0\0\0\0\0\0\0", 8);
    }));
}

TEST_CASE("values behind a deflated member's data are accepted if they agree with the central directory") {
    for (const bool is_wide : {false, true}) {
        CAPTURE(is_wide);
        const auto write = [is_wide](ZipEntry& e) { e.flags = 8, e.zip64 = is_wide; };
        for (const char* member : {"six.py", "six_data/table.txt"}) {  // the first one, one before another
            WheelWriter wheel = valid_wheel().edit_entry(member, write);
            check_clean(wheel);
            const std::string whole = wheel.bytes();
            const std::size_t at = whole.find("PK\7\x8");
            REQUIRE(at != std::string::npos);
            const std::size_t size = is_wide ? 24 : 16;
            for (std::size_t i = 0; i < size; ++i) {
                std::string changed = whole;
                changed[at + i] ^= 1;
                const auto verdicts = verdicts_of(changed);
                REQUIRE(verdicts.size() == 1);
                CHECK(verdicts[0].code == "zip.data_descriptor");
            }
        }
    }
    // In the local header, which has zeros or the same.
    const auto verdicts =
        verdicts_of(valid_wheel()
                        .edit_entry("six.py",
                                    [](ZipEntry& e) {
                                        e.flags = 8;
                                        e.edit_local = [](std::string& header) { header[14] = 5; };
                                    })
                        .bytes());
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].code == "zip.data_descriptor");
}

TEST_CASE("65,535 members are accepted as Python's zipfile writes them, without ZIP64 records") {
    constexpr std::size_t members = 65'535;
    WheelWriter wheel("six", "1.16.0");
    constexpr std::size_t dist_info_members = 3;
    for (std::size_t i = dist_info_members; i < members; ++i)
        wheel.add(std::to_string(i), "");
    const std::string bytes = wheel.bytes();
    // The count in the end record is the highest that it can have.
    REQUIRE(bytes.substr(bytes.size() - 12, 2) == "\xff\xff");
    CHECK(verdicts_of(bytes).empty());
}

TEST_CASE("ZIP64 values that contradict the 32-bit values are rejected") {
    struct Row {
        std::string_view what;
        std::size_t at;
    };
    // Offsets in ZIP64 end record + locator + end record.
    for (const Row& row :
         {Row{"record size", 4}, Row{"disk", 16}, Row{"members here", 24}, Row{"members", 32},
          Row{"directory bytes", 40}, Row{"directory offset", 48}, Row{"locator's disk", 60},
          Row{"locator's offset", 64}, Row{"locator's disks", 72}}) {
        ZipLayout layout;
        layout.zip64 = true;
        layout.edit_end = [&](std::string& end) { end[row.at] = static_cast<char>(end[row.at] + 2); };
        CAPTURE(row.what);
        CHECK_FALSE(verdicts_of(valid_wheel().layout(layout).bytes()).empty());
    }
}

TEST_CASE("a truncated wheel is rejected") {
    const std::string whole = valid_wheel().bytes();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto verdicts = verdicts_of(whole.substr(0, length));
        REQUIRE_FALSE(verdicts.empty());
        CHECK(verdicts.front().severity == inspect::Severity::reject);
    }
}

TEST_CASE("a flipped bit is detected") {
    // Except in fields that nothing compares: versions, internal attributes, permission bits, reserved times
    // that agree on both sides.
    const std::string whole = valid_wheel().bytes();
    std::size_t unnoticed = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        if (verdicts_of(flipped).empty()) ++unnoticed;
    }
    const std::size_t members = 5;
    // Per member: version needed (2, local); made by (2), needed (2), internal (2), external attributes (4,
    // of which the type bits are checked). End record: nothing.
    CHECK(unnoticed <= members * 12);
}

TEST_CASE("an overlong name ends the check, whatever the policy says") {
    inspect::InspectOptions lenient;
    for (const inspect::Rule& rule : inspect::rules())
        lenient.policy.severities[std::string(rule.code)] = inspect::Severity::ignore;
    const auto refused = [&](std::string name) {
        ZipEntry member;
        member.name = std::move(name);
        const auto inspection = checked(pack(valid_wheel().add_entry(member)), lenient);
        for (const auto& verdict : inspection.verdicts)
            CHECK(verdict.code == "zip.name_too_long");
        return inspection.refused();
    };
    // As long as names may be, in components of 127 bytes.
    std::string long_name;
    while (long_name.size() < inspect::max_member_name_bytes)
        long_name += std::string(127, 'n') + "/";
    long_name.back() = 'n';
    REQUIRE(long_name.size() == inspect::max_member_name_bytes);
    CHECK_FALSE(refused(long_name));
    CHECK(refused(long_name + "n"));
    CHECK_FALSE(refused(std::string(inspect::max_component_bytes, 'n')));
    CHECK(refused(std::string(inspect::max_component_bytes + 1, 'n')));
    CHECK(refused(std::string(65'535, '/')));
    std::string deep;  // pip and uv have no limit on folders
    while (deep.size() + 2 < inspect::max_member_name_bytes)
        deep += "d/";
    CHECK_FALSE(refused(deep + "f"));
}

TEST_CASE("the extra fields of local headers have a common limit") {
    // Many entries with one local header: each read of it counts.
    constexpr std::size_t extra_bytes = 60'000;
    const auto refused = [](std::size_t entries) {
        std::vector<ZipEntry> members(1 + entries);
        members[0].name = "six.py";
        members[0].local_extra = std::string("UT\x5c\xea", 4);
        members[0].local_extra.append(extra_bytes - 4, 't');
        for (std::size_t i = 1; i < members.size(); ++i) {
            members[i] = members[0];
            members[i].in_file = false;
            members[i].edit_central = [](std::string& header) { header.replace(42, 4, 4, '\0'); };
        }
        const std::string bytes = test_support::write_zip(members);
        const base::MemoryReader reader(bytes);
        const inspect::Policy policy;
        inspect::Findings findings(policy);
        const auto frame = inspect::read_frame(reader, findings);
        REQUIRE(frame);
        return std::pair(!frame->has_value(), findings.has("zip.extra_invalid"));
    };
    const std::size_t most = inspect::max_directory_bytes / extra_bytes;
    CHECK(refused(most - 1) == std::pair(false, false));
    CHECK(refused(most) == std::pair(true, true));
}

TEST_CASE("every finding names its member and shows no control characters") {
    WheelWriter wheel = valid_wheel();
    ZipEntry member;
    member.name = "six_data/a\x1b[2J\nb";
    for (const auto& verdict : verdicts_of(wheel.add_entry(member).bytes())) {
        for (const char c : verdict.text())
            CHECK(static_cast<unsigned char>(c) >= 0x20);
    }
}

TEST_CASE("overlong evidence is cut between characters and marked") {
    const inspect::Policy policy;
    inspect::Findings findings(policy);
    std::string name(inspect::max_evidence_bytes - 1, 'a');
    findings.add("zip.name_control", name + "öße", "", "");
    findings.add("zip.name_control", name + "a", "", "");
    const auto verdicts = findings.take();
    REQUIRE(verdicts.size() == 2);
    CHECK(verdicts[0].member == name + "a");
    CHECK(verdicts[1].member == name + "…");
}

TEST_CASE("a thousand findings of one kind are shown as twenty and a count") {
    WheelWriter wheel = valid_wheel();
    for (int i = 0; i < 1100; ++i)
        wheel.unlisted("six_data/" + std::to_string(i)).add("six_data/" + std::to_string(i), "");
    const auto verdicts = verdicts_of(wheel.bytes());
    REQUIRE(verdicts.size() == 20);
    CHECK(verdicts.back().found.ends_with("and 1080 more like this"));
}
