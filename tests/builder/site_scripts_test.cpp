// The sites in this repository: each is valid, its scripts and jobs match the golden files, and bash accepts them.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "builder/plan/plan.hpp"
#include "builder/plan/request.hpp"
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/slurm/slurm.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/script/job_inputs.hpp"
#include "builder/script/script.hpp"
#include "builder/script/wheelhouse.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/site_check/site_check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

fs::path configs() {
    return fs::path(WHEELYARD_TEST_DATA) / "../site-configs";
}

struct Known {
    Site site;
    Recipes recipes;
};

Known read_known(const std::string& name, const std::string& stack = {}) {
    auto site = read_site(configs() / name / "site.toml", stack);
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    auto recipes = read_recipes(*site);
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    return {*site, *recipes};
}

struct Script {
    const char* site;
    const char* golden;
    const char* package;
    const char* version;  // with its label
    const char* accelerator;
    const char* against = "";
};
const Script scripts[] = {
    {"debian12", "debian12", "markupsafe", "3.0.2", ""},
    {"debian12-slurm", "debian12-slurm", "torch", "1.13.1+debian12", "cpu"},
    {"debian12-slurm", "debian12-slurm-horovod", "horovod", "0.28.1+debian12", "cpu",
     "torch==1.13.1+debian12"},
    {"debian13", "debian13", "torch", "2.6.0+debian13", "cpu"},
    {"debian13", "debian13-torchvision", "torchvision", "0.21.0+debian13", "cpu", "torch==2.6.0+debian13"},
    {"bede-gh200", "bede-gh200", "torch", "2.4.0+cu123.gh200", "gh200"},
    {"bede-gh200", "bede-gh200-torchvision", "torchvision", "0.19.0+cu123.gh200", "gh200",
     "torch==2.4.0+cu123.gh200"},
    {"bede-gh200", "bede-gh200-torchaudio", "torchaudio", "2.4.0+cu123.gh200", "gh200",
     "torch==2.4.0+cu123.gh200"},
    {"bede-gh200", "bede-gh200-mpi4py", "mpi4py", "4.0.1+gh200", ""},
    {"archer2", "archer2", "torch", "1.13.1+archer2", "zen2"},
    {"archer2", "archer2-mpi4py", "mpi4py", "4.0.1+archer2", ""},
    {"archer2", "archer2-horovod", "horovod", "0.28.1+archer2", "zen2", "torch==1.13.1+archer2"},
    {"archer2", "archer2-torchvision", "torchvision", "0.14.1+archer2", "zen2", "torch==1.13.1+archer2"},
    {"archer2", "archer2-torchaudio", "torchaudio", "0.13.1+archer2", "zen2", "torch==1.13.1+archer2"},
    {"archer2", "archer2-torchtext", "torchtext", "0.14.1+archer2", "zen2", "torch==1.13.1+archer2"},
    {"archer2", "archer2-torchmetrics", "torchmetrics", "1.0.3", "", "torch==1.13.1+archer2"},
    {"derecho", "derecho", "torch", "2.4.0+cu122.a100", "a100"},
    {"derecho", "derecho-cudnn8", "torch", "2.3.1+cu122.cudnn8.a100", "a100-cudnn8"},
    {"derecho", "derecho-torchvision", "torchvision", "0.19.0+cu122.a100", "a100", "torch==2.4.0+cu122.a100"},
    {"derecho", "derecho-torchaudio", "torchaudio", "2.4.0+cu122.a100", "a100", "torch==2.4.0+cu122.a100"},
    {"derecho", "derecho-cudnn8-torchvision", "torchvision", "0.18.1+cu122.cudnn8.a100", "a100-cudnn8",
     "torch==2.3.1+cu122.cudnn8.a100"},
    {"derecho", "derecho-cudnn8-torchaudio", "torchaudio", "2.3.1+cu122.cudnn8.a100", "a100-cudnn8",
     "torch==2.3.1+cu122.cudnn8.a100"},
    {"derecho", "derecho-mpi4py", "mpi4py", "4.0.1+cu122.a100", "a100"},
    {"alliance", "alliance", "torch", "2.4.0+computecanada", "cuda"},
    {"alliance", "alliance-torchvision", "torchvision", "0.19.0+computecanada", "cuda",
     "torch==2.4.0+computecanada"},
    {"alliance", "alliance-torchaudio", "torchaudio", "2.4.0+computecanada", "cuda",
     "torch==2.4.0+computecanada"},
    {"alliance", "alliance-cudnn8", "torch", "2.3.0+computecanada.cudnn8", "cuda-cudnn8"},
    {"alliance", "alliance-cudnn8-torchvision", "torchvision", "0.18.0+computecanada.cudnn8", "cuda-cudnn8",
     "torch==2.3.0+computecanada.cudnn8"},
    {"alliance", "alliance-cudnn8-torchaudio", "torchaudio", "2.3.0+computecanada.cudnn8", "cuda-cudnn8",
     "torch==2.3.0+computecanada.cudnn8"},
    {"alliance", "alliance-cudnn8-torchtext", "torchtext", "0.18.0+computecanada.cudnn8", "cuda-cudnn8",
     "torch==2.3.0+computecanada.cudnn8"},
    {"frontier", "frontier", "torch", "2.2.2+rocm5.7", "mi250x"},
    {"frontier", "frontier-source", "torch", "2.0.1+rocm57.gfx90a", "mi250x"},
    {"frontier", "frontier-pytorch-triton-rocm", "pytorch-triton-rocm", "2.2.0", "mi250x",
     "torch==2.2.2+rocm5.7"},
    {"frontier", "frontier-torchvision", "torchvision", "0.17.2+rocm5.7", "mi250x", "torch==2.2.2+rocm5.7"},
    {"frontier", "frontier-torchaudio", "torchaudio", "2.2.2+rocm5.7", "mi250x", "torch==2.2.2+rocm5.7"},
    {"frontier", "frontier-source-torchvision", "torchvision", "0.15.2+rocm57.gfx90a", "mi250x",
     "torch==2.0.1+rocm57.gfx90a"},
    {"frontier", "frontier-source-torchaudio", "torchaudio", "2.0.2+rocm57.gfx90a", "mi250x",
     "torch==2.0.1+rocm57.gfx90a"},
    {"frontier", "frontier-mpi4py", "mpi4py", "4.0.1+frontier", ""},
    {"aurora", "aurora", "torch", "2.10.0+xpu", "pvc"},
    {"aurora", "aurora-triton-xpu", "triton-xpu", "3.6.0", "pvc", "torch==2.10.0+xpu"},
    {"aurora", "aurora-torchvision", "torchvision", "0.25.0+xpu", "pvc", "torch==2.10.0+xpu"},
    {"aurora", "aurora-torchaudio", "torchaudio", "2.10.0+xpu", "pvc", "torch==2.10.0+xpu"},
    {"aurora", "aurora-mpi4py", "mpi4py", "4.0.1+aurora", ""},
    {"lumi", "lumi", "torch", "2.7.1+rocm6.3", "mi250x"},
    {"lumi", "lumi-pytorch-triton-rocm", "pytorch-triton-rocm", "3.3.1", "mi250x", "torch==2.7.1+rocm6.3"},
    {"lumi", "lumi-torchvision", "torchvision", "0.22.1+rocm6.3", "mi250x", "torch==2.7.1+rocm6.3"},
    {"lumi", "lumi-torchaudio", "torchaudio", "2.7.1+rocm6.3", "mi250x", "torch==2.7.1+rocm6.3"},
    {"lumi", "lumi-mpi4py", "mpi4py", "4.0.1+lumi", ""},
    {"isambard-ai", "isambard-ai", "torch", "2.9.1+cu126", "gh200"},
    {"isambard-ai", "isambard-ai-torchvision", "torchvision", "0.24.1+cu126.gh200", "gh200",
     "torch==2.9.1+cu126"},
    {"isambard-ai", "isambard-ai-mpi4py", "mpi4py", "4.0.1+isambard", ""},
    {"perlmutter", "perlmutter", "torch", "2.9.1+cu128", "a100"},
    {"perlmutter", "perlmutter-torchvision", "torchvision", "0.24.1+cu128", "a100", "torch==2.9.1+cu128"},
    {"perlmutter", "perlmutter-mpi4py", "mpi4py", "4.0.1+perlmutter", ""},
    {"setonix", "setonix", "torch", "2.7.1+rocm6.3", "mi250x"},
    {"setonix", "setonix-pytorch-triton-rocm", "pytorch-triton-rocm", "3.3.1", "mi250x",
     "torch==2.7.1+rocm6.3"},
    {"setonix", "setonix-torchvision", "torchvision", "0.22.1+rocm6.3", "mi250x", "torch==2.7.1+rocm6.3"},
    {"setonix", "setonix-torchaudio", "torchaudio", "2.7.1+rocm6.3", "mi250x", "torch==2.7.1+rocm6.3"},
    {"setonix", "setonix-mpi4py", "mpi4py", "4.0.1+setonix", ""},
    {"jupiter", "jupiter", "torch", "2.9.1+cu126", "gh200"},
    {"jupiter", "jupiter-torchvision", "torchvision", "0.24.1+cu126.gh200", "gh200", "torch==2.9.1+cu126"},
    {"jupiter", "jupiter-mpi4py", "mpi4py", "4.0.1+jupiter", ""},
    {"marenostrum5", "marenostrum5", "torch", "2.9.1+cu126", "h100"},
    {"marenostrum5", "marenostrum5-torchvision", "torchvision", "0.24.1+cu126", "h100", "torch==2.9.1+cu126"},
    {"marenostrum5", "marenostrum5-mpi4py", "mpi4py", "4.0.1+mn5", ""},
    {"deucalion", "deucalion", "torch", "2.9.1+a64fx", "a64fx"},
    {"deucalion", "deucalion-mpi4py", "mpi4py", "4.0.1+a64fx", ""},
    {"polaris", "polaris", "torch", "2.10.0+cu128", "a100"},
    {"polaris", "polaris-torchvision", "torchvision", "0.25.0+cu128", "a100", "torch==2.10.0+cu128"},
    {"polaris", "polaris-mpi4py", "mpi4py", "4.0.1+polaris", ""},
    {"dardel", "dardel", "torch", "2.7.1+rocm6.3", "mi250x"},
    {"dardel", "dardel-pytorch-triton-rocm", "pytorch-triton-rocm", "3.3.1", "mi250x",
     "torch==2.7.1+rocm6.3"},
    {"dardel", "dardel-torchvision", "torchvision", "0.22.1+rocm6.3", "mi250x", "torch==2.7.1+rocm6.3"},
    {"dardel", "dardel-torchaudio", "torchaudio", "2.7.1+rocm6.3", "mi250x", "torch==2.7.1+rocm6.3"},
    {"dardel", "dardel-mpi4py", "mpi4py", "4.0.1+dardel", ""},
};

// Those with users: all but the examples.
const char* const known_sites[] = {"bede-gh200", "archer2",      "derecho",     "alliance",   "frontier",
                                   "aurora",     "lumi",         "isambard-ai", "perlmutter", "setonix",
                                   "jupiter",    "marenostrum5", "deucalion",   "polaris",    "dardel"};

Attempt attempt_of(const Script& script, const Site& site) {
    Attempt attempt;
    attempt.id = "w1ng012h6crvmar";
    attempt.asked.package = script.package;
    attempt.asked.version = script.version;
    attempt.asked.python = site.pythons.front().version;
    attempt.asked.accelerator = script.accelerator;
    attempt.asked.against = script.against;
    attempt.asked.cell =
        cell_name(script.package, script.version, "cp" + base::replace_all(attempt.asked.python, ".", ""));
    attempt.job.memory_mib = site.memory_mib;
    attempt.job.max_walltime_minutes = site.minutes;
    attempt.source.folder = script.package;
    attempt.source.back_end = "setuptools.build_meta";
    attempt.source.build_requires = {"setuptools"};
    return attempt;
}

void check_bash(const std::string& text) {
    base::Command command;
    command.argv = {"/bin/bash", "-n", "-c", text};
    const auto checked = base::run_command(command);
    REQUIRE(checked.has_value());
    CHECK_MESSAGE(checked->exit_code == 0, checked->err);
}

std::string checked_script(const Known& known, const Script& script) {
    const Attempt attempt = attempt_of(script, known.site);
    const Recipe recipe =
        recipe_for(known.site, known.recipes, script.package, script.version, script.accelerator);
    const std::string python = known.site.pythons.front().executable;
    const Site sized = sized_for(known.site, recipe);
    ScriptInput input{sized, recipe, attempt, python, {"/work/attempts/w1ng012h6crvmar"}, {}};
    input.indexes = upstream_indexes(known.site, known.recipes, recipe, script.against, script.accelerator);
    const std::string text = render_script(input);
    check_bash(text);
    check_bash(render_wheelhouse_script(input));
    // No script contains a variable that could hold a secret.
    for (const char* word : {"token", "TWINE", "AWS_", "PASSWORD"})
        CHECK_MESSAGE(text.find(word) == std::string::npos, word);
    return text;
}

// The scripts that are kept as differences, each with the one it differs from: the site's torch, or the same package
// elsewhere.
const std::map<std::string, std::string> differs_from = {
    {"archer2", "alliance"},
    {"aurora", "setonix"},
    {"bede-gh200", "alliance"},
    {"dardel", "setonix"},
    {"debian12-slurm", "alliance"},
    {"debian13", "alliance"},
    {"derecho", "alliance"},
    {"deucalion", "alliance"},
    {"frontier", "setonix"},
    {"isambard-ai", "setonix"},
    {"jupiter", "setonix"},
    {"lumi", "setonix"},
    {"marenostrum5", "setonix"},
    {"perlmutter", "setonix"},
    {"polaris", "aurora"},
    {"debian12-slurm-horovod", "archer2-horovod"},
    {"debian13-torchvision", "alliance-torchvision"},
    {"bede-gh200-torchvision", "bede-gh200"},
    {"bede-gh200-torchaudio", "bede-gh200-torchvision"},
    {"bede-gh200-mpi4py", "archer2-mpi4py"},
    {"archer2-mpi4py", "archer2"},
    {"archer2-horovod", "archer2-mpi4py"},
    {"archer2-torchvision", "archer2"},
    {"archer2-torchaudio", "archer2-torchvision"},
    {"archer2-torchtext", "archer2-torchvision"},
    {"archer2-torchmetrics", "archer2-torchtext"},
    {"derecho-cudnn8", "derecho"},
    {"derecho-torchvision", "derecho"},
    {"derecho-torchaudio", "derecho-torchvision"},
    {"derecho-cudnn8-torchvision", "derecho-torchvision"},
    {"derecho-cudnn8-torchaudio", "derecho-torchaudio"},
    {"derecho-mpi4py", "aurora-mpi4py"},
    {"alliance-torchvision", "alliance"},
    {"alliance-torchaudio", "alliance-torchvision"},
    {"alliance-cudnn8", "alliance"},
    {"alliance-cudnn8-torchvision", "alliance-torchvision"},
    {"alliance-cudnn8-torchaudio", "alliance-torchaudio"},
    {"alliance-cudnn8-torchtext", "alliance-cudnn8-torchaudio"},
    {"frontier-source", "frontier"},
    {"frontier-pytorch-triton-rocm", "frontier"},
    {"frontier-torchvision", "frontier-pytorch-triton-rocm"},
    {"frontier-torchaudio", "frontier-pytorch-triton-rocm"},
    {"frontier-source-torchvision", "frontier-source"},
    {"frontier-source-torchaudio", "frontier-source-torchvision"},
    {"frontier-mpi4py", "archer2-mpi4py"},
    {"aurora-triton-xpu", "aurora"},
    {"aurora-torchvision", "aurora-triton-xpu"},
    {"aurora-torchaudio", "aurora-triton-xpu"},
    {"aurora-mpi4py", "isambard-ai-mpi4py"},
    {"lumi-pytorch-triton-rocm", "lumi"},
    {"lumi-torchvision", "lumi-pytorch-triton-rocm"},
    {"lumi-torchaudio", "lumi-pytorch-triton-rocm"},
    {"lumi-mpi4py", "isambard-ai-mpi4py"},
    {"isambard-ai-torchvision", "bede-gh200-torchvision"},
    {"isambard-ai-mpi4py", "archer2-mpi4py"},
    {"deucalion-mpi4py", "archer2-mpi4py"},
    {"jupiter-mpi4py", "archer2-mpi4py"},
    {"jupiter-torchvision", "isambard-ai-torchvision"},
    {"marenostrum5-mpi4py", "jupiter-mpi4py"},
    {"marenostrum5-torchvision", "marenostrum5"},
    {"perlmutter-mpi4py", "isambard-ai-mpi4py"},
    {"perlmutter-torchvision", "perlmutter"},
    {"setonix-mpi4py", "lumi-mpi4py"},
    {"setonix-pytorch-triton-rocm", "lumi-pytorch-triton-rocm"},
    {"setonix-torchaudio", "setonix-pytorch-triton-rocm"},
    {"setonix-torchvision", "setonix-pytorch-triton-rocm"},
    {"polaris-mpi4py", "aurora-mpi4py"},
    {"polaris-torchvision", "aurora-torchvision"},
    {"dardel-mpi4py", "setonix-mpi4py"},
    {"dardel-pytorch-triton-rocm", "setonix-pytorch-triton-rocm"},
    {"dardel-torchaudio", "setonix-torchaudio"},
    {"dardel-torchvision", "setonix-torchvision"},
    // Tests on hardware.
    {"tests/alliance.multi-node-test", "tests/alliance.gpu-test"},
    {"tests/alliance-cudnn8.gpu-test", "tests/alliance.gpu-test"},
    {"tests/alliance-cudnn8.multi-node-test", "tests/alliance.multi-node-test"},
    {"tests/archer2.multi-node-test", "tests/alliance.multi-node-test"},
    {"tests/aurora.multi-node-test", "tests/aurora.gpu-test"},
    {"tests/bede-gh200.gpu-test", "tests/alliance.gpu-test"},
    {"tests/bede-gh200.multi-node-test", "tests/bede-gh200.gpu-test"},
    {"tests/derecho.gpu-test", "tests/aurora.gpu-test"},
    {"tests/derecho.multi-node-test", "tests/derecho.gpu-test"},
    {"tests/derecho-cudnn8.gpu-test", "tests/derecho.gpu-test"},
    {"tests/derecho-cudnn8.multi-node-test", "tests/derecho.multi-node-test"},
    {"tests/frontier.gpu-test", "tests/alliance.gpu-test"},
    {"tests/frontier.multi-node-test", "tests/frontier.gpu-test"},
    {"tests/frontier-source.gpu-test", "tests/frontier.gpu-test"},
    {"tests/frontier-source.multi-node-test", "tests/frontier.multi-node-test"},
    {"tests/isambard-ai.gpu-test", "tests/alliance.gpu-test"},
    {"tests/isambard-ai.multi-node-test", "tests/isambard-ai.gpu-test"},
    {"tests/lumi.gpu-test", "tests/alliance.gpu-test"},
    {"tests/lumi.multi-node-test", "tests/lumi.gpu-test"},
    {"tests/deucalion.multi-node-test", "tests/archer2.multi-node-test"},
    {"tests/jupiter.gpu-test", "tests/lumi.gpu-test"},
    {"tests/jupiter.multi-node-test", "tests/jupiter.gpu-test"},
    {"tests/marenostrum5.gpu-test", "tests/jupiter.gpu-test"},
    {"tests/marenostrum5.multi-node-test", "tests/marenostrum5.gpu-test"},
    {"tests/perlmutter.gpu-test", "tests/isambard-ai.gpu-test"},
    {"tests/perlmutter.multi-node-test", "tests/perlmutter.gpu-test"},
    {"tests/dardel.gpu-test", "tests/setonix.gpu-test"},
    {"tests/dardel.multi-node-test", "tests/setonix.multi-node-test"},
    {"tests/polaris.gpu-test", "tests/aurora.gpu-test"},
    {"tests/polaris.multi-node-test", "tests/aurora.multi-node-test"},
    {"tests/setonix.gpu-test", "tests/lumi.gpu-test"},
    {"tests/setonix.multi-node-test", "tests/setonix.gpu-test"},
};

// Each text against its golden file, whole or as a difference.
void check_golden(const std::map<std::string, std::string>& texts) {
    const std::string folder = "builder/sites/";
    for (const auto& [name, text] : texts) {
        CAPTURE(name);
        const auto from = differs_from.find(name);
        if (from == differs_from.end()) {
            CHECK(test_support::golden_difference(folder + name + ".sh", text) == "");
        } else {
            CHECK(test_support::golden_changes(folder + name, folder + from->second, texts.at(from->second),
                                               text) == "");
        }
    }
}

std::string render_header(const Site& site, const JobRequest& job) {
    return site.scheduler->batch->render_header(job, site.queue);
}

// With the resources of the recipe, within the limits of the site.
std::string job_header(const Known& known, const Script& script) {
    if (!known.site.scheduler->batch) return "";
    const Recipe recipe =
        recipe_for(known.site, known.recipes, script.package, script.version, script.accelerator);
    const Site sized = sized_for(known.site, recipe);
    JobRequest job;
    job.attempt = "w1ng012h6crvmar";
    job.folder = {"/work/attempts/w1ng012h6crvmar"};
    job.cores = sized.cores;
    job.memory_mib = sized.memory_mib;
    job.max_walltime_minutes = choose_minutes(sized, "", {});
    return render_header(known.site, job);
}

// By the name of the golden file, of the documents' stacks.
std::map<std::string, std::string> texts_of_documents() {
    std::map<std::string, std::string> texts;
    for (const auto& script : scripts) {
        CAPTURE(script.golden);
        const Known known = read_known(script.site);
        texts[script.golden] = job_header(known, script) + checked_script(known, script);
    }
    return texts;
}

TEST_CASE("the scripts and jobs of the known sites match the golden files, and bash accepts the scripts") {
    check_golden(texts_of_documents());
}

// The scripts of each site's `today.toml`; `golden` is the whole script of the document's stack.
const Script scripts_of_today[] = {
    {"bede-gh200", "bede-gh200", "torch", "2.7.1+cu123.gh200", "gh200"},
    {"bede-gh200", "bede-gh200-torchvision", "torchvision", "0.22.1+cu123.gh200", "gh200",
     "torch==2.7.1+cu123.gh200"},
    {"bede-gh200", "bede-gh200-torchaudio", "torchaudio", "2.7.1+cu123.gh200", "gh200",
     "torch==2.7.1+cu123.gh200"},
    {"archer2", "archer2", "torch", "2.9.1+archer2", "zen2"},
    {"archer2", "archer2-torchvision", "torchvision", "0.24.1+archer2", "zen2", "torch==2.9.1+archer2"},
    {"archer2", "archer2-torchaudio", "torchaudio", "2.9.1+archer2", "zen2", "torch==2.9.1+archer2"},
    {"archer2", "archer2-torchmetrics", "torchmetrics", "1.0.3", "", "torch==2.9.1+archer2"},
    {"derecho", "derecho", "torch", "2.7.0+cu122.a100", "a100"},
    {"derecho", "derecho-torchvision", "torchvision", "0.22.0+cu122.a100", "a100", "torch==2.7.0+cu122.a100"},
    {"derecho", "derecho-torchaudio", "torchaudio", "2.7.0+cu122.a100", "a100", "torch==2.7.0+cu122.a100"},
    {"derecho", "derecho-mpi4py", "mpi4py", "4.0.1+cu122.a100", "a100"},
    {"alliance", "alliance", "torch", "2.13.0+computecanada", "cuda"},
    {"alliance", "alliance-torchvision", "torchvision", "0.28.0+computecanada", "cuda",
     "torch==2.13.0+computecanada"},
    {"alliance", "alliance-torchaudio", "torchaudio", "2.11.0+computecanada", "cuda",
     "torch==2.13.0+computecanada"},
    {"frontier", "frontier", "torch", "2.10.0+rocm7.1", "mi250x"},
    {"frontier", "frontier-pytorch-triton-rocm", "triton-rocm", "3.6.0", "mi250x", "torch==2.10.0+rocm7.1"},
    {"frontier", "frontier-torchvision", "torchvision", "0.25.0+rocm7.1", "mi250x", "torch==2.10.0+rocm7.1"},
    {"frontier", "frontier-torchaudio", "torchaudio", "2.10.0+rocm7.1", "mi250x", "torch==2.10.0+rocm7.1"},
    {"frontier", "frontier-mpi4py", "mpi4py", "4.0.1+frontier", ""},
};

TEST_CASE(
    "the scripts of today's stacks differ from those of the documents' in lines that a person can read") {
    const auto older = texts_of_documents();
    for (const auto& script : scripts_of_today) {
        CAPTURE(script.site);
        CAPTURE(script.package);
        const Known known = read_known(script.site, "today.toml");
        const std::string text = checked_script(known, script);
        if (std::string_view(script.package) != "torch") continue;  // the others differ in the same lines
        CHECK(test_support::golden_changes("builder/stacks/" + std::string(script.site) + "-today",
                                           "builder/sites/" + std::string(script.golden),
                                           older.at(script.golden), job_header(known, script) + text) == "");
    }
}

TEST_CASE(
    "what an upstream's torch requires is looked for where the torch is from, by every step that installs "
    "it") {
    const Known known = read_known("frontier");
    const std::string option = "--extra-index-url https://download.pytorch.org/whl/rocm5.7 ";
    for (const auto& script : scripts) {
        if (std::string_view(script.site) != "frontier") continue;
        CAPTURE(script.golden);
        Attempt attempt = attempt_of(script, known.site);
        const Recipe recipe =
            recipe_for(known.site, known.recipes, script.package, script.version, script.accelerator);
        ScriptInput input{known.site, recipe, attempt, "python3.10", {"/work/attempts/w1ng012h6crvmar"}, {}};
        input.indexes =
            upstream_indexes(known.site, known.recipes, recipe, script.against, script.accelerator);
        const bool is_upstream = std::string(script.version).find("rocm57.") == std::string::npos &&
                                 std::string_view(script.package) != "mpi4py";
        CHECK((render_wheelhouse_script(input).find(option) != std::string::npos) == is_upstream);
        attempt.asked.purpose = Purpose::gpu_test;
        CHECK((render_test_wheelhouse_script(input).find(option) != std::string::npos) == is_upstream);
        Site online = known.site;
        online.offline_jobs = false;
        ScriptInput there{online, recipe, attempt, "python3.10", {"/work/attempts/w1ng012h6crvmar"}, {}};
        there.indexes = input.indexes;
        CHECK((render_script(there).find(option) != std::string::npos) == is_upstream);
    }
    // What is built here against an upstream's torch installs that torch, too.
    const Recipe horovod = recipe_for(known.site, known.recipes, "horovod", "0.28.1", "mi250x");
    CHECK(upstream_indexes(known.site, known.recipes, horovod, "torch==2.2.2+rocm5.7", "mi250x") ==
          std::vector<std::string>{"https://download.pytorch.org/whl/rocm5.7"});
    CHECK(
        upstream_indexes(known.site, known.recipes, horovod, "torch==2.0.1+rocm57.gfx90a", "mi250x").empty());
}

TEST_CASE("each known site tests its torch on its hardware, in jobs within its limits") {
    std::map<std::string, std::string> texts;
    for (const auto& script : scripts) {
        if (std::string_view(script.package) != "torch") continue;
        const Known known = read_known(script.site);
        const Recipe recipe =
            recipe_for(known.site, known.recipes, script.package, script.version, script.accelerator);
        for (const Purpose purpose : {Purpose::gpu_test, Purpose::multi_node_test}) {
            const HardwareTest& test = hardware_test_of(recipe, purpose);
            if (!is_run_here(test, purpose, known.site, script.accelerator)) continue;
            const std::string name = std::string(script.golden) + "." + std::string(purpose_text(purpose));
            CAPTURE(name);
            Attempt attempt = attempt_of(script, known.site);
            attempt.asked.purpose = purpose;
            const TestJob size = size_test_job(test, purpose, known.site, script.accelerator);
            JobRequest job;
            job.attempt = attempt.id;
            job.folder = {"/work/attempts/w1ng012h6crvmar"};
            job.cores = size.cores;
            job.nodes = size.nodes;
            job.ranks_per_node = size.ranks_per_node;
            job.queue = &size.queue;
            job.memory_mib =
                bound_memory(known.site, test.memory_mib > 0 ? test.memory_mib : known.site.memory_mib);
            job.max_walltime_minutes = bound_minutes(known.site, test.minutes);
            const std::string python = known.site.pythons.front().executable;
            const std::string text = render_test_script(
                {known.site, recipe, attempt, python, {"/work/attempts/w1ng012h6crvmar"}, {}});
            texts["tests/" + name] = render_header(known.site, job) + text;
            check_bash(text);
        }
    }
    check_golden(texts);
    // Every torch of a site with GPUs on one GPU and over nodes; those of ARCHER2 and Deucalion over nodes.
    CHECK(texts.size() == 2 * 16 + 2);
}

TEST_CASE("no wheel of a known site reaches its users before its tests have passed") {
    for (const std::string name : known_sites) {
        CAPTURE(name);
        const Site site = read_known(name).site;
        REQUIRE(site.registry.has_value());
        CHECK(!site.registry->promote_to.empty());
        CHECK(site.registry->users_url() == site.registry->promoted_url());
        CHECK(site.hardware_tests.multi_node.has_value());
        const bool has_gpus = std::any_of(site.accelerators.begin(), site.accelerators.end(),
                                          [](const Accelerator& one) { return one.kind != "cpu"; });
        CHECK(site.hardware_tests.gpu.has_value() == has_gpus);
    }
}

TEST_CASE("each package that a known site wants has its script here, for each accelerator") {
    for (const std::string name : known_sites) {
        const Known known = read_known(name);
        for (const auto& want : wanted_packages(known.site, known.recipes)) {
            for (const auto& one : known.site.accelerators) {
                // A follow-up is wanted for the accelerators of what it follows.
                const bool wanted =
                    std::any_of(known.site.wants.begin(), known.site.wants.end(), [&](const Want& of) {
                        const auto names = [](const std::vector<std::string>& list,
                                              const std::string& name_of) {
                            return std::find(list.begin(), list.end(), name_of) != list.end();
                        };
                        return (of.package == want.package || names(of.follow_ups, want.package)) &&
                               (of.accelerators.empty() || names(of.accelerators, one.name));
                    });
                const bool has =
                    std::any_of(std::begin(scripts), std::end(scripts), [&](const Script& script) {
                        const bool here = script.site == name && script.package == want.package;
                        return here && (script.accelerator == one.name ||
                                        std::string_view(script.accelerator).empty());
                    });
                CHECK_MESSAGE((has || !wanted), name << " " << want.package << " " << one.name);
            }
        }
    }
}

TEST_CASE("a module check reports each module separately") {
    const std::string text = render_module_check(read_known("bede-gh200").site);
    CHECK(text.find("module load cuda/12.3.2\n") != std::string::npos);
    CHECK(text.find("'@missing 'openblas/0.3.26") != std::string::npos);
    CHECK(render_module_check(Site()).empty());
    check_bash(text);
}

TEST_CASE("the job expands only ${NAME}, and the renderer only known {name}") {
    CHECK(quote_expanding("a b") == "'a b'");
    CHECK(quote_expanding("${A}/x y$(rm)`\"") == "\"${A}/x y\\$(rm)\\`\\\"\"");
    const Placeholders values = {{"version", "2.4"}};
    CHECK(fill_placeholders("{version} ${version} {other} {{version}}", values) ==
          "2.4 ${version} {other} {2.4}");
}

TEST_CASE("a launcher gets its numbers") {
    Site site;
    CHECK(render_launcher(site, 1, 2) == "mpiexec -n 2");
    site.launcher = "srun -N{nodes} -n{ranks} --ntasks-per-node={ranks_per_node}";
    CHECK(render_launcher(site, 2, 8) == "srun -N2 -n16 --ntasks-per-node=8");
}

TEST_CASE("Derecho's patch applies to the versions that need it, in the order of names") {
    const Known known = read_known("derecho");
    const auto recipe = [&](const std::string& version) {
        return recipe_for(known.site, known.recipes, "torch", version, "a100");
    };
    const auto patches = find_patches(recipe("2.4.0+cu122.a100"), "2.4.0+cu122.a100");
    REQUIRE_MESSAGE(patches.has_value(), patches.error().text());
    REQUIRE(patches->size() == 1);
    CHECK(patches->front().filename() == "01-cuda-aware-mpi.patch");
    CHECK(find_patches(recipe("2.9.0"), "2.9.0")->empty());
    Recipe missing = recipe("2.4.0");
    missing.patches.front().pattern = "/nowhere/*.patch";
    const auto found = find_patches(missing, "2.4.0");
    REQUIRE(!found.has_value());
    CHECK(found.error().code == "recipe.patch");
}

}  // namespace
}  // namespace wheelyard::builder
