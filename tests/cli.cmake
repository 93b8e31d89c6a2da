# The scripts of tests/cli run the built command; those of tests/layout look at the tree, the
# library and an installed copy.
find_program(SH sh REQUIRED)
if(TARGET margrave_cli)
    add_executable(json_get cli/json_get.c)
    target_link_libraries(json_get PRIVATE PkgConfig::jansson)
    foreach(script help errors files fit multiclass select limits probing path deblur complete same_bits signal labels predict evaluate show check_data kernel_offset convert generate reproduce browser list demo completion man)
        add_test(NAME cli/${script} COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/cli/${script}.sh
                                            $<TARGET_FILE:margrave_cli> ${PROJECT_SOURCE_DIR}
                                            $<TARGET_FILE:json_get>)
    endforeach()
    add_test(NAME cli/columns COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/cli/columns.sh
                                      $<TARGET_FILE:margrave_cli> ${PROJECT_SOURCE_DIR}
                                      $<TARGET_FILE:json_get>)
    set_tests_properties(cli/browser PROPERTIES SKIP_RETURN_CODE 77)
endif()
add_test(NAME layout/includes COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/layout/includes.sh
                                      ${PROJECT_SOURCE_DIR})
add_test(NAME layout/house COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/layout/house.sh
                                   ${PROJECT_SOURCE_DIR})
add_test(NAME layout/numbers COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/layout/numbers.sh
                                     ${PROJECT_SOURCE_DIR})
add_test(NAME layout/search_path COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/layout/search_path.sh
                                         $<TARGET_FILE:margrave_cli> $<TARGET_FILE:margrave>)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set_tests_properties(layout/search_path PROPERTIES ENVIRONMENT HARDENED=yes)
endif()
# A sanitized library cannot be loaded by a program built without it.
if(NOT MARGRAVE_SANITIZE)
    add_test(NAME layout/symbols COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/layout/symbols.sh
                                         $<TARGET_FILE:margrave>)
    add_test(NAME layout/install
             COMMAND ${SH} ${CMAKE_CURRENT_SOURCE_DIR}/layout/install.sh ${PROJECT_SOURCE_DIR}
                     ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} ${CMAKE_COMMAND})
endif()
