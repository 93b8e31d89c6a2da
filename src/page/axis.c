/* axis.c - where values lie on an axis, and which of them are named. */
#include "page/page.h"

#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WISHED = 6 }; /* ticks */

double mgvi_axis_place(const mgvi_axis *a, double value)
{
    const double v = a->log ? (value > 0 ? log10(value) : NAN) : value;
    return isfinite(v) ? (v - a->from) / (a->to - a->from) : NAN;
}

static void add(mgvi_axis *a, double value)
{
    const double place = mgvi_axis_place(a, value);
    if (a->ticks < MGVI_TICKS_MOST && place >= -1e-9 && place <= 1 + 1e-9)
        a->tick[a->ticks++] = value;
}

/* Powers of 10, or within two decades also 2 and 5 times them. */
static void tick_decades(mgvi_axis *a)
{
    const double span = a->to - a->from;
    const int step = (int)ceil(span / WISHED), few = span < 1.7;
    const int first = (int)floor(a->from), last = (int)ceil(a->to);
    for (int e = first; e <= last; e++) {
        if (((e % step) + step) % step)
            continue;
        add(a, pow(10, e));
        if (few) {
            add(a, 2 * pow(10, e));
            add(a, 5 * pow(10, e));
        }
    }
}

/* Multiples of 1, 2 or 5 times a power of 10. */
static void tick_evenly(mgvi_axis *a, double low, double high)
{
    const double rough = (high - low) / WISHED, power = pow(10, floor(log10(rough)));
    const double step = power * (rough > 5 * power   ? 10
                                 : rough > 2 * power ? 5
                                 : rough > power     ? 2
                                                     : 1);
    a->ticks = 0;
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
        add(a, k * step);
}

mgvi_axis mgvi_axis_over(bool log, double low, double high)
{
    mgvi_axis a = {.log = log};
    a.from = log ? log10(low) : low;
    a.to = log ? log10(high) : high;
    if (!(a.to > a.from)) { /* one value: some room around it */
        const double room = log ? 0.5 : a.from != 0 ? 0.1 * fabs(a.from) : 1;
        a.from -= room;
        a.to += room;
    }
    if (log)
        tick_decades(&a);
    if (a.ticks < 2) /* none yet, or a range too narrow for decades */
        tick_evenly(&a, log ? pow(10, a.from) : a.from, log ? pow(10, a.to) : a.to);
    return a;
}

void mgvi_axis_text(const mgvi_axis *a, int tick, char *text, size_t capacity)
{
    const double v = a->tick[tick], e = a->log ? log10(v) : 0;
    if (a->log && fabs(e - round(e)) < 1e-9 && fabs(e) > 3)
        snprintf(text, capacity, "10<tspan dy=\"-5\" font-size=\"9\">%d</tspan>", (int)round(e));
    else
        mgvi_print(text, capacity, "%.9g", fabs(v) < 1e-12 * (a->to - a->from) && !a->log ? 0 : v);
}
