/** Downloads of attachments that a config or the user names by an https address. */

const TIME_LIMIT_MS = 60_000;
const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export const isAddress = (name: string): boolean => /^https:\/\//i.test(name);

/** A server's response. Its body is read while the caller iterates over it. */
export type FileResponse = {
  status: number;
  /** Target of a redirect; `null` if the response has no `Location`. */
  location: string | null;
  body: AsyncIterable<Uint8Array>;
  /** Closes the response without reading its body. */
  close: () => Promise<void> | void;
};

/** Sends one GET request and follows no redirect. Throws if the request fails or is refused. */
export type Fetcher = (address: URL, signal: AbortSignal) => Promise<FileResponse>;

/** A fetcher over `fetch`. Does not restrict the addresses. */
export const fetcherFrom =
  (fetch: typeof globalThis.fetch): Fetcher =>
  async (address, signal) => {
    const { status, headers, body } = await fetch(address, {
      redirect: "manual",
      signal,
      headers: { accept: "*/*" },
    });
    return {
      status,
      location: headers.get("location"),
      body: body ?? emptyBody(),
      close: () => body?.cancel(),
    };
  };

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/**
 * Downloads a file. Throws an Error if the file is missing, too large or too slow, or if a redirect
 * leaves https. The message is part of a sentence.
 */
export async function fetchFile(address: string, maxBytes: number, get: Fetcher): Promise<Buffer> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const response = await follow(new URL(address), get, signal);
    if (response.status < 200 || response.status > 299) {
      await response.close();
      throw new Error(`the server responded with status ${response.status}`);
    }
    return await readAtMost(response, maxBytes);
  } catch (cause) {
    if (signal.aborted)
      throw new Error(`it takes longer than ${TIME_LIMIT_MS / 1_000} s`, { cause });
    throw cause;
  }
}

/** Follows redirects. Each address is checked before its request. */
async function follow(address: URL, get: Fetcher, signal: AbortSignal): Promise<FileResponse> {
  let current = address;
  for (let steps = 0; steps <= MAX_REDIRECTS; steps += 1) {
    if (current.protocol !== "https:")
      throw new Error("it redirects to an address that does not use https");
    const response = await get(current, signal);
    if (!REDIRECT_STATUSES.has(response.status) || response.location === null) return response;
    await response.close();
    current = new URL(response.location, current);
  }
  throw new Error(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** Reads the body and counts its bytes, because a server's `Content-Length` may be wrong. */
async function readAtMost({ body }: FileResponse, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new Error(
        `it is larger than ${maxBytes} bytes, the limit that is left for the files of this question`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
