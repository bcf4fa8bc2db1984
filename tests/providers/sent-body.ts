/**
 * The text of a request's body. Our adapters send bytes, an SDK alone sends text. Throws for a
 * stream.
 */
export function sentText(body: BodyInit | null | undefined): string {
  if (body === null || body === undefined || typeof body === "string") return body ?? "";
  if (ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  throw new Error("the body is neither text nor bytes");
}
