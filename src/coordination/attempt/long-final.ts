import { byteLength, truncateTo } from "../byte-length";
import { LIMITS } from "../limits";

/** The file of a whole final text that is too long to be shown; a number is added where the name is taken. */
export const TEXT_FILE = "final.txt";

/** Whether a final text is too long to be shown whole. */
export const isLongFinal = (text: string): boolean => byteLength(text) > LIMITS.finalBytes;

/** The final text as it is shown. A long one is cut, and its last line says so; `file`: where the whole text is, null: nowhere. */
export function shownFinal(text: string, file: string | null): string {
  const bytes = byteLength(text);
  if (bytes <= LIMITS.finalBytes) return text;
  const whole =
    file === null
      ? `The whole text has ${bytes} bytes and is not kept.`
      : `The whole text, ${bytes} bytes, is in the file ${file}.`;
  const last = `\n\n[The text is cut here: a final text shows at most ${LIMITS.finalBytes / 1024} KiB. ${whole}]`;
  return truncateTo(LIMITS.finalBytes - byteLength(last), text) + last;
}

/** The first name for the whole text at which there is neither a file nor a directory. Names that differ in case only count as equal. */
export function freeTextFile(paths: Iterable<string>): string {
  const taken = new Set([...paths].map((path) => (path.split("/")[0] ?? "").toLowerCase()));
  let name = TEXT_FILE;
  for (let n = 2; taken.has(name); n += 1) name = TEXT_FILE.replace(".", `-${n}.`);
  return name;
}
