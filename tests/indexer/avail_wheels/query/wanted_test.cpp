#include "indexer/avail_wheels/query/wanted.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::avail_wheels;

TEST_CASE("the name of a module finds the projects that install it, beside a project of that name") {
    struct Row {
        const char *text, *project;
    };
    for (const auto& [text, project] :
         {Row{"sklearn", "scikit-learn"}, Row{"sklearn>=1.4", "scikit-learn"}, Row{"cv2", "opencv-python"},
          Row{"opencv", "opencv-python-headless"}, Row{"PIL", "pillow"}, Row{"yaml", "pyyaml"}}) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(wanted);
        CHECK(wanted->matches(project));
        CHECK(wanted->matches(wanted->pattern));
        CHECK_FALSE(wanted->matches("numpy"));
    }
    CHECK(parse_wanted("numpy")->projects.empty());
}

TEST_CASE("a version as others write it is an error with the right spelling; a URL names its project") {
    for (const char* text : {"msgpack@1.1", "msgpack @ 1.1", "msgpack=1.1", "msgpack = 1.1", "msgpack/1.1",
                             "msgpack:1.1", "msgpack 1.1", "msgpack[fast]@1.1", "msgpack[fast] 1.1"}) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(!wanted);
        CHECK(wanted.error().sentence == "A version follows ==, as in msgpack==1.1");
    }
    CHECK(parse_wanted("msgpack=1.*").error().sentence == "A version follows ==, as in msgpack==1.*");
    for (const char* text : {"msgpack@latest", "msgpack==latest", "msgpack latest", "msgpack:latest"}) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(!wanted);
        CHECK(wanted.error().sentence == "msgpack alone lists the newest version");
    }
    CHECK(parse_wanted("msgpack@main").error().sentence == "An address follows @, and a version follows ==");
    for (const char* text :
         {"msgpack==1.1", "msgpack ===1.1", "msgpack == 1.1", "msgpack[fast] >=1.1", "msgpack[fast]"}) {
        CAPTURE(text);
        CHECK(parse_wanted(text).has_value());
    }
    CHECK(parse_wanted("pkg @ https://host/pkg-1.0.tar.gz")->name == "pkg");
}

TEST_CASE("the file name of a wheel is its version, also behind a path") {
    for (const char* text :
         {"msgpack-1.2.4-cp311-cp311-musllinux_1_2_x86_64.whl",
          "/wheels/generic/msgpack-1.2.4-cp39-cp39-linux_x86_64.whl", "./msgpack-1.2.4-py3-none-any.whl"}) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(wanted);
        CHECK(wanted->name + wanted->specifiers.text() == "msgpack==1.2.4");
    }
    for (const char* text : {"/wheels/msgpack.whl", "msgpack.whl"})
        CHECK(parse_wanted(text).error().sentence.find("not the file name of a wheel") != std::string::npos);
}

TEST_CASE("what is no name by a common mistake is an error that names the mistake") {
    struct Case {
        const char *text, *says;
    };
    for (const auto& [text, says] :
         {Case{"numpy,scipy", "separated by spaces"}, Case{"numpy, scipy<2", "separated by spaces"},
          Case{"numpy,", "separated by spaces"}, Case{"*cdf*,numpy", "separated by spaces"},
          Case{"git+https://host/numpy", "An address is no name"}, Case{"./wheels", "follows --wheelhouse"},
          Case{"/wheels/requirements.txt", "requirements -r"}, Case{"~/wheels", "A path is no name"},
          Case{"https://host/six-1.0-py3-none-any", "An address"}, Case{"\u2014why", "type - or '"},
          Case{"\u2013-all", "type - or '"}, Case{"\u201Cnumpy\u201D", "type - or '"}}) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(!wanted);
        CHECK_MESSAGE(wanted.error().sentence.find(says) != std::string::npos, wanted.error().sentence);
    }
    CHECK(parse_wanted("numpy>=1.21,<2")->specifiers.text() == ">=1.21,<2");
    CHECK(parse_wanted("torch[a,b]>2")->name == "torch");
}

TEST_CASE("names, globs and requirements are parsed") {
    struct Case {
        const char* text;
        const char* name;
        const char* pattern;
        const char* specifiers;
        bool is_glob;
    };
    for (const auto& [text, name, pattern, specifiers, is_glob] : {
             Case{"numpy", "numpy", "numpy", "", false},
             Case{" NumPy ", "NumPy", "numpy", "", false},
             Case{"flash.attn", "flash.attn", "flash-attn", "", false},
             Case{"numpy<1.23", "numpy", "numpy", "<1.23", false},
             Case{"numpy >=1.21, <2", "numpy", "numpy", ">=1.21,<2", false},
             Case{"torch==2.4.*", "torch", "torch", "==2.4.*", false},
             Case{"torch[extra]==2.4.0+cu126", "torch", "torch", "==2.4.0+cu126", false},
             Case{"*cdf*", "*cdf*", "*cdf*", "", true},
             Case{"*", "*", "*", "", true},
             Case{"Flash_*", "Flash_*", "flash-*", "", true},
             Case{"torch*<2.6", "torch*", "torch*", "<2.6", true},
             Case{"torch_??? ==2.4.*", "torch_???", "torch-???", "==2.4.*", true},
             // As in the Alliance's program.
             Case{"torch+cu126", "torch", "torch", "", false},
             Case{"numpy==*", "numpy", "numpy", "", false},
             Case{"numpy == *", "numpy", "numpy", "", false},
             Case{"numpy==*,<2", "numpy", "numpy", "<2", false},
             Case{"numpy<2,==*", "numpy", "numpy", "<2", false},
             Case{"num*==*", "num*", "num*", "", true},
         }) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(wanted);
        CHECK(wanted->name == name);
        CHECK(wanted->pattern == pattern);
        CHECK(wanted->specifiers.text() == specifiers);
        CHECK(wanted->is_glob() == is_glob);
    }
}

TEST_CASE("other texts are rejected with an example") {
    for (const char* text : {"", " ", "-numpy", "numpy-", "numpy=1.0", "numpy>>1", "numpy 1.0", "*cdf* 1.0",
                             "*cdf*=1", "a/b", "*a/b", "numpy>=1.21.*", "numpy==1.0; nonsense", "größe"}) {
        CAPTURE(text);
        const auto wanted = parse_wanted(text);
        REQUIRE(!wanted);
        CHECK(wanted.error().code == "wanted.invalid");
        CHECK(wanted.error().advice.find("numpy<1.23") != std::string::npos);
    }
}

TEST_CASE("a long text is truncated in the error") {
    const auto wanted = parse_wanted(std::string(100'000, '!'));
    REQUIRE(!wanted);
    CHECK(wanted.error().text().size() < 400);
}
