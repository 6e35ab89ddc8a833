// The clock, which many tests of this module use.
@_exported import AsyncWebImageTesting
