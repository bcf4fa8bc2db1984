import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import type { GeneratedSecret } from "./plan";

/**
 * The copy of a deployment's generated secrets on this machine, because Cloudflare never shows a
 * secret again. A value is stored here before it is sent. After an interruption between the two,
 * the next run sends the same value, so that a secret never changes. `FIRST_KEY` is stored only
 * until the command line is logged in.
 */
export type SavedSecrets = { [Name in GeneratedSecret | "FIRST_KEY"]?: string };

const NAMES = ["MASTER_KEY", "SEALING_KEYS", "FIRST_KEY"] as const;
const HEADER =
  "# Secrets of a deployment. Keep a copy: Cloudflare does not show them again, and sessions and stored keys depend on them.\n";

/** Path of the file with the secrets of one Worker in one account. */
export const savedSecretsFile = (worker: string, account: string): string =>
  path.join(".deployed", `${worker}.${account}.vars`);

export function parseSavedSecrets(text: string): SavedSecrets {
  const variables = parseEnv(text);
  return Object.fromEntries(
    NAMES.flatMap((name) => (variables[name] ? [[name, variables[name]]] : [])),
  );
}

export const savedSecretsText = (secrets: SavedSecrets): string =>
  HEADER +
  NAMES.flatMap((name) => (secrets[name] ? [`${name}="${secrets[name]}"\n`] : [])).join("");

export async function readSavedSecrets(file: string): Promise<SavedSecrets> {
  try {
    return parseSavedSecrets(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}

/** Writes the file atomically. Only its owner can read it. */
export async function writeSavedSecrets(file: string, secrets: SavedSecrets): Promise<void> {
  const temporaryFile = `${file}.${process.pid}`;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(temporaryFile, savedSecretsText(secrets), { mode: 0o600 });
  await chmod(temporaryFile, 0o600);
  await rename(temporaryFile, file);
}
