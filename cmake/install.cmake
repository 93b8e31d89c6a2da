# Headers, library, command, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS margrave EXPORT margrave-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET margrave_cli)
    install(TARGETS margrave_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    include(cmake/pages.cmake)
endif()
install(DIRECTORY include/margrave DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT margrave-targets NAMESPACE margrave:: DESTINATION
                                ${CMAKE_INSTALL_LIBDIR}/cmake/margrave)
configure_package_config_file(
    cmake/margrave-config.cmake.in ${PROJECT_BINARY_DIR}/margrave-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/margrave)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/margrave-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/margrave-config.cmake
              ${PROJECT_BINARY_DIR}/margrave-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/margrave)
string(REGEX REPLACE "[^/]+" ".." pc_to_prefix "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(cmake/margrave.pc.in ${PROJECT_BINARY_DIR}/margrave.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/margrave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
