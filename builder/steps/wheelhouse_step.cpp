#include "builder/steps/wheelhouse_step.hpp"

#include "builder/script/script.hpp"
#include "builder/script/separate_script.hpp"
#include "builder/sources/login_step.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {

base::Status fill_wheelhouse(const Attempt& attempt, const Ports& ports, std::string script) {
    const AttemptFolder folder = ports.folder_of(attempt);
    if (folder.separate) {
        WHEELYARD_TRY(base::replace_file(folder.inner() / fetch_script, "set -eu -o pipefail\n" + script));
        script = "folder=" + base::quote_shell(folder.root.string()) + "\n" +
                 render_namespace(ports.site, Network::shared, fetch_script);
    }
    LoginStep step{folder.root,
                   std::string(wheelhouse_step),
                   std::move(script),
                   job_environment(ports.environment),
                   "fetching what " + attempt.asked.cell + " installs",
                   ports.site.login_minutes * 60};
    step.follows_script = true;
    step.looks = 1;  // it makes an environment and downloads packages: no tick is as patient
    return advance_login_step(step, ports.clock);
}

}  // namespace wheelyard::builder
