#include "builder/steps/wheelhouse_step.hpp"

#include "builder/script/script.hpp"
#include "builder/script/separate_script.hpp"
#include "builder/script/wheelhouse.hpp"
#include "builder/sources/login_step.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::builder {

base::Status fill_wheelhouse(const Attempt& attempt, const Ports& ports, std::string script) {
    const AttemptFolder folder = ports.folder_of(attempt);
    LoginStep step{folder.root,
                   std::string(wheelhouse_step),
                   std::move(script),
                   job_environment(ports.environment),
                   "fetching what " + attempt.asked.cell + " installs",
                   ports.site.login_minutes * 60};
    step.follows_script = true;
    step.rules = ports.site.doctor_rules;
    step.checks = 1;  // it makes an environment and downloads packages: no tick is as patient
    return advance_login_step(step, ports.clock);
}

base::Status fill_separate_wheelhouse(const ScriptInput& input, const Ports& ports) {
    const AttemptFolder folder = ports.folder_of(input.attempt);
    WHEELYARD_TRY(base::replace_file(folder.fetch() / fetch_script, render_fetch_script(input)));
    WHEELYARD_TRY(base::replace_file(folder.fetch() / build_requires_file, render_build_requires(input)));
    WHEELYARD_TRY(base::replace_file(folder.inner() / ask_script, render_ask_script(input)));
    return fill_wheelhouse(input.attempt, ports, render_separate_wheelhouse(input));
}

}  // namespace wheelyard::builder
