#ifndef MICROPY_HW_BOARD_NAME
// The variant with PSRAM has set its own.
#define MICROPY_HW_BOARD_NAME               "Engram on a generic ESP32 module"
#endif
#define MICROPY_HW_MCU_NAME                 "ESP32"
