// Tests on machines that the build does not need, a GPU or several nodes, of the wheel that the index offers:
// one job for each, with its own size and queue. A recipe says what runs (`[test.gpu]`, `[test.multi_node]`),
// a site whether and where (`[hardware_tests]`). Pure; golden-tested.
#pragma once

#include <string>

#include "builder/schedule/scheduler.hpp"
#include "builder/script/script.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// `purpose`: a test.
[[nodiscard]] const HardwareTest& hardware_test_of(const Recipe& recipe, Purpose purpose);

// Whether the recipe has such a test, and the site runs it for this accelerator of its own (empty: the wheel
// is the same for all of them): what asks for GPUs is not run for one without.
[[nodiscard]] bool is_run_here(const HardwareTest& test, Purpose purpose, const Site& site,
                               const std::string& accelerator);

struct TestJob {
    int nodes = 1;
    int ranks_per_node = 1;
    int cores = 1;  // of each rank
    QueueSettings queue;
};
// The queue is that of the site's `[hardware_tests]`, else of the node type that has the accelerator, else
// that of builds.
[[nodiscard]] TestJob size_test_job(const HardwareTest& test, Purpose purpose, const Site& site,
                                    const std::string& accelerator);

//     claim ─► modules ─► conda ─► venv ─► install (that very wheel, by its digest) ─► test ─► exit record
[[nodiscard]] std::string render_test_script(const ScriptInput& input);

// For jobs that reach no index: the wheel and all it needs.
[[nodiscard]] std::string render_test_wheelhouse_script(const ScriptInput& input);

}  // namespace wheelyard::builder
