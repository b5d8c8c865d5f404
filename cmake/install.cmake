# find_package(axial) gives axial::tensor, axial::ops, axial::llm and axial::server.
include(CMakePackageConfigHelpers)
set(axial_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/axial)

install(TARGETS axial_tensor axial_ops axial_llm axial_server EXPORT axialTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(layer tensor ops llm)
  install(DIRECTORY ${layer}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/axial/${layer} COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE PATTERN "server" EXCLUDE PATTERN "bundled" EXCLUDE PATTERN "pages" EXCLUDE)
endforeach()
if(TARGET axial_rust AND NOT BUILD_SHARED_LIBS)  # a shared library has it inside
  get_target_property(axial_rust_archive axial_rust IMPORTED_LOCATION)
  install(FILES ${axial_rust_archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
install(EXPORT axialTargets NAMESPACE axial:: DESTINATION ${axial_config_dir} COMPONENT development)
configure_package_config_file(cmake/axialConfig.cmake.in axialConfig.cmake INSTALL_DESTINATION ${axial_config_dir})
write_basic_package_version_file(axialConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/axialConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/axialConfigVersion.cmake
  DESTINATION ${axial_config_dir} COMPONENT development)
if(TARGET axial_command)
  install(TARGETS axial_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
