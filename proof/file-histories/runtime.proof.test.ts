import { afterAll, beforeAll, expect, it } from "vitest";
import { CommandLineWorld } from "./command-line-world";
import { type History, linesOf } from "./operations";
import { play } from "./play";
import { randomHistory } from "./random-history";
import { RuntimeService, startRuntime } from "./runtime-service";
import { shrink } from "./shrink";
import { WRITTEN_HISTORIES } from "./written-histories";

let runtime: Awaited<ReturnType<typeof startRuntime>>;
beforeAll(async () => {
  runtime = await startRuntime();
});
afterAll(() => runtime?.stop());

async function playReal(history: History) {
  const service = new RuntimeService(runtime, history.sessions, 1);
  const world = await CommandLineWorld.create(history, service);
  try {
    const played = await play(history, world);
    return { ...played, files: await world.files(0) };
  } finally {
    await world.close();
  }
}

it.each(WRITTEN_HISTORIES)("$name", async (history) => {
  const { problem, conflicts, files } = await playReal(history);
  expect({ problem, conflicts, files }).toEqual({
    problem: null,
    conflicts: history.conflicts,
    files: history.then,
  });
});

const N = Number(process.env["N"] ?? 0),
  FROM = Number(process.env["FROM"] ?? 1);
it.skipIf(N === 0)("random", { timeout: 600000 }, async () => {
  let failed = 0;
  const start = performance.now();
  for (let seed = FROM; seed < FROM + N && failed < 3; seed += 1) {
    const history = randomHistory(seed, { isNormal: process.env["NORMAL"] === "1", length: 15 });
    const played = await playReal(history);
    if (!played.problem) continue;
    failed += 1;
    const small = await shrink(history, async (h) => (await playReal(h)).problem !== null, 30);
    console.log(
      `seed ${seed}\n${linesOf(small).join("\n")}\n${JSON.stringify((await playReal(small)).problem, null, 1)}`,
    );
  }
  console.log(`${Math.round(performance.now() - start)} ms`);
  expect(failed).toBe(0);
});
