// Policy presets and their messages.
#include "lib/inspect/verdict/policy.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/encoding.hpp"
#include "lib/wheel/record.hpp"
#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using inspect::Severity;
using test_support::ZipEntry;
using test_support::ZipLayout;

namespace {

inspect::InspectOptions with_preset(std::string_view name) {
    inspect::InspectOptions options;
    auto policy = inspect::make_preset(name);
    REQUIRE(policy);
    options.policy = std::move(*policy);
    return options;
}

// The forms of real wheels that pip installs and that violate the format; stand-ins for the named ones.
struct Published {
    std::string_view code;  // of the finding
    std::string_view like;
    std::function<Wheel()> build;
};

std::function<Wheel()> published(std::function<void(WheelWriter&)> edit) {
    return [edit] {
        WheelWriter wheel = valid_wheel();
        edit(wheel);
        return pack(wheel);
    };
}

// The digests of RECORD in hexadecimal.
std::string hex_record(const WheelWriter& wheel) {
    std::string text;
    for (const auto& entry : wheel.entries()) {
        if (!entry.name.ends_with("/RECORD")) continue;
        const auto rows = wheel::parse_record(entry.data);
        REQUIRE(rows);
        for (const auto& row : *rows) {
            const bool has_hash = !row.algorithm.empty();
            text +=
                row.path + "," + (has_hash ? row.algorithm + "=" + base::encode_hex(row.digest) : "") + ",";
            text += (row.size ? std::to_string(*row.size) : "") + "\n";
        }
    }
    return text;
}

std::vector<Published> published_wheels() {
    const auto line = [](std::string text) {
        return published([text](WheelWriter& w) { w.metadata_line(text); });
    };
    return {
        {"record.invalid", "gmsh 4.11.1 and 4.15.2",
         published([](WheelWriter& w) { w.replace("RECORD", hex_record(w)); })},
        {"record.invalid", "a row with more fields",
         published([](WheelWriter& w) { w.record_row("six.pyc"); })},
        {"wheel_info.invalid", "catboost 0.24 and 1.0.6",
         published([](WheelWriter& w) { w.replace("WHEEL", "Wheel-Version: 1.0\nGenerator: bld\n"); })},
        {"wheel_info.invalid", "an unreadable tag", published([](WheelWriter& w) {
             w.replace("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\nTag: py3\n");
         })},
        {"zip.comment", "orjson 3.3.1 and procmaps 0.5.0, by maturin 0.9",
         published([](WheelWriter& w) { w.layout({.comment = "zip-rs"}); })},
        {"zip.trailing_bytes", "appended bytes",
         published([](WheelWriter& w) { w.layout({.suffix = std::string("\0\0\0\0", 4)}); })},
        {"zip.prefix", "a self-extracting archive",
         published([](WheelWriter& w) { w.layout({.prefix = "#!/bin/sh\n"}); })},
        {"zip.prefix", "the same with ZIP64",
         published([](WheelWriter& w) { w.layout({.prefix = "#!/bin/sh\n", .zip64 = true}); })},
        {"zip.directory_invalid", "a wrong count of members", published([](WheelWriter& w) {
             ZipLayout layout;
             layout.edit_end = [](std::string& end) { end[8] = end[10] = 3; };
             w.layout(layout);
         })},
        {"zip.several_disks", "the number of a disk", published([](WheelWriter& w) {
             ZipLayout layout;
             layout.edit_end = [](std::string& end) { end[4] = 1; };
             w.layout(layout);
         })},
        {"metadata.invalid", "Requires-Python that older pips took", line("Requires-Python: >=3.6.*")},
        {"metadata.invalid", "a field twice", line("Summary: a\nSummary: b")},
        {"metadata.invalid", "an unknown dynamic field", line("Dynamic: banana")},
        {"metadata.invalid", "a line that is no header", line("see the manual")},
        {"metadata.invalid", "a newer Metadata-Version",
         published([](WheelWriter& w) { w.wrong_metadata_version_header("3.0"); })},
        {"filename.version_not_normalized", "a version with a leading zero",
         [] {
             WheelWriter wheel("six", "1.16.0");
             wheel.add("six.py", "1");
             Wheel packed = pack(wheel);
             packed.filename = "six-1.016.0-py3-none-any.whl";
             return packed;
         }},
    };
}

}  // namespace

TEST_CASE("every preset exists and uses known rules only; a mirror refuses only unreadable wheels") {
    for (const auto& preset : inspect::policy_presets()) {
        const auto policy = inspect::make_preset(preset.name);
        REQUIRE(policy);
        for (const auto& [code, severity] : policy->severities)
            CHECK_MESSAGE(inspect::find_rule(code) != nullptr, code);
    }
    CHECK_FALSE(inspect::make_preset("strict"));
    for (const inspect::Rule& rule : inspect::rules()) {
        CAPTURE(rule.code);
        if (rule.strict) CHECK(rule.severity < Severity::reject);  // else the mark would mean nothing
    }
    const auto mirror = inspect::make_preset("mirror");
    for (const inspect::Rule& rule : inspect::rules()) {
        const auto chosen = mirror->severities.find(rule.code);
        CHECK((chosen == mirror->severities.end() ? rule.severity : chosen->second) <= Severity::warn);
    }
}

TEST_CASE("the index's preset decides whether a wheel is accepted, quarantined or refused") {
    const auto plain = with_elf(linux_311, {});
    const auto unknown =
        with_elf("cp311-cp311-manylinux_2_28_x86_64", {.needed = {"libc.so.6", "libgomp.so.1"}});
    const auto outside = with_elf(linux_311, {.rpath = "/opt/elsewhere/lib"});
    // uiautomation 2.0.29, torch 2.6.0, vllm: pip and uv go by the file name.
    const auto renamed = published([](WheelWriter& w) {
        w.wrong_wheel_tags({"py2-none-any", "py3-none-any"});
    });
    const auto built_again = published([](WheelWriter& w) { w.build("1").wrong_wheel_build("2"); });
    struct Row {
        std::function<Wheel()> wheel;
        std::string_view preset, outcome;
    };
    for (const Row& row : {Row{plain, "linux", "accepted"}, Row{plain, "manylinux-strict", "refused"},
                           Row{plain, "mirror", "accepted"}, Row{unknown, "linux", "quarantined"},
                           Row{unknown, "manylinux-strict", "refused"}, Row{unknown, "mirror", "accepted"},
                           Row{outside, "linux", "accepted"}, Row{outside, "manylinux-strict", "refused"},
                           Row{outside, "mirror", "accepted"}, Row{renamed, "linux", "accepted"},
                           Row{renamed, "manylinux-strict", "refused"}, Row{built_again, "linux", "accepted"},
                           Row{built_again, "manylinux-strict", "refused"}}) {
        CAPTURE(row.preset);
        CHECK(checked(row.wheel(), with_preset(row.preset)).outcome() == row.outcome);
    }
}

TEST_CASE("a mirror refuses nothing that pip installs: each finding becomes a warning") {
    for (const Published& row : published_wheels()) {
        CAPTURE(row.like);
        const Wheel wheel = row.build();
        CHECK(checked(wheel).outcome() == "refused");
        const auto mirrored = checked(wheel, with_preset("mirror"));
        CHECK(mirrored.outcome() == "accepted");
        bool found = false;
        for (const auto& verdict : mirrored.verdicts) {
            CAPTURE(verdict.text());
            CHECK(verdict.severity <= Severity::warn);
            found = found || verdict.code == row.code;
        }
        CHECK(found);
        CHECK_FALSE(mirrored.metadata_bytes.empty());
        CHECK(mirrored.metadata.version.text() == "1.16.0");
    }
}

TEST_CASE("no policy accepts what both pip and uv refuse") {
    // tests/system/mirror_test.py asks both.
    using Edit = std::function<void(WheelWriter&)>;
    const auto member = [](std::string name, std::uint16_t flags = 0) -> Edit {
        return [name, flags](WheelWriter& w) {
            ZipEntry entry;
            entry.name = name;
            entry.flags = flags;
            w.add_entry(entry);
        };
    };
    const auto scripts = [](std::string lines) -> Edit {
        return [lines](WheelWriter& w) { w.dist_info("entry_points.txt", "[console_scripts]\n" + lines); };
    };
    struct Row {
        std::string_view code;
        bool both_refuse;
        Edit edit;
    };
    const std::vector<Row> rows = {
        {"zip.local_differs", true,
         [](WheelWriter& w) {
             w.edit_entry("six.py",
                          [](ZipEntry& e) { e.edit_local = [](std::string& header) { header[30] = 'S'; }; });
         }},
        {"zip.local_differs", false,  // the time
         [](WheelWriter& w) {
             w.edit_entry("six.py",
                          [](ZipEntry& e) { e.edit_local = [](std::string& header) { header[10] ^= 1; }; });
         }},
        {"zip.version_needed", true,
         [](WheelWriter& w) {
             w.edit_entry("six.py",
                          [](ZipEntry& e) { e.edit_central = [](std::string& header) { header[6] = 99; }; });
         }},
        {"zip.version_needed", false,
         [](WheelWriter& w) {
             w.edit_entry("six.py",
                          [](ZipEntry& e) { e.edit_local = [](std::string& header) { header[4] = 99; }; });
         }},
        {"zip.flags", true,
         [](WheelWriter& w) { w.edit_entry("six.py", [](ZipEntry& e) { e.flags = 1 << 5; }); }},
        {"zip.flags", false,
         [](WheelWriter& w) { w.edit_entry("six.py", [](ZipEntry& e) { e.flags = 1 << 13; }); }},
        {"zip.extra_invalid", true,
         [](WheelWriter& w) {
             w.edit_entry("six.py", [](ZipEntry& e) { e.central_extra = std::string("\x99\x99\x09\0x", 5); });
         }},
        {"zip.extra_invalid", false,
         [](WheelWriter& w) { w.edit_entry("six.py", [](ZipEntry& e) { e.central_extra = "\x99"; }); }},
        {"zip.name_path", true, member("six_data/..")},
        {"zip.name_path", true, member("other/../six.py")},
        {"zip.name_path", true, member("/etc/six")},
        {"zip.name_path", false, member("six_data/./six")},
        {"zip.name_path", false, member("six_data//six")},
        {"installed.path_twice", true, member("./six.py")},
        {"installed.path_twice", true, member(".//six.py")},
        {"zip.name_control", true, member(std::string("six.py\0x", 8))},
        {"zip.name_control", false, member("six\tx")},
        {"zip.name_duplicate", true, member("six.py")},
        {"zip.name_duplicate", false, member("six.py/")},
        {"metadata.requirement_invalid", true,
         [](WheelWriter& w) {
             w.metadata_line("Requires-Dist: a; " + std::string(5000, '(') + "os_name=='x'" +
                             std::string(5000, ')'));
         }},
        {"metadata.requirement_invalid", false,
         [](WheelWriter& w) {
             w.metadata_line("Requires-Dist: a; " + std::string(300, '(') + "os_name=='x'" +
                             std::string(300, ')'));
         }},
        {"metadata.requirement_invalid", true,
         [](WheelWriter& w) { w.metadata_line("Requires-Dist: pytz (>=2011k)"); }},
        {"metadata.requirement_invalid", true,
         [](WheelWriter& w) { w.metadata_line("Requires-Dist: a; x"); }},
        {"metadata.requirement_invalid", false,  // which uv repairs
         [](WheelWriter& w) { w.metadata_line("Requires-Dist: a>=1.*"); }},
        {"metadata.requirement_local", false,
         [](WheelWriter& w) { w.metadata_line("Requires-Dist: a @ ./a.whl"); }},
        {"record.invalid", false, [](WheelWriter& w) { w.record_row(""); }},
        {"zip.name_encoding", true, member("six_data/\xff\xfe", 1u << 11)},
        {"zip.name_encoding", false, member("six_data/\xc3\xbc")},
        {"zip.name_too_long", true, member("six_data/" + std::string(256, 'n'))},
        {"zip.name_conflict", true, member("six.py/inner.py")},
        {"dist_info.several", true, member("vendored-1.0.dist-info/METADATA")},
        {"dist_info.name_mismatch", true, [](WheelWriter& w) { w.dist_info_name("seven-1.16.0.dist-info"); }},
        {"dist_info.name_mismatch", true, [](WheelWriter& w) { w.dist_info_name("six-1.16.0.DIST-INFO"); }},
        {"dist_info.name_mismatch", false, [](WheelWriter& w) { w.dist_info_name("six-1.17.0.dist-info"); }},
        {"dist_info.file_missing", true, [](WheelWriter& w) { w.leave_out("WHEEL"); }},
        {"dist_info.file_missing", true, [](WheelWriter& w) { w.leave_out("RECORD"); }},
        {"data_folder.scheme", true, member("six-1.16.0.data/etc/six.conf")},
        {"data_folder.scheme", true, member("six-1.16.0.data/six.conf")},
        {"data_folder.name_mismatch", false, member("other-1.0.data/etc/six.conf")},
        {"entry_points.invalid", true, scripts("six\n")},
        {"entry_points.invalid", true, scripts("six = six\n")},
        {"entry_points.invalid", false, scripts("six = six:1main\n")},
        {"entry_points.invalid", false, scripts("six = six : main\n")},
        {"entry_points.invalid", true, scripts("six = six:main:sub\n")},
        {"entry_points.invalid", true, scripts("six = %(x)s:main\n")},
        {"entry_points.invalid", true, scripts("six = \xe9:main\n")},
        {"entry_points.invalid", true, scripts("six = six:main [x\n")},
        {"entry_points.invalid", false, scripts("si] = six:main\n")},
        {"entry_points.invalid", false, scripts("; a comment of uv\n")},
        {"entry_points.invalid", true, scripts("six = six:main\n more\n")},
        {"entry_points.script_name", true, scripts(". = six:main\n")},
        {"entry_points.script_name", true, scripts(std::string(256, 's') + " = six:main\n")},
        {"zip.name_conflict", false, member("six-1.16.0.data/data/lib")},
        {"data_folder.name_mismatch", false, member("x.data")},
        {"entry_points.script_name", true, scripts(std::string("a\0b = six:main\n", 15))},
        {"entry_points.script_name", false, scripts("a b = six:main\n")},
        {"entry_points.script_name", true, scripts("../six = six:main\n")},
        {"entry_points.script_name", true, scripts("/tmp/six = six:main\n")},
        {"entry_points.script_name", false, scripts("sub/six = six:main\n")},
    };
    inspect::InspectOptions ignoring;
    for (const inspect::Rule& rule : inspect::rules())
        ignoring.policy.severities[std::string(rule.code)] = Severity::ignore;
    for (const Row& row : rows) {
        CAPTURE(row.code);
        WheelWriter wheel = valid_wheel();
        row.edit(wheel);
        CHECK(checked(pack(wheel)).refused());
        for (const auto& options : {with_preset("mirror"), ignoring}) {
            const auto inspection = checked(pack(wheel), options);
            CHECK(inspection.refused() == row.both_refuse);
            if (row.both_refuse) CHECK(inspection.verdicts.front().code == row.code);
        }
    }
}

TEST_CASE("a hexadecimal digest in RECORD is compared all the same") {
    WheelWriter wheel = valid_wheel();
    wheel.wrong_record_hash("six.py");
    wheel.replace("RECORD", hex_record(wheel));
    bool found = false;
    for (const auto& verdict : checked(pack(wheel), with_preset("mirror")).verdicts)
        found = found || (verdict.code == "record.hash_mismatch" && verdict.member == "six.py");
    CHECK(found);
}

TEST_CASE("an ignored finding is not reported; a quarantined wheel is neither accepted nor refused") {
    inspect::InspectOptions options;
    options.policy.severities = {{"elf.search_path", Severity::ignore}};
    CHECK(checked(with_elf(linux_311, {.rpath = "/home/elsewhere/lib"})(), options).verdicts.empty());
    options.policy.severities = {{"elf.search_path", Severity::quarantine}};
    const auto inspection = checked(with_elf(linux_311, {.rpath = "/home/elsewhere/lib"})(), options);
    CHECK_FALSE(inspection.accepted());
    CHECK_FALSE(inspection.refused());
    // Unreadable device code proves nothing, even if the finding is ignored.
    options.policy.severities = {{"gpu.malformed", Severity::ignore}};
    const ElfImage junk = {.sections = {{".nv_fatbin", "what is this, 32 bytes of junk?!"}}};
    CHECK(checked(with_elf(linux_311, junk)(), options).verdicts.empty());
    const auto promised = checked(with_elf(linux_311, junk, "six/_six.so", "1.16.0+cu126")(), options);
    REQUIRE(promised.verdicts.size() == 1);
    CHECK(promised.verdicts.front().code == "gpu.unproven");
    CHECK(promised.outcome() == "quarantined");
}

TEST_CASE("severities parse back, and unknown words get the nearest known one") {
    for (const std::string_view text : {"ignore", "note", "warn", "quarantine", "reject"})
        CHECK(inspect::severity_text(*inspect::parse_severity(text)) == text);
    CHECK_FALSE(inspect::parse_severity("error"));
    CHECK(inspect::unknown_rule_sentence("elf.serch_path") ==
          "unknown rule `elf.serch_path`; did you mean \"elf.search_path\"?");
    CHECK(
        inspect::unknown_preset_sentence("manylinux_strict").ends_with("did you mean \"manylinux-strict\"?"));
    CHECK(inspect::unknown_severity_sentence("elf.malformed", "error") ==
          "`elf.malformed` must be \"reject\", \"quarantine\", \"warn\", \"note\" or \"ignore\", not "
          "\"error\"");
}

TEST_CASE("the policy limits how much a wheel may unpack to") {
    WheelWriter wheel = valid_wheel();
    wheel.add("six_data/much.txt", std::string(100'000, 'x'));
    struct Row {
        inspect::SizeLimits sizes;
        bool bomb;
    };
    for (const Row& row :
         {Row{{}, false}, Row{{.ratio = 10, .ratio_from_bytes = 1000}, true},
          Row{{.ratio = 1032, .ratio_from_bytes = 1000}, false}, Row{{.unpacked_bytes = 100'000}, true}}) {
        inspect::InspectOptions options;
        options.policy.sizes = row.sizes;
        const auto inspection = checked(pack(wheel), options);
        CHECK(inspection.refused() == row.bomb);
        if (row.bomb) CHECK(inspection.verdicts.front().code == "zip.bomb");
    }
}
