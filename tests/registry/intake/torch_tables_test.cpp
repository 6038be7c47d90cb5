// The tables of torch's names: what is kept is what was read, and what is lost or damaged is read again.
#include "registry/intake/torch_tables.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/store/blobs/memory_blobs.hpp"
#include "tests/support/elf_writer.hpp"
#include "tests/support/wheel_writer.hpp"

using namespace wheelyard;
using test_support::Answer;
using test_support::ElfImage;
using test_support::Form;
using test_support::RegistryFixture;
using test_support::WheelWriter;

namespace {

const std::string zeros = "_ZN2at4_ops5zeros4callEv", ones = "_ZN2at4_ops4ones4callEv";

WheelWriter torch(const std::string& version, const std::vector<std::string>& names,
                  const std::string& tag = "cp311-cp311-linux_x86_64") {
    WheelWriter wheel("torch", version);
    wheel.tag(tag).purelib(false);
    wheel.add("torch/lib/libtorch_cpu.so",
              test_support::write_elf(ElfImage{.soname = "libtorch_cpu.so", .exports = names}));
    return wheel;
}

WheelWriter vision(const std::string& version, const std::string& requirement, const std::string& name) {
    WheelWriter wheel("torchvision", version);
    wheel.tag("cp311-cp311-linux_x86_64").purelib(false);
    if (!requirement.empty()) wheel.metadata_line("Requires-Dist: " + requirement);
    wheel.add("torchvision/_C.so", test_support::write_elf(ElfImage{
                                       .needed = {"libc.so.6", "libtorch_cpu.so"}, .imports = {name}}));
    return wheel;
}

void ask_for(RegistryFixture& registry, inspect::Severity severity) {
    registry.config.indexes.front().policy.severities.insert_or_assign("torch.cannot_load", severity);
}

std::filesystem::path table_of(const RegistryFixture& registry, const WheelWriter& wheel) {
    return registry.config.store / "torch" / base::sha256_hex(wheel.bytes());
}

inspect::TorchExports example() {
    inspect::TorchExports exports;
    exports.version = "2.6.0+cu126";
    exports.tags = wheel::parse_wheel_filename("torch-2.6.0+cu126-cp311-cp311-linux_x86_64.whl")->tags;
    exports.machines = {"x86_64"};
    exports.needed = {"libc.so.6", "libcudart.so.12"};
    exports.libraries = {"libc10.so", "libtorch_cpu.so"};
    exports.strings = inspect::StringAbi::cxx11;
    exports.is_complete = true;
    exports.names = {1, 0x0102030405060708, 0xffffffffffffffff};
    return exports;
}

}  // namespace

TEST_CASE("a table has eight bytes a name, and reads as it was written") {
    const auto filename = wheel::parse_wheel_filename("torch-2.6.0+cu126-cp311-cp311-linux_x86_64.whl");
    const auto exports = example();
    const std::string bytes = registry::render_torch_table(exports);
    CHECK(bytes.size() == bytes.find('\n') + 1 + 3 * 8);
    const auto read = registry::parse_torch_table(*filename, bytes);
    REQUIRE(read);
    CHECK(read->names == exports.names);
    CHECK(read->version == exports.version);
    CHECK(read->machines == exports.machines);
    CHECK(read->needed == exports.needed);
    CHECK(read->libraries == exports.libraries);
    CHECK(read->strings == exports.strings);
    CHECK(read->is_complete);
}

TEST_CASE("a table that is cut, of another format or in disorder is none") {
    const auto filename = wheel::parse_wheel_filename("torch-2.6.0-cp311-cp311-linux_x86_64.whl");
    const std::string bytes = registry::render_torch_table(example());
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_FALSE(registry::parse_torch_table(*filename, bytes.substr(0, length)));
    std::string newer = bytes;
    newer.replace(newer.find("torch/1"), 7, "torch/2");
    CHECK_FALSE(registry::parse_torch_table(*filename, newer));
    std::string disorder = bytes;
    disorder[disorder.find('\n') + 1] = '\x7f';
    CHECK_FALSE(registry::parse_torch_table(*filename, disorder));
}

TEST_CASE("a torch's table is kept with its upload, made again where it is lost, and goes with its wheel") {
    RegistryFixture registry;
    const WheelWriter wheel = torch("2.6.0", {zeros, ones});
    REQUIRE(registry.send(Form::of(wheel)).status == 200);
    REQUIRE(std::filesystem::exists(table_of(registry, wheel)));
    const registry::TorchTables tables(registry.store, registry.config.store);
    const auto filename = wheel::parse_wheel_filename(wheel.filename());
    const std::string sha256 = base::sha256_hex(wheel.bytes());
    const std::string kept = *base::read_file(table_of(registry, wheel), 1 << 20);
    CHECK(tables.of(*filename, sha256)->names.size() == 2);
    REQUIRE(base::replace_file(table_of(registry, wheel), kept.substr(0, kept.size() - 1)));
    CHECK(tables.of(*filename, sha256)->names.size() == 2);
    CHECK(*base::read_file(table_of(registry, wheel), 1 << 20) == kept);
    std::filesystem::remove_all(registry.config.store / "torch");
    CHECK(tables.of(*filename, sha256)->names.size() == 2);
    CHECK(*base::read_file(table_of(registry, wheel), 1 << 20) == kept);

    std::filesystem::remove(registry.store.path_of(sha256));
    REQUIRE(registry.send(Form::of(torch("2.7.0", {zeros}))).status == 200);
    CHECK_FALSE(std::filesystem::exists(table_of(registry, wheel)));
}

TEST_CASE("a table that is kept looks few others up, and a store that does not answer removes none") {
    class Counting final : public blobs::MemoryBlobs {
      public:
        explicit Counting(blobs::MemoryBlobs&& blobs) : MemoryBlobs(std::move(blobs)) {}
        base::Result<std::optional<blobs::StoredBlob>> find(std::string_view sha256) const override {
            ++lookups;
            if (is_down) return base::fail_for_now("store.down", "The store does not answer");
            return MemoryBlobs::find(sha256);
        }
        mutable std::size_t lookups = 0;
        bool is_down = true;
    };
    const auto folder = base::TempDir::make("tables");
    REQUIRE(folder);
    auto opened = blobs::MemoryBlobs::open(folder->path());
    REQUIRE(opened);
    Counting store(*std::move(opened));
    const registry::TorchTables tables(store, folder->path());

    const WheelWriter wheel = torch("2.6.0", {zeros});
    const std::string bytes = wheel.bytes(), sha256 = base::sha256_hex(bytes);
    inspect::InspectOptions options;
    options.torch_names = true;
    const auto inspection = inspect::inspect_wheel(base::MemoryReader(bytes), wheel.filename(), options);
    REQUIRE(inspection);

    const auto torch_folder = folder->path() / "torch";
    constexpr std::size_t others = 2 * registry::max_tables_looked_up + 1;
    std::filesystem::create_directories(torch_folder);
    for (std::size_t i = 0; i < others; ++i)
        REQUIRE(base::replace_file(torch_folder / base::sha256_hex(std::to_string(i)), "table"));
    const auto count = [&] {
        const std::filesystem::directory_iterator first(torch_folder), end;
        return static_cast<std::size_t>(std::distance(first, end));
    };
    REQUIRE(tables.keep(sha256, *inspection));
    CHECK(store.lookups == 1);
    CHECK(count() == others + 1);
    store.is_down = false;
    for (int round = 0; round < 3; ++round) {
        store.lookups = 0;
        REQUIRE(tables.keep(sha256, *inspection));
        CHECK(store.lookups <= registry::max_tables_looked_up);
    }
    CHECK(count() == 1);
    CHECK(std::filesystem::exists(torch_folder / sha256));
}

TEST_CASE("a companion that no torch of its index can load is refused or quarantined, as the policy says") {
    RegistryFixture registry;
    REQUIRE(registry.send(Form::of(torch("2.6.0", {ones}))).status == 200);
    const WheelWriter wheel = vision("0.21.0", "torch==2.6.0", zeros);
    ask_for(registry, inspect::Severity::reject);
    const Answer refused = registry.send(Form::of(wheel));
    CHECK(refused.status == 400);
    CHECK(refused.code == "torch.cannot_load");
    CHECK_MESSAGE(refused.detail.find("torch 2.6.0 lacks `at::_ops::zeros::call`") != std::string::npos,
                  refused.detail);
    ask_for(registry, inspect::Severity::quarantine);
    const Answer quarantined = registry.send(Form::of(wheel));
    CHECK(quarantined.status == 200);
    CHECK(quarantined.done.quarantined_because.find("at::_ops::zeros::call") != std::string::npos);
    CHECK(registry.send(Form::of(vision("0.21.1", "torch==2.6.0", ones))).done.quarantined_because.empty());
}

TEST_CASE("without the policy nothing is judged, and nothing where the index has no such torch") {
    RegistryFixture registry;
    REQUIRE(registry.send(Form::of(torch("2.6.0", {ones}))).status == 200);
    const auto is_taken = [&](const std::string& version, const std::string& requirement) {
        const Answer answer = registry.send(Form::of(vision(version, requirement, zeros)));
        return answer.status == 200 && answer.done.quarantined_because.empty();
    };
    CHECK(is_taken("0.1", "torch==2.6.0"));
    ask_for(registry, inspect::Severity::reject);
    CHECK(is_taken("0.2", "torch==2.7.0"));
    CHECK_FALSE(is_taken("0.3", "torch==2.7.0; extra == 'dev'"));
    CHECK_FALSE(is_taken("0.4", ""));
    REQUIRE(registry.send(Form::of(torch("2.6.1", {zeros}, "cp312-cp312-linux_x86_64"))).status == 200);
    CHECK_FALSE(is_taken("0.5", "torch>=2.6"));
    REQUIRE(registry.send(Form::of(torch("2.5.0", {zeros}))).status == 200);
    CHECK(is_taken("0.6", "torch>=2.5"));
}

TEST_CASE("a wheel with a local version is judged by the torch that has the same") {
    RegistryFixture registry;
    ask_for(registry, inspect::Severity::reject);
    REQUIRE(registry.send(Form::of(torch("2.6.0+cpu", {zeros}))).status == 200);
    REQUIRE(registry.send(Form::of(torch("2.6.0+bede", {ones}))).status == 200);
    CHECK(registry.send(Form::of(vision("0.21.0+bede", "torch==2.6.0", zeros))).code == "torch.cannot_load");
    CHECK(registry.send(Form::of(vision("0.21.0+cpu", "torch==2.6.0", zeros))).status == 200);
    CHECK(registry.send(Form::of(vision("0.21.0+xpu", "torch==2.6.0", zeros))).status == 200);
}
