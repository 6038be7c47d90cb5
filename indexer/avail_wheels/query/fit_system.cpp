// What pip asks of a node, and the processor: machine, Python, C library, tags.
#include <algorithm>

#include "indexer/avail_wheels/query/filter.hpp"
#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels::checks {

Fit check_machine(const Question& q) {
    const auto& machines = q.needs.machines;
    if (machines.empty()) return {};
    if (q.node.machine.empty())
        return unknown("machine", "built for " + listed(machines) + ", and this node's machine is unknown");
    if (std::find(machines.begin(), machines.end(), q.node.machine) != machines.end()) return {};
    return no("machine", "built for " + listed(machines) + ", this is " + q.node.machine,
              "look in an index for " + q.node.machine);
}

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

namespace {

// Says whether the wheel is for one ABI of PyPy, and that of this one is unknown.
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
    const bool only_abi_differs =
        std::any_of(q.node.pythons.begin(), q.node.pythons.end(), [&](const Python& here) {
            return here.minor == python->minor && here.pypy == python->pypy &&
                   here.free_threaded == python->free_threaded;
        });
    if (only_abi_differs) return "use a build of it with the ABI " + listed(abis);
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

}  // namespace

const Python* taking_python(const Question& q) {
    const auto needed = wheel::SpecifierSet::parse(q.candidate.link.requires_python);
    for (const auto& python : q.node.pythons) {
        if (pip_takes(q.candidate, q.node, python, TagPart::python_and_abi) &&
            (!needed || allows_python(*needed, python)))
            return &python;
    }
    return nullptr;
}

bool is_for_another_python(const Question& q) {
    return q.node.any_python && taking_python(q) == nullptr;
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
    if (is_for_another_python(q))
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

// glibc's NEWS for 2.41: dlopen makes the stack executable no more, and such a file is not loaded. The import
// may do without: ctranslate2 4.5 has its own inside `try`.
Fit check_stack(const Question& q) {
    static const Dotted since{{2, 41}};
    if (q.needs.executable_stack.empty() || q.node.gives_executable_stacks || !q.node.glibc ||
        *q.node.glibc < since)
        return {};
    return unknown("stack", "its import may load " + q.needs.executable_stack +
                                ", which asks for an executable stack; glibc " + q.node.glibc->text() +
                                " gives it with GLIBC_TUNABLES=glibc.rtld.execstack=2 alone");
}

Fit check_platform(const Question& q) {
    if (q.node.pythons.empty() || q.node.machine.empty() || (!q.node.glibc && !q.node.musl)) return {};
    const TagPart part = is_for_another_python(q) ? TagPart::platform : TagPart::all;
    if (std::any_of(q.node.pythons.begin(), q.node.pythons.end(),
                    [&](const Python& python) { return pip_takes(q.candidate, q.node, python, part); }))
        return {};
    return no("tags", "pip does not accept its tags here: " + listed(q.candidate.tags->platforms));
}

// pip's "Hash-checking Mode"; uv has the same.
Fit check_hash(const Question& q) {
    const auto& allowed = q.how.sha256s;
    const std::string& sha256 = q.candidate.link.sha256;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), sha256) != allowed.end()) return {};
    if (sha256.empty())
        return unknown("hash",
                       "whether it has the bytes that --hash of its requirement asks for is not known here");
    return no("hash", "--hash of its requirement asks for other bytes",
              "write the hashes again with this index, as pip-compile --generate-hashes does");
}

namespace {

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

}  // namespace

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

}  // namespace wheelyard::avail_wheels::checks
