// [build-system] of pyproject.toml (PEP 518, PEP 517)
#include "builder/sources/sources.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("build systems are read as PEP 517 and 518 say") {
    struct Row {
        const char* text;
        const char* build_requires;
        const char* back_end;
    };
    const Row rows[] = {
        {"", "setuptools>=40.8.0", "setuptools.build_meta:__legacy__"},
        {"[project]\nname = \"x\"\n", "setuptools>=40.8.0", "setuptools.build_meta:__legacy__"},
        {"[build-system]\nrequires = [\"flit_core >=3.3\"]\nbuild-backend = \"flit_core.buildapi\"\n",
         "flit_core >=3.3", "flit_core.buildapi"},
        {"[build-system]\nrequires = [\"setuptools\", \"wheel\"]\n", "setuptools wheel",
         "setuptools.build_meta:__legacy__"},
        {"[build-system]\nrequires = []\nbuild-backend = \"own\"\nbackend-path = [\".\"]\n[tool.x]\ny = 1\n",
         "", "own"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const auto system = parse_build_system(row.text);
        REQUIRE_MESSAGE(system.has_value(), system.error().text());
        CHECK(base::join(system->build_requires, " ") == row.build_requires);
        CHECK(system->back_end == row.back_end);
    }
}

TEST_CASE("a back end whose name could end the script's quotes is refused") {
    for (const char* text :
         {"[build-system]\nrequires = []\nbuild-backend = \"x; import os\"\n",
          "[build-system]\nrequires = []\nbuild-backend = \"x\\nEND\"\n", "[build-system\n"}) {
        CAPTURE(text);
        const auto system = parse_build_system(text);
        REQUIRE(!system.has_value());
        CHECK(system.error().code == "source.pyproject");
    }
}

TEST_CASE("what is not a PEP 508 requirement is refused before pip sees it") {
    const auto code_of = [](const std::string& entry) {
        const auto system = parse_build_system("[build-system]\nrequires = [\"wheel\", " + entry + "]\n");
        return system ? "" : system.error().code;
    };
    for (const char* entry :
         {"'--help'", "'-e .'", "'--index-url=https://example.org'", "'./local'", "'/tmp/x.whl'", "''",
          "'https://example.org/x.whl'", "'x --no-binary :all:'", "\"x\\n--help\""}) {
        CAPTURE(entry);
        CHECK(code_of(entry) == "source.pyproject");
    }
    for (const char* entry :
         {"'numpy>=1.21,<3; python_version >= \"3.9\"'", "'x[extra]'", "'x @ https://example.org/x.whl'",
          "'setuptools (>=40)'", "'setuptools_scm[toml]>=3.4, !=4.0'"}) {
        CAPTURE(entry);
        CHECK(code_of(entry) == "");
    }
}

TEST_CASE("a pyproject.toml with a key of very many parts is refused, and does not end the agent") {
    std::string key = "a";
    for (int part = 0; part < 200'000; ++part)
        key += ".a";
    const auto system = parse_build_system("[build-system]\nrequires = []\n[tool." + key + "]\n");
    REQUIRE(!system.has_value());
    CHECK(system.error().code == "source.pyproject");
}

TEST_CASE("a pyproject.toml that is a FIFO or a link is refused at once") {
    const auto folder = base::TempDir::make("no-pyproject");
    REQUIRE(folder.has_value());
    const auto file = folder->path() / "pyproject.toml";
    SUBCASE("a FIFO") {
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    }
    SUBCASE("a link") {
        std::filesystem::create_symlink("/dev/ptmx", file);
    }
    const auto system = read_build_system(folder->path());
    REQUIRE(!system.has_value());
    CHECK(system.error().code == "file.not_regular");
}

TEST_CASE("an sdist that only downloads a wheel, or only fails, is a stub") {
    struct Row {
        const char *file, *text;
        bool is_stub;
    };
    for (const auto& row :
         {// demo/pyproject.toml of wheel-stub
          Row{"pyproject.toml",
              "[build-system]\nrequires = [\"wheel_stub\"]\nbuild-backend = \"wheel_stub.buildapi\"\n", true},
          Row{"setup.py", "nvidia_pip_index_url = os.environ.get(\"NVIDIA_PIP_INDEX_URL\", \"https://x\")\n",
              true},
          Row{"ERROR.txt",
              "The package you are trying to install is only a placeholder project on PyPI.org repository.\n",
              true},
          Row{"setup.py",
              "message = 'You tried to install \"pytorch\". The package named for PyTorch is \"torch\"'\n",
              true},
          Row{"pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = \"stub.buildapi\"\n", false},
          Row{"setup.py", "from setuptools import setup\nsetup()\n", false}}) {
        CAPTURE(row.text);
        const auto folder = base::TempDir::make("stub");
        REQUIRE(folder.has_value());
        REQUIRE(base::replace_file(folder->path() / row.file, row.text).has_value());
        const auto system = read_build_system(folder->path());
        REQUIRE(system.has_value());
        const auto checked = check_builds(folder->path(), *system);
        CHECK(checked.has_value() != row.is_stub);
        if (!checked) CHECK(checked.error().code == "source.stub");
    }
}

TEST_CASE("a project without pyproject.toml has the default") {
    const auto folder = base::TempDir::make("no-pyproject");
    REQUIRE(folder.has_value());
    const auto system = read_build_system(folder->path());
    REQUIRE(system.has_value());
    CHECK(system->back_end == "setuptools.build_meta:__legacy__");
}

}  // namespace
}  // namespace wheelyard::builder
