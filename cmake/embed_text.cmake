# cmake -DINPUT=FILE -DOUTPUT=FILE.cpp -DSYMBOL=name -P embed_text.cmake
# Writes a C++ file in which runwarden::embedded::name() gives the text of INPUT.
file(READ "${INPUT}" text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)  # compilers need not take longer literals in one piece
  string(APPEND pieces "    R\"~embed~(${piece})~embed~\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace runwarden::embedded {\n\nstd::string_view ${SYMBOL}() {\n  return\n${pieces}    ;\n}\n\n}  // namespace runwarden::embedded\n")
