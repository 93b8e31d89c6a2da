/* data/data.h - a table: matrix, labels, classes, weights, names, and the memory behind them. */
#ifndef MGVI_DATA_DATA_H
#define MGVI_DATA_DATA_H

#include "base/memory.h"
#include "op/matrix.h"

enum {
    MGVI_BESIDE_ROWS = 1,
    MGVI_BESIDE_COLS = 2,
    MGVI_BESIDE_GROUPS = 4,
    MGVI_BESIDE_ENDS = 8,
    MGVI_BESIDE_ROW_GROUPS = 16
};
enum { MGVI_CLASSES_MAX = 4096 }; /* more distinct labels than this are a regression target */

typedef struct mgvi_owned {
    void *memory;
    size_t mapped; /* bytes of a mapping; 0: from the allocator */
    struct mgvi_owned *next;
} mgvi_owned;

/* How the columns of a table are known: what a model remembers of its training data, so that other
 * tables are read alike. */
typedef struct mgvi_column_names {
    int64_t count;    /* features */
    char **names;     /* one each, or NULL */
    char *label;      /* what the label's column is called; or NULL */
    int64_t label_at; /* where it stands among the columns of a text file, from 0; -1: nowhere */
    int first_index;  /* of libsvm text: 0 or 1; -1: does not apply */
} mgvi_column_names;

struct mgv_data {
    mgvi_matrix X;
    bool checked;          /* mgvi_matrix_check has passed; mapped files are checked at first use */
    double *labels;        /* one per row, or NULL. Text labels: the class number */
    bool text_labels;      /* the labels are words, not numbers */
    int64_t classes;       /* distinct labels; 0: none, or too many */
    char **class_text;     /* sorted (numbers by value, words by bytes), as first spelled */
    double *class_value;   /* the labels[] value of each class, increasing */
    double *weights;       /* one per row, or NULL */
    const int64_t *kept;   /* which rows of the file ours are, where some were left out; or NULL */
    int64_t kept_of;       /* of how many */
    double *lower, *upper; /* ends of each row's interval, may be infinite; or NULL */
    char **names;          /* one per column, or NULL */
    char *label_name;      /* of the label's column; or NULL */
    int64_t label_at;      /* the label's place among the columns of a text file; -1: none */
    bool was_sparse;       /* X is dense, but its file leaves zeros out, and so the last columns */
    bool gaps;             /* rows may have no label: NaN; such data is to be predicted only */
    int64_t *group;        /* one per column, -1: none; or NULL */
    int64_t *row_group;    /* one per row: rows of one number stay together in folds; or NULL */
    double *col_weights;   /* one per column: factors of the penalty; or NULL */
    unsigned beside;       /* which of them came from files that settings named: MGVI_BESIDE_... */
    const char *format;    /* static */
    char *file;            /* where it was read; or NULL */
    double load_seconds;
    int first_index;      /* of libsvm text: 0 or 1; -1: does not apply */
    int64_t stored_zeros; /* explicit zeros met by the reader (they are kept out of X) */
    mgvi_owned *owned;
};

mgv_status mgvi_data_new(mgv_ctx *ctx, mgv_data **out);
mgvi_column_names mgvi_data_columns(const mgv_data *data); /* borrowed */
void mgvi_data_free(mgv_ctx *ctx, mgv_data *data);
/* Hands memory over: freed (mapped > 0: unmapped) with the data. On failure it is freed at once. */
mgv_status mgvi_data_own(mgv_ctx *ctx, mgv_data *data, void *memory, size_t mapped);
/* Frees memory of the data early; what lies inside a larger block (a mapped file) stays. */
void mgvi_data_disown(mgv_ctx *ctx, mgv_data *data, const void *memory);
/* Zeroed memory owned by the data; NULL with a sentence on failure. */
void *mgvi_data_array(mgv_ctx *ctx, mgv_data *data, size_t count, size_t size);

/* How row `row` spelled its label: writes at most `capacity` bytes with the terminator. */
typedef void (*mgvi_spelling_fn)(const void *user, int64_t row, char *buffer, size_t capacity);
/* Numeric labels: copies them and finds the classes. `spelling` may be NULL (then %.17g, shortest
 * that reads back). Labels must be finite: MGV_E_INPUT names the row; NaN where there are gaps. */
mgv_status mgvi_data_set_labels(mgv_ctx *ctx, mgv_data *data, const double *labels,
                                mgvi_spelling_fn spelling, const void *user);
/* Words: texts[i] is row i's label. */
mgv_status mgvi_data_set_text_labels(mgv_ctx *ctx, mgv_data *data, const char *const *texts);
/* The class whose labels[] value is `label`; -1: none. */
int64_t mgvi_data_class_of(const mgv_data *data, double label);
/* Matrix, labels and weights: MGV_E_INPUT names the first fault. Files that are used where they are
 * mapped are not looked at before this. */
mgv_status mgvi_data_verify(mgv_ctx *ctx, const mgv_data *data, double *most, double *size);
/* Runs mgvi_data_verify unless it has passed. */
mgv_status mgvi_data_check_once(mgv_ctx *ctx, mgv_data *data);
#endif
