import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "../../client/index";

const RETRY_AFTER_MS = 20;
const TRY_WITHIN_MS = 30_000;
/** Longer than any restart. */
const GIVE_UP_MS = 60_000;

/** `at`: when the reply arrived, Unix ms. */
export type Reply = { status: number; body: string; at: number; tries: number };
/** `key`: the idempotency key of the request. */
export type Ask = { method?: "GET" | "POST" | "DELETE"; body?: unknown; key?: string };

/**
 * A client that retries until it receives a reply, also if the service restarts or refuses requests
 * for a while. Each try uses a new connection. Starts of runs carry an idempotency key, so a retry
 * starts nothing twice.
 */
export class PatientClient {
  constructor(readonly url: string) {}

  /** The final reply. Statuses of 500 and above are retried. */
  async ask(path: string, { method = "GET", body, key }: Ask = {}): Promise<Reply> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (let tries = 1; ; tries += 1) {
      const answered = await this.once(path, {
        method,
        ...(body === undefined ? {} : { body }),
        ...(key === undefined ? {} : { key }),
      });
      if (answered && answered.status < 500) return { ...answered, tries };
      if (performance.now() > giveUpAt)
        throw new Error(`${method} ${path} got no answer: ${answered?.body ?? "no connection"}`);
      await sleep(RETRY_AFTER_MS);
    }
  }

  /** The reply to one try; `null` if the connection was refused or lost. */
  async once(
    path: string,
    { method = "GET", body, key }: Ask,
  ): Promise<Omit<Reply, "tries"> | null> {
    const call = {
      method,
      path,
      timeoutMs: TRY_WITHIN_MS,
      ...(body === undefined ? {} : { json: body }),
      ...(key === undefined ? {} : { idempotencyKey: key }),
    };
    const client = new Client({ server: this.url, headers: { connection: "close" } });
    const answer = await client.receive(call).catch(() => null);
    return (
      answer && {
        status: answer.status,
        body: new TextDecoder().decode(answer.bytes),
        at: performance.timeOrigin + performance.now(),
      }
    );
  }
}
