/**
 * The body of a response with the contents of `source`. A response of an object must not have a
 * stream of JavaScript as its body. If the object is discarded while such a body is read (by
 * `ctx.abort`, or after a failed write), the runtime (workerd) never releases the stream, nor
 * anything that it references. The runtime does release its own stream. But it notices only at the
 * next write that the reader has disconnected, so `source` must end then by itself.
 */
export function toRuntimeStream(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  // A failed write cancels the source, so no one else needs the error.
  source.pipeTo(writable).catch(() => undefined);
  return readable;
}
