import { describe, expect, it } from "vitest";
import { fails, type Move, says } from "../builders";
import { table } from "../rule-table";
import { World } from "../world";

const world = { agents: ["a", "b"], rules: { personas: true } };
const rounds = ["round.started a #2 first []", "round.started b #1 first []"];

/** The generator's reply. `personas` is by agent id; the reply itself uses aliases. */
const writes =
  (personas: Record<string, string>, changes: object = {}): Move =>
  (acting) =>
    says("", {
      personas: Object.fromEntries(
        Object.entries(personas).map(([id, text]) => [acting.alias(id), text]),
      ),
      ...changes,
    })(acting);

describe("personas", () => {
  table([
    {
      name: "are written by one call to the first agent's model, before the team starts",
      world,
      when: (at) => at.starts("a"),
      then: ["call.started a assign_personas forced"],
      owes: [],
    },
    {
      name: "are assigned before the team starts",
      world,
      when: (at) => at.does("a", writes({ a: "sceptic", b: "optimist" })),
      then: ["call.completed a", "personas.assigned a:sceptic b:optimist", ...rounds],
      owes: ["call a", "call b"],
    },
    {
      name: "may be missing for some agents, and those for unknown agents are ignored",
      world,
      when: (at) => at.does("a", writes({ b: "optimist", agent99: "nobody", a: "  " })),
      then: ["call.completed a", "personas.assigned b:optimist", ...rounds],
    },
    {
      name: "are omitted when the reply has no persona",
      world,
      when: (at) => at.does("a", says("I would rather not.")),
      then: ["call.completed a", "personas.assigned", ...rounds],
    },
    {
      name: "are omitted when the reply was cut",
      world,
      when: (at) => at.does("a", writes({ a: "scep" }, { stopReason: "length" })),
      then: ["call.completed a", "personas.assigned", ...rounds],
    },
    {
      name: "are skipped when the call fails finally",
      world,
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "personas.assigned", ...rounds],
    },
    {
      name: "are omitted when they need more than a tenth of the coordination's time",
      world: { ...world, rules: { personas: true, orchestrator_timeout_ms: 100_000 } },
      given: (at) => {
        at.starts("a");
        at.writing = { a: "You are" };
        at.wait(7_999);
      },
      when: (at) => at.wait(1),
      then: ["call.failed a cancelled final", "personas.assigned", ...rounds],
    },
    {
      name: "are omitted when the budget cannot pay for them",
      world: { ...world, budget: { max_tokens: 1_200 } },
      when: (at) => at.starts("a"),
      then: ["call.deferred a", "personas.assigned", ...rounds],
    },
  ]);

  it("do not shorten the first round's time", () => {
    const at = new World({ ...world, rules: { personas: true, initial_round_timeout_ms: 30_000 } });
    at.ask();
    at.wait(20_000);
    at.does("a", writes({ a: "sceptic" }));
    at.wait(59_999);
    expect(at.owes()).toEqual(["call a", "call b"]);
    at.wait(1);
    expect(at.events("agent.failed")).toHaveLength(2);
  });
});
