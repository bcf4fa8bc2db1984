import OpenAI from "openai";

/** The requests of a run: stage after stage, those of one stage at once. */
export type LoopJob = { baseUrl: string; stages: Record<string, unknown>[][] };

/**
 * The lower bound: the same requests over the same SDK, each stream read to its end and forgotten. No rules, no log, no
 * recovery. Gives the number of chunks; runs in Node and in the Workers runtime.
 */
export async function runBareLoop({ baseUrl, stages }: LoopJob): Promise<number> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: "simulated", maxRetries: 0 });
  let chunks = 0;
  for (const stage of stages) {
    const counts = await Promise.all(stage.map((body) => countChunks(client, body)));
    chunks += counts.reduce((sum, count) => sum + count, 0);
  }
  return chunks;
}

async function countChunks(client: OpenAI, body: Record<string, unknown>): Promise<number> {
  const stream = await client.post<AsyncIterable<unknown>>("/chat/completions", { body, stream: true });
  let chunks = 0;
  for await (const _ of stream) chunks += 1;
  return chunks;
}
