import * as z from "zod";
import { FileError } from "../../workspace/types";

/**
 * The to-do list (plan) of an agent: tasks in an order, with dependencies. The functions are pure.
 * They throw `FileError` for mistakes of the model.
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
 * A task that a model adds. A dependency is the id of a task, or its index in the same list, from
 * 0.
 */
type NewTask = {
  id?: string | undefined;
  description: string;
  depends_on?: readonly (string | number)[] | undefined;
};

export const PLAN_LIMITS = { descriptionChars: 2_000, idChars: 64 };

/** A plan with these tasks, all pending. `maxTasks` is the limit of a plan. */
export function planOf(newTasks: readonly NewTask[], maxTasks: number): Plan {
  const ids = newTasks.map(({ id }, index) => id ?? `task_${index + 1}`);
  const tasks = newTasks.map(({ description, depends_on = [] }, index): Task => {
    const dependencies = depends_on.map((dependency) =>
      typeof dependency === "number" ? (ids[dependency] ?? String(dependency)) : dependency,
    );
    return {
      id: ids[index] ?? "",
      description,
      status: "pending",
      depends_on: [...new Set(dependencies)],
    };
  });
  return checkPlan({ tasks }, maxTasks);
}

/** Adds a task after the task with the id `after`, or at the end if `after` is omitted. */
export function withTask(
  plan: Plan,
  task: NewTask & { after?: string | undefined },
  maxTasks: number,
): { plan: Plan; added: Task } {
  const added: Task = {
    id: task.id ?? unusedId(plan),
    description: task.description,
    status: "pending",
    depends_on: [...new Set((task.depends_on ?? []).map(String))],
  };
  const at =
    task.after === undefined ? plan.tasks.length : plan.tasks.indexOf(taskOf(plan, task.after)) + 1;
  return { plan: checkPlan({ tasks: plan.tasks.toSpliced(at, 0, added) }, maxTasks), added };
}

/**
 * Changes one task. Throws if the task would start or be completed before all its dependencies are
 * completed.
 */
export function withChange(
  plan: Plan,
  id: string,
  change: Partial<Pick<Task, "status" | "description">>,
): Plan {
  const task = taskOf(plan, id);
  const blockers = blockersOf(plan, task);
  if (change.status !== undefined && change.status !== "pending" && blockers.length > 0)
    throw new FileError(
      "task_blocked",
      `${id} waits for ${blockers.join(", ")}: complete that first.`,
    );
  return { tasks: plan.tasks.map((other) => (other === task ? { ...task, ...change } : other)) };
}

/** Removes a task. Throws if another task depends on the task. */
export function withoutTask(plan: Plan, id: string): Plan {
  const task = taskOf(plan, id);
  const dependents = plan.tasks
    .filter(({ depends_on }) => depends_on.includes(id))
    .map((dependent) => dependent.id);
  if (dependents.length > 0)
    throw new FileError(
      "task_needed",
      `${dependents.join(", ")} depends on ${id}, so it stays. Delete that first.`,
    );
  return { tasks: plan.tasks.filter((other) => other !== task) };
}

/** Whether a pending task can start: all its dependencies are completed. */
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
  const task = tasks.find((candidate) => candidate.id === id);
  if (task) return task;
  throw new FileError(
    "no_such_task",
    `There is no task ${id}. There are: ${tasks.map((candidate) => candidate.id).join(", ") || "none"}.`,
  );
}

function unusedId({ tasks }: Plan): string {
  const ids = new Set(tasks.map(({ id }) => id));
  let number = tasks.length + 1;
  while (ids.has(`task_${number}`)) number++;
  return `task_${number}`;
}

/** Returns the plan if it is valid; otherwise throws `FileError`. */
function checkPlan(plan: Plan, maxTasks: number): Plan {
  const { tasks } = plan;
  if (tasks.length > maxTasks)
    throw new FileError(
      "too_many_tasks",
      `A plan has at most ${maxTasks} tasks; this would have ${tasks.length}.`,
    );
  const ids = new Set(tasks.map(({ id }) => id));
  if (ids.size < tasks.length)
    throw new FileError("task_exists", "Two tasks have the same id: give each its own.");
  for (const { id, depends_on } of tasks) {
    const unknown = depends_on.find((dependency) => !ids.has(dependency));
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
 * Throws `FileError` if tasks depend on one another in a cycle. It removes the tasks without
 * remaining dependencies, again and again. If no task can be removed, the remaining tasks are in a
 * cycle or depend on a cycle.
 */
function refuseCycles(tasks: readonly Task[]): void {
  let remaining = tasks;
  for (;;) {
    const ids = new Set(remaining.map(({ id }) => id));
    const next = remaining.filter(({ depends_on }) =>
      depends_on.some((dependency) => ids.has(dependency)),
    );
    if (next.length === 0) return;
    if (next.length === remaining.length)
      throw new FileError(
        "task_circle",
        `These tasks wait for one another: ${remaining.map(({ id }) => id).join(", ")}.`,
      );
    remaining = next;
  }
}
