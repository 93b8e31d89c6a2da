/* csc.c - compressed sparse columns: the CSR of the transpose, with the two products exchanged. */
#include "op/stored.h"

const mgvi_op_ops mgvi_operator_csc = {
    .name = "csc",
    .summary = "a sparse matrix stored by columns",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW,
    .mul = mgvi_stored_mul,
    .mul_t = mgvi_stored_mul_t,
    .free = mgvi_stored_free,
};
