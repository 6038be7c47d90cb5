// site.toml: which files are accepted, and that each mistake is reported with its position.
#include "builder/site/site.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "tests/builder/documented_keys.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

const std::string good = R"(config_version = 1
name = "debian12"
recipes = ["recipes"]
[registry]
url = "http://127.0.0.1:8080/"
index = "debian12"
token_file = "token"
[state]
directory = "state"
[work]
directory = "/scratch/work"
[[python]]
version = "3.11"
executable = "/usr/bin/python3.11"
[[python]]
version = "3.12"
[environment]
CC = "gcc"
[[want]]
package = "MarkupSafe"
versions = ["3.0.2", "latest", ">=2,<3"]
)";

std::string complaint(const std::string& text) {
    const auto site = parse_site(text, "/etc/wheelyard/site.toml");
    return site ? "" : site.error().text();
}

TEST_CASE("a site file is parsed; paths are relative to it and names are normalised") {
    const auto site = parse_site(good, "/etc/wheelyard/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->registry->simple_url() == "http://127.0.0.1:8080/debian12/simple/");
    CHECK(site->registry->upload_url() == "http://127.0.0.1:8080/debian12/legacy/");
    CHECK(site->registry->token_file == "/etc/wheelyard/token");
    CHECK(site->state_directory == "/etc/wheelyard/state");
    CHECK(site->work_directory == "/scratch/work");
    CHECK(site->recipes == std::vector<std::filesystem::path>{"/etc/wheelyard/recipes"});
    CHECK(site->pythons[1].executable == "python3.12");
    CHECK(site->wants[0].package == "markupsafe");
    CHECK(site->wants[0].pythons == std::vector<std::string>{"3.11", "3.12"});
    CHECK(site->max_jobs == 1);
    CHECK(site->environment == Environment{{"CC", "gcc"}});
}

TEST_CASE("every mistake is reported with its position and what was expected") {
    struct Row {
        const char* from;
        const char* to;
        const char* message;
    };
    const Row rows[] = {
        {"config_version = 1", "config_version = 2", "config_version"},
        {"name = \"debian12\"", "nmae = \"debian12\"", "name"},
        {"name = \"debian12\"", "name = \"Debian 12\"", "site.toml:2"},
        {"url = \"http://127.0.0.1:8080/\"", "url = \"ftp://x\"", "http or https"},
        {"url = \"http://127.0.0.1:8080/\"", "url = \"http://me:secret@host\"", "token_file"},
        {"version = \"3.12\"", "version = \"3\"", "Python version"},
        {"version = \"3.12\"", "version = \"3.11\"", "twice"},
        {"version = \"3.12\"", "version = 3.12", "string"},
        {"CC = \"gcc\"", "\"C C\" = \"gcc\"", "environment variable"},
        {"package = \"MarkupSafe\"", "package = \"-x\"", "PEP 508"},
        {"\"latest\"", "\"newest\"", "newest"},
        {"versions = [", "pythons = [\"3.13\"]\nversions = [", "3.13"},
        {"[state]\ndirectory = \"state\"", "[state]\ndirectroy = \"state\"", "directory"},
        {"[work]", "[scheduler]\nkind = \"slum\"\n[work]", "local"},
        {"[work]", "[scheduler]\npartition = \"gpu\"\n[work]", "partition"},
        {"[work]", "[scheduler]\nkind = \"slurm\"\nqueue = \"gpu\"\n[work]", "queue"},
        {"[work]", "[scheduler]\nkind = \"slurm\"\npartitoin = \"gpu\"\n[work]", "partition"},
        {"[work]", "[scheduler]\nkind = \"pbs\"\nqueue = \"a b\"\n[work]", "a b"},
        {"[work]", "[scheduler]\nkind = \"slurm\"\noptions = [\"qos=x\"]\n[work]", "--qos=standard"},
        {"/scratch/work\"", "/scratch/a b\"\n[scheduler]\nkind = \"slurm\"", "spaces"},
        {"[work]", "[scheduler]\nmax_jobs = 0\n[work]", "max_jobs"},
        {"\"latest\"", "\"lastest\"", "did you mean `latest`"},
        {"versions = [", "pythons = [\"3.1\"]\nversions = [", "did you mean `3.11`"},
        {"versions = [", "accelerators = [\"cpuu\"]\nversions = [", "did you mean `cpu`"},
        {"versions = [", "follow_ups = [\"a b\"]\nversions = [", "PEP 508"},
        {"versions = [", "from = \"upsteam\"\nversions = [",
         "expected `upstream` or the URL of a Simple index"},
        {"versions = [", "from = \"https://me:secret@h/simple/\"\nversions = [", "password"},
        {"[environment]", "[[want]]\npackage = \"markupsafe\"\nfrom = \"upstream\"\n[environment]",
         "another [[want]] of `markupsafe` says otherwise"},
        {"[environment]", "[[want.exclude]]\n[environment]", "want"},
        {"[work]", "[modules]\nload = [\"gcc 12\"]\n[work]", "gcc 12"},
        {"[work]", "[network.proxies]\nhttps_proxy = \"http://me:secret@p:3128\"\n[work]", "password"},
        {"[work]", "[network.proxies]\nno_proxy = \"a\\nb\"\n[work]", "expected one line"},
        {"[work]", "[network.proxies]\nhtps_proxy = \"http://p:3128\"\n[work]", "htps_proxy"},
        {"[work]", "[[accelerator]]\nname = \"a\"\nkind = \"cuda\"\n[work]", "sm_90"},
        {"[work]", "[[accelerator]]\nname = \"a\"\nlabel = \"CU 12\"\n[work]", "cu123.gh200"},
        {"[work]", "[[accelerator]]\nname = \"a\"\n[[accelerator]]\nname = \"b\"\n[work]", "same label"},
        {"[work]", "[[node]]\nname = \"a\"\naccelerator = \"x\"\n[work]", "[[accelerator]]"},
        {"[work]", "[[node]]\nname = \"big\"\ncores = 4\n[scheduler]\nnode = \"bgi\"\n[work]",
         "did you mean `big`"},
        {"[work]", "[[node]]\nname = \"big\"\ncores = 4\n[scheduler]\nnode = \"big\"\ncores = 8\n[work]",
         "at most 4"},
        {"version = \"3.12\"", "version = \"3.12\"\nsource = \"module\"", "python/3.11"},
        {"version = \"3.12\"", "version = \"3.12\"\nsource = \"conda\"", "conda"},
        {"[work]", "[users]\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\n[work]", "directory"},
        {"[work]", "[users]\ndirectory = \"/e\"\nmodule = \"a\"\nrequirements = [\"a==1\"]\n[work]",
         "pytorch/2.4.0"},
        {"[work]", "[users]\ndirectory = \"/e\"\nmodule = \"../1\"\nrequirements = [\"a==1\"]\n[work]",
         "../1"},
        {"[work]", "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\n[work]", "torch==2.4.0"},
        {"[work]", "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"--pre\"]\n[work]",
         "--pre"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\npython = \"3.9\"\n[work]",
         "3.9"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\nenvironment = { A = "
         "\"${B}\" }\n[work]",
         "job_environment"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\nmaster_port = 80\n[work]",
         "below 1024"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\nlibrary_path = "
         "[\"lib\"]\n[work]",
         "absolute"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\npackages = "
         "[\"--pre\"]\n[work]",
         "expected a requirement such as `h5py`, found `--pre`"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\njob_comments = "
         "[\"a\\nreboot\"]\n[work]",
         "expected one line"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\nadvice = "
         "[\"a\\nb\"]\n[work]",
         "expected one line"},
        {"[work]",
         "[users]\ndirectory = \"/e\"\nmodule = \"a/1\"\nrequirements = [\"a==1\"]\nmaster_address = "
         "\"a\\nb\"\n[work]",
         "`hostname -i`"},
    };
    REQUIRE(complaint(good).empty());
    for (const auto& row : rows) {
        CAPTURE(row.to);
        const std::string text = base::replace_all(good, row.from, row.to);
        REQUIRE(text != good);
        const std::string message = complaint(text);
        CHECK(message.find(row.message) != std::string::npos);
        CHECK(message.find("site.toml:") != std::string::npos);
        CHECK(message.find("secret") == std::string::npos);
    }
}

TEST_CASE("trailing slashes are removed from the path of a Conda environment, as Conda does") {
    const std::string text = base::replace_all(
        good, "version = \"3.12\"", "version = \"3.12\"\nsource = \"conda\"\nconda = \"/opt/miniconda3//\"");
    REQUIRE(complaint(text).empty());
    const auto site = parse_site(text, "/s/site.toml");
    REQUIRE(site.has_value());
    const auto& conda = site->pythons.back();
    CHECK(conda.conda == "/opt/miniconda3");
    CHECK(conda.conda_environment == "/opt/miniconda3");
    CHECK(conda.executable == "/opt/miniconda3/bin/python3.12");
}

TEST_CASE("a password in the registry's URL is never repeated") {
    CHECK(complaint(base::replace_all(good, "http://127.0.0.1:8080/", "http://me:hunter2@host"))
              .find("hunter2") == std::string::npos);
}

TEST_CASE(
    "another cluster is named by a key, never by an option, and only where its programs know of clusters") {
    const std::string slurm = good + std::string("[scheduler]\nkind = \"slurm\"\n");
    CHECK(parse_site(slurm + "cluster = \"other\"\n", "/site.toml")->queue.cluster == "other");
    for (const std::string option : {"--clusters=other", "--clusters other", "-M other", "-Mother"})
        CHECK(complaint(slurm + "options = [\"" + option + "\"]\n").find("name it with `cluster`") !=
              std::string::npos);
    CHECK(complaint(slurm + "[hardware_tests.gpu]\noptions = [\"-M other\"]\n").find("`cluster`") !=
          std::string::npos);
    CHECK(complaint(slurm + "[[node]]\nname = \"n\"\noptions = [\"-M other\"]\n").find("`cluster`") !=
          std::string::npos);
    CHECK(complaint(slurm + "options = [\"--mem-bind=local\", \"--clusters-of-mine\"]\n").empty());
    const std::string pbs = good + std::string("[scheduler]\nkind = \"pbs\"\n");
    CHECK(complaint(pbs + "options = [\"-M me@host\"]\n").empty());  // qsub(1B): to whom mail goes
    CHECK(complaint(pbs + "cluster = \"other\"\n").find("no other cluster") != std::string::npos);
}

TEST_CASE("a chunk's resources are PBS's alone, and one to an item") {
    const auto with = [](const std::string& kind, const std::string& chunk) {
        return good + std::string("[scheduler]\nkind = \"") + kind +
               "\"\nnode = \"n\"\n[[node]]\nname = \"n\"\nchunk = [\"" + chunk + "\"]\n";
    };
    const auto site = parse_site(with("pbs", "gpu_type=a100"), "/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->queue.chunk == std::vector<std::string>{"gpu_type=a100"});
    CHECK(complaint(with("slurm", "gpu_type=a100")).find("have no chunks") != std::string::npos);
    for (const std::string wrong : {"a100", "=a100", "gpu_type=", "gpu_type=a100:ncpus=1", "gpu_type=a b"})
        CHECK(complaint(with("pbs", wrong)).find("a resource of a chunk") != std::string::npos);
}

TEST_CASE("a site without a registry and wants is valid") {
    const auto site = parse_site(
        "config_version = 1\nname = \"x\"\n[state]\ndirectory = \"s\"\n[work]\ndirectory = \"w\"\n"
        "[[python]]\nversion = \"3.11\"\n",
        "/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(!site->registry.has_value());
}

TEST_CASE("a mistake in a site with a stack names both files") {
    const auto folder = *base::TempDir::make("site");
    const std::string with =
        base::replace_all(good, "name = \"debian12\"", "name = \"debian12\"\nstack = \"new.toml\"");
    REQUIRE(base::replace_file(folder.path() / "site.toml", with).has_value());
    REQUIRE(base::replace_file(folder.path() / "new.toml", "name = 3\n").has_value());
    const auto site = read_site(folder.path() / "site.toml");
    REQUIRE_FALSE(site.has_value());
    CHECK(site.error().text().find("name: ") != std::string::npos);
    CHECK(site.error().text().find("site.toml, and in new.toml") != std::string::npos);
    REQUIRE(base::replace_file(folder.path() / "new.toml", "name = \"other\"\n").has_value());
    CHECK(read_site(folder.path() / "site.toml")->name == "other");
}

TEST_CASE("a version to use instead may not be known to be bad itself") {
    const std::string bad = good +
                            "[[known_bad]]\npackage = \"torch\"\nversions = \"==1.10.*\"\nreason = "
                            "\"c10\"\ninstead = \"1.9.1\"\n";
    CHECK(complaint(bad) == "");
    const std::string both =
        bad + "[[known_bad]]\npackage = \"torch\"\nversions = \"<2.3\"\nreason = \"no H100\"\n";
    CHECK(complaint(both).find("`instead = \"1.9.1\"` of torch is known to be bad, too: no H100") !=
          std::string::npos);
    const std::string other =
        bad + "[[known_bad]]\npackage = \"vision\"\nversions = \"<2.3\"\nreason = \"old\"\n";
    CHECK(complaint(other) == "");
}

TEST_CASE("a package's jobs are charged to its account, unless the job has one of its own") {
    Site site;
    site.queue.account = "proj1";
    site.accounts = {{"vllm", "proj2"}};
    CHECK(site.charged(site.queue, "torch").account == "proj1");
    CHECK(site.charged(site.queue, "vllm").account == "proj2");
    QueueSettings of_tests;
    of_tests.account = "gpu-hours";
    CHECK(site.charged(of_tests, "vllm").account == "gpu-hours");
}

TEST_CASE("docs/reference/site.md describes exactly the keys that the reader accepts") {
    const auto blocks = testing::toml_blocks(testing::read_repository_file("docs/reference/site.md"));
    REQUIRE(blocks.size() == 1);
    CHECK(complaint(blocks.front()) == "");
    CHECK(test_support::keys_difference("reference/site.md", "keys", document_site_keys()) == "");
}

TEST_CASE("the sites in this repository are valid") {
    const auto site =
        read_site(std::filesystem::path(WHEELYARD_TEST_DATA) / "../site-configs/debian12/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->name == "debian12");
}

// The properties are those that uv has a provider for.
TEST_CASE("an accelerator declares its variants in words that installers have a provider for") {
    const auto with = [](const std::string& accelerator, const std::string& variant,
                         const std::string& target = "gpu-nodes") {
        const std::string to = "token_file = \"token\"\nvariants_to = \"" + target + "\"";
        return base::replace_all(good, "token_file = \"token\"", to) + "[[accelerator]]\n" + accelerator +
               "\n[accelerator.variant]\n" + variant + "\n";
    };
    const std::string cpu = "name = \"a\"", gpu = cpu + "\nkind = \"cuda\"\narchitectures = [\"sm_90\"]",
                      amd = cpu + "\nkind = \"rocm\"\narchitectures = [\"gfx90a\"]";
    const std::string driver = R"("nvidia :: cuda_version_lower_bound :: 12.6")",
                      v3 = R"("x86_64 :: level :: v3")";
    const auto declared = [](const std::string& label, const std::string& properties) {
        return "label = \"" + label + "\"\nproperties = [" + properties + "]";
    };
    const auto site =
        parse_site(with(gpu, declared("gh200", v3 + ", " + driver)), "/etc/wheelyard/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->registry->variants_to == "gpu-nodes");
    const auto& variant = site->accelerators.front().variant;
    REQUIRE(variant.has_value());
    CHECK(variant->label == "gh200");
    CHECK(variant->properties ==
          std::vector<wheel::VariantProperty>{{"nvidia", "cuda_version_lower_bound", "12.6"},
                                              {"x86_64", "level", "v3"}});
    CHECK(complaint(with(cpu, "label = \"null\"")).empty());
    CHECK(complaint(with(cpu, declared("v3", v3))).empty());

    struct Row {
        std::string text;
        const char* message;
    };
    for (const auto& [text, message] : {
             Row{with(gpu, "properties = [" + driver + "]"), "label"},
             Row{with(gpu, declared("GH200", driver)), "a-z, 0-9"},
             Row{with(gpu, declared("gh200", v3)), "oldest driver"},
             Row{with(gpu, declared("null", driver)), "`null` is the label without"},
             Row{with(cpu, declared("null", v3)), "`null` is the label without"},
             Row{with(cpu, "label = \"v1\""), "the label is `null`"},
             Row{with(cpu, declared("v3", driver)), "found `nvidia :: cuda_version"},
             Row{with(gpu, declared("a", driver + R"(, "nvidia :: sm_arch :: 90_real")")),
                 "follow from the code"},
             Row{with(gpu, declared("a", driver + R"(, "site :: mpi :: mpich")")), "no other provider"},
             Row{with(gpu, declared("a", driver + R"(, "x86_64 :: level :: v5")")), "level :: v5"},
             Row{with(gpu, declared("a", R"("nvidia :: cuda_version_lower_bound :: 12")")), ":: 12`"},
             Row{with(cpu, declared("a", v3 + R"(, "x86_64 :: level :: v2")")), "second value"},
             Row{with(amd, declared("a", "")), "no installer has a provider"},
             Row{with(cpu, "label = \"null\"\nlabels = []"), "labels"},
             Row{with(cpu, "label = \"null\"", "debian12"), "an index of their own"},
             Row{with(cpu + "\nlabel = \"a\"", "label = \"null\"") +
                     "[[accelerator]]\nname = \"b\"\n[accelerator.variant]\nlabel = \"null\"\n",
                 "same label of variants"},
             Row{base::replace_all(good, "token_file", "variants_to = \"gpu-nodes\"\ntoken_file"),
                 "[accelerator.variant]"},
         }) {
        CAPTURE(text);
        const std::string found = complaint(text);
        CAPTURE(found);
        CHECK(found.find(message) != std::string::npos);
    }
}

TEST_CASE("what a node type permits and gives is read, and builds follow it") {
    const auto with = [](const std::string& scheduler, const std::string& node) {
        return base::replace_all(good, "[work]",
                                 "[scheduler]\nkind = \"slurm\"\nnode = \"big\"\n" + scheduler +
                                     "[[node]]\nname = \"big\"\nqueue = \"whole\"\ncores = 128\n" + node +
                                     "[work]");
    };
    const auto site = parse_site(with("options = [\"--qos=a\"]\n",
                                      "exclusive = true\nmemory_per_core_mib = 256\n"
                                      "not_asked = [\"memory\"]\noptions = [\"--mem=0\"]\n"),
                                 "/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->cores == 128);
    CHECK(site->queue.queue == "whole");
    CHECK(site->queue.all_options() == std::vector<std::string>{"--qos=a", "--mem=0"});
    CHECK(site->queue.not_asked == std::vector<JobPart>{JobPart::memory});
    CHECK(site->nodes.front().memory_per_core_mib == 256);
    CHECK(parse_site(with("cores = 16\n", "exclusive = true\n"), "/site.toml")->cores == 16);
    CHECK(parse_site(with("", ""), "/site.toml")->cores == 1);
    CHECK(complaint(with("", "not_asked = [\"disk\"]\n")).find("found `disk`") != std::string::npos);
    CHECK(complaint(with("", "options = [\"qos\"]\n")).find("found `qos`") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
