// The judgement, row by row: what each side has, and the answer with its reason.
#include "lib/inspect/abi/torch_fit.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace wheelyard;
using inspect::CompanionUses;
using inspect::ElfMember;
using inspect::Fit;
using inspect::FitReason;

namespace {

constexpr std::string_view zeros = "_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE";
constexpr std::string_view new_error =
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr std::string_view old_error = "_ZN3c105ErrorC2ENS_14SourceLocationESs";

wheel::WheelFilename named(std::string_view text) {
    auto filename = wheel::parse_wheel_filename(text);
    REQUIRE(filename);
    return std::move(*filename);
}

// An ELF file of a wheel; `imports` and `exports` reach it as from its symbol table.
ElfMember file(std::string name, const std::vector<std::string_view>& imports,
               const std::vector<std::string_view>& exports, std::vector<std::string> needed) {
    ElfMember member;
    member.name = std::move(name);
    member.elf.machine = "x86_64";
    member.elf.needed = std::move(needed);
    const auto take = [&](const inspect::DynamicSymbol& symbol) {
        member.elf.symbols.take(symbol);
        member.torch.take(symbol);
    };
    for (const std::string_view symbol : imports)
        take({symbol, true, false});
    for (const std::string_view symbol : exports)
        take({symbol, false, false});
    return member;
}

std::vector<ElfMember> torch_files() {
    return {file("torch/lib/libc10.so", {}, {new_error, "_ZN3c106Device3strEv"}, {"libc.so.6"}),
            file("torch/lib/libtorch_cuda.so", {}, {"_ZN2at4cuda3runEv"}, {"libcudart.so.12"}),
            file("torch/lib/libtorch_cpu.so", {}, {zeros, "torch_library_impl", "aoti_torch_new"},
                 {"libc10.so"})};
}

inspect::TorchExports torch(const std::function<void(std::vector<ElfMember>&)>& change = {}) {
    auto files = torch_files();
    if (change) change(files);
    auto exports = inspect::torch_exports(named("torch-2.6.0-cp311-cp311-manylinux1_x86_64.whl"), files);
    REQUIRE(exports);
    return std::move(*exports);
}

CompanionUses vision(const std::vector<ElfMember>& files,
                     std::string_view tags = "cp311-cp311-linux_x86_64") {
    return inspect::companion_uses(named("torchvision-0.21.0-" + std::string(tags) + ".whl"), files);
}

void check_fit(const inspect::TorchFit& fit, Fit answer, FitReason reason, std::string_view part) {
    CAPTURE(fit.sentence);
    CHECK(fit.fit == answer);
    CHECK(fit.reason == reason);
    CHECK(fit.sentence.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("a companion whose names torch has all can be loaded") {
    const auto fit = fits(vision({file("torchvision/_C.so", {zeros, new_error, "cudaMalloc"}, {},
                                       {"libtorch_cpu.so", "libc10.so", "libcudart.so.12"})}),
                          torch());
    check_fit(fit, Fit::yes, FitReason::has_all_symbols, "torch 2.6.0 has all 2 names");
    CHECK(fit.used == 2);
    CHECK(fit.missing == 0);
}

TEST_CASE("a name that torch lacks is named as a person writes it, with the count and the file") {
    const auto fit = fits(vision({file("torchvision/_C.so", {zeros}, {}, {}),
                                  file("torchvision/image.so",
                                       {"_ZN3c106detail14torchCheckFailEPKcS2_j", "_ZN2at4goneEv"}, {}, {})}),
                          torch());
    check_fit(fit, Fit::no, FitReason::symbols_missing,
              "torch 2.6.0 lacks `c10::detail::torchCheckFail` and 1 more of the 3 names");
    CHECK(fit.file == "torchvision/image.so");
    CHECK(fit.symbol == "_ZN3c106detail14torchCheckFailEPKcS2_j");
    CHECK(fit.missing == 2);
}

// As nixl_cu13 1.3.2.
TEST_CASE("of an extension that has one build for each torch, one that loads is enough") {
    const auto build = [](const std::string& release, std::string_view name) {
        return file("ep/_cpp_torch" + release + ".so", {name}, {}, {"libtorch_cpu.so"});
    };
    constexpr std::string_view gone = "_ZN3c104impl3cow23materialize_cow_storageERNS_11StorageImplE";
    check_fit(inspect::fits(vision({build("26", zeros), build("25", gone)}), torch()), Fit::yes,
              FitReason::has_all_symbols, "has all 1 names");
    check_fit(inspect::fits(vision({build("24", gone), build("25", gone)}), torch()), Fit::no,
              FitReason::symbols_missing, "materialize_cow_storage");
    check_fit(inspect::fits(vision({build("26", zeros), build("25", gone), file("ep/_C.so", {gone}, {}, {})}),
                            torch()),
              Fit::no, FitReason::symbols_missing, "materialize_cow_storage");
}

TEST_CASE("the two kinds of std::string are named in both directions") {
    const auto old_companion = fits(vision({file("a.so", {old_error}, {}, {})}), torch());
    check_fit(old_companion, Fit::no, FitReason::symbols_missing,
              "built for the old std::string (_GLIBCXX_USE_CXX11_ABI=0), torch for the new");
    const auto old_torch =
        torch([](auto& files) { files.front() = file("torch/lib/libc10.so", {}, {old_error}, {}); });
    check_fit(fits(vision({file("a.so", {new_error}, {}, {})}), old_torch), Fit::no,
              FitReason::symbols_missing,
              "built for the new std::string (_GLIBCXX_USE_CXX11_ABI=1), torch for the old");
}

TEST_CASE("the stable ABI is named as such, also where this torch is too old for it") {
    check_fit(fits(vision({file("a.so", {"torch_library_impl", "aoti_torch_new"}, {}, {})}), torch()),
              Fit::yes, FitReason::uses_stable_abi, "only torch's stable ABI, and torch 2.6.0 has all 2");
    check_fit(fits(vision({file("a.so", {"torch_list_size"}, {}, {})}), torch()), Fit::no,
              FitReason::symbols_missing, "`torch_list_size`, one name of torch");
}

TEST_CASE("names that the wheel defines itself and weak ones are not torch's to have") {
    auto own = file("torchvision/_C.so", {"_ZN2at3ownEv", zeros}, {}, {"libtorch_own.so"});
    own.torch.take({"_ZN2at4weakEv", true, true});
    const auto companion = vision({own, file("torchvision/libtorch_own.so", {}, {"_ZN2at3ownEv"}, {})});
    check_fit(fits(companion, torch()), Fit::yes, FitReason::has_all_symbols, "all 1 names");
}

TEST_CASE("a library of torch's that this torch does not have") {
    const auto cpu = torch([](auto& files) { files.erase(files.begin() + 1); });
    const auto companion = vision({file("a.so", {zeros}, {}, {"libtorch_cuda.so", "libtorchaudio.so"})});
    check_fit(fits(companion, cpu), Fit::no, FitReason::library_missing, "it needs libtorch_cuda.so, which");
    check_fit(fits(companion, torch()), Fit::yes, FitReason::has_all_symbols, "");
    check_fit(fits(vision({file("a.so", {}, {}, {"libtorch_cuda.so"})}), torch()), Fit::yes,
              FitReason::has_all_symbols,
              "it uses no name of torch, and torch 2.6.0 has the libraries that it needs");
}

TEST_CASE("another major version of the CUDA runtime, unless the wheel has it itself") {
    const auto needs_13 = file("a.so", {zeros}, {}, {"libcudart.so.13"});
    check_fit(fits(vision({needs_13}), torch()), Fit::no, FitReason::runtime_differs,
              "it needs libcudart.so.13, and torch 2.6.0 is linked to libcudart.so.12");
    check_fit(fits(vision({needs_13, file("libs/libcudart.so.13", {}, {}, {})}), torch()), Fit::yes,
              FitReason::has_all_symbols, "");
}

TEST_CASE("two MPIs in one process") {
    const auto with_mpi = torch([](auto& files) { files.back().elf.needed.emplace_back("libmpi.so.40"); });
    check_fit(fits(vision({file("a.so", {zeros}, {}, {"libmpi_gnu_123.so.12"})}), with_mpi), Fit::no,
              FitReason::mpi_differs, "libmpi_gnu_123.so.12 (MPICH ABI), and torch 2.6.0 is linked to");
    check_fit(fits(vision({file("a.so", {zeros}, {}, {"libmpi.so.40"})}), with_mpi), Fit::yes,
              FitReason::has_all_symbols, "");
}

TEST_CASE("another machine or another Python") {
    auto arm = file("a.so", {zeros}, {}, {});
    arm.elf.machine = "aarch64";
    check_fit(fits(vision({arm}, "cp311-cp311-linux_aarch64"), torch()), Fit::no, FitReason::machine_differs,
              "built for aarch64, torch 2.6.0 for x86_64");
    struct Row {
        std::string_view tags;
        Fit answer;
    };
    const auto one = file("a.so", {zeros}, {}, {});
    for (const Row& row :
         {Row{"cp312-cp312-linux_x86_64", Fit::no}, Row{"cp311-cp311d-linux_x86_64", Fit::no},
          Row{"cp39-abi3-linux_x86_64", Fit::yes}, Row{"cp312-abi3-linux_x86_64", Fit::no},
          Row{"py3-none-linux_x86_64", Fit::yes}, Row{"py39-none-linux_x86_64", Fit::yes},
          Row{"py2.py3-none-linux_x86_64", Fit::yes}, Row{"py312-none-linux_x86_64", Fit::no},
          Row{"cp310-none-linux_x86_64", Fit::no}}) {
        CAPTURE(row.tags);
        CHECK(fits(vision({one}, row.tags), torch()).fit == row.answer);
    }
    auto threaded = torch();
    threaded.tags = {{"cp315", "cp315t", "linux_x86_64"}};
    CHECK(fits(vision({one}, "cp39-abi3-linux_x86_64"), threaded).fit == Fit::no);
    CHECK(fits(vision({one}, "cp315-abi3t-linux_x86_64"), threaded).fit == Fit::yes);
    CHECK(fits(vision({one}, "cp315-cp315t-linux_x86_64"), threaded).fit == Fit::yes);
}

TEST_CASE("what cannot be read is unknown, and a proof of the contrary still counts") {
    auto flawed = file("a.so", {zeros}, {}, {});
    flawed.elf.has_all_symbols = false;
    check_fit(fits(vision({flawed}), torch()), Fit::unknown, FitReason::not_read, "a symbol table of it");
    check_fit(fits(vision({flawed, file("b.so", {"_ZN2at4goneEv"}, {}, {})}), torch()), Fit::no,
              FitReason::symbols_missing, "`at::gone`");
    const auto cut = torch([](auto& files) { files.back().torch.is_cut = true; });
    check_fit(fits(vision({file("b.so", {"_ZN2at4goneEv"}, {}, {})}), cut), Fit::unknown, FitReason::not_read,
              "of torch 2.6.0");
    check_fit(fits(vision({}, "cp311-cp311-win_amd64"), torch()), Fit::unknown, FitReason::not_read,
              "could not be read");
}

TEST_CASE("a wheel without compiled code that uses torch fits every torch") {
    check_fit(fits(vision({}, "py3-none-any"), torch()), Fit::yes, FitReason::uses_no_torch, "");
    check_fit(fits(vision({file("a.so", {"PyList_New"}, {}, {"libc.so.6"})}), torch()), Fit::yes,
              FitReason::uses_no_torch, "");
}

TEST_CASE("a wheel that defines nothing of torch's is no torch") {
    const auto exports = inspect::torch_exports(named("six-1.16.0-py3-none-any.whl"), {});
    REQUIRE_FALSE(exports);
    CHECK(exports.error().code == "torch.no_libraries");
}

TEST_CASE("of several torches one that fits is enough, and the first of those that do not is named") {
    const auto companion = vision({file("a.so", {zeros, new_error}, {}, {})});
    auto newer = torch([](auto& files) { files.pop_back(); });
    newer.version = "2.8.0";
    auto newest = newer;
    newest.version = "2.9.0";
    const auto none = fits_none(companion, {newest, newer});
    REQUIRE(none);
    check_fit(*none, Fit::no, FitReason::symbols_missing, "torch 2.9.0 lacks `at::_ops::zeros::call`");
    CHECK_FALSE(fits_none(companion, {newest, torch()}));
    CHECK_FALSE(fits_none(companion, {}));
}

// bench/abi_matrix/results.tsv: where nothing else has the other runtime, it does not load; a module or RUNPATH can have it.
TEST_CASE("another runtime or MPI is no proof that none of the torches can load a companion") {
    const auto with_mpi = torch([](auto& files) { files.back().elf.needed.emplace_back("libmpi.so.40"); });
    for (const std::string library : {"libcudart.so.13", "libmpi.so.12"}) {
        CAPTURE(library);
        const auto companion = vision({file("a.so", {zeros}, {}, {library})});
        CHECK(fits(companion, with_mpi).fit == Fit::no);
        CHECK_FALSE(fits_none(companion, {with_mpi}));
        CHECK(fits_none(vision({file("a.so", {"_ZN2at4goneEv"}, {}, {library})}), {with_mpi}));
    }
}

TEST_CASE("a torch for another machine or Python, or one that was not read, is no reason") {
    const auto companion = vision({file("a.so", {zeros}, {}, {})});
    auto lacks = torch([](auto& files) { files.pop_back(); });
    CHECK(fits_none(companion, {lacks}));
    auto other = lacks;
    other.machines = {"aarch64"};
    CHECK_FALSE(fits_none(companion, {other}));
    other = lacks;
    other.tags = named("torch-2.6.0-cp312-cp312-linux_x86_64.whl").tags;
    CHECK_FALSE(fits_none(companion, {other}));
    other = lacks;
    other.is_complete = false;
    CHECK_FALSE(fits_none(companion, {other}));
}
