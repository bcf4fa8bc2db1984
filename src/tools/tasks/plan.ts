import { z } from "zod";
import { FileError } from "../../workspace/types";

/**
 * An agent's to-do list: its tasks in order, with dependencies. Pure. Throws `FileError` for
 * mistakes of the model.
 */

export const STATUSES = ["pending", "in_progress", "completed"] as const;

export const TaskSchema = z.object({
  id: z.string(),
  description: z.string(),
  status: z.enum(STATUSES),
  /** Ids of tasks that must be completed before this one. */
  depends_on: z.array(z.string()),
});
export type Task = z.infer<typeof TaskSchema>;
export const PlanSchema = z.object({ tasks: z.array(TaskSchema) });
export type Plan = z.infer<typeof PlanSchema>;

/**
 * A task that a model adds. A dependency is an id, or the index of a task in the same list, from 0.
 */
type NewTask = {
  id?: string | undefined;
  description: string;
  depends_on?: readonly (string | number)[] | undefined;
};

export const PLAN_LIMITS = { descriptionChars: 2_000, idChars: 64 };

/** A plan with these tasks, all pending. `most` is the maximum number of tasks. */
export function planOf(given: readonly NewTask[], most: number): Plan {
  const ids = given.map(({ id }, nth) => id ?? `task_${nth + 1}`);
  const tasks = given.map(({ description, depends_on = [] }, nth): Task => {
    const wanted = depends_on.map((one) =>
      typeof one === "number" ? (ids[one] ?? String(one)) : one,
    );
    return { id: ids[nth] ?? "", description, status: "pending", depends_on: [...new Set(wanted)] };
  });
  return checked({ tasks }, most);
}

/** Adds a task after `after`, or at the end. */
export function withTask(
  plan: Plan,
  task: NewTask & { after?: string | undefined },
  most: number,
): { plan: Plan; added: Task } {
  const added: Task = {
    id: task.id ?? freeId(plan),
    description: task.description,
    status: "pending",
    depends_on: [...new Set((task.depends_on ?? []).map(String))],
  };
  const at =
    task.after === undefined ? plan.tasks.length : plan.tasks.indexOf(taskOf(plan, task.after)) + 1;
  return { plan: checked({ tasks: plan.tasks.toSpliced(at, 0, added) }, most), added };
}

/**
 * Changes one task. A task can start or be completed only when all its dependencies are completed.
 */
export function withChange(
  plan: Plan,
  id: string,
  change: Partial<Pick<Task, "status" | "description">>,
): Plan {
  const task = taskOf(plan, id);
  const waits = blockersOf(plan, task);
  if (change.status !== undefined && change.status !== "pending" && waits.length > 0)
    throw new FileError(
      "task_blocked",
      `${id} waits for ${waits.join(", ")}: complete that first.`,
    );
  return { tasks: plan.tasks.map((one) => (one === task ? { ...one, ...change } : one)) };
}

/** Removes a task. Refused if another task depends on it. */
export function withoutTask(plan: Plan, id: string): Plan {
  const task = taskOf(plan, id);
  const dependents = plan.tasks
    .filter(({ depends_on }) => depends_on.includes(id))
    .map((one) => one.id);
  if (dependents.length > 0)
    throw new FileError(
      "task_needed",
      `${dependents.join(", ")} depends on ${id}, so it stays. Delete that first.`,
    );
  return { tasks: plan.tasks.filter((one) => one !== task) };
}

export const isReady = (plan: Plan, task: Task): boolean =>
  task.status === "pending" && blockersOf(plan, task).length === 0;

/** Ids of the dependencies that are not completed. */
export function blockersOf(plan: Plan, { depends_on }: Task): string[] {
  const completed = new Set(
    plan.tasks.filter(({ status }) => status === "completed").map(({ id }) => id),
  );
  return depends_on.filter((id) => !completed.has(id));
}

function taskOf({ tasks }: Plan, id: string): Task {
  const task = tasks.find((one) => one.id === id);
  if (task) return task;
  throw new FileError(
    "no_such_task",
    `There is no task ${id}. There are: ${tasks.map((one) => one.id).join(", ") || "none"}.`,
  );
}

function freeId({ tasks }: Plan): string {
  const ids = new Set(tasks.map(({ id }) => id));
  let number = tasks.length + 1;
  while (ids.has(`task_${number}`)) number++;
  return `task_${number}`;
}

function checked(plan: Plan, most: number): Plan {
  const { tasks } = plan;
  if (tasks.length > most)
    throw new FileError(
      "too_many_tasks",
      `A plan has at most ${most} tasks; this would have ${tasks.length}.`,
    );
  const ids = new Set(tasks.map(({ id }) => id));
  if (ids.size < tasks.length)
    throw new FileError("task_exists", "Two tasks have the same id: give each its own.");
  for (const { id, depends_on } of tasks) {
    const unknown = depends_on.find((one) => !ids.has(one));
    if (unknown !== undefined)
      throw new FileError(
        "no_such_task",
        `${id} depends on ${unknown}, and there is no such task.`,
      );
  }
  refuseCycles(tasks);
  return plan;
}

/**
 * Throws `FileError` if tasks depend on one another in a cycle. Repeatedly removes the tasks whose
 * dependencies were removed; tasks that cannot be removed form a cycle or depend on one.
 */
function refuseCycles(tasks: readonly Task[]): void {
  let remaining = tasks;
  for (;;) {
    const ids = new Set(remaining.map(({ id }) => id));
    const next = remaining.filter(({ depends_on }) => depends_on.some((one) => ids.has(one)));
    if (next.length === 0) return;
    if (next.length === remaining.length)
      throw new FileError(
        "task_circle",
        `These tasks wait for one another: ${remaining.map(({ id }) => id).join(", ")}.`,
      );
    remaining = next;
  }
}
