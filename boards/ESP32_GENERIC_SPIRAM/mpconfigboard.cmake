# An ESP32 with PSRAM (WROVER) and 4 MB of flash, Engram frozen:
# make BOARD_DIR=.../boards/ESP32_GENERIC_SPIRAM  in MicroPython's ports/esp32
include(${CMAKE_CURRENT_SOURCE_DIR}/boards/ESP32_GENERIC/mpconfigboard.cmake)
include(${CMAKE_CURRENT_SOURCE_DIR}/boards/ESP32_GENERIC/mpconfigvariant_SPIRAM.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../frozen.cmake)
