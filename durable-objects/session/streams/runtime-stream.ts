/** Returns the next segment of a stream, when the one before has ended; `null` after the last. */
export type NextSegment = () => ReadableStream<Uint8Array> | null;

/**
 * The body of a response with the contents of all segments, one after another.
 *
 * A response of an object must not have a stream of JavaScript as its body. If the object is
 * discarded while such a body is read (by `ctx.abort`, or after a failed write), the runtime
 * (workerd) never releases the stream, nor anything that it references. The runtime does release
 * its own stream. But it notices only at the next write that the reader has disconnected, so the
 * segment must end then by itself.
 *
 * A pipe of the runtime keeps some promises for each chunk until the pipe ends. So a long body
 * needs several segments.
 */
export function toRuntimeStream(next: NextSegment): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  // A failed write cancels the segment, so no one else needs the error.
  void pipeSegments(next, writable).catch(() => undefined);
  return readable;
}

async function pipeSegments(next: NextSegment, writable: WritableStream): Promise<void> {
  for (let segment = next(); segment !== null; segment = next())
    await segment.pipeTo(writable, { preventClose: true });
  await writable.close();
}
