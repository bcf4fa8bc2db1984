import { describe, expect, it } from "vitest";
import {
  peakAwaitingHeaders,
  peakConcurrency,
  type RecordedRequest,
} from "../../simulated/providers/ledger";
import { alwaysFails, answersThenVotes, hangs, paced } from "../../simulated/providers/scripts";
import { toSituation } from "../../simulated/providers/situation";
import { runningService } from "./support/running-service";

/**
 * On Cloudflare, at most six requests of an object may wait for headers. So relays send the
 * requests of a session, and a team of this size waits for all its models at the same time. Local
 * workerd has no such limit.
 */
const TEAM = 24;
const BEST =
  "Water boils at 100 °C at sea level, and at about one degree less for every 300 m above it.";
const LONG = Array.from(
  { length: 12 },
  (_, line) => `Line ${line}: the pressure of the air decides when water boils.`,
).join("\n");

const answering = (answer: string) => answersThenVotes({ answer, presentation: BEST });
const MODELS = {
  // The headers and the rest of a reply take longer than the start of all requests, also on a slow
  // machine. So all requests wait together, and all replies are streamed together.
  crowd: paced({ ttftMs: 2_000, tokensPerSecond: 25 }, answering(LONG)),
  good: paced({ ttftMs: 100, tokensPerSecond: 200 }, answering(BEST)),
  broken: alwaysFails(500),
  mute: hangs("headers"),
};

const on = runningService(MODELS);

const requestsFor = (question: string): RecordedRequest[] =>
  on.providers.requests().filter(({ asked }) => toSituation(asked).question === question);

/** The request with the time of its first byte as its start. */
const fromFirstByte = (request: RecordedRequest): RecordedRequest => ({
  ...request,
  startedAt: request.firstByteAt ?? Number.NaN,
});

/** The teams run concurrently, each in its own object, because one of them needs half a minute. */
describe.concurrent("a large team", () => {
  it(`of ${TEAM} waits for the headers of all its models at the same time, and streams all their replies at the same time`, async () => {
    const question = "When does water boil, all of you?";
    const agents = Array.from({ length: TEAM }, (_, index) => ({
      id: `agent-${index}`,
      model: "crowd",
    }));
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents,
      question,
    });
    const turn = await on.client.ended(id, 60_000);
    expect(turn).toMatchObject({ status: "completed", finish_reason: "consensus", answer: BEST });
    const requests = requestsFor(question);
    expect(peakAwaitingHeaders(requests)).toBe(TEAM);
    expect(peakConcurrency(requests.map(fromFirstByte))).toBe(TEAM);
  });
});

describe.concurrent("a team ends with a correct answer although it has one member", () => {
  it.each([
    { name: "whose provider always responds with 500", model: "broken", seconds: 600 },
    { name: "whose provider hangs", model: "mute", seconds: 15 },
  ] as const)("$name", async ({ name, model, seconds }) => {
    const question = `When does water boil, you ${name}?`;
    const agents = [
      { id: "first", model: "good" },
      { id: "bad", model },
      { id: "last", model: "good" },
    ];
    const config = {
      timeout_settings: { initial_round_timeout_seconds: seconds, round_timeout_grace_seconds: 0 },
    };
    const startedAt = performance.now();
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents,
      question,
      config,
    });
    const turn = await on.client.ended(id, 120_000);
    console.log(`with one member ${name}: ${Math.round(performance.now() - startedAt)} ms`);
    expect(turn).toMatchObject({ status: "completed", finish_reason: "consensus", answer: BEST });
    const { agents: states } = await on.client.status(id);
    expect(["error", "timeout"]).toContain(states["bad"]?.status);
  });
});

describe.concurrent("a team in which most members' calls hang without headers", () => {
  const HANGING = 12;

  it("receives the answers of the other members at once", async () => {
    const question = "When does water boil, you who speak?";
    const mute = Array.from({ length: HANGING }, (_, index) => ({
      id: `mute-${index}`,
      model: "mute",
    }));
    const speaking = ["first", "second"].map((id) => ({ id, model: "good" }));
    const config = {
      timeout_settings: { initial_round_timeout_seconds: 10, round_timeout_grace_seconds: 0 },
    };
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: [...mute, ...speaking],
      question,
      config,
    });
    const turn = await on.client.ended(id, 120_000);
    expect(turn).toMatchObject({ status: "completed", finish_reason: "consensus", answer: BEST });
    const events = await on.client.events(id);
    const startedAt = events.find(({ type }) => type === "turn.started")?.at ?? Number.NaN;
    const answeredAt = events.flatMap((event) =>
      event.type === "answer.submitted" ? [event.at - startedAt] : [],
    );
    console.log(
      `with ${HANGING} mute of ${HANGING + 2}: answers after ${answeredAt.join(" and ")} ms`,
    );
    expect(answeredAt).toHaveLength(2);
    // long before the hanging calls time out
    expect(Math.max(...answeredAt)).toBeLessThan(8_000);
  });
});
