/**
 * The attachments of a question as parts of a request. A format places them before the text of the
 * first message, after its history.
 */

/** `base64` is plain base64, without a data URL prefix. */
export type Part =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; base64: string }
  | { type: "pdf"; name: string; base64: string }
  | { type: "audio"; mediaType: string; base64: string };

/** The bytes as a data URL. */
export const dataUrl = (mediaType: string, base64: string): string =>
  `data:${mediaType};base64,${base64}`;

/**
 * Throws for a part that a format cannot carry. This never happens: `acceptsMedia` refuses such
 * attachments before the run.
 */
export function rejectPart({ type }: Part): never {
  throw new Error(`this format has no part for ${type}`);
}

export const PDF_TYPE = "application/pdf";

/**
 * A file name for formats that require one. The name ends in `.pdf`, because some providers derive
 * the type from the extension.
 */
export function pdfFilename(name: string): string {
  const last = name.split(/[/\\]/).findLast((segment) => segment.trim() !== "") ?? "file";
  return /\.pdf$/i.test(last) ? last : `${last}.pdf`;
}
