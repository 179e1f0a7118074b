#ifndef MICROPY_HW_BOARD_NAME
// The variant with octal PSRAM has set its own.
#define MICROPY_HW_BOARD_NAME               "Engram on a generic ESP32S3 module"
#endif
#define MICROPY_HW_MCU_NAME                 "ESP32-S3"

// The prompt is on the UART too, for modules that have a USB-UART beside the chip's own USB.
#define MICROPY_HW_ENABLE_UART_REPL         (1)
