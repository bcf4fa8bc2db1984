import { InvalidArgumentError, Command, Option } from "commander";
import { randomBytes } from "node:crypto";
import { ulid } from "ulid";
import { redactShapes } from "../src/redaction/redact";
import { hashSecret, isKeyId, parseDuration, SECRET_BYTES, toKey } from "../src/tenancy/keys";
import { isTenant, LOCAL_TENANT, SCOPES } from "../src/tenancy/principal";
import { ensureSetup } from "../local/local-setup";
import { insertKey, listKeys, revokeKey, setLimits } from "../d1/key-statements";
import { runStatement } from "./keys/run-statement";

/**
 * `npm run keys -- create | list | revoke | limit`: the service's own keys, in the local database
 * or, with `--remote`, the deployed one.
 */
const program = new Command("keys")
  .description("The service's own keys.")
  .showHelpAfterError()
  // commander has printed the error
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
const remote = () =>
  new Option("--remote", "of the deployed service, not of this machine").default(false);

function tenantOf(text: string): string {
  if (isTenant(text) && text !== LOCAL_TENANT) return text;
  throw new InvalidArgumentError(
    `3 to 40 lower-case letters, digits and underscores, and not \`${LOCAL_TENANT}\`.`,
  );
}

function durationOf(text: string): number {
  const duration = parseDuration(text);
  if (duration === null) throw new InvalidArgumentError("A number and `d` or `h`, such as 90d.");
  return duration;
}

function keyIdOf(text: string): string {
  if (isKeyId(text)) return text;
  throw new InvalidArgumentError("The 26 letters and digits after `mge_`; `list` shows them.");
}

function nameOf(text: string): string {
  const name = text.trim();
  if (redactShapes(name) !== name)
    throw new InvalidArgumentError("A name in words: lists show it, and this looks like a key.");
  if (name.length > 0 && name.length <= 100 && !/\p{Cc}/u.test(name)) return name;
  throw new InvalidArgumentError("1 to 100 characters on one line.");
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (text.trim() !== "" && Number.isFinite(limit) && limit >= 0) return limit;
  throw new InvalidArgumentError("A number; 0 for no limit.");
}

function turnsOf(text: string): number {
  if (Number.isInteger(limitOf(text))) return Number(text);
  throw new InvalidArgumentError("A whole number; 0 for no limit.");
}

const MASTER_KEY_HINT =
  "The service takes no requests without its MASTER_KEY: if it has none yet, set it once and for ever with `npx wrangler secret put MASTER_KEY`.";

type Creation = { tenant: string; scopes: string; name: string; expires?: number; remote: boolean };

program
  .command("create")
  .description("makes a key and shows it, once")
  .requiredOption("--tenant <name>", "whose it is", tenantOf)
  .addOption(
    new Option("--scopes <scope>", "what it may do; each includes those before it")
      .choices(SCOPES)
      .makeOptionMandatory(),
  )
  .requiredOption("--name <text>", "for people: where it is used", nameOf)
  .option("--expires <duration>", "when it ends, such as 90d; else never", durationOf)
  .addOption(remote())
  .action(async ({ tenant, scopes, name, expires, remote }: Creation) => {
    const now = Date.now();
    const { id, key, secret } = toKey(ulid(now).toLowerCase(), randomBytes(SECRET_BYTES));
    const expiresAt = expires === undefined ? null : now + expires;
    await ready(remote);
    await runStatement(
      insertKey({ id, tenant, name, secretHash: hashSecret(secret), scopes, now, expiresAt }),
      remote,
    );
    console.error(
      `A key of ${tenant} to ${scopes}, ${expiresAt === null ? "without an end" : `until ${dateOf(expiresAt)}`}. It is not shown again:`,
    );
    console.log(key);
    if (remote) console.error(MASTER_KEY_HINT);
  });

program
  .command("list")
  .description("shows keys, never their secrets")
  .option("--tenant <name>", "of one tenant only", tenantOf)
  .addOption(remote())
  .action(async ({ tenant, remote }: { tenant?: string; remote: boolean }) => {
    await ready(remote);
    const rows = await runStatement(listKeys(tenant ?? null), remote);
    if (rows.length === 0) console.error("There is no key.");
    else
      console.table(
        rows.map(({ created_at, expires_at, revoked_at, last_used_at, ...row }) => ({
          ...row,
          created: dateOf(created_at),
          expires: dateOf(expires_at),
          revoked: dateOf(revoked_at),
          used: dateOf(last_used_at),
        })),
      );
  });

program
  .command("revoke")
  .description("ends a key; streams it has open are closed within a minute")
  .argument("<id>", "the key's id", keyIdOf)
  .addOption(remote())
  .action(async (id: string, { remote }: { remote: boolean }) => {
    await ready(remote);
    const rows = await runStatement(revokeKey(id, Date.now()), remote);
    if (rows.length === 0) throw new Error(`There is no key ${id}.`);
    console.error(`The key ${id} opens nothing any more.`);
  });

program
  .command("limit")
  .description("sets what a tenant may use; what is not named is as wrangler.toml says")
  .requiredOption("--tenant <name>", "whose limits", tenantOf)
  .option("--turns <number>", "turns at a time; 0: no limit", turnsOf)
  .option("--usd-per-day <number>", "US dollars per UTC day; 0: no limit", limitOf)
  .option("--stored-gb <number>", "gigabytes that it may store; 0: no limit", limitOf)
  .addOption(remote())
  .action(async ({ tenant, turns, usdPerDay, storedGb, remote }: LimitFlags) => {
    await ready(remote);
    const storedBytes = storedGb === undefined ? null : Math.round(storedGb * 1_000_000_000);
    await runStatement(
      setLimits(tenant, { turns: turns ?? null, usdPerDay: usdPerDay ?? null, storedBytes }),
      remote,
    );
    console.error(`The limits of ${tenant} are set; they hold within a minute.`);
  });

type LimitFlags = {
  tenant: string;
  turns?: number;
  usdPerDay?: number;
  storedGb?: number;
  remote: boolean;
};

const ready = (remote: boolean): Promise<void> =>
  remote ? Promise.resolve() : ensureSetup((line) => console.error(line));

const dateOf = (at: unknown): string =>
  typeof at === "number" ? new Date(at).toISOString().slice(0, 16).replace("T", " ") : "";

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
