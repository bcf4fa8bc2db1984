import { describe, expect, it } from "vitest";
import { changedNothing, says, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const two = { agents: ["a", "b"] };

/** Both vote for `a`, which starts to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("a final text over 256 KiB (long final)", () => {
  table([
    {
      name: "counts with a text over 256 KiB (long final)",
      world: two,
      given: presenting,
      when: (world) => world.does("a", says("x".repeat(256 * 1024 + 1))),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is stored whole in a file if its presenter has a workspace (long final)",
      world: { ...two, every: { workspace: true } },
      given: presenting,
      when: (world) =>
        world.does("a", says("x".repeat(256 * 1024 + 1), { storable: true }), changedNothing(2)),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation whole in final.txt",
        "turn.completed a agent1.final consensus",
      ],
    },
  ]);

  const MOST = 256 * 1024;
  const long = "é".repeat(MOST / 2 + 1);
  const cases = [
    {
      name: "and a file",
      workspace: true,
      storable: true,
      says: `The whole text, ${MOST + 2} bytes, is in the file final.txt.]`,
    },
    {
      name: "and without a workspace",
      workspace: false,
      storable: false,
      says: `The whole text has ${MOST + 2} bytes and is not kept.]`,
    },
    {
      name: "that cannot be stored",
      workspace: true,
      storable: false,
      says: `The whole text has ${MOST + 2} bytes and is not kept.]`,
    },
    {
      name: "and a name that is in use",
      workspace: true,
      storable: true,
      facts: changedNothing(2, { textFile: "final-2.txt" }),
      says: `The whole text, ${MOST + 2} bytes, is in the file final-2.txt.]`,
    },
  ];

  it.each(cases)(
    "is cut between characters, and its last line says so: with a text $name",
    (one) => {
      const world = new World({ ...two, every: { workspace: one.workspace } });
      world.ask();
      presenting(world);
      world.does("a", says(long, { storable: one.storable }), one.facts ?? changedNothing(2));
      const [event] = world.events("presentation.completed");
      const content = event?.content ?? "";
      const [shown, last] = content.split("\n\n");
      expect(last).toBe(`[The text is cut here: a final text shows at most 256 KiB. ${one.says}`);
      expect(shown).toMatch(/^é+$/);
      expect(new TextEncoder().encode(content).byteLength).toBeGreaterThan(MOST - 2);
      expect(new TextEncoder().encode(content).byteLength).toBeLessThanOrEqual(MOST);
      expect(world.ending).toMatchObject({ answer: content });
    },
  );

  it("is whole and without a file at exactly 256 KiB", () => {
    const world = new World({ ...two, every: { workspace: true } });
    world.ask();
    presenting(world);
    world.does("a", says("x".repeat(MOST), { storable: true }), changedNothing(2));
    const [event] = world.events("presentation.completed");
    expect([event?.content.length, event?.text_file, event?.snapshot]).toEqual([
      MOST,
      undefined,
      "agent1.1",
    ]);
  });
});
