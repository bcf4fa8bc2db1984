import { createHash } from "node:crypto";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { readTextFile, reasonOf, shownPath } from "../local-files";
import { ConsentsSchema, parseJson } from "../service/schema";

/**
 * Files in which the command line stores what the user has allowed: for each subject, the SHA-256
 * of the text that was allowed.
 */

type Place = Pick<Io, "cwd" | "home">;
export type Consent = { subject: string; text: string };

/**
 * Most consents that a file stores. For a subject whose consent was removed, the user is asked
 * again.
 */
const MAX_CONSENTS = 500;
/** Only the owner may read and write the file. Otherwise another user could add a consent. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Whether the user has allowed this text for the subject. */
export async function isAllowed(
  file: string,
  { subject, text }: Consent,
  place: Place,
): Promise<boolean> {
  const { folders } = await readConsents(file, place);
  return Object.hasOwn(folders, subject) && folders[subject] === hashOf(text);
}

/** Stores the consent. Throws CliError if the file cannot be written. */
export async function allow(file: string, { subject, text }: Consent, place: Place): Promise<void> {
  const { folders } = await readConsents(file, place);
  const others = Object.entries(folders).filter(([name]) => name !== subject);
  const newest = [...others, [subject, hashOf(text)] as const].slice(-MAX_CONSENTS);
  const stored = `${JSON.stringify({ folders: Object.fromEntries(newest) }, null, 2)}\n`;
  const temporaryFile = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: FOLDER_MODE });
    await writeFile(temporaryFile, stored, { mode: FILE_MODE });
    await chmod(temporaryFile, FILE_MODE);
    await rename(temporaryFile, file);
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot write ${shownPath(file, place)}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}

/** Returns the stored consents: none if the file is missing or invalid. */
async function readConsents(
  file: string,
  place: Place,
): Promise<{ folders: Record<string, string> }> {
  const text = await readTextFile(file, {
    fileKind: "file of consents",
    displayPath: shownPath(file, place),
  });
  return ConsentsSchema.safeParse(parseJson(text ?? "")).data ?? { folders: {} };
}
