# An ESP32-S3 with 8 MB of flash, Engram frozen:  make BOARD_DIR=.../boards/ESP32_GENERIC_S3  in MicroPython's ports/esp32
include(${CMAKE_CURRENT_SOURCE_DIR}/boards/ESP32_GENERIC_S3/mpconfigboard.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../frozen.cmake)
