// The functions of librsvg 2.52 and of cairo that are used. Their own headers need compiler flags that SwiftPM refuses.

#pragma once

typedef struct RsvgHandle RsvgHandle;
typedef struct cairo cairo_t;
typedef struct cairo_surface cairo_surface_t;
typedef struct {
    double length;
    int unit;
} RsvgLength;
typedef struct {
    double x, y, width, height;
} RsvgRectangle;

enum { CAIRO_STATUS_SUCCESS = 0, CAIRO_FORMAT_ARGB32 = 0 };

RsvgHandle *rsvg_handle_new_from_data(const unsigned char *data, unsigned long length, void *error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dots_per_inch);
int rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
void rsvg_handle_get_intrinsic_dimensions(
    RsvgHandle *handle, int *has_width, RsvgLength *width, int *has_height, RsvgLength *height, int *has_box,
    RsvgRectangle *box);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *context, const RsvgRectangle *viewport, void *error);

cairo_surface_t *cairo_image_surface_create(int format, int width, int height);
cairo_t *cairo_create(cairo_surface_t *surface);
void cairo_scale(cairo_t *context, double x, double y);
void cairo_surface_flush(cairo_surface_t *surface);
int cairo_status(cairo_t *context);
unsigned char *cairo_image_surface_get_data(cairo_surface_t *surface);
int cairo_image_surface_get_stride(cairo_surface_t *surface);
