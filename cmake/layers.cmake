# axial_layer(<name> PUBLIC <targets> PRIVATE <targets> WITHOUT <files>) makes the library axial::<name> from the folder
# <name>, except for some of its files.
#
# Headers are spelled "axial/<layer>/<file>.h", in the tree and when installed. Each layer's include directory holds
# one link, axial/<layer>, to that layer's folder; a layer sees another's only by linking it. So an include that
# points upward (tensor including ops) does not build.
set(axial_warnings -Wall -Wextra)
# At -O3, g++ 12 takes "text" + std::string for a copy that overlaps itself (GCC bug 105329, mended in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND axial_warnings $<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(AXIAL_WERROR)
  list(APPEND axial_warnings -Werror)
endif()

function(axial_layer name)
  cmake_parse_arguments(layer "" "" "PUBLIC;PRIVATE;WITHOUT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(TRANSFORM layer_WITHOUT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${name}/)
  list(REMOVE_ITEM sources ${layer_WITHOUT})
  add_library(axial_${name} ${sources})
  add_library(axial::${name} ALIAS axial_${name})
  set_target_properties(axial_${name} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(axial_${name} PUBLIC cxx_std_20)
  # Two rounding steps stay two: the bits of a result must not depend on what the compiler merges.
  target_compile_options(axial_${name} PRIVATE ${axial_warnings} -ffp-contract=off)

  set(headers ${CMAKE_CURRENT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${headers}/axial)
  if(NOT EXISTS ${headers}/axial/${name})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${headers}/axial/${name} SYMBOLIC)
  endif()
  target_include_directories(axial_${name} PUBLIC $<BUILD_INTERFACE:${headers}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(axial_${name} PUBLIC ${layer_PUBLIC} PRIVATE ${layer_PRIVATE})
endfunction()
