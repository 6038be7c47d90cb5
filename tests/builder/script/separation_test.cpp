// Which sites may build uploaded sources, and why others may not.
#include "builder/script/separate_script.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// A site that may: its secrets and its Python lie apart.
struct Scene {
    base::TempDir folder = *base::TempDir::make("separation");
    Site site;
    std::map<std::string, base::Result<Python>> pythons;
    std::string pip_conf = "[global]\nindex-url = https://wheels.example/simple/\n";
    EnvironmentMap environment;
    uid_t user = 1000;

    Scene() {
        const fs::path root = folder.path();
        testing::write(root / "bwrap", "", 0755);
        testing::write(root / "governor", "", 0755);
        site.governor.program = root / "governor";
        testing::write(root / "soft/python/bin/python3", "", 0755);
        for (const char* name : {"home/agent", "home/agent/state", "scratch/work"})
            testing::must(base::make_directories(root / name));
        site.registry = RegistrySettings{"https://wheels.example", "test", root / "home/agent/token"};
        site.state_directory = root / "home/agent/state";
        site.work_directory = root / "scratch/work";
        site.uploaded_sources = UploadedSources{root / "bwrap", {root / "soft"}};
        environment["HOME"] = (root / "home/agent").string();
        Python python;
        python.executable = root / "soft/python/bin/python3";
        python.prefix = root / "soft/python";
        pythons.emplace("3.11", python);
    }
    [[nodiscard]] std::string code() const {
        const auto checked = check_separation(site, pythons, pip_conf, environment, user);
        return checked ? "" : checked.error().code;
    }
};

TEST_CASE("a site that names a namespace, and no folder with a secret, builds uploaded sources") {
    CHECK(Scene().code().empty());
}

TEST_CASE("a folder inside of the home folder may be readable, the home folder not") {
    Scene scene;
    scene.environment["HOME"] = scene.folder.path().string();
    CHECK(scene.code().empty());
    scene.environment["HOME"] = (scene.folder.path() / "soft").string();
    CHECK(scene.code() == "uploads.readable");
    scene.environment["HOME"] = "";
    CHECK(scene.code().empty());
    scene.environment.erase("HOME");
    CHECK(scene.code().empty());
}

TEST_CASE("a site whose builds could read a secret builds none") {
    struct Row {
        std::string what;
        void (*change)(Scene&);
        std::string code;
    };
    const Row rows[] = {
        {"no section", [](Scene& s) { s.site.uploaded_sources.reset(); }, "uploads.not_separate"},
        {"no program", [](Scene& s) { fs::remove(s.folder.path() / "bwrap"); }, "uploads.no_program"},
        {"nothing that bounds", [](Scene& s) { fs::remove(s.folder.path() / "governor"); },
         "uploads.no_governor"},
        {"root", [](Scene& s) { s.user = 0; }, "uploads.root"},
        {"the home folder",
         [](Scene& s) { s.site.uploaded_sources->readable.push_back(s.folder.path() / "home"); },
         "uploads.readable"},
        {"all of scratch",
         [](Scene& s) { s.site.uploaded_sources->readable.push_back(s.folder.path() / "scratch"); },
         "uploads.readable"},
        {"a tree in the work folder",
         [](Scene& s) { s.site.uploaded_sources->readable.push_back(s.site.work_directory / "trees"); },
         "uploads.readable"},
        {"a link to the state folder",
         [](Scene& s) {
             fs::create_directory_symlink(s.folder.path() / "home", s.folder.path() / "link");
             s.site.uploaded_sources->readable.push_back(s.folder.path() / "link");
         },
         "uploads.readable"},
        {"a token in the readable folder",
         [](Scene& s) { s.site.registry->token_file = s.folder.path() / "soft/token"; }, "uploads.readable"},
        {"the other token",
         [](Scene& s) { s.site.registry->promote_token_file = "/etc/wheelyard/promote.token"; },
         "uploads.readable"},
        {"a Python elsewhere",
         [](Scene& s) { s.pythons.at("3.11")->prefix = s.folder.path() / "home/agent/py"; },
         "uploads.python"},
        {"a password for an index",
         [](Scene& s) { s.pip_conf += "extra-index-url = https://a.example/\n    https://u:p@b.example/\n"; },
         "uploads.password"},
        {"a password of the proxy", [](Scene& s) { s.pip_conf += "proxy = http://u:p@proxy:3128\n"; },
         "uploads.password"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        row.change(scene);
        CHECK(scene.code() == row.code);
    }
}

TEST_CASE("folders inside the home folder may be readable, and a Python that is missing hinders nothing") {
    Scene scene;
    scene.site.uploaded_sources->readable.push_back(scene.folder.path() / "home/agent/conda");
    scene.pythons.emplace("3.12", tl::unexpected(base::Error{"python.missing", "not there"}));
    CHECK(scene.code().empty());
}

}  // namespace
}  // namespace wheelyard::builder
