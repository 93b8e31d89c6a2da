# Each fuzz target with a plain main, run over its corpus: fuzz/NAME.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(source ${fuzz_sources})
    get_filename_component(target ${source} NAME_WE)
    string(REPLACE fuzz_ "" name ${target})
    add_executable(replay_${name} ${source} ${PROJECT_SOURCE_DIR}/fuzz/fuzz.c
                                  ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
    target_link_libraries(replay_${name} PRIVATE margrave_check)
    add_test(NAME fuzz/${name} COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
endforeach()
