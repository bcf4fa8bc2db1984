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

/** Calls tools one after the other over the same files; the last result counts. */
async function called(...calls: [name: string, args: object][]) {
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
  it("has the tools of MassGen, by their names", () => {
    expect(TOOLS.map(({ spec }) => spec.name)).toEqual([
      ...["create_task_plan", "add_task", "update_task_status", "edit_task"],
      ...["get_task_plan", "delete_task", "get_ready_tasks", "get_blocked_tasks"],
    ]);
    expect(TOOLS.every(({ rule }) => rule.idempotent && !rule.acts_outside)).toBe(true);
  });

  it("is made, shown, and says what can begin and what waits", async () => {
    expect((await called(["create_task_plan", PLAN])).text).toBe(
      "0 of 3 tasks are completed.\n- task_1 [pending] read\n- draft [pending, waits for task_1] write a draft\n- task_3 [pending, waits for draft] check",
    );
    expect((await called(["create_task_plan", PLAN], ["get_ready_tasks", {}])).text).toBe(
      "- task_1 [pending] read",
    );
    const done = ["update_task_status", { task_id: "task_1", status: "completed" }] as [
      string,
      object,
    ];
    expect((await called(["create_task_plan", PLAN], done, ["get_ready_tasks", {}])).text).toBe(
      "- draft [pending] write a draft",
    );
    expect((await called(["create_task_plan", PLAN], done, ["get_blocked_tasks", {}])).text).toBe(
      "- task_3 [pending, waits for draft] check",
    );
  });

  it("is changed", async () => {
    const added = await called(
      ["create_task_plan", PLAN],
      ["add_task", { description: "look", after_task_id: "task_1" }],
    );
    expect(added.text).toContain("Added task_4.\n0 of 4 tasks");
    expect(added.text.indexOf("task_4 [pending] look")).toBeLessThan(added.text.indexOf("draft ["));
    expect(
      (
        await called(
          ["create_task_plan", PLAN],
          ["edit_task", { task_id: "draft", description: "write" }],
        )
      ).text,
    ).toContain("- draft [pending, waits for task_1] write\n");
    expect(
      (await called(["create_task_plan", PLAN], ["delete_task", { task_id: "task_3" }])).text,
    ).not.toContain("task_3");
  });

  it.each<{ name: string; calls: [string, object][]; says: string }>([
    { name: "no list", calls: [["get_task_plan", {}]], says: "make one with create_task_plan" },
    {
      name: "too many",
      calls: [["create_task_plan", { tasks: ["1", "2", "3", "4", "5"] }]],
      says: "at most 4 tasks",
    },
    {
      name: "too many, added",
      calls: [
        ["create_task_plan", { tasks: ["1", "2", "3", "4"] }],
        ["add_task", { description: "5" }],
      ],
      says: "at most 4",
    },
    {
      name: "no such task",
      calls: [
        ["create_task_plan", PLAN],
        ["delete_task", { task_id: "x" }],
      ],
      says: "There is no task x. There are: task_1, draft",
    },
    {
      name: "one that others need",
      calls: [
        ["create_task_plan", PLAN],
        ["delete_task", { task_id: "draft" }],
      ],
      says: "task_3 depends on draft",
    },
    {
      name: "one that waits",
      calls: [
        ["create_task_plan", PLAN],
        ["update_task_status", { task_id: "draft", status: "in_progress" }],
      ],
      says: "draft waits for task_1",
    },
    {
      name: "a circle",
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
      says: "wait for one another: a, b",
    },
    {
      name: "an unknown dependency",
      calls: [["create_task_plan", { tasks: [{ description: "a", depends_on: [7] }] }]],
      says: "there is no such task",
    },
    {
      name: "one id twice",
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
      says: "same id",
    },
  ])("reports an impossible change: $name", async ({ calls, says }) => {
    const { outcome, text } = await called(...calls);
    expect({ outcome, text }).toEqual({ outcome: "error", text: expect.stringContaining(says) });
  });

  it("says so where its file was spoiled", async () => {
    const { files } = await called(["create_task_plan", PLAN]);
    await files.write(PLAN_FILE, new TextEncoder().encode("[]"));
    const get = TOOLS.find(({ spec }) => spec.name === "get_task_plan");
    expect(get && (await runTool(get, {}, files)).text).toContain("is no to-do list any more");
  });

  it("is not handed over and is no change of the workspace", async () => {
    const { files } = await called(["create_task_plan", PLAN]);
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
