import OpenAI from "openai";

/** The requests of a run, by stage. Stages are sent one after another; their requests together. */
export type LoopJob = { baseUrl: string; stages: Record<string, unknown>[][] };

/**
 * The lower bound of a run: sends the same requests with the same SDK, reads each stream to its end
 * and discards the data. It has no rules, log or recovery. Returns the number of chunks. Runs in
 * Node and in the Workers runtime.
 */
export async function runBareLoop({ baseUrl, stages }: LoopJob): Promise<number> {
  let chunks = 0;
  const onChunk = () => {
    chunks += 1;
  };
  for (const stage of stages)
    await Promise.all(stage.map((body) => readChunks({ baseUrl, body, onChunk })));
  return chunks;
}

type Reading = {
  baseUrl: string;
  body: Record<string, unknown>;
  onChunk: (chunk: unknown) => void;
  signal?: AbortSignal;
};

/** Sends one request with the SDK; calls `onChunk` for each chunk of the reply. */
export async function readChunks({ baseUrl, body, onChunk, signal }: Reading): Promise<void> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: "simulated", maxRetries: 0 });
  const options = { body, stream: true, ...(signal && { signal }) };
  for await (const chunk of await client.post<AsyncIterable<unknown>>("/chat/completions", options))
    onChunk(chunk);
}
