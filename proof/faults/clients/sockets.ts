import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const SILENT_MS = 20_000;
const RETRY_MS = 50;
/** Places of earlier vanished connections may still be taken, but no longer than this. */
const FULL_FOR_MS = 10_000;

const TOO_MANY_READERS = "429";
/** `HTTP/1.1 200`: enough bytes to know whether the connection was admitted. */
const STATUS_LINE = /^HTTP\/1\.1 (\d{3})/;
const STATUS_LINE_BYTES = 12;

/**
 * Result of vanishing connections. `vanished`: admitted and reset. `others`: what the other
 * connections received.
 */
export type ResetCounts = { vanished: number; others: string[] };

/**
 * Opens raw connections to a stream and resets each once it is admitted. While all places are taken
 * they retry for `fullForMs`. Resolves when all are closed.
 */
export async function connectAndReset(
  origin: string,
  path: string,
  count: number,
  fullForMs = FULL_FOR_MS,
): Promise<ResetCounts> {
  const { hostname, port } = new URL(origin);
  const leaving = Array.from({ length: count }, () =>
    resetWithRetries({ host: hostname, port: Number(port), path }, fullForMs),
  );
  const met = await Promise.all(leaving);
  const others = met.filter((one) => one !== "200");
  return { vanished: met.length - others.length, others };
}

type Place = { host: string; port: number; path: string };

async function resetWithRetries(place: Place, fullForMs: number): Promise<string> {
  const giveUpAt = performance.now() + fullForMs;
  for (;;) {
    const met = await resetOne(place);
    if (met !== TOO_MANY_READERS || performance.now() > giveUpAt) return met;
    await sleep(RETRY_MS);
  }
}

/** The HTTP status of the reply, or why no reply arrived. */
function resetOne({ host, port, path }: Place): Promise<string> {
  return new Promise((gone) => {
    let [head, met] = ["", "closed without an answer"];
    const socket = connect(port, host, () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\naccept: text/event-stream\r\n\r\n`,
      ),
    );
    socket.setTimeout(SILENT_MS, () => {
      met = `nothing for ${SILENT_MS} ms`;
      socket.destroy();
    });
    socket.on("data", (bytes: Buffer) => {
      head += bytes.toString("latin1");
      if (head.length < STATUS_LINE_BYTES) return;
      met = STATUS_LINE.exec(head)?.[1] ?? `no HTTP: ${head.slice(0, STATUS_LINE_BYTES)}`;
      socket.resetAndDestroy();
    });
    socket
      .on("error", (error) => {
        if (head === "") met = error.message;
      })
      .once("close", () => gone(met));
  });
}
