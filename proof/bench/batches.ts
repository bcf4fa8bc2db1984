import { DurableObject } from "cloudflare:workers";
import { readChunks } from "./bare-loop";

/**
 * `bodies`: the requests, sent concurrently. `everyMs`: the interval at which received chunks are
 * stored. `forMs`: the duration, after which the requests are aborted.
 */
export type BatchJob = {
  baseUrl: string;
  bodies: Record<string, unknown>[];
  everyMs: number;
  forMs: number;
};

/**
 * The lower bound of what a session stores of its models' output. It sends the same requests with
 * the same SDK. Per interval it writes one row and sends one event with all chunks that arrived. It
 * has no other facts, index or alarm.
 */
export class BatchObject extends DurableObject {
  /** Answers with the stream; its last event has the number of written rows. */
  override async fetch(request: Request): Promise<Response> {
    const job: BatchJob = await request.json();
    this.ctx.storage.sql.exec("CREATE TABLE batches (body TEXT NOT NULL)");
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.ctx.waitUntil(this.#relay(job, writable.getWriter()));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  async #relay(
    { baseUrl, bodies, everyMs, forMs }: BatchJob,
    reader: WritableStreamDefaultWriter<Uint8Array>,
  ): Promise<void> {
    const [requests, endAt] = [new AbortController(), Date.now() + forMs];
    let received: unknown[] = [];
    const onChunk = (chunk: unknown) => received.push(chunk);
    // The abort below rejects these promises, so their errors are ignored.
    for (const body of bodies)
      readChunks({ baseUrl, body, onChunk, signal: requests.signal }).catch(() => undefined);
    let rows = 0;
    const send = (event: string, data: string) =>
      reader.write(new TextEncoder().encode(`event: ${event}\ndata: ${data}\n\n`));
    while (Date.now() < endAt) {
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      if (received.length === 0) continue;
      const batch = JSON.stringify(received);
      received = [];
      rows += this.ctx.storage.sql.exec("INSERT INTO batches (body) VALUES (?)", batch).rowsWritten;
      await send("batch", batch);
    }
    requests.abort();
    await send("rows", String(rows));
    await reader.close();
  }
}
