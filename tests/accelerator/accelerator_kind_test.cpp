#include "lib/accelerator/accelerator_kind.hpp"

#include <doctest/doctest.h>

#include <set>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"

using namespace wheelyard;
using namespace wheelyard::accelerator;

// CUDA C++ Programming Guide, "Feature Sets": of architecture-specific code that of this very capability, of family-specific
// code that of the family, to which 10.0 and 10.3, 12.0 and 12.1 belong. LLVM's AMDGPU guide: generic processors.
TEST_CASE("a GPU has the names of all code that runs on it") {
    struct Row {
        std::string_view gpu;
        std::vector<std::string> code;
    };
    for (const auto& [gpu, code] : {
             Row{"sm_90", {"sm_90", "sm_90f", "sm_90a"}},
             Row{"sm_100", {"sm_100", "sm_100f", "sm_100a"}},
             Row{"sm_121", {"sm_120", "sm_120f", "sm_121", "sm_121f", "sm_121a"}},
             Row{"gfx90a:xnack-", {"gfx90a", "amdgcnspirv"}},
             Row{"gfx942", {"gfx942", "amdgcnspirv", "gfx9-4-generic"}},
             Row{"pvc", {}},  // its code is not read
             Row{"sm_", {}},
             Row{"nonsense", {}},
         }) {
        CAPTURE(gpu);
        CHECK(code_running_on(gpu) == code);
    }
}

TEST_CASE("a row is found by its name, by an architecture and by a library; others have none") {
    std::set<std::string_view> names;
    for (const auto* kind : accelerator_kinds()) {
        CAPTURE(kind->name);
        CHECK(names.insert(kind->name).second);
        CHECK(find_accelerator_kind(kind->name) == kind);
        CHECK(kind_of_architecture(kind->example) == kind);
        for (const auto library : kind->libraries)
            CHECK(kind_of_library(std::string(library) + ".so.1") == kind);
    }
    for (const char* none : {"", "cpu", "CUDA", "sm", "x86_64"}) {
        CAPTURE(none);
        CHECK(find_accelerator_kind(none) == nullptr);
        CHECK(kind_of_architecture(none) == nullptr);
        CHECK(kind_of_library(none) == nullptr);
    }
    CHECK(kind_of_architecture("sm_90")->name == "cuda");
    CHECK(kind_of_architecture("gfx90a:xnack-")->name == "rocm");
    CHECK(kind_of_library("libcudart.so.12")->name == "cuda");
    CHECK(kind_of_library("libamdhip64.so.6")->name == "rocm");
}

TEST_CASE("a row has what every user of the table needs") {
    for (const auto* kind : accelerator_kinds()) {
        CAPTURE(kind->name);
        for (const auto text :
             {kind->vendor, kind->title, kind->visible_devices, kind->list_gpus, kind->show_driver,
              kind->label, kind->torch_device, kind->torch_constant, kind->torch_backend, kind->library_kind})
            CHECK_FALSE(text.empty());
        CHECK_FALSE(kind->modules.empty());
        CHECK(kind->promising_words.empty() == kind->promise.empty());
        CHECK(kind->device_code.empty() !=
              kind->unread_sections.empty());  // its code is read, or it is known where it is
        CHECK(is_gpu_architecture(kind->example));
        CHECK(kind->parse_gpu(kind->example) == kind->example);
        for (const auto& model : kind->models) {
            CAPTURE(model.name);
            CHECK(is_gpu_architecture(model.architecture));
            CHECK(kind_of_architecture(model.architecture) == kind);
        }
        for (const auto& list : kind->device_code) {
            CAPTURE(list.fact);
            CHECK_FALSE(list.title.empty());
            CHECK_FALSE(list.label.empty());
            CHECK_FALSE(list.runs("", kind->example));
        }
        FoundGpus found;
        const HostAccess nothing{[](const auto&) { return std::string(); },
                                 [](const auto&) { return std::vector<std::string>(); },
                                 [](const auto&) { return std::string(); }};
        kind->probe(nothing, found);
        CHECK_FALSE(found.gpus);
        CHECK_FALSE(found.driver);
    }
}

TEST_CASE("the names of the rows are in the documents of site files and recipes") {
    for (const char* file : {"docs/reference/site.md", "docs/reference/recipe.md"}) {
        const auto page = base::read_file(std::string(WHEELYARD_TEST_DATA "/../") + file, base::mib);
        REQUIRE(page);
        for (const auto& name : accelerator_names()) {
            CAPTURE(file);
            CAPTURE(name);
            CHECK(page->find("`" + name + "`") != std::string::npos);
        }
    }
}

TEST_CASE("sentences list the rows") {
    CHECK(accelerator_names().front() == "cpu");
    CHECK(accelerator_names().size() == accelerator_kinds().size() + 1);
    CHECK(list_kinds("`{example}` ({name})", " or ").starts_with("`sm_90` (cuda)"));
    const std::string names = list_kinds("{name}", " and ");
    CHECK(names.find(" and " + std::string(accelerator_kinds().back()->name)) != std::string::npos);
}

TEST_CASE("a GPU is listed once, with each of its names once") {
    FoundGpus found;
    found.add("", "no architecture");
    CHECK_FALSE(found.gpus);
    found.add("sm_90", "H100");
    found.add("sm_90", "H200");
    found.add("sm_90", "");
    found.add("sm_80", "H100");
    CHECK(found.gpus->archs == std::vector<std::string>{"sm_90", "sm_80"});
    CHECK(found.gpus->names == std::vector<std::string>{"H100", "H200"});
}
