// A wheel with what its registry signed, and a real wheel with its real attestation: what speaks for each and
// against it.
#include "indexer/avail_wheels/proof/proof.hpp"

#include <doctest/doctest.h>

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
            answer.status = found == served.end() ? 404 : 200;
            answer.headers = {{"content-type", "text/html"}};
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
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation +");
    CHECK(shelf.prove(file)->steps.back().text.starts_with(
        "github.com/CircleCI-Public/sign-and-publish-examples"));
    CHECK(shelf.prove(file)->attested.items().size() == 1);
    std::string changed = bytes;
    changed[100] ^= 1;
    shelf.put(file.filename().string(), changed);
    CHECK(shelf.steps(file) == "fails: sha256 - index ! statement - attestation !");
    shelf.put(file.filename().string(), bytes);
    shelf.served.erase(file_url + file.filename().string() + ".pep740");
    CHECK(shelf.steps(file) == "holds: sha256 - index + statement - attestation -");
    CHECK(shelf.prove(file)->steps.back().text == "none: no publisher attests it");
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
    shelf.put(file.filename().string(), "wheeL");
    CHECK(run_it(good).starts_with("1 " + file.filename().string() + ": NOT verified\n"));
    CHECK(run_it({file.native(), "--offline"}).find("nothing proves it: ") != std::string::npos);
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{},
                                                  {"a.whl", "--sha256", "12"},
                                                  {"a.whl", "--offline", "--index-url", "x"}})
        CHECK(run_it(wrong).starts_with("2 avail_wheels: error: "));
}

}  // namespace wheelyard::avail_wheels
