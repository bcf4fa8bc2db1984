import { describe, expect, it } from "vitest";
import { changedNothing, says, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const two = { agents: ["a", "b"] };

/** Both agents vote for `a`, so `a` starts to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("a final text over 256 KiB (long final)", () => {
  table([
    {
      name: "completes the turn (long final)",
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
      name: "is stored completely in a file if its presenter has a workspace (long final)",
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

  const MAX_BYTES = 256 * 1024;
  const long = "é".repeat(MAX_BYTES / 2 + 1);
  const cases = [
    {
      name: "is in the file final.txt",
      workspace: true,
      storable: true,
      note: `The whole text, ${MAX_BYTES + 2} bytes, is in the file final.txt.]`,
    },
    {
      name: "is not kept because there is no workspace",
      workspace: false,
      storable: false,
      note: `The whole text has ${MAX_BYTES + 2} bytes and is not kept.]`,
    },
    {
      name: "is not kept because it cannot be stored",
      workspace: true,
      storable: false,
      note: `The whole text has ${MAX_BYTES + 2} bytes and is not kept.]`,
    },
    {
      name: "is in a file with another name because final.txt is in use",
      workspace: true,
      storable: true,
      facts: changedNothing(2, { textFile: "final-2.txt" }),
      note: `The whole text, ${MAX_BYTES + 2} bytes, is in the file final-2.txt.]`,
    },
  ];

  it.each(cases)(
    "is cut between characters, and its last line says that the whole text $name",
    ({ workspace, storable, facts = changedNothing(2), note }) => {
      const world = new World({ ...two, every: { workspace } });
      world.ask();
      presenting(world);
      world.does("a", says(long, { storable }), facts);
      const [event] = world.events("presentation.completed");
      const content = event?.content ?? "";
      const [shown, lastLine] = content.split("\n\n");
      expect(lastLine).toBe(`[The text is cut here: a final text shows at most 256 KiB. ${note}`);
      expect(shown).toMatch(/^é+$/);
      expect(new TextEncoder().encode(content).byteLength).toBeGreaterThan(MAX_BYTES - 2);
      expect(new TextEncoder().encode(content).byteLength).toBeLessThanOrEqual(MAX_BYTES);
      expect(world.ending).toMatchObject({ answer: content });
    },
  );

  it("is shown completely and not stored in a file if it has exactly 256 KiB", () => {
    const world = new World({ ...two, every: { workspace: true } });
    world.ask();
    presenting(world);
    world.does("a", says("x".repeat(MAX_BYTES), { storable: true }), changedNothing(2));
    const [event] = world.events("presentation.completed");
    expect([event?.content.length, event?.text_file, event?.snapshot]).toEqual([
      MAX_BYTES,
      undefined,
      "agent1.1",
    ]);
  });
});
