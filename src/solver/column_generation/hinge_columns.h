/* column_generation/hinge_columns.h - the columns of a problem that the interior point works on, W, over the
 * rows with weight: dense, n apart, or as a sparse block; without l1 the matrix G = A A' of all of
 * them takes their place; docs/algorithms/column_generation.md (12), (14). */
#ifndef MGVI_SOLVER_HINGE_COLUMNS_H
#define MGVI_SOLVER_HINGE_COLUMNS_H

#include "op/columns.h"
#include "solver/column_generation/hinge_interior.h"
#include "solver/column_generation/hinge_rows.h"
#include "solver/shared/ranking.h"

typedef struct mgvi_hinge_columns {
    int64_t n, d;         /* rows with weight, penalised columns */
    const int32_t *row;   /* which rows they are */
    int64_t all_rows;     /* with those without weight */
    mgvi_gather *columns; /* NULL: W is kept sparse, from `table` */
    mgvi_rows *table;
    mgvi_arena *of_sparse; /* what is kept of a sparse W, made anew when it grows */
    double *scratch;       /* some columns over all rows */
    double *gram;          /* n x n, NULL: penalties with l1; and in `part` a second one */
    /* W */
    int32_t *col;
    bool *in; /* d */
    int64_t size, capacity;
    double *Z, *part; /* over the n rows (dense), and their weights */
    mgvi_hinge_interior *interior;
} mgvi_hinge_columns;

/* Binds the columns of the run's problem over `rows`; W is empty. `square`: for G. */
mgv_status mgvi_hinge_columns_bind(mgvi_run *run, const mgvi_hinge_rows *rows, bool square,
                                   mgvi_hinge_columns *W);
/* (12) */
mgv_status mgvi_hinge_columns_gram(mgvi_run *run, mgvi_hinge_columns *W);
/* Columns join W. */
mgv_status mgvi_hinge_columns_join(mgvi_run *run, mgvi_hinge_columns *W, const mgvi_ranked *joining,
                                   int64_t count);
/* The block of the present W and what the interior point needs for it, where W is sparse. */
mgv_status mgvi_hinge_columns_pack(mgvi_run *run, mgvi_hinge_columns *W,
                                   const mgvi_hinge_sparse **out);
/* The dense columns, or their products, as a block has them. */
void mgvi_hinge_columns_outline(const mgvi_hinge_columns *columns, mgvi_hinge_block *block);
#endif
