/** A file that has an address instead of a path. */

const LIMIT_MS = 60_000;
const MOST_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export const isAddress = (name: string): boolean => /^https:\/\//i.test(name);

/** Its bytes. Throws an Error, its message part of a sentence, for what is not there, too large or too slow, or leads away from https. */
export async function fetchFile(address: string, mostBytes: number, fetch: typeof globalThis.fetch): Promise<Buffer> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const response = await follow(new URL(address), { fetch, signal });
    if (!response.ok) throw new Error(`the answer is ${response.status}`);
    return await readAtMost(response, mostBytes);
  } catch (cause) {
    if (signal.aborted) throw new Error(`it takes longer than ${LIMIT_MS / 1_000} s`, { cause });
    throw cause;
  }
}

/** Each step is looked at before it is taken. */
async function follow(
  address: URL,
  { fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal },
): Promise<Response> {
  let at = address;
  for (let steps = 0; steps <= MOST_REDIRECTS; steps += 1) {
    if (at.protocol !== "https:") throw new Error("it leads to an address without https");
    const response = await fetch(at, { redirect: "manual", signal, headers: { accept: "*/*" } });
    const next = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || next === null) return response;
    await response.body?.cancel();
    at = new URL(next, at);
  }
  throw new Error(`it leads on more than ${MOST_REDIRECTS} times`);
}

/** Counted while it comes: what a server says of its length is its own word. */
async function readAtMost({ body }: Response, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > mostBytes) throw new Error(`it has over ${mostBytes} bytes, more than may still go along`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
