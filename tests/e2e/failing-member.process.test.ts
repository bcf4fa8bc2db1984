import { beforeAll, expect, it } from "vitest";
import {
  alwaysFails,
  answersThenVotes,
  cutAfter,
  inOrder,
  paced,
} from "../../simulated/providers/scripts";
import { toSituation } from "../../simulated/providers/situation";
import { runningService } from "./support/running-service";

const ANSWER = "Water boils at 100 °C at sea level.";
/** How much longer a turn may take with a failing member: the grace, and a second for the rest. */
const LONGER_MS = 6_000;
const MOST_CALLS = 14;

const good = paced({ ttftMs: 200, tokensPerSecond: 200 }, answersThenVotes({ answer: ANSWER }));
const MODELS = {
  good,
  "fails-500": alwaysFails(500),
  resets: cutAfter(0, good),
  "breaks-text": cutAfter(
    3,
    paced({ ttftMs: 200, tokensPerSecond: 200 }, () => ({ text: ANSWER })),
  ),
  "breaks-call": cutAfter(3, good),
  "retry-after-60": alwaysFails(503, { retryAfter: 60 }),
  "limited-60": alwaysFails(429, { retryAfter: 60 }),
  "cut-once": inOrder(cutAfter(3, good), good),
};

const on = runningService(MODELS);

/** A turn of three agents; the second one has this model. Time in ms, and the number of calls. */
async function play(second: keyof typeof MODELS, question: string) {
  const agents = ["good", second, "good"].map((model, nth) => ({ id: `agent-${nth}`, model }));
  const { baseUrl } = on.providers;
  const startedAt = performance.now();
  const { session_id: id } = await on.client.start({ baseUrl, agents, question });
  const turn = await on.client.ended(id, 90_000);
  const ms = performance.now() - startedAt;
  const calls = on.providers
    .requests()
    .filter(({ asked }) => toSituation(asked).question === question).length;
  return { id, turn, ms, calls };
}

let soundMs = 0;
beforeAll(async () => {
  await play("good", "Is the code compiled?");
  soundMs = (await play("good", "How long without a failing member?")).ms;
});

it.each([
  { name: "always answers HTTP 500", model: "fails-500" },
  { name: "resets every connection", model: "resets" },
  { name: "breaks every text after some words", model: "breaks-text" },
  { name: "breaks every answer after some words", model: "breaks-call" },
  { name: "asks for 60 s with HTTP 503", model: "retry-after-60" },
  { name: "asks for 60 s with HTTP 429", model: "limited-60" },
] as const)(
  "a turn takes at most 6 s longer and at most 14 calls if the provider of one of three members $name",
  async ({ model }) => {
    const { id, turn, ms, calls } = await play(model, `With ${model}?`);
    console.log(
      `${model}: ${Math.round(ms)} ms (${Math.round(soundMs)} ms without), ${calls} calls`,
    );
    expect(turn).toMatchObject({ status: "completed", answer: ANSWER });
    expect(ms - soundMs).toBeLessThan(LONGER_MS);
    expect(calls).toBeLessThanOrEqual(MOST_CALLS);
    const { agents } = await on.client.status(id);
    expect(agents["agent-1"]).toMatchObject({ status: "error" });
  },
);

it("a member whose stream breaks once takes part, and its next try comes at once", async () => {
  const { id, turn, ms, calls } = await play("cut-once", "With one broken stream?");
  console.log(`cut once: ${Math.round(ms)} ms (${Math.round(soundMs)} ms without), ${calls} calls`);
  expect(turn).toMatchObject({ status: "completed", answer: ANSWER });
  const events = await on.client.events(id);
  const failed = events.find(({ type }) => type === "call.failed");
  if (failed?.type !== "call.failed") throw new Error("no call failed");
  expect((failed.retry_at ?? 0) - failed.at).toBeLessThanOrEqual(300);
  expect(events.filter(({ type }) => type === "answer.submitted")).toHaveLength(3);
});
