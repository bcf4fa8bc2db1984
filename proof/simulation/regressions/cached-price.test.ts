import { describe, expect, it } from "vitest";
import { check } from "../../../checker";
import { answers, member, says, teamOf, votesFor } from "../world/script";
import { play } from "../world/scripted-world";

describe("a call of a model whose cached input costs more than uncached input", () => {
  it("reserves at most the rest of the cost cap", () => {
    const price = { input: 0, cached_input: 1, output: 4 };
    const { log } = play({
      rules: teamOf(1, { agents: [member(1, { price })] }),
      steps: [[answers("north"), votesFor(1, "clear"), says("Go north.")]],
      budget: { max_cost_usd: 0.006 },
    });
    expect(check(log, { finished: true })).toEqual([]);
  });
});
