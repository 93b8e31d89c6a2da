/* joint.c - what the losses of many classes share. */
#include "loss/joint.h"

/* u_c/s = p_c - 1 is told apart from -1 + p_c, whose digits are those of 1: of rows that are nearly
 * certain the others' shares are all there is. */
void mgvi_joint_clip(double s, double *u, int32_t k, int32_t c)
{
    const double own = r_ratio(u[c], s);
    double others = 0;
    for (int32_t j = 0; j < k; j++) {
        u[j] = j == c ? 0 : r_max(r_ratio(u[j], s), 0);
        others += u[j];
    }
    const double sum = own > -1 ? 1 + (own + others) : others;
    const bool whole = sum > 0 && isfinite(sum);
    for (int32_t j = 0; j < k; j++) {
        const double share = j == c ? -others : u[j];
        u[j] = whole ? s * (share / sum) : 0;
    }
}
