import { afterEach, expect, it, vi } from "vitest";
import { RelayLostError } from "../../../../src/tools/relay-lost";
import type { Tool } from "../../../../src/tools/tool";
import { workingAgent } from "./tool-rig";

afterEach(() => void vi.restoreAllMocks());

it.each([
  { idempotent: true, events: ["tool.interrupted", "tool.completed"], tries: 2 },
  { idempotent: false, events: ["tool.unknown"], tries: 1 },
])(
  "a tool call whose relay is lost ends as after a restart of the service ($events)",
  async ({ idempotent, events, tries }) => {
    vi.spyOn(console, "log").mockReturnValue();
    let calls = 0;
    const flaky: Tool = {
      spec: { name: "flaky", description: "Asks.", parameters: { type: "object" } },
      rule: { name: "flaky", acts_outside: true, idempotent },
      leavesFiles: true,
      run: async () => {
        calls += 1;
        if (calls === 1) throw new RelayLostError("Network connection lost.");
        return { outcome: "ok", text: "done" };
      },
    };
    const agent = workingAgent([flaky], [{ name: "flaky" }]);
    agent.ask();
    await vi.waitFor(() => expect(agent.isOver()).toBe(true), 10_000);
    const types = agent.events().map(({ type }) => type);
    expect(types.filter((type) => /^tool\.(inter|comp|unk)/.test(type))).toEqual(events);
    expect(calls).toBe(tries);
    expect(agent.faults).toEqual([]);
    agent.close();
  },
);
