import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { AskedQuestion } from "../src/protocol/api";
import { ATTACHMENT_LIMITS, type QuestionPart } from "../src/protocol/attachments";
import { CliError, EXIT } from "./exit-codes";
import type { Io } from "./io";
import { reasonOf } from "./text-file";

/** Images and files that go along with a question: those a config names in `upload_files`, and those of `--file`. */

/** Keys of an entry that name something the service takes. Sound and video it refuses itself, with the line they stand in. */
const PATH_KEYS = ["image_path", "file_path"];
const ADDRESS = /^[a-z][a-z0-9+.-]+:\/\//i;

/** The paths that a config names, each once. What is no YAML names none: the service says what is wrong with it. */
export function uploadsIn(yaml: string): string[] {
  const paths = new Set<string>();
  visit(parseDocument(yaml, { logLevel: "silent" }), {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.value !== "upload_files" || !isSeq(value)) return;
      for (const entry of value.items) {
        const named = isMap(entry) ? PATH_KEYS.map((name) => entry.get(name)) : isScalar(entry) ? [entry.value] : [];
        for (const one of named) if (typeof one === "string" && one !== "" && !ADDRESS.test(one)) paths.add(one);
      }
    },
  });
  return [...paths];
}

/** These files as parts of a question, called by the paths they were named by. Throws CliError for what cannot be sent. */
export async function readUploads(paths: readonly string[], { cwd }: Pick<Io, "cwd">): Promise<QuestionPart[]> {
  if (paths.length > ATTACHMENT_LIMITS.count)
    throw new CliError(
      EXIT.config,
      `${paths.length} files are too many: ${ATTACHMENT_LIMITS.count} may go along with a question.`,
    );
  const parts: QuestionPart[] = [];
  let left: number = ATTACHMENT_LIMITS.bytes;
  for (const name of paths) {
    const bytes = await readUpload(name, cwd, left);
    left -= bytes.byteLength;
    parts.push({ type: "file", name, data: bytes.toString("base64") });
  }
  return parts;
}

async function readUpload(name: string, cwd: string, mostBytes: number): Promise<Buffer> {
  const file = path.resolve(cwd, name);
  try {
    const { size } = await stat(file);
    if (size > mostBytes) throw new Error(`${ATTACHMENT_LIMITS.bytes} bytes may go along with a question, and it makes more`);
    if (size === 0) throw new Error("it is empty");
    return await readFile(file);
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot send ${name} along with the question: ${reasonOf(cause)}.`, { cause });
  }
}

/** The question with what goes along. */
export const withUploads = (question: string, attached: readonly QuestionPart[] = []): AskedQuestion =>
  attached.length === 0 ? question : [{ type: "text", text: question }, ...attached];
