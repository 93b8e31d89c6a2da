/* op/two_product.h - X W and X'U in twofold numbers, hi + lo with their errors fed back (Ogita, Rump,
 * Oishi: Accurate sum and dot product, 2005): off by u |sum| + (2 m u)^2 sum |terms|. Plain loops
 * where no vectors serve (simd/twofold.h). */
#ifndef MGVI_OP_TWO_PRODUCT_H
#define MGVI_OP_TWO_PRODUCT_H

#include "op/matrix.h"

typedef struct mgvi_two_product {
    mgv_ctx *ctx;
    mgvi_matrix m; /* stored by lines: rows, or columns where the matrix is stored by columns */
    bool by_columns;
    int32_t k;
    int64_t blocks, numbers;
    const double *factor; /* W or U, k numbers side by side */
    double *hi, *lo;      /* the sums, k numbers side by side; others beyond them */
} mgvi_two_product;

/* Without factor, hi and lo. */
mgvi_two_product mgvi_two_product_over(mgv_ctx *ctx, const mgvi_matrix *X, int32_t k);
/* The numbers that hi and lo must hold for either product. */
int64_t mgvi_two_product_room(const mgvi_two_product *product);
void mgvi_two_product_mul(mgvi_two_product *product);
void mgvi_two_product_mul_t(mgvi_two_product *product);
#endif
