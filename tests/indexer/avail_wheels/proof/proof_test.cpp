// A wheel with what its registry signed, and a real wheel with its real attestation: what speaks for each and
// against it.
#include "indexer/avail_wheels/proof/proof.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <map>
#include <sstream>

#include "indexer/avail_wheels/run.hpp"
#include "lib/attest/sigstore/attestation.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "tests/attest/samples.hpp"

namespace wheelyard::avail_wheels {
namespace {

const std::string index_url = "https://farm/main/simple/";
const std::string file_url = "https://farm/main/files/";

struct Shelf {
    base::TempDir folder = *base::TempDir::make("wheelyard-proof-test");
    std::map<std::string, std::string> served;  // URL → body; any other is 404
    std::map<std::string, int> refused;         // URL → status
    std::string page_type = "text/html";
    attest::SigningKey key = attest::SigningKey::generate();
    ProofQuestion asked;

    std::filesystem::path put(const std::string& name, const std::string& bytes) const {
        REQUIRE(base::replace_file(folder.path() / name, bytes));
        return folder.path() / name;
    }
    // The wheel of the samples with its signed provenance beside it, believed.
    std::filesystem::path put_signed(const std::string& bytes) {
        auto said = attest::sample_said();
        said.wheel.sha256 = base::sha256_hex(bytes);
        put(said.wheel.filename + ".prov", attest::sample_signed(key, said));
        asked.root = put("root.json", attest::sign_root(attest::sample_root(key, key), {&key}));
        asked.uploaded_to = {"main"};
        return put(said.wheel.filename, bytes);
    }
    // The real wheel, and its attestations as an index serves them.
    std::filesystem::path put_attested() {
        const std::string name = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl";
        const std::string data = std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/" + name;
        const std::string bytes = base::read_file(data, base::mib).value();
        const std::string field =
            "[" + base::read_file(data + ".publish.attestation", base::mib).value() + "]";
        served[file_url + name + ".pep740"] =
            sigstore::verify_attestations(field, name, base::sha256_hex(bytes), sigstore::public_root())
                ->document;
        return put(name, bytes);
    }
    // The page of a project lists these bytes under the file's name.
    void list(const std::filesystem::path& file, const std::string& project, const std::string& bytes) {
        asked.index_url = index_url;
        served[index_url + project + "/"] = "<a href=\"" + file_url + file.filename().string() +
                                            "#sha256=" + base::sha256_hex(bytes) + "\">x</a>";
    }
    [[nodiscard]] base::Result<Proof> prove(const std::filesystem::path& file) const {
        const simple::GetPage get = [this](const std::string& url, const io::HttpHeaders&,
                                           const io::BodyLimit&) -> base::Result<io::HttpAnswer> {
            const auto found = served.find(url);
            io::HttpAnswer answer;
            const auto no = refused.find(url);
            answer.status = no != refused.end() ? no->second : found == served.end() ? 404 : 200;
            answer.headers = {{"content-type", page_type}};
            answer.final_url = url;
            if (found != served.end()) answer.body = found->second;
            return answer;
        };
        return prove_wheel(file, asked, get, attest::sample_time);
    }
    // "sha256 - index + statement + attestation -": what holds is +, what does not is !.
    [[nodiscard]] std::string steps(const std::filesystem::path& file) const {
        const auto proof = prove(file);
        if (!proof) return proof.error().code;
        std::string text = proof->holds() ? "holds:" : "fails:";
        for (const auto& step : proof->steps)
            text += " " + step.name +
                    (step.proved == Proved::yes  ? " +"
                     : step.proved == Proved::no ? " !"
                                                 : " -");
        return text;
    }
};

}  // namespace

TEST_CASE("a hash counts as given and as the page of the index has it") {
    Shelf shelf;
    const auto file = shelf.put("demo-1.0-py3-none-any.whl", "wheel");
    CHECK(shelf.steps(file) == "fails: sha256 - statement - attestation -");  // nothing speaks for it
    shelf.asked.sha256 = base::sha256_hex("wheel");
    CHECK(shelf.steps(file) == "holds: sha256 + statement - attestation -");
    shelf.asked.sha256 = base::sha256_hex("other");
    CHECK(shelf.steps(file) == "fails: sha256 ! statement - attestation -");
    shelf.asked.sha256.clear();
    shelf.list(file, "demo", "wheel");
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    shelf.list(file, "demo", "other");
    CHECK(shelf.steps(file) == "fails: sha256 - index ! statement - attestation -");
    shelf.served.clear();
    CHECK(shelf.steps(file) == "fails: sha256 - index ! statement - attestation -");
    CHECK(shelf.steps(shelf.put("no_wheel.txt", "x")) == "filename.extension");
}

TEST_CASE("what the registry signed counts for who trusts its key, and must be there then") {
    Shelf shelf;
    const auto file = shelf.put_signed("wheel");
    const std::string held = "holds: sha256 - statement + attestation -";
    const std::string failed = "fails: sha256 - statement ! attestation -";
    CHECK(shelf.steps(file) == held);
    CHECK(shelf.prove(file)->warnings.empty());
    CHECK(shelf.prove(file)->statement.find("keyid")->as_string()->size() == 64);
    shelf.put(file.filename().string(), "wheeL");
    CHECK(shelf.steps(file) == failed);
    shelf.put(file.filename().string(), "wheel");
    const auto root = std::exchange(shelf.asked.root, {});
    CHECK(shelf.steps(file) == "fails: sha256 - statement - attestation -");  // nobody is trusted
    shelf.asked.key = shelf.put("key.pub", attest::SigningKey::generate().public_key().pem());
    CHECK(shelf.steps(file) == failed);
    shelf.asked.key = shelf.put("key.pub", shelf.key.public_key().pem());
    CHECK(shelf.steps(file) == held);
    shelf.asked.uploaded_to = {"staging"};
    CHECK(shelf.steps(file) == failed);
    shelf.asked.key.clear();
    shelf.asked.root = root;
    shelf.asked.uploaded_to = {"main"};
    std::filesystem::remove(file.native() + ".prov");
    CHECK(shelf.steps(file) == failed);  // who takes the statement away does not take the question away
}

TEST_CASE("a publisher's attestation is verified, and its absence is said") {
    Shelf shelf;
    const auto file = shelf.put_attested();
    const std::string bytes = base::read_file(file, base::mib).value();
    shelf.list(file, "circleci-sign-publish-example", bytes);
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->steps.back().text.starts_with(
        "github.com/CircleCI-Public/sign-and-publish-examples"));
    CHECK(shelf.prove(file)->attested.items().size() == 1);
    const std::string who =
        "https://circleci.com/api/v2/projects/fdd9283f-e619-46af-8f9c-851f7d3e8b2b/pipeline-definitions/"
        "8e4f8ab2-8d7c-4827-9f15-de076d6d647f";
    CHECK(shelf.prove(file)->steps.back().text.ends_with("; no proof without --publisher " + who));
    // A stranger's attestation is no proof, and of a publisher that is named there has to be one.
    shelf.asked.index_url.clear();
    const std::string pep740 = shelf.served[file_url + file.filename().string() + ".pep740"];
    const auto beside = shelf.put(file.filename().string() + ".pep740", pep740);
    CHECK(shelf.steps(file) == "fails: sha256 - statement - attestation -");
    shelf.asked.publishers = {"https://github.com/other/project", who};
    CHECK(shelf.steps(file) == "holds: sha256 - statement - attestation +");
    // CircleCI builds any repository for anybody: it says nothing of who owns it.
    for (const char* other :
         {"https://github.com/other/project", "github.com/CircleCI-Public/sign-and-publish-examples"}) {
        shelf.asked.publishers = {other};
        CHECK(shelf.steps(file) == "fails: sha256 - statement - attestation - attestation !");
    }
    std::filesystem::remove(beside);
    CHECK(shelf.steps(file) == "fails: sha256 - statement - attestation !");
    shelf.asked.publishers.clear();
    shelf.asked.index_url = index_url;
    std::string changed = bytes;
    changed[100] ^= 1;
    shelf.put(file.filename().string(), changed);
    CHECK(shelf.steps(file) == "fails: sha256 - index ! statement - attestation !");
    shelf.put(file.filename().string(), bytes);
    shelf.served.erase(file_url + file.filename().string() + ".pep740");
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->steps.back().text == "none: no publisher attests it");
}

TEST_CASE("an index that does not answer is a step, and what its page says is told") {
    Shelf shelf;
    const auto file = shelf.put("demo-1.0-py3-none-any.whl", "wheel");
    shelf.list(file, "demo", "wheel");
    const std::string at = file_url + file.filename().string();
    for (const int status : {401, 403, 410, 500}) {
        shelf.refused = {{at + ".prov", status}, {at + ".pep740", status}};
        CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
        const std::string told = shelf.prove(file)->steps.back().text;
        // What a server says of a refusal does not look like a proof.
        CHECK(told.starts_with("not read: The index responded with status " + std::to_string(status)));
        shelf.asked.publishers = {"https://github.com/a/b"};
        CHECK(shelf.steps(file) == "fails: sha256 - index + statement - attestation !");
        shelf.asked.publishers.clear();
        shelf.refused = {{index_url + "demo/", status}};
        CHECK(shelf.steps(file) == "fails: sha256 - index ! statement - attestation -");
        const std::string page = shelf.prove(file)->steps[1].text;
        CHECK(page.find("responded with status " + std::to_string(status)) != std::string::npos);
    }
    shelf.refused.clear();
    // A page for people where there is nothing.
    shelf.served[at + ".prov"] = shelf.served[at + ".pep740"] = "\n<html>welcome</html>";
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->steps.back().text == "none: no publisher attests it");
    // No bytes at all say neither that there is something nor that there is nothing, also beside the wheel.
    shelf.served[at + ".prov"] = shelf.served[at + ".pep740"] = "";
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->steps.back().text == "not read: This document is empty");
    const auto empty = shelf.put(file.filename().string() + ".pep740", "");
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    shelf.asked.publishers = {"https://github.com/a/b"};
    CHECK(shelf.steps(file) == "fails: sha256 - index + statement - attestation !");
    shelf.asked.publishers.clear();
    std::filesystem::remove(empty);
    const auto page = [&](const std::string& members, const std::string& status) {
        shelf.page_type = "application/vnd.pypi.simple.v1+json";
        shelf.served = {
            {index_url + "demo/", R"({"meta":{"api-version":"1.4"},"name":"demo",)" + status +
                                      R"("files":[{"filename":"demo-1.0-py3-none-any.whl","url":")" + at +
                                      R"(?sig=a","hashes":{"sha256":")" + base::sha256_hex("wheel") + "\"}" +
                                      members + "}]}"}};
    };
    page(R"(,"provenance":"https://farm/p")", "");
    CHECK(shelf.steps(file) == "fails: sha256 - index + statement - attestation !");
    page(R"(,"yanked":"it crashes")", R"("project-status":{"status":"quarantined","reason":"malware"},)");
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->warnings ==
          std::vector<std::string>{index_url + " says that the project is quarantined: malware",
                                   index_url + " says that the wheel is yanked: it crashes"});
    // The names go onto the path, before the query.
    shelf.served[at + ".prov?sig=a"] = "{}";
    CHECK(shelf.prove(file)->steps[2].text.starts_with("not verified, since nobody is trusted"));
    // A pipe beside the wheel, or in its place, is not waited for.
    const std::string pipe = file.native() + ".pep740";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->steps.back().text.find("not a regular file") != std::string::npos);
    CHECK(shelf.prove(pipe).error().code == "file.not_regular");
}

TEST_CASE("verify ends with 1 where a file is not proved, and with 2 for a wrong command line") {
    Shelf shelf;
    const auto file = shelf.put_signed("wheel");
    base::ManualClock clock{attest::sample_time};
    World world;
    world.clock = &clock;
    const auto run_it = [&](std::vector<std::string> words) {
        std::ostringstream out;
        std::ostringstream err;
        bool pager = false;
        words.insert(words.begin(), "verify");
        const int status = run(words, world, out, err, pager);
        return std::to_string(status) + " " + out.str() + err.str();
    };
    const std::vector<std::string> good{file.native(), "--offline", "--root", shelf.asked.root.native()};
    CHECK(run_it(good).starts_with("1 avail_wheels: this program has no cryptography"));
    world.prove = prove_wheel;
    CHECK(run_it(good).starts_with("0 " + file.filename().string() + ": verified\n"));
    CHECK(run_it(good).find("--uploaded-to says which indexes are right") != std::string::npos);
    auto two = good;
    two.push_back(shelf.asked.root.native() + ".whl");
    two.push_back("--json");
    CHECK(run_it(two).starts_with("1 {\"format\":\"wheelyard.verified/1\",\"files\":[{\"filename\":"));
    CHECK(run_it(two).find(R"({"filename":"root.json.whl","verified":false,"error":)") != std::string::npos);
    shelf.put(file.filename().string(), "wheeL");
    CHECK(run_it(good).starts_with("1 " + file.filename().string() + ": NOT verified\n"));
    CHECK(run_it({file.native(), "--offline"}).find(": not verified: nothing to compare with\n") !=
          std::string::npos);
    const auto forged = shelf.put("a\nb: verified", "x");
    CHECK(run_it({forged.native(), "--offline"}).starts_with("1 a b: verified: not verified: "));
    const std::string bad_site = shelf.put("bad.toml", "no = [").native();
    const std::string folder_site =
        shelf.put("folder.toml", "wheelhouse = \"" + shelf.folder.path().native() + "\"\n").native();
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{},
                                                  {"a.whl", "--sha256", "12"},
                                                  {"a.whl", "--sha256", std::string(64, 'x')},
                                                  {"a.whl", "--offline", "--index-url", "x"},
                                                  {"a.whl", "--offline", "--site", folder_site},
                                                  {"a.whl", "--root", ""},
                                                  {"a.whl", "--root="},
                                                  {"a.whl", "--key", ""},
                                                  {"a.whl", "--index-url", ""},
                                                  {"a.whl", "--sha256", ""},
                                                  {"a.whl", "--publisher", ""},
                                                  {"a.whl", "--uploaded-to", "main"},
                                                  {"a.whl", "--sigstore-root", "/nowhere.json"},
                                                  {"a.whl", "--site", bad_site},
                                                  {"a.whl", "--site", folder_site},
                                                  {"a.whl", "--index-url", shelf.folder.path().native()},
                                                  {"a.whl", "--index-url", "file:///tmp/"}}) {
        const std::string ran = run_it(wrong);
        CHECK_MESSAGE(ran.starts_with("2 avail_wheels: error: "), ran);
    }
    for (const std::string& site : {bad_site, std::string("/nowhere.toml")}) {
        world.environment = {{"WHEELYARD_SITE", site}};
        CHECK(run_it({file.native()}).starts_with("2 avail_wheels: error: "));
    }
    world.environment.clear();
    // Behind options a command's word would be the name of a wheel.
    for (const char* word : {"verify", "login", "logout"}) {
        std::ostringstream out;
        std::ostringstream err;
        bool pager = false;
        const std::vector<std::string> late{"--index-url", "https://farm/simple/", word, "a.whl"};
        CHECK(run(late, world, out, err, pager) == 2);
        CHECK(err.str().find("is the first: avail_wheels " + std::string(word)) != std::string::npos);
    }
}

}  // namespace wheelyard::avail_wheels
