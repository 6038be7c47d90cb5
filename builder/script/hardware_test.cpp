// Sizes and scripts of hardware tests.
#include "builder/script/hardware_test.hpp"

#include <algorithm>

#include "builder/script/script_frame.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

extern const std::string_view install_tested;

}  // namespace templates

namespace {

using base::quote_shell;

const std::optional<QueueSettings>& settings_of(const Site& site, Purpose purpose) {
    return purpose == Purpose::gpu_test ? site.hardware_tests.gpu : site.hardware_tests.multi_node;
}

// A direct reference (PEP 508), so that pip cannot pick another wheel; pip checks the digest.
std::string wheel_reference(const Attempt& attempt) {
    return attempt.asked.package + " @ " + attempt.source.origin + "#sha256=" + attempt.source.sha256;
}

}  // namespace

const HardwareTest& hardware_test_of(const Recipe& recipe, Purpose purpose) {
    return purpose == Purpose::gpu_test ? recipe.gpu_test : recipe.multi_node_test;
}

bool is_run_here(const HardwareTest& test, Purpose purpose, const Site& site,
                 const std::string& accelerator) {
    if (test.command.empty() || !settings_of(site, purpose)) return false;
    const Accelerator* there = site.accelerator(accelerator);
    return test.gpus_per_node == 0 || there == nullptr || there->kind != "cpu";
}

std::vector<std::string> tests_not_run(const Recipe& recipe, const Site& site,
                                       const std::string& accelerator) {
    std::vector<std::string> tests;
    if (!recipe.own_tests.files.empty() && !recipe.runs_own_tests())
        tests.emplace_back("the source's own tests: an upstream's wheel comes without its source");
    for (const Purpose purpose : {Purpose::gpu_test, Purpose::multi_node_test}) {
        const HardwareTest& test = hardware_test_of(recipe, purpose);
        if (test.command.empty() || is_run_here(test, purpose, site, accelerator)) continue;
        tests.push_back(std::string(purpose_text(purpose)) + ": " +
                        (settings_of(site, purpose)
                             ? "`" + accelerator + "` has no GPU"
                             : std::string("[hardware_tests.") +
                                   (purpose == Purpose::gpu_test ? "gpu" : "multi_node") +
                                   "] is not in the site file"));
    }
    return tests;
}

const NodeType* node_of_test(const Site& site, Purpose purpose, const std::string& accelerator) {
    const std::string own = settings_of(site, purpose).value_or(QueueSettings()).queue;
    const auto first = [&](const auto& fits) {
        const auto found = std::find_if(site.nodes.begin(), site.nodes.end(), fits);
        return found == site.nodes.end() ? nullptr : &*found;
    };
    const auto has_it = [&](const NodeType& node) {
        return !accelerator.empty() && node.accelerator == accelerator;
    };
    const auto is_own = [&](const NodeType& node) { return !own.empty() && node.queue == own; };
    if (const auto* node = first([&](const NodeType& one) { return has_it(one) && is_own(one); }))
        return node;
    if (const auto* node = first(has_it)) return node;
    return own.empty() || own == site.queue.queue ? site.build_node_type() : first(is_own);
}

TestJob size_test_job(const HardwareTest& test, Purpose purpose, const Site& site,
                      const std::string& accelerator) {
    TestJob job{test.nodes, test.ranks_per_node, 1, settings_of(site, purpose).value_or(QueueSettings())};
    job.queue.gpus = test.gpus_per_node;
    const NodeType* node = node_of_test(site, purpose, accelerator);
    if (node != nullptr) send_to(job.queue, *node);
    if (job.queue.queue.empty()) job.queue.queue = site.queue.queue;
    if (job.queue.account.empty()) job.queue.account = site.queue.account;
    // A queue of GPU nodes may refuse jobs without a GPU: one that needs none asks for those of a build.
    if (job.queue.gpus == 0 && job.queue.queue == site.queue.queue) job.queue.gpus = site.queue.gpus;
    int cores = node != nullptr && node->cores > 0 ? node->cores : site.cores;
    if (accelerator.empty()) cores = std::min(cores, site.cores);  // its share is a build's, not the node
    job.cores = std::max(1, std::min(site.cores, cores / test.ranks_per_node));
    return job;
}

std::string queue_of_job(const Site& site, const Recipe& recipe, Purpose purpose,
                         const std::string& accelerator) {
    if (!is_test(purpose)) return site.queue.queue;
    return size_test_job(hardware_test_of(recipe, purpose), purpose, site, accelerator).queue.queue;
}

std::string render_test_script(const ScriptInput& input) {
    const HardwareTest& test = hardware_test_of(input.recipe, input.attempt.asked.purpose);
    const Accelerator* accelerator = input.site.accelerator(input.attempt.asked.accelerator);
    Placeholders values =
        placeholders_of({input.site, input.attempt.asked.version, input.attempt.asked.against,
                         input.attempt.asked.accelerator, input.recipe.promises});
    values.emplace_back("launcher", render_launcher(input.site, test.nodes, test.ranks_per_node));
    Fields fields = frame_fields(input);
    const std::string pinned = input.attempt.asked.package + "==" + input.attempt.asked.version;
    fields.emplace_back("wheel",
                        quote_shell(input.site.offline_jobs ? pinned : wheel_reference(input.attempt)) +
                            render_test_requires(input));
    std::string text = render_frame(input, fields);
    text += render_setup(input.site, input.site.python(input.attempt.asked.python), accelerator, "begin");
    text += render_exports(exports_of_job(input.site, accelerator, Environment(), values));
    text += fill(templates::install_tested, fields);
    text += fill_placeholders(base::trim(test.command), values) + "\n";
    return text + "begin done\n";
}

std::string render_test_wheelhouse_script(const ScriptInput& input) {
    return render_wheelhouse_frame(input, frame_fields(input)) + "pip_wheel " +
           quote_shell(wheel_reference(input.attempt)) + render_test_requires(input) +
           "\nrm -rf \"$folder/asking\"\n";
}

}  // namespace wheelyard::builder
