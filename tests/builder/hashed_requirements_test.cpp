// Requirements files with hashes: which they are, and how they are installed with and without a network.
#include "builder/hashed_requirements.hpp"

#include <doctest/doctest.h>

#include "builder/wheelhouse.hpp"
#include "tests/builder/demo_build.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a file names hashes where pip would check them, and not in a comment") {
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

TEST_CASE("what a file includes is known however pip lets it be written") {
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

TEST_CASE("the files with hashes are told from the others, also where an included one has them") {
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

TEST_CASE("a file that is not there is told before any job begins, and so is one too many") {
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

TEST_CASE("a file with hashes is installed by itself: pip would want one of everything beside it") {
    const Build build;
    check_order(render_script(build.input()),
                {"begin requirements\n", "pip_install --requirement 'locked file.txt'\n",
                 "pip_install flit_core --requirement plain.txt\n"});
}

TEST_CASE(
    "without a network its wheels are installed by hashes of their own, and the provenance names them") {
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
