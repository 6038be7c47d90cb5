// The steps that follow a published wheel: preparing its tests, and its promotion.
#include "builder/agent/advance.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/script/script.hpp"
#include "builder/sources/login_step.hpp"
#include "lib/base/file.hpp"

namespace wheelyard::builder {

base::Result<Advance::Step> Advance::prepare_test(Attempt& attempt, const JobView&) {
    WHEELYARD_ASSIGN(const std::filesystem::path python, python_of(attempt));
    const Recipe recipe = recipe_of(attempt);
    if (hardware_test_of(recipe, attempt.purpose).command.empty())
        return base::fail("test.gone", "The recipe no longer has this test", recipe.file.string());
    const AttemptFolder folder = folder_of(attempt);
    WHEELYARD_TRY(base::make_directories(folder.root));
    sweep_temporary_files(folder.root);
    const ScriptInput input{parts_.site, recipe, attempt, python, folder};
    WHEELYARD_TRY(base::replace_file(folder.pip_conf(), parts_.pip_conf, 0600));
    if (parts_.site.offline_jobs) {
        WHEELYARD_TRY(fill_wheelhouse(attempt, render_test_wheelhouse_script(input)));
    }
    WHEELYARD_TRY(base::replace_file(folder.script(), render_test_script(input), 0755));
    parts_.failpoints.hit("script.written");
    WHEELYARD_TRY(enter(attempt, State::prepared));
    return Step::moved;
}

// Idempotent: if asked again after a kill, the registry answers that the wheel is already promoted.
base::Result<Advance::Step> Advance::promote(Attempt& attempt, const JobView&) {
    const std::string& filename = attempt.source.filename;
    if (parts_.registry == nullptr || parts_.site.registry->promote_to.empty())
        return base::fail("promote.nowhere", "The site file no longer says where to promote wheels to",
                          filename);
    WHEELYARD_TRY(parts_.registry->promote(filename));
    WHEELYARD_ASSIGN(const auto page, parts_.registry->promoted_page(attempt.package));
    if (!page || simple::find_file(*page, filename) == nullptr)
        return base::fail_for_now("upload.not_visible",
                                  "The wheel is promoted, but its page does not show it yet", filename);
    note(attempt, "promoted to index `" + parts_.site.registry->promote_to + "`");
    WHEELYARD_TRY(finish(attempt));
    return Step::moved;
}

}  // namespace wheelyard::builder
