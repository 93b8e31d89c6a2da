/* loopback.h - a backend of two ranks whose memory nobody can read: addresses of its vectors fault,
 * the doors give copies that are gone with the next change, and sums of one rank's rows are wrong
 * until they are joined with the other's. What is clean of host memory gives on it what it gives on
 * the cpu, up to the order of sums. */
#ifndef MGV_TESTS_LOOPBACK_H
#define MGV_TESTS_LOOPBACK_H

#include "backend/backend.h"

extern const mgvi_backend mgv_loopback;

/* How many sums of rows were joined so far. */
int64_t mgv_loopback_joins(void);
#endif
