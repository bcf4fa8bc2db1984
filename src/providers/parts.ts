/** What a question brings along, as requests carry it: parts before the text of the first message. */

/** `base64`: the bytes, without anything around them. */
export type Part =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; base64: string }
  | { type: "pdf"; name: string; base64: string }
  | { type: "audio"; mediaType: string; base64: string };

/** The bytes as an address that says what they are. */
export const dataUrl = (mediaType: string, base64: string): string =>
  `data:${mediaType};base64,${base64}`;

/** For formats without a part for something: nothing of the kind is sent there, as `acceptsMedia` refuses it before the run. */
export function unsayable({ type }: Part): never {
  throw new Error(`this format has no part for ${type}`);
}

export const PDF_TYPE = "application/pdf";

/** What a PDF is called where formats want the name of a file: some take the kind from its end. */
export function pdfFilename(name: string): string {
  const last = name.split(/[/\\]/).findLast((segment) => segment.trim() !== "") ?? "file";
  return /\.pdf$/i.test(last) ? last : `${last}.pdf`;
}
