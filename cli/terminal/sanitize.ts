import { spelled, UNSEEN_MARK } from "../../src/protocol/invisible";

/**
 * Makes texts of models and servers safe for a terminal: only text, line feeds and tabs remain.
 * Without this, an answer could clear the screen, rewrite lines above it, plant links or fill
 * the clipboard.
 */

/**
 * Control strings (titles, links, clipboard, device control). A string without terminator ends with
 * its line.
 */
const CONTROL_STRING = String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?`;
/** Colours, cursor movements, erasing. */
const CSI = String.raw`(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]?`;
/** Other escapes: character sets, reset. */
const ESCAPE = String.raw`\x1b[\x20-\x2f]*[\x30-\x7e]?`;
/** Single characters of C0, DEL and C1, except line feed and tab. */
const CONTROL = String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`;
const UNSAFE = new RegExp([CONTROL_STRING, CSI, ESCAPE, CONTROL].join("|"), "g");

/** Removes control sequences from `text`. Line feeds and tabs remain. */
export const sanitize = (text: string): string => text.replace(UNSAFE, "");

/**
 * A letter of a script in which a joiner or a non-joiner between two letters is normal, as in
 * Persian and Hindi. Between such letters, these marks shape the letters and are not written out.
 * The service refuses them in file names.
 */
const JOINING_LETTER = String.raw`[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}]`;
const UNSEEN = new RegExp(
  String.raw`(?!(?<=${JOINING_LETTER})[\u200c\u200d](?=${JOINING_LETTER}))(?:${UNSEEN_MARK})`,
  "gu",
);

/**
 * Puts `text` on one line, for names, reasons and previews. Writes out invisible marks, for example
 * as `\u{200b}`, so that two names that differ only in such marks do not look the same.
 */
export const toLine = (text: string): string =>
  sanitize(text).replace(UNSEEN, spelled).replace(/\s+/gu, " ").trim();

/**
 * Makes JSON text safe for a terminal without changing its value. JSON already escapes the control
 * characters of C0; this function escapes DEL and C1.
 */
export const escapeJson = (json: string): string =>
  json.replace(/[\x7f-\x9f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);

/** Control characters and direction marks, except line ends and tabs. */
const HIDDEN_CHARACTER = /(?!\r\n)[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/**
 * Writes out control characters and direction marks, for example as `\\x1b` or `\\u202e`, so that a
 * reader can see them.
 */
export const spellOut = (text: string): string =>
  text.replace(HIDDEN_CHARACTER, (char) => {
    const code = char.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
