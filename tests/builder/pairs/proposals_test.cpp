// What the metadata of real releases says of a table, through the index and the commands.
#include "builder/pairs/proposals.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "builder/commands.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/io/json.hpp"
#include "tests/builder/pairs/recorded_index.hpp"
#include "tests/support/redirected.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// A person's rows. Of torch 2.13 they say CUDA 12 alone, which is not so.
const std::string table = R"(config_version = 1
pair = [
    { package = "torchvision", versions = "==0.20.1", with = "torch", allowed = "==2.5.1", use = "companion", source = "a" },
    { package = "torchaudio", versions = "==2.5.1", with = "torch", allowed = "==2.5.1", use = "companion", source = "a" },
    { package = "torchaudio", versions = "==2.11.0", with = "torch", allowed = ">=2.11.0", use = "companion", stable_abi = true, source = "a", why = "tested" },
    { package = "torchmetrics", versions = "==1.0.3", with = "torch", allowed = ">=1.8.1", use = "companion", source = "a" },
    { package = "horovod", versions = "==0.28.1", with = "torch", allowed = "<2.1", use = "companion", source = "a" },
    { package = "flash-attn", versions = "==2.8.2", with = "torch", allowed = ">=2.2", use = "companion", source = "a" },
    { package = "vllm", versions = "==0.8.0", with = "torch", allowed = "==2.6.0", use = "companion", source = "a" },
    { package = "torch", versions = ">=2.5,<2.15", with = "python", allowed = ">=3.9,<3.15", use = "machine", source = "a" },
    { package = "torch", versions = "==2.5.*", with = "cuda", allowed = ">=11.8,<12.5", use = "machine", source = "a" },
    { package = "torch", versions = ">=2.13,<2.15", with = "cuda", allowed = ">=12.6,<13", use = "machine", source = "a" },
    { package = "torch", versions = ">=2.4,<2.15", with = "cudnn", allowed = ">=9", use = "machine", source = "a" },
]
[sources]
a = "https://a.example/"
)";

struct Outcome {
    int status = -1;
    std::string out, err;
    std::string table;
};

Outcome run(int (*command)(const Arguments&), const std::string& index, const std::string& text,
            bool json = false) {
    const base::TempDir folder = *base::TempDir::make("pairs");
    const fs::path file = folder.path() / "versions.toml";
    REQUIRE(base::replace_file(file, text).has_value());
    Arguments arguments;
    arguments.name = file;
    arguments.index = index;
    arguments.json = json;
    Outcome outcome;
    {
        const test_support::Redirected out(STDOUT_FILENO, folder.path() / "out");
        const test_support::Redirected err(STDERR_FILENO, folder.path() / "err");
        outcome.status = command(arguments);
    }
    outcome.out = *base::read_file(folder.path() / "out", 1 << 20);
    outcome.err = *base::read_file(folder.path() / "err", 1 << 20);
    outcome.table = *base::read_file(file, 1 << 20);
    return outcome;
}

// "proposed torchvision==0.29.2 torch>=2.14.0" of each line of the JSON.
std::vector<std::string> findings(const std::string& json) {
    const auto document = io::parse_json(json);
    REQUIRE(document.has_value());
    std::vector<std::string> all;
    for (const auto& line : document->items("lines"))
        all.push_back(*line.string_at("finding") + " " + *line.string_at("package") +
                      *line.string_at("versions") + " " + *line.string_at("with") +
                      *line.string_at("allowed"));
    return all;
}

TEST_CASE("rows are proposed, contradicted and lacking as the metadata of public wheels says") {
    const testing::RecordedIndex index;
    const auto outcome = run(run_pairs_check, index.url(), table, true);
    CHECK(outcome.status == 1);
    CHECK(outcome.table == table);
    // https://pypi.org/project/torchvision/0.29.2/ and the like; 0.29.0 is for torch 2.14.0 alone, which 0.29.2 serves too.
    CHECK(findings(outcome.out) == std::vector<std::string>{
                                       "unread vllm ",
                                       "proposed torchvision==0.28.0 torch==2.13.0",
                                       "proposed torchvision==0.29.2 torch>=2.14.0",
                                       "proposed xformers==0.0.29.post1 torch==2.5.1",
                                       "proposed xformers==0.0.35 torch>=2.10",
                                       "proposed torchmetrics==1.9.0 torch>=2.0.0",
                                       "proposed triton==3.1.0 torch==2.5.1",
                                       "proposed triton==3.7.1 torch==2.13.0",
                                       "proposed triton==3.8.0 torch==2.14.*",
                                       "proposed triton==3.9.0 torch==2.15.0",
                                       "proposed torch==2.15.* python>=3.11,<3.16",
                                       "proposed torch==2.15.* cudnn>=9",
                                       "differs torch>=2.13,<2.15 cuda>=12.6,<13",
                                       "differs torch>=2.13,<2.15 cuda>=12.6,<13",
                                       "lacking torch==2.15.* cuda",
                                       "newer flash-attn==2.8.3.post2 torch",
                                   });
}

TEST_CASE("a tag that names no minor version of Python is none of a release") {
    testing::RecordedIndex index;
    index.add("torch-2.16.0-cp3rc1-cp3rc1-linux_x86_64.whl",
              "Metadata-Version: 2.1\nName: torch\nVersion: 2.16.0\nRequires-Python: >=3.11\n");
    const auto outcome = run(run_pairs_check, index.url(), table, true);
    CHECK(outcome.status == 1);
    for (const auto& one : findings(outcome.out))
        CHECK_MESSAGE(one.find("2.16") == std::string::npos, one);
}

TEST_CASE("the proposed Pythons begin with the highest bound of Requires-Python") {
    testing::RecordedIndex index;
    index.add("torch-2.16.0-cp312-cp312-manylinux_2_28_x86_64.whl",
              "Metadata-Version: 2.1\nName: torch\nVersion: 2.16.0\nRequires-Python: "
              "!=3.11.0,>=3.11,>=3.10,<3.16\n");
    const auto found = findings(run(run_pairs_check, index.url(), table, true).out);
    CHECK(std::find(found.begin(), found.end(), "proposed torch==2.16.* python>=3.11,<3.13") != found.end());
}

TEST_CASE("an update adds the proposed rows, and the next check proposes none") {
    const testing::RecordedIndex index;
    const auto updated = run(run_pairs_update, index.url(), table);
    CHECK(updated.status == 1);  // what differs stays a person's
    for (const auto line : base::split_lines(table))
        CHECK_MESSAGE(updated.table.find(std::string(line) + "\n") != std::string::npos, line);
    const std::string vision =
        "{ package = \"torchvision\", versions = \"==0.29.2\", with = \"torch\", allowed = \">=2.14.0\", use "
        "= "
        "\"companion\", stable_abi = true, source = \"torchvision-releases\", why = \"its wheel requires "
        "it\" },";
    CHECK(updated.table.find(vision) != std::string::npos);
    CHECK(updated.table.find("torchvision-releases = \"" + index.url() + "torchvision/\"") !=
          std::string::npos);
    const auto again = run(run_pairs_update, index.url(), updated.table);
    CHECK(again.table == updated.table);
    CHECK(again.out.find("proposed") == std::string::npos);
}

TEST_CASE("a table that says it all is well") {
    const testing::RecordedIndex index;
    std::string whole = run(run_pairs_update, index.url(), table).table;
    whole = base::replace_all(whole, ">=12.6,<13\"", ">=12.6,<13.3\"");
    whole = base::replace_all(whole, "\"==2.8.2\"", "\"==2.8.3.post2\"");
    const auto vllm = whole.find("    { package = \"vllm\"");
    whole.erase(vllm, whole.find('\n', vllm) + 1 - vllm);
    whole = base::replace_all(
        whole, "    { package = \"torch\", versions = \">=2.13,<2.15\", with = \"cuda\"",
        "    { package = \"torch\", versions = \"==2.15.*\", with = \"cuda\", allowed = \">=13\", use = "
        "\"machine\", source = "
        "\"a\" },\n    { package = \"torch\", versions = \">=2.13,<2.15\", with = \"cuda\"");
    const auto outcome = run(run_pairs_check, index.url(), whole, true);
    // vLLM is always asked for, and this index has none.
    CHECK(findings(outcome.out) == std::vector<std::string>{"unread vllm "});
    testing::RecordedIndex with_vllm;
    with_vllm.add("vllm-0.7.3.tar.gz", "");
    const auto well = run(run_pairs_check, with_vllm.url(), whole);
    CHECK(well.status == 0);
    CHECK(well.out.find("0 to look at, ") == 0);
}

TEST_CASE("pre-releases, local versions and requirements of extras say nothing") {
    testing::RecordedIndex index;
    const std::string head = "Metadata-Version: 2.1\nName: torchvision\nVersion: ";
    index.add("torchvision-0.30.0rc1-cp312-cp312-manylinux_2_28_x86_64.whl",
              head + "0.30.0rc1\nRequires-Dist: torch==2.15.0\n");
    index.add("torchvision-0.30.1+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
              head + "0.30.1+cu130\nRequires-Dist: torch==2.15.0\n");
    index.add("torchvision-0.31.0-cp312-cp312-manylinux_2_28_x86_64.whl",
              head + "0.31.0\nRequires-Dist: torch==2.15.0 ; extra == \"x\"\n");
    const auto outcome = run(run_pairs_check, index.url(), table, true);
    CHECK(outcome.out.find("0.30.") == std::string::npos);
    CHECK(outcome.out.find("0.31.") == std::string::npos);
}

TEST_CASE("a requirement counts where its marker holds for the wheel's Python and machine on Linux") {
    const std::string head = "Metadata-Version: 2.1\nName: torchvision\nVersion: 0.40.0\n";
    const auto proposed = [&](const std::string& filename, const std::string& lines) {
        testing::RecordedIndex index;
        index.add(filename, head + lines);
        std::string found;
        for (const auto& one : findings(run(run_pairs_check, index.url(), table, true).out)) {
            if (one.starts_with("proposed torchvision==0.40.0 ")) found = one.substr(29);
        }
        return found;
    };
    const std::string x86 = "torchvision-0.40.0-cp312-cp312-manylinux_2_28_x86_64.whl";
    const std::string arm = "torchvision-0.40.0-cp312-cp312-manylinux_2_28_aarch64.whl";
    const std::string systems =
        "Requires-Dist: torch==9.1.0; platform_system == \"Darwin\"\n"
        "Requires-Dist: torch==9.2.0; platform_system == \"Linux\"\n";
    CHECK(proposed(x86, systems) == "torch==9.2.0");
    const std::string machines =
        "Requires-Dist: torch==9.1.0; platform_machine == \"aarch64\"\n"
        "Requires-Dist: torch==9.2.0; platform_machine == \"x86_64\"\n";
    CHECK(proposed(x86, machines) == "torch==9.2.0");
    CHECK(proposed(arm, machines) == "torch==9.1.0");
    const std::string pythons =
        "Requires-Dist: torch==9.1.0; python_version >= \"3.13\"\n"
        "Requires-Dist: torch==9.2.0; python_version < \"3.13\"\n";
    CHECK(proposed(x86, pythons) == "torch==9.2.0");
    CHECK(proposed("torchvision-0.40.0-cp313-cp313-manylinux_2_28_x86_64.whl", pythons) == "torch==9.1.0");
    // A wheel for every Python: the oldest that it allows.
    CHECK(proposed("torchvision-0.40.0-py3-none-any.whl", "Requires-Python: >=3.13,<4\n" + pythons) ==
          "torch==9.1.0");
    // The highest of several bounds counts, whatever their order and operators (PEP 440).
    for (const char* requires_python :
         {">=3.13,>=3.8", ">=3.8,>=3.13", "~=3.13", "!=3.12.*,<4,>3.11.999", "==3.13.*"}) {
        CAPTURE(requires_python);
        CHECK(proposed("torchvision-0.40.0-py3-none-any.whl",
                       "Requires-Python: " + std::string(requires_python) + "\n" + pythons) ==
              "torch==9.1.0");
    }
    CHECK(proposed("torchvision-0.40.0-py3-none-any.whl", "Requires-Python: >=3.12.4,<4\n" + pythons) ==
          "torch==9.2.0");
    // One that bounds nothing is for the Pythons of today, not for 3.0.
    CHECK(proposed("torchvision-0.40.0-py3-none-any.whl", pythons) == "torch==9.1.0");
    CHECK(proposed("torchvision-0.40.0-py2.py3-none-any.whl", "Requires-Dist: torch>=9.1.0\n") ==
          "torch>=9.1.0");
    CHECK(proposed("torchvision-0.40.0-py313-none-any.whl", pythons) == "torch==9.1.0");
    CHECK(proposed("torchvision-0.40.0-py312-none-any.whl", pythons) == "torch==9.2.0");
    // The name of a marker's variable in a name or a text is no extra.
    CHECK(proposed(x86, "Requires-Dist: torch==9.3.0; \"extra\" != platform_machine\n") == "torch==9.3.0");
    CHECK(
        proposed(x86, "Requires-Dist: torch==9.4.0; extra == \"x\" or python_version >= \"3.13\"\n").empty());
}

TEST_CASE("an index that does not answer fails, and an invalid table is a matter of usage") {
    CHECK(run(run_pairs_check, "http://127.0.0.1:9/simple/", table).status == 1);
    const auto invalid = run(run_pairs_update, "http://127.0.0.1:9/simple/", "config_version = 2\n");
    CHECK(invalid.status == 2);
    CHECK(invalid.table == "config_version = 2\n");
}

TEST_CASE("the source of a row is a page that people read") {
    CHECK(page_for_people("https://pypi.org/simple/", "torch") == "https://pypi.org/project/torch/");
    CHECK(page_for_people("https://h.example/root", "torch") == "https://h.example/root/torch/");
}

}  // namespace
}  // namespace wheelyard::builder
