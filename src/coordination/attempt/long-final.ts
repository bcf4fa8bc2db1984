import { byteLength, truncateTo } from "../byte-length";
import { LIMITS } from "../limits";

/**
 * Name of the file with the whole final text if the text is too long to show. If the name is in
 * use, a number is added.
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
  const wholeTextNote =
    file === null
      ? `The whole text has ${bytes} bytes and is not kept.`
      : `The whole text, ${bytes} bytes, is in the file ${file}.`;
  const lastLine = `\n\n[The text is cut here: a final text shows at most ${LIMITS.finalBytes / 1024} KiB. ${wholeTextNote}]`;
  return truncateTo(LIMITS.finalBytes - byteLength(lastLine), text) + lastLine;
}

/**
 * The first name for the text file that no file or directory in `paths` has. Names that differ only
 * in case count as equal.
 */
export function freeTextFile(paths: Iterable<string>): string {
  const usedNames = new Set([...paths].map((path) => (path.split("/")[0] ?? "").toLowerCase()));
  let name = TEXT_FILE;
  for (let n = 2; usedNames.has(name); n += 1) name = TEXT_FILE.replace(".", `-${n}.`);
  return name;
}
