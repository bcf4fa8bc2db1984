/** A file that has an address instead of a path. */

const LIMIT_MS = 60_000;
const MOST_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export const isAddress = (name: string): boolean => /^https:\/\//i.test(name);

/** A server's answer. The body is read only as far as the caller iterates over it. */
export type Answer = {
  status: number;
  /** Where it leads; null: nowhere. */
  location: string | null;
  body: AsyncIterable<Uint8Array>;
  /** Ends the answer without its body. */
  close: () => Promise<void> | void;
};

/** Asks one address, and follows nothing. Throws what keeps it from asking. */
export type Get = (address: URL, signal: AbortSignal) => Promise<Answer>;

/** By this `fetch`, wherever that goes. */
export const getBy =
  (fetch: typeof globalThis.fetch): Get =>
  async (address, signal) => {
    const { status, headers, body } = await fetch(address, {
      redirect: "manual",
      signal,
      headers: { accept: "*/*" },
    });
    return {
      status,
      location: headers.get("location"),
      body: body ?? nothing(),
      close: () => body?.cancel(),
    };
  };

async function* nothing(): AsyncGenerator<Uint8Array> {}

/**
 * Its bytes. Throws an Error, its message part of a sentence, for what is not there, too large or
 * too slow, or leads away from https.
 */
export async function fetchFile(address: string, mostBytes: number, get: Get): Promise<Buffer> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const answer = await follow(new URL(address), get, signal);
    if (answer.status < 200 || answer.status > 299) {
      await answer.close();
      throw new Error(`the answer is ${answer.status}`);
    }
    return await readAtMost(answer, mostBytes);
  } catch (cause) {
    if (signal.aborted) throw new Error(`it takes longer than ${LIMIT_MS / 1_000} s`, { cause });
    throw cause;
  }
}

/** Each step is looked at before it is taken. */
async function follow(address: URL, get: Get, signal: AbortSignal): Promise<Answer> {
  let at = address;
  for (let steps = 0; steps <= MOST_REDIRECTS; steps += 1) {
    if (at.protocol !== "https:") throw new Error("it redirects to an address without https");
    const answer = await get(at, signal);
    if (!REDIRECTS.has(answer.status) || answer.location === null) return answer;
    await answer.close();
    at = new URL(answer.location, at);
  }
  throw new Error(`it redirects more than ${MOST_REDIRECTS} times`);
}

/** Counted while it comes: what a server says of its length is its own word. */
async function readAtMost({ body }: Answer, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > mostBytes)
      throw new Error(
        `it has over ${mostBytes} bytes, more than the remaining limit of the question`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
