// One function per check; judge() runs them in order.
#include "indexer/avail_wheels/query/fit.hpp"

#include <algorithm>
#include <array>

#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/avail_wheels/query/pip_tags.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/python/gone_names.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::avail_wheels {

namespace {

using accelerator::AcceleratorKind;

// Of a wheel that runs but for one that it requires, or that this requires.
constexpr std::string_view required_code = "required";

struct Question {
    const Candidate& candidate;
    const Needs& needs;
    const Node& node;
    const Site& site;
    const Installing& how;
};

Fit no(std::string code, std::string why, std::string advice = {}) {
    return {Runs::no, std::move(code), std::move(why), std::move(advice)};
}
Fit unknown(std::string code, std::string why) {
    return {Runs::unknown, std::move(code), std::move(why), {}};
}

std::string listed(const std::vector<std::string>& texts) {
    constexpr std::size_t max_shown = 6;
    std::vector<std::string> shown(
        texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), max_shown)));
    return base::join(shown, ", ") + (texts.size() > max_shown ? " …" : "");
}

Fit check_known_bad(const Question& q) {
    for (const auto& bad : q.site.known_bad) {
        if (bad.project != q.candidate.release->project ||
            !bad.versions.contains(q.candidate.release->version.without_local(), wheel::Prereleases::allowed))
            continue;
        if (!bad.gpus.empty()) {
            const auto is_here = [&](const std::string& gpu) {
                return std::find(bad.gpus.begin(), bad.gpus.end(), gpu) != bad.gpus.end();
            };
            if (!q.node.gpus || std::none_of(q.node.gpus->archs.begin(), q.node.gpus->archs.end(), is_here))
                continue;
        }
        return no("known_bad", bad.reason.empty() ? "known to fail at this site" : bad.reason, bad.advice);
    }
    return {};
}

const AcceleratorKind& kind_of(std::string_view gpu) {
    const AcceleratorKind* kind = accelerator::kind_of_architecture(gpu);
    return kind == nullptr ? *accelerator::accelerator_kinds().front() : *kind;
}

bool has_gpu_of(const Gpus& gpus, const AcceleratorKind& kind) {
    return std::any_of(gpus.archs.begin(), gpus.archs.end(),
                       [&](const auto& gpu) { return &kind_of(gpu) == &kind; });
}

// "550.54.15 (CUDA 12.4)"
std::string driver_text(const Dotted& driver, const AcceleratorKind& kind) {
    const auto known = accelerator::toolkit_of_driver(kind, driver);
    return driver.text() + (known ? " (" + std::string(kind.title) + " " + known->text() + ")" : "");
}

// Whether the toolkit that the node's driver supports is within this bound of a variant.
std::optional<bool> is_within(const Node& node, const AcceleratorKind& kind,
                              const wheel::VariantProperty& bound) {
    const auto toolkit = Dotted::parse(bound.value);
    if (!toolkit || !node.gpus) return std::nullopt;
    if (!has_gpu_of(*node.gpus, kind)) return false;
    if (!node.driver) return std::nullopt;
    const auto known = accelerator::toolkit_of_driver(kind, *node.driver);
    const bool is_older = !known || *known < *toolkit;
    if (is_older && accelerator::is_newer_than_known(kind, *node.driver)) return std::nullopt;
    return is_older == (bound.feature == kind.variant_provider.upper_bound);
}

// Whether the node has this property of a variant; nullopt: that is not known. The words are those of the providers that
// installers have built in.
std::optional<bool> has_property(const Node& node, const wheel::VariantProperty& property) {
    if (property.name_space == "x86_64" && property.feature == "level") {
        if (node.machine.empty()) return std::nullopt;
        if (node.machine != "x86_64") return false;
        constexpr std::array<std::string_view, 4> levels{"v1", "v2", "v3", "v4"};  // of the psABI
        if (std::find(levels.begin(), levels.end(), property.value) == levels.end()) return std::nullopt;
        if (property.value == "v1") return true;
        if (node.cpu.empty()) return std::nullopt;
        return node.cpu >= "x86-64-" + property.value;  // they differ only in the last digit
    }
    if (const AcceleratorKind* kind = accelerator::kind_of_bound(property.name_space, property.feature))
        return is_within(node, *kind, property);
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds()) {
        for (const accelerator::DeviceCode& list : kind->device_code) {
            if (property.name_space != list.variant_namespace || property.feature != list.variant_feature ||
                !property.value.ends_with(list.variant_suffix))
                continue;
            if (!node.gpus) return std::nullopt;
            const std::string code =
                std::string(list.variant_prefix) +
                property.value.substr(0, property.value.size() - list.variant_suffix.size());
            return std::any_of(node.gpus->archs.begin(), node.gpus->archs.end(),
                               [&](const std::string& gpu) { return list.runs(code, gpu); });
        }
    }
    return std::nullopt;
}

// PEP 825: of every feature the node has at least one value. Never "yes": which installer will ask is not known, and those
// without variants pass the file name over.
Fit check_variant(const Question& q) {
    const std::string& label = q.candidate.tags->variant;
    if (label.empty()) return {};
    const std::string plain = "choose a wheel without a label";
    if (!q.needs.variant)
        return no("variant", "has the variant label " + label + ", and what it means is not known", plain);
    const auto& properties = *q.needs.variant;
    std::string all, not_known;
    for (auto at = properties.begin(); at != properties.end();) {
        std::string values;
        std::optional<bool> has = false;
        const auto first = at;
        for (; at != properties.end() && at->name_space == first->name_space && at->feature == first->feature;
             ++at) {
            values += (values.empty() ? "" : " or ") + at->text();
            const auto one = has_property(q.node, *at);
            if (one.value_or(false) || (!one && !has.value_or(true))) has = one;
        }
        const AcceleratorKind* kind = accelerator::kind_of_bound(first->name_space, first->feature);
        const std::string here =
            kind == nullptr || !q.node.driver ? "" : ": its driver is " + driver_text(*q.node.driver, *kind);
        if (has.has_value() && !*has)
            return no("variant", "is the variant for " + values + ", which this node does not have" + here,
                      plain);
        if (!has && not_known.empty()) not_known = values;
        all += (all.empty() ? "" : ", ") + values;
    }
    if (!not_known.empty())
        return unknown("variant",
                       "is the variant for " + not_known + "; whether this node has that is not known");
    return unknown("variant", (all.empty() ? "is the null variant" : "is the variant for " + all) +
                                  "; pip passes it over, uv takes it with --preview-features wheel-variants");
}

Fit check_machine(const Question& q) {
    const auto& machines = q.needs.machines;
    if (machines.empty()) return {};
    if (q.node.machine.empty())
        return unknown("machine", "built for " + listed(machines) + ", and this node's machine is unknown");
    if (std::find(machines.begin(), machines.end(), q.node.machine) != machines.end()) return {};
    return no("machine", "built for " + listed(machines) + ", this is " + q.node.machine,
              "look in an index for " + q.node.machine);
}

enum class TagPart { python_and_abi, platform, all };

// pip's rule: at least one of the wheel's tags is supported by this Python. Of the platforms alone: by some Python here.
bool pip_takes(const Candidate& candidate, const Node& node, const Python& python, TagPart part) {
    const auto environments = environments_of(python);
    return std::any_of(environments.begin(), environments.end(), [&](wheel::Environment environment) {
        if (!node.machine.empty()) environment.machine = node.machine;
        if (node.glibc) {
            environment.glibc_major = node.glibc->at(0);
            environment.glibc_minor = node.glibc->at(1);
        }
        if (node.musl) {
            environment.musl_major = node.musl->at(0);
            environment.musl_minor = node.musl->at(1);
        }
        const auto& supported = supported_tags_of(environment);
        return std::any_of(
            candidate.tags->tags.begin(), candidate.tags->tags.end(), [&](const wheel::Tag& tag) {
                if (part == TagPart::python_and_abi) return supported.abis.contains({tag.python, tag.abi});
                if (part == TagPart::all) return supported.tags.contains(tag);
                return tag.platform == "any" ? tag.abi == "none" : supported.platforms.contains(tag.platform);
            });
    });
}

// Whether the wheel is for one ABI of PyPy, and that of this one is unknown.
bool is_abi_unknown(const Candidate& candidate, const Python& python) {
    return python.pypy && python.pypy_abi.empty() &&
           std::find(candidate.tags->abis.begin(), candidate.tags->abis.end(), "none") ==
               candidate.tags->abis.end();
}

std::string python_advice(const Question& q) {
    std::optional<Python> python;
    for (const auto& tag : q.candidate.tags->pythons) {
        if (auto parsed = parse_python(tag)) python = std::move(*parsed);
    }
    if (!python) return {};
    const auto& abis = q.candidate.tags->abis;
    python->free_threaded = !abis.empty() && std::all_of(abis.begin(), abis.end(),
                                                         [](const auto& abi) { return abi.ends_with('t'); });
    const std::string wanted = python->text();
    if (python->pypy) return "use " + python->display();
    const bool only_kind_differs =
        std::any_of(q.node.pythons.begin(), q.node.pythons.end(), [&](const Python& here) {
            return here.free_threaded != python->free_threaded && here.minor >= python->minor;
        });
    if (only_kind_differs && q.site.python_module.empty())
        return "use Python " + wanted +
               (python->free_threaded ? ", the free-threaded one" : ", not a free-threaded one");
    if (q.site.python_module.empty()) return "use Python " + wanted;
    return "module load " + base::replace_all(q.site.python_module, "{version}", wanted);
}

// The Python of the node that takes its tags and its Requires-Python; nullptr: none.
const Python* taking_python(const Question& q) {
    const auto needed = wheel::SpecifierSet::parse(q.candidate.link.requires_python);
    for (const auto& python : q.node.pythons) {
        if (pip_takes(q.candidate, q.node, python, TagPart::python_and_abi) &&
            (!needed || allows_python(*needed, python)))
            return &python;
    }
    return nullptr;
}

Fit check_python(const Question& q) {
    if (q.node.pythons.empty()) {
        return unknown("python", q.node.python_fault.empty()
                                     ? "this node's Python is unknown"
                                     : "the Python " + q.node.python_program + " " + q.node.python_fault);
    }
    const Python* taking = taking_python(q);
    if (taking != nullptr && is_abi_unknown(q.candidate, *taking))
        return unknown(
            "python", "built for the ABI " + listed(q.candidate.tags->abis) + ", and this PyPy's is unknown");
    if (taking != nullptr) return {};
    if (q.node.any_python)
        return unknown("python", "built for " + listed(q.candidate.tags->pythons) +
                                     ", and whether this node has such a Python is unknown");
    std::vector<std::string> here;
    bool tags_suit = false;
    for (const auto& python : q.node.pythons) {
        here.push_back(python.display());
        if (!pip_takes(q.candidate, q.node, python, TagPart::python_and_abi)) continue;
        tags_suit = true;
    }
    if (tags_suit) {
        return no("requires_python",
                  "needs Python " + q.candidate.link.requires_python + ", here is " + listed(here));
    }
    return no("python",
              "built for " + listed(q.candidate.tags->pythons) + ", here is " +
                  (q.node.pythons.front().pypy ? "" : "Python ") + listed(here),
              python_advice(q));
}

// The facts have one version for the files of all machines: interpret_core has a library for aarch64 that needs glibc 2.34, and
// one for x86-64 that needs 2.4.
bool is_for_several(const Question& q) {
    return q.needs.machines.size() > 1;
}

Fit check_glibc(const Question& q) {
    const bool is_musl = std::all_of(
        q.candidate.tags->platforms.begin(), q.candidate.tags->platforms.end(),
        [](const auto& text) { return wheel::parse_platform(text).kind == wheel::PlatformKind::musllinux; });
    if (is_musl && !q.node.musl) {
        if (!q.node.glibc) return unknown("libc", "built for musl, and this node's C library is unknown");
        return no("libc", "built for musl, not for glibc", "look for a manylinux or linux wheel");
    }
    if (is_musl || !q.needs.glibc) return {};  // pip's tags decide about the version of musl
    if (q.node.musl) return no("libc", "built for glibc, not for musl", "look for a musllinux wheel");
    if (!q.node.glibc)
        return unknown("glibc", "needs glibc " + q.needs.glibc->text() + ", and this node's is unknown");
    if (*q.node.glibc >= *q.needs.glibc) return {};
    const std::string why = "needs glibc " + q.needs.glibc->text() + ", here is " + q.node.glibc->text();
    if (is_for_several(q)) return unknown("glibc", "a file for one of its machines " + why);
    return no("glibc", why, "choose an older build, or a node with a newer system");
}

Fit check_platform(const Question& q) {
    if (q.node.pythons.empty() || q.node.machine.empty() || (!q.node.glibc && !q.node.musl)) return {};
    const TagPart part = q.node.any_python ? TagPart::platform : TagPart::all;
    if (std::any_of(q.node.pythons.begin(), q.node.pythons.end(),
                    [&](const Python& python) { return pip_takes(q.candidate, q.node, python, part); }))
        return {};
    return no("tags", "pip does not accept its tags here: " + listed(q.candidate.tags->platforms));
}

// What its build's options ask for counts where its files say nothing.
Fit check_options(const Question& q) {
    if (!q.needs.is_ours || !q.needs.has_code || !q.needs.cpu.empty() || q.needs.built_cpu == "baseline")
        return {};
    if (q.needs.built_cpu.empty()) return unknown("cpu", "for which processors its farm built it is unknown");
    if (!q.needs.built_cpu.starts_with("x86-64"))
        return unknown("cpu",
                       "built with " + q.needs.built_cpu + "; whether this processor has it is unknown");
    if (q.node.cpu.empty())
        return unknown("cpu", "needs a processor of " + q.needs.built_cpu + ", and this node's is unknown");
    if (q.node.cpu >= q.needs.built_cpu) return {};
    return no("cpu", "built for processors of " + q.needs.built_cpu + ", this is " + q.node.cpu,
              "choose a build for " + q.node.cpu);
}

// The level v2 has no AVX, but some of its processors do, and code may be chosen in a way that does not show.
Fit check_vector_code(const Question& q) {
    struct Row {
        const std::string& code;
        std::string_view machine, level, what;
    };
    for (const auto& [code, machine, level, what] :
         {Row{q.needs.avx512_code, "x86_64", "x86-64-v4", "AVX-512 code throughout"},
          Row{q.needs.avx_code, "x86_64", "x86-64-v3", "AVX code throughout"},
          Row{q.needs.sve_code, "aarch64", arm_with_sve, "SVE code that nothing chooses"}}) {
        if (code.empty() || q.node.machine != machine || q.node.cpu >= level) continue;
        return unknown("cpu", code + " has " + std::string(what) + ", and this " +
                                  (q.node.cpu.empty() ? "node's processor is unknown" : "is " + q.node.cpu));
    }
    return {};
}

Fit check_processor(const Question& q) {
    const bool is_other_machine = !q.node.machine.empty() && q.node.machine != "x86_64";
    if (q.needs.cpu.empty() || q.needs.cpu == "x86-64" || q.needs.cpu == "x86-64-v1" || is_other_machine) {
        Fit built = check_options(q);
        return built.runs == Runs::yes ? check_vector_code(q) : built;
    }
    if (q.node.cpu.empty())
        return unknown("cpu", "needs a processor of " + q.needs.cpu + ", and this node's is unknown");
    if (q.node.cpu >= q.needs.cpu) return {};  // they differ only in the last digit
    return no("cpu", "needs a processor of " + q.needs.cpu + ", this is " + q.node.cpu,
              "choose a build for " + q.node.cpu);
}

// Whether any GPU of the node runs any of the code. `needs_jit`: only by compiling it when it is loaded (PTX).
bool gpu_suits(const Needs& needs, const Gpus& gpus, bool& needs_jit) {
    for (const bool is_portable : {false, true}) {
        for (const GpuNeeds& one : needs.gpus) {
            for (std::size_t i = 0; i < one.code.size(); ++i) {
                const auto& list = one.kind->device_code[i];
                if (list.is_portable != is_portable) continue;
                const bool suits = std::any_of(one.code[i].begin(), one.code[i].end(), [&](const auto& code) {
                    return std::any_of(gpus.archs.begin(), gpus.archs.end(),
                                       [&](const auto& gpu) { return list.runs(code, gpu); });
                });
                if (!suits) continue;
                needs_jit = is_portable;
                return true;
            }
        }
    }
    return false;
}

Fit check_driver(const Question& q, const GpuNeeds& gpu, bool needs_jit) {
    const auto& kind = *gpu.kind;
    const auto toolkit = Dotted::parse(gpu.toolkit);
    if (!toolkit || kind.drivers.empty()) return {};
    const std::string title(kind.title);
    const std::string built_with = title + " " + gpu.toolkit;
    if (!q.node.driver)
        return unknown("driver", "built with " + built_with + ", and this node's driver is unknown");
    const std::string driver = q.node.driver->text();
    const auto min_version = accelerator::min_driver(kind, *toolkit);
    if (min_version && *q.node.driver < *min_version) {
        return no("driver",
                  built_with + " needs driver " + min_version->text() + " or newer, here is " + driver,
                  "choose a build with an older " + title);
    }
    const auto known = accelerator::toolkit_of_driver(kind, *q.node.driver);
    if (!known) {
        return no("driver", built_with + " is newer than driver " + driver,
                  "choose a build with an older " + title);
    }
    // Code compiled for this GPU runs with any driver of the major version; PTX needs a driver at least as
    // new as the toolkit.
    const bool is_older = needs_jit ? *known < *toolkit : known->at(0) < toolkit->at(0);
    if (is_older && accelerator::is_newer_than_known(kind, *q.node.driver))
        return unknown("driver", "built with " + built_with + ", and what driver " + driver +
                                     " supports is newer than this program");
    const std::string of_driver = driver_text(*q.node.driver, kind);
    if (needs_jit && is_older) {
        return no("driver",
                  "has only PTX for this GPU, which driver " + of_driver + " cannot compile: it comes from " +
                      built_with,
                  "choose a build for this GPU, or one with " + title + " " + known->text() + " or older");
    }
    if (is_older) {
        return no("driver", built_with + " is newer than driver " + of_driver,
                  "choose a build with " + title + " " + std::to_string(known->at(0)));
    }
    return {};
}

Fit check_gpu(const Question& q) {
    if (q.needs.gpus.empty()) return {};
    if (!q.node.gpus) return unknown("gpu", "for GPUs, and this node's GPUs are unknown");
    // A wheel with GPU code can be imported on a node without a GPU and runs its CPU code there.
    if (q.node.gpus->archs.empty()) return {};
    const auto& here = q.node.gpus->archs;
    if (std::none_of(q.needs.gpus.begin(), q.needs.gpus.end(),
                     [&](const GpuNeeds& one) { return has_gpu_of(*q.node.gpus, *one.kind); })) {
        const auto& built_for = *q.needs.gpus.back().kind;
        return no("gpu",
                  "built for " + std::string(built_for.vendor) + " (" + std::string(built_for.title) +
                      "), here is " + listed(here),
                  "look for a " + std::string(kind_of(here.back()).title) + " build");
    }
    std::vector<std::string> code;
    for (const GpuNeeds& one : q.needs.gpus) {
        for (const auto& names : one.code)
            code.insert(code.end(), names.begin(), names.end());
    }
    bool needs_jit = false;
    if (!code.empty() && !gpu_suits(q.needs, *q.node.gpus, needs_jit)) {
        return no("gpu", "built for " + listed(code) + ", here is " + listed(here),
                  "look for a build for " + here.front() + ", or ask for one");
    }
    for (const GpuNeeds& one : q.needs.gpus) {
        if (!has_gpu_of(*q.node.gpus, *one.kind)) continue;
        if (auto fit = check_driver(q, one, needs_jit); fit.runs != Runs::yes) return fit;
        if (one.kind->device_code.empty())
            return unknown("gpu", "its " + std::string(one.kind->title) + " code is not read");
    }
    if (code.empty() && !q.needs.proven) return unknown("gpu", "its GPU code is unknown");
    return {};
}

std::string name_of_module(std::string_view module) {
    return std::string(module.substr(0, module.find('/')));
}

// Its entry among what the loader was asked: that of the wheel's own search paths before that of the process, because
// they are searched first unless LD_LIBRARY_PATH has the library, too. nullptr: unknown.
const Library* library_here(const Question& q, const std::string& name) {
    for (const auto& path : q.needs.search_paths) {
        const auto own = q.node.libraries.find(path + "/" + name);
        if (own != q.node.libraries.end() && !own->second.path.empty()) return &own->second;
    }
    const auto found = q.node.libraries.find(name);
    return found == q.node.libraries.end() ? nullptr : &found->second;
}

bool is_here(const Question& q, const std::string& name) {
    const auto* library = library_here(q, name);
    return library != nullptr && !library->path.empty();
}

bool is_loaded(const Question& q, std::string_view module) {
    const auto& loaded = q.node.modules;
    return loaded && std::any_of(loaded->begin(), loaded->end(),
                                 [&](const std::string& one) { return name_of_module(one) == module; });
}

bool is_loaded(const Question& q, const MpiFamily& family) {
    return std::any_of(family.modules.begin(), family.modules.end(),
                       [&](std::string_view module) { return is_loaded(q, module); });
}

// mpi4py has a module for each family of MPI, and loads the one whose library is here.
bool has_another_mpi(const Question& q, const MpiFamily& family) {
    return std::any_of(q.needs.mpi.begin(), q.needs.mpi.end(), [&](const std::string& library) {
        const auto other = mpi_family(library);
        if (!other || other->name == family.name) return false;
        return is_here(q, library) || is_loaded(q, *other);
    });
}

Fit check_modules(const Question& q) {
    const auto& loaded = q.node.modules;
    for (const auto& library : q.needs.mpi) {
        const auto family = mpi_family(library);
        if (!family || is_here(q, library) || has_another_mpi(q, *family)) continue;
        if (!loaded)
            return unknown("mpi", "needs " + std::string(family->name) + " (" + library +
                                      "), and this node's modules are unknown");
        if (is_loaded(q, *family)) continue;
        const auto built =
            std::find_if(q.needs.modules.begin(), q.needs.modules.end(), [&](const auto& module) {
                return std::find(family->modules.begin(), family->modules.end(), name_of_module(module)) !=
                       family->modules.end();
            });
        return no(
            "mpi",
            "needs " + std::string(family->name) + " (" + library + "), and none of its modules is loaded",
            "module load " +
                (built == q.needs.modules.end() ? std::string(family->modules.front()) : *built));
    }
    for (const auto& module : q.needs.modules) {
        // The wheel's library search path works without the module, so this is not a "no" by default; the
        // site lists modules that must be loaded.
        const auto name = name_of_module(module);
        if (std::find(q.site.needed_modules.begin(), q.site.needed_modules.end(), name) ==
            q.site.needed_modules.end())
            continue;
        if (!loaded)
            return unknown("module", "needs the module " + module + ", and this node's modules are unknown");
        if (!is_loaded(q, name)) {
            return no("module", "needs the module " + module + ", which is not loaded",
                      "module load " + module);
        }
    }
    return {};
}

bool is_required(const Question& q, const NeededLibrary& library) {
    if (!q.needs.requires_dist) return false;
    return std::any_of(q.needs.requires_dist->begin(), q.needs.requires_dist->end(),
                       [&](const std::string& text) {
                           const auto requirement = wheel::Requirement::parse(text);
                           return requirement && brings(requirement->project, library);
                       });
}

bool promises_platform(const Candidate& candidate) {
    return std::any_of(
        candidate.tags->platforms.begin(), candidate.tags->platforms.end(), [](const auto& text) {
            const auto kind = wheel::parse_platform(text).kind;
            return kind == wheel::PlatformKind::manylinux || kind == wheel::PlatformKind::musllinux;
        });
}

// The module of the node that has a library of this kind, by the site's description.
bool has_module_of(const Question& q, const NeededLibrary& library) {
    if (library.kind == "mpi") {
        const auto family = mpi_family(library.name);
        return family && is_loaded(q, *family);
    }
    const auto kinds = accelerator::accelerator_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&](const AcceleratorKind* kind) {
        const auto& modules = kind->toolkit_modules;
        return kind->library_kind == library.kind &&
               std::any_of(modules.begin(), modules.end(),
                           [&](std::string_view module) { return is_loaded(q, module); });
    });
}

bool is_of_accelerator(const NeededLibrary& library) {
    const auto kinds = accelerator::accelerator_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&](const AcceleratorKind* kind) {
        return kind->library_kind == library.kind && !kind->is_library_kind_shared;
    });
}

// Nothing that is installed with it can have the library, and no code of its own opens one.
bool is_needed_surely(const Question& q, const NeededLibrary& library) {
    return q.needs.surely.contains(library.name) && q.needs.opens.empty() && q.needs.requires_dist &&
           std::all_of(q.needs.requires_dist->begin(), q.needs.requires_dist->end(), [](const auto& text) {
               return text.find("extra ==", std::min(text.find(';'), text.size())) != std::string::npos;
           });
}

Fit check_library(const Question& q, const NeededLibrary& library) {
    if (is_required(q, library)) return {};
    const auto* here = library_here(q, library.name);
    const bool is_found = here != nullptr && !here->path.empty();
    if (is_found && here->lacks.empty()) return {};
    std::string what = "needs " + library.name;
    if (is_found) {
        what += ", which needs " + here->lacks;
        // The process may have it already: of the wheel, or of a project that was imported before.
        const auto* kind = accelerator::kind_of_library(here->lacks);
        const NeededLibrary lacked{here->lacks,
                                   kind == nullptr ? library.kind : std::string(kind->library_kind)};
        if (!q.needs.search_paths.empty() || is_required(q, lacked) || kind != nullptr)
            return unknown("library", what + ", which is not here; the wheel may bring it, or do without");
    }
    if (here == nullptr) {
        if (is_everywhere(library.name) && q.node.is_described) return {};
        if (q.node.is_described && has_module_of(q, library)) return {};
        return unknown("library", what + ", and what this node has is unknown");
    }
    // A driver's library, or one that is asked for only where there is a GPU.
    if (is_of_accelerator(library) && (!q.node.gpus || q.node.gpus->archs.empty()))
        return unknown("library", what + ", which is not here, and neither is a GPU");
    if (library.kind == "torch")
        return unknown("library", what + ", which the project torch brings, and it does not require torch");
    // Who repairs a wheel leaves out what it does without, or what another project brings.
    if (promises_platform(q.candidate) && library.kind != "system" && !is_needed_surely(q, library))
        return unknown("library", what + ", which is not here; it may do without");
    if (!q.needs.requires_dist)
        return unknown("library", what + ", which is not here; what it requires is unknown");
    if (is_for_several(q))
        return unknown("library", "a file for one of its machines " + what + ", which is not here");
    const auto family = library.kind == "mpi" ? mpi_family(library.name) : std::nullopt;
    return no("library", what + ", which is not here",
              family ? "module load " + std::string(family->modules.front())
                     : "load a module that has it, or ask for its package");
}

// A module of MPI counts though only a part of the wheel loads it: that part is what it is for.
bool is_later(const Question& q, const NeededLibrary& library) {
    return library.kind != "mpi" && q.needs.later.contains(library.name);
}

Fit check_libraries(const Question& q) {
    // pip's tags decide for another C library.
    Fit first_unknown;
    for (const auto& library : q.needs.libraries) {
        if (is_later(q, library)) continue;
        const auto family = library.kind == "mpi" ? mpi_family(library.name) : std::nullopt;
        if (family && has_another_mpi(q, *family)) continue;
        Fit fit = check_library(q, library);
        if (const auto maybe = q.needs.maybe.find(library.name);
            fit.runs == Runs::no && maybe != q.needs.maybe.end())
            fit = unknown("library", "its import may load " + maybe->second + ", which " + fit.why);
        if (fit.runs == Runs::no) return fit;
        if (fit.runs == Runs::unknown && first_unknown.runs == Runs::yes) first_unknown = std::move(fit);
    }
    return first_unknown;
}

// "-lmagic" → "libmagic".
std::string shown_library(const std::string& name) {
    return name.starts_with("-l") ? "lib" + name.substr(2) : name;
}

Fit check_opened(const Question& q, const NeededOpen& opened) {
    if (opened.any.empty()) return unknown("library", opened.by + " opens a library whose name it computes");
    bool all_asked = true, is_of_gpu = false;
    for (const std::string& name : opened.any) {
        const std::string file = name.starts_with("-l") ? shown_library(name) + ".so" : name;
        const auto* kind = accelerator::kind_of_library(file);
        const NeededLibrary library{
            file, kind == nullptr ? std::string("unknown") : std::string(kind->library_kind)};
        if (is_required(q, library)) return {};
        const auto* here = library_here(q, name);
        if (here != nullptr && !here->path.empty() && here->lacks.empty()) return {};
        all_asked = all_asked && here != nullptr;
        is_of_gpu = is_of_gpu || (is_of_accelerator(library) && (!q.node.gpus || q.node.gpus->archs.empty()));
    }
    const std::string what = opened.by + " opens " + shown_library(opened.any.front());
    if (!all_asked) return unknown("library", what + ", and what this node has is unknown");
    if (is_of_gpu) return unknown("library", what + ", which is not here, and neither is a GPU");
    if (!opened.is_certain)
        return unknown("library", "its import may do without: " + what + ", which is not here");
    return no("library", what + ", which is not here", "load a module that has it, or ask for its package");
}

Fit check_opens(const Question& q) {
    Fit first_unknown;
    for (const auto& opened : q.needs.opens) {
        Fit fit = check_opened(q, opened);
        if (fit.runs == Runs::no) return fit;
        if (fit.runs == Runs::unknown && first_unknown.runs == Runs::yes) first_unknown = std::move(fit);
    }
    return first_unknown;
}

// "setuptools", "legacy-cgi", "audioop-lts": a project that has the module.
bool brings_module(const std::string& text, std::string_view module, const inspect::GoneName& row) {
    const auto requirement = wheel::Requirement::parse(text);
    if (!requirement) return false;
    const std::string_view top = module.substr(0, module.find('.'));
    return requirement->project == row.brought_by || requirement->project.ends_with("-" + std::string(top)) ||
           requirement->project.starts_with(std::string(top) + "-") ||
           requirement->project == "py" + std::string(top);
}

// setuptools 82 has no pkg_resources; an installer takes the newest that a requirement allows.
bool may_lack_pkg_resources(const std::string& text) {
    const auto requirement = wheel::Requirement::parse(text);
    static const auto without = wheel::Version::parse("82");
    return requirement && requirement->project == "setuptools" && without &&
           requirement->specifiers.contains(*without, wheel::Prereleases::allowed);
}

// A module of another project, which nothing that the wheel requires brings. One with a dot is a name of the standard library
// that a newer program wrote down.
Fit check_undeclared(const Question& q, const std::string& name, const std::string& by) {
    const auto found = q.node.found_modules.find(name);
    const bool is_there = found != q.node.found_modules.end() && found->second;
    if (is_there || name.find('.') != std::string::npos) return {};
    return unknown("python_module", by + " imports " + name + ", which nothing that it requires brings");
}

Fit check_gone(const Question& q, const std::string& name, const std::string& by) {
    const auto* row = inspect::gone_name(name);
    const Python* python = taking_python(q);
    if (python == nullptr) return {};
    if (row == nullptr) return check_undeclared(q, name, by);
    const bool is_removed = row->since != 0 && static_cast<unsigned>(python->minor) >= row->since;
    if (row->first != 0 && static_cast<unsigned>(python->minor) >= row->first) return {};
    const std::string what = by + " imports " + (row->is_module ? name : std::string(row->name));
    const auto found = q.node.found_modules.find(name);
    const bool is_asked = row->is_module && found != q.node.found_modules.end();
    if (is_asked && found->second) return {};
    for (const auto& text : q.needs.requires_dist.value_or(std::vector<std::string>())) {
        if (!row->is_module || !brings_module(text, name, *row)) continue;
        if (name.starts_with("pkg_resources") && may_lack_pkg_resources(text))
            return unknown("python_module", what + ", which setuptools has no more since 82");
        return {};
    }
    if (row->first != 0)
        return no("python_module",
                  by + " needs " + std::string(row->name) +
                      (row->name == inspect::union_type ? " for X | None" : "") + ", which Python " +
                      python->text() + " does not have yet",
                  "use Python 3." + std::to_string(row->first) + " or newer, or an older version of it");
    // Extension modules, and what was built into the program, are no such files.
    const bool is_seen_lacking =
        is_asked && (row->since == 0 || !row->brought_by.empty() || name == "lib2to3");
    if (!is_removed && !is_seen_lacking)
        return row->since == 0
                   ? unknown("python_module", what + ", and whether this Python has it is unknown")
                   : Fit{};
    return no("python_module",
              what + ", which " +
                  (row->since == inspect::only_windows ? "only Windows has"
                   : is_removed                        ? "Python " + python->text() + " has no more"
                                                       : "this Python does not have"),
              row->since == inspect::only_windows ? ""
              : row->brought_by.empty()           ? "use an older Python, or a newer version of it"
                                                  : "install " + std::string(row->brought_by) + ", too");
}

Fit check_standard_library(const Question& q) {
    if (q.node.any_python) return {};
    Fit first_unknown;
    for (const auto& [name, by] : q.needs.gone) {
        Fit fit = check_gone(q, name, by);
        if (fit.runs == Runs::no) return fit;
        if (fit.runs == Runs::unknown && first_unknown.runs == Runs::yes) first_unknown = std::move(fit);
    }
    return first_unknown;
}

using FunctionsByModule = std::map<std::string, std::vector<std::string>, std::less<>>;

Fit fit_of_functions(const Question& q, const FunctionsByModule& functions) {
    const Python* python = functions.empty() || q.node.any_python ? nullptr : taking_python(q);
    if (python == nullptr || !python->pypy) return {};
    Fit first_unknown;
    for (const auto& [module, names] : functions) {
        for (const auto& name : names) {
            const std::string what = module + " uses " + name;
            const auto found = q.node.found_functions.find(name);
            const bool is_asked = found != q.node.found_functions.end();
            if (is_asked && !found->second)
                return no("python", what + ", which this PyPy does not have", "use a newer PyPy");
            if (!is_asked && first_unknown.runs == Runs::yes)
                first_unknown = unknown("python", what + ", and whether this PyPy has it is unknown");
        }
    }
    return first_unknown;
}

Fit check_functions(const Question& q) {
    return fit_of_functions(q, q.needs.pypy_names);
}

// musl does not compare versions of symbols.
Fit check_versions(const Question& q) {
    if (q.node.musl) return {};
    Fit first_unknown;
    for (const auto& [prefix, needed] : q.needs.versions) {
        const std::string library(library_of_prefix(prefix));
        const std::string what = "needs " + prefix + "_" + needed.text();
        const auto* here = library_here(q, library);
        if (here != nullptr && here->path.empty()) continue;  // its absence is reported
        const auto found =
            here == nullptr ? decltype(here->versions.find(prefix)){} : here->versions.find(prefix);
        if (here == nullptr || found == here->versions.end()) {
            // PEP 600: a mainstream system with this glibc has them.
            const bool is_promised = q.node.is_described && q.needs.manylinux_glibc && q.node.glibc &&
                                     *q.needs.manylinux_glibc <= *q.node.glibc;
            if (!is_promised && first_unknown.runs == Runs::yes)
                first_unknown =
                    unknown("library", what + ", and the version of this node's " + library + " is unknown");
            continue;
        }
        if (needed <= found->second) continue;
        const std::string why =
            what + ", here is " + prefix + "_" + found->second.text() + " of " + here->path;
        if (is_for_several(q)) return unknown("library", "a file for one of its machines " + why);
        return no("library", why, "load a module with a newer compiler, or choose an older build");
    }
    return first_unknown;
}

// A file name promises nothing of the platform linux_*, and nothing of a file that could not be read.
Fit check_facts(const Question& q) {
    if (q.needs.proven) return {};
    if (!q.candidate.no_facts.empty()) return unknown("facts", q.candidate.no_facts);
    const auto is_linux = [](const std::string& text) {
        return wheel::parse_platform(text).kind == wheel::PlatformKind::linux;
    };
    const auto& platforms = q.candidate.tags->platforms;
    if (!std::all_of(platforms.begin(), platforms.end(), is_linux)) return {};
    return unknown("facts", "only its name is known");
}

// What an installer takes of `there`: the wheels of the newest version that satisfies the requirement and has one for a Python of
// the node; of a pre-release only if there is no other.
std::vector<const Candidate*> taken_of(const Node& node, const wheel::Requirement& requirement,
                                       const std::vector<Candidate>& there) {
    std::vector<const Candidate*> taken;
    for (const Candidate& candidate : there) {
        const wheel::Version& version = candidate.release->version;
        if (candidate.link.yanked || !requirement.specifiers.contains(version, wheel::Prereleases::allowed))
            continue;
        const auto needed = wheel::SpecifierSet::parse(candidate.link.requires_python);
        if (std::none_of(node.pythons.begin(), node.pythons.end(), [&](const Python& python) {
                return pip_takes(candidate, node, python,
                                 node.glibc || node.musl ? TagPart::all : TagPart::python_and_abi) &&
                       (!needed || allows_python(*needed, python));
            }))
            continue;
        if (!taken.empty()) {
            const wheel::Version& best = taken.front()->release->version;
            const auto order = version.is_prerelease() == best.is_prerelease() ? version.compare_public(best)
                               : best.is_prerelease()                          ? std::strong_ordering::greater
                                                                               : std::strong_ordering::less;
            if (order < 0) continue;
            if (order > 0) taken.clear();
        }
        taken.push_back(&candidate);
    }
    return taken;
}

std::string versions_of(const std::vector<Candidate>& there) {
    constexpr std::size_t max_versions = 4;
    std::vector<std::string> versions;
    for (const auto& candidate : there) {
        const auto text = candidate.release->version.text();
        if (std::find(versions.begin(), versions.end(), text) == versions.end()) versions.push_back(text);
    }
    const bool is_long = versions.size() > max_versions;
    if (is_long) versions.resize(max_versions);
    return base::join(versions, ", ") + (is_long ? " …" : "");
}

// "torch 2.6.0, 2.5.1"; of those that would satisfy the requirement also for whom they are: "tornado 6.6.1 for aarch64 alone".
std::string what_is_there(const Question& q, const wheel::Requirement& requirement,
                          const std::vector<Candidate>& there) {
    constexpr std::size_t max_shown = 4;
    std::vector<Candidate> suiting;
    std::vector<std::string> whose;
    for (const auto& candidate : there) {
        if (candidate.link.yanked ||
            !requirement.specifiers.contains(candidate.release->version, wheel::Prereleases::allowed))
            continue;
        const bool suits_machine = candidate.arch == "generic" || candidate.arch == q.node.machine;
        const bool suits_python =
            std::any_of(q.node.pythons.begin(), q.node.pythons.end(), [&](const Python& python) {
                return pip_takes(candidate, q.node, python, TagPart::python_and_abi);
            });
        std::string one = !suits_machine  ? candidate.arch
                          : !suits_python ? candidate.tags->python
                          : candidate.link.requires_python.empty()
                              ? listed(candidate.tags->platforms)
                              : "Python " + candidate.link.requires_python;
        if (std::find(whose.begin(), whose.end(), one) == whose.end() && whose.size() < max_shown)
            whose.push_back(std::move(one));
        suiting.push_back(candidate);
    }
    if (suiting.empty()) return requirement.name + " " + versions_of(there);
    return requirement.name + " " + versions_of(suiting) + " for " + base::join(whose, ", ") + " alone";
}

Fit check_locked(const LockedVersions& locked, const wheel::Requirement& requirement,
                 const std::string& text) {
    const auto there = locked.find(requirement.project);
    if (there == locked.end()) return {};
    std::vector<std::string> versions;
    for (const wheel::Version& version : there->second) {
        if (requirement.specifiers.contains(version, wheel::Prereleases::allowed)) return {};
        versions.push_back(version.text());
    }
    return unknown("requires_dist", "requires " + text + ", and the lock has " + requirement.name + " " +
                                        base::join(versions, ", "));
}

// Whether a Python of the node needs it. An installer keeps of a variant's properties those that its node has: where a feature
// has several values, a marker may hold for one of them only.
bool is_asked(const Question& q, const wheel::Requirement& requirement) {
    if (!requirement.marker) return true;
    wheel::MarkerEnvironment variant;
    if (q.needs.variant) {
        auto properties = *q.needs.variant;
        std::erase_if(properties,
                      [&](const auto& property) { return !has_property(q.node, property).value_or(true); });
        wheel::set_variant(variant, q.candidate.tags->variant, properties);
    }
    std::vector<wheel::MarkerEnvironment> environments{variant};
    for (const auto& extra : q.how.extras) {
        environments.push_back(variant);
        environments.back()["extra"] = extra;
    }
    return std::any_of(q.node.pythons.begin(), q.node.pythons.end(), [&](const Python& python) {
        return std::any_of(environments.begin(), environments.end(), [&](const auto& environment) {
            return marker_holds(*requirement.marker, python, q.node.machine, environment);
        });
    });
}

struct Asked {
    wheel::Requirement requirement;
    std::string text;  // without its marker
};

// What a Python of the node asks for; PyPy has cffi, whose version is its own.
std::vector<Asked> asked_requirements(const Question& q) {
    std::vector<Asked> asked;
    if (!q.needs.requires_dist || q.node.any_python || q.node.pythons.empty()) return asked;
    for (const auto& text : *q.needs.requires_dist) {
        auto requirement = wheel::Requirement::parse(text);
        if (!requirement || !requirement->url.empty()) continue;
        if (requirement->project == "cffi" && q.node.pythons.front().pypy) continue;
        if (is_asked(q, *requirement))
            asked.push_back({std::move(*requirement), text.substr(0, text.find(';'))});
    }
    return asked;
}

// The import may do without it, so that is unknown.
Fit check_taken(const Question& q, const wheel::Requirement& requirement,
                const std::vector<const Candidate*>& taken) {
    Fit first;
    for (const Candidate* candidate : taken) {
        Fit fit = q.how.required(*candidate);
        const bool is_chain = fit.code == required_code;
        if (fit.runs != Runs::no && !is_chain) return {};
        if (first.runs != Runs::yes) continue;
        first = std::move(fit);
        first.why = "requires " + requirement.name +
                    (is_chain ? ", which "
                              : ", and " + candidate->release->project + " " +
                                    candidate->release->version.text() + " does not run here: ") +
                    first.why;
    }
    if (first.runs == Runs::yes) return {};
    return {Runs::unknown, std::string(required_code), std::move(first.why), std::move(first.advice)};
}

// An installer that asks only this source ends with the same.
Fit check_requirements(const Question& q) {
    if (!q.how.owned && q.how.locked == nullptr) return {};
    Fit first_unknown;
    for (const auto& [requirement, text] : asked_requirements(q)) {
        if (q.how.locked != nullptr) {
            if (Fit fit = check_locked(*q.how.locked, requirement, text); fit.runs != Runs::yes) return fit;
            continue;
        }
        const auto* there = q.how.owned(requirement.project);
        if (there == nullptr || there->empty()) continue;
        const auto taken = taken_of(q.node, requirement, *there);
        if (taken.empty())
            return no("requires_dist",
                      "requires " + text + ", and here are " + what_is_there(q, requirement, *there),
                      "choose another version of one of the two, or ask for what is missing");
        if (q.how.required && first_unknown.runs == Runs::yes)
            first_unknown = check_taken(q, requirement, taken);
    }
    return first_unknown;
}

// It may be installed already.
Fit missing_requirements(const Question& q) {
    if (!q.how.owned || q.how.locked != nullptr) return {};
    std::vector<std::string> missing;
    for (const auto& [requirement, text] : asked_requirements(q)) {
        const auto* there = q.how.owned(requirement.project);
        const bool is_installed = q.node.torch && requirement.project == "torch";
        if (there != nullptr && there->empty() && !is_installed) missing.emplace_back(base::trim(text));
    }
    if (missing.empty()) return {};
    return {Runs::yes, std::string(missing_code),
            "but requires " + listed(missing) + ", of which this index has no wheel",
            "ask for it, or name an index that has it, too: --extra-index-url"};
}

// What a "yes" does not say: a part of the wheel that lacks something here, or what an installer does not find.
Fit lacking_part(const Question& q) {
    for (const auto& library : q.needs.libraries) {
        if (!is_later(q, library) || is_required(q, library)) continue;
        const auto* here = library_here(q, library.name);
        if (here != nullptr && here->path.empty())
            return {Runs::yes, "part",
                    "but " + q.needs.later.find(library.name)->second + " needs " + library.name +
                        ", which is not here",
                    "load a module that has it, or ask for its package"};
    }
    Fit functions = fit_of_functions(q, q.needs.pypy_later);
    if (functions.runs == Runs::no)
        return {Runs::yes, "part", "but " + functions.why, std::move(functions.advice)};
    return missing_requirements(q);
}

std::string_view major_of(std::string_view version) {
    return version.substr(0, version.find('.'));
}

// What the wheel needs of torch is what the installed one has; an installer that brings another torch is another question.
Fit check_torch(const Question& q) {
    if (!q.node.torch || q.candidate.release->project == "torch") return {};
    const InstalledTorch& torch = *q.node.torch;
    const auto version = wheel::Version::parse(torch.version);
    const std::string here = ", and torch " + torch.version + " is installed in " + torch.folder;
    const std::string advice = "choose the build for this torch; an installer may replace it";
    const auto is_before = [&](const std::string& bound) {
        const auto parsed = wheel::Version::parse(bound);
        return parsed && version && version->without_local() < *parsed;
    };
    if (!q.needs.torch_at_least.empty() && is_before(q.needs.torch_at_least))
        return no("torch", "uses names that torch has since " + q.needs.torch_at_least + here, advice);
    if (!q.needs.torch_below.empty() && version && !is_before(q.needs.torch_below))
        return no("torch", "uses names that torch has no more since " + q.needs.torch_below + here, advice);
    if ((q.needs.torch_cxx11_abi == "true" && torch.cxx11_abi == "false") ||
        (q.needs.torch_cxx11_abi == "false" && torch.cxx11_abi == "true"))
        return no("torch",
                  "is built with _GLIBCXX_USE_CXX11_ABI=" +
                      std::string(torch.cxx11_abi == "true" ? "0" : "1") + here + ", which is not",
                  advice);
    for (const auto& library : q.needs.torch_libraries) {
        if (!torch.libraries.empty() && torch.libraries.count(library) == 0)
            return no("torch", "needs " + library + here + ", which does not have it", advice);
    }
    const bool uses_torch = !q.needs.torch_libraries.empty() || !q.needs.torch_cxx11_abi.empty();
    for (const auto& gpu : q.needs.gpus) {
        const auto theirs = torch.toolkits.find(gpu.kind->name);
        if (uses_torch && theirs != torch.toolkits.end() && !gpu.toolkit.empty() &&
            major_of(gpu.toolkit) != major_of(theirs->second))
            return no("torch",
                      "is built for " + std::string(gpu.kind->title) + " " + gpu.toolkit + here + " with " +
                          theirs->second,
                      advice);
    }
    for (const auto& text : q.needs.requires_dist.value_or(std::vector<std::string>())) {
        const auto requirement = wheel::Requirement::parse(text);
        if (!requirement || requirement->project != "torch" || !version ||
            requirement->specifiers.contains(*version, wheel::Prereleases::allowed))
            continue;
        if (!is_asked(q, *requirement)) continue;
        return no("torch", "requires " + text.substr(0, text.find(';')) + here, advice);
    }
    return {};
}

}  // namespace

std::string_view runs_text(Runs runs) {
    constexpr std::array<std::string_view, 3> texts{"yes", "no", "unknown"};
    return texts[static_cast<std::size_t>(runs)];
}

std::vector<const Candidate*> taken_wheels(const Candidate& candidate, const Node& node,
                                           const Installing& how) {
    const Needs needs = needs_of(candidate);
    const Question question{candidate, needs, node, {}, how};
    std::vector<const Candidate*> all;
    for (const auto& [requirement, text] : asked_requirements(question)) {
        const auto* there = how.owned(requirement.project);
        if (there == nullptr) continue;
        const auto taken = taken_of(node, requirement, *there);
        all.insert(all.end(), taken.begin(), taken.end());
    }
    return all;
}

Fit judge(const Candidate& candidate, const Node& node, const Site& site, const Installing& how) {
    const Needs needs = needs_of(candidate);
    const Question question{candidate, needs, node, site, how};
    constexpr std::array checks{&check_known_bad, &check_variant,  &check_machine,
                                &check_python,    &check_glibc,    &check_platform,
                                &check_processor, &check_gpu,      &check_modules,
                                &check_libraries, &check_opens,    &check_standard_library,
                                &check_functions, &check_versions, &check_requirements,
                                &check_torch,     &check_facts};
    Fit first_unknown;
    for (const auto& check : checks) {
        Fit fit = check(question);
        if (fit.runs == Runs::no) return fit;
        if (fit.runs == Runs::unknown && first_unknown.runs == Runs::yes) first_unknown = std::move(fit);
    }
    if (first_unknown.runs != Runs::yes) return first_unknown;
    return lacking_part(question);
}

}  // namespace wheelyard::avail_wheels
