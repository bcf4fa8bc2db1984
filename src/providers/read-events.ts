import { createParser } from "eventsource-parser";
import { MAX_LINE_BYTES } from "./limits";
import { parseJson } from "./json";
import { ProviderError } from "./provider";

/**
 * The data of each event of a stream, as soon as it is whole. The last event needs no blank line after it, as long as it is
 * whole JSON, even if the connection broke there; what was cut in the middle is no event. An abort lets go of the body at once.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  const parser = createParser({
    maxBufferSize: MAX_LINE_BYTES, // of an event of many lines, too
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      if (type !== "max-buffer-size-exceeded") return; // fields nobody knows are ignored, as the standard wants it
      throw new ProviderError(
        "transient",
        "bad_response",
        `The provider sent an event of more than ${MAX_LINE_BYTES} characters.`,
      );
    },
  });
  const take = () => {
    const taken = events;
    events = [];
    return taken;
  };

  const chunks = body[Symbol.asyncIterator]();
  const stop = () => void Promise.resolve(chunks.return?.()).catch(() => undefined); // the abort is what the caller must see
  if (signal.aborted) stop(); // between the headers and here
  signal.addEventListener("abort", stop, { once: true });
  let broken: unknown = null;
  try {
    for await (const bytes of { [Symbol.asyncIterator]: () => chunks }) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      for (const data of take()) yield data; // `yield*` would wrap every event in an iterator of its own
    }
  } catch (error) {
    if (error instanceof ProviderError) throw error; // one of our bounds: what is left is not worth reading
    broken = error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  parser.feed(`${decoder.decode()}\n\n`);
  for (const data of take()) {
    if (parseJson(data) !== undefined) yield data;
  }
  if (broken !== null) throw broken;
}
