/** The text of a request's body, which our adapters send in bytes and an SDK of its own making as text. Throws for a stream. */
export function sentText(body: BodyInit | null | undefined): string {
  if (body === null || body === undefined || typeof body === "string") return body ?? "";
  if (ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  throw new Error("the body is neither text nor bytes");
}
