# SPDX-License-Identifier: Apache-2.0
# Prints every knot of the files given, "COUNT FILE FILE ...": files that include each other, directly
# or through others of these. A header and the source of its name count as one. Run where includes
# start.

FNR == 1 {
  here = unit(FILENAME)
  if (!(here in number)) {
    number[here] = ++units
    name[units] = here
  }
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, quoted, "\"")
  there = unit(quoted[2])
  if (there != here) included[here] = included[here] " " there
}

function unit(path) {
  sub(/\.[hc]pp$/, "", path)
  return path
}

# reaches[i, j]: a way from unit i to unit j.
function walk(from,    queue, head, tail, parts, count, i, to) {
  head = tail = 0
  queue[tail++] = from
  while (head < tail) {
    count = split(included[name[queue[head++]]], parts, " ")
    for (i = 1; i <= count; ++i) {
      if (!(parts[i] in number)) continue
      to = number[parts[i]]
      if ((from, to) in reaches) continue
      reaches[from, to] = 1
      queue[tail++] = to
    }
  }
}

END {
  for (i = 1; i <= units; ++i) walk(i)
  for (i = 1; i <= units; ++i) {
    if (tied[i] || !((i, i) in reaches)) continue
    knot = name[i]
    size = 1
    for (j = i + 1; j <= units; ++j)
      if (((i, j) in reaches) && ((j, i) in reaches)) {
        tied[j] = 1
        knot = knot " " name[j]
        ++size
      }
    print size, knot
  }
}
