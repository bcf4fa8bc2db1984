import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const MOST_SILENCE_MS = 20_000;
const RETRY_MS = 50;
/**
 * Connections that vanished earlier may still count against the limit, but not longer than this.
 */
const RETRY_FOR_MS = 10_000;

const TOO_MANY_READERS = "429";
/** `HTTP/1.1 200`: enough bytes to know whether the connection was admitted. */
const STATUS_LINE = /^HTTP\/1\.1 (\d{3})/;
const STATUS_LINE_BYTES = 12;

/**
 * Result of `connectAndReset`. `vanished`: number of connections that were admitted and then reset.
 * `others`: for each other connection, its HTTP status or why it received no reply.
 */
export type ResetCounts = { vanished: number; others: string[] };

/**
 * Opens raw connections to a stream and resets each connection once it is admitted. A connection
 * that is refused because of too many readers is retried for `retryForMs`. Resolves when all
 * connections are closed.
 */
export async function connectAndReset(
  origin: string,
  path: string,
  count: number,
  retryForMs = RETRY_FOR_MS,
): Promise<ResetCounts> {
  const { hostname, port } = new URL(origin);
  const resets = Array.from({ length: count }, () =>
    resetWithRetries({ host: hostname, port: Number(port), path }, retryForMs),
  );
  const outcomes = await Promise.all(resets);
  const others = outcomes.filter((outcome) => outcome !== "200");
  return { vanished: outcomes.length - others.length, others };
}

type Target = { host: string; port: number; path: string };

async function resetWithRetries(target: Target, retryForMs: number): Promise<string> {
  const giveUpAt = performance.now() + retryForMs;
  for (;;) {
    const outcome = await resetOne(target);
    if (outcome !== TOO_MANY_READERS || performance.now() > giveUpAt) return outcome;
    await sleep(RETRY_MS);
  }
}

/** The HTTP status of the reply, or why no reply arrived. */
function resetOne({ host, port, path }: Target): Promise<string> {
  return new Promise((resolve) => {
    let [head, outcome] = ["", "closed without an answer"];
    const socket = connect(port, host, () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\naccept: text/event-stream\r\n\r\n`,
      ),
    );
    socket.setTimeout(MOST_SILENCE_MS, () => {
      outcome = `nothing for ${MOST_SILENCE_MS} ms`;
      socket.destroy();
    });
    socket.on("data", (bytes: Buffer) => {
      head += bytes.toString("latin1");
      if (head.length < STATUS_LINE_BYTES) return;
      outcome = STATUS_LINE.exec(head)?.[1] ?? `no HTTP: ${head.slice(0, STATUS_LINE_BYTES)}`;
      socket.resetAndDestroy();
    });
    socket
      .on("error", (error) => {
        if (head === "") outcome = error.message;
      })
      .once("close", () => resolve(outcome));
  });
}
