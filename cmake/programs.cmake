# The programs: name, main file (wiring only), rooms linked.
wheelyard_program(wheelyard-builder  builder/main.cpp              builder)
wheelyard_program(wheelyard-governor builder/governor/main.cpp     governor)
wheelyard_static(wheelyard-governor governor broker launch admission memory base)
wheelyard_program(avail_wheels       indexer/avail_wheels/main.cpp avail_wheels inspect)
# The same for any machine of its kind: no library of the system, the network by the program curl.
wheelyard_program(avail_wheels-static indexer/avail_wheels/main.cpp avail_wheels inspect)
target_compile_definitions(avail_wheels-static PRIVATE WHEELYARD_STATIC)
wheelyard_static(avail_wheels-static avail_wheels table source query node status simple io wheel base)
if(NOT WHEELYARD_CLUSTER)
    wheelyard_program(wheelyard-registry registry/main.cpp registry indexer)
    wheelyard_program(wheelyard-indexer  indexer/main.cpp  indexer)
endif()

# What bench/ measures with; built only when named.
add_executable(inspect_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/inspect_bound.cpp)
target_link_libraries(inspect_bound PRIVATE wheelyard_inspect)
add_executable(upload_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/upload_bound.cpp)
target_link_libraries(upload_bound PRIVATE wheelyard_inspect)
add_executable(index_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/index_bound.cpp)
