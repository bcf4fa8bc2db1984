import { describe, expect, it } from "vitest";
import { PLAN_FILE, taskTools } from "../../../src/tools/tasks";
import { workspaceFacts } from "../../../src/workspace/workspace-facts";
import { agentFiles, runTool } from "../files/agent-tree";

const TOOLS = taskTools(4);
const PLAN = {
  tasks: [
    "read",
    { id: "draft", description: "write a draft", depends_on: [0] },
    { description: "check", depends_on: ["draft"] },
  ],
};

/** Calls tools one after the other with the same files. Returns the last result. */
async function callTools(...calls: [name: string, args: object][]) {
  const files = await agentFiles({ workspace: {}, peers: {}, contexts: {} });
  let result: Awaited<ReturnType<typeof runTool>> = { outcome: "ok", text: "" };
  for (const [name, args] of calls) {
    const tool = TOOLS.find(({ spec }) => spec.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    result = await runTool(tool, args, files);
  }
  return { ...result, files };
}

describe("an agent's to-do list", () => {
  it("has tools with the same names as in MassGen", () => {
    expect(TOOLS.map(({ spec }) => spec.name)).toEqual([
      ...["create_task_plan", "add_task", "update_task_status", "edit_task"],
      ...["get_task_plan", "delete_task", "get_ready_tasks", "get_blocked_tasks"],
    ]);
    expect(TOOLS.every(({ rule }) => rule.idempotent && !rule.acts_outside)).toBe(true);
  });

  it("shows its tasks, those that can begin, and those that wait", async () => {
    expect((await callTools(["create_task_plan", PLAN])).text).toBe(
      "0 of 3 tasks are completed.\n- task_1 [pending] read\n- draft [pending, waits for task_1] write a draft\n- task_3 [pending, waits for draft] check",
    );
    expect((await callTools(["create_task_plan", PLAN], ["get_ready_tasks", {}])).text).toBe(
      "- task_1 [pending] read",
    );
    const done = ["update_task_status", { task_id: "task_1", status: "completed" }] as [
      string,
      object,
    ];
    expect((await callTools(["create_task_plan", PLAN], done, ["get_ready_tasks", {}])).text).toBe(
      "- draft [pending] write a draft",
    );
    expect(
      (await callTools(["create_task_plan", PLAN], done, ["get_blocked_tasks", {}])).text,
    ).toBe("- task_3 [pending, waits for draft] check");
  });

  it("can be changed: tasks are added, edited and deleted", async () => {
    const added = await callTools(
      ["create_task_plan", PLAN],
      ["add_task", { description: "look", after_task_id: "task_1" }],
    );
    expect(added.text).toContain("Added task_4.\n0 of 4 tasks");
    expect(added.text.indexOf("task_4 [pending] look")).toBeLessThan(added.text.indexOf("draft ["));
    expect(
      (
        await callTools(
          ["create_task_plan", PLAN],
          ["edit_task", { task_id: "draft", description: "write" }],
        )
      ).text,
    ).toContain("- draft [pending, waits for task_1] write\n");
    expect(
      (await callTools(["create_task_plan", PLAN], ["delete_task", { task_id: "task_3" }])).text,
    ).not.toContain("task_3");
  });

  it.each<{ name: string; calls: [string, object][]; expectedText: string }>([
    {
      name: "a change without a list",
      calls: [["get_task_plan", {}]],
      expectedText: "make one with create_task_plan",
    },
    {
      name: "a list with too many tasks",
      calls: [["create_task_plan", { tasks: ["1", "2", "3", "4", "5"] }]],
      expectedText: "at most 4 tasks",
    },
    {
      name: "an added task that is one too many",
      calls: [
        ["create_task_plan", { tasks: ["1", "2", "3", "4"] }],
        ["add_task", { description: "5" }],
      ],
      expectedText: "at most 4",
    },
    {
      name: "a change of a missing task",
      calls: [
        ["create_task_plan", PLAN],
        ["delete_task", { task_id: "x" }],
      ],
      expectedText: "There is no task x. There are: task_1, draft",
    },
    {
      name: "a deletion of a task that another task needs",
      calls: [
        ["create_task_plan", PLAN],
        ["delete_task", { task_id: "draft" }],
      ],
      expectedText: "task_3 depends on draft",
    },
    {
      name: "a start of a task that waits",
      calls: [
        ["create_task_plan", PLAN],
        ["update_task_status", { task_id: "draft", status: "in_progress" }],
      ],
      expectedText: "draft waits for task_1",
    },
    {
      name: "tasks that depend on one another in a cycle",
      calls: [
        [
          "create_task_plan",
          {
            tasks: [
              { id: "a", description: "a", depends_on: ["b"] },
              { id: "b", description: "b", depends_on: ["a"] },
            ],
          },
        ],
      ],
      expectedText: "wait for one another: a, b",
    },
    {
      name: "an unknown dependency",
      calls: [["create_task_plan", { tasks: [{ description: "a", depends_on: [7] }] }]],
      expectedText: "there is no such task",
    },
    {
      name: "two tasks with one id",
      calls: [
        [
          "create_task_plan",
          {
            tasks: [
              { id: "a", description: "a" },
              { id: "a", description: "b" },
            ],
          },
        ],
      ],
      expectedText: "same id",
    },
  ])("refuses $name", async ({ calls, expectedText }) => {
    const { outcome, text } = await callTools(...calls);
    expect({ outcome, text }).toEqual({
      outcome: "error",
      text: expect.stringContaining(expectedText),
    });
  });

  it("is reported as broken if its file is invalid", async () => {
    const { files } = await callTools(["create_task_plan", PLAN]);
    await files.write(PLAN_FILE, new TextEncoder().encode("[]"));
    const get = TOOLS.find(({ spec }) => spec.name === "get_task_plan");
    expect(get && (await runTool(get, {}, files)).text).toContain("is no to-do list any more");
  });

  it("is not part of an answer, and is not a change of the workspace", async () => {
    const { files } = await callTools(["create_task_plan", PLAN]);
    const touched = files.staged().workspace;
    expect([...touched.keys()]).toEqual([".tasks/plan.json"]);
    expect(
      workspaceFacts({ base: new Map(), touched, previous: null, contexts: new Map() }),
    ).toEqual({
      files: 0,
      changed: false,
      kept: 0,
    });
  });
});
