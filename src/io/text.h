/* io/text.h - what the text readers and writers share.
 * A file is cut at line ends into chunks that depend on its size only. A first pass counts lines
 * (and a mark, ':' in libsvm) in every chunk, so that a second pass can parse each chunk straight
 * into its final place, in parallel, and name the line of a fault. Gaps left by blank lines,
 * comments and explicit zeros are closed at the end. */
#ifndef MGVI_IO_TEXT_H
#define MGVI_IO_TEXT_H

#include "base/number.h"
#include "base/threads.h"
#include "io/io.h"

#include <pthread.h>

enum { MGVI_CHUNK = 1 << 17 }; /* bytes: text and results fit in a second level cache */

enum { MGVI_TEXT_AHEAD = MGVI_NUMBER_AHEAD + 17 }; /* an index, a colon and a number */

typedef struct mgvi_chunk {
    const char *begin, *end;
    const char *from;         /* parsing starts here: begin, or what mgvi_text_skip left */
    int64_t lines, marks;     /* from there; counted before parsing */
    int64_t first_line;       /* lines before this chunk */
    int64_t row_at, entry_at; /* where its rows and entries go: all it could hold fit there */
    int64_t rows, entries;    /* what it holds */
    int64_t row_to, entry_to; /* where they belong once the gaps are closed */
    int64_t zeros;            /* explicit zeros left out */
    int64_t largest;          /* index */
    bool inexact;             /* a value that float32 does not hold */
    bool flag;                /* the reader's own: met something special */
} mgvi_chunk;

typedef struct mgvi_text {
    mgv_ctx *ctx;
    const char *path, *begin, *end;
    const char *safe; /* before it MGVI_TEXT_AHEAD bytes may be looked at */
    bool fleeting;    /* a mapped file, and long: what has been read need not stay in memory */
    mgvi_chunk *chunks;
    int64_t count;
    pthread_mutex_t lock; /* of the fault */
    const char *fault_at; /* the first in the file, whichever thread finds it */
    char fault[512];
} mgvi_text;

/* Cuts and counts; skips a byte order mark. `chunk_bytes` is MGVI_CHUNK except in tests. */
mgv_status mgvi_text_open(mgv_ctx *ctx, const mgvi_source *source, size_t chunk_bytes, char mark,
                          mgvi_text *text);
void mgvi_text_close(mgvi_text *text);
/* The lines before `data_begin`, which starts a line, are a header that is not parsed. */
void mgvi_text_skip(mgvi_text *text, const char *data_begin);
/* The bytes from begin to end have been read, and will hardly be again: some labels may. */
void mgvi_text_leave(const mgvi_text *text, const char *begin, const char *end);
/* Runs fn(arg, chunk number) for all chunks on all threads, and leaves each behind; MGV_E_LIMIT:
 * not for all of them. */
mgv_status mgvi_text_run(mgvi_text *text, mgvi_block_fn fn, void *arg);
/* Remembers the fault at `at` unless an earlier one is known. From any thread. */
void mgvi_text_fault(mgvi_text *text, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* MGV_OK, or MGV_E_INPUT with "FILE:LINE:COLUMN: ..." of the first fault. */
mgv_status mgvi_text_status(const mgvi_text *text);
/* The same at once, outside of parallel work. */
#define MGVI_TEXT_FAIL(text, ...) (mgvi_text_fault(text, __VA_ARGS__), mgvi_text_status(text))

/* The word at `at` (up to a blank or the line's end) fit for a message. */
typedef struct mgvi_quote {
    char text[64];
} mgvi_quote;
mgvi_quote mgvi_text_quote(const char *at, const char *end);
static inline bool mgvi_is_blank(char c) { return c == ' ' || c == '\t'; }
/* At the end of the text, a newline, or a carriage return before one of these. */
bool mgvi_text_at_line_end(const char *p, const char *end);
const char *mgvi_text_next_line(const char *p, const char *end);
/* A finite decimal number at `p` or a fault that calls it `what`; NULL: fault. Returns what
 * follows it. */
const char *mgvi_text_number(mgvi_text *text, const char *p, const char *end, const char *what,
                             double *value);

/* ---- precision ----------------------------------------------------------------------------- */
typedef enum mgvi_precision {
    MGVI_TRY_F32, /* float32 as long as every value is exact in it */
    MGVI_AS_F32,  /* rounded */
    MGVI_AS_F64
} mgvi_precision;

/* The values being read. With "auto" the answer is float32 when every value is exact in it. */
typedef struct mgvi_values {
    mgvi_precision precision; /* of the present pass */
    bool automatic;
    atomic_bool wider; /* MGVI_TRY_F32 met a value that is not exact */
    void *val;         /* float or double, by precision */
} mgvi_values;

/* For "auto" a sample of the numbers behind the bytes `marks` says what to try first. A wrong
 * guess costs a second pass, never another result. */
void mgvi_values_init(mgvi_values *values, const mgvi_text *text, mgvi_wanted_precision wanted,
                      const char *marks);
/* Allocates `count` values and runs `fn` over the chunks until the precision is right. `fn` sets
 * `inexact` in every chunk it reads as float64. */
mgv_status mgvi_values_read(mgvi_values *values, mgvi_text *text, int64_t count, mgvi_block_fn fn,
                            void *arg);
static inline mgv_dtype mgvi_values_dtype(const mgvi_values *values)
{
    return values->precision == MGVI_AS_F64 ? MGV_F64 : MGV_F32;
}
/* Stores value number `at`; false: mgvi_values_keep_hard must decide. */
static inline bool mgvi_values_keep(void *val, const mgvi_precision precision, int64_t at,
                                    double value)
{
    if (precision == MGVI_AS_F64) {
        ((double *)val)[at] = value;
        return true;
    }
    ((float *)val)[at] = (float)value;
    return mgvi_number_fits_float(value) ||
           (precision == MGVI_AS_F32 && !mgvi_number_float_is_unsure(value));
}
/* `token` spells the value. False: this pass is over (a fault, or float32 does not do). */
bool mgvi_values_keep_hard(mgvi_values *values, mgvi_text *text, int64_t at, double value,
                           const char *token);

/* ---- results ------------------------------------------------------------------------------- */
/* Sets row_at and entry_at from `rows` and `entries`, here upper bounds; returns the totals. */
void mgvi_text_place(mgvi_text *text, int64_t *rows, int64_t *entries);
/* The same where a row is a line from `data_begin` on; returns the number of lines. */
int64_t mgvi_text_place_lines(mgvi_text *text, const char *data_begin);
/* Sets row_to and entry_to from what was found; returns the totals. */
void mgvi_text_settle(mgvi_text *text, int64_t *rows, int64_t *entries);
/* Moves items of `size` bytes, one per row or one per entry, to where they belong. */
void mgvi_text_close_gaps(const mgvi_text *text, void *items, size_t size, bool per_row);
/* Numeric labels, spelled as at label_at[row]. */
mgv_status mgvi_text_labels(mgvi_text *text, mgv_data *data, const double *labels,
                            const char *const *label_at);

/* A stored matrix at least 40 % full becomes dense in C order if that takes at most half as much
 * memory again: the dense kernels are faster. */
mgv_status mgvi_data_densify(mgv_ctx *ctx, mgv_data *data);

/* ---- the readers with their chunk size as a parameter (tests make it small) ----------------- */
mgv_status mgvi_libsvm_read(mgv_ctx *ctx, mgvi_source *source, mgv_data *data, size_t chunk_bytes);
mgv_status mgvi_csv_read(mgv_ctx *ctx, mgvi_source *source, mgv_data *data, size_t chunk_bytes);
mgv_status mgvi_mtx_read(mgv_ctx *ctx, mgvi_source *source, mgv_data *data, size_t chunk_bytes);
#endif
