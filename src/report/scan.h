/* report/scan.h - what one pass over the entries tells the data doctor. */
#ifndef MGVI_REPORT_SCAN_H
#define MGVI_REPORT_SCAN_H

#include "base/memory.h"
#include "data/data.h"

/* Of the entries of a column that are not zero, stored or not. */
typedef struct mgvi_scan_column {
    int64_t count;
    double least, most;
} mgvi_scan_column;

/* Of a row: the hash does not depend on the layout nor on stored zeros. */
typedef struct mgvi_scan_row {
    uint64_t hash;
    int64_t count;
} mgvi_scan_row;

typedef struct mgvi_scan {
    mgvi_scan_column *column;
    mgvi_scan_row *row;
    int64_t entries; /* that are not zero */
    int64_t empty_rows;
    /* Rows without content are left out of these: */
    int64_t repeated_rows;  /* rows equal to an earlier one */
    int64_t contradictions; /* groups of equal rows whose labels differ */
    int64_t label_runs;     /* stretches of rows with the same label */
    bool labels_rise, labels_fall;
} mgvi_scan;

/* Uses the arena for two arrays. Equal rows are found by a 64-bit hash. */
mgv_status mgvi_scan_data(mgvi_arena *arena, const mgv_data *data, mgvi_scan *out);
#endif
