#ifndef TOY_H_
#define TOY_H_
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
/* Words of comments do not count: enum, bool, long. */
int32_t toy_run(const uint8_t *data, size_t size);
#ifdef __cplusplus
}
#endif
#endif
