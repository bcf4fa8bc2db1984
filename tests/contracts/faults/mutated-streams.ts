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
 * Replies of every format with seeded mutations, through the real adapters. `MUTATIONS=100000` runs
 * more of them, and `MUTATION_SEED=…` sets the first seed; a failure names its seed, which is
 * repeated with `MUTATIONS=1`.
 */
const STREAMS = Number(process.env["MUTATIONS"] ?? countOf("mutated_replies"));
const FIRST_SEED = Number(process.env["MUTATION_SEED"] ?? 1);
const AT_ONCE = 128;

/** A format, and its marks of a complete reply. */
export type Format = { wire: Wire; marks: EndMarks };

const answering = (text: string) => ['{"content":"', ...(text.match(/.{1,9}/gsu) ?? []), '"}'];
const repliesOf = (wire: Wire): Reply[] => [
  FULL,
  { text: ["Water boils ", "at 100 °C", ", at sea level. 🫖"], stop: "stop", usage: USAGE },
  {
    calls: [{ id: "id_a", name: "new_answer", pieces: answering("At 100 °C; less in La Paz. 🌄") }],
    stop: "tool_calls",
  },
  { text: ["As far as I can"], stop: "length", usage: USAGE },
  wire.hostedTools.length > 0 ? hostedReply(wire) : { ...FULL, text: [] },
];

type Trial = { seed: number; mutated: Mutation; reading: Reading; problems: string[] };

async function tryOne({ wire, marks }: Format, seed: number): Promise<Trial> {
  const replies = repliesOf(wire);
  const frames = wire.encode(replies[seed % replies.length] ?? FULL);
  const foreign = [
    wire.midStreamError.frame,
    ...wire.encode({ text: ["x"], stop: "stop", usage: USAGE }),
  ];
  const mutated = mutate({ frames, foreign }, seed);
  const reading = await readReply(wire, mutated);
  const against = mutated.harmless
    ? await losses(wire, frames, reading)
    : contradictions(marks, mutated, reading);
  return { seed, mutated, reading, problems: [...(await problemsOf(wire, reading)), ...against] };
}

/** For a stream with only its form changed: all differences from the recorded reply. */
async function losses(
  wire: Wire,
  frames: readonly string[],
  { events, error }: Reading,
): Promise<string[]> {
  const recorded = await readReply(wire, { chunks: [Buffer.from(frames.join(""))], ending: "end" });
  if (error !== undefined) return [`nothing was wrong with the stream: ${String(error)}`];
  return isDeepStrictEqual(events.at(-1), recorded.events.at(-1))
    ? []
    : ["what came is not what was recorded"];
}

/** Cases in which the adapter accepted an incomplete reply as complete. */
function contradictions(
  marks: EndMarks,
  { bytes }: Mutation,
  { events, error }: Reading,
): string[] {
  if (error !== undefined || events.at(-1)?.type !== "stop") return [];
  const { ended, objection } = readEnd(bytes, marks);
  if (!ended) return ["a part was taken for the whole: the stream never says that it is complete"];
  return objection === null ? [] : [`a part was taken for the whole: ${objection}`];
}

/** Runs all seeds, this many at a time. */
async function tryAll(format: Format): Promise<Trial[]> {
  const tried: Trial[] = [];
  let next = FIRST_SEED;
  const runner = async () => {
    while (next < FIRST_SEED + STREAMS) {
      const seed = next++;
      const one = await tryOne(format, seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      });
      tried.push(one);
      // all work here is promises: without a pause no timer would fire before the last seed
      await turn();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
  return tried;
}

function outcomesOf(format: string, tried: readonly Trial[]): FaultOutcome[] {
  const count = (change: Change) => {
    const counts = new Map<string, number>();
    for (const { reading } of tried.filter(({ mutated: { changes } }) => changes[0] === change)) {
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
      const tried = await tryAll(format);
      task.meta.faults = outcomesOf(format.wire.name, tried);
      const failures = tried
        .filter(({ problems }) => problems.length > 0)
        .map(
          ({ seed, problems, mutated: { changes, ending } }) =>
            `seed ${seed} (${changes.join(", ")}; ${ending}): ${problems.join("; ")}`,
        );
      expect(failures.slice(0, 20), `${failures.length} of ${STREAMS}`).toEqual([]);
    });
  });
}
