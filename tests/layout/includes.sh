# includes.sh TREE - a folder includes itself and the lines above it, never below (CONTRIBUTING.md).
# The command line and Python see the public headers only; those see <stddef.h> and <stdint.h> only.
set -eu
cd "$1"

# The rooms in order. penalty and loss stand twice: their headers are formulas and come early, their
# .c files may use operators.
rooms="base page penalty.h loss.h simd linalg backend op data io penalty loss problem certify stop solver
       select complete restore model assess report api"

find src include cli python -name '*.[ch]' -exec grep -H '^[[:space:]]*#[[:space:]]*include' {} + \
    2>/dev/null | sed -n 's/^\([^:]*\):[^<"]*\([<"][^>"]*[>"]\).*/\1 \2/p' | awk -v order="$rooms" '
    function complain(text) { print $1 ": includes " $2 ": " text; bad = 1 }
    # src/ROOM/FILE -> the place of its room in the order; 0: not a room
    function place(path,   part, room) {
        split(path, part, "/")
        room = part[1]
        if ((room == "penalty" || room == "loss") && path ~ /\.h$/ && (room ".h") in rank)
            room = room ".h"
        return rank[room]
    }
    BEGIN {
        count = split(order, room, " ")
        for (i = 1; i <= count; i++) rank[room[i]] = i
    }
    { quoted = $2 ~ /^"/; name = substr($2, 2, length($2) - 2); seen++ }
    $1 ~ /^include\// {
        if (name != "stddef.h" && name != "stdint.h" && name !~ /^margrave\//)
            complain("public headers include <stddef.h> and <stdint.h> only")
        next
    }
    $1 ~ /^(cli|python)\// {
        if (quoted && name ~ /\//) complain("only the public headers and its own folder")
        if (!quoted && name ~ /^jansson|^archive/) complain("the library speaks JSON, not " $1)
        next
    }
    !quoted { next }
    {
        from = place(substr($1, 5))
        to = place(name)
        if (name ~ /^margrave\//) complain("write <margrave/...>")
        else if (!from) complain("its folder is not in the order of the rooms")
        else if (!to) complain("write includes from src/, as room/file.h")
        else if (to > from) complain("that room lies below this one")
    }
    END {
        if (seen < 100) { print "only " seen + 0 " includes were found"; bad = 1 }
        exit bad
    }'
