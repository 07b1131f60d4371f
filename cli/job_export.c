#include "cli/jobs.h"
#include "cli/messages.h"
int job_validate(const struct options *o) { (void)o; return CANNOT; }
int job_export(const struct options *o) { (void)o; return CANNOT; }
