/* A batch, a queue and a task may stand in a comment. */
#ifndef TOY_HEADER_SYNONYM_H_
#define TOY_HEADER_SYNONYM_H_

static const int BatchSizeMax = 1;
static const int DryRunMax = 1;

#endif
