# The programs: name, main file (wiring only), every module that it joins: it includes of no other (`ctest -R layers`).
wheelyard_program(wheelyard-builder  builder/main.cpp              base site builder)
wheelyard_program(wheelyard-governor builder/governor/main.cpp     base admission launch governor)
wheelyard_static(wheelyard-governor governor launch admission memory base)
wheelyard_program(avail_wheels       indexer/avail_wheels/main.cpp base io inspect wire avail_wheels proof)
# The same for any machine of its kind: no library of the system, the network by the program curl.
wheelyard_program(avail_wheels-static indexer/avail_wheels/main.cpp base io inspect wire avail_wheels)
target_compile_definitions(avail_wheels-static PRIVATE WHEELYARD_STATIC)
wheelyard_static(avail_wheels-static avail_wheels query python_source node status simple accelerator io wheel base)
if(NOT WHEELYARD_CLUSTER)
    wheelyard_program(wheelyard-registry registry/main.cpp base io attest database server intake serve commands tree pages publish wheel_list)
    wheelyard_program(wheelyard-indexer  indexer/main.cpp  base indexer)
endif()

set(libraries "libcurl ${CURL_VERSION_STRING}" "libarchive ${LibArchive_VERSION}" "OpenSSL ${OPENSSL_VERSION}"
    "zlib ${ZLIB_VERSION_STRING}")
wheelyard_libraries(wheelyard-builder ${libraries})
if(NOT WHEELYARD_CLUSTER)
    list(APPEND libraries "SQLite ${SQLite3_VERSION}" "Boost ${Boost_VERSION_STRING}")
    wheelyard_libraries(wheelyard-registry ${libraries})
    wheelyard_libraries(wheelyard-indexer ${libraries})
endif()

# Manual pages and completions, from the programs' own help. A build for another machine cannot run its programs: there
# scripts/generate-shell-files --bin takes the programs of a build for this one.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(shell_files ${CMAKE_BINARY_DIR}/share)
    add_custom_command(OUTPUT ${shell_files}/stamp
        COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/generate-shell-files --bin ${CMAKE_BINARY_DIR}/bin
                --to ${shell_files}
        COMMAND ${CMAKE_COMMAND} -E touch ${shell_files}/stamp
        DEPENDS ${WHEELYARD_PROGRAMS} ${CMAKE_SOURCE_DIR}/scripts/generate-shell-files ${CMAKE_SOURCE_DIR}/scripts/cli_help.py
        VERBATIM)
    add_custom_target(shell_files DEPENDS ${shell_files}/stamp)
    add_dependencies(programs shell_files)
    install(DIRECTORY ${shell_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
    foreach(folder bash-completion zsh fish)
        install(DIRECTORY ${shell_files}/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
    endforeach()
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/site-configs DESTINATION ${CMAKE_INSTALL_DATADIR}/wheelyard)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What bench/ measures with; built only when named.
add_executable(inspect_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/inspect_bound.cpp)
target_link_libraries(inspect_bound PRIVATE wheelyard_inspect)
add_executable(upload_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/upload_bound.cpp)
target_link_libraries(upload_bound PRIVATE wheelyard_inspect)
add_executable(index_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/index_bound.cpp)
if(NOT WHEELYARD_CLUSTER)
    add_executable(token_verify EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/token_verify.cpp)
    target_link_libraries(token_verify PRIVATE wheelyard_identity)
endif()
add_library(governor_simulation STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/governor_simulate/simulate.cpp)
target_link_libraries(governor_simulation PUBLIC wheelyard_governor)
add_executable(governor_simulate EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/governor_simulate/main.cpp)
target_link_libraries(governor_simulate PRIVATE governor_simulation)
