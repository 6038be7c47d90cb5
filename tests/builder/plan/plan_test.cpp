// The plan as tables: an input, and the state and reason of every cell.
#include "builder/plan/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "builder/attempt/limits.hpp"
#include "builder/plan/plan_history.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

Python python(const std::string& version, int minor) {
    Python made;
    made.version = version;
    made.full_version = version + ".4";
    made.environment.python_minor = minor;
    made.environment.glibc_major = 2;
    made.environment.glibc_minor = 36;
    made.tags = wheel::supported_tags(made.environment);
    return made;
}

SdistOffer sdist(const std::string& version, const std::string& requires_python = "", bool yanked = false) {
    SdistOffer offer{*wheel::Version::parse(version),
                     "demo-" + version + ".tar.gz",
                     "https://h/demo-" + version + ".tar.gz",
                     {},
                     std::string(64, 'a'),
                     requires_python,
                     yanked,
                     "https://h/simple/"};
    return offer;
}

Attempt attempt(const std::string& id, const std::string& cell, State state,
                const std::string& version = "1.0") {
    Attempt made;
    made.id = id;
    made.asked.cell = cell;
    made.asked.package = "demo";
    made.asked.version = version;
    made.state = state;
    return made;
}

Attempt failed(const std::string& id, bool try_again = true) {
    Attempt made = attempt(id, "demo-1.0-cp311", State::failed);
    made.failure =
        Failure{"build", {"job.failed", "it broke"}, "x.c: error: no", try_again, "", 0, EndCause::failed};
    return made;
}

Attempt ended_by(const std::string& code, int number) {
    Attempt made = failed("w" + std::to_string(number));
    made.number = number;
    made.failure->error = {code, "it ended"};
    made.failure->end = cause_of_code(code);
    made.failure->first_error.clear();
    return made;
}

Attempt uploaded(const std::string& id, const std::string& index) {
    Attempt made = attempt(id, "demo-1.0-cp311", State::done);
    made.wheel.filename = "demo-1.0-py3-none-any.whl";
    made.wheel.index = index;
    return made;
}

struct Scene {
    Site site;
    Recipes recipes;
    World world;

    Scene() {
        site.name = "test";
        site.registry = RegistrySettings{"http://h", "main", "token"};
        site.pythons = {{"3.11", "python3.11"}};
        site.wants = {{"demo", {"1.0"}, {"3.11"}}};
        world.pythons.emplace("3.11", python("3.11", 11));
        world.published.emplace("demo", std::optional<simple::ProjectPage>());
        offer({sdist("1.0")});
    }
    void publish(const std::vector<std::string>& filenames) {
        simple::ProjectPage page;
        for (const auto& name : filenames) {
            simple::FileLink file;
            file.filename = name;
            page.files.push_back(file);
        }
        world.published.insert_or_assign("demo", std::optional(page));
    }
    void offer(std::vector<SdistOffer> offers) {
        world.offers.insert_or_assign("demo",
                                      SdistOffers{std::move(offers), {"https://h/simple/ (PIP_INDEX_URL)"}});
    }
    [[nodiscard]] Cell cell() const {
        const Plan plan = make_plan(site, recipes, world);
        REQUIRE(plan.cells.size() == 1);
        return plan.cells.front();
    }
};

TEST_CASE("the index has the cell's wheel if this Python accepts a published wheel") {
    struct Row {
        const char* filename;
        CellState state;
    };
    const Row rows[] = {
        {"demo-1.0-cp311-cp311-linux_x86_64.whl", CellState::have},
        {"demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", CellState::have},
        {"demo-1.0-py3-none-any.whl", CellState::have},
        {"demo-1.0-cp39-abi3-linux_x86_64.whl", CellState::have},
        {"demo-1.0+cu126-cp311-cp311-linux_x86_64.whl", CellState::have},
        {"demo-1.0.0-cp311-cp311-linux_x86_64.whl", CellState::have},
        {"demo-1.0-cp312-cp312-linux_x86_64.whl", CellState::wanted},
        {"demo-1.0-cp311-cp311-linux_aarch64.whl", CellState::wanted},
        {"demo-1.0-cp311-cp311-manylinux_2_99_x86_64.whl", CellState::wanted},
        {"demo-1.0.post1-cp311-cp311-linux_x86_64.whl", CellState::wanted},
        {"demo-1.1-cp311-cp311-linux_x86_64.whl", CellState::wanted},
        {"demo-1.0.tar.gz", CellState::wanted},
        {"demo-1.0-cp311-cp311-linux_x86_64-x86_64_v3.whl", CellState::wanted},
    };
    for (const auto& row : rows) {
        CAPTURE(row.filename);
        Scene scene;
        scene.publish({row.filename});
        CHECK(cell_state_text(scene.cell().state) == cell_state_text(row.state));
    }
}

TEST_CASE("of several wheels of one version the cell has the one that pip takes") {
    // In the order of pip's _sort_key(): tags before the build tag (PEP 427), whose number is no text.
    for (const auto& [others, taken] :
         {std::pair<std::vector<std::string>, std::string>{{"demo-1.0-py3-none-any.whl"},
                                                           "demo-1.0-1-py3-none-any.whl"},
          {{"demo-1.0-9-py3-none-any.whl", "demo-1.0-9a-py3-none-any.whl"}, "demo-1.0-10-py3-none-any.whl"},
          {{"demo-1.0-9-py3-none-any.whl"}, "demo-1.0-cp311-none-any.whl"}}) {
        Scene scene;
        for (const bool is_first : {false, true}) {
            auto all = others;
            all.insert(is_first ? all.begin() : all.end(), taken);
            scene.publish(all);
            CHECK(scene.cell().reason == taken);
        }
        auto& page = *scene.world.published.at("demo");
        for (auto& file : page->files)
            file.yanked = file.filename == taken;
        CHECK(scene.cell().reason != taken);
    }
}

TEST_CASE("the next build tag is above each of the version, in the index or by this agent") {
    Scene scene;
    const auto next = [&scene] { return next_build(scene.cell(), scene.world); };
    CHECK(next() == 1);
    scene.publish({"demo-1.0-py3-none-any.whl", "demo-1.1-7-py3-none-any.whl"});
    CHECK(next() == 1);
    scene.publish({"demo-1.0-04b-cp312-cp312-linux_x86_64.whl", "demo-1.0-3-py3-none-any.whl"});
    CHECK(next() == 5);
    scene.world.attempts = {attempt("w1", "demo-1.0-cp311", State::done)};
    scene.world.attempts.front().asked.build = 6;  // a wheel that somebody has deleted since
    CHECK(next() == 7);
    scene.publish({"demo-1.0-99999999999999999999-py3-none-any.whl"});
    CHECK(next().error().code == "rebuild.build_tag");
}

TEST_CASE("a wheel whose Requires-Python excludes the cell's Python is not what the cell wants") {
    Scene scene;
    const auto publish = [&](const std::vector<std::string>& requirements) {
        scene.publish(std::vector<std::string>(requirements.size(), "demo-1.0-py3-none-any.whl"));
        auto& files = (**scene.world.published.at("demo")).files;
        for (std::size_t at = 0; at < files.size(); ++at)
            files[at].requires_python = requirements[at];
    };
    publish({"<3.11"});
    CHECK(cell_state_text(scene.cell().state) == "impossible");
    CHECK(scene.cell().reason ==
          "demo-1.0-py3-none-any.whl in index `main` requires Python <3.11, and this is 3.11.4");
    scene.world.attempts = {uploaded("w1", "main")};  // the index does have it
    CHECK(cell_state_text(scene.cell().state) == "impossible");
    scene.world.attempts.clear();
    for (const char* accepted : {"", ">=3.8", "==3.11.*", "no specifier"}) {  // pip ignores an invalid one
        CAPTURE(accepted);
        publish({"<3.11", accepted});
        CHECK(cell_state_text(scene.cell().state) == "have");
    }
}

TEST_CASE("a wheel that the registry would not accept is not built, and one that it has is had") {
    Scene scene;
    scene.world.refused_uploads.emplace("demo", base::Error{"upload.not_allowed", "The token may not"});
    CHECK(scene.cell().state == CellState::held);
    CHECK(scene.cell().awaits_others);
    CHECK(scene.cell().reason.find("The token may not") != std::string::npos);
    scene.publish({"demo-1.0-py3-none-any.whl"});
    CHECK(scene.cell().state == CellState::have);
    scene.world.refused_uploads.clear();
    scene.world.published.insert_or_assign("demo", std::optional<simple::ProjectPage>());
    CHECK(scene.cell().state == CellState::wanted);
}

// demo is built by tool, which the closure names with it.
Scene of_a_closure() {
    Scene scene;
    scene.site.wants.front().of_closure = ClosureWant{"", "", false, {{"tool", "2.0", true}}, ClosurePart{}};
    Want tool{"tool", {"2.0"}, {"3.11"}};
    tool.of_closure = ClosureWant{"needed by demo 1.0, to build", "", false, {}, ClosurePart{true, "bb", {}}};
    scene.site.wants.push_back(tool);
    scene.world.published.emplace("tool", std::optional<simple::ProjectPage>());
    return scene;
}

Cell named_cell(const Scene& scene, const std::string& package) {
    for (const Cell& cell : make_plan(scene.site, scene.recipes, scene.world).cells) {
        if (cell.package == package) return cell;
    }
    REQUIRE(false);
    return {};
}

TEST_CASE("a release of a closure waits for what its build needs, and is built from its bytes") {
    Scene scene = of_a_closure();
    CHECK(named_cell(scene, "demo").state == CellState::held);
    CHECK(!named_cell(scene, "demo").awaits_others);
    CHECK(named_cell(scene, "demo").reason.starts_with("waits for tool 2.0, needed to build: not in index"));
    CHECK(named_cell(scene, "tool").state == CellState::wanted);
    CHECK(named_cell(scene, "tool")
              .reason.ends_with("; needed by demo 1.0, to build; its pure wheel is taken"));

    simple::FileLink wheel;
    wheel.filename = "tool-2.0+here-py3-none-any.whl";
    wheel.sha256 = "cc";
    simple::ProjectPage page;
    page.files = {wheel};
    scene.world.published.insert_or_assign("tool", std::optional(page));
    const Cell demo = named_cell(scene, "demo");
    CHECK(demo.state == CellState::wanted);
    CHECK(demo.reason.ends_with("; it is built here"));
    CHECK(demo.of_closure->part->lock == wire::NamedTexts{{wheel.filename, "sha256:cc"}});
    CHECK(demo.of_closure->part->strangers.empty());
    scene.site.wants.back().of_closure->is_upstreams_wheel = true;
    CHECK(named_cell(scene, "demo").of_closure->part->strangers == std::vector{wheel.filename});
    scene.site.wants.back().of_closure->is_upstreams_wheel = false;
    scene.site.wants.back().of_closure->part->is_taken = false;  // but the file there has no provenance
    CHECK(named_cell(scene, "demo").of_closure->part->strangers == std::vector{wheel.filename});
}

TEST_CASE(
    "a compiled wheel that does not say how it was made, as an upstream's in a mirror, is not one of a "
    "closure") {
    Scene scene = of_a_closure();
    scene.site.wants.pop_back();
    scene.site.wants.front().of_closure->after.clear();
    scene.publish({"demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"});
    CHECK(scene.cell().state == CellState::wanted);
    auto page = **scene.world.published.at("demo");
    page.files.front().provenance_sha256 = "dd";
    scene.world.published.insert_or_assign("demo", std::optional(page));
    CHECK(scene.cell().state == CellState::have);
    // A build would give a pure wheel the name that is there.
    scene.publish({"demo-1.0-py3-none-any.whl"});
    CHECK(scene.cell().state == CellState::have);
    CHECK(scene.cell().reason.find("; made elsewhere: it has no provenance") != std::string::npos);
    // Beside platform wheels of its version the pure one is the fallback: a build makes another name.
    scene.publish({"demo-1.0-py3-none-any.whl", "demo-1.0-cp39-cp39-win_amd64.whl"});
    CHECK(scene.cell().state == CellState::wanted);
    scene.publish({"demo-1.0-py3-none-any.whl", "demo-2.0-cp39-cp39-win_amd64.whl"});
    CHECK(scene.cell().state == CellState::have);
    // What is taken is an upstream's anyway.
    scene.publish({"demo-1.0-py3-none-any.whl"});
    scene.site.wants.front().of_closure->part->is_taken = true;
    CHECK(scene.cell().state == CellState::have);
    CHECK(scene.cell().reason.find("made elsewhere") == std::string::npos);
}

TEST_CASE("a release is found by its version without a label, and rather of the accelerator") {
    const auto cell = [](const char* package, const char* version, const char* python, const char* gpu) {
        Cell one;
        one.package = package;
        one.version = version;
        one.python = python;
        one.accelerator = gpu;
        return one;
    };
    const std::vector<Cell> cells = {cell("demo", "1.0+here", "3.12", ""),
                                     cell("demo", "1.0+here", "3.11", "cu126"),
                                     cell("demo", "1.0+here", "3.11", ""), cell("demo", "?", "3.11", "")};
    CHECK(find_release(cells, "demo", "1", "3.11") == 2);
    CHECK(find_release(cells, "demo", "1.0", "3.11", "cu126") == 1);
    CHECK(find_release(cells, "demo", "1.0", "3.12", "cu126") == 0);
    CHECK(!find_release(cells, "demo", "1.1", "3.11"));
    CHECK(!find_release(cells, "tool", "1.0", "3.11"));
}

TEST_CASE("a leaf that fails stops what needs it, with its reason, and nothing else") {
    Scene scene = of_a_closure();
    scene.site.wants.insert(scene.site.wants.begin() + 1, {"other", {"1.0"}, {"3.11"}});
    scene.world.published.emplace("other", std::optional<simple::ProjectPage>());
    Attempt gone = failed("w1", false);
    gone.asked.cell = "tool-2.0-cp311";
    gone.asked.package = "tool";
    gone.asked.version = "2.0";
    gone.failure->cause = "python.headers_missing";
    scene.world.attempts = {gone};
    CHECK(named_cell(scene, "tool").state == CellState::given_up);
    const Cell demo = named_cell(scene, "demo");
    CHECK(demo.state == CellState::held);
    CHECK(demo.awaits_others);
    CHECK(demo.reason.starts_with("waits for tool 2.0, needed to build: given up, "));
    CHECK(demo.reason.find("it broke") != std::string::npos);
    CHECK(demo.reason.find(". Install its development package") != std::string::npos);
    CHECK(named_cell(scene, "other").state == CellState::wanted);

    scene.world.attempts.clear();
    scene.site.wants.back().of_closure->problem = "neither a wheel nor an sdist of it is there";
    CHECK(named_cell(scene, "tool").state == CellState::impossible);
    CHECK(named_cell(scene, "demo").state == CellState::impossible);
    CHECK(named_cell(scene, "demo").reason.find("neither a wheel nor an sdist") != std::string::npos);
}

TEST_CASE("a want whose closure is not known waits, or says why it is not") {
    Scene scene;
    scene.site.wants.front().versions = {"latest"};
    scene.site.wants.front().of_closure = ClosureWant{"", "", true, {}, {}};
    CHECK(scene.cell().state == CellState::held);
    CHECK(!scene.cell().awaits_others);
    scene.site.wants.front().of_closure->problem = "pip finds no set of versions";
    CHECK(scene.cell().state == CellState::given_up);
    CHECK(scene.cell().reason == "pip finds no set of versions");
}

TEST_CASE("the plan chooses the requested version") {
    struct Row {
        const char* wanted;
        const char* version;
        CellState state;
    };
    const Row rows[] = {{"latest", "2.1", CellState::wanted},      {">=1,<2", "1.9", CellState::wanted},
                        {"~=1.0", "1.9", CellState::wanted},       {"==1.0", "1.0", CellState::wanted},
                        {">=3.0a1", "3.0rc1", CellState::wanted},  {">=9", ">=9", CellState::impossible},
                        {"==2.2", "==2.2", CellState::impossible}, {"1.9", "1.9", CellState::wanted},
                        {"7.0", "7.0", CellState::impossible}};
    for (const auto& row : rows) {
        CAPTURE(row.wanted);
        Scene scene;
        scene.site.wants = {{"demo", {row.wanted}, {"3.11"}}};
        scene.offer({sdist("1.0"), sdist("1.9"), sdist("2.1"), sdist("2.2", "", true), sdist("2.3", ">=3.12"),
                     sdist("3.0rc1")});
        CHECK(scene.cell().version == row.version);
        CHECK(cell_state_text(scene.cell().state) == cell_state_text(row.state));
    }
}

TEST_CASE("if there are only pre-releases, the newest of them is the latest") {
    Scene scene;
    scene.site.wants = {{"demo", {"latest"}, {"3.11"}}};
    scene.offer({sdist("1.0a1"), sdist("1.0b2")});
    CHECK(scene.cell().version == "1.0b2");
}

TEST_CASE("latest and the same version in full are one cell") {
    Scene scene;
    scene.site.wants = {{"demo", {"latest", "1.0", "==1.0"}, {"3.11"}}};
    CHECK(scene.cell().name == "demo-1.0-cp311");
}

TEST_CASE("the evidence with the highest precedence determines state and reason") {
    struct Row {
        const char* name;
        void (*arrange)(Scene&);
        CellState state;
        const char* reason;
    };
    const Row rows[] = {
        {"nothing yet", [](Scene&) {}, CellState::wanted, "not in index `main`"},
        {"in progress",
         [](Scene& s) { s.world.attempts = {attempt("w1", "demo-1.0-cp311", State::running)}; },
         CellState::active, "running"},
        {"waiting",
         [](Scene& s) {
             s.world.attempts = {attempt("w1", "demo-1.0-cp311", State::uploading)};
             s.world.attempts[0].waiting.reason = "registry down";
         },
         CellState::active, "uploading, waiting: registry down"},
        {"failed once", [](Scene& s) { s.world.attempts = {failed("w1")}; }, CellState::wanted,
         "1 of 3 attempts failed; the last in build: it broke [x.c: error: no]"},
        {"failed too often",
         [](Scene& s) {
             s.world.attempts = {failed("w1"), failed("w2"), failed("w3")};
         },
         CellState::given_up, "3 of 3 attempts failed; the last in build: it broke [x.c: error: no]"},
        {"failed for good", [](Scene& s) { s.world.attempts = {failed("w1", false)}; }, CellState::given_up,
         "failed for good in build: it broke [x.c: error: no]"},
        {"retried",
         [](Scene& s) {
             s.world.attempts = {failed("w1", false)};
             s.world.attempts[0].superseded = true;
         },
         CellState::wanted, "not in index `main`"},
        {"published in spite of failures",
         [](Scene& s) {
             s.world.attempts = {failed("w1", false)};
             s.publish({"demo-1.0-py3-none-any.whl"});
         },
         CellState::have, "demo-1.0-py3-none-any.whl"},
        {"deleted", [](Scene& s) { s.world.attempts = {attempt("w1", "demo-1.0-cp311", State::done)}; },
         CellState::given_up,
         "attempt w1 uploaded , and the index no longer has it; `wheelyard-builder retry demo-1.0-cp311` "
         "builds it again; it has no wheel that this agent uploaded: for another registry, or a new one, "
         "name "
         "a new folder in [state]"},
        {"uploaded to another store",
         [](Scene& s) {
             s.world.attempts = {uploaded("w1", "main")};
             s.world.is_other_store = true;
         },
         CellState::given_up,
         "attempt w1 uploaded demo-1.0-py3-none-any.whl, and the index no longer has it; `wheelyard-builder "
         "retry demo-1.0-cp311` builds it again; the registry has another store than the one that took this "
         "agent's wheels: for a new registry, name a new folder in [state], else correct `url` in "
         "[registry]"},
        {"deleted from the site's own index, which has another wheel of this agent",
         [](Scene& s) {
             s.world.attempts = {uploaded("w1", "main"), uploaded("w2", "main")};
             s.world.attempts[1].asked.cell = "demo-0.9-cp311";
             s.world.attempts[1].wheel.filename = "demo-0.9-py3-none-any.whl";
             s.publish({"demo-0.9-py3-none-any.whl"});
         },
         CellState::given_up,
         "attempt w1 uploaded demo-1.0-py3-none-any.whl, and the index no longer has it; `wheelyard-builder "
         "retry demo-1.0-cp311` builds it "
         "again"},
        {"in the index of its registry task",
         [](Scene& s) { s.world.attempts = {uploaded("w1", "staging")}; }, CellState::have,
         "demo-1.0-py3-none-any.whl in index `staging`"},
        {"there, and the site's own index does not answer",
         [](Scene& s) {
             s.world.attempts = {uploaded("w1", "staging")};
             s.world.published.insert_or_assign("demo", base::fail("http.connect", "no answer"));
         },
         CellState::have, "demo-1.0-py3-none-any.whl in index `staging`"},
        {"promoted from there",
         [](Scene& s) {
             s.world.attempts = {uploaded("w1", "staging")};
             s.publish({"demo-1.0-py3-none-any.whl"});
         },
         CellState::have, "demo-1.0-py3-none-any.whl"},
        {"there, and requested again",
         [](Scene& s) {
             s.world.attempts = {uploaded("w1", "staging")};
             s.world.attempts[0].superseded = true;
         },
         CellState::wanted, "not in index `main`"},
        {"registry unavailable",
         [](Scene& s) {
             s.world.published.insert_or_assign("demo", base::fail("http.connect", "no answer"));
         },
         CellState::unknown, "no answer"},
        {"source index unavailable",
         [](Scene& s) { s.world.offers.insert_or_assign("demo", base::fail("simple.http", "502")); },
         CellState::unknown, "502"},
        {"a misspelt package", [](Scene& s) { s.offer({}); }, CellState::impossible,
         "no project of the name `demo` in https://h/simple/ (PIP_INDEX_URL): correct `package` in [[want]], "
         "or "
         "name another source in a recipe, such as its repository"},
        {"only wheels",
         [](Scene& s) {
             s.offer({});
             s.world.offers.at("demo")->has_project = true;
             s.world.offers.at("demo")->wheels = {sdist("1.0")};
         },
         CellState::impossible,
         "only wheels of `demo`, and no sdist, in https://h/simple/ (PIP_INDEX_URL): name another source in "
         "a recipe, "
         "such as its repository; none of these wheels fits Python 3.11.4"},
        {"another version",
         [](Scene& s) {
             s.offer({sdist("0.9"), sdist("1.1"), sdist("0.8")});
         },
         CellState::impossible,
         "no sdist of this version in https://h/simple/ (PIP_INDEX_URL): the newest is 1.1"},
        {"another version, and only wheels of others",
         [](Scene& s) {
             s.offer({sdist("1.1")});
             s.world.offers.at("demo")->wheels = {sdist("1.1")};
         },
         CellState::impossible,
         "no sdist of this version in https://h/simple/ (PIP_INDEX_URL): the newest is 1.1"},
        {"no version in the set, and only wheels of others",
         [](Scene& s) {
             s.site.wants = {{"demo", {">=2"}, {"3.11"}}};
             s.offer({sdist("1.0")});
             s.world.offers.at("demo")->wheels = {sdist("1.0")};
         },
         CellState::impossible, "no sdist of `>=2` in https://h/simple/ (PIP_INDEX_URL): the newest is 1.0"},
        {"only a wheel of this version",
         [](Scene& s) {
             s.offer({sdist("0.9")});
             s.world.offers.at("demo")->wheels = {sdist("1.0")};
         },
         CellState::impossible,
         "no sdist of this version in https://h/simple/ (PIP_INDEX_URL), only wheels of it: name another "
         "source in a "
         "recipe, such as its repository, or another version: the newest sdist is 0.9; none of these wheels "
         "fits Python 3.11.4"},
        {"any version needs another Python",
         [](Scene& s) {
             s.site.wants = {{"demo", {"latest"}, {"3.11"}}};
             s.offer({sdist("1.0", ">=3.12"), sdist("1.2", ">=3.13")});
         },
         CellState::impossible,
         "every sdist of `demo` that `latest` means needs another Python: 1.2 requires >=3.13, and this is "
         "3.11.4"},
        {"no version in the set",
         [](Scene& s) {
             s.site.wants = {{"demo", {">=2"}, {"3.11"}}};
             s.offer({sdist("1.0")});
         },
         CellState::impossible, "no sdist of `>=2` in https://h/simple/ (PIP_INDEX_URL): the newest is 1.0"},
        {"another Python required", [](Scene& s) { s.offer({sdist("1.0", ">=3.12")}); },
         CellState::impossible, "it requires Python >=3.12, and this is 3.11.4"},
        {"no interpreter",
         [](Scene& s) {
             s.world.pythons.insert_or_assign("3.11", base::fail("python.missing", "No Python 3.11 on PATH"));
         },
         CellState::impossible, "No Python 3.11 on PATH"},
        {"an attempt of another cell",
         [](Scene& s) { s.world.attempts = {attempt("w1", "demo-1.0-cp312", State::done)}; },
         CellState::wanted, "not in index `main`"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        Scene scene;
        row.arrange(scene);
        const Cell cell = scene.cell();
        CHECK(cell_state_text(cell.state) == cell_state_text(row.state));
        CHECK(cell.reason == row.reason);
    }
}

TEST_CASE("after failures of the network a cell waits longer each time, and uses none of its attempts") {
    constexpr base::UnixMicros minute = 60'000'000;
    Scene scene;
    scene.site.max_attempts = 1;
    std::int64_t wait_minutes = 1;
    for (int failures = 1; failures < max_network_failures; ++failures) {
        Attempt made = ended_by("job.network", failures);
        made.changed = failures * 10'000 * minute;
        scene.world.attempts.push_back(made);
        scene.world.now = made.changed + wait_minutes * minute - 1;
        CAPTURE(failures);
        CHECK(scene.cell().state == CellState::held);
        CHECK(scene.cell().reason.find("tries again after 1970-") == 0);
        scene.world.now = made.changed + wait_minutes * minute;
        CHECK(scene.cell().state == CellState::wanted);
        wait_minutes = std::min<std::int64_t>(2 * wait_minutes, std::int64_t{12} * 60);
    }
    scene.world.attempts.push_back(ended_by("job.network", max_network_failures));
    CHECK(scene.cell().state == CellState::given_up);
}

TEST_CASE("a failure of the network says nothing about the attempts of a build") {
    Scene scene;
    scene.site.max_attempts = 2;
    scene.world.now = 1;
    scene.world.attempts = {ended_by("job.network", 1), ended_by("job.failed", 2)};
    scene.world.attempts.back().failure->cause = "network.timeout";
    CHECK(scene.cell().state == CellState::wanted);  // one of two, and no wait after another failure
    scene.world.attempts.push_back(ended_by("job.killed", 3));
    CHECK(scene.cell().state == CellState::given_up);
}

TEST_CASE("the same error twice gives a cell up; another line, another end or a passing problem do not") {
    struct Row {
        const char* first;
        const char* second;
        EndCause end;
        CellState state;
    };
    for (const auto& row : {
             Row{"/w/a1/x.c:3:1: error: no", "/w/a2/x.c:3:1: error: no", EndCause::failed,
                 CellState::given_up},
             Row{"ImportError: cannot import name x", "ImportError: cannot import name x", EndCause::failed,
                 CellState::given_up},
             Row{"/w/a1/x.c:3:1: error: no", "/w/a2/x.c:4:1: error: no", EndCause::failed, CellState::wanted},
             Row{"/w/a1/x.c:3:1: error: no", "/w/a2/y.c:3:1: error: no", EndCause::failed, CellState::wanted},
             Row{"", "", EndCause::failed, CellState::wanted},
             Row{"x.c: error: no", "x.c: error: no", EndCause::killed, CellState::wanted},
         }) {
        CAPTURE(row.first);
        CAPTURE(row.second);
        Scene scene;
        for (const char* error :
             {row.second, row.first}) {  // the order of the list is not that of the numbers
            Attempt made = failed(error == row.first ? "w1" : "w2");
            made.number = error == row.first ? 1 : 2;
            if (std::string(row.first) == row.second)
                made.number = static_cast<int>(scene.world.attempts.size()) + 1;
            made.failure->first_error = error;
            made.failure->end = row.end;
            scene.world.attempts.push_back(made);
        }
        CHECK(cell_state_text(scene.cell().state) == cell_state_text(row.state));
    }
}

TEST_CASE("an unexplained failure waits for a person after an hour, or when it comes back") {
    constexpr base::UnixMicros minute = base::UnixMicros{60} * 1'000'000;
    struct Row {
        const char* what;
        const char* cause;  // the doctor's code
        int minutes;        // of each build
        int times;
        bool same_error;
        bool needs_person;
        CellState state;
    };
    const Row rows[] = {
        {"short and once", "", 59, 1, true, false, CellState::wanted},
        {"long", "", 61, 1, true, true, CellState::given_up},
        {"twice the same", "", 1, 2, true, true, CellState::given_up},
        {"twice, another error", "", 1, 2, false, false, CellState::wanted},
        {"only a symptom is known", "build.stopped", 61, 1, true, true, CellState::given_up},
        {"a rule with a remedy of its own", "network.no_name", 61, 1, true, false, CellState::wanted},
        {"the compiler crashed: fewer jobs", "compiler.internal_error", 61, 1, true, false,
         CellState::wanted},
        {"too often anyway", "", 61, 3, true, false, CellState::given_up},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        scene.site.file = "/etc/farm/site.toml";
        for (int i = 1; i <= row.times; ++i) {
            Attempt made = failed("w" + std::to_string(i));
            made.number = i;
            made.failure->cause = row.cause;
            if (!row.same_error) made.failure->first_error += std::to_string(i);
            made.job.phases = {{"build", 5 * minute}};
            made.job.ended = (5 + row.minutes) * minute;
            scene.world.attempts.push_back(made);
        }
        const Cell cell = scene.cell();
        CHECK(cell.needs_person == row.needs_person);
        CHECK(cell_state_text(cell.state) == cell_state_text(row.state));
        const bool says_how =
            cell.reason.find("`wheelyard-builder retry demo-1.0-cp311 --site /etc/farm/site.toml`") !=
            std::string::npos;
        CHECK(says_how == row.needs_person);
        const auto& attempts = scene.world.attempts;
        CHECK(decision_for_person(attempts.back(), attempts, scene.site) ==
              (row.needs_person ? cell.reason : ""));
        if (row.times > 1) CHECK(decision_for_person(attempts.front(), attempts, scene.site).empty());
    }
}

TEST_CASE("time limits count as attempts once they are the site's largest") {
    struct Row {
        std::vector<std::int64_t> minutes;  // of the builds that reached their time limit
        std::int64_t max_walltime_minutes;  // 0: the site names none
        CellState state;
        const char* counts;
    };
    for (const Row& row : {Row{{1, 2, 4}, 8, CellState::wanted, "3 reached a time limit below 8 minutes"},
                           Row{{1, 2, 4, 8, 8},
                               8,
                               CellState::wanted,
                               "3 reached a time limit below 8 minutes, 2 of 3 attempts failed"},
                           Row{{1, 2, 4, 8, 8, 8},
                               8,
                               CellState::given_up,
                               "3 reached a time limit below 8 minutes, 3 of 3 attempts failed"},
                           Row{{1, 2, 4}, 0, CellState::given_up, "3 of 3 attempts failed"},
                           Row{{0, 0, 0}, 8, CellState::given_up, "3 of 3 attempts failed"}}) {
        CAPTURE(row.counts);
        Scene scene;
        scene.site.max_walltime_minutes = row.max_walltime_minutes;
        for (const std::int64_t minutes : row.minutes) {
            Attempt cut = ended_by("job.time_limit", static_cast<int>(scene.world.attempts.size()) + 1);
            cut.job.max_walltime_minutes = minutes;
            scene.world.attempts.push_back(cut);
        }
        CHECK(cell_state_text(scene.cell().state) == cell_state_text(row.state));
        CHECK(scene.cell().reason == std::string(row.counts) + "; the last in build: it ended");
    }
}

TEST_CASE(
    "preemptions, node failures and the network have limits of their own and do not count as attempts") {
    struct Row {
        std::vector<std::pair<int, const char*>> ends;  // counts and error codes, in this order
        CellState state;
        const char* counts;
    };
    const Row rows[] = {
        {{{2, "job.failed"}}, CellState::wanted, "2 of 3 attempts failed"},
        {{{9, "job.preempted"}, {2, "job.failed"}},
         CellState::wanted,
         "2 of 3 attempts failed, 9 of 10 preemptions"},
        {{{9, "job.preempted"}, {4, "job.node_failure"}},
         CellState::wanted,
         "9 of 10 preemptions, 4 of 5 node failures"},
        {{{10, "job.preempted"}}, CellState::given_up, "10 of 10 preemptions"},
        {{{1, "job.failed"}, {5, "job.node_failure"}},
         CellState::given_up,
         "1 of 3 attempts failed, 5 of 5 node failures"},
        {{{4, "job.node_failure"}, {1, "job.tree_busy"}}, CellState::given_up, "5 of 5 node failures"},
        {{{20, "job.network"}, {2, "job.failed"}},
         CellState::wanted,
         "2 of 3 attempts failed, 20 of 40 network failures"},
        {{{max_network_failures, "job.network"}}, CellState::given_up, "40 of 40 network failures"},
        {{{9, "job.preempted"}, {1, "job.failed"}, {1, "job.time_limit"}, {1, "job.out_of_memory"}},
         CellState::given_up,
         "3 of 3 attempts failed, 9 of 10 preemptions"},
        {{{1, "job.killed"}, {1, "job.vanished"}, {1, "job.never_started"}},
         CellState::given_up,
         "3 of 3 attempts failed"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.counts);
        Scene scene;
        scene.site.max_preemptions = 10;
        for (const auto& [count, code] : row.ends) {
            for (int i = 0; i < count; ++i)
                scene.world.attempts.push_back(
                    ended_by(code, static_cast<int>(scene.world.attempts.size()) + 1));
        }
        const Cell cell = scene.cell();
        CHECK(cell_state_text(cell.state) == cell_state_text(row.state));
        CHECK(cell.reason == std::string(row.counts) + "; the last in build: it ended");
        for (auto& attempt : scene.world.attempts)
            attempt.superseded = true;
        CHECK(scene.cell().state == CellState::wanted);
    }
}

TEST_CASE("an attempt in progress is found even if its ID sorts before that of an older attempt") {
    Scene scene;
    Attempt second = attempt("w1", "demo-1.0-cp311", State::running);
    second.number = 2;
    scene.world.attempts = {second, failed("w2")};
    CHECK(scene.cell().state == CellState::active);
    CHECK(scene.cell().attempt == "w1");
}

TEST_CASE("the Pythons of one version are built one after another until a wheel for one Python is known") {
    Scene scene;
    scene.world.pythons.emplace("3.12", python("3.12", 12));
    scene.site.wants = {{"demo", {"1.0"}, {"3.11", "3.12"}}};
    const auto states = [&scene] {
        const Plan plan = make_plan(scene.site, scene.recipes, scene.world);
        std::vector<std::string> texts;
        for (const auto& cell : plan.cells)
            texts.emplace_back(cell_state_text(cell.state));
        return base::join(texts, " ");
    };
    CHECK(states() == "wanted held");
    scene.world.attempts = {attempt("w1", "demo-1.0-cp311", State::running)};
    CHECK(states() == "active held");
    scene.publish({"demo-0.9-cp311-cp311-linux_x86_64.whl"});
    CHECK(states() == "active wanted");
    scene.site.compiler_cache_gib = 1;
    CHECK(states() == "active held");  // the second then finds most of its compiles in the cache
    scene.site.compiler_cache_gib = 0;
    scene.world.attempts.clear();
    scene.publish({"demo-0.9-py3-none-any.whl"});
    CHECK(states() == "wanted held");
}

TEST_CASE("a broken journal starts nothing") {
    Scene scene;
    scene.world.journal_problems = {{"journal.broken", "no JSON", "x.json"}};
    CHECK(make_plan(scene.site, scene.recipes, scene.world).start_nothing.find("x.json") !=
          std::string::npos);
}

TEST_CASE("the plan queries the source index only if the answer matters") {
    Scene scene;
    const Recipe recipe = default_recipe("demo");
    const auto needs = [&](const std::string& version) {
        return needs_offers({"demo", {version}, {"3.11"}}, recipe, scene.world);
    };
    CHECK(needs("latest"));
    CHECK(needs("1.0"));
    scene.publish({"demo-1.0-py3-none-any.whl"});
    CHECK(!needs("1.0"));
    CHECK(needs(">=1"));
    Recipe path = recipe;
    path.source = SourceKind::path;
    CHECK(!needs_offers({"demo", {"2.0"}, {"3.11"}}, path, scene.world));
}

TEST_CASE("the versions of a tarball are those that its recipe pins") {
    Scene scene;
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::tarball;
    recipe.sha256 = {{"1.0", std::string(64, 'a')}, {"1.2", std::string(64, 'b')}};
    scene.recipes.add(recipe);
    scene.site.wants = {{"demo", {"latest"}, {"3.11"}}};
    CHECK(scene.cell().version == "1.2");
}

// A site that builds torch for a GPU and for the CPU, with a companion.
struct Farm {
    Scene scene;

    Farm() {
        scene.site.label = "here";
        scene.site.accelerators = {{"gh200", "cuda", {"sm_90"}, "cu123", {}, {}},
                                   {"plain", "cpu", {}, "cpu", {}, {}}};
        Recipe torch = default_recipe("torch");
        torch.source = SourceKind::path;
        torch.labelled = true;
        torch.accelerators = {"cuda", "cpu"};
        scene.recipes.add(torch);
        Recipe vision = torch;
        vision.package = "vision";
        vision.against = "torch";
        vision.against_versions = {{"0.19.0", "==2.4.0"}, {"0.19.1", "==2.4.1"}, {"0.18.0", ">=2.3,<2.4"}};
        scene.recipes.add(vision);
        scene.site.wants = {{"torch", {"2.4.0"}, {"3.11"}, {}, {}, {"vision"}}};
        for (const char* project : {"torch", "vision"})
            scene.world.published.emplace(project, std::optional<simple::ProjectPage>());
    }
    void publish(const std::string& project, const std::string& filename) {
        simple::ProjectPage page;
        simple::FileLink file;
        file.filename = filename;
        page.files.push_back(file);
        scene.world.published.insert_or_assign(project, std::optional(page));
    }
    [[nodiscard]] std::vector<std::string> awaiting_others() const {
        std::vector<std::string> names;
        for (const auto& cell : make_plan(scene.site, scene.recipes, scene.world).cells) {
            if (cell.awaits_others) names.push_back(cell.name);
        }
        return names;
    }
    [[nodiscard]] std::vector<std::string> described() const {
        std::vector<std::string> lines;
        for (const auto& cell : make_plan(scene.site, scene.recipes, scene.world).cells)
            lines.push_back(cell.name + " " + std::string(cell_state_text(cell.state)) + ": " + cell.reason);
        return lines;
    }
};

TEST_CASE("each accelerator has its own wheel, named by its label, and its own companion") {
    const Farm farm;
    CHECK(
        farm.described() ==
        std::vector<std::string>{
            "torch-2.4.0+cu123-cp311 wanted: not in index `main`",
            "vision-0.19.0+cu123-cp311 held: after torch-2.4.0+cu123-cp311, which it is built against "
            "(wanted)",
            "torch-2.4.0+cpu-cp311 wanted: not in index `main`",
            "vision-0.19.0+cpu-cp311 held: after torch-2.4.0+cpu-cp311, which it is built against (wanted)"});
}

TEST_CASE("a companion is built after its torch, against exactly that version") {
    Farm farm;
    farm.publish("torch", "torch-2.4.0+cu123-cp311-cp311-linux_x86_64.whl");
    const Plan plan = make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world);
    REQUIRE(plan.cells.size() == 4);
    CHECK(plan.cells[0].state == CellState::have);
    CHECK(plan.cells[1].name == "vision-0.19.0+cu123-cp311");
    CHECK(plan.cells[1].state == CellState::wanted);
    CHECK(plan.cells[1].against == "torch==2.4.0+cu123");
    CHECK(plan.cells[2].state == CellState::wanted);  // a different label means a different wheel
    CHECK(plan.cells[3].state == CellState::held);
}

TEST_CASE("two versions of torch with one companion: each has it, or a row that says why not") {
    struct Row {
        const char* what;
        std::vector<std::string> torches;
        void (*change)(Recipe& vision);
        std::vector<std::string> cells;
        std::vector<std::string> also_for;  // of the companion
    };
    const std::string first =
        "vision-0.18.0+cu123-cp311 held: after torch-2.3.0+cu123-cp311, which it is built "
        "against (wanted)";
    const std::string newest =
        "vision-0.18.0+cu123-cp311 held: after torch-2.3.1+cu123-cp311, which it is built "
        "against (wanted)";
    const std::string of_0 = "torch-2.3.0+cu123-cp311 wanted: not in index `main`";
    const std::string of_1 = "torch-2.3.1+cu123-cp311 wanted: not in index `main`";
    const auto stable = [](Recipe& vision) { vision.stable_abi = {"0.18.0"}; };
    const Row rows[] = {
        {"pinned",
         {"2.3.0", "2.3.1"},
         [](Recipe&) {},
         {of_0, first, of_1,
          "vision-0.18.0+cu123-cp311-for-torch-2.3.1+cu123-cp311 impossible: it is pinned to "
          "torch==2.3.0+cu123, and there is one wheel of this name: want one of the two"},
         {}},
        {"pinned, the newer first",
         {"2.3.1", "2.3.0"},
         [](Recipe&) {},
         {of_1, newest, of_0,
          "vision-0.18.0+cu123-cp311-for-torch-2.3.0+cu123-cp311 impossible: it is pinned to "
          "torch==2.3.1+cu123, and there is one wheel of this name: want one of the two"},
         {}},
        {"of a stable ABI", {"2.3.0", "2.3.1"}, stable, {of_0, first, of_1}, {"torch-2.3.1+cu123-cp311"}},
        {"of a stable ABI, the newer first",
         {"2.3.1", "2.3.0"},
         stable,
         {of_1, newest, of_0,
          "vision-0.18.0+cu123-cp311-for-torch-2.3.0+cu123-cp311 impossible: it is built against "
          "torch==2.3.1+cu123 and works with that and newer ones: name torch 2.3.0 first"},
         {}},
        {"the same one twice", {"2.3.0", "==2.3.0"}, [](Recipe&) {}, {of_0, first}, {}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Farm farm;
        Recipe torch = farm.scene.recipes.of("torch");
        torch.source = SourceKind::tarball;
        torch.sha256 = {{"2.3.0", "a"}, {"2.3.1", "b"}};
        farm.scene.recipes.add(torch);
        Recipe vision = farm.scene.recipes.of("vision");
        row.change(vision);
        farm.scene.recipes.add(vision);
        farm.scene.site.wants = {{"torch", row.torches, {"3.11"}, {"gh200"}, {}, {"vision"}}};
        CHECK(farm.described() == row.cells);
        const Plan plan = make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world);
        CHECK(plan.cells[1].also_for == row.also_for);
    }
    // An upstream's wheel is taken as it is, and the farm pins nothing.
    Farm farm;
    Recipe vision = farm.scene.recipes.of("vision");
    vision.source = SourceKind::upstream;
    farm.scene.recipes.add(vision);
    farm.scene.site.wants = {{"torch", {"2.3.0", "2.3.1"}, {"3.11"}, {"gh200"}, {}, {"vision"}}};
    const Plan plan = make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world);
    REQUIRE(plan.cells.size() == 3);
    CHECK(plan.cells[1].also_for == std::vector<std::string>{"torch-2.3.1+cu123-cp311"});
}

TEST_CASE("a companion of two versions of which one cannot be had is the other one's") {
    for (const bool stable : {false, true}) {
        for (const auto& torches : {std::vector<std::string>{"2.3.0", "2.3.1"}, {"2.3.1", "2.3.0"}}) {
            CAPTURE(stable);
            CAPTURE(torches.front());
            for (const char* bad : {"2.3.0", "2.3.1"}) {
                Farm farm;
                Recipe torch = farm.scene.recipes.of("torch");
                torch.source = SourceKind::tarball;
                torch.sha256 = {{"2.3.0", "a"}, {"2.3.1", "b"}};
                farm.scene.recipes.add(torch);
                Recipe vision = farm.scene.recipes.of("vision");
                if (stable) vision.stable_abi = {"0.18.0"};
                farm.scene.recipes.add(vision);
                farm.scene.site.known_bad = {
                    {"torch", *wheel::SpecifierSet::parse("==" + std::string(bad)), {}, "crashes", ""}};
                farm.scene.site.wants = {{"torch", torches, {"3.11"}, {"gh200"}, {}, {"vision"}}};
                const std::string good = bad == std::string("2.3.0") ? "2.3.1" : "2.3.0";
                const Plan plan = make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world);
                const auto held = std::find_if(plan.cells.begin(), plan.cells.end(), [](const Cell& cell) {
                    return cell.state == CellState::held;
                });
                REQUIRE(held != plan.cells.end());
                CHECK(held->name == "vision-0.18.0+cu123-cp311");
                CHECK(held->against == "torch==" + good + "+cu123");
                CHECK(plan.cells.size() == 3);
            }
        }
    }
}

TEST_CASE("what works with newer ones, too, is built against the oldest that the site wants") {
    Farm farm;
    Recipe vision = farm.scene.recipes.of("vision");
    for (const bool stable : {false, true}) {
        if (stable) vision.stable_abi = {"0.18.0"};
        farm.scene.recipes.add(vision);
        farm.scene.site.wants = {{"torch", {"2.3.1", "2.3.0"}, {"3.11"}, {"gh200"}},
                                 {"vision", {"0.18.0"}, {"3.11"}, {"gh200"}}};
        const Plan plan = make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world);
        CHECK(plan.cells.back().against == (stable ? "torch==2.3.0+cu123" : "torch==2.3.1+cu123"));
    }
}

TEST_CASE("an older companion than the newest for a torch is built where somebody wants it by its version") {
    Farm farm;
    Recipe vision = farm.scene.recipes.of("vision");
    vision.against_versions = {{"0.18.0", ">=2.3"}, {"0.19.0", ">=2.4"}};
    farm.scene.recipes.add(vision);
    farm.scene.site.wants = {{"torch", {"2.4.0"}, {"3.11"}, {"gh200"}},
                             {"vision", {"0.18.0"}, {"3.11"}, {"gh200"}}};
    CHECK(make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world).cells.back().against ==
          "torch==2.4.0+cu123");
    // Each of two torches has its own newest.
    farm.scene.site.wants = {{"torch", {"2.4.0", "2.3.0"}, {"3.11"}, {"gh200"}, {}, {"vision"}}};
    const Plan plan = make_plan(farm.scene.site, farm.scene.recipes, farm.scene.world);
    REQUIRE(plan.cells.size() == 4);
    CHECK(plan.cells[1].against == "torch==2.4.0+cu123");
    CHECK(plan.cells[3].version == "0.18.0+cu123");
    CHECK(plan.cells[3].against == "torch==2.3.0+cu123");
}

TEST_CASE("a follow-up that is not built against the package says what to do") {
    Farm farm;
    Recipe lightning;
    lightning.package = "lightning";
    farm.scene.recipes.add(lightning);
    farm.scene.site.wants[0].follow_ups = {"lightning", "nosuch"};
    for (const auto& line : farm.described()) {
        if (line.starts_with("torch-")) continue;
        CAPTURE(line);
        CHECK(line.ends_with(" impossible: it is not built against torch: make it a [[want]] of its own"));
    }
}

TEST_CASE("a companion waits if only a staging index has its torch, because its build would not find it") {
    Farm farm;
    Attempt torch = attempt("w1", "torch-2.4.0+cu123-cp311", State::done, "2.4.0+cu123");
    torch.asked.package = "torch";
    torch.wheel.filename = "torch-2.4.0+cu123-cp311-cp311-linux_x86_64.whl";
    torch.wheel.index = "staging";
    farm.scene.world.attempts = {torch};
    CHECK(farm.described()[1] ==
          "vision-0.19.0+cu123-cp311 held: after torch-2.4.0+cu123-cp311, which it is built against "
          "(torch-2.4.0+cu123-cp311-cp311-linux_x86_64.whl in index `staging`: not before it is promoted)");
    CHECK(farm.awaiting_others() == std::vector<std::string>{"vision-0.19.0+cu123-cp311"});
}

TEST_CASE("a companion waits for another build of its torch, which pip would take from then on") {
    Farm farm;
    farm.publish("torch", "torch-2.4.0+cu123-cp311-cp311-linux_x86_64.whl");
    Attempt torch = attempt("w1", "torch-2.4.0+cu123-cp311", State::running, "2.4.0+cu123");
    torch.asked.package = "torch";
    torch.asked.build = 1;
    farm.scene.world.attempts = {torch};
    CHECK(farm.described()[1] ==
          "vision-0.19.0+cu123-cp311 held: after torch-2.4.0+cu123-cp311, which it is "
          "built against (active)");
    farm.scene.world.attempts.front().state = State::failed;  // for good, and the cell is as it was
    farm.scene.world.attempts.front().failure =
        Failure{"build", {"job.failed", "it broke"}, "", false, "", 0, EndCause::failed};
    CHECK(farm.described()[1].find(" wanted: ") != std::string::npos);
}

TEST_CASE("cells that wait for a person are distinguished from cells that wait for the agent") {
    Farm farm;
    CHECK(farm.awaiting_others().empty());  // both companions wait for a torch that is wanted
    Attempt torch = attempt("w1", "torch-2.4.0+cu123-cp311", State::failed, "2.4.0+cu123");
    torch.asked.package = "torch";
    torch.failure = Failure{"build", {"job.failed", "it broke"}, "", false, "", 0, EndCause::failed};
    farm.scene.world.attempts = {torch};
    CHECK(farm.awaiting_others() == std::vector<std::string>{"vision-0.19.0+cu123-cp311"});
    CHECK(farm.described()[1].ends_with("which it is built against (given up: not before `retry`)"));

    Recipe above = farm.scene.recipes.of("vision");
    above.package = "above";
    above.against = "vision";
    above.against_versions = {{"1.0", "==0.19.0"}};
    farm.scene.recipes.add(above);
    farm.scene.world.published.emplace("above", std::optional<simple::ProjectPage>());
    farm.scene.site.wants.push_back({"above", {"1.0"}, {"3.11"}, {"gh200"}});
    CHECK(farm.awaiting_others() ==
          std::vector<std::string>{"vision-0.19.0+cu123-cp311", "above-1.0+cu123-cp311"});
}

TEST_CASE("a want's exclusions and the site's known bad versions give the reason") {
    Farm farm;
    farm.scene.site.wants[0].versions = {"2.4.0", "2.2.0", "2.4.1"};
    farm.scene.site.wants[0].exclude = {
        {*wheel::SpecifierSet::parse("==2.4.1"), {"3.11"}, {"plain"}, "not needed"}};
    farm.scene.site.known_bad = {
        {"torch", *wheel::SpecifierSet::parse("<2.3"), {"gh200"}, "no H100 kernels", "2.3.0"}};
    CHECK(farm.described() ==
          std::vector<std::string>{
              "torch-2.4.0+cu123-cp311 wanted: not in index `main`",
              "vision-0.19.0+cu123-cp311 held: after torch-2.4.0+cu123-cp311, which it is built against "
              "(wanted)",
              "torch-2.4.0+cpu-cp311 wanted: not in index `main`",
              "vision-0.19.0+cpu-cp311 held: after torch-2.4.0+cpu-cp311, which it is built against (wanted)",
              "torch-2.2.0+cu123-cp311 impossible: known to be bad on test: no H100 kernels; use 2.3.0 "
              "instead",
              "vision-for-torch-2.2.0+cu123-cp311 impossible: its recipe names no version for torch 2.2.0: "
              "add it "
              "under [against.versions]",
              "torch-2.2.0+cpu-cp311 wanted: not in index `main`",
              "vision-for-torch-2.2.0+cpu-cp311 impossible: its recipe names no version for torch 2.2.0: add "
              "it under "
              "[against.versions]",
              "torch-2.4.1+cu123-cp311 wanted: not in index `main`",
              "vision-0.19.1+cu123-cp311 held: after torch-2.4.1+cu123-cp311, which it is built against "
              "(wanted)",
              "torch-2.4.1+cpu-cp311 excluded: not needed"});
}

TEST_CASE("the choice of the newest version skips bad and excluded versions") {
    Scene scene;
    scene.site.wants = {{"demo", {"latest"}, {"3.11"}}};
    scene.offer({sdist("1.0"), sdist("1.1"), sdist("1.2")});
    scene.site.known_bad = {{"demo", *wheel::SpecifierSet::parse("==1.2"), {}, "crashes", ""}};
    scene.site.wants[0].exclude = {{*wheel::SpecifierSet::parse("==1.1"), {}, {}, "not liked"}};
    CHECK(scene.cell().version == "1.0");
    scene.offer({sdist("1.2")});
    CHECK(scene.cell().reason == "known to be bad on test: crashes");
}

TEST_CASE(
    "a companion without a wanted torch is impossible, and so is an accelerator that its recipe does not "
    "support") {
    Farm farm;
    farm.scene.site.wants = {{"vision", {"0.19.0"}, {"3.11"}, {"gh200"}}};
    CHECK(farm.described() ==
          std::vector<std::string>{
              "vision-0.19.0+cu123-cp311 impossible: the site file wants no torch==2.4.0 for this Python "
              "and accelerator"});
    farm.scene.site.accelerators[0].kind = "rocm";
    CHECK(farm.described() ==
          std::vector<std::string>{"vision-0.19.0-3.11-gh200 impossible: the recipe builds for cuda, "
                                   "cpu, not for `gh200`"});
}

TEST_CASE("the site file may list a companion before its torch") {
    Farm farm;
    farm.scene.site.wants = {{"vision", {"0.19.0"}, {"3.11"}, {"plain"}},
                             {"torch", {"2.4.0"}, {"3.11"}, {"plain"}}};
    CHECK(farm.described() ==
          std::vector<std::string>{
              "vision-0.19.0+cpu-cp311 held: after torch-2.4.0+cpu-cp311, which it is built against "
              "(wanted)",
              "torch-2.4.0+cpu-cp311 wanted: not in index `main`"});
}

TEST_CASE("an upstream's wheel keeps the upstream's version; the site's label is for what is built here") {
    Scene scene;
    scene.site.accelerators = {{"gpu", "rocm", {"gfx90a"}, "rocm57.gfx90a", {}, {}}};
    scene.site.wants = {{"demo", {"2.0", "1.0"}, {"3.11"}}};
    const auto file = parse_recipe_file(R"(config_version = 1
package = "demo"
labelled = true
accelerators = ["rocm"]
[[override]]
versions = ">=2"
source = { kind = "upstream", index = "https://i.example/", label = "rocm5.7" }
)",
                                        "/r/demo.toml");
    REQUIRE_MESSAGE(file.has_value(), file.error().text());
    scene.recipes.add(file->general());
    for (const bool overridden : {true, false}) {
        Recipe recipe = overridden ? file->for_build(*wheel::Version::parse("2.0"), "rocm") : file->general();
        Recipes recipes;
        recipes.add(recipe);
        scene.recipes = recipes;
        const Plan plan = make_plan(scene.site, scene.recipes, scene.world);
        REQUIRE(plan.cells.size() == 2);
        CHECK(plan.cells[0].version == (overridden ? "2.0+rocm5.7" : "2.0+rocm57.gfx90a"));
    }
}

SdistOffer upstream_wheel(const std::string& version, const std::string& tags,
                          const std::string& requires_python = "") {
    SdistOffer offer = sdist(version, requires_python);
    offer.filename = "demo-" + version + "-" + tags + ".whl";
    return offer;
}

// The rules are pip's: the best tag of the newest version, Requires-Python, no yanked file for a range.
TEST_CASE("a want that is taken from upstream names the wheel that fits, or says which there are") {
    struct Row {
        const char* what;
        std::vector<std::string> versions;
        std::vector<SdistOffer> wheels;
        CellState state;
        const char* reason;
    };
    const std::string linux = "manylinux_2_28_x86_64", newer = "manylinux_2_39_x86_64";
    const Row rows[] = {
        {"it fits",
         {"1.0"},
         {upstream_wheel("1.0", "cp311-cp311-" + linux)},
         CellState::wanted,
         "; takes upstream's demo-1.0-cp311-cp311-manylinux_2_28_x86_64.whl of https://h/simple/, which "
         "fits Python 3.11.4"},
        {"any local label",
         {"1.0"},
         {upstream_wheel("1.0+cu126", "cp311-cp311-" + linux)},
         CellState::wanted,
         "takes upstream's demo-1.0+cu126-"},
        {"another label",
         {"1.0+cu130"},
         {upstream_wheel("1.0+cu126", "cp311-cp311-" + linux)},
         CellState::impossible,
         "no wheel of `demo` is `1.0+cu130` and fits Python 3.11.4"},
        {"the best of two",
         {"1.0"},
         {upstream_wheel("1.0", "py3-none-any"), upstream_wheel("1.0", "cp311-cp311-" + linux)},
         CellState::wanted,
         "takes upstream's demo-1.0-cp311-cp311-"},
        {"another Python",
         {"1.0"},
         {upstream_wheel("1.0", "cp312-cp312-" + linux), upstream_wheel("0.9", "py3-none-any")},
         CellState::impossible,
         "no wheel of demo 1.0 in https://h/simple/ (PIP_INDEX_URL) fits Python 3.11.4 "
         "(cp311-cp311-manylinux_2_36_x86_64): they are for cp312-cp312-manylinux_2_28_x86_64; the newest "
         "that fits is demo-0.9-py3-none-any.whl"},
        {"a newer glibc",
         {"1.0"},
         {upstream_wheel("1.0", "cp311-cp311-" + newer)},
         CellState::impossible,
         "they are for cp311-cp311-manylinux_2_39_x86_64; none of another version does"},
        {"Requires-Python",
         {"1.0"},
         {upstream_wheel("1.0", "py3-none-any", ">=3.12")},
         CellState::impossible,
         "they are for py3-none-any for Python >=3.12"},
        {"a range takes what fits",
         {">=1,<2"},
         {upstream_wheel("1.2", "cp312-cp312-" + linux), upstream_wheel("1.1", "py3-none-any")},
         CellState::wanted,
         "takes upstream's demo-1.1-py3-none-any.whl"},
        {"a range of which none fits",
         {">=1.2"},
         {upstream_wheel("1.2", "cp312-cp312-" + linux), upstream_wheel("1.1", "py3-none-any")},
         CellState::impossible,
         "; the newest that fits is demo-1.1-py3-none-any.whl"},
        {"no such project", {"1.0"}, {}, CellState::impossible, "no project of the name `demo`"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        scene.site.wants = {{"demo", row.versions, {"3.11"}}};
        scene.site.wants.front().from = "upstream";
        scene.recipes.take_upstream("demo", "upstream");
        scene.offer({sdist("1.0"), sdist("1.9")});
        scene.world.offers.at("demo")->wheels = row.wheels;
        const Cell cell = scene.cell();
        CHECK(cell_state_text(cell.state) == cell_state_text(row.state));
        CHECK_MESSAGE(cell.reason.find(row.reason) != std::string::npos, cell.reason);
        CHECK(cell.recipe == "no recipe: upstream's wheel");
        CHECK(needs_offers(scene.site.wants.front(), scene.recipes.of("demo"), scene.world));
    }
}

TEST_CASE("a stub is impossible by the default recipe alone, and only until the index has a wheel") {
    Scene scene;
    scene.site.wants = {{"pytorch", {"1.0.2"}, {"3.11"}}};
    scene.world.published.emplace("pytorch", std::optional<simple::ProjectPage>());
    CHECK(scene.cell().state == CellState::impossible);
    CHECK(scene.cell().reason.find("The package named for PyTorch is torch") != std::string::npos);
    Recipe recipe = default_recipe("pytorch");
    recipe.file = "pytorch.toml";
    scene.recipes.add(recipe);
    CHECK(scene.cell().state == CellState::wanted);
    scene.recipes = Recipes();
    simple::ProjectPage page;
    page.files.resize(1);
    page.files.front().filename = "pytorch-1.0.2-py3-none-any.whl";
    scene.world.published.insert_or_assign("pytorch", std::optional(page));
    CHECK(scene.cell().state == CellState::have);
}

TEST_CASE("a package that has wheels alone says what one key would take") {
    Scene scene;
    scene.offer({});
    scene.world.offers.at("demo")->has_project = true;
    scene.world.offers.at("demo")->wheels = {upstream_wheel("1.0", "cp311-cp311-manylinux_2_17_x86_64")};
    CHECK(scene.cell().reason.ends_with(
        "; with `from = \"upstream\"` in its [[want]] it is demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl, "
        "which fits Python 3.11.4"));
    // The newest sdist is for another Python, and a wheel of an older version fits.
    scene.site.wants = {{"demo", {"latest"}, {"3.11"}}};
    scene.offer({sdist("2.0", ">=3.12")});
    scene.world.offers.at("demo")->wheels = {upstream_wheel("1.0", "py3-none-any")};
    CHECK(scene.cell().reason.ends_with("it is demo-1.0-py3-none-any.whl, which fits Python 3.11.4"));
}

TEST_CASE("a wheel of upstream needs no toolkit of the machine, and its Python has to fit") {
    Scene scene;
    scene.site.modules.load = {"cuda/12.2"};
    const auto pairs = parse_version_pairs(R"(config_version = 1
pair = [
    { package = "demo", versions = ">=0", with = "cuda", allowed = ">=12.6", use = "machine", source = "s" },
    { package = "demo", versions = ">=0", with = "python", allowed = "<3.13", use = "machine", source = "s" },
]
[sources]
s = "https://example.org/"
)",
                                           "versions.toml");
    REQUIRE_MESSAGE(pairs.has_value(), pairs.error().text());
    scene.site.version_pairs = *pairs;
    scene.offer({sdist("1.0")});
    scene.world.offers.at("demo")->wheels = {upstream_wheel("1.0", "py3-none-any")};
    CHECK(scene.cell().reason.find("the site has cuda 12.2, it needs cuda>=12.6") == 0);
    scene.recipes.take_upstream("demo", "https://i.example/");
    CHECK(scene.recipes.of("demo").index == "https://i.example/");
    CHECK(scene.cell().state == CellState::wanted);
    scene.site.version_pairs[1].allowed_set = *wheel::SpecifierSet::parse("<3.11");
    CHECK(scene.cell().state == CellState::impossible);
}

TEST_CASE(
    "what a build needs of the site is named by a module, a variable or a version, or is on PATH, or the "
    "keys "
    "are said") {
    const auto recipe = parse_recipe_file(R"(config_version = 1
package = "demo"
[build]
needs.hdf5 = ["HDF5_DIR", "HDF5_PKGCONFIG_NAME", "h5cc"]
)",
                                          "/r/demo.toml");
    REQUIRE_MESSAGE(recipe.has_value(), recipe.error().text());
    const auto planned = [&](const std::function<void(Site&)>& change,
                             const std::set<std::string>& programs = {}) {
        Scene scene;
        scene.world.programs = programs;
        scene.recipes.add(recipe->general());
        scene.offer({sdist("1.0")});
        change(scene.site);
        return scene.cell();
    };
    const Cell none = planned([](Site& site) { site.modules.load = {"gcc/12"}; });
    CHECK(none.state == CellState::impossible);
    CHECK(none.reason.find("name its module in `load` of [modules], or set HDF5_DIR or HDF5_PKGCONFIG_NAME "
                           "in [environment], or have h5cc on PATH;") != std::string::npos);
    CHECK(planned([](Site& site) { site.modules.load = {"cray-hdf5-parallel/1.12.2.9"}; }).state ==
          CellState::wanted);
    CHECK(planned([](Site& site) {
              site.environment = {{"HDF5_PKGCONFIG_NAME", "hdf5-openmpi"}};
          }).state == CellState::wanted);
    CHECK(planned([](Site& site) {
              site.provided_versions = {{"HDF5", "1.14"}};
          }).state == CellState::wanted);
    CHECK(planned([](Site&) {}, {"h5cc"}).state == CellState::wanted);
}

}  // namespace
}  // namespace wheelyard::builder
