import { plural } from "../../src/describe/figures";
import { isText } from "../../src/workspace/media-type";
import { withPathsFor } from "../../src/protocol/workspace-paths";
import { CliError, EXIT } from "../exit-codes";
import { commandAt } from "../invocation";
import type { Io } from "../io";
import { turnFacts } from "../service/session-calls";
import type { RequestContext } from "../service/problem";
import type { FileList } from "../service/schema";
import { block, type Line, printTable, segment } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { fitStart, widthOf } from "../terminal/text-width";
import { fetchFromResult, type FilesPlace, listFiles } from "./result-files";

/** The files of one result, and how messages name them. */
export type ShownFiles = { place: FilesPlace; list: FileList; raw: string; sourceName: string };

/** Lists the files of a turn's result, or of an answer. Throws CliError if there is no result. */
export async function filesToShow(place: FilesPlace, context: RequestContext): Promise<ShownFiles> {
  const { data: list, raw } = await listFiles(place, context);
  const { session, turn, label, attempt } = place;
  if (label === undefined && list.label === null) {
    const { data } = await turnFacts(session, turn, context);
    throw new CliError(
      EXIT.config,
      `Turn ${turn} of ${session} has no result: it is ${toLine(data.status)}. To list the files of an answer: ${commandAt(context, "files", session, String(turn), "--answer", "agent1.1")}`,
    );
  }
  const name = list.label === null ? "" : `${toLine(list.label)}, `;
  const ofAttempt = attempt === undefined ? "" : `attempt ${attempt} of `;
  return { place, list, raw, sourceName: `${name}${ofAttempt}turn ${turn} of ${session}` };
}

/** Prints the files, one per line: size and path. In a pipe, the size is in bytes. */
export function printFiles(
  { list, sourceName }: ShownFiles,
  { stdout, stderr }: Pick<Io, "stdout" | "stderr">,
): void {
  const rows = list.data.map(({ path, size }) => [
    stdout.isTTY === true ? formatBytes(size) : String(size),
    path,
  ]);
  if (rows.length > 0) printTable(["size", "file"], rows, stdout);
  const bytes = list.data.reduce((sum, { size }) => sum + size, 0);
  stderr.write(
    rows.length === 0
      ? `${sourceName}: no files. Agents have files only if their config gives them a workspace.\n`
      : `${sourceName}: ${plural(rows.length, "file")}, ${formatBytes(bytes)}\n`,
  );
}

/**
 * Prints one file. At a terminal only text is printed, without control sequences; a pipe gets the
 * bytes unchanged. `name`: the path, also as agents write it (`/workspace/x`). Throws CliError.
 */
export async function printFile(
  { place, list, sourceName }: ShownFiles,
  name: string,
  { context, io }: { context: RequestContext; io: Pick<Io, "stdout"> },
): Promise<void> {
  const path = name
    .normalize("NFC")
    .replace(/^\/workspace\//, "")
    .replace(/^(\.\/)+/, "");
  const file = list.data.find((entry) => entry.path === path);
  if (!file) throw noSuchFile(name, list, sourceName);
  const bytes = await fetchFromResult(place, [file], context)(file.path, file.sha256);
  if (io.stdout.isTTY !== true) return void io.stdout.write(bytes);
  if (!isText(bytes) && !isTextWithControls(bytes))
    throw new CliError(
      EXIT.config,
      `${toLine(path)} is no text: ${file.content_type ?? "binary"}, ${formatBytes(file.size)}. Redirect the output to a file, or save all files.`,
    );
  io.stdout.write(`${block(new TextDecoder().decode(bytes))}\n`);
}

/** Whether bytes are UTF-8 text with escape sequences, such as a log with colours. */
const isTextWithControls = (bytes: Uint8Array): boolean =>
  !bytes.includes(0) && isText(bytes.map((byte) => (byte < 0x20 ? 0x20 : byte)));

const MAX_LISTED = 10;

function noSuchFile(name: string, { data }: FileList, sourceName: string): CliError {
  const paths = data.slice(0, MAX_LISTED).map(({ path }) => toLine(path));
  const more = data.length > paths.length ? `, and ${data.length - paths.length} more` : "";
  const files = data.length === 0 ? "It has no files" : `Its files: ${paths.join(", ")}${more}`;
  return new CliError(EXIT.config, `There is no file ${toLine(name)} in ${sourceName}. ${files}.`);
}

/** The answer as a terminal shows it: each path of one of its files is the file's address. */
export const withAddresses = (
  text: string,
  { data }: FileList,
  { place, server }: { place: FilesPlace; server: string },
): string =>
  withPathsFor(
    {
      for: "terminal",
      origin: server,
      result: { sessionId: place.session, turn: place.turn, label: place.label },
      files: data.map(({ path }) => path),
    },
    text,
  );

/** Most names in the line at the end of a run, and the least before the command in that line. */
const MAX_NAMES = 5;
const MIN_NAMES = 2;

/**
 * The end of a run names its files and the command that fetches them: in one line if the terminal
 * is wide enough, else in two.
 */
export function filesLines(
  { data }: Pick<FileList, "data">,
  { command, width, label = "files   " }: { command: string; width: number; label?: string },
): Line[] {
  if (data.length === 0) return [];
  const head = `${data.length}: `;
  const columns = width - label.length - head.length;
  const tail = ` · ${command}`;
  const names = data.map(({ path }) => toLine(path));
  const isOneLine = columns - widthOf(tail) >= widthOf(firstNames(names, MIN_NAMES));
  const shown = fittingNames(names, isOneLine ? columns - widthOf(tail) : columns);
  const line = [segment(label, "dim"), segment(`${head}${shown}${isOneLine ? tail : ""}`)];
  return isOneLine ? [line] : [line, [segment(`${" ".repeat(label.length)}${command}`)]];
}

function fittingNames(names: readonly string[], columns: number): string {
  for (let count = Math.min(MAX_NAMES, names.length); count > 1; count -= 1) {
    const text = firstNames(names, count);
    if (widthOf(text) <= columns) return text;
  }
  return fitStart(firstNames(names, 1), columns);
}

const firstNames = (names: readonly string[], count: number): string =>
  `${names.slice(0, count).join(", ")}${names.length > count ? ", …" : ""}`;

const UNITS = ["B", "kB", "MB", "GB"] as const;

/** A size for people, such as `1.2 kB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_000 && unit < UNITS.length - 1) [value, unit] = [value / 1_000, unit + 1];
  if (unit === 0) return `${bytes} B`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
