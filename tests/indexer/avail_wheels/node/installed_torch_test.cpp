// The torch of an environment, by files as torch's own wheels have them.
#include "indexer/avail_wheels/node/node_probe.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

// The version.py of torch 2.15.0.
constexpr const char* version_text =
    "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
    "__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = '13.2'\n"
    "git_version = 'd0f2af8b'\nhip: Optional[str] = None\nrocm: Optional[str] = None\n";
// c10::Error::Error(SourceLocation, std::string), as libc10.so of torch 2.15.0 and of 2.4.1 have it.
constexpr const char* new_error =
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr const char* old_error = "_ZN3c105ErrorC2ENS_14SourceLocationESs";

struct Host {
    base::TempDir root = *base::TempDir::make("installed-torch");
    HostProbe probe{root.path(), {}, "node1", "x86_64", {}};
    Node node;

    Host() {
        node.pythons = {*parse_python("3.11.4")};
        node.module_folders = {"/home/anna/.local/lib/python3.11/site-packages",
                               "/venv/lib/python3.11/site-packages"};
    }
    void add(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root.path() / path).parent_path());
        REQUIRE(base::replace_file(root.path() / path, text));
    }
};

}  // namespace

TEST_CASE("the torch of an environment is read from its files") {
    const Host host;
    const std::string site = "venv/lib/python3.11/site-packages/torch/";
    CHECK_FALSE(find_installed_torch(host.probe, host.node));
    host.add(site + "version.py", version_text);
    host.add(site + "lib/libc10.so", std::string("\0", 1) + new_error);
    host.add(site + "lib/libtorch_cuda.so", "");
    const auto torch = find_installed_torch(host.probe, host.node);
    REQUIRE(torch);
    CHECK(torch->version == "2.15.0+cu132");
    CHECK(torch->folder == "/venv/lib/python3.11/site-packages/torch");
    CHECK(torch->toolkits.at("cuda") == "13.2");
    CHECK(torch->toolkits.size() == 1);
    CHECK(torch->cxx11_abi == "true");
    CHECK(torch->libraries == std::set<std::string>{"libc10.so", "libtorch_cuda.so"});
}

TEST_CASE("PYTHONPATH comes first, as a module sets it, and then the Python's folders in their order") {
    Host host;
    host.add("venv/lib/python3.11/site-packages/torch/version.py", version_text);
    CHECK(find_installed_torch(host.probe, host.node)->version == "2.15.0+cu132");
    host.add("home/anna/.local/lib/python3.11/site-packages/torch/version.py", "__version__ = '2.5.1'\n");
    CHECK(find_installed_torch(host.probe, host.node)->version == "2.5.1");
    host.add("sw/torch/version.py", "__version__ = \"2.4.0\"\n");
    host.probe.environment["PYTHONPATH"] = "relative:/sw";
    const auto torch = find_installed_torch(host.probe, host.node);
    REQUIRE(torch);
    CHECK(torch->version == "2.4.0");
    CHECK(torch->folder == "/sw/torch");
    CHECK(torch->cxx11_abi.empty());
}

TEST_CASE("what has no version is no torch, and bytes with both kinds of string say nothing") {
    const Host host;
    host.add("venv/lib/python3.11/site-packages/torch/version.py", "__version__ = None\n");
    CHECK_FALSE(find_installed_torch(host.probe, host.node));
    CHECK(strings_of_c10(new_error) == "true");
    CHECK(strings_of_c10(old_error) == "false");
    CHECK(strings_of_c10(std::string(new_error) + old_error).empty());
    CHECK(strings_of_c10("").empty());
}
