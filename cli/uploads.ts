import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isAlias, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { AskedQuestion } from "../src/protocol/api";
import { ATTACHMENT_LIMITS, type QuestionPart } from "../src/protocol/attachments";
import { holdsToken, mayHoldSecrets } from "./contexts/left-out";
import { CliError, EXIT } from "./exit-codes";
import { fetchFile, isAddress } from "./fetch-file";
import type { Io } from "./io";
import { toLine } from "./sanitize";
import { reasonOf } from "./text-file";

/** Images and files that go along with a question: those a config names in `upload_files`, and those of `--file`. */

/** Keys of an entry that name something the service takes. Video it refuses itself, with the line it stands in. */
const PATH_KEYS = ["image_path", "file_path", "audio_path"];
const ADDRESS = /^[a-z][a-z0-9+.-]+:\/\//i;

const scalarOf = (node: unknown): unknown => (isScalar(node) ? node.value : node);

/** The paths that a config names, each once. What is no YAML names none: the service says what is wrong with it. */
export function uploadsIn(yaml: string): string[] {
  const paths = new Set<string>();
  const document = parseDocument(yaml, { logLevel: "silent" });
  const meant = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  visit(document, {
    Pair(_, { key, value }) {
      const list = meant(value);
      if (!isScalar(key) || key.value !== "upload_files" || !isSeq(list)) return;
      for (const entry of list.items.map(meant)) {
        const named = isMap(entry)
          ? PATH_KEYS.map((name) => scalarOf(meant(entry.get(name, true))))
          : isScalar(entry)
            ? [entry.value]
            : [];
        for (const one of named) if (typeof one === "string" && one !== "" && !ADDRESS.test(one)) paths.add(one);
      }
    },
  });
  return [...paths];
}

/** A file that is to go along. `isMeant`: its user named it; otherwise a config did, which somebody else may have written. */
export type Upload = { name: string; isMeant: boolean };

/** What a config and the command line name, each once. */
export function uploadsOf(yaml: string, files: readonly string[]): Upload[] {
  const names = [...new Set([...uploadsIn(yaml), ...files])];
  return names.map((name) => ({ name, isMeant: files.includes(name) }));
}

/** These files as parts of a question, called by the paths they were named by. Throws CliError for what cannot be sent. */
export async function readUploads(uploads: readonly Upload[], { cwd }: Pick<Io, "cwd">): Promise<QuestionPart[]> {
  if (uploads.length > ATTACHMENT_LIMITS.count)
    throw new CliError(
      EXIT.config,
      `${uploads.length} files are too many: ${ATTACHMENT_LIMITS.count} may go along with a question.`,
    );
  const parts: QuestionPart[] = [];
  let left: number = ATTACHMENT_LIMITS.bytes;
  for (const upload of uploads) {
    const bytes = await readUpload(upload, cwd, left);
    left -= bytes.byteLength;
    parts.push({ type: "file", name: upload.name, data: bytes.toString("base64") });
  }
  return parts;
}

async function readUpload({ name, isMeant }: Upload, cwd: string, mostBytes: number): Promise<Buffer> {
  try {
    if (isMeant && isAddress(name)) return nonEmpty(await fetchFile(name, mostBytes, fetch));
    const file = await realpath(path.resolve(cwd, name));
    const reason = isMeant ? null : await whyKept(file, { name, cwd });
    if (reason !== null) throw new Error(keptAs(reason, name));
    const { size } = await stat(file);
    if (size > mostBytes) throw new Error(`${ATTACHMENT_LIMITS.bytes} bytes may go along with a question, and it makes more`);
    const bytes = nonEmpty(await readFile(file));
    if (!isMeant && holdsToken(file, bytes)) throw new Error(keptAs("it holds a key", name));
    return bytes;
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot send ${toLine(name)} along with the question: ${toLine(reasonOf(cause))}.`, {
      cause,
    });
  }
}

function nonEmpty(bytes: Buffer): Buffer {
  if (bytes.byteLength === 0) throw new Error("it is empty");
  return bytes;
}

const keptAs = (reason: string, name: string): string =>
  `only a config names it, and ${reason}; send it with --file ${name} if you mean it`;

/** Why a file that only a config names stays here: configs come along with folders of others, and may name where they send it. */
async function whyKept(file: string, { name, cwd }: { name: string; cwd: string }): Promise<string | null> {
  const folder = await realpath(cwd);
  const inside = path.relative(folder, file);
  if (inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside)) return "it lies outside this folder";
  const said = path.relative(cwd, path.resolve(cwd, name));
  const isSecret = [inside, said].some((one) => !one.startsWith("..") && mayHoldSecrets(one.split(path.sep).join("/")));
  return isSecret ? "it may hold secrets" : null;
}

/** Says which files go along, before they do. */
export function tellUploads(attached: readonly QuestionPart[] | undefined, { stderr }: Pick<Io, "stderr">): void {
  const names = (attached ?? []).flatMap((part) => (part.type === "text" ? [] : [toLine(part.name ?? "")]));
  if (names.length > 0) stderr.write(`along   ${names.join(", ")}\n`);
}

/** The question with what goes along. */
export const withUploads = (question: string, attached: readonly QuestionPart[] = []): AskedQuestion =>
  attached.length === 0 ? question : [{ type: "text", text: question }, ...attached];
