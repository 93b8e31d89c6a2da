# numbers.sh TREE - inside the library numbers are printed by base/print.c alone, which does not
# follow the host program's language; printf of the C library is for whole numbers and words.
set -eu
cd "$1/src"
found=$(find . -name '*.[ch]' ! -path './base/print.*' | sort | while IFS= read -r file; do
    awk -v file="$file" '
        function look(text) {
            if (text ~ /(^|[^_A-Za-z0-9])v[a-z]*printf\(/)
                printf "%s:%d: use mgvi_vprint\n", file, at
            else if (text ~ /(^|[^_A-Za-z0-9])[a-z]*printf\(/ && text ~ /%[-+#0-9.*]*[aAeEfFgG]/)
                printf "%s:%d: use mgvi_print\n", file, at
            if (text ~ /(^|[^_A-Za-z0-9])(strtod|strtof|strtold|atof)\(/)
                printf "%s:%d: use base/number.h\n", file, at
        }
        /^[ \t]*(\/\*|\*)/ { next } # comments
        !open { at = NR; text = "" }
        { text = text $0; open = $0 !~ /[;{}]/ }
        !open { look(text) }' "$file"
done)
[ -z "$found" ] || { printf '%s\n' "$found" >&2; exit 1; }
