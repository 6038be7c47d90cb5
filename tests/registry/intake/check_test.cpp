// `wheelyard-registry check`: exit status, report, JSON and explanations.
#include "registry/intake/check.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/io/json.hpp"
#include "tests/support/elf_writer.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/wheel_writer.hpp"

using namespace wheelyard;
using registry::CheckArguments;
using test_support::WheelWriter;

namespace {

struct Ran {
    int status = 0;
    std::string out;
};

// Runs the check with stdout caught in a file.
Ran run(const CheckArguments& arguments) {
    const auto folder = base::TempDir::make("check-test");
    REQUIRE(folder);
    const auto path = folder->path() / "out";
    Ran ran;
    {
        const test_support::Redirected output(STDOUT_FILENO, path);
        ran.status = registry::run_check(arguments);
    }
    auto out = base::read_file(path, 1 << 20);
    REQUIRE(out);
    ran.out = std::move(*out);
    return ran;
}

// A folder with one good wheel, one that lies, and something else.
struct Folder {
    base::TempDir temp = std::move(*base::TempDir::make("wheels"));
    base::fs::path good, bad;
    Folder() {
        WheelWriter six("six", "1.16.0");
        six.add("six.py", "1");
        good = write(six);
        WheelWriter seven("seven", "1.0");
        seven.add("seven.py", "1").wrong_record_hash("seven.py");
        bad = write(seven);
        REQUIRE(base::replace_file(temp.path() / "README", "no wheel"));
    }
    base::fs::path write(const WheelWriter& wheel) const {
        auto path = temp.path() / wheel.filename();
        REQUIRE(base::replace_file(path, wheel.bytes()));
        return path;
    }
};

}  // namespace

TEST_CASE("the exit status is 0 for accepted, 1 for refused, 2 for unreadable or bad usage") {
    const Folder folder;
    CHECK(run({.paths = {folder.good}}).status == 0);
    CHECK(run({.paths = {folder.good, folder.bad}}).status == 1);
    CHECK(run({.paths = {folder.temp.path()}}).status == 1);
    CHECK(run({.paths = {folder.good, folder.temp.path() / "absent.whl"}}).status == 2);
    CHECK(run({}).status == 2);
    CHECK(run({.explain = "record.hash_mismash"}).status == 2);
    const auto empty = base::TempDir::make("empty");
    REQUIRE(empty);
    CHECK(run({.paths = {empty->path()}}).status == 2);
}

TEST_CASE("a policy decides, and one that cannot be read is wrong usage") {
    const Folder folder;
    const Ran mirrored = run({.paths = {folder.temp.path()}, .policy = "mirror"});
    CHECK(mirrored.status == 0);
    CHECK(mirrored.out.find("record.hash_mismatch") != std::string::npos);
    const auto file = folder.temp.path() / "policy.toml";
    REQUIRE(base::replace_file(file, "\"record.hash_mismatch\" = \"quarantine\"\n"));
    const Ran kept = run({.paths = {folder.bad}, .policy = file.string()});
    CHECK(kept.status == 1);
    CHECK(kept.out.find("QUARANTINED  seven-1.0") != std::string::npos);
    REQUIRE(base::replace_file(file, "\"record.hash_mismach\" = \"warn\"\n"));
    CHECK(run({.paths = {folder.bad}, .policy = file.string()}).status == 2);
    CHECK(run({.paths = {folder.bad}, .policy = "mirrors"}).status == 2);
}

TEST_CASE("the report names each wheel, the code, the member and what to do") {
    const Folder folder;
    const Ran ran = run({.paths = {folder.temp.path()}, .facts = true});
    for (const std::string_view part :
         {"REFUSED      seven-1.0-py3-none-any.whl", "record.hash_mismatch", "[seven.py]", "wheel pack",
          "accepted     six-1.16.0-py3-none-any.whl", "tags: py3-none-any"}) {
        CHECK_MESSAGE(ran.out.find(part) != std::string::npos, part);
    }
    CHECK(ran.out.find("README") == std::string::npos);
    const Ran quiet = run({.paths = {folder.temp.path()}, .quiet = true});
    CHECK(quiet.out.find("six-1.16.0") == std::string::npos);
}

TEST_CASE("--json is one document about all wheels") {
    const Folder folder;
    const Ran ran = run({.paths = {folder.temp.path()}, .json = true});
    const auto json = io::parse_json(ran.out);
    REQUIRE(json);
    CHECK(json->string_or("format", "") == "wheelyard.check/1");
    const auto* wheels = json->find("wheels")->as_array();
    REQUIRE(wheels != nullptr);
    REQUIRE(wheels->size() == 2);
    CHECK(wheels->at(0).string_or("filename", "") == "seven-1.0-py3-none-any.whl");
    CHECK_FALSE(wheels->at(0).bool_or("accepted", true));
    CHECK(wheels->at(1).bool_or("accepted", false));
}

TEST_CASE("--with judges each wheel against a torch, in the status, the report and the JSON") {
    const Folder folder;
    const auto elf = [](const std::vector<std::string>& imports, const std::vector<std::string>& exports) {
        test_support::ElfImage image;
        image.imports = imports;
        image.exports = exports;
        return test_support::write_elf(image);
    };
    WheelWriter torch("torch", "2.6.0");
    torch.tag("cp311-cp311-manylinux_2_28_x86_64");
    torch.add("torch/lib/libtorch_cpu.so", elf({}, {"_ZN2at5zerosEv"}));
    const auto torch_path = folder.write(torch);
    const auto companion = [&](const std::string& name, const std::string& import) {
        WheelWriter wheel(name, "1.0");
        wheel.tag("cp311-cp311-manylinux_2_28_x86_64");
        wheel.add(name + "/_C.so", elf({import}, {}));
        return folder.write(wheel);
    };
    const auto good = companion("vision", "_ZN2at5zerosEv"), bad = companion("audio", "_ZN2at4onesEv");

    const Ran fits = run({.paths = {good, folder.good}, .with = torch_path});
    CHECK(fits.status == 0);
    CHECK(fits.out.find("  fits  torch 2.6.0 has all 1 names") != std::string::npos);
    CHECK(fits.out.find("  fits  no compiled code of it uses torch") != std::string::npos);
    CHECK(run({.paths = {bad}}).status == 0);
    const Ran lacks = run({.paths = {good, bad}, .with = torch_path, .quiet = true});
    CHECK(lacks.status == 1);
    CHECK(lacks.out.find("  DOES NOT FIT  torch 2.6.0 lacks `at::ones`") != std::string::npos);
    CHECK(lacks.out.find("[audio/_C.so]") != std::string::npos);
    CHECK(lacks.out.find("vision") == std::string::npos);

    const auto json = io::parse_json(run({.paths = {bad}, .json = true, .with = torch_path}).out);
    REQUIRE(json);
    const io::Json* with = json->items("wheels").front().find("with");
    REQUIRE(with != nullptr);
    CHECK(with->string_or("filename", "") == "torch-2.6.0-cp311-cp311-manylinux_2_28_x86_64.whl");
    CHECK(with->string_or("fits", "") == "no");
    CHECK(with->string_or("reason", "") == "symbols_missing");
    CHECK(with->string_or("symbol", "") == "_ZN2at4onesEv");
    CHECK(with->int_or("missing", 0) == 1);

    // The same torch, installed.
    const auto installed = folder.temp.path() / "site-packages" / "torch";
    base::fs::create_directories(installed / "lib");
    REQUIRE(base::replace_file(installed / "version.py",  // As torch 2.15.0 has it.
                               "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', "
                               "'git_version', 'hip']\n__version__ = '2.6.0+cpu'\ndebug = False\n"
                               "cuda: Optional[str] = None\n"));
    CHECK(run({.paths = {good}, .with = installed}).status == 2);
    REQUIRE(base::replace_file(installed / "_C.cpython-311-x86_64-linux-gnu.so", elf({}, {"PyInit__C"})));
    CHECK(run({.paths = {good}, .with = installed}).status == 2);
    REQUIRE(base::replace_file(installed / "lib" / "libtorch_cpu.so", elf({}, {"_ZN2at5zerosEv"})));
    REQUIRE(base::replace_file(installed / "lib" / "libgomp.so", "INPUT(-lgomp)\n"));
    CHECK(run({.paths = {good}, .with = installed}).status == 0);
    const Ran differs = run({.paths = {bad}, .with = installed});
    CHECK(differs.status == 1);
    CHECK(differs.out.find("torch 2.6.0+cpu lacks `at::ones`") != std::string::npos);
    REQUIRE(base::fs::remove(installed / "_C.cpython-311-x86_64-linux-gnu.so"));
    REQUIRE(base::replace_file(installed / "_C.cpython-313t-x86_64-linux-gnu.so", elf({}, {})));
    CHECK(run({.paths = {good}, .with = installed}).out.find("torch 2.6.0+cpu for cp313-cp313t") !=
          std::string::npos);
    CHECK(run({.paths = {good}, .with = installed.parent_path()}).status == 2);

    CHECK(run({.paths = {good}, .with = folder.good}).status == 2);
    CHECK(run({.paths = {good}, .with = folder.temp.path() / "absent.whl"}).status == 2);
}

TEST_CASE("every rule can be explained, and all of them at once") {
    const Ran one = run({.explain = "record.hash_mismatch"});
    CHECK(one.status == 0);
    CHECK(one.out.find("What to do:") != std::string::npos);
    const Ran all = run({.explain = "all", .markdown = true});
    CHECK(all.out == inspect::render_rules_markdown());
    const Ran lines = run({.explain = "all"});
    for (const auto& rule : inspect::rules())
        CHECK(lines.out.find(rule.code) != std::string::npos);
}
