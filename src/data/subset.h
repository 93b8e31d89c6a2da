/* data/subset.h - some rows of a table as a table of its own. */
#ifndef MGVI_DATA_SUBSET_H
#define MGVI_DATA_SUBSET_H

#include "data/data.h"

/* Copies the listed rows of a matrix stored by rows (dense or CSR), with their labels; of a table
 * of kernel values (`square`) the columns of the same numbers only. Classes are the listed ones
 * (numbers of classes of `data`, increasing), names and factors of the columns are borrowed.
 * `weights` (one per row of `data`) takes the place of the data's own;
 * NULL: there are none. */
typedef struct mgvi_subset {
    const int64_t *rows;
    int64_t count;
    const int64_t *classes;
    int64_t class_count;
    const double *weights;
    bool square;
} mgvi_subset;
mgv_status mgvi_data_subset(mgv_ctx *ctx, const mgv_data *data, const mgvi_subset *subset,
                            mgv_data **out);
#endif
