/* Control flow: which conditions and earlier exits stand between the kernel's start and a statement, and whether groups of
 * threads that meet there decide all of them alike. */
#include "Verify/State.h"

#include <string.h>

void tf_control_push(tf_verifier *v, const tf_fact *fact, tf_loc loc) {
  tf_control *control = TF_ARENA_NEW(&v->context->arena, tf_control);
  *control = (tf_control){v->control, fact, NULL, loc};
  v->control = control;
}

tf_loop_exits *tf_control_push_loop(tf_verifier *v) {
  tf_loop_exits *loop = TF_ARENA_NEW(&v->context->arena, tf_loop_exits);
  tf_control *control = TF_ARENA_NEW(&v->context->arena, tf_control);
  loop->first = loop->last = v->exits;
  *control = (tf_control){v->control, NULL, loop, TF_NO_LOC};
  v->control = control;
  return loop;
}

void tf_control_pop_loop(tf_verifier *v, tf_loop_exits *loop) {
  loop->last = v->exits;
  tf_control_pop(v);
}

void tf_control_pop(tf_verifier *v) {
  v->control = v->control->outer;
}

void tf_control_leave(tf_verifier *v, bool abort, tf_loc loc) {
  tf_exit *exit = TF_ARENA_NEW(&v->context->arena, tf_exit);
  const tf_exit **list = abort ? &v->exits.aborts : &v->exits.returns;
  *exit = (tf_exit){*list, v->control, NULL, loc};
  if (!tf_threads_equal(&v->region.active, &v->entry_active))
    exit->gone = tf_arena_copy(&v->context->arena, &v->region.active, sizeof v->region.active);
  *list = exit;
}

/* ---- Meetings ------------------------------------------------------------------------------------------------------------- */

tf_site *tf_verifier_meet(tf_verifier *v, const char *what, unsigned group_count, const tf_thread_set *groups,
                          bool grid) {
  tf_site *site = TF_ARENA_NEW(&v->context->arena, tf_site);
  site->path = v->region.path;
  site->stmt = v->stmt;
  site->active = v->region.active;
  const tf_thread_set *copy = tf_arena_copy(&v->context->arena, groups, group_count * sizeof *groups);
  tf_meeting meeting = {site, what, v->stmt->loc, v->control, v->exits, grid, group_count, copy};
  TF_VEC_PUSH(&v->context->arena, &v->meetings, meeting);
  return site;
}

/* What keeps a group from coming together: a condition, or threads that are gone. */
typedef struct tf_obstacle {
  tf_loc loc;
  const char *why; /* what the threads differ in */
  bool gone;
} tf_obstacle;

static bool fact_is_fine(const tf_fact *fact, const tf_thread_set *group, bool grid, tf_loc loc,
                         tf_obstacle *obstacle) {
  const char *why = NULL;
  if (grid ? tf_fact_uniform_over_grid(fact, &why) : tf_fact_uniform(fact, group, &why)) return true;
  *obstacle = (tf_obstacle){loc, why, false};
  return false;
}

static bool conditions_are_fine(const tf_control *control, const tf_thread_set *group, bool grid,
                                tf_obstacle *obstacle) {
  for (; control; control = control->outer)
    if (control->fact && !fact_is_fine(control->fact, group, grid, control->loc, obstacle)) return false;
  return true;
}

/* Exits from `last` back to `first`: all of the group left there, or none did. */
static bool exits_are_fine(const tf_exit *last, const tf_exit *first, const tf_thread_set *group, bool grid,
                           tf_obstacle *obstacle) {
  for (; last && last != first; last = last->before) {
    bool some = last->gone && tf_threads_intersect(last->gone, group);
    if (some && (grid || !tf_threads_subset(group, last->gone))) {
      *obstacle = (tf_obstacle){last->loc, NULL, true};
      return false;
    }
    if (!conditions_are_fine(last->control, group, grid, obstacle)) return false;
  }
  return true;
}

static bool group_is_fine(const tf_meeting *meeting, const tf_thread_set *group, bool grid, tf_obstacle *obstacle) {
  for (const tf_control *c = meeting->control; c; c = c->outer) {
    if (c->fact && !fact_is_fine(c->fact, group, grid, c->loc, obstacle)) return false;
    if (c->loop && !exits_are_fine(c->loop->last.returns, c->loop->first.returns, group, grid, obstacle)) return false;
    if (c->loop && !exits_are_fine(c->loop->last.aborts, c->loop->first.aborts, group, grid, obstacle)) return false;
  }
  return exits_are_fine(meeting->exits.returns, NULL, group, grid, obstacle) &&
         exits_are_fine(meeting->exits.aborts, NULL, group, grid, obstacle);
}

static void report_obstacle(tf_verifier *v, const tf_meeting *meeting, const tf_thread_set *group,
                            const tf_obstacle *obstacle) {
  long long first = tf_threads_next(group, 0), count = tf_threads_count(group);
  if (!tf_verifier_first(v, TF_DIAG_SYNC_NOT_UNIFORM, meeting->site->stmt)) return;
  const char *who = meeting->grid
                        ? "the CTAs of the grid"
                        : tf_arena_printf(&v->context->arena, "its %lld participants (from thread %lld)", count, first);
  tf_report(v->context, meeting->loc, SYNC_NOT_UNIFORM, meeting->what, who);
  if (obstacle->gone)
    tf_report(v->context, obstacle->loc, SYNC_LEFT_HERE);
  else
    tf_report(v->context, obstacle->loc, SYNC_DECIDED_HERE, obstacle->why ? obstacle->why : "a value");
}

static void judge_meeting(tf_verifier *v, const tf_meeting *meeting) {
  tf_obstacle obstacle = {TF_NO_LOC, NULL, false};
  if (meeting->grid && !group_is_fine(meeting, &meeting->site->active, true, &obstacle)) {
    report_obstacle(v, meeting, &meeting->site->active, &obstacle);
    return;
  }
  for (unsigned i = 0; i < meeting->group_count; i++)
    if (!group_is_fine(meeting, &meeting->groups[i], false, &obstacle)) {
      report_obstacle(v, meeting, &meeting->groups[i], &obstacle);
      return;
    }
  tf_thread_set block = tf_threads_interval(0, v->geometry.block);
  meeting->site->block_uniform =
      tf_threads_equal(&block, &meeting->site->active) && group_is_fine(meeting, &block, false, &obstacle);
}

void tf_verifier_judge(tf_verifier *v) {
  for (size_t i = 0; i < v->meetings.count; i++)
    judge_meeting(v, &v->meetings.items[i]);
}
