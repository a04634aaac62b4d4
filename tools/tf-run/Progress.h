/* A line on the terminal for work that takes longer than a second: "what … 12 s", rewritten every second. Nothing is
 * shown where stderr is no terminal. */
#ifndef TF_RUN_PROGRESS_H
#define TF_RUN_PROGRESS_H

typedef struct tf_run_progress tf_run_progress;

/* `what` must stay valid until stop. Null if there is no terminal (or no memory): fine for the other functions. */
tf_run_progress *tf_run_progress_start(const char *what);
/* Done out of total, shown in the line from now on. */
void tf_run_progress_step(tf_run_progress *progress, unsigned done, unsigned total);
/* Removes the line. */
void tf_run_progress_stop(tf_run_progress *progress);

#endif
