import { expect, it } from "vitest";
import { CommandLineWorld } from "./command-line-world";
import { InProcessService } from "./in-process-service";
import { linesOf, type History } from "./operations";
import { play } from "./play";
import { randomHistory } from "./random-history";
import { shrink } from "./shrink";
import { WRITTEN_HISTORIES } from "./written-histories";

async function playReal(history: History) {
  const service = new InProcessService(history.sessions);
  await service.start();
  const world = await CommandLineWorld.create(history, service);
  try {
    return await play(history, world);
  } finally {
    await world.close();
  }
}

it.each(WRITTEN_HISTORIES)("$name", async (history) => {
  const service = new InProcessService(history.sessions);
  await service.start();
  const world = await CommandLineWorld.create(history, service);
  const { problem, conflicts } = await play(history, world);
  const files = await world.files(0);
  await world.close();
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
  for (let seed = FROM; seed < FROM + N && failed < 4; seed += 1) {
    const history = randomHistory(seed, {
      isNormal: process.env["NORMAL"] === "1",
      length: Number(process.env["LEN"] ?? 20),
    });
    const played = await playReal(history);
    if (!played.problem) continue;
    failed += 1;
    const kind = played.problem.text.split(":")[0];
    const small = await shrink(
      history,
      async (h) => (await playReal(h)).problem?.text.split(":")[0] === kind,
      200,
    );
    console.log(
      `seed ${seed}\n${linesOf(small).join("\n")}\n${JSON.stringify((await playReal(small)).problem, null, 1)}`,
    );
  }
  expect(failed).toBe(0);
});
