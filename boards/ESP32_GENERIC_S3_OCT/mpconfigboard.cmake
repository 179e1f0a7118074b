# An ESP32-S3 with 16 MB of flash and octal PSRAM (N16R8), Engram frozen:
# make BOARD_DIR=.../boards/ESP32_GENERIC_S3_OCT  in MicroPython's ports/esp32
include(${CMAKE_CURRENT_SOURCE_DIR}/boards/ESP32_GENERIC_S3/mpconfigboard.cmake)
include(${CMAKE_CURRENT_SOURCE_DIR}/boards/ESP32_GENERIC_S3/mpconfigvariant_SPIRAM_OCT.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../frozen.cmake)
