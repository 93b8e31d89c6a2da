/* study.h - what the items of `margrave reproduce` are made with: sets, runs whose iterates are
 * measured, curves, charts, and a verdict with its number. */
#ifndef MGV_CLI_STUDY_H
#define MGV_CLI_STUDY_H

#include "cli.h"

#include <margrave/page.h>

enum { STUDY_CHARTS = 12, STUDY_CURVES = 8, STUDY_TABLES = 5, STUDY_ROWS = 16, STUDY_COLUMNS = 10 };

typedef struct study_curve {
    char name[72];
    double *x, *y;
    int64_t count, room;
    bool points;
} study_curve;

typedef struct study_chart {
    char title[120];
    const char *x_label, *y_label;
    bool log_x, log_y;
    study_curve curve[STUDY_CURVES];
    int curves;
} study_chart;

/* The first column names its row. */
typedef struct study_table {
    char caption[160];
    const char *const *head;
    char cell[STUDY_ROWS][STUDY_COLUMNS][48];
    int rows, columns;
} study_table;

struct study;
typedef struct study_item {
    const char *name;  /* AUTHORS-PLACE, as it is asked for */
    const char *paper; /* authors, title */
    const char *place; /* "Figure 3" */
    const char *claim; /* what the paper says it shows */
    void (*make)(struct study *s);
} study_item;

typedef struct study {
    cli *c;
    const study_item *item;
    study_chart chart[STUDY_CHARTS];
    int charts;
    study_table table[STUDY_TABLES];
    int tables;
    const char *folder; /* where the page goes */
    char how[16000];    /* data and runs, a line each, as options */
    char found[900];    /* the verdict's sentence */
    mgv_mark mark;
    int code; /* CLI_GO_ON until something fails: then what follows does nothing */
} study;

/* ---- pieces ----------------------------------------------------------------------------------- */
bool study_ok(study *s, mgv_status status); /* false: it has failed, and was complained of */
bool study_goes_on(study *s);               /* false after a failure or a signal */
/* Axes: "" or "x", "y", "xy" logarithmic. NULL where there is no room. */
study_chart *study_new_chart(study *s, const char *title, const char *x_label, const char *y_label,
                             const char *logarithmic);
/* NULL where there is no room; adding to it does nothing. */
study_curve *study_new_curve(study *s, study_chart *chart, const char *name);
void study_add(study *s, study_curve *curve, double x, double y);
double study_last(const study_curve *curve); /* y; NaN: none */
/* `head` must outlive the study. NULL where there is no room. */
study_table *study_new_table(study *s, const char *caption, const char *const *head, int columns);
/* Writes into the table's last row, or, at column 0, into a new one. */
void study_cell(study_table *table, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The verdict, and why. */
void study_find(study *s, mgv_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *study_mark_text(mgv_mark mark);
/* Whether iteration t is one of some twenty in every power of 10. */
bool study_samples(int64_t t);

/* ---- sets and runs ---------------------------------------------------------------------------- */
/* Settings of "rows=5 snr=3", the caller's to free; false: it failed. */
bool study_settings(study *s, const char *options, mgv_settings **out);
/* A line of the page, as a user types it: "margrave WHAT --rows 5 --snr 3 --no-intercept". */
void study_remember(study *s, const char *what, const char *options);
typedef struct study_set {
    mgv_data *data, *test, *truth;
    int64_t rows, cols;
} study_set;
/* `options` are settings, "rows=5 snr=3"; they are remembered for the page. */
bool study_generate(study *s, study_set *set, const char *name, const char *options, bool test,
                    bool truth);
/* A file below the folder that MARGRAVE_DATA names, read under `options`. False without a complaint
 * where there is none. */
bool study_read(study *s, study_set *set, const char *file, const char *options);
void study_free_set(study *s, study_set *set);
/* Called with every iterate that study_samples(), or all of them where `every` is set. */
typedef void (*study_watch)(study *s, void *user, const mgv_iterate *at);
typedef struct study_run {
    const char *name, *options;
    study_watch watch;
    void *user;
    bool every;
    bool pair;        /* the model is to carry w and u */
    mgv_model *model; /* the caller's to free; NULL: none */
    mgv_run_info info;
    mgv_certificate certificate;
} study_run;
/* Runs `options` on the data; false: it failed. */
bool study_solve(study *s, mgv_data *data, study_run *run);
/* Error of a model on rows: 1 - accuracy, or the mean squared error. NaN: it could not be had. */
double study_error(study *s, const mgv_model *model, mgv_data *data);
/* The same of an iterate. */
double study_iterate_error(study *s, const mgv_iterate *at, mgv_data *data);
/* A column of a data set: what a truth is. The caller frees it. */
double *study_column(study *s, const mgv_data *data, int64_t count);

/* ---- items ------------------------------------------------------------------------------------ */
extern const study_item study_margin_items[], study_sparse_items[], study_mistake_items[],
    study_table_items[], study_completion_items[];
extern const study_item study_kernel_items[], study_network_items[];
#endif
