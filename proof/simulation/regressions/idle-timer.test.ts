import { describe, expect, it } from "vitest";
import { answers, hangs, says, teamOf, votesFor } from "../world/script";
import { play } from "../world/scripted-world";

describe("the rules' next timer", () => {
  it.each([
    {
      name: "is not the end of the grace period if voting is deferred, because there is no such period",
      script: {
        rules: teamOf(3, {
          defer_voting_until_all_answered: true,
          initial_round_timeout_ms: 60_000,
        }),
        steps: [
          [answers("north"), votesFor(1, "clear"), says("Go north.")],
          [answers("south"), votesFor(1, "clear")],
          [hangs()],
        ],
      },
    },
    {
      name: "is not the end of the initial round while the personas are written",
      script: {
        rules: teamOf(2, { personas: true, initial_round_timeout_ms: 5_000 }),
        timeoutMs: 60_000,
        steps: [
          [hangs(), answers("north"), votesFor(1, "clear"), says("Go north.")],
          [answers("south"), votesFor(1, "clear")],
        ],
      },
    },
  ])("$name", ({ script }) => {
    expect(play(script).faults).toEqual([]);
  });
});
