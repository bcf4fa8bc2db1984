import { expect, it } from "vitest";
import { textSent } from "../../simulated/providers/model-input";
import type { Script } from "../../simulated/providers/reply";
import { byStage, newAnswer, vote } from "../../simulated/providers/scripts";
import type { WireEvent } from "../../src/protocol/events";
import { runningService } from "./support/running-service";

/**
 * A model whose window is smaller than the service assumes. Its tokenizer needs a token for each
 * character, as for Chinese text.
 */
const WINDOW = 128_000;
const TURN_MS = 60_000;

const withSmallWindow =
  (script: Script): Script =>
  (situation) =>
    textSent(situation.asked).length <= WINDOW
      ? script(situation)
      : {
          fail: {
            status: 400,
            type: "invalid_request_error",
            code: "context_length_exceeded",
            message: `This model's maximum context length is ${WINDOW} tokens.`,
          },
        };
const writer: Script = byStage({
  answering: () => newAnswer("An answer."),
  deciding: (situation) => vote(situation),
  presenting: () => ({ text: "The answer." }),
});
const stack = runningService({ dense: withSmallWindow(writer), steady: writer });

/** What a turn plans to show of the turns before it. */
async function planOf(session: string, turn: number) {
  const path = `/api/sessions/${session}/turns/${turn}/events?detail=summary&limit=5`;
  const headers = { accept: "application/json" };
  const response = await fetch(new URL(path, stack.service.url), { headers });
  const { data }: { data: WireEvent[] } = await response.json();
  const start = data.find((event) => event.type === "turn.started");
  return start?.history ?? null;
}

it("questions that are too long do not shorten the history of later turns", {
  timeout: 5 * TURN_MS,
}, async () => {
  const { client, providers } = stack;
  const { session_id: session } = await client.start({
    baseUrl: providers.baseUrl,
    agents: [{ id: "a", model: "dense" }],
    question: "First?",
  });
  await client.ended(session, TURN_MS, 1);
  for (const turn of [2, 3, 4]) {
    await client.ask(session, "長".repeat(160_000));
    expect((await client.ended(session, TURN_MS, turn)).status).toBe("failed");
  }
  await client.ask(session, "And now?");
  expect((await client.ended(session, TURN_MS, 5)).status).toBe("completed");
  expect(await planOf(session, 5)).toBeNull();
});

it("a model with a smaller window than assumed halves the space for the history, and works again", {
  timeout: 5 * TURN_MS,
}, async () => {
  const { client, providers } = stack;
  const agents = [
    { id: "a", model: "steady" },
    { id: "b", model: "dense" },
  ];
  const { session_id: session } = await client.start({
    ...{ baseUrl: providers.baseUrl, agents, question: `First? ${"text ".repeat(24_000)}` },
  });
  await client.ended(session, TURN_MS, 1);
  // The history is longer than the question, and both together are too long for one model.
  await client.ask(session, `Again? ${"text ".repeat(2_000)}`);
  await client.ended(session, TURN_MS, 2);
  await client.ask(session, "And now?");
  const third = await client.ended(session, TURN_MS, 3);
  expect(third.agents.map(({ agent, status }) => `${agent} ${status}`).join()).not.toContain(
    "error",
  );
  const windows = [{ provider: "custom", model: "dense", halvings: 1 }];
  expect(await planOf(session, 3)).toMatchObject({ bytes: 76_800, windows });
});
