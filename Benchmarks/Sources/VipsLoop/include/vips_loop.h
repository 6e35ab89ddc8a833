#ifndef VIPS_LOOP_H
#define VIPS_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/// Loads libvips, which works with `threads` threads, or as many as it chooses if that is 0.
///
/// It is loaded by its name, so that the benchmarks need neither its headers nor its development package. Operations
/// are not cached. Returns false if it is not installed.
bool vips_loop_open(uint32_t threads);

/// Blurs an image of `bands` bytes for each pixel, with the default precision; `output` has the same size.
///
/// Returns false if libvips fails.
bool vips_loop_blur(
    const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t bands, double sigma, uint8_t *output);

/// Cuts the square of `side` pixels out of the middle of an RGB image, blurs it, and adds `mask`, a square of alpha
/// values; `output` is RGBA.
///
/// With `masks_first`, the mask is added before the blur, which then applies to premultiplied colors and to alpha.
/// Returns false if libvips fails.
bool vips_loop_avatar(
    const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t side, double sigma, const uint8_t *mask,
    bool masks_first, uint8_t *output);

#endif
