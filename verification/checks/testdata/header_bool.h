#ifndef TOY_H_
#define TOY_H_
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
/* Words of comments do not count: enum, bool, long. */
bool toy_run(const uint8_t *data, size_t size);
#ifdef __cplusplus
}
#endif
#endif
