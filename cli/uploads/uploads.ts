import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { AskedQuestion, Fault } from "../../src/protocol/api";
import { ATTACHMENT_LIMITS, type QuestionPart } from "../../src/protocol/attachments";
import { holdsToken, mayHoldSecrets } from "../contexts/exclusions";
import { CliError, EXIT } from "../exit-codes";
import { fetchFile, type Fetcher, fetcherFrom, isAddress } from "./fetch-file";
import type { Io } from "../io";
import { NotPublicError, fetchPublic } from "./public-fetcher";
import { toLine } from "../terminal/sanitize";
import { reasonOf } from "../local-files";

/** Files attached to a question: `upload_files` of the config, and `--file`. */

/**
 * Keys of an entry that name a supported file. Video is not included: the service refuses it and
 * names the line.
 */
const PATH_KEYS = ["image_path", "file_path", "audio_path"];
/** Addresses other than https. The service refuses them and names the line. */
const OTHER_ADDRESS = /^(?!https:)[a-z][a-z0-9+.-]+:\/\//i;

const scalarOf = (node: unknown): unknown => (isScalar(node) ? node.value : node);

/**
 * A file in `upload_files` of a config, with its JSON pointer. Line and column count from 1.
 */
type NamedUpload = { name: string; pointer: string; line: number; column: number };

/**
 * The files in `upload_files` of a config, in order. Empty for invalid YAML: the service reports
 * that error.
 */
function namedUploads(yaml: string): NamedUpload[] {
  const named: NamedUpload[] = [];
  const lines = new LineCounter();
  const document = parseDocument(yaml, { logLevel: "silent", lineCounter: lines });
  const resolved = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  visit(document, {
    Pair(_, pair, above) {
      const { key, value } = pair;
      const list = resolved(value);
      if (!isScalar(key) || key.value !== "upload_files" || !isSeq(list)) return;
      const pointer = pointerTo([...above, pair]);
      list.items.forEach((item, index) => {
        const entry = resolved(item);
        const keys = isMap(entry) ? PATH_KEYS : [null];
        for (const one of keys) {
          const node = isMap(entry) ? resolved(entry.get(one, true)) : entry;
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

/** The paths and addresses in `upload_files`, without duplicates. */
export const uploadsIn = (yaml: string): string[] => [
  ...new Set(namedUploads(yaml).map(({ name }) => name)),
];

/**
 * A file to attach. `isNamedByUser` is false if only the config names it, which another person may
 * have written.
 */
export type Upload = { name: string; isNamedByUser: boolean };

/** The files of the config and of the command line, without duplicates. */
export function uploadsOf(yaml: string, files: readonly string[]): Upload[] {
  const names = [...new Set([...uploadsIn(yaml), ...files])];
  return names.map((name) => ({ name, isNamedByUser: files.includes(name) }));
}

/**
 * Fetchers for addresses. The user may name any address, a config only public ones.
 */
export type Fetchers = { byUser: Fetcher; byConfig: Fetcher };
const FETCHERS: Fetchers = { byUser: fetcherFrom(fetch), byConfig: fetchPublic() };

/** The folder of the files, and the output for notices. */
type Place = Pick<Io, "cwd" | "stderr">;

/**
 * Reads the files as parts of a question. Each part has the path or address as its name. Throws
 * CliError if a file cannot be attached.
 */
export async function readUploads(
  uploads: readonly Upload[],
  place: Place,
  fetchers = FETCHERS,
): Promise<QuestionPart[]> {
  if (uploads.length > ATTACHMENT_LIMITS.count)
    throw new CliError(EXIT.config, tooMany(uploads.length));
  const parts: QuestionPart[] = [];
  let remaining: number = ATTACHMENT_LIMITS.bytes;
  for (const upload of uploads) {
    const bytes = await readUpload(
      upload,
      remaining,
      isAddress(upload.name) ? fromAddress(place, fetchers) : fromFile(place),
    );
    remaining -= bytes.byteLength;
    parts.push({ type: "file", name: upload.name, data: bytes.toString("base64") });
  }
  return parts;
}

const tooMany = (count: number): string =>
  `${count} files are too many: a question can have ${ATTACHMENT_LIMITS.count}.`;

/**
 * Errors of the files that a config names, each with its place in the config. Paths are relative to
 * `cwd`, as in `ask`. Addresses are not checked, because validation sends no requests to them.
 */
export async function uploadFaults(yaml: string, place: Place): Promise<Fault[]> {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  let remaining: number = ATTACHMENT_LIMITS.bytes;
  for (const { name, ...where } of namedUploads(yaml)) {
    if (seen.has(name)) continue;
    seen.add(name);
    if (seen.size > ATTACHMENT_LIMITS.count) {
      const total = uploadsIn(yaml).length;
      return [...faults, { ...where, code: "upload_unreadable", detail: tooMany(total) }];
    }
    if (isAddress(name)) continue;
    try {
      remaining -= (await readUpload({ name, isNamedByUser: false }, remaining, fromFile(place)))
        .byteLength;
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      faults.push({ ...where, code: "upload_unreadable", detail: cause.message });
    }
  }
  return faults;
}

type UploadReader = (upload: Upload, mostBytes: number) => Promise<Buffer>;

async function readUpload(upload: Upload, mostBytes: number, read: UploadReader): Promise<Buffer> {
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
 * Downloads an attachment. If only the config names it, the address is printed first and must be
 * public.
 */
const fromAddress =
  ({ stderr }: Place, { byUser, byConfig }: Fetchers): UploadReader =>
  async ({ name, isNamedByUser }, mostBytes) => {
    if (isNamedByUser) return fetchFile(name, mostBytes, byUser);
    stderr.write(
      `fetch   ${toLine(name)} from this machine, because the config names it in upload_files\n`,
    );
    try {
      return await fetchFile(name, mostBytes, byConfig);
    } catch (cause) {
      if (!(cause instanceof NotPublicError)) throw cause;
      throw new Error(`${cause.message}; if you trust this address, add --file ${name}`, { cause });
    }
  };

const fromFile =
  ({ cwd }: Place): UploadReader =>
  async ({ name, isNamedByUser }, mostBytes) => {
    const file = await realpath(path.resolve(cwd, name));
    const reason = isNamedByUser ? null : await refusalReason(file, { name, cwd });
    if (reason !== null) throw new Error(refusalMessage(reason, name));
    const { size } = await stat(file);
    if (size > mostBytes)
      throw new Error(
        `${ATTACHMENT_LIMITS.bytes} bytes is the limit of all files of a question, and this file exceeds it`,
      );
    const bytes = await readFile(file);
    if (!isNamedByUser && holdsToken(file, bytes))
      throw new Error(refusalMessage("it contains a key", name));
    return bytes;
  };

const refusalMessage = (reason: string, name: string): string =>
  `only a config names it, and ${reason}; to send it, add --file ${name}`;

/**
 * Why a file that only the config names must not be sent; `null` if it may. A config may be written
 * by another person, who could have the file sent to a server of their choice.
 */
async function refusalReason(
  file: string,
  { name, cwd }: { name: string; cwd: string },
): Promise<string | null> {
  const folder = await realpath(cwd);
  const inside = path.relative(folder, file);
  if (inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside))
    return "it is outside this folder";
  const written = path.relative(cwd, path.resolve(cwd, name));
  const isSecret = [inside, written].some(
    (one) => !one.startsWith("..") && mayHoldSecrets(one.split(path.sep).join("/")),
  );
  return isSecret ? "it may hold secrets" : null;
}

/** Prints the names of the attached files before they are sent. */
export function printAttached(
  attached: readonly QuestionPart[] | undefined,
  { stderr }: Pick<Io, "stderr">,
): void {
  const names = (attached ?? []).flatMap((part) =>
    part.type === "text" ? [] : [toLine(part.name ?? "")],
  );
  if (names.length > 0) stderr.write(`attached  ${names.join(", ")}\n`);
}

/** The question with its attachments. */
export const withUploads = (
  question: string,
  attached: readonly QuestionPart[] = [],
): AskedQuestion =>
  attached.length === 0 ? question : [{ type: "text", text: question }, ...attached];
