# SPDX-License-Identifier: Apache-2.0
# Prints "FILE NAME DATA METHODS KIND" of every class and struct that is defined in the files given:
# the number of its data members (without static ones), the number of its member functions (without
# defaulted and deleted ones), and `invariant` where something of it is private or it is defined apart
# from the class that it is part of (struct Outer::Impl), else `plain`.
# Reads C++ that clang-format has laid out and a compiler has accepted: it drops comments, strings and
# directives, and cuts the rest at ; { and }.

FNR == 1 && NR > 1 { finish() }
{
  file = FILENAME
  if ($0 !~ /^[ \t]*#/) text = text clean($0) " "
}
END { finish() }

# A line without strings, characters and comments.
function clean(line,    out, at, one, two) {
  out = ""
  while (line != "") {
    if (commented) {
      at = index(line, "*/")
      if (!at) return out
      commented = 0
      line = substr(line, at + 2)
    } else if (match(line, /["']|\/\/|\/\*/)) {
      at = RSTART
      out = out substr(line, 1, at - 1)
      two = substr(line, at, 2)
      one = substr(line, at, 1)
      line = substr(line, at + RLENGTH)
      if (two == "//") return out
      if (two == "/*")
        commented = 1
      else if (one == "'" && out ~ /[0-9a-fA-F]$/)  # 1'000
        continue
      else
        line = after_quote(line, one)
    } else {
      return out line
    }
  }
  return out
}
function after_quote(line, quote,    i) {
  for (i = 1; i <= length(line); ++i) {
    if (substr(line, i, 1) == "\\") ++i
    else if (substr(line, i, 1) == quote) return substr(line, i + 1)
  }
  return ""
}

function finish(    depth, i, rest, at, mark, said) {
  rest = text
  depth = 0
  said = ""
  kind[0] = "space"
  while (match(rest, /[;{}]/)) {
    said = said substr(rest, 1, RSTART - 1)
    mark = substr(rest, RSTART, 1)
    rest = substr(rest, RSTART + 1)
    if (mark == "}") {
      if (kind[depth] == "type") print_type(depth)
      # Text behind an initialiser belongs to the statement that the initialiser is part of.
      said = kind[depth] == "value" ? before[depth] " $ " : ""
      if (kind[depth] == "type" || kind[depth] == "enum") {
        at = index(rest, ";")
        if (kind[depth - 1] == "type") count(depth - 1, substr(rest, 1, at - 1))  # struct A { … } a;
        rest = substr(rest, at + 1)
      }
      --depth
    } else if (mark == ";") {
      if (kind[depth] == "type") count(depth, said)
      said = ""
    } else {
      open(++depth, said)
      said = ""
    }
  }
  text = ""
  commented = 0
}

# The kind of what a brace opens at this depth, after the text since the statement began.
function open(depth, said,    inside, words) {
  inside = kind[depth - 1]
  if (inside == "type") said = unlabelled(depth - 1, said)
  before[depth] = said
  if (inside == "code") {
    kind[depth] = "code"
  } else if (said ~ /(^|[^a-z_])enum /) {
    kind[depth] = "enum"
  } else if (said ~ /(^|[ >:])(class|struct|union) [^=(]*$/) {
    kind[depth] = "type"
    words = said
    sub(/.*(^|[ >:])(class|struct|union) +/, "", words)
    sub(/ (final|: ).*/, "", words)
    gsub(/[ \t]/, "", words)
    name[depth] = (inside == "type" && words != "" ? name[depth - 1] "." : "") words
    data[depth] = methods[depth] = 0
    hidden[depth] = words ~ /::/
    access[depth] = said ~ /(^|[ >:])class / ? "private" : "public"
  } else if (said ~ /(^|[^a-z_])(namespace|extern)/) {
    kind[depth] = "space"
  } else if (inside == "type" || inside == "space") {
    if (is_function(said) && !is_value(said)) {
      kind[depth] = "code"
      if (inside == "type") count(depth - 1, said)
    } else {
      kind[depth] = "value"
    }
  } else {
    kind[depth] = inside  # braces inside an initialiser
  }
}

# Text without everything between < and >, and with each ( … ) as ().
function flat(said,    old) {
  gsub(/->|<=>|<<|>>=|<=|>=/, " ", said)
  do {
    old = said
    gsub(/<[^<>()]*>/, "", said)
    gsub(/\([^()]*\)/, "@", said)
  } while (said != old)
  gsub(/@/, "()", said)
  return said
}
function is_function(said,    bare) {
  if (said ~ /operator/) return 1
  bare = flat(said)
  sub(/[^=!<>]=([^=].*)?$/, "", bare)
  return bare ~ /[A-Za-z_0-9~] *\(\)/
}
# Whether a brace after this text is an initialiser, of a member behind a constructor or behind =.
function is_value(said,    bare) {
  bare = flat(said)
  gsub(/::/, "", bare)
  if (said !~ /operator/ && bare ~ /=/) return 1
  return bare ~ /\(\)[^:]*:.*[A-Za-z_0-9] *$/
}

# A statement in the type at this depth, without the access labels before it, which hold from here
# on.
function unlabelled(depth, said,    label) {
  while (match(said, /^[ \t]*(public|private|protected)[ \t]*:/)) {
    label = substr(said, RSTART, RLENGTH)
    gsub(/[ \t:]/, "", label)
    access[depth] = label
    said = substr(said, RSTART + RLENGTH)
  }
  return said
}

# Counts a statement of the type at this depth.
function count(depth, said,    bare) {
  said = unlabelled(depth, said)
  gsub(/^[ \t]+|[ \t]+$/, "", said)
  if (said == "" || said ~ /^(using|typedef|friend|static_assert|enum|template +<[^>]*> +(friend|class|struct|using))/)
    return
  if (said ~ /^(class|struct|union) [A-Za-z_0-9:]+$/) return  # only declared
  if (said ~ /= *(default|delete)$/) return
  if (is_function(said)) {
    ++methods[depth]
  } else if (said ~ /^(inline )?(static|constexpr|thread_local)/) {
    return
  } else {
    bare = flat(said)
    data[depth] += 1 + gsub(/,/, "", bare)
  }
  if (access[depth] != "public") hidden[depth] = 1
}

function print_type(depth) {
  print file, (name[depth] == "" ? "(unnamed)" : name[depth]), data[depth], methods[depth],
        hidden[depth] ? "invariant" : "plain"
}
