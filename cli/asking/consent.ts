import { realpath } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";
import { type Io, isInteractive } from "../io";
import { consentsFile, shownPath } from "../local-files";
import { askYes } from "../terminal/prompts";
import { toLine } from "../terminal/sanitize";
import { uploadsIn } from "../uploads/uploads";
import { allow, isAllowed } from "./consent-store";

/**
 * A config found in the current folder. Another person may have written it, for example the author
 * of a cloned repository. It chooses the servers to call and the local files to send. So the user
 * must allow it once for each folder and content.
 */
export type FoundConfig = { file: string; text: string };

/** `confirm` asks the user for consent. If it is omitted, the user is asked at the terminal. */
export type ConsentContext = Pick<Io, "cwd" | "home"> &
  Partial<Pick<Io, "stdin" | "stderr" | "screen" | "env">> & { confirm?: Confirm };
export type Confirm = (message: string) => Promise<boolean>;

/** Most addresses, and most files, that the question to the user lists. */
const MAX_LISTED_NAMES = 10;

/**
 * Returns if the user has allowed the config before, or allows it now. Throws CliError if the user
 * refuses, or if there is no terminal at which the user can be asked.
 */
export async function requireConsent(found: FoundConfig, io: ConsentContext): Promise<void> {
  if (await hasConsent(found, io)) return;
  const displayPath = shownPath(found.file, io);
  const confirm = io.confirm ?? confirmAtTerminal(io);
  if (confirm === null) {
    throw new CliError(
      EXIT.config,
      `This folder has its own config, ${displayPath}. It is new or has changed, and you have not allowed it. To use it: ${commandLineOf("--config", displayPath, '"your question"')}. To allow it for good, run ${commandLineOf()} in a terminal here. To ask another team: --config NAME.`,
    );
  }
  if (!(await confirm(questionAbout(found.text, displayPath)))) {
    throw new CliError(
      EXIT.config,
      `${displayPath} is not used. To ask another team here: ${commandLineOf("--config", "NAME", '"your question"')}.`,
    );
  }
  await storeConsent(found, io);
}

/** Whether the user has allowed this content in this folder. */
export const hasConsent = async (
  { file, text }: FoundConfig,
  io: Pick<Io, "cwd" | "home">,
): Promise<boolean> => isAllowed(consentsFile(io), { subject: await folderOf(file), text }, io);

/** Stores the consent. Throws CliError if the file cannot be written. */
export const storeConsent = async (
  { file, text }: FoundConfig,
  io: Pick<Io, "cwd" | "home">,
): Promise<void> => allow(consentsFile(io), { subject: await folderOf(file), text }, io);

/**
 * The config's folder with symbolic links resolved, because a consent belongs to the real folder.
 */
const folderOf = (file: string): Promise<string> => realpath(path.dirname(file));

/** Asks at the terminal; `null` if there is none. */
export function confirmAtTerminal({ stdin, stderr, screen, env }: ConsentContext): Confirm | null {
  if (!stdin || !stderr || !screen || !env || !isInteractive({ stdin, stderr })) return null;
  return (message) => askYes(message, { stdin, screen, env });
}

function questionAbout(text: string, displayPath: string): string {
  const addresses = [
    ...new Set(text.match(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>,)}\]]+/gi) ?? []),
  ];
  return [
    `This folder has its own config, ${displayPath}. It chooses the models and tools, and the data that they receive.`,
    listNames("addresses", addresses),
    listNames("files to attach", uploadsIn(text)),
    "Use it for questions in this folder?",
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function listNames(title: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more =
    names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : "";
  return `It names ${title}: ${names
    .slice(0, MAX_LISTED_NAMES)
    .map((name) => toLine(name).slice(0, 120))
    .join(", ")}${more}.`;
}
