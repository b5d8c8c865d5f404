# What axial takes from Rust crates (rust/): chat templates of any model, and structured output. Optional: everything else
# builds and works without it, and what needs it says so.
set(AXIAL_RUST AUTO CACHE STRING
  "The Rust component: AUTO builds it where cargo, rustc 1.87 and the crates can be had, ON insists, OFF leaves it out")
set_property(CACHE AXIAL_RUST PROPERTY STRINGS AUTO ON OFF)
set(AXIAL_RUST_VENDORED "" CACHE PATH
  "A folder that \"cargo vendor\" has made in rust/, to build the Rust component without a network")

# Where the component cannot be built: an error if it is insisted on.
macro(axial_rust_is_out why)
  if(AXIAL_RUST STREQUAL "ON")
    message(FATAL_ERROR "AXIAL_RUST=ON: ${why}")
  endif()
  message(STATUS "Without the Rust component (${why}): unknown chat templates and structured output are refused")
  return()
endmacro()

function(axial_rust)
  if(NOT AXIAL_RUST)
    return()
  endif()
  find_program(AXIAL_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  find_program(AXIAL_RUSTC rustc HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  mark_as_advanced(AXIAL_CARGO AXIAL_RUSTC)
  if(NOT AXIAL_CARGO OR NOT AXIAL_RUSTC)
    axial_rust_is_out("there is no cargo here; rustup.rs or your system's packages have it")
  endif()
  if(CMAKE_CROSSCOMPILING)
    axial_rust_is_out("it is built for the machine that builds it, not for another")
  endif()
  execute_process(COMMAND ${AXIAL_RUSTC} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${version}")
  if(version VERSION_LESS 1.87)
    axial_rust_is_out("rustc 1.87 or newer is needed, ${AXIAL_RUSTC} is ${version}")
  endif()

  set(manifest ${CMAKE_CURRENT_SOURCE_DIR}/rust/Cargo.toml)
  set(cargo_options --locked --offline)
  if(AXIAL_RUST_VENDORED)
    list(APPEND cargo_options --config "source.crates-io.replace-with=\"vendored\""
      --config "source.vendored.directory=\"${AXIAL_RUST_VENDORED}\"")
  endif()
  # The crates, once; what is there already needs no network.
  execute_process(COMMAND ${AXIAL_CARGO} fetch ${cargo_options} --manifest-path ${manifest}
    RESULT_VARIABLE absent OUTPUT_QUIET ERROR_VARIABLE why)
  if(absent AND NOT AXIAL_RUST_VENDORED)
    message(STATUS "Downloading the crates of the Rust component")
    execute_process(COMMAND ${AXIAL_CARGO} fetch --locked --manifest-path ${manifest} TIMEOUT 120
      RESULT_VARIABLE absent OUTPUT_QUIET ERROR_VARIABLE why)
  endif()
  if(absent)
    string(REGEX REPLACE "\n.*" "" why "${why}")
    axial_rust_is_out("its crates cannot be had: ${why}; AXIAL_RUST_VENDORED names a folder with them")
  endif()

  set(target_dir ${CMAKE_CURRENT_BINARY_DIR}/rust)
  set(archive ${target_dir}/release/libaxial_rust.a)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/rust/src/*.rs)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${AXIAL_CARGO} build --quiet --release ${cargo_options} --manifest-path ${manifest} --target-dir ${target_dir}
    DEPENDS ${sources} ${manifest} ${CMAKE_CURRENT_SOURCE_DIR}/rust/Cargo.lock
    COMMENT "Building the Rust component" VERBATIM)
  add_custom_target(axial_rust_archive DEPENDS ${archive})
  add_library(axial_rust STATIC IMPORTED GLOBAL)
  add_dependencies(axial_rust axial_rust_archive)
  set_target_properties(axial_rust PROPERTIES IMPORTED_LOCATION ${archive}
    INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/rust
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m;gcc_s"
    INTERFACE_LINK_OPTIONS "LINKER:--gc-sections;LINKER:--exclude-libs,libaxial_rust.a")
  message(STATUS "With the Rust component (${AXIAL_CARGO}, rustc ${version})")
endfunction()
axial_rust()
