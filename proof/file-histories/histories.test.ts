import { expect, it } from "vitest";
import { countOf } from "../counts";
import { InProcessService } from "./in-process-service";
import { playByCommandLine, playSeeds, type ServiceOf, seedsFrom } from "./judge";
import { WRITTEN_HISTORIES } from "./written-histories";

/**
 * Histories of files, played by the real command line with the service in this process. They are
 * compared with the model. With `HISTORY_SEED=…`, the random histories begin with this seed.
 */
const COUNT = countOf("file_histories");
/** Least number of each kind of step. A few short histories may have hardly any of a kind. */
const LEAST = COUNT < 100 ? COUNT / 2 : COUNT * 2;
/**
 * Most histories of normal use that the model leaves undecided. A push that was killed before its
 * note is not found again once another folder has pushed (docs/decisions/0102).
 */
const MOST_OPEN = Math.ceil(COUNT / 200);
const STEPS = 20;
const TRIES = 200;
const TIMEOUT_MS = 60_000 + COUNT * 2_000;
/** The rotation of `npm run proof`: different commits play different histories. */
const FIRST = 1 + Number(process.env["PROOF_ROTATION"] ?? 0) * COUNT;

const serviceOf: ServiceOf = async ({ sessions }) => {
  const service = new InProcessService(sessions);
  await service.start();
  return service;
};

it.each(WRITTEN_HISTORIES)("$name", async (history) => {
  const { problem, conflicts, files } = await playByCommandLine(history, serviceOf);
  expect({ problem, conflicts, files }).toEqual({
    problem: null,
    conflicts: history.conflicts,
    files: history.then,
  });
});

it(
  `in ${COUNT} random histories of normal use, no conflict is reported, and every file is as the model predicts`,
  async () => {
    const figures = await playSeeds({
      ...{ seeds: seedsFrom(FIRST, COUNT), isNormal: true, length: STEPS, serviceOf, tries: TRIES },
    });
    expect(figures).toMatchObject({ failures: [], conflicts: 0, histories: COUNT });
    expect(figures.open).toBeLessThanOrEqual(MOST_OPEN);
    expect(Math.min(figures.turns, figures.pulls, figures.pushes)).toBeGreaterThan(LEAST);
  },
  TIMEOUT_MS,
);

it(
  `in ${COUNT} random histories of all operations, every file and every conflict is as the model predicts`,
  async () => {
    const figures = await playSeeds({
      ...{
        seeds: seedsFrom(FIRST, COUNT),
        isNormal: false,
        length: STEPS,
        serviceOf,
        tries: TRIES,
      },
    });
    expect(figures).toMatchObject({ failures: [], histories: COUNT });
    expect(Math.min(figures.turns, figures.pulls, figures.pushes)).toBeGreaterThan(LEAST);
    expect(figures.open).toBeLessThan(COUNT / 5);
  },
  TIMEOUT_MS,
);
