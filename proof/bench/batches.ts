import { DurableObject } from "cloudflare:workers";
import { readChunks } from "./bare-loop";

/** The concurrent requests, how often received text is stored, and for how long. */
export type BatchJob = {
  baseUrl: string;
  bodies: Record<string, unknown>[];
  everyMs: number;
  forMs: number;
};

/**
 * The least that a session must store of its models' output: the same requests over the same SDK,
 * and one row and one event per interval with everything received. No other facts, index or alarm.
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
    const [left, endAt] = [new AbortController(), Date.now() + forMs];
    let gathered: unknown[] = [];
    const onChunk = (chunk: unknown) => gathered.push(chunk);
    // Aborted below.
    for (const body of bodies)
      readChunks({ baseUrl, body, onChunk, signal: left.signal }).catch(() => undefined);
    let rows = 0;
    const send = (event: string, data: string) =>
      reader.write(new TextEncoder().encode(`event: ${event}\ndata: ${data}\n\n`));
    while (Date.now() < endAt) {
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      if (gathered.length === 0) continue;
      const batch = JSON.stringify(gathered);
      gathered = [];
      rows += this.ctx.storage.sql.exec("INSERT INTO batches (body) VALUES (?)", batch).rowsWritten;
      await send("batch", batch);
    }
    left.abort();
    await send("rows", String(rows));
    await reader.close();
  }
}
