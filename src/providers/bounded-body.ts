import { MAX_JSON_BYTES, MAX_LINE_BYTES, MAX_REPLY_BYTES } from "./call-limits";
import { withoutFrames } from "../async/abort";
import { ProviderError, type TransportHooks } from "./provider";

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const LESS_THAN = 60;

type Limits = { lineBytes: number; totalBytes: number };
const STREAM_LIMITS: Limits = { lineBytes: MAX_LINE_BYTES, totalBytes: MAX_REPLY_BYTES };
/** For a reply that is one JSON text. The text is often a single line, so both limits are equal. */
const JSON_LIMITS: Limits = { lineBytes: MAX_JSON_BYTES, totalBytes: MAX_JSON_BYTES };

/**
 * The pieces of a body, with these checks: the size of each line, the total size, that the body is
 * not empty, and that it is not a web page instead of events. The parsers that read the pieces
 * buffer a line until it is complete, so they cannot limit its size. `onBytes` is called for each
 * piece that arrives. `readEnd` is called if the iteration stops before the end of the body.
 *
 * Not a `ReadableStream`: SDKs accept an async iterable too, a second stream would cost a fifth of
 * the CPU time of reading a reply, and an object that is discarded while it reads a stream of
 * JavaScript stays in memory.
 */
export function boundedChunks(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
  readEnd: TransportHooks["readEnd"],
  limits: Limits = STREAM_LIMITS,
): AsyncIterableIterator<Uint8Array> {
  const reader = body.getReader();
  const bounds = createBounds(limits);
  return {
    async next() {
      // A catch and not `reader.read().catch`, which would cost a promise per piece.
      let part: Awaited<ReturnType<typeof reader.read>>;
      try {
        part = await reader.read();
      } catch (error) {
        throw withoutFrames(error);
      }
      const { done, value } = part;
      const failure = done ? bounds.atEnd() : bounds.take(value);
      if (failure) {
        void reader.cancel(failure).catch(() => undefined); // the caller must see the failure
        throw failure;
      }
      if (done) return { done, value: undefined };
      onBytes();
      return { done, value };
    },
    async return() {
      readEnd(reader);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Reads a reply that is one JSON text, with the same checks. Throws ProviderError. */
export async function readJsonText(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of boundedChunks(body, onBytes, () => undefined, JSON_LIMITS))
    text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

function createBounds({ lineBytes, totalBytes }: Limits) {
  let total = 0;
  let line = 0;
  return {
    take(bytes: Uint8Array): ProviderError | null {
      const isPage = total === 0 && bytes[0] === LESS_THAN;
      total += bytes.length;
      line = openLineBytes(line, bytes);
      if (isPage) return badResponse("The provider sent a web page instead of a stream of events.");
      if (line > lineBytes)
        return badResponse(`The provider sent a line of more than ${lineBytes} bytes.`);
      if (total > totalBytes)
        return badResponse(`The provider sent more than ${totalBytes} bytes.`);
      return null;
    },
    atEnd: () =>
      total === 0
        ? new ProviderError("transient", "empty_reply", "The provider sent an empty reply.")
        : null,
  };
}

/** Bytes of the line that is still open after these bytes; `line` is the number before them. */
function openLineBytes(line: number, bytes: Uint8Array): number {
  const lineFeed = bytes.lastIndexOf(LINE_FEED);
  const end = lineFeed >= 0 ? lineFeed : bytes.lastIndexOf(CARRIAGE_RETURN);
  return end >= 0 ? bytes.length - 1 - end : line + bytes.length;
}

const badResponse = (message: string) => new ProviderError("transient", "bad_response", message);

const rethrow = (error: unknown): never => {
  throw withoutFrames(error);
};

/** The first `maxBytes` bytes of a body as text. Does not receive the rest. */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let remainingBytes = maxBytes; remainingBytes > 0; ) {
    const { done, value } = await reader.read().catch(rethrow);
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, remainingBytes), { stream: true });
    remainingBytes -= value.length;
  }
  void reader.cancel().catch(() => undefined);
  return text;
}
