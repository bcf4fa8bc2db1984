import { createParser } from "eventsource-parser";
import { MAX_LINE_BYTES } from "./call-limits";
import { parseJson } from "./json";
import { ProviderError } from "./provider";

/**
 * The data of each server-sent event. An event is yielded as soon as it is complete. If the last
 * event lacks its blank line, it is yielded only if it is complete JSON, even after a broken
 * connection. Otherwise it is dropped. An abort cancels the body at once.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  const parser = createParser({
    maxBufferSize: MAX_LINE_BYTES, // also limits an event of many lines
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      // the standard requires unknown fields to be ignored
      if (type !== "max-buffer-size-exceeded") return;
      throw new ProviderError(
        "transient",
        "bad_response",
        `The provider sent an event of more than ${MAX_LINE_BYTES} characters.`,
      );
    },
  });
  const takeEvents = () => {
    const takenEvents = events;
    events = [];
    return takenEvents;
  };

  const chunks = body[Symbol.asyncIterator]();
  // errors of closing are ignored: the caller must see the abort
  const stop = () => void Promise.resolve(chunks.return?.()).catch(() => undefined);
  if (signal.aborted) stop(); // aborted between the headers and this line
  signal.addEventListener("abort", stop, { once: true });
  let connectionError: unknown = null;
  try {
    for await (const bytes of { [Symbol.asyncIterator]: () => chunks }) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      for (const data of takeEvents()) yield data; // `yield*` would add an iterator per event
    }
  } catch (error) {
    if (error instanceof ProviderError) throw error; // one of our limits was exceeded: stop reading
    connectionError = error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  parser.feed(`${decoder.decode()}\n\n`);
  for (const data of takeEvents()) {
    if (parseJson(data) !== undefined) yield data;
  }
  if (connectionError !== null) throw connectionError;
}
