#include <doctest/doctest.h>

#include "indexer/avail_wheels/node/python.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "indexer/avail_wheels/query/wanted.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

struct Files {
    base::TempDir folder = *base::TempDir::make("wheelyard-requirements-test");

    std::filesystem::path write(const std::string& name, std::string_view text) const {
        const auto path = folder.path() / name;
        std::filesystem::create_directories(path.parent_path());
        REQUIRE(base::replace_file(path, text));
        return path;
    }
};

std::vector<std::string> texts_of(const std::vector<Wanted>& wanted) {
    std::vector<std::string> texts;
    for (const auto& one : wanted)
        texts.push_back(one.name + one.specifiers.text());
    return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a file of UTF-16 is refused with what to do") {
    const Files files;
    const auto read =
        read_requirements(files.write("requirements.txt", std::string_view("\xFF\xFEn\0u\0", 6)), {});
    REQUIRE(!read);
    CHECK(read.error().code == "wanted.encoding");
    CHECK(read.error().advice.find("iconv") != std::string::npos);
}

TEST_CASE("a requirements file is read as in pip, limited to project names") {
    const Files files;
    files.write("more/base.txt", "numpy>=1.21\n-r nested.txt\n");
    files.write("more/nested.txt", "six\n");
    const auto file = files.write("requirements.txt",
                                  "# the stack\n"
                                  "torch==2.4.0  # pinned\n"
                                  "scipy \\\n"
                                  "  <2\n"
                                  "\n"
                                  "--index-url https://host/simple\n"
                                  "-e ./checkout\n"
                                  "./local/thing-1.0-py3-none-any.whl\n"
                                  "https://host/thing-1.0-py3-none-any.whl\n"
                                  "h5py==3.11.0 --hash=sha256:00ff\n"
                                  "tomli; python_version < '3.11'\n"
                                  "-r more/base.txt\n"
                                  "pkg @ https://host/pkg-1.0.tar.gz#egg=pkg\n");
    const auto wanted = read_requirements(file, {});
    if (!wanted) FAIL(wanted.error().text());
    CHECK(texts_of(*wanted) ==
          Texts{"torch==2.4.0", "scipy<2", "h5py==3.11.0", "tomli", "numpy>=1.21", "six", "pkg"});
    CHECK(wanted->at(3).marker.has_value());
}

TEST_CASE("the hashes of a requirement are those that installers allow") {
    const Files files;
    files.write("bounds.txt", "six==1.17.0 --hash=sha256:0a\nnumpy --hash=sha256:ee\n");
    const auto wanted = read_requirements(files.write("requirements.txt",
                                                      "h5py==3.11.0 \\\n"
                                                      "    --hash=sha256:00FF \\\n"
                                                      "    --hash sha256:11aa\n"
                                                      "torch==2.4.0\n"
                                                      "scipy==1.15.0 --hash=sha256:22bb --hash=sha512:33cc\n"
                                                      "six\n"
                                                      "numpy==2.0.0 --hash=sha256:dd\n"
                                                      "-c bounds.txt\n"),
                                          {});
    REQUIRE(wanted);
    REQUIRE(wanted->size() == 5);
    CHECK(wanted->at(0).specifiers.text() == "==3.11.0");
    CHECK(wanted->at(0).sha256s == Texts{"00ff", "11aa"});
    CHECK(wanted->at(1).sha256s.empty());
    CHECK(wanted->at(2).sha256s.empty());  // one is of another algorithm
    CHECK(wanted->at(3).sha256s == Texts{"0a"});
    CHECK(wanted->at(4).sha256s == Texts{"dd"});
}

TEST_CASE("constraints bind what others name, and variables in capitals are expanded where they are set") {
    const Files files;
    files.write("bounds.txt", "Scikit_Learn<1.5\nnumpy<2; python_version < '3.9'\nh5py==3.11.0\n");
    const auto wanted = read_requirements(files.write("requirements.txt",
                                                      "scikit-learn>=1.3\n-c bounds.txt\nnumpy\n"
                                                      "${WHEELYARD_TEST_NAME}==2.4.0\n"),
                                          {{"WHEELYARD_TEST_NAME", "torch"}});
    REQUIRE(wanted);
    CHECK(texts_of(*wanted) == Texts{"scikit-learn>=1.3,<1.5", "numpy", "torch==2.4.0"});
    const auto twice = read_requirements(
        files.write("twice.txt", "numpy\n-r a.txt\nsix\nSix>1; python_version < '3'\n"), {});
    CHECK_FALSE(twice.has_value());
    files.write("a.txt", "NumPy<2\n");
    CHECK(texts_of(*read_requirements(
              files.write("twice.txt", "numpy\n-r a.txt\nsix\nSix>1; python_version < '3'\n"), {})) ==
          Texts{"numpy<2", "six", "Six>1"});
    const auto unset = read_requirements(files.write("unset.txt", "${WHEELYARD_TEST_NAME}==2.4.0\n"), {});
    REQUIRE_FALSE(unset);
    CHECK(unset.error().text().find("${WHEELYARD_TEST_NAME}") != std::string::npos);
}

TEST_CASE("only the project's dependencies are read from a pyproject.toml") {
    const Files files;
    const auto file = files.write("pyproject.toml",
                                  "[build-system]\nrequires = [\"setuptools\"]\n"
                                  "[project]\nname = \"mine\"\ndependencies = [\"numpy<2\", \"torch\"]\n"
                                  "[tool.ruff]\nline-length = 100\n");
    const auto wanted = read_requirements(file, {});
    REQUIRE(wanted);
    CHECK(texts_of(*wanted) == Texts{"numpy<2", "torch"});
}

TEST_CASE("a pylock.toml names its packages with their versions") {
    const Files files;
    for (const char* name : {"pylock.toml", "pylock.gpu.toml"}) {
        const auto wanted = read_requirements(
            files.write(
                name,
                "lock-version = \"1.0\"\ncreated-by = \"pip\"\n"
                "[[packages]]\nname = \"numpy\"\nversion = \"2.1.0\"\n"
                "[[packages.wheels]]\nname = \"numpy-2.1.0-cp312-cp312-linux_x86_64.whl\"\n"
                "[[packages]]\nname = \"tomli\"\nversion = \"2.0\"\nmarker = \"python_version < '3.11'\"\n"
                "[[packages]]\nname = \"mine\"\ndirectory = { path = \".\" }\n"),
            {});
        if (!wanted) FAIL(wanted.error().text());
        CHECK(texts_of(*wanted) == Texts{"numpy==2.1.0", "tomli==2.0", "mine"});
        CHECK(wanted->at(1).marker.has_value());
    }
}

TEST_CASE("the markers of a pylock.toml may ask for groups, and its default groups hold") {
    const Files files;
    const auto wanted = read_requirements(
        files.write(
            "pylock.toml",
            "lock-version = \"1.0\"\ncreated-by = \"pip\"\ndefault-groups = [\"My.Default\"]\n"
            "[[packages]]\nname = \"numpy\"\nmarker = \"'my-default' in dependency_groups\"\n"
            "[[packages]]\nname = \"pytest\"\nmarker = \"'dev' in dependency_groups or 'all' in extras\"\n"),
        {});
    if (!wanted) FAIL(wanted.error().text());
    CHECK(texts_of(applicable(*wanted, {*parse_python("3.11")}, "x86_64")) == Texts{"numpy"});
}

TEST_CASE("a byte order mark is no part of the first name") {
    const Files files;
    const auto wanted = read_requirements(files.write("requirements.txt", "\xEF\xBB\xBFnumpy\nsix\n"), {});
    if (!wanted) FAIL(wanted.error().text());
    CHECK(texts_of(*wanted) == Texts{"numpy", "six"});
    CHECK(texts_of(*read_requirements(
              files.write("pyproject.toml", "\xEF\xBB\xBF[project]\ndependencies = [\"six\"]\n"), {})) ==
          Texts{"six"});
}

TEST_CASE("an invalid line is reported with file and line number") {
    const Files files;
    const auto file = files.write("requirements.txt", "six\n\nnumpy=1.0\n");
    const auto wanted = read_requirements(file, {});
    REQUIRE(!wanted);
    CHECK(wanted.error().sentence.find("requirements.txt:3: ") != std::string::npos);
    CHECK(wanted.error().value == "numpy=1.0");
}

TEST_CASE("files that include each other give an error, not a crash") {
    const Files files;
    files.write("a.txt", "-r b.txt\n");
    const auto wanted = read_requirements(files.write("b.txt", "-r a.txt\n"), {});
    REQUIRE(!wanted);
    CHECK(wanted.error().code == "wanted.nesting");
}

TEST_CASE("a missing file gives an error with its name") {
    const Files files;
    const auto wanted = read_requirements(files.folder.path() / "absent.txt", {});
    REQUIRE(!wanted);
    CHECK(wanted.error().code == "os.ENOENT");
}
