import * as z from "zod";
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
 * The file with an agent's to-do list, in the agent's own workspace. It is not part of an answer's
 * files and does not count as a change of the workspace. The tools for the list have the same names
 * as in MassGen.
 */
export const PLAN_FILE = `/workspace/${TASKS_DIRECTORY}/plan.json`;

/** Maximum size in bytes of a file that is read as a plan. */
const MAX_PLAN_BYTES = 512 * 1024;

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
const noArguments = z.strictObject({});

/**
 * The eight tools, always in the same order, because providers cache prompts by exact prefix.
 * `maxTasks` is the maximum number of tasks in a plan.
 */
export const taskTools = (maxTasks: number): Tool[] => [
  ...planTools(maxTasks),
  ...singleTaskTools(),
  ...dependencyTools(),
];

function planTools(maxTasks: number): Tool[] {
  return [
    defineFileTool({
      name: "create_task_plan",
      description: `Makes your to-do list, in place of one that is there. At most ${maxTasks} tasks; a task may depend on others, by id or by their number in the list, from 0.`,
      schema: z.strictObject({ tasks: z.array(newTask).min(1).max(1_000) }),
      run: async ({ tasks }, files) => {
        const newTasks = tasks.map((task) =>
          typeof task === "string" ? { description: task } : task,
        );
        return storePlan(files, planOf(newTasks, maxTasks));
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
          await readPlan(files),
          { description: text, depends_on, after },
          maxTasks,
        );
        return `Added ${added.id}.\n${await storePlan(files, plan)}`;
      },
    }),
  ];
}

function singleTaskTools(): Tool[] {
  return [
    defineFileTool({
      name: "update_task_status",
      description: "Says how far a task is.",
      schema: z.strictObject({ task_id: id, status: z.enum(STATUSES) }),
      run: async ({ task_id, status }, files) =>
        storePlan(files, withChange(await readPlan(files), task_id, { status })),
    }),
    defineFileTool({
      name: "edit_task",
      description: "Changes what a task says.",
      schema: z.strictObject({ task_id: id, description }),
      run: async ({ task_id, description: text }, files) =>
        storePlan(files, withChange(await readPlan(files), task_id, { description: text })),
    }),
    defineFileTool({
      name: "get_task_plan",
      description: "Shows your to-do list.",
      schema: noArguments,
      run: async (_, files) => describePlan(await readPlan(files)),
    }),
    defineFileTool({
      name: "delete_task",
      description: "Takes a task off your to-do list.",
      schema: z.strictObject({ task_id: id }),
      run: async ({ task_id }, files) =>
        storePlan(files, withoutTask(await readPlan(files), task_id)),
    }),
  ];
}

function dependencyTools(): Tool[] {
  return [
    defineFileTool({
      name: "get_ready_tasks",
      description:
        "Shows the tasks that can begin: pending, and all that they depend on is completed.",
      schema: noArguments,
      run: async (_, files) => {
        const plan = await readPlan(files);
        return taskList(
          plan,
          plan.tasks.filter((task) => isReady(plan, task)),
        );
      },
    }),
    defineFileTool({
      name: "get_blocked_tasks",
      description: "Shows the tasks that wait for others, and for which.",
      schema: noArguments,
      run: async (_, files) => {
        const plan = await readPlan(files);
        return taskList(
          plan,
          plan.tasks.filter(
            (task) => task.status !== "completed" && blockersOf(plan, task).length > 0,
          ),
        );
      },
    }),
  ];
}

/** The stored plan. Throws `FileError` if there is none, or if its file is invalid. */
async function readPlan(files: AgentFiles): Promise<Plan> {
  if (!files.exists(PLAN_FILE))
    throw new FileError("no_plan", "There is no to-do list yet: make one with create_task_plan.");
  const { kind, size } = files.stat(PLAN_FILE);
  const text =
    kind === "file" && size <= MAX_PLAN_BYTES
      ? new TextDecoder().decode(await files.read(PLAN_FILE))
      : "";
  const plan = PlanSchema.safeParse(parseJson(text));
  if (plan.success) return plan.data;
  throw new FileError(
    "plan_broken",
    `${PLAN_FILE} is no to-do list any more: make a new one with create_task_plan.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Stores a plan and returns its text for the model. */
async function storePlan(files: AgentFiles, plan: Plan): Promise<string> {
  await files.write(PLAN_FILE, new TextEncoder().encode(`${JSON.stringify(plan, null, 2)}\n`));
  return describePlan(plan);
}

function describePlan(plan: Plan): string {
  const completed = plan.tasks.filter(({ status }) => status === "completed").length;
  return `${completed} of ${plan.tasks.length} tasks are completed.\n${taskList(plan, plan.tasks)}`;
}

function taskList(plan: Plan, tasks: readonly Task[]): string {
  return tasks.map((task) => taskLine(plan, task)).join("\n") || "None.";
}

function taskLine(plan: Plan, task: Task): string {
  const blockers = task.status === "completed" ? [] : blockersOf(plan, task);
  return `- ${task.id} [${task.status}${blockers.length > 0 ? `, waits for ${blockers.join(", ")}` : ""}] ${task.description}`;
}
