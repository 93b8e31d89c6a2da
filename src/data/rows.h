/* data/rows.h - which rows of a table stay, and labels that are flipped on purpose. */
#ifndef MGVI_DATA_ROWS_H
#define MGVI_DATA_ROWS_H

#include "data/data.h"

/* Rows of the classes named in `list` ("3,5") stay, the others go: within the table's own memory,
 * of a mapped file into a copy of what stays. Numbers name a class by their value, however spelled.
 * data->kept says which rows they were. MGV_E_ARG names a class that is not there. */
mgv_status mgvi_data_keep_classes(mgv_ctx *ctx, mgv_data *data, const char *list);

/* round(share x rows) rows, chosen by `seed` alone, get the label of another class, of more than
 * two one at random. MGV_E_ARG: there are no classes. Nothing for a share of 0. */
mgv_status mgvi_data_flip_labels(mgv_ctx *ctx, mgv_data *data, double share, uint64_t seed);
#endif
