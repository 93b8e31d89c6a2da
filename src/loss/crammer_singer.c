/* crammer_singer.c - G(z) = max_j (z_j + [j != c]) - z_c: the worst class must lie 1 below the
 * row's own.   G*(p - e_c) = -(1 - p_c) on the simplex. */
#include "loss/registry.h"

/* The class that comes nearest, the first of equal ones. */
static int32_t rival(const double *z, int32_t k, int32_t c)
{
    int32_t best = c;
    double most = z[c];
    for (int32_t j = 0; j < k; j++)
        if (j != c && z[j] + 1 > most) {
            most = z[j] + 1;
            best = j;
        }
    return best;
}

static double crammer_singer_value(double s, const double *z, int32_t k, int32_t c)
{
    const int32_t j = rival(z, k, c);
    return j == c ? 0 : s * (z[j] + 1 - z[c]);
}

static void crammer_singer_grad(double s, const double *z, int32_t k, int32_t c, double *u)
{
    const int32_t worst = rival(z, k, c);
    for (int32_t j = 0; j < k; j++)
        u[j] = s * ((j == worst) - (j == c));
}

static double crammer_singer_conj(double s, const double *u, int32_t k, int32_t c)
{
    (void)k;
    (void)s;
    return u[c]; /* s (p_c - 1) */
}

static const mgvi_joint_ops joint = {
    .value = crammer_singer_value, .grad = crammer_singer_grad, .conj = crammer_singer_conj};
const mgvi_loss_ops mgvi_loss_crammer_singer = {
    .name = "crammer_singer",
    .summary = "many classes at once: max_j (z_j + [j != c]) - z_c",
    .can = MGVI_VALUE | MGVI_GRAD | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_JOINT,
    .joint = &joint,
};
