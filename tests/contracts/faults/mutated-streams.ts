import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { countOf } from "../../../proof/counts";
import { FULL, USAGE } from "../contract-support";
import { hostedReply } from "../hosted-contract";
import type { Reply, Wire } from "../wire";
import type { FaultOutcome } from "./fault-table";
import { type Reading, readReply, problemsOf } from "./read-reply";
import { CHANGES, type Change, type Mutation, mutate } from "./mutate";
import { type EndMarks, readEnd } from "./oracle";

/**
 * Reads replies of every format with seeded mutations through the real adapters. `MUTATIONS=100000`
 * runs more of them, and `MUTATION_SEED=…` sets the first seed. A failure names its seed. To repeat
 * that seed, set it together with `MUTATIONS=1`.
 */
const STREAMS = Number(process.env["MUTATIONS"] ?? countOf("mutated_replies"));
const FIRST_SEED = Number(process.env["MUTATION_SEED"] ?? 1);
const CONCURRENT_TRIALS = 128;

/** A format, and how it marks a complete reply. */
export type Format = { wire: Wire; marks: EndMarks };

const answerPieces = (text: string) => ['{"content":"', ...(text.match(/.{1,9}/gsu) ?? []), '"}'];
const repliesOf = (wire: Wire): Reply[] => [
  FULL,
  { text: ["Water boils ", "at 100 °C", ", at sea level. 🫖"], stop: "stop", usage: USAGE },
  {
    calls: [
      { id: "id_a", name: "new_answer", pieces: answerPieces("At 100 °C; less in La Paz. 🌄") },
    ],
    stop: "tool_calls",
  },
  { text: ["As far as I can"], stop: "length", usage: USAGE },
  wire.hostedTools.length > 0 ? hostedReply(wire) : { ...FULL, text: [] },
];

type Trial = { seed: number; mutated: Mutation; reading: Reading; problems: string[] };

async function runTrial({ wire, marks }: Format, seed: number): Promise<Trial> {
  const replies = repliesOf(wire);
  const frames = wire.encode(replies[seed % replies.length] ?? FULL);
  const foreign = [
    wire.midStreamError.frame,
    ...wire.encode({ text: ["x"], stop: "stop", usage: USAGE }),
  ];
  const mutated = mutate({ frames, foreign }, seed);
  const reading = await readReply(wire, mutated);
  const comparison = mutated.harmless
    ? await differences(wire, frames, reading)
    : falseCompletions(marks, mutated, reading);
  return {
    seed,
    mutated,
    reading,
    problems: [...(await problemsOf(wire, reading)), ...comparison],
  };
}

/** The differences from the recorded reply, for a stream of which only the form was changed. */
async function differences(
  wire: Wire,
  frames: readonly string[],
  { events, error }: Reading,
): Promise<string[]> {
  const recorded = await readReply(wire, { chunks: [Buffer.from(frames.join(""))], ending: "end" });
  if (error !== undefined) return [`a harmless change failed the call: ${String(error)}`];
  return isDeepStrictEqual(events.at(-1), recorded.events.at(-1))
    ? []
    : ["the reply differs from the recorded reply"];
}

/** The reasons why the adapter should not have accepted this reply as complete. */
function falseCompletions(
  marks: EndMarks,
  { bytes }: Mutation,
  { events, error }: Reading,
): string[] {
  if (error !== undefined || events.at(-1)?.type !== "stop") return [];
  const { ended, objection } = readEnd(bytes, marks);
  if (!ended) return ["an incomplete reply was accepted: the stream does not mark its end"];
  return objection === null ? [] : [`an incomplete reply was accepted: ${objection}`];
}

/** Runs the trials of all seeds, CONCURRENT_TRIALS at a time. */
async function runAllTrials(format: Format): Promise<Trial[]> {
  const trials: Trial[] = [];
  let next = FIRST_SEED;
  const runner = async () => {
    while (next < FIRST_SEED + STREAMS) {
      const seed = next++;
      const trial = await runTrial(format, seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      });
      trials.push(trial);
      // all work here runs in promises: without a pause, no timer would fire before the last seed
      await turn();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_TRIALS }, runner));
  return trials;
}

function outcomesOf(format: string, trials: readonly Trial[]): FaultOutcome[] {
  const count = (change: Change) => {
    const counts = new Map<string, number>();
    for (const { reading } of trials.filter(({ mutated: { changes } }) => changes[0] === change)) {
      const outcome = reading.error === undefined ? "whole" : "failed";
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
    return [...counts].map(([outcome, n]) => ({
      fault: `mutated: ${change}`,
      format,
      outcome,
      count: n,
    }));
  };
  return CHANGES.flatMap(count);
}

export function describeMutatedStreams(format: Format): void {
  describe(`${format.wire.name}, in mutated streams`, () => {
    it(`never accepts an incomplete reply, never hangs and throws only expected errors in ${STREAMS}`, {
      timeout: 600_000,
    }, async ({ task }) => {
      const trials = await runAllTrials(format);
      task.meta.faults = outcomesOf(format.wire.name, trials);
      const failures = trials
        .filter(({ problems }) => problems.length > 0)
        .map(
          ({ seed, problems, mutated: { changes, ending } }) =>
            `seed ${seed} (${changes.join(", ")}; ${ending}): ${problems.join("; ")}`,
        );
      expect(failures.slice(0, 20), `${failures.length} of ${STREAMS}`).toEqual([]);
    });
  });
}
