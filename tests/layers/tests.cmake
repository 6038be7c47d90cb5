# What is checked by reading the tree: no build is needed to fail, none to pass.
add_test(NAME layers COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/layers/check_layers.py)
add_test(NAME layers-detects COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/layers/layers_test.py)
add_test(NAME layers-lanes COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/layers/lanes_test.py)
add_test(NAME layers-shell COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/layers/check_shell.py)
add_test(NAME layers-assets COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/layers/check_assets.py)
add_test(NAME docs-links COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/check_links.py)
add_test(NAME docs-links-detects COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/links_test.py)
add_test(NAME docs-layers COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/draw-layers --check)
add_test(NAME docs-figures COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/generate-figures --check)
add_test(NAME docs-figures-detects COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/figures_test.py)
add_test(NAME docs-standards COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/generate-standards --check)
add_test(NAME docs-standards-detects COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/standards_test.py)
add_test(NAME docs-reports COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/reports_test.py)
add_test(NAME docs-scripts COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/scripts_test.py)
set_tests_properties(layers layers-detects layers-lanes layers-shell layers-assets docs-links docs-links-detects docs-layers docs-figures docs-figures-detects
    docs-standards docs-standards-detects docs-reports docs-scripts PROPERTIES
    LABELS checks TIMEOUT 600)
set_tests_properties(layers-shell PROPERTIES SKIP_RETURN_CODE 77)
