import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { refusesOver, worksAtLength } from "../../simulated/providers/long-work";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import type { WireEvent } from "../../src/protocol/events";
import { runningService } from "./support/running-service";

/** The real runtime is killed during a summary call, or right after it. */
const WITHIN_MS = 240_000;
/** Long enough for a kill during each call. */
const SLOW_START = { ttftMs: 1_000 };

const WORK = {
  steps: 6,
  size: 8_000,
  answer: "Done, in six steps.",
  summaryPace: { ttftMs: 5_000 },
};
const on = runningService({
  lengthy: refusesOver(12_000, paced(SLOW_START, worksAtLength(WORK))),
  quick: answersThenVotes({ answer: "Yes." }),
});

const WORKSPACE = { orchestrator: { snapshot_storage: "s", agent_temporary_workspace: "t" } };
const worker = { id: "worker", model: "lengthy", backend: { cwd: "work" } };
const start = () =>
  on.client.start({
    baseUrl: on.providers.baseUrl,
    agents: [worker, { id: "other", model: "quick" }],
    config: WORKSPACE,
  });

/** Waits until the events of a session fulfil a condition. */
async function waitUntil(
  session: string,
  isFulfilled: (events: readonly WireEvent[]) => boolean,
): Promise<void> {
  while (!isFulfilled(await on.client.events(session))) await sleep(20);
}

async function restart(): Promise<void> {
  await on.service.kill();
  await sleep(300);
  await on.service.start();
}

/** Ids of the summary calls that have started. */
const summaryCalls = (events: readonly WireEvent[]) =>
  events.flatMap((event) => (event.type === "call.started" && event.compacts ? [event.call] : []));
const compacted = (events: readonly WireEvent[]) =>
  events.filter(({ type }) => type === "conversation.compacted");
/** Whether a call of the worker is open at its provider. */
const hasOpenCall = () =>
  on.providers.requests().some(({ model, outcome }) => model === "lengthy" && outcome === "open");
/** The messages of all requests that contain a summary, as JSON, in order. */
const messagesAfterSummary = () =>
  on.providers
    .requests()
    .map(({ body }) => JSON.stringify(body["messages"]))
    .filter((messages) => messages.includes("SUMMARY OF YOUR WORK"));

it(
  "a kill during a summary interrupts only the summary call",
  async () => {
    const { session_id: id } = await start();
    await waitUntil(id, (events) => summaryCalls(events).length === 1);
    while (!hasOpenCall()) await sleep(10);
    await restart();
    const turn = await on.client.ended(id, WITHIN_MS);
    expect(turn.status).toBe("completed");
    const events = await on.client.events(id);
    const [first, second] = summaryCalls(events);
    expect(
      events.find((event) => event.type === "call.failed" && event.call === first),
    ).toMatchObject({ class: "interrupted" });
    expect(compacted(events)[0]).toMatchObject({ call: second });
    expect(events.filter(({ type }) => type === "round.failed")).toEqual([]);
  },
  WITHIN_MS,
);

it(
  "after a kill right after a summary, the shortened conversation is the same, byte for byte",
  async () => {
    const before = messagesAfterSummary().length;
    const { session_id: id } = await start();
    await waitUntil(id, (events) => compacted(events).length === 1);
    while (messagesAfterSummary().length === before) await sleep(10); // a later call was sent
    await restart();
    expect((await on.client.ended(id, WITHIN_MS)).status).toBe("completed");
    const [interrupted, repeated] = messagesAfterSummary().slice(before);
    expect(repeated).toBe(interrupted);
  },
  WITHIN_MS,
);
