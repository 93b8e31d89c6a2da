# Every fuzz target over its corpus, in a program with a plain main: fuzz/NAME.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
margrave_parts(replay LLVMFuzzerTestOneInput ${fuzz_sources})
target_sources(replay PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/fuzz.c ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
foreach(source ${fuzz_sources})
    get_filename_component(target ${source} NAME_WE)
    string(REPLACE fuzz_ "" name ${target})
    add_test(NAME fuzz/${name} COMMAND replay ${target} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
endforeach()
