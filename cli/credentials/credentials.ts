import { chmod, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { credentialsFile, readTextFile, reasonOf, shownPath } from "../local-files";
import { type Credentials, CredentialsSchema, parseJson } from "../service/schema";

type Home = Pick<Io, "home" | "cwd">;

const NO_CREDENTIALS: Credentials = { server: null, keys: {} };
/** Only the owner may read the file. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Reads the credentials that `login` stored. Throws CliError if the file is invalid. */
export async function readCredentials(io: Home): Promise<Credentials> {
  const file = credentialsFile(io);
  const displayPath = shownPath(file, io);
  const text = await readTextFile(file, { fileKind: "file of keys", displayPath });
  if (text === null) return NO_CREDENTIALS;
  const parsed = CredentialsSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new CliError(
    EXIT.config,
    `${displayPath} is not a file that \`login\` writes. Remove it and log in again.`,
  );
}

/** Stores the key of a server, and makes that server the default. Returns the file's path. */
export async function storeKey(server: string, key: string, io: Home): Promise<string> {
  const { keys } = await readCredentials(io);
  return write({ server, keys: { ...keys, [server]: key } }, io);
}

/** Deletes the key of `server`; returns whether there was a key. */
export async function forgetKey(server: string, io: Home): Promise<boolean> {
  const { server: stored, keys } = await readCredentials(io);
  if (!Object.hasOwn(keys, server)) return false;
  const remaining = Object.fromEntries(
    Object.entries(keys).filter(([origin]) => origin !== server),
  );
  if (Object.keys(remaining).length === 0) await rm(credentialsFile(io), { force: true });
  else await write({ server: stored === server ? null : stored, keys: remaining }, io);
  return true;
}

/** Whether others on this machine can read the stored keys. */
export async function isExposed(io: Home): Promise<boolean> {
  if (process.platform === "win32") return false;
  const entry = await stat(credentialsFile(io)).catch(() => null);
  return entry !== null && (entry.mode & 0o077) !== 0;
}

/** Writes the file atomically. Other users can never read it, not even while it is written. */
async function write(credentials: Credentials, io: Home): Promise<string> {
  const file = credentialsFile(io);
  const temporaryFile = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: FOLDER_MODE });
    await writeFile(temporaryFile, `${JSON.stringify(credentials, null, 2)}\n`, {
      mode: FILE_MODE,
    });
    await chmod(temporaryFile, FILE_MODE);
    await rename(temporaryFile, file);
  } catch (cause) {
    await rm(temporaryFile, { force: true }).catch(() => undefined);
    throw new CliError(EXIT.config, `Cannot write ${shownPath(file, io)}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
  return shownPath(file, io);
}
