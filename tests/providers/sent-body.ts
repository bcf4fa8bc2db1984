/**
 * The text of the body of a request. Our adapters send bytes; an SDK without our code sends text.
 * Throws for a stream.
 */
export function sentText(body: BodyInit | null | undefined): string {
  if (body === null || body === undefined || typeof body === "string") return body ?? "";
  if (ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  throw new Error("the body is neither text nor bytes");
}
