import { createHash } from "node:crypto";
import {
  appendFile,
  constants,
  copyFile,
  mkdir,
  readdir,
  readFile,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { missingSealingKeys } from "./sealing-keys";
import { DEFAULT_STATE } from "./start-arguments";
import { wranglerQuietly } from "./bundle/wrangler";

/**
 * The file with the hash of the applied migrations. It is stored beside the local database, so that
 * deleting the folder removes both.
 */
const HASH_FILE = "massgen-edge-migrations";

type SetupOptions = {
  /** The folder of local storage. */
  persistTo?: string;
  /** Whether the service uses `.dev.vars`. If not, the file is not created. */
  withDevVars?: boolean;
};

/**
 * Creates `.dev.vars` with new sealing keys and migrates the local database. Idempotent and quick.
 */
export async function ensureSetup(
  print: (line: string) => void,
  { persistTo = DEFAULT_STATE, withDevVars = true }: SetupOptions = {},
): Promise<void> {
  if (withDevVars) {
    if (await copyDevVars())
      print(
        "Created .dev.vars from .dev.vars.example. Add provider keys for local development to it.",
      );
    if (await addSealingKeys())
      print("Added SEALING_KEYS to .dev.vars: they encrypt API keys in configs.");
  }
  if (await migrate(persistTo)) print("Migrated the local database.");
}

/** Returns whether it created the file. */
async function copyDevVars(): Promise<boolean> {
  return copyFile(".dev.vars.example", ".dev.vars", constants.COPYFILE_EXCL).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

/** Returns whether it added keys. */
async function addSealingKeys(): Promise<boolean> {
  const missing = missingSealingKeys(await readFile(".dev.vars", "utf8"));
  if (missing !== null) await appendFile(".dev.vars", missing);
  return missing !== null;
}

/** Returns whether it applied migrations. */
async function migrate(persistTo: string): Promise<boolean> {
  const hashFile = path.join(persistTo, HASH_FILE);
  const currentHash = await migrationsHash();
  if ((await readFile(hashFile, "utf8").catch(() => "")) === currentHash) return false;
  await wranglerQuietly(["d1", "migrations", "apply", "DB", "--local", "--persist-to", persistTo]);
  await mkdir(persistTo, { recursive: true });
  await writeFile(hashFile, currentHash);
  return true;
}

async function migrationsHash(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir("migrations")).sort())
    hash.update(name).update(await readFile(`migrations/${name}`));
  return hash.digest("hex");
}
