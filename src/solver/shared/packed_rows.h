/* shared/packed_rows.h - some rows of the data, copied with their scale and signs, and the transpose
 * of the copy, so that both products of A_E A_E' are gathers on all threads. Columns that none of
 * the rows has are left out; a centred view costs a correction of rank one. Vectors have `lanes`
 * columns, interleaved (backend/vec.h). */
#ifndef MGVI_SOLVER_PACKED_ROWS_H
#define MGVI_SOLVER_PACKED_ROWS_H

#include "op/rows.h"

typedef struct mgvi_packed_rows {
    const mgvi_rows *rows;
    int32_t lanes;
    int64_t count;
    int32_t *member;         /* the rows, as those of `rows` */
    mgvi_matrix by_row;      /* row k is y p s x of row member[k], its columns renumbered */
    mgvi_matrix by_column;   /* its transpose, by rows */
    double *pull;            /* per row: y p, what the centre is multiplied by */
    double *centre;          /* per packed column: c s */
    double centre_beyond;    /* sum of (c s)^2 over the other columns */
    double *v;               /* packed columns x lanes */
    double *sums, *products; /* lanes: of pull x, and of the centre with v */
    double touched;          /* stored entries read since it was made */
    int64_t *column;         /* of every packed column, its own number */
} mgvi_packed_rows;

enum { MGVI_PACKED_BYTES_A_ROW = 20, MGVI_PACKED_BYTES_AN_ENTRY = 24 };

/* Copies the rows member[0 .. count - 1]; memory, and that of the list too, is the arena's. */
mgv_status mgvi_packed_rows_new(mgvi_arena *arena, const mgvi_rows *rows, int32_t *member,
                                int64_t count, int32_t lanes, mgvi_packed_rows *out);
/* y = A_E A_E' x without the intercept's column; both count x lanes. */
void mgvi_packed_rows_square(mgvi_packed_rows *p, const double *x, double *y);
#endif
