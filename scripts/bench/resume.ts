import type { Figure, Measurement } from "./figure";
import { Reader } from "./reader";
import { startRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/** Whether readers that leave and come back at random get every frame once. */
type ResumeFigure = { disconnects: number; readers: number; frames: number; lost: number; doubled: number; differing: number };

const DISCONNECTS = 1_000;
const READERS = 20;
const LONGEST_STAY_MS = 120;
const LOAD = { answerTokens: 120, voteTokens: 40, presentationTokens: 120, pace: { ttftMs: 50, tokensPerSecond: 100 } };

export const RESUME: Measurement = {
  name: "resume",
  about: `Readers that leave and come back, ${DISCONNECTS} times`,
  counts: true,
  async measure(machines): Promise<Figure> {
    const data = await measureResume(await machines.disk());
    const { disconnects, readers, frames, lost, doubled, differing } = data;
    const isExact = lost + doubled + differing === 0;
    return {
      lines: [
        [
          `resume, ${disconnects} random disconnects of ${readers} readers`,
          `${lost} of ${frames} frames lost, ${doubled} doubled, ${differing} readers with other bytes`,
          "0, 0, 0",
          `0: ${isExact ? "met" : "missed"}`,
        ],
      ],
      data,
    };
  },
};

async function measureResume({ service }: Runtime): Promise<ResumeFigure> {
  const members = teamOf(3);
  const providers = await startTeam(LOAD, members);
  const total = { disconnects: 0, readers: 0, frames: 0, lost: 0, doubled: 0, differing: 0 };
  try {
    while (total.disconnects < DISCONNECTS) {
      const { events } = await startRun(service, runRequest(providers, members));
      const readers = Array.from(
        { length: READERS },
        () => new Reader(events, { leavesAfterMs: () => Math.random() * LONGEST_STAY_MS }),
      );
      await Promise.all(readers.map(({ ended }) => ended));
      const whole = new Reader(events);
      await whole.ended;
      for (const reader of readers) {
        total.disconnects += reader.connections - 1;
        total.readers += 1;
        total.frames += whole.frames;
        total.lost += Math.max(0, whole.frames - reader.frames);
        total.doubled += Math.max(0, reader.frames - whole.frames) + reader.outOfOrder;
        total.differing += reader.digest() === whole.digest() ? 0 : 1;
      }
    }
    return total;
  } finally {
    await providers.close();
  }
}
