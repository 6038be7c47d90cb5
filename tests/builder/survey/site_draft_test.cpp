// The drafts of machines that report much and of machines that report nothing: the reader of site.toml accepts each.
#include "builder/survey/site_draft.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "builder/site/site.hpp"
#include "lib/accelerator/cuda.hpp"
#include "lib/accelerator/xpu.hpp"

namespace wheelyard::builder {
namespace {

Survey slurm_machine() {
    Survey survey;
    survey.host = "login03";
    survey.scheduler = find_scheduler_kind("slurm");
    survey.batch.version = "slurm 22.05.8";
    survey.batch.cluster = "Yard";
    survey.batch.queues = {{"main", true, "", 120, 0, {}},
                           {"gpu", false, "", 2160, 200000, {"proj1"}},
                           {"off", false, "its state is DOWN", 0, 0, {}}};
    survey.batch.nodes = {{"main", 10, 128, 256000, 0, "", {"amd"}},
                          {"main", 2, 64, 512000, 4, "a100", {"amd", "nvme"}},
                          {"gpu", 2, 64, 512000, 4, "a100", {"amd", "nvme"}},
                          {"off", 1, 8, 4096, 0, "", {}}};
    survey.batch.accounts = {"proj1"};
    survey.modules.init = "/etc/profile.d/lmod.sh";
    survey.modules.available =
        parse_modules("gcc/12.2\ngcc/13.1\nopenmpi/4.1.6\ncuda/12.3.2\npython/3.11.5\n");
    survey.modules.tried = {{ModuleRole::compiler, {"gcc", "13.1"}, true},
                            {ModuleRole::mpi, {"openmpi", "4.1.6"}, true},
                            {ModuleRole::toolkit(accelerator::cuda::kind), {"cuda", "12.3.2"}, true}};
    survey.programs = {"cc", "gcc", "g++", "gfortran", "mpicc", "srun", "mpirun"};
    survey.pythons = {{"3.6", "3.6.8", "/usr/bin/python3", true, true, false, ""},
                      {"3.11", "3.11.5", "/sw/bin/python3", true, true, false, "python/3.11.5"}};
    survey.folders = {{"$SCRATCH", "/lustre/me", "lustre", 1ULL << 40},
                      {"home", "/home/me", "nfs", 1ULL << 33}};
    return survey;
}

Site read(const SiteDraft& draft) {
    const auto site = parse_site(draft.text, "/etc/wheelyard/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text() << "\n" << draft.text);
    return *site;
}

// OverSubscribe=EXCLUSIVE and DefMemPerCPU of `scontrol show partition`.
TEST_CASE("a partition whose jobs have nodes alone gives whole nodes, and its memory by the core is said") {
    Survey survey = slurm_machine();
    survey.batch.queues[0].is_exclusive = true;
    survey.batch.queues[1].memory_per_core_mib = 256;
    const SiteDraft draft = draft_site(survey, {});
    CHECK(draft.fill_in.empty());
    const Site site = read(draft);
    CHECK(site.build_node == "main");
    CHECK(site.queue.queue == "main");
    CHECK(site.cores == 128);
    CHECK(site.memory_mib == 0);
    REQUIRE(site.nodes.size() == 3);
    CHECK(site.nodes[0].exclusive);
    CHECK(site.nodes[1].exclusive);
    CHECK(!site.nodes[2].exclusive);
    CHECK(site.nodes[0].memory_per_core_mib == 0);
    CHECK(site.nodes[2].memory_per_core_mib == 256);
}

// Pawsey's and NERSC's guides: jobs on GPU nodes are charged to the project's name with `-gpu` and with `_g`.
TEST_CASE("of a project's two accounts jobs on GPU nodes get the one for GPUs") {
    for (const std::string gpu : {"proj1-gpu", "proj1_g"}) {
        CAPTURE(gpu);
        Survey survey = slurm_machine();
        survey.batch.accounts = {gpu, "proj1"};
        SiteDraft draft = draft_site(survey, {});
        CHECK(draft.fill_in.empty());
        CHECK(read(draft).queue.account == "proj1");
        CHECK(draft.text.find("in [hardware_tests.gpu]: " + gpu) != std::string::npos);
        SiteRequest request;
        request.queue = "gpu";
        CHECK(read(draft_site(survey, request)).queue.account == gpu);
        survey.batch.accounts.push_back("other");
        draft = draft_site(survey, {});
        REQUIRE(draft.fill_in.size() == 1);
        CHECK(draft.fill_in.front().find("; on nodes with GPUs " + gpu) != std::string::npos);
    }
    CHECK(accounts_by_kind({"abc-gpu", "def", "ghi_group"}).empty());
}

TEST_CASE("a Slurm cluster with GPUs gives a complete site file") {
    const SiteDraft draft = draft_site(slurm_machine(), {});
    CHECK(draft.fill_in.empty());
    const Site site = read(draft);
    CHECK(site.name == "yard");
    CHECK(!site.registry.has_value());
    CHECK(site.scheduler->name == "slurm");
    CHECK(site.queue.queue == "main");
    CHECK(site.queue.account == "proj1");
    CHECK(site.cores == 32);
    CHECK(site.memory_mib == 64000);  // its share of a node without GPUs
    CHECK(site.max_memory_mib == 256000);
    CHECK(site.minutes == 120);
    CHECK(site.max_walltime_minutes == 120);  // no more than the partition allows
    CHECK(site.modules.load == std::vector<std::string>{"gcc/13.1", "openmpi/4.1.6"});
    CHECK(site.compilers.c == "gcc");
    CHECK(site.compilers.mpi_c == "mpicc");
    CHECK(site.launcher == "srun --nodes={nodes} --ntasks={ranks} --ntasks-per-node={ranks_per_node}");
    CHECK(site.offline_jobs);
    REQUIRE(site.accelerators.size() == 2);
    CHECK(site.accelerators[1].name == "a100");
    CHECK(site.accelerators[1].architectures == std::vector<std::string>{"sm_80"});
    CHECK(site.accelerators[1].label == "cu123.a100");
    CHECK(site.accelerators[1].modules == std::vector<std::string>{"cuda/12.3.2"});
    REQUIRE(site.nodes.size() == 3);
    CHECK(site.nodes[1].name == "main-2");
    CHECK(site.nodes[2].accelerator == "a100");
    REQUIRE(site.pythons.size() == 1);
    CHECK(site.pythons[0].source == "module");
    CHECK(site.pythons[0].version == "3.11");
    CHECK(site.work_directory == "/lustre/me/wheelyard/yard/work");
    CHECK(site.state_directory == "/home/me/wheelyard/yard/state");
    for (const auto& node : site.nodes)
        CHECK(node.queue != "off");
    CHECK(draft.text.find("# found: off, no time limit; not for you: its state is DOWN\n") !=
          std::string::npos);
}

TEST_CASE("nodes with Intel's GPUs become an accelerator of the kind xpu, with the modules of oneAPI") {
    Survey survey = slurm_machine();
    for (auto& node : survey.batch.nodes)
        if (node.gpus > 0) node.gpu_type = "pvc";
    survey.modules.available.push_back({"oneapi/release", "2025.0.5"});
    survey.modules.tried.push_back(
        {ModuleRole::toolkit(accelerator::xpu::kind), {"oneapi/release", "2025.0.5"}, true});
    const Site site = read(draft_site(survey, {}));
    REQUIRE(site.accelerators.size() == 2);
    CHECK(site.accelerators[1].name == "pvc");
    CHECK(site.accelerators[1].kind == "xpu");
    CHECK(site.accelerators[1].architectures == std::vector<std::string>{"pvc"});
    CHECK(site.accelerators[1].label == "xpu.pvc");
    CHECK(site.accelerators[1].modules == std::vector<std::string>{"oneapi/release/2025.0.5"});
}

TEST_CASE("GPUs whose type nobody names are proposed as those of the toolkits that the modules have") {
    Survey survey = slurm_machine();
    for (auto& node : survey.batch.nodes)
        node.gpu_type.clear();
    survey.modules.tried.erase(std::remove_if(survey.modules.tried.begin(), survey.modules.tried.end(),
                                              [](const LoadedModule& one) { return one.role.toolkit_of; }),
                               survey.modules.tried.end());
    CHECK(draft_site(survey, {}).text.find("# kind = \"cuda\"\n") != std::string::npos);
    const LoadedModule oneapi{
        ModuleRole::toolkit(accelerator::xpu::kind), {"oneapi/release", "2025.3.1"}, true};
    survey.modules.tried.push_back(oneapi);
    const std::string text = draft_site(survey, {}).text;
    CHECK(text.find("# name = \"pvc\"\n# kind = \"xpu\"\n# architectures = [\"pvc\"]\n# label = "
                    "\"xpu.pvc\"\n# modules = [\"oneapi/release/2025.3.1\"]\n") != std::string::npos);
    CHECK(text.find("cuda") == std::string::npos);
    // HPE's cudatoolkit names the HPC SDK first.
    survey.modules.tried.back() = {
        ModuleRole::toolkit(accelerator::cuda::kind), {"cudatoolkit", "24.11_12.6"}, true};
    // No GH200 has a processor of x86, and no H100 is what an ARM machine most likely has.
    survey.machine = "x86_64";
    CHECK(draft_site(survey, {}).text.find("# label = \"cu126.h100\"\n") != std::string::npos);
    survey.machine = "aarch64";
    CHECK(draft_site(survey, {}).text.find("# label = \"cu126.gh200\"\n") != std::string::npos);
}

TEST_CASE("what is requested comes before what was found") {
    SiteRequest request;
    request.name = "mine";
    request.registry = "https://wheels.example.org";
    request.queue = "gpu";
    request.account = "proj2";
    const Site site = read(draft_site(slurm_machine(), request));
    CHECK(site.name == "mine");
    REQUIRE(site.registry.has_value());
    CHECK(site.registry->index == "mine");
    CHECK(site.registry->token_file == "/etc/wheelyard/mine.token");
    CHECK(site.queue.queue == "gpu");
    CHECK(site.queue.account == "proj2");
    CHECK(site.max_memory_mib == 200000);  // of the partition, less than the node's
    CHECK(site.max_walltime_minutes == 2160);
}

TEST_CASE("a requested value that is not valid is refused by the reader, not written") {
    SiteRequest request;
    request.name = "My Site";
    CHECK(!parse_site(draft_site(slurm_machine(), request).text, "/site.toml").has_value());
    request = {};
    request.registry = "wheels.example.org";
    CHECK(!parse_site(draft_site(slurm_machine(), request).text, "/site.toml").has_value());
}

TEST_CASE("what a person must decide is listed, and the file can be read all the same") {
    const std::pair<void (*)(Survey&), const char*> rows[] = {
        {[](Survey& one) {
             one.batch.accounts = {"a", "b"};
         },
         "choose the account that jobs are charged to: a, b"},
        {[](Survey& one) {
             one.batch.queues = {{"off", true, "its state is DOWN", 0, 0, {}}};
         },
         "choose a partition: none of them takes jobs of yours by default"},
        {[](Survey& one) { one.batch.problems = {"partitions: no route to host"}; },
         "the batch system did not answer: partitions: no route to host"},
        {[](Survey& one) { one.pythons.resize(1); },
         "no Python with venv and ensurepip was found: install or load one"},
        {[](Survey& one) { one.programs = {"cc"}; },
         "no C++ compiler was found: load the module that provides it, or install it (Debian: g++)"},
        {[](Survey& one) { one.programs = {"c++"}; },
         "no C compiler was found: load the module that provides it, or install it (Debian: gcc)"},
        {[](Survey& one) { one.pythons[1].has_headers = false; },
         "Python.h is missing, which extensions need: install it (Debian: python3-dev, Red Hat: "
         "python3-devel)"},
        {[](Survey& one) {
             for (auto& node : one.batch.nodes)
                 node.gpu_type = node.gpus > 0 ? "quux9000" : "";
         },
         "4 nodes have GPUs of a type that is not known here: name it"},
        {[](Survey& one) { one.folders.front().free_bytes = 1ULL << 30; },
         "builds need 2 GiB in the work folder: free some space, or choose another folder"},
        {[](Survey& one) { one.folders.clear(); },
         "no writable folder was found for the state: choose one that is not purged"},
    };
    for (const auto& [change, expected] : rows) {
        Survey survey = slurm_machine();
        change(survey);
        const SiteDraft draft = draft_site(survey, {});
        REQUIRE(draft.fill_in.size() == 1);
        CHECK(draft.fill_in.front() == expected);
        CHECK(draft.text.find("# FILL IN: " + std::string(expected) + "\n") != std::string::npos);
        read(draft);
    }
}

TEST_CASE("the GNU compilers are named where both are there, or where nothing else is") {
    const std::tuple<std::vector<std::string>, const char*, const char*> rows[] = {
        {{"cc", "c++", "gcc", "g++"}, "gcc", "g++"},
        {{"cc", "c++", "gcc"}, "", ""},  // they may be clang's
        {{"cc", "c++", "g++"}, "", ""},
        {{"cc", "g++"}, "", "g++"},
    };
    for (const auto& [programs, c, cxx] : rows) {
        Survey survey = slurm_machine();
        survey.programs = programs;
        const Site site = read(draft_site(survey, {}));
        CHECK(site.compilers.c == c);
        CHECK(site.compilers.cxx == cxx);
    }
}

TEST_CASE("an unknown file system is not written") {
    Survey survey = slurm_machine();
    survey.folders.front().file_system = "-";
    CHECK(draft_site(survey, {}).text.find(", -, ") == std::string::npos);
}

TEST_CASE("a module that does not load is named and not used") {
    Survey survey = slurm_machine();
    survey.modules.tried[1].loads = false;
    const SiteDraft draft = draft_site(survey, {});
    CHECK(read(draft).modules.load == std::vector<std::string>{"gcc/13.1"});
    CHECK(draft.text.find("# openmpi/4.1.6 did not load: it may need another module first\n") !=
          std::string::npos);
}

TEST_CASE("a newer Python that links with a search path of its own is not chosen") {
    Survey survey = slurm_machine();
    survey.pythons.push_back({"3.13", "3.13.1", "/root/.pyenv/bin/python3.13", true, true, true, ""});
    CHECK(read(draft_site(survey, {})).pythons[0].version == "3.11");
    survey.pythons.back().has_rpath = false;
    CHECK(read(draft_site(survey, {})).pythons[0].version == "3.13");
}

TEST_CASE("a Cray gets the compilers of its programming environment") {
    Survey survey = slurm_machine();
    survey.modules.tried = {{ModuleRole::compiler, {"PrgEnv-gnu", "8.5.0"}, true}};
    CHECK(read(draft_site(survey, {})).compilers.c == "gcc");  // a module of that name alone is no Cray
    survey.programs = {"cc", "CC", "ftn"};
    const Site site = read(draft_site(survey, {}));
    CHECK(site.compilers.c == "cc");
    CHECK(site.compilers.cxx == "CC");
    CHECK(site.compilers.fortran == "ftn");
    CHECK(site.compilers.mpi_c == "cc -shared");
}

TEST_CASE("a machine without a batch system runs jobs itself, with the GPUs of its driver") {
    Survey survey;
    survey.host = "box12.example.org";
    survey.cores = 6;
    survey.gpus = {"NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"};
    survey.programs = {"cc", "c++"};
    survey.pythons = {{"3.12", "3.12.1", "/usr/bin/python3.12", true, true, false, ""}};
    survey.folders = {{"home", "/root", "ext4", 1ULL << 33}};
    const SiteDraft draft = draft_site(survey, {});
    CHECK(draft.fill_in.empty());
    const Site site = read(draft);
    CHECK(site.scheduler->name == "local");
    CHECK(site.cores == 6);
    CHECK(!site.offline_jobs);
    REQUIRE(site.accelerators.size() == 2);
    CHECK(site.accelerators[1].architectures == std::vector<std::string>{"sm_90"});
    CHECK(site.work_directory == "/root/wheelyard/box12.example.org/work");
}

TEST_CASE("text of the machine stays in its comment or string, whatever it contains") {
    Survey survey = slurm_machine();
    const std::string bad = "x\"\n[want]\ny\\\x1b\xff";
    survey.host = bad;
    survey.batch.version = bad;
    survey.batch.problems = {bad};
    survey.batch.nodes[0].features = {bad};
    survey.folders[0].path = "/s\"cratch\\";
    survey.proxies = {{"http_proxy", "http://proxy\"\n:1"}};
    survey.scheduler = find_scheduler_kind("local");  // a batch system accepts no quotes in its folders
    const Site site = read(draft_site(survey, {}));
    CHECK(site.work_directory == "/s\"cratch\\/wheelyard/yard/work");
    CHECK(site.wants.size() == 1);
}

TEST_CASE("a site name from any text; several login nodes are one site") {
    const std::pair<const char*, const char*> rows[] = {
        {"Yard 2", "yard-2"}, {"ARCHER2", "archer2"}, {"--x--", "x"}, {"", ""}, {"ü", ""}, {"a  b", "a-b"},
    };
    for (const auto& [text, name] : rows)
        CHECK(site_name_of(text) == name);
    CHECK(site_name_of(std::string(100, 'a')).size() == 64);
    Survey survey;
    survey.host = "login03";
    CHECK(suggested_name(survey) == "login");
    survey.host = "42";
    CHECK(suggested_name(survey) == "site");
    survey.batch.cluster = "Yard";
    CHECK(suggested_name(survey) == "yard");
}

TEST_CASE("a wrong answer is asked again with what is wrong, and the other answers are kept") {
    std::vector<std::string> answers = {"My Site", "my-site", "wheels.example.org",
                                        "https://wheels.example.org"};
    std::vector<std::string> asked;
    const AskPerson person = [&](const std::string& question, const std::string& fallback) {
        asked.push_back(question);
        if (answers.empty()) return fallback;
        std::string answer = answers.front();
        answers.erase(answers.begin());
        return answer;
    };
    const SiteRequest request = complete_request(slurm_machine(), {}, person, [](const SiteRequest& so_far) {
        const auto read = parse_site(draft_site(slurm_machine(), so_far).text, "/site.toml");
        return read ? std::string() : "WRONG " + read.error().text();
    });
    CHECK(request.name == "my-site");
    CHECK(request.registry == "https://wheels.example.org");
    CHECK(request.index == "my-site");
    REQUIRE(asked.size() == 8);
    CHECK(asked[1].starts_with("WRONG "));
    CHECK(asked[1].ends_with("\nName of the site"));
    CHECK(asked[3].find("expected an http or https URL, found `wheels.example.org`") != std::string::npos);
}

TEST_CASE("with a folder, state and builds lie in it and nothing is asked of the disks") {
    SiteRequest request;
    request.folder = "/trial";
    const auto site = parse_site(draft_site(slurm_machine(), request).text, "/site.toml");
    REQUIRE(site.has_value());
    CHECK(site->state_directory == "/trial/state");
    CHECK(site->work_directory == "/trial/work");
}

TEST_CASE("a person is asked only for what no flag says; an empty answer is the suggestion") {
    std::vector<std::string> asked;
    const AskPerson person = [&](const std::string& question, const std::string& fallback) {
        asked.push_back(question);
        return question.starts_with("URL") ? "https://wheels.example.org" : fallback;
    };
    const SiteRequest request = complete_request(slurm_machine(), {}, person);
    CHECK(asked.size() == 6);
    CHECK(request.name == "yard");
    CHECK(request.index == "yard");
    CHECK(request.token_file == "yard.token");
    CHECK(request.queue == "main");
    CHECK(request.account == "proj1");
    asked.clear();
    SiteRequest given = request;
    CHECK(complete_request(slurm_machine(), given, person).queue == "main");
    CHECK(asked.empty());
}

}  // namespace
}  // namespace wheelyard::builder
