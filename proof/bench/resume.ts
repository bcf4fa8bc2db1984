import { chanceFor } from "./chance";
import { DISCONNECTS, descriptionOf } from "./descriptions";
import { type Figure, type Measurement, verdict } from "./figure";
import { Reader } from "./reader";
import { startRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./simulated-team";

/** Whether readers that disconnect and resume at random receive every frame once. */
export type ResumeFigure = {
  runs: number;
  disconnects: number;
  readers: number;
  /** Frames that the readers should have received together. */
  frames: number;
  lost: number;
  /** Frames that a reader received twice or out of order. */
  doubled: number;
  /** Readers whose bytes differ from the log. */
  differing: number;
};

const READERS = 20;
const LONGEST_CONNECTION_MS = 120;
const LOAD = {
  answerTokens: 120,
  voteTokens: 40,
  presentationTokens: 120,
  pace: { ttftMs: 50, tokensPerSecond: 100 },
};

export const RESUME: Measurement = {
  ...descriptionOf("resume"),
  async measure({ machines, seed, trials }): Promise<Figure> {
    return judgeResume(
      await measureResume(await machines.disk(), seed, trials ?? DISCONNECTS),
      seed,
    );
  },
};

/** Makes the figure. It is broken if a reader's frames are not exact, or if there are no frames. */
export function judgeResume(data: ResumeFigure, seed: number): Figure {
  const { runs, disconnects, readers, frames, lost, doubled, differing } = data;
  const isExact = frames > 0 && lost + doubled + differing === 0;
  const measured = `${lost} of ${frames} frames lost, ${doubled} doubled, ${differing} readers with other bytes`;
  return {
    lines: [
      {
        figure: `resume, ${disconnects} random disconnects of ${readers} readers`,
        measured,
        runs: `${runs} runs, seed ${seed}`,
        bound: "0, by definition",
        aim: verdict("0", isExact),
      },
    ],
    data,
    broken: isExact
      ? []
      : [`Resuming readers did not receive every frame once: ${measured} (seed ${seed}).`],
  };
}

/** Plays runs until there are at least `disconnects` disconnects. */
async function measureResume(
  { service }: Runtime,
  seed: number,
  disconnects: number,
): Promise<ResumeFigure> {
  const members = teamOf(3);
  const providers = await startTeam(LOAD, members);
  const total = {
    runs: 0,
    disconnects: 0,
    readers: 0,
    frames: 0,
    lost: 0,
    doubled: 0,
    differing: 0,
  };
  try {
    while (total.disconnects < disconnects) {
      const { events } = await startRun(service, runRequest(providers, members));
      total.runs += 1;
      const readers = Array.from({ length: READERS }, (_, nth) => {
        const chance = chanceFor(seed, "resume", total.runs, nth);
        return new Reader(events, { leavesAfterMs: () => chance.unit() * LONGEST_CONNECTION_MS });
      });
      await Promise.all(readers.map(({ ended }) => ended));
      const undisturbed = new Reader(events);
      await undisturbed.ended;
      for (const reader of readers) {
        total.disconnects += reader.connections - 1;
        total.readers += 1;
        total.frames += undisturbed.frames;
        total.lost += Math.max(0, undisturbed.frames - reader.frames);
        total.doubled += Math.max(0, reader.frames - undisturbed.frames) + reader.outOfOrder;
        total.differing += reader.digest() === undisturbed.digest() ? 0 : 1;
      }
    }
    return total;
  } finally {
    await providers.close();
  }
}
