// The declarations that the files with vector instructions share.
#ifndef CRESAMPLING_VECTOR_H
#define CRESAMPLING_VECTOR_H

// Twice as wide as the baseline of this architecture.
#define WIDE __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline))

// Whether the processor has AVX2; checked once, when the library is loaded.
__attribute__((visibility("hidden"))) extern int cresampling_has_avx2;

#endif
