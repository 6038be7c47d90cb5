// Every rule has a sample wheel that violates only that rule; a rule without a sample fails the first test.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "lib/base/limits.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "tests/inspect/sample.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using test_support::ZipEntry;
using test_support::ZipLayout;

namespace {

struct Sample {
    std::string_view code;
    std::function<Wheel()> build;
    std::set<std::string_view> also = {};  // further rules that the sample necessarily violates
};

// The valid wheel with one entry edited.
std::function<Wheel()> entry(std::function<void(ZipEntry&)> edit, std::string path = "six.py") {
    return [edit, path] { return pack(valid_wheel().edit_entry(path, edit)); };
}
// The valid wheel with an additional member of this name.
std::function<Wheel()> named(
    std::string name, std::function<void(ZipEntry&)> edit = [](ZipEntry&) {}) {
    return [name, edit] {
        ZipEntry member;
        member.name = name;
        edit(member);
        return pack(valid_wheel().add_entry(member));
    };
}
std::function<Wheel()> utf8_named(std::string name) {
    return named(std::move(name), [](ZipEntry& member) { member.flags = 1u << 11; });
}
std::function<Wheel()> framed(ZipLayout layout) {
    return [layout] { return pack(valid_wheel().layout(layout)); };
}
std::function<Wheel()> defective(std::function<void(WheelWriter&)> defect) {
    return [defect] {
        WheelWriter wheel = valid_wheel();
        defect(wheel);
        return pack(wheel);
    };
}
std::function<Wheel()> called(std::string filename) {
    return [filename] { return Wheel{valid_wheel().bytes(), filename}; };
}

// A variant wheel, without variant.json if that is empty.
const std::string x86_64_v3 = variant_json("x86_64", R"("x86_64_v3":{"x86_64":{"level":["v3"]}})");
const std::string sm_90 = variant_json("nvidia", R"("sm_90":{"nvidia":{"sm_arch":["90_real"]}})");
const ElfImage cuda_80{.sections = {{".nv_fatbin", test_support::write_fatbin({{2, 80}})}}};
std::function<Wheel()> labelled(std::string label, std::string json, ElfImage image = {},
                                std::string requirement = {}) {
    return [=] {
        WheelWriter wheel("six", "1.16.0");
        wheel.tag(linux_311).add("six/_six.so", write_elf(image));
        if (!requirement.empty()) wheel.metadata_line("Requires-Dist: " + requirement);
        if (!json.empty()) wheel.dist_info("variant.json", json);
        const std::string filename = wheel.filename();
        return Wheel{wheel.bytes(), filename.substr(0, filename.size() - 4) + "-" + label + ".whl"};
    };
}

// Sets a little-endian field of a header.
void set_field(std::string& header, std::size_t at, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
        header[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
}
std::function<void(std::string&)> setting(std::size_t at, std::uint64_t value, int bytes) {
    return [=](std::string& header) { set_field(header, at, value, bytes); };
}
// Sets the same field in both headers; in the central one it is two bytes later.
std::function<void(ZipEntry&)> in_both(std::size_t local_at, std::uint64_t value, int bytes) {
    return [=](ZipEntry& member) {
        member.edit_local = setting(local_at, value, bytes);
        member.edit_central = setting(local_at + 2, value, bytes);
    };
}
ZipLayout ending(std::function<void(std::string&)> edit, bool zip64 = false) {
    ZipLayout layout;
    layout.zip64 = zip64;
    layout.edit_end = std::move(edit);
    return layout;
}

const std::string dist_info = "six-1.16.0.dist-info";

// PEP 552: the magic number of Python 3.11, flags, and a hash of the source; then the code.
const std::string unchecked_bytecode("\xa7\r\r\n\1\0\0\0abcdefgh\xe3", 17);

std::vector<Sample> filename_samples() {
    return {
        {"filename.invalid", called("six.whl")},
        {"filename.not_normalized", called("Six-1.16.0-py3-none-any.whl")},
        {"filename.version_not_normalized", called("six-v1.16.0-py3-none-any.whl")},
        {"filename.tags_not_normalized", called("six-1.16.0-PY3-none-any.whl")},
        {"filename.variant", labelled("x86_64_v3", x86_64_v3), {"variant.unproven"}},
        {"variant.unproven", labelled("sm_90", sm_90)},
        {"metadata.marker_variant",
         labelled("sm_90", sm_90, {}, "cudart; \"nvidia\" in variant_namespaces"),
         {"variant.unproven"}},
        {"variant.invalid", labelled("x86_64_v3", "")},
        {"variant.invalid", labelled("x86_64_v4", x86_64_v3)},
        {"variant.promise", labelled("sm_90", sm_90, cuda_80)},
    };
}

std::vector<Sample> frame_samples() {
    return {
        {"zip.no_end_record",
         [] {
             return Wheel{valid_wheel().truncated(30), valid_wheel().filename()};
         }},
        {"zip.truncated", entry([](ZipEntry& e) { e.edit_local = setting(0, 0, 4); })},
        {"zip.directory_invalid", framed(ending([](std::string& end) { set_field(end, 8, 0x00020002, 4); }))},
        {"zip.zip64_invalid", entry([](ZipEntry& e) { e.central_extra = std::string("\1\0\0\0", 4); })},
        {"zip.several_disks", framed(ending(setting(4, 1, 2)))},
        {"zip.too_many_members", framed(ending(
                                     [](std::string& end) {
                                         set_field(end, 24, 200'001, 8);
                                         set_field(end, 32, 200'001, 8);
                                     },
                                     true))},
        {"zip.prefix", framed({.prefix = "#!/bin/sh\n"})},
        {"zip.prefix", entry([](ZipEntry& e) { e.gap_before = "hidden"; })},
        {"zip.gap", entry([](ZipEntry& e) { e.gap_before = "hidden"; }, "six_data/table.txt")},
        {"zip.overlap",
         entry([](ZipEntry& e) { e.edit_central = setting(42, 0, 4); }, "six_data/table.txt"),
         {"zip.local_differs", "zip.deflate_invalid", "zip.truncated", "zip.size_mismatch", "zip.gap"}},
        {"zip.trailing_bytes", framed({.suffix = "more"})},
        {"zip.comment", framed({.comment = "hello"})},
        {"zip.comment", entry([](ZipEntry& e) { e.comment = "hello"; })},
        {"zip.local_differs", entry([](ZipEntry& e) { e.edit_local = setting(30, 'S', 1); })},
        {"zip.local_differs", entry([](ZipEntry& e) { e.edit_local = setting(22, 5, 4); })},
        {"zip.local_differs", entry([](ZipEntry& e) { e.edit_local = setting(14, 5, 4); })},
        {"zip.encrypted", entry([](ZipEntry& e) { e.flags = 1; })},
        {"zip.method", entry([](ZipEntry& e) { e.method = 14; })},
        {"zip.version_needed", entry([](ZipEntry& e) { e.edit_central = setting(6, 99, 2); })},
        {"zip.version_needed", entry([](ZipEntry& e) { e.edit_local = setting(4, 64, 2); })},
        {"zip.data_descriptor", entry([](ZipEntry& e) { e.flags = 8, e.deflate = false; })},
        {"zip.flags", entry([](ZipEntry& e) { e.flags = 1 << 4; })},
        {"zip.flags", entry([](ZipEntry& e) { e.flags = 1 << 5; })},
        {"zip.flags", entry([](ZipEntry& e) { e.flags = 1 << 13; })},
        {"zip.extra_invalid",
         entry([](ZipEntry& e) { e.central_extra = std::string("\x99\x99\x09\0x", 5); })},
        {"zip.extra_invalid", entry([](ZipEntry& e) { e.central_extra = "\x99"; })},
        {"zip.extra_invalid", entry([](ZipEntry& e) { e.local_extra = std::string("\x75\x70\1\0x", 5); })},
        {"zip.symlink", entry([](ZipEntry& e) { e.external_attributes = 0120777u << 16; })},
        {"zip.special_file", entry([](ZipEntry& e) { e.external_attributes = 0010644u << 16; })},
        {"zip.directory_data",
         named("six_data/", [](ZipEntry& e) { e.data = "x", e.external_attributes = 0; })},
        {"zip.bomb", entry(in_both(22, 0x10000000, 4)), {}},
        {"zip.deflate_invalid",
         entry([](ZipEntry& e) { e.edit_packed = [](std::string& packed) { packed = "\xff\xff"; }; })},
        {"zip.size_mismatch", entry(in_both(22, 12, 4)), {"record.size_mismatch"}},
        {"zip.size_mismatch",
         entry([](ZipEntry& e) { e.edit_packed = [](std::string& packed) { packed += "tail"; }; })},
        {"zip.crc_mismatch", entry(in_both(14, 5, 4))},
        {"zip.member_too_large",
         defective([](WheelWriter& w) { w.description(std::string((8u << 20) + 1, 'x')); })},
    };
}

std::vector<Sample> name_samples() {
    return {
        {"zip.name_encoding", named("six_data/\xff\xfe"), {"record.invalid", "record.unlisted"}},
        {"zip.name_encoding", named("six_data/\xc3\xbc")},  // UTF-8, but flag bit 11 is not set
        // From right to left.
        {"zip.name_control", utf8_named("six_data/a\u202eb"), {"record.invalid", "record.unlisted"}},
        {"zip.name_control", utf8_named("\ufeffsix.py")},
        {"zip.name_control", named("six_data/a\x1b[2Jb"), {"record.invalid", "record.unlisted"}},
        {"zip.name_path", named("/etc/passwd")},
        {"zip.name_path", named("six_data/.")},
        {"zip.name_path", named("../up.py")},
        {"zip.name_path", named("six_data/./x")},
        {"zip.name_path", named("six_data//x")},
        {"zip.name_path", named("six_data\\x")},
        {"zip.name_path", named("C:x")},
        {"zip.name_too_long", named("six_data/" + std::string(256, 'n'))},
        {"zip.name_duplicate",
         named("six.py"),
         {"record.duplicate", "record.hash_mismatch", "record.size_mismatch"}},
        {"zip.name_conflict", named("six.py/inner.py")},
        {"zip.name_case", named("SIX.py")},
    };
}

std::vector<Sample> dist_info_samples() {
    return {
        {"dist_info.missing", defective([](WheelWriter& w) { w.dist_info_name("six-1.16.0.info"); })},
        {"dist_info.several", named("vendored-1.0.dist-info/METADATA")},
        {"dist_info.name_mismatch",
         defective([](WheelWriter& w) { w.dist_info_name("sixth-1.16.0.dist-info"); })},
        {"dist_info.name_mismatch",
         defective([](WheelWriter& w) { w.dist_info_name("six-1.17.dist-info"); })},
        {"dist_info.name_mismatch",
         defective([](WheelWriter& w) { w.dist_info_name("six-1.16.0.DIST-INFO"); })},
        {"dist_info.variant", defective([](WheelWriter& w) { w.dist_info("variant.json", "{}"); })},
        {"dist_info.file_missing",
         defective([](WheelWriter& w) { w.leave_out("WHEEL"); }),
         {"record.member_missing"}},
        {"metadata.invalid", defective([](WheelWriter& w) { w.replace("METADATA", "Name: six\n"); })},
        {"metadata.invalid", defective([](WheelWriter& w) { w.wrong_metadata_version_header("9.0"); })},
        {"metadata.invalid", defective([](WheelWriter& w) { w.metadata_line("Requires-Python: >=3.6.*"); })},
        {"metadata.invalid", defective([](WheelWriter& w) { w.metadata_line("no header"); })},
        {"metadata.name_mismatch", defective([](WheelWriter& w) { w.wrong_metadata_name("seven"); })},
        {"metadata.version_mismatch",
         defective([](WheelWriter& w) { w.wrong_metadata_version("1.16.0+cu126"); })},
        {"metadata.license_file_missing", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.4").metadata_line("License-File: LICENSE");
         })},
        {"sbom.unreadable", defective([](WheelWriter& w) { w.dist_info("sboms/a.cdx.json", "{not json"); })},
        {"sbom.unknown",
         defective([](WheelWriter& w) { w.dist_info("sboms/a.spdx", "SPDXVersion: SPDX-2.3"); })},
        {"sbom.unknown", defective([](WheelWriter& w) { w.dist_info("sboms/a.json", "{}"); })},
        {"metadata.license_not_allowed", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.4").metadata_line("License-Expression: GPL-3.0-only");
         })},
        {"metadata.license_unstated", defective([](WheelWriter&) {})},
        {"metadata.requirement_invalid",
         defective([](WheelWriter& w) { w.metadata_line("Requires-Dist: pytz (>=2011k)"); })},
        {"metadata.requirement_invalid",
         defective([](WheelWriter& w) { w.metadata_line("Requires-Dist: numpy; python_version >"); })},
        {"metadata.requirement_local",
         defective([](WheelWriter& w) { w.metadata_line("Requires-Dist: numpy @ file:///tmp/numpy.whl"); })},
        {"metadata.marker_undefined",
         defective([](WheelWriter& w) { w.metadata_line("Requires-Dist: numpy; os_name ~= 'posix'"); })},
        {"metadata.marker_undefined", defective([](WheelWriter& w) {
             w.metadata_line("Requires-Dist: cudart; \"nvidia\" in variant_namespaces");
         })},
        {"metadata.license_invalid", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.4").metadata_line("License-Expression: NOPE-1.0");
         })},
        {"metadata.license_invalid", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.4").metadata_line("License-Expression: MIT OR");
         })},
        {"metadata.import_invalid", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.5").metadata_line("Import-Name: class");
         })},
        {"metadata.import_invalid", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.5").metadata_line("Import-Name: 1six");
         })},
        {"metadata.field_too_new",
         defective([](WheelWriter& w) { w.metadata_line("License-Expression: MIT"); })},
        {"metadata.extra_invalid", defective([](WheelWriter& w) {
             w.wrong_metadata_version_header("2.3").metadata_line("Provides-Extra: Test_Extra");
         })},
        {"metadata.extra_invalid",
         defective([](WheelWriter& w) { w.metadata_line("Provides-Extra: not a name"); })},
        {"metadata.url_invalid",
         defective([](WheelWriter& w) { w.metadata_line("Project-URL: https://example.org"); })},
        {"metadata.content_type_invalid",
         defective([](WheelWriter& w) { w.metadata_line("Description-Content-Type: text/html"); })},
        {"wheel_info.invalid", defective([](WheelWriter& w) { w.replace("WHEEL", "no header at all"); })},
        {"wheel_info.invalid", defective([](WheelWriter& w) { w.replace("WHEEL", "Wheel-Version: 1.0\n"); })},
        {"wheel_info.invalid", defective([](WheelWriter& w) {
             w.replace("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: maybe\nTag: py3-none-any\n");
         })},
        {"wheel_info.tags_differ", defective([](WheelWriter& w) { w.wrong_wheel_tags({"py2-none-any"}); })},
        {"wheel_info.tags_differ", defective([](WheelWriter& w) {
             w.wrong_wheel_tags({"py3-none-any", "py2-none-any"});
         })},
        {"wheel_info.build_differs", defective([](WheelWriter& w) { w.build("1").wrong_wheel_build("2"); })},
        {"wheel_info.build_differs",
         defective([](WheelWriter& w) { w.build("01").wrong_wheel_build("010"); })},
        {"entry_points.invalid",
         defective([](WheelWriter& w) { w.dist_info("entry_points.txt", "[console_scripts]\nsix\n"); })},
        {"entry_points.invalid", defective([](WheelWriter& w) {
             w.dist_info("entry_points.txt", "[six.plugins]\na = six\n[six.plugins]\nb = six\n");
         })},
        {"entry_points.invalid", defective([](WheelWriter& w) {
             w.dist_info("entry_points.txt", "[six.plugins]\na = six\na = six\n");
         })},
        {"entry_points.script_name", defective([](WheelWriter& w) {
             w.dist_info("entry_points.txt", "[console_scripts]\nsix pack = six:main\n");
         })},
        {"entry_points.script_name", defective([](WheelWriter& w) {
             w.dist_info("entry_points.txt", "[console_scripts]\n../six = six:main\n");
         })},
        {"data_folder.name_mismatch", named("seven-1.0.data/scripts/seven")},
        {"data_folder.name_mismatch", named("Six-1.16.0.data/scripts/seven")},
        {"data_folder.scheme", named("six-1.16.0.data/etc/six.conf")},
        {"data_folder.scheme", named("six-1.16.0.data/scripts")},
        {"data_folder.scheme", named("six-1.16.0.data/scripts/folder/six")},
        {"installed.path_twice", named("six-1.16.0.data/purelib/six.py")},
        {"installed.distribution", named("six-1.16.0.data/purelib/six-1.16.0.dist-info/entry_points.txt")},
        {"installed.interpreter", named("six-1.16.0.data/scripts/python3")},
        {"installed.program", named("six-1.16.0.data/scripts/activate")},
        {"installed.script_twice", defective([](WheelWriter& w) {
             w.add("six-1.16.0.data/scripts/six", "#!python\n")
                 .dist_info("entry_points.txt", "[console_scripts]\nsix = six:main\n");
         })},
        {"installed.other_python", named("six-1.16.0.data/data/lib/python3.14/site-packages/six.pth")},
        {"installed.bytecode",
         defective([](WheelWriter& w) { w.add("__pycache__/six.cpython-311.pyc", unchecked_bytecode); })},
    };
}

std::vector<Sample> record_samples() {
    return {
        {"record.invalid",
         defective([](WheelWriter& w) { w.replace("RECORD", "\"six.py,sha256=x,1\n"); }),
         {"record.unlisted"}},
        {"record.invalid", defective([](WheelWriter& w) { w.record_row(""); })},  // pip stops at a blank line
        {"record.invalid", defective([](WheelWriter& w) { w.record_row("six.py"); }), {"record.duplicate"}},
        {"record.invalid",
         defective([](WheelWriter& w) { w.record_row("six.py,crc32=AAAA,"); }),
         {"record.duplicate"}},
        {"record.invalid",
         defective([](WheelWriter& w) { w.record_row("six.py,,many"); }),
         {"record.duplicate"}},
        {"record.hash_mismatch", defective([](WheelWriter& w) { w.wrong_record_hash("six.py"); })},
        {"record.hash_mismatch", defective([](WheelWriter& w) {
             w.record_algorithm("six.py", "sha512").wrong_record_hash("six.py");
         })},
        {"record.size_mismatch", defective([](WheelWriter& w) { w.wrong_record_size("six.py"); })},
        {"record.unlisted", defective([](WheelWriter& w) { w.unlisted("six.py"); })},
        {"record.member_missing", defective([](WheelWriter& w) { w.leave_out("six.py"); })},
        {"record.no_hash", defective([](WheelWriter& w) { w.record_algorithm("six.py", ""); })},
        {"record.weak_hash", defective([](WheelWriter& w) { w.record_algorithm("six.py", "md5"); })},
        {"record.duplicate", defective([](WheelWriter& w) { w.record_row("six.py,,"); }), {"record.no_hash"}},
        {"record.self_hash", defective([](WheelWriter& w) { w.dist_info("RECORD.jws", "{}"); })},
    };
}

std::vector<Sample> tag_samples() {
    const ElfImage x86_64;
    const ElfImage armv7l = {.machine = 40, .bits = 32, .flags = 0x5000400, .needed = {}};
    const ElfImage new_glibc = {.versions = {{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.34"}}}};
    const ElfImage musl = {.needed = {"libc.musl-x86_64.so.1"}};
    const std::string sm_80 = test_support::write_fatbin({{2, 80}}),
                      junk = "what is this, 32 bytes of junk?!",
                      packed_junk = "CCOB and then unreadable 32 bytes";
    return {
        {"tag.any_with_elf",
         with_elf("py3-none-any", x86_64, "six/_six.so", "1.16.0", [](WheelWriter& w) { w.purelib(false); })},
        {"tag.any_with_helpers",
         with_elf("py3-none-any", {.type = 2, .interpreter = "/lib64/ld-linux-x86-64.so.2"}, "six/linux/six",
                  "1.16.0", [](WheelWriter& w) { w.add("six/windows/six.exe", "MZ"); })},
        {"tag.any_with_helpers",
         with_elf("py3-none-any", {.type = 2, .interpreter = "/lib64/ld-linux-x86-64.so.2"}, "six/linux/six",
                  "1.16.0",
                  [](WheelWriter& w) {
                      w.add("six/arm/six",
                            write_elf(
                                {.machine = 183, .type = 2, .interpreter = "/lib/ld-linux-aarch64.so.1"}));
                  })},
        {"tag.any_with_helpers",  // linked statically, as selenium's
         with_elf("py3-none-any", {.needed = {}, .pie = true}, "six/linux/six", "1.16.0",
                  [](WheelWriter& w) { w.add("six/windows/six.exe", "MZ"); })},
        {"tag.any_with_elf",  // a program for one platform; Java's classes begin as some of macOS do
         with_elf("py3-none-any", {.type = 2, .interpreter = "/lib64/ld-linux-x86-64.so.2"}, "six/six",
                  "1.16.0",
                  [](WheelWriter& w) {
                      w.add("six/A.class", std::string("\xca\xfe\xba\xbe\0\0\0\x34", 8)).purelib(false);
                  })},
        {"tag.any_with_helpers",
         with_elf(
             "py3-none-any", {.type = 2, .interpreter = "/lib64/ld-linux-x86-64.so.2"}, "six/linux/six",
             "1.16.0",
             [](WheelWriter& w) { w.add("six/macos/six", std::string("\xca\xfe\xba\xbe\0\0\0\2", 8)); })},
        {"tag.any_with_elf",  // a program for one platform
         with_elf("py3-none-any", {.type = 2, .interpreter = "/lib64/ld-linux-x86-64.so.2"}, "six/six",
                  "1.16.0", [](WheelWriter& w) { w.purelib(false); })},
        {"tag.any_with_helpers", with_elf("py3-none-any", x86_64, "six/linux.so", "1.16.0",
                                          [](WheelWriter& w) { w.add("six/windows.dll", "MZ"); })},
        {"tag.any_with_elf",  // an extension module
         with_elf("py3-none-any", {.imports = {"PyList_New"}}, "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/windows.dll", "MZ").purelib(false); })},
        {"tag.platform_without_elf", defective([](WheelWriter& w) { w.tag(linux_311); })},
        {"tag.purelib_with_elf",
         with_elf(linux_311, x86_64, "six/_six.so", "1.16.0", [](WheelWriter& w) { w.purelib(true); })},
        {"elf.malformed", defective([](WheelWriter& w) {
             w.add("six/broken.so",
                   "\x7f"
                   "ELF and no more");
         })},
        {"elf.malformed", with_elf(linux_311, {.sizeless_sections = true})},
        {"elf.malformed",
         with_elf(linux_311, {.exports = {"f"}, .gnu_hash = false, .hashed_symbols = 0xffffffff})},
        {"tag.not_judged", with_elf("cp311-cp311-linux_mips64", {.machine = 8})},
        {"elf.counts_as_data",
         with_elf(linux_311, x86_64, "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/plugin/libdevice.so", write_elf({.machine = 183})); })},
        {"elf.machine_mismatch", with_elf("cp311-cp311-linux_aarch64", x86_64)},
        {"elf.machine_mismatch", with_elf(linux_311, {.machine = 3, .bits = 32})},
        {"elf.machine_mismatch",
         with_elf("cp311-cp311-linux_armv7l", {.machine = 40, .bits = 32, .flags = 0x5000200})},
        {"elf.glibc_above_policy", with_elf("cp311-cp311-manylinux2014_x86_64", new_glibc)},
        {"elf.glibc_above_policy",
         with_elf("cp311-cp311-manylinux_2_17_x86_64.manylinux_2_34_x86_64", new_glibc)},
        {"elf.glibc_above_policy",
         with_elf("cp311-cp311-manylinux2014_x86_64", new_glibc, "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/libc.so.6", "no library"); })},
        {"elf.glibc_above_policy",
         with_elf("cp311-cp311-manylinux2014_x86_64", new_glibc, "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/libc.so.6", write_elf({})); })},
        {"elf.glibc_above_policy",
         with_elf("cp311-cp311-manylinux2014_x86_64",
                  {.needed = {"libinner.so.1"}, .versions = {{"libinner.so.1", {"GLIBC_2.34"}}}},
                  "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/libinner.so.1", write_elf({})); })},
        {"elf.glibc_above_policy",
         with_elf("cp311-cp311-manylinux_2_35_x86_64",
                  {.versions = {{"libc.so.6", {"GLIBC_2.17", "GLIBC_ABI_DT_RELR"}}}})},
        {"elf.libc_mismatch", with_elf("cp311-cp311-musllinux_1_2_x86_64", x86_64)},
        {"elf.libc_mismatch", with_elf("cp311-cp311-musllinux_1_2_x86_64",
                                       {.needed = {"libc.so"}, .versions = {{"libc.so", {"LIBC_N"}}}})},
        {"elf.libc_mismatch", with_elf("cp311-cp311-manylinux_2_28_x86_64", musl)},
        {"elf.python_mismatch", with_elf(linux_311, x86_64, "six/_six.cpython-312-x86_64-linux-gnu.so")},
        {"elf.python_mismatch", with_elf(linux_311, x86_64, "six/_six.pypy310-pp73-x86_64-linux-gnu.so")},
        {"elf.python_mismatch", with_elf(linux_311, x86_64, "six/_six.cpython-311-aarch64-linux-gnu.so")},
        {"elf.python_mismatch",
         with_elf("cp311-cp311-manylinux_2_28_x86_64", x86_64, "six/_six.cpython-311-x86_64-linux-musl.so")},
        {"elf.python_mismatch", with_elf("cp312-cp312-manylinux_2_31_armv7l", armv7l,
                                         "six/_six.cpython-312-arm-linux-musleabihf.so")},
        {"elf.python_mismatch",
         with_elf("cp312-cp312-musllinux_1_2_x86_64", musl, "six/_six.cpython-312-x86_64-linux-gnu.so")},
        {"elf.python_mismatch", with_elf("cp312-cp312-linux_aarch64", {.machine = 183},
                                         "six/_six.cpython-312-arm-linux-gnueabihf.so")},
        {"elf.python_mismatch", with_elf("cp313-cp313t-linux_x86_64", x86_64, "six/_six.abi3.so")},
        {"elf.python_mismatch",
         with_elf("cp39-abi3-linux_x86_64", x86_64, "six/_six.cpython-39-x86_64-linux-gnu.so")},
        {"elf.machine_mismatch", with_elf("cp311-cp311-linux_armv6l", {.machine = 183})},
        {"elf.machine_mismatch",
         with_elf("cp311-cp311-linux_armv8l", {.machine = 40, .bits = 32, .flags = 0x5000200})},
        {"elf.search_path", with_elf(linux_311, {.rpath = "$ORIGIN:/home/user/lib"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "lib"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "/var/tmp/lib"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "/scratch1/lib"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "/usr/../home/user"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "//./Home/user"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "/proc/self/cwd/lib"})},    // a relative one
        {"elf.search_path_of_root", with_elf(linux_311, {.runpath = "/lib/intel64"})},  // torch 2.8.0
        {"elf.search_path_of_root", with_elf(linux_311, {.runpath = "/opt/conda/lib:/__w/build/lib"})},
        {"elf.search_path", with_elf(linux_311, {.runpath = "$ORIGIN/lib:"})},  // the current directory
        {"elf.search_path",
         with_elf(linux_311, {.needed = {"libc.so.6", "in/libinner.so"}}, "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/in/libinner.so", write_elf({})); })},
        {"elf.search_path", with_elf(linux_311, {.runpath = "$ORIGINAL/lib"})},
        {"elf.origin_escapes", with_elf(linux_311, {.runpath = "$ORIGIN/../.."})},
        {"elf.own_library_not_found",
         with_elf(linux_311, {.needed = {"libin.so"}, .runpath = "$ORIGIN"},
                  "six/_six.cpython-311-x86_64-linux-gnu.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/in/libin.so", write_elf({.soname = "libin.so"})); })},
        {"gpu.malformed", with_elf(linux_311, {.sections = {{".nv_fatbin", sm_80}, {".nv_fatbin", junk}}})},
        {"gpu.compressed",
         with_elf(linux_311, {.sections = {{".nv_fatbin", sm_80}, {".hip_fatbin", packed_junk}}})},
        {"gpu.not_read", with_elf(linux_311, {.sections = {{".nv_fatbin", sm_80}}}, "six/_six.so", "1.16.0",
                                  [](WheelWriter& w) { w.add("six/kernel.cubin", "encrypted"); })},
        {"gpu.unproven", with_elf(linux_311, {.sections = {{".nv_fatbin", junk}}}), {"gpu.malformed"}},
        {"gpu.unproven",
         with_elf(linux_311, x86_64, "six/_six.so", "1.16.0",
                  [](WheelWriter& w) { w.add("six/kernel.cubin", "encrypted"); }),
         {"gpu.not_read"}},
        {"gpu.unproven",
         with_elf(linux_311, {.sections = {{".hip_fatbin", packed_junk}}}),
         {"gpu.compressed"}},
        {"gpu.unproven",
         with_elf(linux_311, {.sections = {{".nv_fatbin", sm_80}, {".nv_fatbin", junk}}}, "six/_six.so",
                  "1.16.0+rocm6.2"),
         {"gpu.malformed"}},
        {"gpu.promised_not_there", with_elf(linux_311, x86_64, "six/_six.so", "1.16.0+cu126")},
        {"gpu.promised_not_there", with_elf(linux_311, x86_64, "six/_six.so", "1.16.0+rocm6.2")},
        {"gpu.architecture_missing",
         with_elf(linux_311, {.sections = {{".nv_fatbin", test_support::write_fatbin({{2, 70}})}}})},
    };
}

// Samples for libraries: runtimes, Stable ABI, processors, modules and torch.
std::vector<Sample> library_samples() {
    const std::string many_17 = "cp311-cp311-manylinux2014_x86_64",
                      many_28 = "cp311-cp311-manylinux_2_28_x86_64",
                      musl = "cp311-cp311-musllinux_1_2_x86_64", abi3 = "cp39-abi3-linux_x86_64";
    const auto needing = [](std::string file, std::string version) {
        return ElfImage{.needed = {"libc.so.6"}, .versions = {{std::move(file), {std::move(version)}}}};
    };
    const auto importing = [](std::string name) { return ElfImage{.imports = {std::move(name)}}; };
    const auto wanting_torch = [](std::string requirement, std::string name) {
        return with_elf(linux_311, {.imports = {std::move(name)}}, "six/_six.so", "1.16.0",
                        [requirement = std::move(requirement)](WheelWriter& w) {
                            w.metadata_line("Requires-Dist: " + requirement);
                        });
    };
    return {
        {"tag.linux_only", with_elf(linux_311, {})},
        {"elf.runtime_above_policy", with_elf(many_17, needing("libstdc++.so.6", "GLIBCXX_3.4.21"))},
        {"elf.runtime_above_policy", with_elf(many_28, needing("libstdc++.so.6", "CXXABI_1.3.13"))},
        {"elf.runtime_above_policy", with_elf(many_17, needing("libgcc_s.so.1", "GCC_7.0.0"))},
        {"elf.runtime_above_policy", with_elf(many_17, needing("libz.so.1", "ZLIB_1.2.9"))},
        {"elf.system_mismatch", with_elf(linux_311, {.os_abi = 9})},
        {"elf.private_symbol",
         with_elf(many_28, {.needed = {"libc.so.6", "libz.so.1"}, .imports = {"inflate_fast"}})},
        {"elf.private_symbol",
         with_elf(musl, {.needed = {"libc.musl-x86_64.so.1", "libz.so.1"}, .imports = {"zcalloc"}})},
        {"elf.private_symbol", with_elf(many_17, {.imports = {"__cxa_thread_atexit_impl"}})},
        {"elf.private_symbol", with_elf(many_17, needing("libc.so.6", "GLIBC_PRIVATE"))},
        {"elf.libc_mismatch", with_elf(musl, {.needed = {}, .versions = {{"libm.so.6", {"GLIBC_2.29"}}}})},
        {"elf.libc_mismatch",
         with_elf(many_28, {.type = 2, .needed = {}, .interpreter = "/lib/ld-musl-x86_64.so.1"}, "six/run")},
        {"elf.libc_mismatch", with_elf(many_28, {.needed = {"libc.so"}})},
        {"elf.needed_unknown", with_elf(many_28, {.needed = {"libc.so.6", "libgomp.so.1"}})},
        {"elf.needed_unknown", with_elf(musl, {.needed = {"libc.musl-x86_64.so.1", "libstdc++.so.6"}})},
        {"elf.needed_unknown", with_elf("cp311-cp311-manylinux1_x86_64", {.needed = {"libexpat.so.1"}})},
        {"elf.needed_unknown", with_elf(many_28, {.needed = {"libgomp.so.1"}}, "six/_six.so", "1.16.0",
                                        [](WheelWriter& w) { w.add("six/libgomp.so.1", "no library"); })},
        {"elf.needed_external", with_elf(many_28, {.needed = {"libc.so.6", "libcudart.so.12"}})},
        {"elf.needed_external", with_elf(many_28, {.needed = {"libc.so.6", "libmpi.so.40"}})},
        {"elf.needed_external", with_elf(many_28, {.needed = {"libc.so.6", "libOpenCL.so.1"}})},
        {"elf.needed_external", with_elf(many_28, {.needed = {"libc.so.6", "libiomp5.so"}})},
        {"elf.fpectl", with_elf("cp27-cp27mu-manylinux1_x86_64", {.imports = {"PyFPE_jbuf"}})},
        {"elf.needs_libpython", with_elf(many_28, {.needed = {"libpython3.11.so.1.0"}})},
        {"elf.abi3_too_new", with_elf(abi3, importing("PyType_GetTypeDataSize"), "six/_six.abi3.so")},
        {"elf.abi3_not_limited", with_elf(abi3, importing("_PyDict_NewPresized"), "six/_six.abi3.so")},
        {"elf.abi3_not_limited", with_elf(abi3, importing("PyObject_GetBuffer"), "six/_six.abi3.so")},
        {"elf.isa_above_baseline",
         with_elf(linux_311, {.notes = test_support::write_property_note({{0xc0008002, 4}})})},
        {"elf.needs_module", with_elf(linux_311, {.runpath = "/sw/openmpi/4.1.5/lib"})},
        {"torch.requires_another", wanting_torch("torch==2.3.1", "_ZN3c1021throwNullDataPtrErrorEv")},
        {"torch.requires_another", wanting_torch("torch==2.9.0+cu126", "_ZNK3c106SymInt6sym_neERKS0_")},
        {"torch.requires_another", wanting_torch("torch<2.4,>=2.0", "_ZN3c1021throwNullDataPtrErrorEv")},
        {"torch.cannot_load", wanting_torch("torch==2.6.0", "_ZN2at4_ops5zeros4callEv")},
    };
}

// A policy that reports the sample's rule: ignored rules become notes, and one module tree is trusted.
inspect::InspectOptions options_of(const Sample& sample) {
    inspect::InspectOptions options;
    if (inspect::find_rule(sample.code)->severity == inspect::Severity::ignore)
        options.policy.severities[std::string(sample.code)] = inspect::Severity::note;
    if (sample.code == "torch.cannot_load") {
        options.torches_for = [](const wheel::WheelFilename& companion, const std::vector<std::string>&) {
            inspect::TorchExports torch;
            torch.tags = companion.tags;
            torch.machines = {"x86_64"};
            torch.version = "2.6.0";
            torch.names = {inspect::torch_name_hash("_ZN2at4_ops4ones4callEv")};
            return std::vector{torch};
        };
    }
    if (sample.code == "metadata.license_not_allowed" || sample.code == "metadata.license_unstated")
        options.policy.licenses = {"MIT"};
    options.policy.variants = sample.code != "filename.variant";
    options.policy.search_path_prefixes = {"/sw"};
    options.policy.gpu_architectures = {"sm_80"};
    return options;
}

std::vector<Sample> samples() {
    std::vector<Sample> all;
    for (auto part : {filename_samples(), frame_samples(), name_samples(), dist_info_samples(),
                      record_samples(), tag_samples(), library_samples()}) {
        std::move(part.begin(), part.end(), std::back_inserter(all));
    }
    return all;
}

}  // namespace

TEST_CASE("a valid wheel has no findings") {
    const auto inspection = checked(pack(valid_wheel()));
    for (const auto& verdict : inspection.verdicts)
        CHECK_MESSAGE(false, verdict.text());
    CHECK(inspection.accepted());
}

TEST_CASE("a torch version that only an extra asks for says nothing of the wheel: Horovod's extra `dev`") {
    for (const char* extra :
         {"extra == \"dev\"", "'dev' == extra", "python_version < '4' and extra == 'dev'"}) {
        CAPTURE(extra);
        const auto wheel =
            with_elf("cp311-cp311-linux_x86_64", {.imports = {"_ZN3c1021throwNullDataPtrErrorEv"}},
                     "six/_six.so", "1.16.0", [extra](WheelWriter& w) {
                         w.metadata_line("Requires-Dist: torch==1.4.0; " + std::string(extra));
                     });
        for (const auto& verdict : checked(wheel()).verdicts)
            CHECK_MESSAGE(verdict.code != "torch.requires_another", verdict.text());
    }
}

TEST_CASE("a build tag may have leading zeros, in the file name and in WHEEL") {
    struct Row {
        std::string name, in_wheel;
    };
    for (const Row& row :
         {Row{"01", "01"}, Row{"01", "1"}, Row{"1", "01"}, Row{"00", "0"}, Row{"007a", "7a"}}) {
        CAPTURE(row.name);
        const auto build =
            defective([&row](WheelWriter& w) { w.build(row.name).wrong_wheel_build(row.in_wheel); });
        CHECK(checked(build()).verdicts.empty());
    }
}

TEST_CASE("every rule has a wheel that violates it") {
    std::set<std::string_view> broken;
    for (const Sample& sample : samples())
        broken.insert(sample.code);
    for (const inspect::Rule& rule : inspect::rules()) {
        const bool is_of_sdists = rule.code.starts_with("sdist.");  // sdist_test.cpp has those
        CHECK_MESSAGE((is_of_sdists || broken.count(rule.code) == 1), rule.code);
    }
}

TEST_CASE("a violation is found under its own code only") {
    for (const Sample& sample : samples()) {
        const auto inspection = checked(sample.build(), options_of(sample));
        CAPTURE(sample.code);
        bool found = false;
        for (const auto& verdict : inspection.verdicts) {
            found = found || verdict.code == sample.code;
            CHECK_MESSAGE((verdict.code == sample.code || sample.also.count(verdict.code) == 1),
                          verdict.text());
        }
        CHECK(found);
        const inspect::Rule* rule = inspect::find_rule(sample.code);
        REQUIRE(rule != nullptr);
        CHECK(inspection.accepted() == (rule->severity < inspect::Severity::quarantine));
        CHECK(inspection.refused() == (rule->severity == inspect::Severity::reject));
    }
}

TEST_CASE("findings do not depend on the number of threads") {
    // One thread per megabyte, see contents.cpp.
    ballast.assign(3 * base::mib, 'b');
    std::size_t shared_among_four = 0;
    for (const Sample& sample : samples()) {
        inspect::InspectOptions options;
        options.threads = 4;
        const Wheel wheel = sample.build();
        const auto one = checked(wheel);
        const auto four = checked(wheel, options);
        CAPTURE(sample.code);
        if (one.facts.unpacked_bytes >= ballast.size()) ++shared_among_four;
        REQUIRE(one.verdicts.size() == four.verdicts.size());
        for (std::size_t i = 0; i < one.verdicts.size(); ++i)
            CHECK(one.verdicts[i].text() == four.verdicts[i].text());
    }
    ballast.clear();
    CHECK(shared_among_four > 100);
}

TEST_CASE("a policy can change a rule's severity, but cannot accept a wheel that cannot be read") {
    inspect::InspectOptions lenient;
    for (const inspect::Rule& rule : inspect::rules())
        lenient.policy.severities[std::string(rule.code)] = inspect::Severity::warn;
    CHECK(checked(defective([](WheelWriter& w) { w.wrong_record_hash("six.py"); })(), lenient).accepted());
    CHECK(checked(defective([](WheelWriter& w) { w.wrong_wheel_tags({"py2-none-any"}); })(), lenient)
              .accepted());
    CHECK_FALSE(checked({valid_wheel().truncated(30), valid_wheel().filename()}, lenient).accepted());
    CHECK_FALSE(checked(defective([](WheelWriter& w) { w.leave_out("METADATA"); })(), lenient).accepted());
    CHECK_FALSE(checked(defective([](WheelWriter& w) { w.leave_out("WHEEL"); })(), lenient).accepted());
    CHECK_FALSE(checked(defective([](WheelWriter& w) { w.leave_out("RECORD"); })(), lenient).accepted());
    CHECK_FALSE(checked(called("six-1.16.0-py3-none-any-x8664v3.whl")(), lenient).accepted());
    CHECK_FALSE(
        checked(defective([](WheelWriter& w) { w.wrong_metadata_name("seven"); })(), lenient).accepted());
    CHECK_FALSE(
        checked(defective([](WheelWriter& w) { w.wrong_metadata_version("1.17"); })(), lenient).accepted());

    inspect::InspectOptions strict;
    strict.policy.severities["zip.name_case"] = inspect::Severity::reject;
    CHECK_FALSE(checked(named("SIX.py")(), strict).accepted());
}

TEST_CASE("rule codes are unique, dotted and lower-case, and have advice") {
    std::set<std::string_view> codes;
    for (const inspect::Rule& rule : inspect::rules()) {
        CAPTURE(rule.code);
        CHECK(codes.insert(rule.code).second);
        CHECK(std::count(rule.code.begin(), rule.code.end(), '.') == 1);
        CHECK(rule.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") ==
              std::string_view::npos);
        CHECK(rule.sentence.ends_with('.'));
        CHECK(rule.advice.ends_with('.'));
        CHECK_FALSE(rule.source.empty());
    }
}

TEST_CASE("each rule that refuses or holds a wheel says what breaks if it only warned") {
    const std::string page = inspect::render_rules_markdown();
    for (const inspect::Rule& rule : inspect::rules()) {
        CAPTURE(rule.code);
        const auto row = page.find("| `" + std::string(rule.code) + "` |");
        REQUIRE(row != std::string::npos);
        const std::string line = page.substr(row, page.find('\n', row) - row);
        const bool is_empty = line.find("|  | " + std::string(rule.source)) != std::string::npos;
        CHECK(is_empty == (rule.severity < inspect::Severity::quarantine));
        CHECK(is_empty == (inspect::render_rule_text(rule).find("If it only warned") == std::string::npos));
    }
}

TEST_CASE("docs/reference/rules.md matches the rule table") {
    CHECK(test_support::page_difference("reference/rules.md", inspect::render_rules_markdown()) == "");
}
