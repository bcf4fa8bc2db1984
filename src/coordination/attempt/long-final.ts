import { byteLength, truncateTo } from "../byte-length";
import { LIMITS } from "../limits";

/**
 * File for the whole final text if the text is too long to show. A number is added if the name is
 * taken.
 */
export const TEXT_FILE = "final.txt";

/** Whether a final text is too long to show as a whole. */
export const isLongFinal = (text: string): boolean => byteLength(text) > LIMITS.finalBytes;

/**
 * The final text as shown. A long text is cut, and its last line says so. `file` is the file with
 * the whole text; `null` if the whole text is not stored.
 */
export function truncateFinal(text: string, file: string | null): string {
  const bytes = byteLength(text);
  if (bytes <= LIMITS.finalBytes) return text;
  const whole =
    file === null
      ? `The whole text has ${bytes} bytes and is not kept.`
      : `The whole text, ${bytes} bytes, is in the file ${file}.`;
  const last = `\n\n[The text is cut here: a final text shows at most ${LIMITS.finalBytes / 1024} KiB. ${whole}]`;
  return truncateTo(LIMITS.finalBytes - byteLength(last), text) + last;
}

/**
 * The first candidate name that no file or directory has. Names that differ only in case count as
 * equal.
 */
export function freeTextFile(paths: Iterable<string>): string {
  const taken = new Set([...paths].map((path) => (path.split("/")[0] ?? "").toLowerCase()));
  let name = TEXT_FILE;
  for (let n = 2; taken.has(name); n += 1) name = TEXT_FILE.replace(".", `-${n}.`);
  return name;
}
