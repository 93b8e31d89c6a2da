/* joint.c - what the losses of many classes share. */
#include "loss/joint.h"

void mgvi_joint_clip(double s, double *u, int32_t k, int32_t c)
{
    double sum = 0;
    for (int32_t j = 0; j < k; j++) {
        u[j] = r_max(r_ratio(u[j], s) + (j == c), 0);
        sum += u[j];
    }
    for (int32_t j = 0; j < k; j++) {
        const double p = sum > 0 && isfinite(sum) ? u[j] / sum : j == c;
        u[j] = s * (p - (j == c));
    }
}
