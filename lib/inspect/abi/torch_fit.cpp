#include "lib/inspect/abi/torch_fit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/words.hpp"
#include "lib/inspect/abi/other_library.hpp"
#include "lib/inspect/elf/torch_names.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/truth/libraries.hpp"

namespace wheelyard::inspect {
namespace {

// Those of the wheel `torch`; libtorchaudio.so is none.
bool is_torch_library(std::string_view library) {
    return library.starts_with("libtorch.so") || library.starts_with("libtorch_") ||
           library.starts_with("libc10.so") || library.starts_with("libc10_") ||
           library.starts_with("libshm.so");
}

// Sets what both sides have, except `strings`.
void gather(const wheel::WheelFilename& filename, const std::vector<ElfMember>& elves, LoadedWith& side) {
    const ProvidedLibraries provided(elves);
    side.tags = filename.tags;
    for (const ElfMember& member : elves) {
        if (member.elf.is_device) continue;
        side.machines.insert(member.elf.machine);
        side.is_complete = side.is_complete && member.elf.has_all_symbols && !member.torch.is_cut;
        for (const std::string& library : member.elf.needed) {
            if (!provided.has(library)) side.needed.emplace(base::base_name(library));
        }
    }
}

std::vector<std::uint64_t> definitions_of(const std::vector<ElfMember>& elves) {
    std::vector<std::uint64_t> names;
    for (const ElfMember& member : elves)
        names.insert(names.end(), member.torch.definitions.begin(), member.torch.definitions.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

bool defines(const std::vector<std::uint64_t>& names, std::string_view name) {
    return std::binary_search(names.begin(), names.end(), torch_name_hash(name));
}

// "cp311" and "py311" → 11; nullopt: none of Python 3, or any of it ("py3").
std::optional<std::uint64_t> python_minor(std::string_view python) {
    constexpr std::size_t letters = 3;  // "cp3", "py3"
    if (python.size() <= letters || python[2] != '3') return std::nullopt;
    return base::parse_decimal(python.substr(letters));
}

// Says whether one Python can load both. abi3: PEP 384; not of free-threaded builds (PEP 703), whose own is
// abi3t (PEP 803).
bool tags_share_a_python(const wheel::Tag& companion, const wheel::Tag& torch) {
    if (companion.python == "py3" || torch.python == "py3") return true;
    const auto oldest = python_minor(companion.python), minor = python_minor(torch.python);
    const bool is_new_enough = oldest && minor && *oldest <= *minor;
    const bool is_free_threaded = torch.abi.ends_with('t');
    if (companion.abi == "none")
        return companion.python.starts_with("py") ? is_new_enough : companion.python == torch.python;
    if (companion.abi == "abi3") return is_new_enough && !is_free_threaded;
    if (companion.abi == "abi3t") return is_new_enough;
    return companion.python == torch.python && companion.abi == torch.abi;
}

std::string python_text(const std::vector<wheel::Tag>& tags) {
    std::set<std::string> texts;
    for (const wheel::Tag& tag : tags)
        texts.insert(tag.python + "-" + tag.abi);
    return base::join(std::vector<std::string>(texts.begin(), texts.end()), ", ");
}

bool share_one(const std::set<std::string>& ours, const std::set<std::string>& theirs) {
    return std::any_of(ours.begin(), ours.end(),
                       [&](const std::string& one) { return theirs.count(one) != 0; });
}

std::string list_of(const std::set<std::string>& texts) {
    return base::join(std::vector<std::string>(texts.begin(), texts.end()), ", ");
}

std::string strings_text(StringAbi abi) {
    return abi == StringAbi::cxx11 ? "the new std::string" : "the old std::string";
}

// Counts into `fit`; the missing libraries of torch's.
std::set<std::string> compare_names(const CompanionUses& companion, const TorchExports& torch,
                                    TorchFit& fit) {
    std::set<std::string_view> used, missing;
    std::set<std::string> libraries;
    const auto loads = [&torch](const FileUses& file) {
        return std::all_of(file.names.begin(), file.names.end(),
                           [&](const std::string& name) { return defines(torch.names, name); }) &&
               std::all_of(file.torch_libraries.begin(), file.torch_libraries.end(),
                           [&](const std::string& library) { return torch.libraries.count(library) != 0; });
    };
    std::set<std::string> loaded;  // of extensions that have one build for each torch
    for (const FileUses& file : companion.files) {
        std::string name = name_for_any_torch(file.name);
        if (name != file.name && loads(file)) loaded.insert(std::move(name));
    }
    for (const FileUses& file : companion.files) {
        if (loaded.contains(name_for_any_torch(file.name)) && !loads(file)) continue;
        for (const std::string& name : file.names) {
            if (!used.insert(name).second || defines(torch.names, name)) continue;
            if (missing.empty()) fit.file = file.name, fit.symbol = name;
            missing.insert(name);
        }
        for (const std::string& library : file.torch_libraries) {
            if (torch.libraries.count(library) == 0) libraries.insert(library);
        }
    }
    fit.used = used.size();
    fit.missing = missing.size();
    return libraries;
}

std::string missing_text(const CompanionUses& companion, const TorchExports& torch, const TorchFit& fit) {
    std::string text = "torch " + torch.version + " lacks `" + readable_torch_name(fit.symbol) + "`";
    text += fit.missing == 1 ? ", one" : " and " + std::to_string(fit.missing - 1) + " more";
    text += fit.used == 1 ? " name of torch that it needs"
                          : " of the " + std::to_string(fit.used) + " names of torch that it needs";
    const bool differ = companion.strings != torch.strings &&
                        (companion.strings == StringAbi::cxx11 || companion.strings == StringAbi::old) &&
                        (torch.strings == StringAbi::cxx11 || torch.strings == StringAbi::old);
    if (differ)
        text += "; it is built for " + strings_text(companion.strings) +
                " (_GLIBCXX_USE_CXX11_ABI=" + (companion.strings == StringAbi::cxx11 ? "1" : "0") +
                "), torch for " + strings_text(torch.strings);
    return text;
}

bool uses_only_stable_names(const CompanionUses& companion) {
    return std::all_of(companion.files.begin(), companion.files.end(), [](const FileUses& file) {
        return std::all_of(file.names.begin(), file.names.end(),
                           [](const std::string& name) { return is_stable_torch_name(name); });
    });
}

TorchFit judged(TorchFit fit, Fit answer, FitReason reason, std::string sentence) {
    fit.fit = answer;
    fit.reason = reason;
    fit.sentence = std::move(sentence);
    return fit;
}

}  // namespace

base::Result<TorchExports> torch_exports(const wheel::WheelFilename& filename,
                                         const std::vector<ElfMember>& elves) {
    TorchExports torch;
    gather(filename, elves, torch);
    torch.version = filename.version.text();
    torch.names = definitions_of(elves);
    StringNames strings;
    for (const ElfMember& member : elves) {
        if (member.elf.is_device) continue;
        torch.libraries.emplace(base::base_name(member.name));
        if (!member.elf.soname.empty()) torch.libraries.insert(member.elf.soname);
        strings.cxx11 += member.elf.symbols.api_strings.cxx11;
        strings.old += member.elf.symbols.api_strings.old;
    }
    torch.strings = strings.abi();
    if (torch.names.empty())
        return base::fail_malformed("torch.no_libraries", "This wheel defines no name of torch's interface",
                                    filename.text(), "name a wheel of torch for Linux");
    return torch;
}

CompanionUses companion_uses(const wheel::WheelFilename& filename, const std::vector<ElfMember>& elves) {
    CompanionUses companion;
    gather(filename, elves, companion);
    const bool is_for_others =
        elves.empty() && std::none_of(filename.tags.begin(), filename.tags.end(), [](const wheel::Tag& tag) {
            return tag.platform == "any" || tag.platform.find("linux") != std::string::npos;
        });
    if (is_for_others) companion.is_complete = false;
    const std::vector<std::uint64_t> own = definitions_of(elves);
    StringNames strings;
    for (const ElfMember& member : elves) {
        if (member.elf.is_device) continue;
        FileUses file;
        file.name = member.name;
        for (const std::string& name : member.torch.imports) {
            if (!defines(own, name)) file.names.push_back(name);
        }
        for (const std::string& library : member.elf.needed) {
            if (is_torch_library(base::base_name(library)) &&
                companion.needed.count(std::string(base::base_name(library))) != 0)
                file.torch_libraries.emplace_back(base::base_name(library));
        }
        strings.cxx11 += member.elf.symbols.torch.strings.cxx11;
        strings.old += member.elf.symbols.torch.strings.old;
        if (!file.names.empty() || !file.torch_libraries.empty()) companion.files.push_back(std::move(file));
    }
    companion.strings = strings.abi();
    return companion;
}

TorchFit fits(const CompanionUses& companion, const TorchExports& torch) {
    TorchFit fit;
    const std::string of_torch = "torch " + torch.version;
    const std::set<std::string> libraries = compare_names(companion, torch, fit);
    if (companion.files.empty() && !companion.is_complete)
        return judged(fit, Fit::unknown, FitReason::not_read, "its compiled code could not be read");
    if (companion.files.empty())
        return judged(fit, Fit::yes, FitReason::uses_no_torch, "no compiled code of it uses torch");
    if (!share_one(companion.machines, torch.machines))
        return judged(fit, Fit::no, FitReason::machine_differs,
                      "it is built for " + list_of(companion.machines) + ", " + of_torch + " for " +
                          list_of(torch.machines));
    if (!share_a_python(companion.tags, torch.tags))
        return judged(
            fit, Fit::no, FitReason::python_differs,
            "it is for " + python_text(companion.tags) + ", " + of_torch + " for " + python_text(torch.tags));
    if (fit.missing != 0 && torch.is_complete)
        return judged(fit, Fit::no, FitReason::symbols_missing, missing_text(companion, torch, fit));
    if (!libraries.empty())
        return judged(fit, Fit::no, FitReason::library_missing,
                      "it needs " + list_of(libraries) + ", which this " + of_torch + " does not have");
    if (const auto other = other_library(companion.needed, torch.needed, torch.version))
        return judged(fit, Fit::no, other->is_mpi ? FitReason::mpi_differs : FitReason::runtime_differs,
                      "it " + other->sentence);
    if (!companion.is_complete || !torch.is_complete)
        return judged(
            fit, Fit::unknown, FitReason::not_read,
            std::string("a symbol table of ") + (torch.is_complete ? "it" : of_torch) + " could not be read");
    if (fit.used == 0)
        return judged(fit, Fit::yes, FitReason::has_all_symbols,
                      "it uses no name of torch, and " + of_torch + " has the libraries that it needs");
    const std::string count = std::to_string(fit.used);
    if (uses_only_stable_names(companion))
        return judged(fit, Fit::yes, FitReason::uses_stable_abi,
                      "it uses only torch's stable ABI, and " + of_torch + " has all " + count + " names");
    return judged(fit, Fit::yes, FitReason::has_all_symbols,
                  of_torch + " has all " + count + " names of torch that it needs");
}

bool share_a_python(const std::vector<wheel::Tag>& companion, const std::vector<wheel::Tag>& torch) {
    return std::any_of(companion.begin(), companion.end(), [&](const wheel::Tag& one) {
        return std::any_of(torch.begin(), torch.end(),
                           [&](const wheel::Tag& other) { return tags_share_a_python(one, other); });
    });
}

std::optional<TorchFit> fits_none(const CompanionUses& companion, const std::vector<TorchExports>& torches) {
    std::optional<TorchFit> newest;
    for (const TorchExports& torch : torches) {
        if (!share_one(companion.machines, torch.machines) || !share_a_python(companion.tags, torch.tags))
            continue;
        TorchFit fit = fits(companion, torch);
        const bool may_load =
            fit.reason == FitReason::runtime_differs || fit.reason == FitReason::mpi_differs;
        if (fit.fit != Fit::no || may_load) return std::nullopt;
        if (!newest) newest = std::move(fit);
    }
    return newest;
}

std::string_view fit_text(Fit fit) {
    static constexpr auto words =
        base::words<Fit>({{Fit::yes, "yes"}, {Fit::no, "no"}, {Fit::unknown, "unknown"}});
    return words.text(fit);
}

std::string_view fit_reason_text(FitReason reason) {
    static constexpr auto words = base::words<FitReason>({{FitReason::uses_no_torch, "uses_no_torch"},
                                                          {FitReason::uses_stable_abi, "uses_stable_abi"},
                                                          {FitReason::has_all_symbols, "has_all_symbols"},
                                                          {FitReason::symbols_missing, "symbols_missing"},
                                                          {FitReason::library_missing, "library_missing"},
                                                          {FitReason::runtime_differs, "runtime_differs"},
                                                          {FitReason::mpi_differs, "mpi_differs"},
                                                          {FitReason::machine_differs, "machine_differs"},
                                                          {FitReason::python_differs, "python_differs"},
                                                          {FitReason::not_read, "not_read"}});
    return words.text(reason);
}

}  // namespace wheelyard::inspect
