// A C++ program that uses the installed torch. Torch's own CMake files (torch.utils.cmake_prefix_path)
// provide the flags, including the ABI of std::string that it was built with.
#include "builder/site/script_setup.hpp"
#include "builder/users/user_files_parts.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder::user_files {
namespace templates {  // templates/NAME

extern const std::string_view libtorch;
extern const std::string_view libtorch_build;
extern const std::string_view libtorch_build_end;
extern const std::string_view libtorch_example;

}  // namespace templates

std::string render_cmake_lists(const Input& input) {
    return fill(templates::libtorch, input);
}

std::string render_example(const Input& input) {
    return fill(templates::libtorch_example, input);
}

std::string render_build(const Input& input) {
    std::string options;
    const Placeholders values = placeholders_of({input.site, "", "", input.accelerator.name});
    for (const auto& option : input.users.libtorch_options)
        options += " \\\n    " + quote_expanding(fill_placeholders(option, values));
    const std::string end =
        base::replace_all(fill(templates::libtorch_build_end, input), "{{options}}", options);
    return fill(templates::libtorch_build, input) + render_enter(input) + end;
}

}  // namespace wheelyard::builder::user_files
