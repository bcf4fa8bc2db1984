import { expect, it, vi } from "vitest";
import type { Tool } from "../../../src/tools/tool";
import { workingAgent } from "./tools/tool-rig";

it("the history has a cancelled turn, with the tools that its presenter executed", async () => {
  const waits: Tool = {
    spec: { name: "waits", description: "Waits.", parameters: { type: "object" } },
    rule: { name: "waits", acts_outside: true, idempotent: false },
    leavesFiles: true,
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  const agent = workingAgent([waits], [{ name: "waits" }]);
  agent.ask();
  const started = () => agent.events().some(({ type }) => type === "tool.started");
  await vi.waitFor(() => expect(started()).toBe(true), 10_000);
  const { coordinator, queries } = agent.session();
  coordinator.handle({ type: "cancel_requested" });
  expect(queries.history(1)).toMatchObject([
    {
      turn: 1,
      question: "What is there?",
      answer: "",
      cancelled: { executedTools: ["waits"] },
    },
  ]);
  await agent.stop();
  agent.close();
});
