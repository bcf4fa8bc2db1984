import { describe, expect, it } from "vitest";
import { inFlight, owed } from "../../../src/coordination";
import { asksPerson, progress, tool, uses } from "../builders";
import { table } from "../rule-table";
import { World } from "../world";

const world = {
  agents: ["a", "b"],
  every: { tools: [tool("search", { idempotent: true }), tool("send")] },
};
const runsTool = (name: string) => (at: World) => {
  at.does("a", uses([name]));
  at.startsTool("a");
};
const LONG_CALL_MS = 840_000;

describe("a notification of a tool server", () => {
  table([
    {
      name: "of progress is logged and does not change the owed effects",
      world,
      given: runsTool("search"),
      when: (at) => at.notifies("a", progress(3, { message: "reads" })),
      then: ["tool.progressed a search 3/10 reads"],
      owes: ["call b"],
    },
    {
      name: "of progress is not logged twice in a second",
      world,
      given: (at) => {
        runsTool("search")(at);
        at.notifies("a", progress(3));
        at.wait(999);
      },
      when: (at) => at.notifies("a", progress(4)),
      then: [],
    },
    {
      name: "of progress is logged again after a second",
      world,
      given: (at) => {
        runsTool("search")(at);
        at.notifies("a", progress(3));
        at.wait(1_000);
      },
      when: (at) => at.notifies("a", progress(4, { total: null })),
      then: ["tool.progressed a search 4/?"],
    },
    {
      name: "of progress is logged only after a longer pause if several were logged before",
      world,
      given: (at) => {
        runsTool("search")(at);
        at.notifies("a", progress(1));
        at.wait(1_000);
        at.notifies("a", progress(2));
        at.wait(1_999);
      },
      when: (at) => at.notifies("a", progress(3)),
      then: [],
    },
    {
      name: "of progress is not logged if its number is not finite",
      world,
      given: runsTool("search"),
      when: (at) => [
        ...at.notifies("a", progress(Number.POSITIVE_INFINITY)),
        ...at.notifies("a", progress(1, { total: Number.NaN })),
      ],
      then: [],
    },
    {
      name: "of an elicitation is logged, and the tool call continues",
      world,
      given: runsTool("send"),
      when: (at) => [...at.notifies("a", asksPerson()), ...at.tool("a", "error")],
      then: [
        "tool.input_required a send https://box.example.com form",
        "tool.completed a send error",
      ],
      owes: ["call a", "call b"],
    },
    {
      name: "of an elicitation is logged at most three times for one tool call",
      world,
      given: (at) => {
        runsTool("send")(at);
        for (let n = 0; n < 3; n += 1) at.notifies("a", asksPerson());
      },
      when: (at) => at.notifies("a", asksPerson()),
      then: [],
    },
    {
      name: "of an elicitation is cut to five requests",
      world,
      given: runsTool("send"),
      when: (at) => at.notifies("a", asksPerson(7)),
      then: [
        "tool.input_required a send https://box.example.com form form form form form and 2 more",
      ],
    },
    {
      name: "of an elicitation is logged again for another tool call",
      world,
      given: (at) => {
        at.does("a", uses(["send", "send"]));
        for (let n = 0; n < 3; n += 1) at.notifies("a", asksPerson());
        at.tool("a");
      },
      when: (at) => at.notifies("a", asksPerson()),
      then: ["tool.input_required a send https://box.example.com form"],
    },
    {
      name: "after a restart is not logged if the limit was reached before the restart",
      world,
      given: (at) => {
        runsTool("search")(at);
        for (let n = 0; n < 3; n += 1) at.notifies("a", asksPerson());
        at.interrupt();
        at.startsTool("a");
      },
      when: (at) => at.notifies("a", asksPerson()),
      then: [],
    },
    {
      name: "after the end of its call is ignored",
      world,
      given: runsTool("search"),
      when: (at) => {
        const effect = inFlight(at.state).find((id) => id.startsWith("tool_")) ?? "";
        expect(effect).not.toBe("");
        at.tool("a");
        return [
          ...at.give({ type: "tool_notified", effect, notification: progress(9) }),
          ...at.give({ type: "tool_notified", effect, notification: asksPerson() }),
        ];
      },
      then: [],
    },
    {
      name: "before the start of its call is ignored",
      world,
      given: (at) => at.does("a", uses(["search"])),
      when: (at) => {
        const effects = owed(at.state).filter(({ type }) => type === "tool_call");
        expect(effects).toHaveLength(1);
        return effects.flatMap(({ id }) =>
          at.give({ type: "tool_notified", effect: id, notification: progress(9) }),
        );
      },
      then: [],
    },
  ]);

  it("of progress is logged at most 20 times, and also near the end of the longest call", () => {
    const at = new World({
      ...world,
      rules: {
        initial_round_timeout_ms: 10 * LONG_CALL_MS,
        orchestrator_timeout_ms: 20 * LONG_CALL_MS,
      },
    });
    at.ask();
    runsTool("search")(at);
    const began = at.now;
    for (let n = 0; at.now - began < 3 * LONG_CALL_MS; n += 1) {
      at.notifies("a", progress(n));
      at.wait(500);
    }
    const times = at.events("tool.progressed").map((event) => event.at - began);
    expect(times).toHaveLength(20);
    expect(times.slice(0, 8)).toEqual([0, 1_000, 3_000, 5_000, 9_000, 13_000, 21_000, 29_000]);
    expect(times.filter((ms) => ms < LONG_CALL_MS).length).toBeLessThan(20);
  });

  it("has long texts cut, but never inside a character", () => {
    const at = new World(world);
    at.ask();
    runsTool("send")(at);
    at.notifies(
      "a",
      progress(1, { message: "x".repeat(2_047) + "😀".repeat(10), origin: "o".repeat(9_999) }),
    );
    at.notifies("a", asksPerson(1, "y".repeat(9_999)));
    const [progressed] = at.events("tool.progressed");
    expect([progressed?.message, progressed?.origin.length]).toEqual([
      `${"x".repeat(2_047)}\ufffd`,
      2_048,
    ]);
    expect(at.events("tool.input_required")[0]?.requests[0]?.message).toHaveLength(2_048);
  });
});
