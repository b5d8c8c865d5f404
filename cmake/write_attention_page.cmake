# cmake -DPAGES=<llm/pages> -DOUT=<file.cpp> -P write_attention_page.cmake: the files of the attention page as a C++ source.

# The SHA-256 of a text, in base64.
function(base64_of_sha256 text result)
  string(SHA256 hex "${text}")
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(out "")
  foreach(at RANGE 0 60 6)  # three bytes are four digits; 32 bytes leave two over
    string(SUBSTRING "${hex}0000" ${at} 6 six)
    math(EXPR bits "0x${six}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 character)
      string(APPEND out "${character}")
    endforeach()
  endforeach()
  string(SUBSTRING "${out}" 0 43 out)
  set(${result} "${out}=" PARENT_SCOPE)
endfunction()

file(READ ${PAGES}/attention.html body)
file(READ ${PAGES}/attention.css style)
set(script "")
foreach(part attention_data attention_figure attention_overview attention)
  file(READ ${PAGES}/${part}.js text)
  string(APPEND script "${text}")
endforeach()
base64_of_sha256("${style}" style_hash)
base64_of_sha256("${script}" script_hash)

set(source "// Written by cmake/write_attention_page.cmake.\n#include \"axial/llm/attention_page_files.h\"\n\nnamespace axial::llm::pages {\n")
foreach(name Body Style Script)
  string(TOLOWER ${name} content)
  # A compiler need not take a literal of more than 65535 bytes, and adjacent ones are one: none is near that.
  string(APPEND source "const std::string_view attention${name} = R\"=page=(${${content}})=page=\";\n")
endforeach()
string(APPEND source "const std::string_view attentionStyleHash = \"${style_hash}\", attentionScriptHash = \"${script_hash}\";\n")
string(APPEND source "}  // namespace axial::llm::pages\n")
file(WRITE ${OUT} "${source}")
