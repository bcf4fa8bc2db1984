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

/** The files that are attached to a question: `upload_files` of the config, and `--file`. */

/**
 * Keys of an entry that name a supported file. Video is not included: the service refuses it and
 * names the line.
 */
const PATH_KEYS = ["image_path", "file_path", "audio_path"];
/** Addresses other than https. The service refuses them and names the line. */
const OTHER_ADDRESS = /^(?!https:)[a-z][a-z0-9+.-]+:\/\//i;

const scalarOf = (node: unknown): unknown => (isScalar(node) ? node.value : node);

/**
 * A file in `upload_files` of a config, with its JSON pointer. Line and column numbers start at 1.
 */
type NamedUpload = { name: string; pointer: string; line: number; column: number };

/**
 * The files in `upload_files` of a config, in order. Empty for invalid YAML: the service reports
 * that error.
 */
function namedUploads(yaml: string): NamedUpload[] {
  const uploads: NamedUpload[] = [];
  const lines = new LineCounter();
  const document = parseDocument(yaml, { logLevel: "silent", lineCounter: lines });
  const resolveAlias = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  visit(document, {
    Pair(_, pair, ancestors) {
      const { key, value } = pair;
      const list = resolveAlias(value);
      if (!isScalar(key) || key.value !== "upload_files" || !isSeq(list)) return;
      const pointer = pointerTo([...ancestors, pair]);
      list.items.forEach((item, index) => {
        const entry = resolveAlias(item);
        const pathKeys = isMap(entry) ? PATH_KEYS : [null];
        for (const pathKey of pathKeys) {
          const node = isMap(entry) ? resolveAlias(entry.get(pathKey, true)) : entry;
          const name = scalarOf(node);
          if (
            !isScalar(node) ||
            typeof name !== "string" ||
            name === "" ||
            OTHER_ADDRESS.test(name)
          )
            continue;
          const { line, col } = lines.linePos(node.range?.[0] ?? 0);
          uploads.push({
            name,
            pointer: `${pointer}/${index}${pathKey === null ? "" : `/${pathKey}`}`,
            line,
            column: col,
          });
        }
      });
    },
  });
  return uploads;
}

/** The JSON pointer to the last of these YAML nodes. Each node contains the next node. */
function pointerTo(nodes: readonly unknown[]): string {
  const parts = nodes.flatMap((node, index) => {
    const parent = nodes[index - 1];
    if (isSeq(parent)) return [String(parent.items.indexOf(node))];
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
 * A file to attach. `isNamedByUser` is false if only the config names the file, because another
 * person may have written the config.
 */
export type Upload = { name: string; isNamedByUser: boolean };

/** The files of the config and of the command line, without duplicates. */
export function uploadsOf(yaml: string, files: readonly string[]): Upload[] {
  const names = [...new Set([...uploadsIn(yaml), ...files])];
  return names.map((name) => ({ name, isNamedByUser: files.includes(name) }));
}

/**
 * Fetchers for addresses that the user named, and for addresses that only a config names. The user
 * may name any address, a config only public addresses.
 */
export type Fetchers = { byUser: Fetcher; byConfig: Fetcher };
const FETCHERS: Fetchers = { byUser: fetcherFrom(fetch), byConfig: fetchPublic() };

/** The folder to which paths are relative, and the output for notices. */
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
    throw new CliError(EXIT.config, tooManyMessage(uploads.length));
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

const tooManyMessage = (count: number): string =>
  `${count} files are too many: a question can have ${ATTACHMENT_LIMITS.count}.`;

/**
 * Finds errors of the files that a config names, each with its place in the config. Paths are
 * relative to `cwd`, as in `ask`. Addresses are not checked, because validation sends no requests
 * to them.
 */
export async function uploadFaults(yaml: string, place: Place): Promise<Fault[]> {
  const faults: Fault[] = [];
  const seenNames = new Set<string>();
  let remaining: number = ATTACHMENT_LIMITS.bytes;
  for (const { name, ...position } of namedUploads(yaml)) {
    if (seenNames.has(name)) continue;
    seenNames.add(name);
    if (seenNames.size > ATTACHMENT_LIMITS.count) {
      const total = uploadsIn(yaml).length;
      return [...faults, { ...position, code: "upload_unreadable", detail: tooManyMessage(total) }];
    }
    if (isAddress(name)) continue;
    try {
      remaining -= (await readUpload({ name, isNamedByUser: false }, remaining, fromFile(place)))
        .byteLength;
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      faults.push({ ...position, code: "upload_unreadable", detail: cause.message });
    }
  }
  return faults;
}

type UploadReader = (upload: Upload, maxBytes: number) => Promise<Buffer>;

async function readUpload(upload: Upload, maxBytes: number, read: UploadReader): Promise<Buffer> {
  try {
    const bytes = await read(upload, maxBytes);
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
  async ({ name, isNamedByUser }, maxBytes) => {
    if (isNamedByUser) return fetchFile(name, maxBytes, byUser);
    stderr.write(
      `fetch   ${toLine(name)} from this machine, because the config names it in upload_files\n`,
    );
    try {
      return await fetchFile(name, maxBytes, byConfig);
    } catch (cause) {
      if (!(cause instanceof NotPublicError)) throw cause;
      throw new Error(`${cause.message}; if you trust this address, add --file ${name}`, { cause });
    }
  };

const fromFile =
  ({ cwd }: Place): UploadReader =>
  async ({ name, isNamedByUser }, maxBytes) => {
    const file = await realpath(path.resolve(cwd, name));
    const reason = isNamedByUser ? null : await refusalReason(file, { name, cwd });
    if (reason !== null) throw new Error(refusalMessage(reason, name));
    const { size } = await stat(file);
    if (size > maxBytes)
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
 * Why a file that only the config names must not be sent; `null` if it may be sent. Another person
 * may have written the config, and could have the file sent to a server of their choice.
 */
async function refusalReason(
  file: string,
  { name, cwd }: { name: string; cwd: string },
): Promise<string | null> {
  const folder = await realpath(cwd);
  const realPath = path.relative(folder, file);
  if (realPath === ".." || realPath.startsWith(`..${path.sep}`) || path.isAbsolute(realPath))
    return "it is outside this folder";
  const givenPath = path.relative(cwd, path.resolve(cwd, name));
  const isSecret = [realPath, givenPath].some(
    (file) => !file.startsWith("..") && mayHoldSecrets(file.split(path.sep).join("/")),
  );
  return isSecret ? "it may hold secrets" : null;
}

/** Prints the names of the attached files before they are sent. */
export function printAttached(
  attachments: readonly QuestionPart[] | undefined,
  { stderr }: Pick<Io, "stderr">,
): void {
  const names = (attachments ?? []).flatMap((part) =>
    part.type === "text" ? [] : [toLine(part.name ?? "")],
  );
  if (names.length > 0) stderr.write(`attached  ${names.join(", ")}\n`);
}

/** Adds the attachments to the question. */
export const withUploads = (
  question: string,
  attachments: readonly QuestionPart[] = [],
): AskedQuestion =>
  attachments.length === 0 ? question : [{ type: "text", text: question }, ...attachments];
