#define MICROPY_HW_BOARD_NAME               "Engram on a generic ESP32 module"
#define MICROPY_HW_MCU_NAME                 "ESP32"
