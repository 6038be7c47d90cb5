#include <doctest/doctest.h>

#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/source/wheel_list_cache.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/indexer/avail_wheels/sample_wheels.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

using Texts = std::vector<std::string>;

// Newest first, as written by the indexer.
const Texts torch{
    "torch-2.5.0rc1-cp311-cp311-linux_x86_64.whl",  "torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl",
    "torch-2.4.0+cpu-cp311-cp311-linux_x86_64.whl", "torch-2.4.0-cp311-cp311-musllinux_1_2_x86_64.whl",
    "torch-2.3.0-1-cp311-cp311-linux_x86_64.whl",   "torch-2.3.0-cp313-cp313-linux_x86_64.whl",
    "torch-1.9.1-cp310-cp310-linux_x86_64.whl"};
const Texts six{"six-1.17.0-py2.py3-none-any.whl", "six-1.16.0-py2.py3-none-any.whl"};

std::string wheel_list_text(std::int64_t serial, const std::string& yanked = {}) {
    std::vector<simple::WheelListProject> projects;
    for (const auto& [key, filenames] : {std::pair("six", six), std::pair("torch", torch)}) {
        simple::WheelListProject project{key, filenames.size(), {}, {}};
        for (const auto& filename : filenames) {
            project.lines += simple::render_wheel_list_line(
                {filename, filename == yanked, "broken", {}, 0, 12, std::string(64, 'a')});
            project.facts += "{\"of\":\"" + filename + "\"}\n";
        }
        projects.push_back(std::move(project));
    }
    return simple::render_wheel_list({.serial = serial, .index = "main"}, projects);
}

struct Folder {
    base::TempDir folder = *base::TempDir::make("wheelyard-catalogue-source-test");
    simple::WheelList open(const std::string& text) const {
        REQUIRE(base::replace_file(folder.path() / simple::wheel_list_name, text));
        return *simple::WheelList::open(folder.path());
    }
};

Query query_of(const Texts& wanted, const Texts& pythons = {}) {
    Query query;
    query.wanted = make_wanted(wanted);
    query.pythons = make_pythons(pythons);
    return query;
}

}  // namespace

TEST_CASE("reading a wheel list gives the same answers as filtering all its wheels") {
    const Folder folder;
    for (const auto& yanked : {std::string(), torch[1], torch[2], six[0]}) {
        const auto wheel_list = folder.open(wheel_list_text(1, yanked));
        auto everything = make_candidates(six);
        for (auto& candidate : make_candidates(torch))
            everything.push_back(std::move(candidate));
        for (auto& candidate : everything)
            candidate.link.yanked = candidate.link.filename == yanked;
        for (const Texts& wanted :
             {Texts{"*"}, Texts{"torch"}, Texts{"t*", "six"}, Texts{"torch<2.4"}, Texts{"absent"},
              Texts{"torch>=2.5.0rc1"}, Texts{"torch==2.4.0+cu126"}, Texts{"six==1.17.0"}}) {
            for (const Texts& pythons : {Texts{}, Texts{"3.11"}, Texts{"3.13", "3.10"}, Texts{"3.14"}}) {
                for (const int mode : {0, 1, 2}) {
                    Query query = query_of(wanted, pythons);
                    query.all_versions = mode == 1;
                    query.everything = mode == 2;
                    CAPTURE(wanted);
                    CAPTURE(mode);
                    auto read = read_wheel_list(wheel_list, query, "https://host/main/simple/", false);
                    REQUIRE(read.has_value());
                    const auto answer = choose(query, std::move(*read));
                    const auto expected = select(query, everything);
                    CHECK(filenames_of(answer) == filenames_of(expected));
                    CHECK(answer.not_available == expected.not_available);
                }
            }
        }
    }
}

TEST_CASE("of a project's older versions nothing is read") {
    const Folder folder;
    const auto read =
        read_wheel_list(folder.open(wheel_list_text(1)), query_of({"*"}), "https://host/main/simple/", false);
    REQUIRE(read.has_value());
    CHECK_FALSE(read->empty());
    for (const auto& candidate : *read) {
        for (const char* older : {"six-1.16", "torch-2.3", "torch-1."})
            CHECK_FALSE_MESSAGE(candidate.link.filename.starts_with(older), candidate.link.filename);
    }
}

TEST_CASE("a wheel from a wheel list has its URL, and its facts on request") {
    const Folder folder;
    const auto wheel_list = folder.open(wheel_list_text(1));
    auto read =
        read_wheel_list(wheel_list, query_of({"torch==2.4.0+cu126"}), "https://host/main/simple/", true);
    REQUIRE(read->size() == 1);
    CHECK(read->front().link.url == "https://host/main/files/aa/" + std::string(64, 'a') +
                                        "/torch-2.4.0%2Bcu126-cp312-cp312-linux_x86_64.whl");
    CHECK(read->front().facts == "{\"of\":\"torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl\"}");
    CHECK(
        read_wheel_list(wheel_list, query_of({"torch"}), "https://host/main/simple", false)->front().facts ==
        "");
    CHECK(*projects_of_wheel_list(wheel_list, "To") == Texts{"torch"});
    CHECK(*projects_of_wheel_list(wheel_list, "") == Texts{"six", "torch"});
}

namespace {

// An index that counts its requests.
struct FakeIndex {
    std::string base_text;  // empty: no wheel list
    bool answers = true;
    int status = 200;
    Texts asked;
    base::TempDir folder = *base::TempDir::make("wheelyard-catalogue-cache-test");
    std::filesystem::path cache = folder.path();
    std::string url = "https://anna:secret@host/main/simple/";
    base::ManualClock clock{1'000'000'000'000};

    base::Result<WheelListAnswer> fetch(Freshness freshness = Freshness::recent) {
        const simple::GetPage get = [&](const std::string& page, const io::HttpHeaders& headers,
                                        const io::BodyLimit& limit) -> base::Result<io::HttpAnswer> {
            std::string etag;
            for (const auto& [name, value] : headers)
                etag += name == "If-None-Match" ? " " + value : "";
            asked.push_back(page.substr(page.rfind('/') + 1) + etag);
            if (!answers) return base::fail("http.connect", "Nobody answers");
            io::HttpAnswer answer;
            answer.status = status;
            if (status != 200) return answer;
            if (page.ends_with(simple::wheel_list_delta_name) || base_text.empty()) {
                answer.status = 404;
            } else if (etag == " \"" + std::to_string(base_text.size()) + "\"") {
                answer.status = 304;
            } else {
                WHEELYARD_TRY((*limit.sink)(base_text));
                answer.headers = {{"etag", "\"" + std::to_string(base_text.size()) + "\""}};
            }
            return answer;
        };
        return fetch_wheel_list(get, url, cache, clock, freshness);
    }
};

}  // namespace

TEST_CASE("a wheel list is fetched once, revalidated after a minute, and kept if unchanged") {
    FakeIndex index;
    index.base_text = wheel_list_text(1);
    CHECK(index.fetch()->wheel_list);
    CHECK(index.asked == Texts{"catalogue.txt", "catalogue-delta.txt"});
    index.asked.clear();
    CHECK(index.fetch()->wheel_list);
    CHECK(index.asked.empty());
    CHECK(index.fetch(Freshness::now)->wheel_list);
    CHECK(index.asked.at(0) == "catalogue.txt \"" + std::to_string(index.base_text.size()) + "\"");
    index.asked.clear();
    index.clock.sleep_ms(61'000);
    index.base_text = wheel_list_text(22);
    CHECK(index.fetch()->wheel_list->serial() == 22);
    CHECK(index.asked.size() == 2);
    // The folder name must not reveal the password.
    CHECK(index_folder("/c", "https://anna:secret@host/main/simple/").native().find("secret") ==
          std::string::npos);
    CHECK(index_folder("/c", "https://host/a/") != index_folder("/c", "https://host/b/"));
}

TEST_CASE("without a connection, the cached answer is used with its age") {
    FakeIndex index;
    index.answers = false;
    CHECK(index.fetch().error().code == "http.connect");
    index.answers = true;
    index.base_text = wheel_list_text(1);
    REQUIRE(index.fetch()->wheel_list);
    index.answers = false;
    index.clock.sleep_ms(3 * 3600 * 1000);
    const auto answer = index.fetch();
    CHECK(answer->wheel_list);
    CHECK(answer->warning ==
          "host is not reachable (Nobody answers); showing its answer from 3 h 00 min ago");
    index.answers = true;
    index.status = 503;
    CHECK(index.fetch()->warning.find("503") != std::string::npos);
    CHECK(index.fetch(Freshness::cached)->warning == "");
}

TEST_CASE("a cache without an answer yet is no reason for a warning") {
    FakeIndex index;
    const auto answer = index.fetch(Freshness::cached);
    REQUIRE(answer);
    CHECK_FALSE(answer->wheel_list);
    CHECK(answer->warning == "");
    CHECK(index.asked.empty());
}

TEST_CASE(
    "where nothing can be kept, the wheel list is fetched each time, and why is said once there is a "
    "folder") {
    FakeIndex index;
    index.base_text = wheel_list_text(1);
    index.cache = "/dev/null/cache";  // no folder can be made there
    for (int i = 0; i < 2; ++i) {
        const auto answer = index.fetch();
        REQUIRE(answer->wheel_list);
        CHECK(answer->wheel_list->serial() == 1);
        CHECK(answer->warning == "");
    }
    CHECK(index.asked.size() == 4);
    CHECK_FALSE(index.fetch(Freshness::cached)->wheel_list);
    index.cache = index.folder.path();
    const auto in_the_way = index_folder(index.cache, index.url) / simple::wheel_list_name / "x";
    REQUIRE(std::filesystem::create_directories(in_the_way));  // writing fails, as on a full disk
    const auto answer = index.fetch();
    CHECK(answer->wheel_list);
    CHECK(answer->warning.starts_with("what the index answers is not kept: "));
    index.answers = false;
    index.cache = "";
    CHECK(index.fetch().error().code == "http.connect");
}

TEST_CASE("without a wheel list the pages are read, and a login page is none") {
    FakeIndex index;
    CHECK_FALSE(index.fetch()->wheel_list);
    index.asked.clear();
    CHECK_FALSE(index.fetch()->wheel_list);
    CHECK(index.asked.empty());
    index.clock.sleep_ms(61'000);
    index.base_text = "<html>please log in</html>";
    CHECK_FALSE(index.fetch()->wheel_list);
    index.clock.sleep_ms(61'000);
    index.base_text = "wheelyard.catalogue/2\tof the future\n";
    const auto answer = index.fetch();
    CHECK_FALSE(answer->wheel_list);
    CHECK(answer->warning.find("Unsupported version of the wheel list") != std::string::npos);
}

TEST_CASE("a cached wheel list whose folder another hash named is used; one of two is a guess, and is not") {
    FakeIndex index;
    index.base_text = wheel_list_text(1);
    REQUIRE(index.fetch()->wheel_list);
    const auto folder = index_folder(index.folder.path(), "https://anna:secret@host/main/simple/");
    std::string older = folder.native();
    older.replace(older.size() - 4, 4, "zzzz");
    index.answers = false;
    std::filesystem::rename(folder, older);
    CHECK(index.fetch()->wheel_list);
    std::filesystem::rename(folder, older);
    std::filesystem::create_directory(older.substr(0, older.size() - 4) + "yyyy");
    CHECK_FALSE(index.fetch());
}

TEST_CASE("a damaged cached wheel list is fetched again at once, without its ETag") {
    FakeIndex index;
    index.base_text = wheel_list_text(1);
    REQUIRE(index.fetch()->wheel_list);
    const auto file =
        index_folder(index.folder.path(), "https://anna:secret@host/main/simple/") / simple::wheel_list_name;
    for (const std::string& damaged : {index.base_text.substr(0, index.base_text.size() / 2),
                                       std::string("wheelyard.catalogue/1\n"), std::string(64, '\0')}) {
        CAPTURE(damaged.size());
        REQUIRE(base::replace_file(file, damaged));
        index.asked.clear();
        const auto answer = index.fetch();
        REQUIRE(answer);
        CHECK(answer->wheel_list);
        CHECK(answer->warning == "");
        CHECK(index.asked == Texts{"catalogue.txt", "catalogue-delta.txt"});
    }
    // It is no answer to show while the index is not reachable.
    REQUIRE(base::replace_file(file, std::string(64, '\0')));
    index.answers = false;
    index.clock.sleep_ms(3 * 3600 * 1000);
    const auto unreachable = index.fetch();
    REQUIRE(unreachable);
    CHECK_FALSE(unreachable->wheel_list);
    CHECK(unreachable->warning.find("The wheel list is damaged") == 0);
    index.answers = true;
    // Damage inside, which only reading finds: the caller forgets it.
    forget_wheel_list(index.folder.path(), "https://anna:secret@host/main/simple/");
    index.asked.clear();
    CHECK(index.fetch()->wheel_list);
    CHECK(index.asked.at(0) == "catalogue.txt");
}
