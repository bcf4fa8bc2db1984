import { spelled, UNSEEN_MARK } from "../../src/protocol/invisible";

/**
 * Makes texts of models and servers safe for a terminal: only text, line feeds and tabs remain.
 * Without this, an answer could clear the screen, rewrite lines above it, plant links or fill
 * the clipboard.
 */

/**
 * Strings that a terminal swallows whole (titles, links, clipboard, device control); one left open
 * ends with its line.
 */
const STRING = String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?`;
/** Colours, cursor movements, erasing. */
const CSI = String.raw`(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]?`;
/** Other escapes: character sets, reset. */
const ESCAPE = String.raw`\x1b[\x20-\x2f]*[\x30-\x7e]?`;
/** What is left of C0, DEL and C1. */
const CONTROL = String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`;
const UNSAFE = new RegExp([STRING, CSI, ESCAPE, CONTROL].join("|"), "g");

/** `text` without control sequences; line feeds and tabs stay. */
export const sanitize = (text: string): string => text.replace(UNSAFE, "");

/**
 * Letters of scripts that write a joiner or a non-joiner between two of them, as Persian and Hindi
 * do. Both shape the letters, so in a sentence they are no disguise; in names of files the service
 * refuses them.
 */
const JOINING = String.raw`[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}]`;
const UNSEEN = new RegExp(
  String.raw`(?!(?<=${JOINING})[\u200c\u200d](?=${JOINING}))(?:${UNSEEN_MARK})`,
  "gu",
);

/**
 * `text` on one line, for names, reasons and glimpses of what is being written. Marks that a reader
 * does not see are written out, as `\u{200b}`, so that two names which differ in them do not look
 * the same.
 */
export const toLine = (text: string): string =>
  sanitize(text).replace(UNSEEN, spelled).replace(/\s+/gu, " ").trim();

/**
 * JSON text that a terminal shows unchanged: JSON escapes C0 itself, the rest is escaped here. Its
 * value stays the same.
 */
export const escapeJson = (json: string): string =>
  json.replace(/[\x7f-\x9f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);

/** Controls and marks that change direction; ends of lines and tabs are not among them. */
const HIDDEN = /(?!\r\n)[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/**
 * `text` with controls and direction marks written out, as `\\x1b` or `\\u202e`: a reader sees that
 * they are there.
 */
export const spellOut = (text: string): string =>
  text.replace(HIDDEN, (char) => {
    const code = char.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
