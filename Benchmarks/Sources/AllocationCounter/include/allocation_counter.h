#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// Starts to count the allocations of the process.
void allocation_counter_start(void);

/// Returns the number of allocations by all threads since the first call of `allocation_counter_start`; 0 before.
uint64_t allocation_counter_count(void);

#endif
