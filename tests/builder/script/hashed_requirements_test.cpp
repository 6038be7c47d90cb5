// Requirements files with hashes: how they are recognised, and installed with and without a network.
#include "builder/script/script_frame.hpp"

#include <doctest/doctest.h>

#include "builder/script/wheelhouse.hpp"
#include "tests/builder/demo_build.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

TEST_CASE("names_hashes finds hashes where pip checks them, and not in comments") {
    struct Row {
        const char* text;
        bool names;
    };
    for (const Row row :
         {Row{"ninja==1.11 --hash=sha256:ab\n", true}, Row{"ninja==1.11 \\\n    --hash=sha256:ab\n", true},
          Row{"--require-hashes\nninja==1.11\n", true}, Row{"ninja==1.11 --hash sha256:ab", true},
          Row{"ninja==1.11\n", false}, Row{"# pip hash: --hash=sha256:ab\nninja\n", false},
          Row{"ninja # --hash=sha256:ab\n", false}, Row{"", false}}) {
        CAPTURE(row.text);
        CHECK(names_hashes(row.text) == row.names);
    }
}

TEST_CASE("included_files understands every notation that pip accepts") {
    CHECK(included_files(
              "-r a.txt\n--requirement=b/c.txt\n -c d.txt # why\n--constraint e.txt\n-rf.txt\nninja\n"
              "# -r g.txt\n-r\n") == std::vector<std::string>{"a.txt", "b/c.txt", "d.txt", "e.txt", "f.txt"});
}

struct Project {
    base::TempDir folder = *base::TempDir::make("project");
    Recipe recipe = default_recipe("demo");
    void write(const std::string& name, const std::string& text) const {
        testing::write(folder.path() / name, text);
    }
    [[nodiscard]] auto hashed() const { return find_hashed_files(recipe, folder.path()); }
};

TEST_CASE("find_hashed_files also finds files that include one with hashes") {
    Project project;
    project.recipe.requirements_files = {"plain.txt", "locked.txt", "ci/all.txt"};
    project.write("plain.txt", "ninja\n-r plain.txt\n-r https://example.org/no.txt\n");
    project.write("locked.txt", "ninja==1.11 --hash=sha256:ab\n");
    project.write("ci/all.txt", "-c pins.txt\n");
    project.write("ci/pins.txt", "-r ../locked.txt\n");
    const auto hashed = project.hashed();
    REQUIRE_MESSAGE(hashed.has_value(), hashed.error().text());
    CHECK(*hashed == std::vector<std::string>{"locked.txt", "ci/all.txt"});
}

TEST_CASE("a missing file and too many included files are errors before any job starts") {
    Project project;
    project.recipe.requirements_files = {"gone.txt"};
    CHECK(project.hashed().error().code == "source.requirements");
    CHECK(project.hashed().error().value.ends_with("gone.txt"));

    std::string includes;
    for (std::size_t i = 0; i <= max_requirements_files; ++i) {
        project.write(std::to_string(i) + ".txt", "ninja\n");
        includes += "-r " + std::to_string(i) + ".txt\n";
    }
    project.write("gone.txt", includes);
    CHECK(project.hashed().error().code == "source.requirements");
}

struct Build : DemoBuild {
    Build() { recipe.requirements_files = {"plain.txt", "locked file.txt"}; }
    [[nodiscard]] ScriptInput input() const {
        ScriptInput input = DemoBuild::input();
        input.hashed_files = {"locked file.txt"};
        return input;
    }
};

TEST_CASE("a file with hashes is installed by its own command") {
    const Build build;
    check_order(render_script(build.input()),
                {"begin requirements\n", "pip_install --requirement 'locked file.txt'\n",
                 "pip_install flit_core --requirement plain.txt\n"});
}

TEST_CASE("an offline job installs the wheels by their own hashes, and the provenance names them") {
    Build build;
    build.site.offline_jobs = true;
    const std::string script = render_script(build.input());
    check_order(script, {"begin requirements\n", "checked.txt\" >> \"$folder/built_by\"\n",
                         "--require-hashes", "pip_install flit_core --requirement plain.txt\n"});
    CHECK(script.find("locked file.txt") == std::string::npos);
    check_order(
        render_wheelhouse_script(build.input()),
        {"pip_wheel --wheel-dir \"$folder/checked\" --requirement 'locked file.txt'\n",
         "pip_wheel flit_core --requirement plain.txt\n", "--require-hashes --requirement checked.txt",
         "pip_install flit_core --requirement plain.txt\n", "get_requires_for_build_wheel"});
}

}  // namespace
}  // namespace wheelyard::builder
