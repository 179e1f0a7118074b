# What the frozen builds of all boards share. To be included by a board's mpconfigboard.cmake after the official board
# that it stands on, which has filled SDKCONFIG_DEFAULTS.

# The configuration takes paths below MicroPython's own folder only, or whole ones: so it is written here.
file(WRITE ${CMAKE_BINARY_DIR}/sdkconfig.engram
    "CONFIG_PARTITION_TABLE_CUSTOM=y\n"
    "CONFIG_PARTITION_TABLE_CUSTOM_FILENAME=\"${MICROPY_BOARD_DIR}/partitions.csv\"\n"
)

list(APPEND SDKCONFIG_DEFAULTS
    ${MICROPY_BOARD_DIR}/sdkconfig.board
    ${CMAKE_BINARY_DIR}/sdkconfig.engram
)

set(MICROPY_FROZEN_MANIFEST ${MICROPY_BOARD_DIR}/manifest.py)
