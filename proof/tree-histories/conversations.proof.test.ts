import { afterAll, beforeAll, expect, it } from "vitest";
import { countOf } from "../counts";
import { playIn, playSeeds, seedsFrom } from "./play-seeds";
import { ServiceWorld, startRuntime } from "./service-world";
import { CONVERSATION, PLAYED, TURNS } from "./written-conversation";

/**
 * Conversations with branches in the real runtime: moves of the head, cancelled and failed turns,
 * further attempts, summaries of long turns, pushes, diffs, and SIGKILL between and during turns.
 * With `HISTORY_SEED=…`, the random conversations begin with this seed.
 */
const COUNT = countOf("tree_histories");
const STEPS = 25;
const TRIES = 40;
const TIMEOUT_MS = 120_000 + COUNT * 60_000;
const FIRST = 1 + Number(process.env["PROOF_ROTATION"] ?? 0) * COUNT;

let runtime: Awaited<ReturnType<typeof startRuntime>>;
beforeAll(async () => {
  runtime = await startRuntime();
});
afterAll(() => runtime?.stop());

const newWorld = () => ServiceWorld.create(runtime);

it(
  `a written conversation of ${TURNS} turns agrees with the model of the tree, with kills`,
  async () => {
    const played = await playIn(newWorld, CONVERSATION);
    expect(played).toEqual(PLAYED);
  },
  TIMEOUT_MS,
);

it(
  `${COUNT} random conversations agree with the model of the tree, with kills between and during turns`,
  async () => {
    const seeds = seedsFrom(FIRST, COUNT);
    const figures = await playSeeds({ seeds, length: STEPS, newWorld, tries: TRIES });
    expect(figures).toMatchObject({ failures: [], histories: COUNT });
    expect(figures.turns).toBeGreaterThan(COUNT * 5);
    expect(Math.min(figures.branches, figures.moves, figures.diffs)).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
