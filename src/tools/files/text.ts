import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";

/** Of a file's beginning: a NUL in it tells a binary file, as it does for git. */
const SNIFFED_BYTES = 8_192;

/** The text that bytes are in UTF-8, exactly, or null if they are none. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A file's text. Throws `FileError` `file_binary` for what is none, besides what `files.read` throws. */
export async function readText(files: AgentFiles, path: string): Promise<string> {
  const bytes = await files.read(path);
  const text = decodeText(bytes);
  if (text !== null) return text;
  throw new FileError(
    "file_binary",
    `${files.resolve(path)} is not a text file in UTF-8 (${bytes.length} bytes), so it is not shown. copy_file and move_file take it as it is; in the shell, \`od -c\`, \`base64\` and \`strings\` show it.`,
  );
}

/** Lines without their ends; the empty one after a final line feed is none. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
