// Tests of a wheel from the index on machines that the build does not need: with a GPU, or on several nodes.
// Each test is a job with its own size and queue. The recipe says what runs (`[test.gpu]`,
// `[test.multi_node]`), the site whether and where (`[hardware_tests]`). Pure; golden-tested.
#pragma once

#include <string>
#include <vector>

#include "builder/schedule/scheduler.hpp"
#include "builder/script/script.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// Precondition: `purpose` is a test.
[[nodiscard]] const HardwareTest& hardware_test_of(const Recipe& recipe, Purpose purpose);

// Says whether the recipe has this test and the site runs it for the accelerator of this name (empty: the
// wheel is the same for all accelerators). A test that needs GPUs does not run for a cpu accelerator.
[[nodiscard]] bool is_run_here(const HardwareTest& test, Purpose purpose, const Site& site,
                               const std::string& accelerator);

// The recipe's tests that this site does not run for this accelerator, each with the reason:
// "gpu-test: [hardware_tests.gpu] is not in the site file".
[[nodiscard]] std::vector<std::string> tests_not_run(const Recipe& recipe, const Site& site,
                                                     const std::string& accelerator);

struct TestJob {
    int nodes = 1;
    int ranks_per_node = 1;
    int cores = 1;  // per rank
    QueueSettings queue;
};
// The node type whose rules hold for the job of a test: the one with this accelerator, of several the one of
// the queue in `[hardware_tests]`; else that of this queue; without a queue of its own that of builds. Null:
// none.
[[nodiscard]] const NodeType* node_of_test(const Site& site, Purpose purpose, const std::string& accelerator);

// The queue comes from the site's `[hardware_tests]`, else from the node type, else from the builds'
// `[scheduler]`. In the queue of builds a test without GPUs asks for those of a build.
[[nodiscard]] TestJob size_test_job(const HardwareTest& test, Purpose purpose, const Site& site,
                                    const std::string& accelerator);

// The queue of the job of a build or a test; empty: the batch system's default.
[[nodiscard]] std::string queue_of_job(const Site& site, const Recipe& recipe, Purpose purpose,
                                       const std::string& accelerator);

//     claim ─► modules ─► conda ─► venv ─► install (the wheel, by its digest) ─► test ─► exit record
[[nodiscard]] std::string render_test_script(const ScriptInput& input);

// Runs on the login node for a job without network access: fetches the wheel and its requirements.
[[nodiscard]] std::string render_test_wheelhouse_script(const ScriptInput& input);

}  // namespace wheelyard::builder
