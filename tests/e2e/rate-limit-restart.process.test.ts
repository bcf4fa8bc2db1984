import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { answersThenVotes } from "../../simulated/providers/scripts";
import { runningService } from "./support/running-service";

/** The real runtime is killed while a call waits because of its backend's rate limits. */
const WITHIN_MS = 240_000;
const on = runningService({ quick: answersThenVotes({ answer: "Yes." }) });
const limited = {
  id: "a",
  model: "quick",
  backend: { api_key: "limited", rate_limits: { rpm: 1 } },
};
const start = () => on.client.start({ baseUrl: on.providers.baseUrl, agents: [limited] });
const waits = async (session: string) =>
  (await on.client.events(session)).filter(({ type }) => type === "call.waiting");
const startedAt = async (session: string) =>
  (await on.client.events(session)).find(({ type }) => type === "call.started")?.at ?? 0;

it(
  "a call that waits because of its backend's rate limit waits after a kill for the rest of the minute",
  async () => {
    const { session_id: first } = await start();
    await on.client.ended(first, WITHIN_MS);
    const { session_id: second } = await start();
    while ((await waits(second)).length === 0) await sleep(20);
    await on.service.kill();
    await sleep(300);
    await on.service.start();
    expect((await on.client.ended(second, WITHIN_MS)).status).toBe("completed");
    const waited = (await startedAt(second)) - (await startedAt(first));
    expect(waited).toBeGreaterThan(59_000);
    expect(waited).toBeLessThan(75_000);
    expect(await waits(second)).toHaveLength(1);
  },
  WITHIN_MS,
);
