# Tests that are not a test_NAME.c.
include(replay.cmake)
