import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { AskedQuestion, Fault } from "../../src/protocol/api";
import { ATTACHMENT_LIMITS, type QuestionPart } from "../../src/protocol/attachments";
import { holdsToken, mayHoldSecrets } from "../contexts/left-out";
import { CliError, EXIT } from "../exit-codes";
import { fetchFile, type Get, getBy, isAddress } from "./fetch-file";
import type { Io } from "../io";
import { NotPublic, publicGet } from "./public-get";
import { toLine } from "../terminal/sanitize";
import { reasonOf } from "../local-files";

/** Files attached to a question: those a config names in `upload_files`, and those of `--file`. */

/**
 * Keys of an entry that name a file the service accepts. The service itself refuses video, and
 * names the line.
 */
const PATH_KEYS = ["image_path", "file_path", "audio_path"];
/** Addresses other than https. The service refuses them and names the line. */
const OTHER_ADDRESS = /^(?!https:)[a-z][a-z0-9+.-]+:\/\//i;

const scalarOf = (node: unknown): unknown => (isScalar(node) ? node.value : node);

/**
 * A file in `upload_files` of a config: its place as a JSON pointer, and as line and column from 1.
 */
type NamedUpload = { name: string; pointer: string; line: number; column: number };

/**
 * What a config names, in order, with its place. What is no YAML names none: the service says what
 * is wrong with it.
 */
function namedUploads(yaml: string): NamedUpload[] {
  const named: NamedUpload[] = [];
  const lines = new LineCounter();
  const document = parseDocument(yaml, { logLevel: "silent", lineCounter: lines });
  const meant = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  visit(document, {
    Pair(_, pair, above) {
      const { key, value } = pair;
      const list = meant(value);
      if (!isScalar(key) || key.value !== "upload_files" || !isSeq(list)) return;
      const pointer = pointerTo([...above, pair]);
      list.items.forEach((item, index) => {
        const entry = meant(item);
        const keys = isMap(entry) ? PATH_KEYS : [null];
        for (const one of keys) {
          const node = isMap(entry) ? meant(entry.get(one, true)) : entry;
          const name = scalarOf(node);
          if (
            !isScalar(node) ||
            typeof name !== "string" ||
            name === "" ||
            OTHER_ADDRESS.test(name)
          )
            continue;
          const { line, col } = lines.linePos(node.range?.[0] ?? 0);
          named.push({
            name,
            pointer: `${pointer}/${index}${one === null ? "" : `/${one}`}`,
            line,
            column: col,
          });
        }
      });
    },
  });
  return named;
}

/** The JSON pointer to the last of these nodes. Each node contains the next one. */
function pointerTo(nodes: readonly unknown[]): string {
  const parts = nodes.flatMap((node, index) => {
    const above = nodes[index - 1];
    if (isSeq(above)) return [String(above.items.indexOf(node))];
    const key = isPair(node) ? scalarOf(node.key) : undefined;
    return key === undefined ? [] : [String(key)];
  });
  return parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The paths and addresses that a config names, each once. */
export const uploadsIn = (yaml: string): string[] => [
  ...new Set(namedUploads(yaml).map(({ name }) => name)),
];

/**
 * A file to attach. `isMeant`: the user named it. Otherwise a config did, which may have another
 * author.
 */
export type Upload = { name: string; isMeant: boolean };

/** What a config and the command line name, each once. */
export function uploadsOf(yaml: string, files: readonly string[]): Upload[] {
  const names = [...new Set([...uploadsIn(yaml), ...files])];
  return names.map((name) => ({ name, isMeant: files.includes(name) }));
}

/**
 * How addresses are asked: those the user names wherever they lead, those of a config in public
 * only.
 */
export type Gets = { meant: Get; others: Get };
const GETS: Gets = { meant: getBy(fetch), others: publicGet() };

/** The folder of the files, and the output for notices. */
type Place = Pick<Io, "cwd" | "stderr">;

/**
 * These files as parts of a question, called by what they were named by. Throws CliError for what
 * cannot be sent.
 */
export async function readUploads(
  uploads: readonly Upload[],
  place: Place,
  gets = GETS,
): Promise<QuestionPart[]> {
  if (uploads.length > ATTACHMENT_LIMITS.count)
    throw new CliError(EXIT.config, tooMany(uploads.length));
  const parts: QuestionPart[] = [];
  let left: number = ATTACHMENT_LIMITS.bytes;
  for (const upload of uploads) {
    const bytes = await readUpload(
      upload,
      left,
      isAddress(upload.name) ? fromAddress(place, gets) : fromFile(place),
    );
    left -= bytes.byteLength;
    parts.push({ type: "file", name: upload.name, data: bytes.toString("base64") });
  }
  return parts;
}

const tooMany = (count: number): string =>
  `${count} files are too many: a question can have ${ATTACHMENT_LIMITS.count}.`;

/**
 * Why the files that a config names cannot go along, each with its place in the config. The files
 * are read as `ask` reads them, from `cwd`; addresses are not asked, because a check fetches
 * nothing.
 */
export async function uploadFaults(yaml: string, place: Place): Promise<Fault[]> {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  let left: number = ATTACHMENT_LIMITS.bytes;
  for (const { name, ...where } of namedUploads(yaml)) {
    if (seen.has(name)) continue;
    seen.add(name);
    if (seen.size > ATTACHMENT_LIMITS.count) {
      const total = uploadsIn(yaml).length;
      return [...faults, { ...where, code: "upload_unreadable", detail: tooMany(total) }];
    }
    if (isAddress(name)) continue;
    try {
      left -= (await readUpload({ name, isMeant: false }, left, fromFile(place))).byteLength;
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      faults.push({ ...where, code: "upload_unreadable", detail: cause.message });
    }
  }
  return faults;
}

type Read = (upload: Upload, mostBytes: number) => Promise<Buffer>;

async function readUpload(upload: Upload, mostBytes: number, read: Read): Promise<Buffer> {
  try {
    const bytes = await read(upload, mostBytes);
    if (bytes.byteLength === 0) throw new Error("it is empty");
    return bytes;
  } catch (cause) {
    const why = toLine(reasonOf(cause));
    throw new CliError(
      EXIT.config,
      `Cannot attach ${toLine(upload.name)} to the question: ${why}.`,
      { cause },
    );
  }
}

/**
 * What only a config names is fetched too, as it is public; but not unsaid, and not from where only
 * this machine gets in.
 */
const fromAddress =
  ({ stderr }: Place, { meant, others }: Gets): Read =>
  async ({ name, isMeant }, mostBytes) => {
    if (isMeant) return fetchFile(name, mostBytes, meant);
    stderr.write(
      `fetch   ${toLine(name)} from this machine, because the config names it in upload_files\n`,
    );
    try {
      return await fetchFile(name, mostBytes, others);
    } catch (cause) {
      if (!(cause instanceof NotPublic)) throw cause;
      throw new Error(`${cause.message}; if you trust this address, add --file ${name}`, { cause });
    }
  };

const fromFile =
  ({ cwd }: Place): Read =>
  async ({ name, isMeant }, mostBytes) => {
    const file = await realpath(path.resolve(cwd, name));
    const reason = isMeant ? null : await whyKept(file, { name, cwd });
    if (reason !== null) throw new Error(keptAs(reason, name));
    const { size } = await stat(file);
    if (size > mostBytes)
      throw new Error(
        `${ATTACHMENT_LIMITS.bytes} bytes is the limit of all files of a question, and this file exceeds it`,
      );
    const bytes = await readFile(file);
    if (!isMeant && holdsToken(file, bytes)) throw new Error(keptAs("it holds a key", name));
    return bytes;
  };

const keptAs = (reason: string, name: string): string =>
  `only a config names it, and ${reason}; to send it, add --file ${name}`;

/**
 * Why a file that only a config names stays here: configs come along with folders of others, and
 * may name where they send it.
 */
async function whyKept(
  file: string,
  { name, cwd }: { name: string; cwd: string },
): Promise<string | null> {
  const folder = await realpath(cwd);
  const inside = path.relative(folder, file);
  if (inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside))
    return "it is outside this folder";
  const said = path.relative(cwd, path.resolve(cwd, name));
  const isSecret = [inside, said].some(
    (one) => !one.startsWith("..") && mayHoldSecrets(one.split(path.sep).join("/")),
  );
  return isSecret ? "it may hold secrets" : null;
}

/** Says which files go along, before they do. */
export function tellUploads(
  attached: readonly QuestionPart[] | undefined,
  { stderr }: Pick<Io, "stderr">,
): void {
  const names = (attached ?? []).flatMap((part) =>
    part.type === "text" ? [] : [toLine(part.name ?? "")],
  );
  if (names.length > 0) stderr.write(`attached  ${names.join(", ")}\n`);
}

/** The question with what goes along. */
export const withUploads = (
  question: string,
  attached: readonly QuestionPart[] = [],
): AskedQuestion =>
  attached.length === 0 ? question : [{ type: "text", text: question }, ...attached];
