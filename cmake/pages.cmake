# The pages that the library can write: their files are part of it.
set(attention_page ${CMAKE_CURRENT_BINARY_DIR}/pages/attention_page_files.cpp)
file(GLOB attention_page_parts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/llm/pages/attention*)
add_custom_command(OUTPUT ${attention_page}
  COMMAND ${CMAKE_COMMAND} -DPAGES=${CMAKE_CURRENT_SOURCE_DIR}/llm/pages -DOUT=${attention_page}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_attention_page.cmake
  DEPENDS ${attention_page_parts} cmake/write_attention_page.cmake VERBATIM)
target_sources(axial_llm PRIVATE ${attention_page})
