#include "builder/steps/wheelhouse_step.hpp"

#include "builder/script/script.hpp"
#include "builder/sources/login_step.hpp"

namespace wheelyard::builder {

base::Status fill_wheelhouse(const Attempt& attempt, const Ports& ports, std::string script) {
    LoginStep step{ports.folder_of(attempt).root,
                   std::string(wheelhouse_step),
                   std::move(script),
                   job_environment(ports.environment),
                   "fetching what " + attempt.asked.cell + " installs",
                   ports.site.login_minutes * 60};
    step.looks = 1;  // it makes an environment and downloads packages: no tick is as patient
    return advance_login_step(step, ports.clock);
}

}  // namespace wheelyard::builder
