// planned ─► prepared, for a test of a published wheel: its script written.
#include "builder/attempt/temporary_files.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/script/script.hpp"
#include "builder/steps/steps.hpp"
#include "builder/steps/wheelhouse_step.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::builder {

base::Result<Next> prepare_test(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const std::filesystem::path python, ports.python_of(attempt));
    const Recipe recipe = ports.recipe_of(attempt);
    if (hardware_test_of(recipe, attempt.asked.purpose).command.empty())
        return base::fail("test.gone", "The recipe no longer has this test", recipe.file.string());
    const AttemptFolder folder = ports.folder_of(attempt);
    WHEELYARD_TRY(base::make_directories(folder.root));
    sweep_temporary_files(folder.root);
    ScriptInput input{ports.site, recipe, attempt, python, folder};
    input.indexes = ports.indexes_of(attempt, recipe);
    WHEELYARD_TRY(base::replace_file(folder.pip_conf(), ports.pip_conf, 0600));
    if (ports.site.offline_jobs)
        WHEELYARD_TRY(fill_wheelhouse(attempt, ports, render_test_wheelhouse_script(input)));
    WHEELYARD_TRY(base::replace_file(folder.script(), render_test_script(input), 0755));
    ports.failpoints.hit("script.written");
    return Move{State::prepared};
}

}  // namespace wheelyard::builder
