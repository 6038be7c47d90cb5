// What holds pip to an index's own wheels: for the Pythons and machines that it has wheels for, and no others.
#include "lib/simple/wheel_list.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;

namespace {

struct Wheels {
    std::string key;
    std::vector<std::string>
        names;  // newest first, as the wheel list has them; one that begins with `!` is yanked
};

std::string constraints_of(const std::vector<Wheels>& all) {
    const base::TempDir folder = *base::TempDir::make("constraints");
    std::vector<simple::WheelListProject> projects;
    for (const Wheels& wheels : all) {
        simple::WheelListProject project;
        project.key = wheels.key;
        project.wheels = wheels.names.size();
        for (const std::string& name : wheels.names) {
            simple::ProjectFile wheel;
            wheel.yanked = name.starts_with('!');
            wheel.filename = name.substr(wheel.yanked ? 1 : 0);
            simple::append_wheel_list_line(project.lines, wheel);
            project.facts += "\n";
        }
        projects.push_back(std::move(project));
    }
    REQUIRE(base::replace_file(folder.path() / simple::wheel_list_name,
                               simple::render_wheel_list({.serial = 1}, projects)));
    const auto opened = simple::WheelList::open(folder.path());
    REQUIRE(opened.has_value());
    return simple::render_constraints(*opened).value();
}

}  // namespace

TEST_CASE("a project for every node is held to its newest version that is not yanked") {
    CHECK(constraints_of(
              {{"six", {"!six-1.17-py3-none-any.whl", "six-1.16-py2.py3-none-any.whl"}},
               {"yard_torch",
                {"yard_torch-2.10.0+cu128-py3-none-any.whl", "yard_torch-2.9.0-py3-none-any.whl"}}}) ==
          "six==1.16\nyard-torch==2.10.0+cu128\n");
    CHECK(constraints_of({{"six", {"!six-1.17-py3-none-any.whl"}}}).empty());
}

TEST_CASE("wheels for some Pythons and machines hold those alone") {
    CHECK(constraints_of(
              {{"torch",
                {"torch-2.10.0-cp313-cp313-linux_aarch64.whl", "torch-2.9.0-cp312-cp312-linux_aarch64.whl",
                 "torch-2.8.0-cp312-cp312-linux_aarch64.whl"}}}) ==
          "torch==2.9.0 ; python_version == \"3.12\" and platform_machine == \"aarch64\"\n"
          "torch==2.10.0 ; python_version == \"3.13\" and platform_machine == \"aarch64\"\n");
    // The Stable ABI fits each newer Python, so the Python is no condition.
    CHECK(constraints_of({{"yard", {"yard-3.0-cp39-abi3-manylinux_2_28_x86_64.whl"}}}) ==
          "yard==3.0 ; platform_machine == \"x86_64\"\n");
    // An older pure wheel is for those that the newer one does not fit.
    CHECK(
        constraints_of({{"yard", {"yard-3.0-cp312-cp312-linux_x86_64.whl", "yard-2.0-py3-none-any.whl"}}}) ==
        "yard==3.0 ; python_version == \"3.12\" and platform_machine == \"x86_64\"\n"
        "yard==2.0 ; (python_version != \"3.12\" or platform_machine != \"x86_64\")\n");
}
