import { formsOf, redact, SHORTEST_SECRET } from "../../redaction/redact";

/**
 * What a tool server and its authorisation server are shown, or give us, so that we are let in: none of it may come back in
 * anything they say. It outlives connections, as calls may.
 */
export class SentSecrets {
  readonly #all = new Set<string>();
  /** Of all, as they may stand in a text. Kept, as listings may have thousands of texts. */
  readonly #forms = new Set<string>();

  /** A secret as it is kept; remembered also as a form would hold it. */
  add(secret: string): void {
    const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
    // What is short may stand in any text.
    for (const one of [secret, inForm]) if (one.length >= SHORTEST_SECRET) this.#keep(one);
  }

  /** The value of a header, whole and without its scheme; of Basic also what it encodes. */
  addHeader(value: string): void {
    const [, scheme, rest = ""] = /^(bearer|basic)(?:\s+(.*))?$/i.exec(value) ?? [];
    if (scheme !== undefined && rest === "") return; // a bare word is no secret
    this.add(value);
    this.add(rest || (value.split(" ").at(-1) ?? ""));
    if (scheme?.toLowerCase() !== "basic") return;
    const decoded = Buffer.from(rest, "base64").toString();
    this.add(decoded);
    this.add(decoded.slice(decoded.indexOf(":") + 1));
  }

  /** Whether a text holds one, in whatever form. */
  isIn(text: string): boolean {
    return [...this.#forms].some((form) => text.includes(form));
  }

  /** Whether bytes hold one as UTF-8, in whatever form. */
  isInBytes({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    return [...this.#forms].some((form) => bytes.includes(form));
  }

  /** The text without them. One that holds any is also looked through for whatever else is shaped like a key. */
  clean(text: string): string {
    return this.isIn(text) ? redact(text, [...this.#all]) : text;
  }

  #keep(secret: string): void {
    if (this.#all.has(secret)) return;
    this.#all.add(secret);
    for (const form of formsOf(secret)) this.#forms.add(form);
  }
}
