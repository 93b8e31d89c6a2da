/* softmax.c - G(z) = log(sum_j e^(z_j)) - z_c,   G*(p - e_c) = sum_j p_j log p_j on the simplex. */
#include "loss/registry.h"
#include "simd/pass_kernels.h"

static double largest(const double *z, int32_t k)
{
    double most = z[0];
    for (int32_t j = 1; j < k; j++)
        most = r_max(most, z[j]);
    return most;
}

/* The largest score counts 1: what it is beside all others keeps its digits when they are small. */
static double softmax_value(double s, const double *z, int32_t k, int32_t c)
{
    const double most = largest(z, k);
    double others = -1;
    if (z[c] == most) {
        others = 0;
        for (int32_t j = 0; j < k; j++)
            others += j == c ? 0 : exp(z[j] - most);
        return s * log1p(others);
    }
    for (int32_t j = 0; j < k; j++)
        others += exp(z[j] - most);
    return s * (log1p(others) + (most - z[c]));
}

static void softmax_grad(double s, const double *z, int32_t k, int32_t c, double *u)
{
    const double most = largest(z, k);
    double sum = 0;
    for (int32_t j = 0; j < k; j++)
        sum += u[j] = exp(z[j] - most);
    double others = 0; /* p_c - 1 keeps its digits where it is small */
    for (int32_t j = 0; j < k; j++)
        others += j == c ? 0 : u[j];
    for (int32_t j = 0; j < k; j++)
        u[j] = s * ((j == c ? -others : u[j]) / sum);
}

static double softmax_conj(double s, const double *u, int32_t k, int32_t c)
{
    double sum = 0;
    for (int32_t j = 0; j < k; j++) {
        const double part = r_ratio(u[j], s), p = part + (j == c);
        sum += p > 0 ? p * (j == c ? log1p(part) : log(p)) : 0;
    }
    return s * sum;
}

static double softmax_rows(const mgvi_pass_kernels *kernels, float *z, int rows, int32_t k,
                           int width, const int32_t *c, const float *s)
{
    (void)k;
    return kernels->softmax(z, rows, width, c, s);
}

static const mgvi_joint_ops joint = {softmax_value, softmax_grad, softmax_conj, softmax_rows};
const mgvi_loss_ops mgvi_loss_softmax = {
    .name = "softmax",
    .summary = "many classes at once: log(sum_j e^z_j) - z_c",
    .can = MGVI_VALUE | MGVI_GRAD | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_SMOOTH | MGVI_JOINT |
           MGVI_LIKELIHOOD,
    .joint = &joint,
};
