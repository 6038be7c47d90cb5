// The rendered script: golden files, bash syntax, and its behaviour when it runs twice, fails, or is stopped.
#include "builder/script/script.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>

#include "builder/attempt/job_files.hpp"
#include "tests/builder/demo_build.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;
namespace fs = std::filesystem;

Attempt example() {
    Attempt attempt;
    attempt.id = "w1ng012h6crvmar";
    attempt.asked.cell = "rapid-fuzz-3.14.3-cp311";
    attempt.asked.package = "rapid-fuzz";
    attempt.asked.version = "3.14.3";
    attempt.asked.python = "3.11";
    attempt.number = 2;
    attempt.source.kind = "sdist";
    attempt.source.folder = "rapid_fuzz-3.14.3";
    attempt.source.back_end = "scikit_build_core.build";
    attempt.source.build_requires = {"scikit-build-core>=0.11", "cython; python_version < '4'"};
    return attempt;
}

std::string render(const Attempt& attempt, const Recipe& recipe, Environment environment = {},
                   const fs::path& governor = {}) {
    Site site;
    site.name = "debian12";
    site.cores = 4;
    site.state_directory = "/home/wheelyard/state";
    site.environment = std::move(environment);
    const AttemptFolder folder{"/work/attempts/w1ng012h6crvmar", "/work/trees/rapid-fuzz-1"};
    return render_script({site, recipe, attempt, "/usr/bin/python3.11", folder, governor});
}

base::Finished bash(const std::vector<std::string>& arguments,
                    const EnvironmentMap& environment = base::current_environment()) {
    base::Command command;
    command.argv = {"/bin/bash"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = environment;
    auto finished = base::run_command(command);
    REQUIRE(finished.has_value());
    return *finished;
}

TEST_CASE(
    "what is built against another package finds it in the index, and without a registry in the work "
    "folder") {
    Site site;
    site.name = "debian12";
    site.work_directory = "/var/tmp/work";
    Attempt attempt = example();
    const AttemptFolder folder{"/work/attempts/w1ng012h6crvmar"};
    const auto rendered = [&] {
        return render_script(
            {site, default_recipe("rapid-fuzz"), attempt, "/usr/bin/python3.11", folder, {}});
    };
    CHECK(rendered().find("--find-links") == std::string::npos);
    attempt.asked.against = "mpi4py==4.1.2+debian12";
    CHECK(rendered().find("pip install --find-links /var/tmp/work/wheels \"$@\"") != std::string::npos);
    site.registry = RegistrySettings{"https://wheels.example.org", "main", "token"};
    CHECK(rendered().find("pip install --extra-index-url https://wheels.example.org/main/simple/ \"$@\"") !=
          std::string::npos);
}

TEST_CASE("a wheel is tested without a pip, but where the recipe has a test of its own") {
    Attempt attempt = example();
    Recipe recipe = default_recipe("rapid-fuzz");
    const std::string without = "rm -f \"$folder\"/smoke/lib/*/site-packages/pip.pth";
    const std::string own_pip = "\n\"$python\" -m venv \"$";  // installs one, which takes seconds
    const auto count = [](std::string_view text, std::string_view part) {
        const std::string marked = base::replace_all(text, part, "\f");
        return std::count(marked.begin(), marked.end(), '\f');
    };
    CHECK(count(render(attempt, recipe), without) == 1);
    CHECK(count(render(attempt, recipe), own_pip) == 1);
    recipe.test_command = "python -m pip check";
    CHECK(count(render(attempt, recipe), without) == 0);
    CHECK(count(render(attempt, recipe), own_pip) == 2);
    attempt.asked.closure = ClosurePart{};
    CHECK(count(render(attempt, recipe), without) == 0);
    recipe.test_command.clear();
    CHECK(count(render(attempt, recipe), without) == 1);
}

// The names are those of torch's source; the files are ours.
TEST_CASE("the source's own tests run by themselves, and what is not run or cut is named") {
    const auto folder = *base::TempDir::make("own");
    testing::write(folder.path() / "bin/python", "#!/bin/bash\nexec python3 \"$@\"\n", 0755);
    const fs::path source = folder.path() / "tree/rapid_fuzz-3.14.3";
    testing::write(source / "test/common.py", "where = 'beside the test'\n");
    testing::write(source / "test/test_indexing.py",
                   "import common, os\nprint(common.where, os.path.basename(os.getcwd()))\n");
    testing::write(source / "test/test_linalg.py", "raise SystemExit('wrong digits')\n");
    testing::write(source / "test/test_ops.py", "import signal\nsignal.pause()\n");
    Recipe recipe = default_recipe("rapid-fuzz");
    const auto ran = [&](const std::vector<std::string>& files, const std::string& seconds) {
        recipe.own_tests = {files, 10, {}};
        const std::string whole = render(example(), recipe);
        std::string part = whole.substr(whole.find("begin own_tests\n"));
        part = base::replace_all(part, "SECONDS + 600", "SECONDS + " + seconds);
        return bash(
            {"-euc", "begin() { echo \"phase $1\"; }\nbuild=" + base::quote_shell(folder.path().string()) +
                         "\nPATH=$build/bin:$PATH\n" + part});
    };
    const auto passed = ran({"test/test_indexing.py", "test/test_fx.py"}, "600");
    CHECK(passed.exit_code == 0);
    CHECK(passed.out ==
          "phase own_tests\nbeside the test test\nown tests: test/test_indexing.py: passed\n"
          "own tests: test/test_fx.py: not run, the source does not have it\nphase done\n");
    const auto failed = ran({"test/test_linalg.py", "test/test_indexing.py"}, "600");
    CHECK(failed.exit_code == 0);
    CHECK(failed.err == "wrong digits\n");
    CHECK(failed.out.find(
              "test/test_indexing.py: passed\nown tests failed: test/test_linalg.py; the wheel is kept") !=
          std::string::npos);
    const auto cut = ran({"test/test_ops.py", "test/test_linalg.py"}, "1");
    CHECK(cut.exit_code == 0);
    CHECK(cut.out ==
          "phase own_tests\nown tests: test/test_ops.py: cut, their minutes are over\n"
          "own tests: test/test_linalg.py: not run, their minutes are over\nphase done\n");

    recipe.own_tests.requires_too = {"expecttest"};
    CHECK(render(example(), recipe).find("/wheel/*.whl expecttest\n") != std::string::npos);
    Attempt reproduced = example();
    reproduced.asked.purpose = Purpose::reproduction;
    CHECK(render(reproduced, recipe).find("own_tests") == std::string::npos);
    recipe.source = SourceKind::upstream;
    CHECK(render(example(), recipe).find("own_tests") == std::string::npos);
    CHECK(render(example(), recipe).find("expecttest") == std::string::npos);
}

TEST_CASE("rendered scripts match the golden files, and bash accepts them") {
    Recipe full = default_recipe("rapid-fuzz");
    full.build_requires = {"ninja>=1.11"};
    full.test_requires = {"pytest>=8"};
    full.build_environment = {{"CXXFLAGS", "-O2 -g"}, {"EMPTY", ""}};
    full.imports = {"rapidfuzz", "rapidfuzz.fuzz"};
    full.test_command = "python -c 'import rapidfuzz; print(\"{{name}}\")'";
    Attempt odd = example();
    odd.source.back_end_path = {".", "build \"system\""};
    odd.source.folder = "it's here";
    odd.source.build_requires.clear();
    Attempt asking = example();
    asking.job.memory_mib = 6000;
    Attempt resumed = example();
    resumed.job.builds_in = "w1ng00000000000";
    Attempt of_closure = example();
    of_closure.asked.closure = ClosurePart{};
    of_closure.asked.closure->lock = {{"scikit_build_core-0.11.5-py3-none-any.whl", "sha256:cc"}};
    const std::pair<std::string, std::string> scripts[] = {
        {"builder/default", render(example(), default_recipe("rapid-fuzz"), {}, "/opt/my governor")},
        {"builder/full", render(asking, full, {{"CC", "gcc"}}, "/opt/wheelyard/wheelyard-governor")},
        {"builder/ungoverned", render(odd, default_recipe("rapid-fuzz"))},
        {"builder/resumed", render(resumed, default_recipe("rapid-fuzz"))},
        {"builder/closure", render(of_closure, default_recipe("rapid-fuzz"), {}, "/opt/my governor")},
    };
    for (const auto& [golden, script] : scripts) {
        const std::string& whole = scripts[0].second;
        CHECK((script == whole
                   ? test_support::golden_difference(golden + ".sh", script)
                   : test_support::golden_changes(golden, scripts[0].first, whole, script)) == "");
        const base::Finished checked = bash({"-n", "-c", script});
        CHECK_MESSAGE(checked.exit_code == 0, checked.err);
    }
}

// A script of the farm's demo project, written and ready to run.
struct Ready {
    Farm farm;
    AttemptFolder folder{farm.folder.path() / "w1ng012h6crvmar", farm.folder.path() / "trees" / "demo-1"};
    EnvironmentMap environment = job_environment(base::current_environment());

    explicit Ready(const std::string& test_command = "", const std::string& builds_in = "",
                   const std::function<void(Site&)>& change = {}) {
        if (change) change(farm.site);
        Attempt attempt = example();
        attempt.job.builds_in = builds_in;
        attempt.asked.package = "demo";
        attempt.source.folder = "demo";
        Recipe recipe = default_recipe("demo");
        recipe.test_command = test_command;
        testing::must(base::make_directories(folder.root));
        testing::write(folder.used_by(), attempt.id + "\n");
        testing::write(folder.tree() / "demo" / "setup.py", "");
        testing::write(folder.script(),
                       render_script({farm.site, recipe, attempt, farm.folder.path() / "python", folder}));
    }
    [[nodiscard]] base::Finished run() const { return bash({folder.script().string()}, environment); }
    [[nodiscard]] ExitRecord record() const {
        const auto read = read_exit_record(folder, "w1ng012h6crvmar");
        REQUIRE_MESSAGE(read.has_value(), read.error().text());
        REQUIRE(read->has_value());
        return **read;
    }
};

TEST_CASE("a script runs its phases and records them durably") {
    const Ready ready;
    const base::Finished finished = ready.run();
    CHECK_MESSAGE(finished.exit_code == 0, finished.out << finished.err);
    const ExitRecord record = ready.record();
    CHECK(record.exit_code == 0);
    std::vector<std::string> names;
    for (const auto& phase : record.phases)
        names.push_back(phase.name);
    CHECK(base::join(names, " ") == "venv requirements build smoke done");
    CHECK(record.phases.front().began <= record.ended);
    CHECK(finished.out.find("@@wheelyard phase=build at=20") != std::string::npos);
    const auto owner = parse_owner(testing::read(ready.folder.owner()));
    REQUIRE(owner.has_value());
    CHECK(owner->host == base::host_name());
    CHECK(owner->pid > 1);
    CHECK(owner->start > 0);
}

TEST_CASE("success is recorded only after the wheel and its folder are durable") {
    for (const std::string failing : {"0", "5"}) {
        CAPTURE(failing);
        Ready ready;
        const fs::path shims = ready.farm.folder.path() / "shims";
        const fs::path synced = ready.farm.folder.path() / "synced";
        testing::write(shims / "sync",
                       "#!/bin/bash\necho \"$@\" >> " + base::quote_shell(synced.string()) + "\ntest ! -e " +
                           base::quote_shell(ready.folder.exit_record().string()) +
                           " || exit 0\ncase \"$*\" in *.whl*) exit " + failing + " ;; esac\n",
                       0755);
        ready.environment["PATH"] = shims.string() + ":" + ready.environment["PATH"];
        CHECK(ready.run().exit_code == 0);
        const std::string text = testing::read(synced);
        const auto lines = base::split_lines(text);
        REQUIRE(lines.size() == 3);
        CHECK(lines[0].starts_with(ready.folder.wheel().string() + " "));
        CHECK(lines[0].find(".whl") != std::string::npos);
        CHECK(lines[1].find("exit.json.tmp") != std::string::npos);
        CHECK(ready.record().exit_code == (failing == "0" ? 0 : 74));
        CHECK(ready.record().phase == (failing == "0" ? "done" : "sync"));
    }
}

TEST_CASE("a second start of the same attempt changes nothing") {
    const Ready ready;
    REQUIRE(ready.run().exit_code == 0);
    const std::string before = testing::read(ready.folder.exit_record());
    CHECK(ready.run().exit_code == 0);
    CHECK(testing::read(ready.folder.exit_record()) == before);
    CHECK(ready.farm.builds() == 1);
}

// Sets the time of the last write to `age` ago.
void set_age(const fs::path& file, std::chrono::seconds age) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

TEST_CASE("a resumed build rebuilds only the files that were being written when it was interrupted") {
    const Ready ready("", "earlier");
    const fs::path objects = ready.folder.tree() / "demo" / "build";
    struct Row {
        const char* name;
        const char* content;
        std::chrono::seconds age;
        bool stays;
    };
    using std::chrono::seconds;
    const Row rows[] = {
        {"long_done.o", "object", seconds(3600), true}, {"just_before.o", "half an obj", seconds(30), false},
        {"never_begun.o", "", seconds(3600), false},    {"lib_half.so", "half", seconds(10), false},
        {"lib_done.a", "archive", seconds(3600), true}, {"lib_half.a", "half", seconds(0), false},
        {"generated.cpp", "int x;", seconds(0), true},  {"it is odd.o", "object", seconds(3600), true},
        {"logged.o", "object", seconds(10), true},      {"logged by path.o", "object", seconds(10), true},
        {"sub/logged.o", "half", seconds(10), false},   {"sub/logged_empty.o", "", seconds(10), false},
        {"half odd.o", "half", seconds(10), false},
    };
    set_age(ready.folder.tree() / "demo" / "setup.py", seconds(7200));
    testing::write(objects / ".ninja_log",
                   "# ninja log v6\n0\t9\t1784000000000000000\tlogged.o\tabc\n0\t9\t1784000000000000000\t" +
                       (objects / "logged by path.o").string() +
                       "\tabc\n0\t9\t1784000000000000000\tsub/logged_empty.o\tabc\n");
    for (const auto& row : rows) {
        testing::write(objects / row.name, row.content);
        set_age(objects / row.name, row.age);
    }
    const base::Finished finished = ready.run();
    CHECK_MESSAGE(finished.exit_code == 0, finished.out << finished.err);
    for (const auto& row : rows) {
        CAPTURE(row.name);
        CHECK(fs::exists(objects / row.name) == row.stays);
    }
}

TEST_CASE("an empty tree can be resumed") {
    const Ready ready("", "earlier");
    fs::remove(ready.folder.tree() / "demo" / "setup.py");
    CHECK(ready.run().exit_code == 0);
}

// Locks a build tree like a job that its scheduler lost: through an inherited descriptor, until released.
struct OtherJob {
    int descriptor;
    explicit OtherJob(const AttemptFolder& folder)
        : descriptor(::open(folder.fence().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
        REQUIRE(::flock(descriptor, LOCK_EX) == 0);
    }
    OtherJob(const OtherJob&) = delete;
    OtherJob& operator=(const OtherJob&) = delete;
    ~OtherJob() { ::close(descriptor); }
};

void wait_at_most(const fs::path& script, const std::string& seconds) {
    testing::write(
        script, base::replace_all(testing::read(script), "flock -w 120 ", "flock -w " + seconds + " "), 0755);
}

TEST_CASE("a job does not touch a tree that another job has locked, and reports it") {
    const Ready ready("", "earlier");
    const fs::path half = ready.folder.tree() / "demo" / "half.o";
    testing::write(half, "being written by the other one");
    testing::must(base::make_directories(ready.folder.venv()));
    wait_at_most(ready.folder.script(), "0");
    {
        const OtherJob other(ready.folder);
        CHECK(ready.run().exit_code == fence_exit_code);
    }
    CHECK(ready.record().phase == fence_phase);
    CHECK(ready.record().exit_code == fence_exit_code);
    CHECK(fs::exists(half));
    CHECK(fs::exists(ready.folder.venv()));
    CHECK(ready.farm.builds() == 0);
}

TEST_CASE("a job that starts late leaves the tree to the attempt that uses it by now") {
    const Ready ready;
    testing::write(ready.folder.used_by(), "w1ngnext0000000\n");
    testing::must(base::make_directories(ready.folder.venv()));
    CHECK(ready.run().exit_code == fence_exit_code);
    CHECK(ready.record().phase == fence_phase);
    CHECK(fs::exists(ready.folder.venv()));
    CHECK(ready.farm.builds() == 0);
}

TEST_CASE("a job builds in a tree that is unlocked, and in one that cannot be locked") {
    const Ready freed("", "earlier");
    { const OtherJob other(freed.folder); }
    CHECK(freed.run().exit_code == 0);

    Ready lockless;
    const fs::path shims = lockless.farm.folder.path() / "shims";
    testing::write(shims / "flock", "#!/bin/sh\necho 'flock: 9: No locks available' >&2\nexit 65\n", 0755);
    lockless.environment["PATH"] = shims.string() + ":" + lockless.environment["PATH"];
    CHECK(lockless.run().exit_code == 0);
    CHECK(lockless.farm.builds() == 1);
}

TEST_CASE("a phase that fails is named with its exit code") {
    const Ready broken;
    testing::write(broken.farm.folder.path() / "break", "");
    CHECK(broken.run().exit_code == 1);
    CHECK(broken.record().phase == "build");
    CHECK(broken.record().exit_code == 1);

    const Ready failing("false | cat");  // pipefail
    CHECK(failing.run().exit_code == 1);
    CHECK(failing.record().phase == "smoke");
}

TEST_CASE("a script that is asked to stop records it") {
    const Ready ready("kill -TERM $$; true");
    SUBCASE("by somebody who says nothing") {
        CHECK(ready.run().exit_code == 143);
        CHECK(read_cut(ready.folder) == "terminated");
    }
    SUBCASE("by the agent, which has recorded why") {
        testing::write(ready.folder.cut(), "time_limit\n");
        CHECK(ready.run().exit_code == 143);
        CHECK(read_cut(ready.folder) == "time_limit");
    }
    CHECK(ready.record().exit_code == 143);
    CHECK(ready.record().phase == "smoke");
}

TEST_CASE("a job's environment locates programs and packages and contains no secret") {
    const EnvironmentMap job = job_environment({{"PATH", "/bin"},
                                                {"HOME", "/home/u"},
                                                {"PIP_INDEX_URL", "https://x/"},
                                                {"PIP_TARGET", "/elsewhere"},
                                                {"PYTHONPATH", "/p"},
                                                {"https_proxy", "http://p"},
                                                {"http_proxy", "http://me:secret@p"},
                                                {"HTTPS_PROXY", "me:secret@p:3128"},
                                                {"TWINE_PASSWORD", "secret"},
                                                {"WHEELYARD_TOKEN", "secret"},
                                                {"AWS_SECRET_ACCESS_KEY", "secret"}});
    std::vector<std::string> names;
    for (const auto& [name, value] : job)
        names.push_back(name);
    CHECK(base::join(names, " ") == "HOME PATH https_proxy");
}

TEST_CASE("a job whose node has no home gets one beside its tree; a usable home stays") {
    struct Row {
        const char* home;  // nullptr: not set
        bool stays;
    };
    const auto usable = base::TempDir::make("home");
    REQUIRE(usable.has_value());
    for (const auto& [home, stays] :
         {Row{nullptr, false}, Row{"", false}, Row{"/proc/none", false}, Row{"/dev/null", false},
          Row{"/proc/1", false}, Row{usable->path().c_str(), true}}) {
        for (const std::string builds_in : {"", "w1ng00000000000"}) {
            Ready ready("", builds_in, [](Site& site) { site.build_home = BuildHome::user; });
            if (!builds_in.empty()) testing::write(ready.folder.tree() / "demo" / "setup.py", "");
            ready.environment.erase("HOME");
            if (home != nullptr) ready.environment["HOME"] = home;
            CHECK(ready.run().exit_code == 0);
            const std::string own = (ready.folder.build() / "home").string();
            const std::string expected = "\nHOME=" + (stays ? std::string(home) : own) + "\n";
            CHECK_MESSAGE(("\n" + testing::read(ready.farm.folder.path() / "build_saw")).find(expected) !=
                              std::string::npos,
                          expected);
            CHECK(fs::is_directory(own) != stays);
        }
    }
}

TEST_CASE("a build's home is in its tree, and what the user or the site set up still reaches it") {
    const auto user = base::TempDir::make("home").value();
    const std::string home = user.path().string();
    for (const char* kept : {".ssh/config", ".netrc", ".git-credentials", ".cargo/config.toml", ".profile"})
        testing::write(user.path() / kept, "mine\n");
    testing::write(user.path() / ".gitconfig", "[user]\n\tname = Me\n");
    testing::write(user.path() / ".config/git/config", "[user]\n\temail = me@example.org\n");
    const fs::path toolchain = user.path() / ".rustup/toolchains/stable-x86_64";
    testing::write(user.path() / ".cargo/bin/rustc", "#!/bin/sh\necho " + toolchain.string() + "\n", 0755);
    Ready ready("", "", [](Site& site) {
        site.environment = {{"AT_HOME", "${HOME}/settings"}, {"XDG_DATA_HOME", "/opt/data"}};
    });
    ready.environment["HOME"] = home;
    ready.environment["PATH"] = home + "/.cargo/bin:" + ready.environment["PATH"];
    const base::Finished done = ready.run();
    REQUIRE_MESSAGE(done.exit_code == 0, done.out << done.err);
    const std::string own = (ready.folder.build() / "home").string();
    const std::string saw = "\n" + testing::read(ready.farm.folder.path() / "build_saw");
    for (const std::string& variable :
         {"HOME=" + own, "XDG_CACHE_HOME=" + own + "/.cache", "CARGO_HOME=" + own + "/.cargo",
          "RUSTUP_HOME=" + own + "/.rustup", "AT_HOME=" + home + "/settings",
          std::string("XDG_DATA_HOME=/opt/data"), std::string("MATURIN_NO_INSTALL_RUST=1")})
        CHECK_MESSAGE(saw.find("\n" + variable + "\n") != std::string::npos, variable << saw);
    const auto path = saw.find("\nPATH=");
    const std::string toolchain_bin = toolchain.string() + "/bin:";
    CHECK(saw.substr(path, saw.find('\n', path + 1) - path).find(toolchain_bin) != std::string::npos);
    CHECK(testing::read(fs::path(own) / ".ssh/config") == "mine\n");
    for (const char* kept : {".netrc", ".git-credentials", ".cargo/config.toml"}) {
        const fs::path copy = fs::path(own) / kept;
        CHECK_MESSAGE(testing::read(copy) == "mine\n", kept);
        CHECK_MESSAGE((fs::status(copy).permissions() & fs::perms(077)) == fs::perms::none, kept);
        std::ofstream(copy, std::ios::app) << "of the build\n";
        CHECK_MESSAGE(testing::read(user.path() / kept) == "mine\n", kept);
    }
    const auto git = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"git", "config", "--global"});
        base::Command command;
        command.argv = std::move(words);
        command.environment = std::map<std::string, std::string>{
            {"PATH", ready.environment["PATH"]}, {"HOME", own}, {"XDG_CONFIG_HOME", own + "/.config"}};
        const auto ran = base::run_command(command);
        return ran.has_value() ? ran->out : ran.error().text();
    };
    for (const char* name : {"user.name", "user.email"})
        static_cast<void>(git({name, "of the build"}));
    CHECK(testing::read(user.path() / ".gitconfig") == "[user]\n\tname = Me\n");
    CHECK(testing::read(user.path() / ".config/git/config") == "[user]\n\temail = me@example.org\n");
    CHECK(git({"--includes", "--get-all", "user.name"}) == "Me\nof the build\n");
    CHECK_FALSE(fs::exists(fs::path(own) / ".profile"));
    CHECK(fs::read_symlink(fs::path(own) / ".cache/pip") == user.path() / ".cache/pip");
    CHECK_FALSE(fs::exists(user.path() / ".rustup"));
}

TEST_CASE("without HOME the user's settings and toolchains are those of the password database") {
    const passwd* const user = ::getpwuid(::geteuid());
    REQUIRE(user != nullptr);
    const auto folder = base::TempDir::make("no-home").value();
    testing::write(folder.path() / "rustc", "#!/bin/sh\necho \"$HOME/.rustup/toolchains/stable\"\n", 0755);
    Ready ready;
    ready.environment.erase("HOME");
    ready.environment["PATH"] = folder.path().string() + ":" + ready.environment["PATH"];
    ready.environment["XDG_CACHE_HOME"] = (folder.path() / "cache").string();  // pip's is linked there
    const base::Finished done = ready.run();
    REQUIRE_MESSAGE(done.exit_code == 0, done.out << done.err);
    const std::string saw = "\n" + testing::read(ready.farm.folder.path() / "build_saw");
    CHECK(saw.find("\nHOME=" + (ready.folder.build() / "home").string() + "\n") != std::string::npos);
    CHECK_MESSAGE(
        saw.find(std::string(user->pw_dir) + "/.rustup/toolchains/stable/bin:") != std::string::npos, saw);
}

TEST_CASE("pip's configuration reaches the job's pip but no build, and is deleted after the job") {
    Ready ready;
    testing::write(ready.folder.pip_conf(), "[global]\nindex-url = https://me:hunter2@h/\n", 0600);
    CHECK(ready.run().exit_code == 0);
    const fs::path root = ready.farm.folder.path();
    const std::string saw = testing::read(root / "pip_saw");
    CHECK(saw.find(ready.folder.pip_conf().string()) != std::string::npos);
    CHECK(saw.find("none") == std::string::npos);
    const std::string build = testing::read(root / "build_saw");
    CHECK(build.find("PATH=") != std::string::npos);
    CHECK(build.find("PIP_CONFIG_FILE") == std::string::npos);
    CHECK(build.find("hunter2") == std::string::npos);
    CHECK(!fs::exists(ready.folder.pip_conf()));
}

TEST_CASE("a companion is pinned to its torch, and one of a stable ABI to that and newer ones") {
    DemoBuild build;
    build.attempt.asked.version = "1.0+cu130";
    build.attempt.asked.against = "torch==2.11.0+cu130";
    CHECK(render_script(build.input()).find(" 1.0+cu130 torch==2.11.0+cu130 <<'END'") != std::string::npos);
    build.recipe.stable_abi = {"1.0"};
    CHECK(render_script(build.input()).find(" 1.0+cu130 'torch>=2.11.0' <<'END'") != std::string::npos);
    // It is built against exactly that one.
    CHECK(render_script(build.input()).find(" torch==2.11.0+cu130\n") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
