# A plain ESP32 with 4 MB of flash, Engram frozen:  make BOARD_DIR=.../boards/ESP32_GENERIC  in MicroPython's ports/esp32
include(${CMAKE_CURRENT_SOURCE_DIR}/boards/ESP32_GENERIC/mpconfigboard.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../frozen.cmake)
