import { afterAll, beforeAll, expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { playByCommandLine, playSeeds, type ServiceOf, seedsFrom } from "./judge";
import { RuntimeService, startRuntime } from "./runtime-service";
import { WRITTEN_HISTORIES } from "./written-histories";

/**
 * Histories of files in the real runtime: the command line, turns of a simulated team, and SIGKILL
 * between and during turns. With `HISTORY_SEED=…`, the random histories begin with this seed.
 */
const COUNT = countOf("runtime_file_histories");
/** Least number of each kind of step. A few short histories may have hardly any of a kind. */
const LEAST = COUNT < 10 ? 0 : COUNT;
const STEPS = 15;
const TRIES = 40;
const TIMEOUT_MS = 120_000 + COUNT * 20_000;
const FIRST = 1 + Number(process.env["PROOF_ROTATION"] ?? 0) * COUNT;

let runtime: Awaited<ReturnType<typeof startRuntime>>;
beforeAll(async () => {
  runtime = await startRuntime();
});
afterAll(() => runtime?.stop());

const serviceOf: ServiceOf = async (history) =>
  new RuntimeService(runtime, history, history.operations.length);

it.each(rotated(WRITTEN_HISTORIES, countOf("written_file_histories")))("$name", async (history) => {
  const { problem, conflicts, files } = await playByCommandLine(history, serviceOf);
  expect({ problem, conflicts, files }).toEqual({
    problem: null,
    conflicts: history.conflicts,
    files: history.then,
  });
});

it.each([{ isNormal: true }, { isNormal: false }])(
  `${COUNT} random histories (%j) agree with the model, with kills between and during turns`,
  async ({ isNormal }) => {
    const seeds = seedsFrom(FIRST, COUNT);
    const figures = await playSeeds({ seeds, isNormal, length: STEPS, serviceOf, tries: TRIES });
    expect(figures).toMatchObject({ failures: [], histories: COUNT });
    if (isNormal) expect(figures.conflicts).toBe(0);
    expect(Math.min(figures.turns, figures.pulls, figures.pushes)).toBeGreaterThan(LEAST);
  },
  TIMEOUT_MS,
);
