import { createHash } from "node:crypto";
import { chmod, mkdir, realpath, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";
import { type Io, isInteractive } from "../io";
import { consentsFile, readTextFile, reasonOf, shownPath } from "../local-files";
import { ConsentsSchema, parseJson } from "../service/schema";
import { askYes } from "../terminal/prompts";
import { toLine } from "../terminal/sanitize";
import { uploadsIn } from "../uploads/uploads";

/**
 * A config found in the current folder. Another person may have written it, for example the author
 * of a cloned repository. It chooses the servers to call and the local files to send. So the user
 * must allow it once for each folder and content.
 */
export type FoundConfig = { file: string; text: string };

/** `answer`: asks the user; default: at the terminal. */
export type ConsentContext = Pick<Io, "cwd" | "home"> &
  Partial<Pick<Io, "stdin" | "stderr" | "screen" | "env">> & { answer?: Answer };
type Answer = (message: string) => Promise<boolean>;

/** Most stored consents. The oldest are removed, and the user is asked again. */
const MOST_FOLDERS = 500;
const MOST_NAMED = 10;
/** Only the owner may read and write the file: another user could add a consent. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Returns if the user allows the config, now or before. Throws CliError if not, or if there is no
 * terminal to ask at.
 */
export async function requireConsent(found: FoundConfig, io: ConsentContext): Promise<void> {
  if (await hasConsent(found, io)) return;
  const shown = shownPath(found.file, io);
  const answer = io.answer ?? terminalOf(io);
  if (answer === null) {
    throw new CliError(
      EXIT.config,
      `This folder has its own config, ${shown}. It is new or has changed, and you have not allowed it. To use it: ${commandLineOf("--config", shown, '"your question"')}. To allow it for good, run ${commandLineOf()} in a terminal here. To ask another team: --config NAME.`,
    );
  }
  if (!(await answer(questionAbout(found.text, shown)))) {
    throw new CliError(
      EXIT.config,
      `${shown} is not used. To ask another team here: ${commandLineOf("--config", "NAME", '"your question"')}.`,
    );
  }
  await storeConsent(found, io);
}

/** Whether the user has allowed this content in this folder. */
export async function hasConsent(
  { file, text }: FoundConfig,
  io: Pick<Io, "cwd" | "home">,
): Promise<boolean> {
  const { folders } = await readConsents(io);
  const folder = await folderOf(file);
  return Object.hasOwn(folders, folder) && folders[folder] === hashOf(text);
}

/** Stores the consent. Throws CliError if the file cannot be written. */
export async function storeConsent(
  { file, text }: FoundConfig,
  io: Pick<Io, "cwd" | "home">,
): Promise<void> {
  const { folders } = await readConsents(io);
  const folder = await folderOf(file);
  const others = Object.entries(folders).filter(([name]) => name !== folder);
  const kept = [...others, [folder, hashOf(text)] as const].slice(-MOST_FOLDERS);
  const target = consentsFile(io);
  const draft = `${target}.${process.pid}`;
  try {
    await mkdir(path.dirname(target), { recursive: true, mode: FOLDER_MODE });
    await writeFile(draft, `${JSON.stringify({ folders: Object.fromEntries(kept) }, null, 2)}\n`, {
      mode: FILE_MODE,
    });
    await chmod(draft, FILE_MODE);
    await rename(draft, target);
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot write ${shownPath(target, io)}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}

/** The stored consents; empty if the file is missing or invalid. */
async function readConsents(
  io: Pick<Io, "cwd" | "home">,
): Promise<{ folders: Record<string, string> }> {
  const text = await readTextFile(consentsFile(io), {
    what: "file of consents",
    shown: shownPath(consentsFile(io), io),
  });
  return ConsentsSchema.safeParse(parseJson(text ?? "")).data ?? { folders: {} };
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The config's folder with symbolic links resolved: a consent belongs to the real folder. */
const folderOf = (file: string): Promise<string> => realpath(path.dirname(file));

function terminalOf({ stdin, stderr, screen, env }: ConsentContext): Answer | null {
  if (!stdin || !stderr || !screen || !env || !isInteractive({ stdin, stderr })) return null;
  return (message) => askYes(message, { stdin, screen, env });
}

function questionAbout(text: string, shown: string): string {
  const addresses = [
    ...new Set(text.match(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>,)}\]]+/gi) ?? []),
  ];
  return [
    `This folder has its own config, ${shown}. It chooses the models and tools, and the data that they receive.`,
    namedIn("addresses", addresses),
    namedIn("files to attach", uploadsIn(text)),
    "Use it for questions in this folder?",
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function namedIn(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `It names ${what}: ${names
    .slice(0, MOST_NAMED)
    .map((name) => toLine(name).slice(0, 120))
    .join(", ")}${more}.`;
}
