import { LAST_WAIT_MS } from "./limits";
import type { ModelEvent } from "./provider";

type Decoder = {
  push(chunk: unknown): ModelEvent[];
  /** Whether the provider said how the reply ended, so that what breaks afterwards takes nothing from it. */
  isComplete(): boolean;
  /** Whether nothing more can come. Absent: only the stream's end tells. */
  isOver?(): boolean;
};

/**
 * The events that a decoder makes of a reply's chunks. What breaks after the reply's end was said takes nothing from it; what
 * breaks before fails the call. What may still come after that end is waited for only so long: then `close` must close the
 * connection and so end the chunks. Leaving the loop early closes it, too. No timer is left behind.
 */
export async function* readReply(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  decoder: Decoder,
  close: () => void,
): AsyncGenerator<ModelEvent> {
  let lastWait: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const chunk of chunks) {
      clearTimeout(lastWait);
      for (const event of decoder.push(chunk)) yield event; // `yield*` would wrap every event in an iterator of its own
      if (decoder.isOver?.()) return;
      if (decoder.isComplete()) lastWait = setTimeout(close, LAST_WAIT_MS);
    }
  } catch (error) {
    if (!decoder.isComplete()) throw error;
  } finally {
    clearTimeout(lastWait);
  }
}
