import { z } from "zod";
import type { AgentFiles } from "../../workspace/agent-files";
import { TASKS_DIRECTORY } from "../../workspace/workspace-facts";
import { FileError } from "../../workspace/types";
import { defineFileTool } from "../files/define-tool";
import type { Tool } from "../tool";
import {
  blockersOf,
  isReady,
  PLAN_LIMITS,
  type Plan,
  PlanSchema,
  planOf,
  STATUSES,
  type Task,
  withChange,
  withoutTask,
  withTask,
} from "./plan";

/**
 * An agent's to-do list, under the tool names of MassGen. It is stored in a file of the agent's own
 * workspace. It is not part of an answer's files and does not count as a change of the workspace.
 */
export const PLAN_FILE = `/workspace/${TASKS_DIRECTORY}/plan.json`;

/** Limit of a file that is read as a plan, in bytes. */
const MOST_BYTES = 512 * 1024;

const id = z.string().min(1).max(PLAN_LIMITS.idChars);
const description = z.string().min(1).max(PLAN_LIMITS.descriptionChars);
const newTask = z.union([
  description,
  z.strictObject({
    id: id.optional(),
    description,
    depends_on: z
      .array(z.union([id, z.int().min(0)]))
      .max(100)
      .optional(),
  }),
]);
const nothing = z.strictObject({});

/** The eight tools, always in the same order. `most` is the maximum number of tasks in a plan. */
export const taskTools = (most: number): Tool[] => [
  ...planTools(most),
  ...oneTaskTools(),
  ...waitingTools(),
];

function planTools(most: number): Tool[] {
  return [
    defineFileTool({
      name: "create_task_plan",
      description: `Makes your to-do list, in place of one that is there. At most ${most} tasks; a task may depend on others, by id or by their number in the list, from 0.`,
      schema: z.strictObject({ tasks: z.array(newTask).min(1).max(1_000) }),
      run: async ({ tasks }, files) => {
        const given = tasks.map((task) =>
          typeof task === "string" ? { description: task } : task,
        );
        return stored(files, planOf(given, most));
      },
    }),
    defineFileTool({
      name: "add_task",
      description: "Adds a task to your to-do list, at its end or behind another task.",
      schema: z.strictObject({
        description,
        after_task_id: id.optional(),
        depends_on: z
          .array(id)
          .max(100)
          .optional()
          .describe("Ids of tasks that must be completed before."),
      }),
      run: async ({ description: text, after_task_id: after, depends_on }, files) => {
        const { plan, added } = withTask(
          await planIn(files),
          { description: text, depends_on, after },
          most,
        );
        return `Added ${added.id}.\n${await stored(files, plan)}`;
      },
    }),
  ];
}

function oneTaskTools(): Tool[] {
  return [
    defineFileTool({
      name: "update_task_status",
      description: "Says how far a task is.",
      schema: z.strictObject({ task_id: id, status: z.enum(STATUSES) }),
      run: async ({ task_id, status }, files) =>
        stored(files, withChange(await planIn(files), task_id, { status })),
    }),
    defineFileTool({
      name: "edit_task",
      description: "Changes what a task says.",
      schema: z.strictObject({ task_id: id, description }),
      run: async ({ task_id, description: text }, files) =>
        stored(files, withChange(await planIn(files), task_id, { description: text })),
    }),
    defineFileTool({
      name: "get_task_plan",
      description: "Shows your to-do list.",
      schema: nothing,
      run: async (_, files) => shown(await planIn(files)),
    }),
    defineFileTool({
      name: "delete_task",
      description: "Takes a task off your to-do list.",
      schema: z.strictObject({ task_id: id }),
      run: async ({ task_id }, files) => stored(files, withoutTask(await planIn(files), task_id)),
    }),
  ];
}

function waitingTools(): Tool[] {
  return [
    defineFileTool({
      name: "get_ready_tasks",
      description:
        "Shows the tasks that can begin: pending, and all that they depend on is completed.",
      schema: nothing,
      run: async (_, files) => {
        const plan = await planIn(files);
        return listed(
          plan,
          plan.tasks.filter((task) => isReady(plan, task)),
        );
      },
    }),
    defineFileTool({
      name: "get_blocked_tasks",
      description: "Shows the tasks that wait for others, and for which.",
      schema: nothing,
      run: async (_, files) => {
        const plan = await planIn(files);
        return listed(
          plan,
          plan.tasks.filter(
            (task) => task.status !== "completed" && blockersOf(plan, task).length > 0,
          ),
        );
      },
    }),
  ];
}

async function planIn(files: AgentFiles): Promise<Plan> {
  if (!files.exists(PLAN_FILE))
    throw new FileError("no_plan", "There is no to-do list yet: make one with create_task_plan.");
  const { kind, size } = files.stat(PLAN_FILE);
  const text =
    kind === "file" && size <= MOST_BYTES
      ? new TextDecoder().decode(await files.read(PLAN_FILE))
      : "";
  const plan = PlanSchema.safeParse(jsonOf(text));
  if (plan.success) return plan.data;
  throw new FileError(
    "plan_broken",
    `${PLAN_FILE} is no to-do list any more: make a new one with create_task_plan.`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function stored(files: AgentFiles, plan: Plan): Promise<string> {
  await files.write(PLAN_FILE, new TextEncoder().encode(`${JSON.stringify(plan, null, 2)}\n`));
  return shown(plan);
}

function shown(plan: Plan): string {
  const completed = plan.tasks.filter(({ status }) => status === "completed").length;
  return `${completed} of ${plan.tasks.length} tasks are completed.\n${listed(plan, plan.tasks)}`;
}

function listed(plan: Plan, tasks: readonly Task[]): string {
  return tasks.map((task) => lineOf(plan, task)).join("\n") || "None.";
}

function lineOf(plan: Plan, task: Task): string {
  const waits = task.status === "completed" ? [] : blockersOf(plan, task);
  return `- ${task.id} [${task.status}${waits.length > 0 ? `, waits for ${waits.join(", ")}` : ""}] ${task.description}`;
}
