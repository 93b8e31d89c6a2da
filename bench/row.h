/* row.h - a row of the results: what we took, what a peer took and what is asked. A JSON object a
 * line, appended to the file that $BENCH_ROWS names (not set: nowhere); bench/rows.py does the same
 * for Python, bench/results.py makes the table. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* What a bar is on: theirs / ours at least (0: no bar), or our own figure at most or at least. */
typedef enum bench_on { BENCH_RATIO, BENCH_MOST, BENCH_LEAST } bench_on;

typedef struct bench_row {
    const char *work, *goal, *peer;  /* goal, peer: NULL: none */
    const char *unit;                /* of the figures; NULL: seconds */
    double ours, one_thread, theirs; /* one_thread, theirs: 0 or NAN: not measured */
    bool uncertified;                /* ours is without its certificate */
    bool cut_off;                    /* the peer was not there yet: it takes longer */
    double bar;
    bench_on on;
} bench_row;

static inline void bench_row_text(FILE *f, const char *name, const char *text)
{
    fprintf(f, ", \"%s\": \"", name);
    for (; text && *text; text++)
        if (*text != '"' && *text != '\\' && *text >= ' ')
            fputc(*text, f);
    fputc('"', f);
}

static inline void bench_row_number(FILE *f, const char *name, double value, bool there)
{
    if (there && isfinite(value)) /* JSON has no others */
        fprintf(f, ", \"%s\": %.9g", name, value);
}

static inline void bench_row_add(bench_row r)
{
    static const char *const on[] = {"ratio", "most", "least"};
    const char *path = getenv("BENCH_ROWS");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    fprintf(f, "{\"certified\": %s, \"arrived\": %s", r.uncertified ? "false" : "true",
            r.cut_off ? "false" : "true");
    bench_row_text(f, "row", r.work);
    bench_row_text(f, "goal", r.goal);
    bench_row_text(f, "unit", r.unit ? r.unit : "s");
    bench_row_text(f, "peer", r.peer);
    bench_row_text(f, "on", on[r.on]);
    bench_row_number(f, "ours", r.ours, true);
    bench_row_number(f, "one_thread", r.one_thread, r.one_thread > 0);
    bench_row_number(f, "theirs", r.theirs, r.theirs > 0);
    bench_row_number(f, "bar", r.bar, true);
    fputs("}\n", f);
    fclose(f);
}
#endif
