/* simd/tile.h - one kernel of gemm_kernels.h: TILE(x) names it, IN is the type of the data, OUT of
 * the result, VEC a vector of LANES data with the vocabulary V(zero), V(set), V(load), V(fma);
 * MERGE(alpha, sum, beta, c) updates LANES results. Included once per kernel, hence no guard. */

INLINE void TILE(of_vecs)(const int vecs, int64_t depth, const IN *a, int64_t a_step, const IN *b,
                          int64_t b_step, OUT alpha, OUT beta, OUT *c, int64_t ldc, int rows,
                          int cols)
{
    VEC sum[TILE_ROWS][TILE_VECS];
    for (int i = 0; i < rows; i++) /* the sums take longer than the way to memory */
        for (int j = 0; j < cols; j += 64 / (int)sizeof *c)
            __builtin_prefetch(c + i * ldc + j, 1);
    for (int i = 0; i < TILE_ROWS; i++)
        for (int v = 0; v < vecs; v++)
            sum[i][v] = V(zero)();
    for (int64_t p = 0; p < depth; p++, a += a_step, b += b_step) {
        VEC row[TILE_VECS];
        for (int v = 0; v < vecs; v++)
            row[v] = V(load)(b + v * LANES);
        for (int i = 0; i < TILE_ROWS; i++) {
            const VEC ai = V(set)(a[i]);
            for (int v = 0; v < vecs; v++)
                sum[i][v] = V(fma)(ai, row[v], sum[i][v]);
        }
    }
    if (rows == TILE_ROWS && cols == vecs * LANES) {
        for (int i = 0; i < TILE_ROWS; i++)
            for (int v = 0; v < vecs; v++)
                MERGE(alpha, sum[i][v], beta, c + i * ldc + v * LANES);
        return;
    }
    IN spilled[TILE_ROWS][TILE_VECS * LANES]; /* at the edge of the result */
    for (int i = 0; i < TILE_ROWS; i++)
        for (int v = 0; v < vecs; v++)
            V(store)(&spilled[i][v * LANES], sum[i][v]);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const OUT s = alpha * (OUT)spilled[i][j];
            c[i * ldc + j] = beta == 0 ? s : s + beta * c[i * ldc + j];
        }
}

static void TILE(kernel)(int64_t depth, const IN *a, int64_t a_step, const IN *b, int64_t b_step,
                         int vecs, OUT alpha, OUT beta, OUT *c, int64_t ldc, int rows, int cols)
{
#define OF_VECS(n) TILE(of_vecs)(n, depth, a, a_step, b, b_step, alpha, beta, c, ldc, rows, cols)
    if (vecs == TILE_VECS)
        OF_VECS(TILE_VECS);
    else if (vecs == 1)
        OF_VECS(1);
    else if (vecs == 2)
        OF_VECS(2);
    else if (TILE_VECS == 4)
        OF_VECS(TILE_VECS == 4 ? 3 : 1);
#undef OF_VECS
}
