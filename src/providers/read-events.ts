import { createParser } from "eventsource-parser";
import { MAX_LINE_BYTES } from "./call-limits";
import { parseJson } from "./json";
import { ProviderError } from "./provider";

/**
 * The data of each server-sent event, as soon as it is complete. The last event may lack its blank
 * line if it is complete JSON, even after a broken connection. Incomplete data is dropped. An abort
 * cancels the body at once.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  const parser = createParser({
    maxBufferSize: MAX_LINE_BYTES, // also bounds an event of many lines
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
  const take = () => {
    const taken = events;
    events = [];
    return taken;
  };

  const chunks = body[Symbol.asyncIterator]();
  // the caller must see the abort
  const stop = () => void Promise.resolve(chunks.return?.()).catch(() => undefined);
  if (signal.aborted) stop(); // aborted between the headers and this line
  signal.addEventListener("abort", stop, { once: true });
  let broken: unknown = null;
  try {
    for await (const bytes of { [Symbol.asyncIterator]: () => chunks }) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      for (const data of take()) yield data; // `yield*` would add an iterator per event
    }
  } catch (error) {
    if (error instanceof ProviderError) throw error; // one of our limits: do not read on
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
