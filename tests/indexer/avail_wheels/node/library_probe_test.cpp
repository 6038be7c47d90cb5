#include "indexer/avail_wheels/node/node_probe.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>

#include "lib/base/limits.hpp"
#include "tests/indexer/avail_wheels/node/fake_node.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE(
    "the loader of the Python's process is asked once for all libraries, and again when its paths change") {
    FakeNode fake;
    fake.install("python3", PythonSays{.version = "3.12.1", .executable = "/opt/bin/python3.12"}.text());
    const std::string libstdcxx =
        std::string("\0GLIBCXX_3.4\0GLIBCXX_3.4.30\0GLIBCXX_3.4.9\0CXXABI_1.3.13\0", 56) +
        std::string("\0CXXABI_FLOAT128\0GCC_3.0\0", 25);
    fake.write("lib/x/libstdc++.so.6", libstdcxx);
    fake.answers["python3.12"] =
        "\tlibstdc++.so.6 => /lib/x/libstdc++.so.6 (0x00007f36ab000000)\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007f36ab344000)\n";
    Node node = fake.known();
    fake.started.clear();
    fake.asked.clear();
    ask_libraries(fake.host(), fake.clock, {"libgsl.so.27", "libstdc++.so.6", "/opt/none/libgsl.so.27"},
                  node);
    CHECK(fake.started == std::vector<std::string>{"python3.12"});
    CHECK(node.libraries.at("libgsl.so.27").path == "");
    CHECK(node.libraries.at("/opt/none/libgsl.so.27").path == "");
    CHECK(node.libraries.at("libstdc++.so.6").path == "/lib/x/libstdc++.so.6");
    CHECK(node.libraries.at("libstdc++.so.6").versions.at("GLIBCXX").text() == "3.4.30");
    CHECK(node.libraries.at("libstdc++.so.6").versions.at("CXXABI").text() == "1.3.13");
    CHECK(node.libraries.at("libstdc++.so.6").versions.size() == 2);

    Node again = fake.known();
    fake.started.clear();
    ask_libraries(fake.host(), fake.clock, {"libgsl.so.27", "libstdc++.so.6"}, again);
    CHECK(fake.started.empty());
    CHECK(again.libraries.at("libstdc++.so.6").versions == node.libraries.at("libstdc++.so.6").versions);
    fake.environment["LD_LIBRARY_PATH"] = "/opt/gcc/lib64";
    again.libraries.clear();
    ask_libraries(fake.host(), fake.clock, {"libgsl.so.27"}, again);
    CHECK(fake.started == std::vector<std::string>{"python3.12"});

    // A program that does not trace answers nothing.
    fake.answers["python3.12"] = "";
    again.libraries.clear();
    fake.environment["LD_LIBRARY_PATH"] = "/opt/other";
    ask_libraries(fake.host(), fake.clock, {"libgsl.so.27"}, again);
    CHECK(again.libraries.empty());
}

namespace {

// glibc's list with these preloaded: what is not found it does not list, but what a found one needs in vain.
std::string list_of(const std::vector<std::string>& preloaded,
                    const std::map<std::string, std::string>& needed_by) {
    std::string list;
    std::string lacking;
    for (const auto& name : preloaded) {
        const auto found = needed_by.find(name);
        if (found == needed_by.end()) continue;
        list += "\t" + name + " => /lib/x/" + name + " (0x00007f36ab000000)\n";
        if (!found->second.empty()) lacking += "\t" + found->second + " => not found\n";
    }
    return list + "\t/lib64/ld-linux-x86-64.so.2 (0x00007f36ab344000)\n" + lacking;
}

}  // namespace

TEST_CASE("a library that is there lacks what it needs itself, also where that one is asked for, too") {
    FakeNode fake;
    fake.install("python3", PythonSays{.version = "3.12.1", .executable = "/opt/bin/python3.12"}.text());
    const std::map<std::string, std::string> there{
        {"liba.so.1", ""}, {"libb.so.1", "libe.so.1"}, {"libc1.so.1", ""}, {"libd.so.1", "libgone.so.1"}};
    fake.traced = [&](const std::vector<std::string>& names) { return list_of(names, there); };
    Node node = fake.known();
    const std::vector<std::string> asked{"liba.so.1", "libb.so.1", "libc1.so.1", "libd.so.1", "libe.so.1"};
    ask_libraries(fake.host(), fake.clock, asked, node);
    REQUIRE(node.libraries.size() == asked.size());
    CHECK(node.libraries.at("liba.so.1").lacks == "");
    CHECK(node.libraries.at("libb.so.1").lacks == "libe.so.1");
    CHECK(node.libraries.at("libc1.so.1").path == "/lib/x/libc1.so.1");
    CHECK(node.libraries.at("libc1.so.1").lacks == "");
    CHECK(node.libraries.at("libd.so.1").path == "/lib/x/libd.so.1");
    CHECK(node.libraries.at("libd.so.1").lacks == "libgone.so.1");
    CHECK(node.libraries.at("libe.so.1").path == "");

    Node again = fake.known();
    fake.started.clear();
    ask_libraries(fake.host(), fake.clock, asked, again);
    CHECK(fake.started.empty());
    CHECK(again.libraries.at("libd.so.1").lacks == "libgone.so.1");

    // A cache of another version of the program.
    const fs::path cache = fake.folder.path() / "cache/wheelyard/libraries-gh001.json";
    auto text = base::read_file(cache, base::mib).value();
    const std::string format = "wheelyard.node-libraries/2";
    text.replace(text.find(format), format.size(), "wheelyard.node-libraries/1");
    REQUIRE(base::replace_file(cache, text));
    Node other = fake.known();
    fake.started.clear();
    ask_libraries(fake.host(), fake.clock, asked, other);
    CHECK_FALSE(fake.started.empty());
}

TEST_CASE("musl's loader says what is missing on standard error") {
    FakeNode fake;
    fake.install("python3",
                 PythonSays{.version = "3.12.1", .libc = "none", .executable = "/usr/bin/python3.12"}.text());
    fake.write("lib/ld-musl-x86_64.so.1", "");
    fake.loader_says = "musl libc (x86_64)\nVersion 1.2.4\n";
    Node node = fake.known();
    REQUIRE(node.musl);
    fake.answers["ld-musl-x86_64.so.1"] =
        "\t/lib/ld-musl-x86_64.so.1 (0x7f36ab344000)\n\tliba.so.1 => /usr/lib/liba.so.1 (0x7f36ab000000)\n";
    fake.loader_says =
        "Error loading shared library libb.so.1: No such file or directory (needed by /usr/lib/liba.so.1)\n";
    ask_libraries(fake.host(), fake.clock, {"liba.so.1"}, node);
    CHECK(node.libraries.at("liba.so.1").path == "/usr/lib/liba.so.1");
    CHECK(node.libraries.at("liba.so.1").lacks == "libb.so.1");
}

namespace {

// The first 20 bytes of an ELF file (System V ABI, chapter 4): class, byte order, machine.
std::string elf_header(char bits, char order, char machine) {
    std::string header =
        "\x7f"
        "ELF";
    header += {bits, order, 1};
    header.resize(16);
    header += {3, 0, machine, 0};
    return header;
}

}  // namespace

TEST_CASE("a file in a search path counts if it is an ELF file for the interpreter's machine") {
    constexpr char x86_64 = 62;
    FakeNode fake;
    fake.install("python3", PythonSays{.version = "3.12.1", .executable = "/opt/bin/python3.12"}.text());
    fake.write("opt/bin/python3.12", elf_header(2, 1, x86_64));
    fake.write("sw/good/libq.so.1", elf_header(2, 1, x86_64) + "more");
    fake.write("sw/text/libq.so.1", "INPUT(libq.so.1.2 and more text)\n");
    fake.write("sw/short/libq.so.1",
               "\x7f"
               "ELF");
    fake.write("sw/bits32/libq.so.1", elf_header(1, 1, 3));
    fake.write("sw/arm/libq.so.1", elf_header(2, 1, static_cast<char>(183)));
    fs::create_directories(fake.folder.path() / "root/sw/folder/libq.so.1");
    REQUIRE(::mkdir((fake.folder.path() / "root/sw/fifo").c_str(), 0755) == 0);
    REQUIRE(::mkfifo((fake.folder.path() / "root/sw/fifo/libq.so.1").c_str(), 0644) == 0);
    Node node = fake.known();
    const auto is_there = [&](const std::string& folder) {
        const std::string file = "/sw/" + folder + "/libq.so.1";
        ask_libraries(fake.host(), fake.clock, {file}, node);
        return !node.libraries.at(file).path.empty();
    };
    CHECK(is_there("good"));
    for (const char* folder : {"text", "short", "bits32", "arm", "folder", "fifo", "none"}) {
        CAPTURE(folder);
        CHECK_FALSE(is_there(folder));
    }
    // Folders of software that nodes of another machine share.
    Node arm;
    arm.machine = "aarch64";
    arm.is_described = true;
    ask_libraries(fake.host(), fake.clock, {"/sw/text/libq.so.1", "/sw/arm/libq.so.1"}, arm);
    CHECK(arm.libraries.at("/sw/arm/libq.so.1").path == "/sw/arm/libq.so.1");
    CHECK(arm.libraries.at("/sw/text/libq.so.1").path == "");
}

TEST_CASE("names that are too long, or too many for one variable, leave the others known") {
    FakeNode fake;
    fake.install("python3", PythonSays{.version = "3.12.1", .executable = "/opt/bin/python3.12"}.text());
    constexpr std::size_t linux_variable = 128 * 1024;  // execve(2): MAX_ARG_STRLEN
    std::size_t longest = 0;
    fake.traced = [&](const std::vector<std::string>& names) {
        longest = std::max(longest, base::join(names, ":").size() + sizeof "LD_PRELOAD=");
        return longest > linux_variable ? std::string() : list_of(names, {{"libz.so.1", ""}});
    };
    std::vector<std::string> asked;
    for (int i = 0; i < 3; ++i)
        asked.push_back("lib" + std::string(60'000, 'x') + std::to_string(i) + ".so");
    // As long as a file's name may be.
    for (int i = 1000; i < 3500; ++i)
        asked.push_back("lib" + std::string(245, 'y') + std::to_string(i) + ".so");
    REQUIRE(asked.back().size() == 255);  // NAME_MAX
    asked.emplace_back("libz.so.1");
    Node node = fake.known();
    ask_libraries(fake.host(), fake.clock, asked, node);
    CHECK(longest <= linux_variable);
    CHECK(node.libraries.size() == asked.size());
    CHECK(node.libraries.at("libz.so.1").path == "/lib/x/libz.so.1");
    CHECK(node.libraries.at(asked.front()).path == "");
    CHECK(node.libraries.at(asked[3]).path == "");
    // All of it is in the cache.
    Node again = fake.known();
    fake.started.clear();
    ask_libraries(fake.host(), fake.clock, asked, again);
    CHECK(fake.started.empty());
}

TEST_CASE("a file in a search path lacks what it needs, and hides no name that is its soname") {
    FakeNode fake;
    fake.install("python3", PythonSays{.version = "3.12.1", .executable = "/opt/bin/python3.12"}.text());
    fake.write("sw/liba.so.1", elf_header(2, 1, 62));
    fake.write("sw/libz.so.1", elf_header(2, 1, 62));
    fake.traced = [&](const std::vector<std::string>& names) {
        // glibc: a name that is the soname of a file before it is that file, and is not listed.
        auto listed = names;
        if (std::find(names.begin(), names.end(), "/sw/libz.so.1") != names.end())
            std::erase(listed, "libz.so.1");
        auto list = list_of(listed, {{"libz.so.1", ""}});
        if (std::find(names.begin(), names.end(), "/sw/liba.so.1") != names.end())
            list += "\tlibb.so.1 => not found\n";
        return list;
    };
    const std::vector<std::string> asked{"/sw/liba.so.1", "/sw/libz.so.1", "libz.so.1"};
    Node node = fake.known();
    ask_libraries(fake.host(), fake.clock, asked, node);
    CHECK(node.libraries.at("/sw/liba.so.1").path == "/sw/liba.so.1");
    CHECK(node.libraries.at("/sw/liba.so.1").lacks == "libb.so.1");
    CHECK(node.libraries.at("/sw/libz.so.1").lacks == "");
    CHECK(node.libraries.at("libz.so.1").path == "/lib/x/libz.so.1");
    Node again = fake.known();
    fake.started.clear();
    ask_libraries(fake.host(), fake.clock, asked, again);
    // Only the one that lacks something is asked again: nothing tells when that is repaired.
    CHECK(fake.started == std::vector<std::string>{"python3.12"});
    CHECK(again.libraries.at("/sw/liba.so.1").lacks == "libb.so.1");
    // The loader of this node says nothing of another node's.
    Node other = fake.known();
    other.is_described = true;
    ask_libraries(fake.host(), fake.clock, {"/sw/liba.so.1"}, other);
    CHECK(other.libraries.at("/sw/liba.so.1").lacks == "");
}
