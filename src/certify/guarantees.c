/* guarantees.c - bounds as formulas. */
#include "certify/guarantees.h"

#include <math.h>

mgvi_start_distance mgvi_margin_start(double margin, double most)
{
    const double sum = 1 / (margin * margin);
    return (mgvi_start_distance){.gap = sum / 2, .square = most * sum * sum};
}

double mgvi_most_mistakes(double margin, double most) { return most / (margin * margin); }

double mgvi_distance_of_gap(double gap, double strength)
{
    return sqrt(2 * fmax(gap, 0) / strength);
}

double mgvi_gap_after(double n, double t, const mgvi_start_distance *at)
{
    return n / (n + t) * (at->square / 2 + at->gap);
}

double mgvi_gap_after_accelerated(double n, double t, const mgvi_start_distance *at)
{
    const double rate = 2 * n / (2 * n + t - 1);
    return rate * rate * ((1 - 1 / n) * at->gap + at->square / 2);
}

double mgvi_steps_without_mistakes(double n, double radius, double strength,
                                   const mgvi_start_distance *at)
{
    const double first = mgvi_gap_after_accelerated(n, 1, at); /* rate 1 */
    const double rate = sqrt(strength / (2 * first)) / radius; /* the rate that is needed */
    return rate >= 1 ? 1 : ceil(2 * n / rate - 2 * n + 1);
}

double mgvi_share_of_mistakes(double norm, double radius, double strength, double t)
{
    return norm * radius / sqrt(strength * t);
}

double mgvi_steps_of_share(double norm, double radius, double strength, double share)
{
    const double root = norm * radius / share;
    return root * root / strength;
}
