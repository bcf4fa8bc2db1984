import { withoutFrames } from "../../async/abort";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Counts the bytes of a body. `onBytes` gets the length of each part; if it throws, the body fails
 * with that error. `onEnd` is called after the last part, after an error, or when the reader
 * cancels.
 */
export type Counter = { onBytes: (bytes: number) => void | Promise<void>; onEnd: () => void };

/** Whether the body of a response is a stream of events. */
export const isEventStream = ({ headers }: Response): boolean =>
  /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get("content-type") ?? "");

/**
 * Reads the whole body. A body that cannot be read becomes a body that fails with the same error.
 * Only streams of events are passed on while they arrive: if the session's object is discarded
 * while a stream of JavaScript is read, the runtime (workerd) keeps the stream and the session.
 */
export async function readWhole(body: Body, { onBytes, onEnd }: Counter): Promise<Blob | Body> {
  const reader = body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(pieces);
      await onBytes(value.byteLength);
      pieces.push(value);
    }
  } catch (error) {
    withoutFrames(error);
    await reader.cancel(error).catch(() => undefined);
    return new ReadableStream({ start: (controller) => controller.error(error) });
  } finally {
    onEnd();
  }
}

/** A copy of the body. */
export function countedBody(body: Body, { onBytes, onEnd }: Counter): Body {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (value) await onBytes(value.byteLength);
          if (value) controller.enqueue(value);
          if (!done) return;
          onEnd();
          controller.close();
        } catch (error) {
          withoutFrames(error);
          onEnd();
          controller.error(error);
          await reader.cancel(error).catch(() => undefined);
        }
      },
      async cancel(reason) {
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
