// The user files of the known sites: each matches its golden file, and bash accepts the scripts.
#include "builder/users/user_files.hpp"

#include <doctest/doctest.h>

#include <map>
#include <utility>

#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

Site site_of(const std::string& name) {
    auto site = read_site(fs::path(WHEELYARD_TEST_DATA) / "../site-configs" / name / "site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    return *site;
}

std::vector<UserFile> files_of(const Site& site) {
    auto files = render_user_files(site, "/sw/wheels");
    REQUIRE_MESSAGE(files.has_value(), files.error().text());
    return *files;
}

const std::string& text_of(const std::vector<UserFile>& files, const std::string& path) {
    for (const auto& file : files) {
        if (file.path == path) return file.text;
    }
    FAIL("no file " << path);
    return files.front().text;
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Each site, and the one whose golden file the site's differs from; no name: it is whole.
const std::pair<std::string, std::string> sites[] = {
    {"bede-gh200", ""},
    {"isambard-ai", ""},
    {"alliance", "bede-gh200"},
    {"archer2", "isambard-ai"},
    {"aurora", "isambard-ai"},
    {"debian12", "isambard-ai"},
    {"derecho", "bede-gh200"},
    {"deucalion", "isambard-ai"},
    {"frontier", "isambard-ai"},
    {"jupiter", "isambard-ai"},
    {"lumi", "isambard-ai"},
    {"marenostrum5", "isambard-ai"},
    {"perlmutter", "isambard-ai"},
    {"setonix", "isambard-ai"},
    {"polaris", "aurora"},
    {"dardel", "setonix"},
};

TEST_CASE("the user files of the known sites match the golden files, and bash accepts the scripts") {
    const std::string folder = "builder/users/";
    std::map<std::string, std::string> texts;
    for (const auto& [name, from] : sites) {
        CAPTURE(name);
        std::string& all = texts[name];
        for (const auto& file : files_of(site_of(name))) {
            all += "==> " + file.path + (file.executable ? " (program)" : "") + " <==\n" + file.text;
            CHECK(file.text.find("{{") == std::string::npos);
            const bool bash = file.text.starts_with("#!/bin/bash") || file.path.ends_with(".sh");
            if (!bash) continue;
            base::Command command;
            command.argv = {"/bin/bash", "-n", "-c", file.text};
            const auto checked = base::run_command(command);
            REQUIRE(checked.has_value());
            CHECK_MESSAGE(checked->exit_code == 0, file.path << ": " << checked->err);
        }
        CHECK((from.empty()
                   ? test_support::golden_difference(folder + name + ".txt", all)
                   : test_support::golden_changes(folder + name, folder + from, texts.at(from), all)) == "");
    }
}

TEST_CASE("the environment's script names the host of a plain HTTP registry, which pip would ignore") {
    Site site = site_of("bede-gh200");
    const auto script = [&site] {
        for (const auto& file : files_of(site)) {
            if (holds(file.text, "pip install --no-input")) return file.text;
        }
        FAIL("no script that installs");
        return std::string();
    };
    CHECK(!holds(script(), "--trusted-host"));
    site.registry->url = "http://wheels.example:8080";
    CHECK(holds(script(), "/simple/ --trusted-host wheels.example "));
    std::string all;
    for (const auto& file : files_of(site))
        all += file.text;
    CHECK(holds(all, "setenv(\"PIP_TRUSTED_HOST\", \"wheels.example\")"));
}

TEST_CASE("the environment's script names the Python that no module brings, and leaves nothing behind") {
    Site site = site_of("archer2");
    const auto folder = base::TempDir::make("users");
    REQUIRE(folder.has_value());
    site.users->directory = folder->path() / "environment";
    base::Command command;
    command.argv = {"/bin/bash", "-c",
                    "module() { LOADEDMODULES=PrgEnv-gnu:cray-fftw:mkl/2023.0.0:cmake/3.21.3:cray-python; }\n"
                    "PATH=/nowhere\n" +
                        text_of(files_of(site), "install-environment")};
    const auto ended = base::run_command(command);
    REQUIRE(ended.has_value());
    CHECK(ended->exit_code == 69);
    CHECK_MESSAGE(holds(ended->err, "no python3.9: correct"), ended->err);
    CHECK(!fs::exists(site.users->directory));
}

TEST_CASE("the site's launcher starts the ranks, not torchrun") {
    for (const auto& [name, from] : sites) {
        for (const auto& file : files_of(site_of(name)))
            CHECK(!holds(file.text, "torchrun"));
    }
    CHECK(holds(
        text_of(files_of(site_of("frontier")), "job.sh"),
        "srun -N2 -n16 --ntasks-per-node=8 -c7 --gpus-per-task=1 --gpu-bind=closest /sw/wheels/run-rank"));
    CHECK(holds(text_of(files_of(site_of("derecho")), "job.sh"),
                "mpiexec -n 8 -ppn 4 --cpu-bind numa /sw/wheels/run-rank"));
}

TEST_CASE("the programs for users look for the GPUs of their accelerator") {
    Site site = site_of("frontier");
    CHECK(holds(text_of(files_of(site), "all_reduce.py"), "gpus = torch.cuda.is_available()\n"));
    for (auto& one : site.accelerators)
        one.kind = "xpu";
    const std::string program = text_of(files_of(site), "all_reduce.py");
    CHECK(holds(program, "gpus = torch.xpu.is_available()\ndevice = torch.device(\"xpu\", "));
    CHECK(holds(program, "\"xccl\" if gpus else \"gloo\""));
    CHECK(holds(text_of(files_of(site), "libtorch/example.cpp"),
                "torch::xpu::is_available() ? torch::kXPU : torch::kCPU"));
}

TEST_CASE("a job requests its nodes, ranks and GPUs") {
    const std::string frontier = text_of(files_of(site_of("frontier")), "job.sh");
    for (const char* line :
         {"#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=8\n", "#SBATCH --partition=batch\n",
          "#SBATCH --export=NONE\n", "#SBATCH --constraint=nvme\n"})
        CHECK_MESSAGE(holds(frontier, line), line);
    const std::string derecho = text_of(files_of(site_of("derecho")), "job.sh");
    CHECK(holds(derecho, "#PBS -l select=2:ncpus=64:mpiprocs=4:ngpus=4\n"));
    CHECK(holds(derecho, "#PBS -l walltime=0:30:00\n"));
    CHECK(!holds(text_of(files_of(site_of("debian12")), "job.sh"), "#SBATCH"));
}

TEST_CASE("two jobs never share a cache path") {
    const std::string text = text_of(files_of(site_of("frontier")), "job-environment.sh");
    CHECK(holds(text, "export MIOPEN_USER_DB_PATH=$WHEELYARD_JOB_FOLDER/miopen_user_db_path\n"));
    CHECK(holds(text, "WHEELYARD_JOB_FOLDER=${TMPDIR:-/tmp}/wheelyard-$(id -un)-$WHEELYARD_JOB\n"));
    CHECK(holds(text, "MASTER_PORT=${MASTER_PORT:-3442}"));
    CHECK(holds(text_of(files_of(site_of("bede-gh200")), "job-environment.sh"), "% 10000"));
}

TEST_CASE("the proxies of a site whose nodes are offline are comments of the job script") {
    Site site = site_of("frontier");
    const auto proxies = [](const std::string& text) {
        std::vector<std::string> lines;
        for (const auto line : base::split_lines(text)) {
            if (line.find("_proxy=") != std::string_view::npos) lines.emplace_back(line);
        }
        return lines;
    };
    // OLCF: "Set these environment variables in your batch script if needed".
    CHECK(proxies(text_of(files_of(site), "job-environment.sh")).empty());
    const auto in_job = proxies(text_of(files_of(site), "job.sh"));
    REQUIRE(in_job.size() == 5);
    CHECK(in_job[0].starts_with("# export all_proxy=socks://proxy.ccs.ornl.gov:3128/"));
    for (const auto& line : in_job)
        CHECK(line.starts_with("# export "));
    site.users->job_comments.clear();
    CHECK(proxies(text_of(files_of(site), "job.sh")).size() == 5);
    site.offline_jobs = false;
    CHECK(proxies(text_of(files_of(site), "job.sh")).empty());
}

// What bash prints after it has sourced a site's job-environment.sh in the job `id`.
std::string in_job(const std::string& site, const std::string& variable, const std::string& id,
                   const std::string& print, const fs::path& temporary) {
    base::Command command;
    command.argv = {"/bin/bash", "-eu", "-c",
                    text_of(files_of(site_of(site)), "job-environment.sh") + "\necho \"" + print + "\""};
    command.environment = {
        {variable, id}, {"PATH", "/usr/bin:/bin"}, {"TMPDIR", temporary.string()}, {"MASTER_ADDR", "here"}};
    const auto finished = base::run_command(command);
    REQUIRE(finished.has_value());
    CHECK_MESSAGE(finished->exit_code == 0, finished->err);
    return finished->out;
}

TEST_CASE("each job, and each task of an array, has a cache folder and a port of its own") {
    struct Row {
        std::string variable, id, folder, port;
    };
    const auto made = base::TempDir::make("job");
    REQUIRE(made);
    for (const auto& row :
         {Row{"PBS_JOBID", "123.server.example", "-123", "20123"},
          Row{"PBS_JOBID", "1234567.desched1", "-1234567", "24567"},
          Row{"PBS_JOBID", "123[4].server", "-123-4", "20127"},
          Row{"PBS_JOBID", "123[56].server", "-123-56", "20179"},
          Row{"PBS_JOBID", "123[4]", "-123-4", "20127"}, Row{"SLURM_JOB_ID", "124", "-124", "20124"}}) {
        CAPTURE(row.id);
        const std::string folder =
            in_job("frontier", row.variable, row.id, "$WHEELYARD_JOB_FOLDER", made->path());
        CHECK(base::trim(folder).ends_with(row.folder));
        CHECK(in_job("bede-gh200", row.variable, row.id, "$MASTER_PORT", made->path()) == row.port + "\n");
    }
}

TEST_CASE("text from the site file is quoted in every language that it is put into") {
    Site site = site_of("bede-gh200");
    site.users->environment = {{"ODD", "a \"b\" 'c' [d] {e}; \\f"}};
    const auto files = files_of(site);
    CHECK(holds(text_of(files, "modulefiles/pytorch/2.4.0.lua"),
                R"(setenv("ODD", "a \"b\" 'c' [d] {e}; \\f"))"));
    CHECK(
        holds(text_of(files, "modulefiles/pytorch/2.4.0"), R"(setenv ODD "a \"b\" 'c' \[d\] \{e\}\; \\f")"));
    CHECK(
        holds(text_of(files, "conda/activate.d/pytorch.sh"), R"(export ODD='a "b" '\''c'\'' [d] {e}; \f')"));
}

TEST_CASE("a site without [users] or without an index is an error") {
    Site site = site_of("bede-gh200");
    site.registry.reset();
    CHECK(render_user_files(site, "/sw/wheels").error().code == "site.no_registry");
    site.users.reset();
    CHECK(render_user_files(site, "/sw/wheels").error().code == "site.no_users");
}

TEST_CASE("files are written with their modes and can be overwritten") {
    const auto folder = base::TempDir::make("user-files");
    REQUIRE(folder.has_value());
    const auto files = files_of(site_of("debian12"));
    for (int times = 0; times < 2; ++times)
        REQUIRE(write_user_files(files, folder->path()).has_value());
    for (const auto& file : files) {
        const auto mode = fs::status(folder->path() / file.path).permissions();
        CHECK(((mode & fs::perms::owner_exec) != fs::perms::none) == file.executable);
    }
}

}  // namespace
}  // namespace wheelyard::builder
