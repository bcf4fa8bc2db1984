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
 * `npm run keys -- create | list | revoke | limit`: manages the service's own keys in the local
 * database or, with `--remote`, in the deployed database.
 */
const program = new Command("keys")
  .description("The service's own keys.")
  .showHelpAfterError()
  // commander has printed the error
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
const remote = () =>
  new Option("--remote", "use the deployed service instead of this machine").default(false);

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
  "The service refuses requests until MASTER_KEY is set. Set it once and never change it: npx wrangler secret put MASTER_KEY";

type Creation = { tenant: string; scopes: string; name: string; expires?: number; remote: boolean };

program
  .command("create")
  .description("create a key and show it once")
  .requiredOption("--tenant <name>", "tenant that owns the key", tenantOf)
  .addOption(
    new Option("--scopes <scope>", "permissions; each scope includes the scopes listed before it")
      .choices(SCOPES)
      .makeOptionMandatory(),
  )
  .requiredOption("--name <text>", "label for lists, such as where the key is used", nameOf)
  .option("--expires <duration>", "lifetime, such as 90d; never expires if omitted", durationOf)
  .addOption(remote())
  .action(async ({ tenant, scopes, name, expires, remote }: Creation) => {
    const now = Date.now();
    const { id, key, secret } = toKey(ulid(now).toLowerCase(), randomBytes(SECRET_BYTES));
    const expiresAt = expires === undefined ? null : now + expires;
    await ensureDatabase(remote);
    await runStatement(
      insertKey({ id, tenant, name, secretHash: hashSecret(secret), scopes, now, expiresAt }),
      remote,
    );
    console.error(
      `${scopes[0]?.toUpperCase()}${scopes.slice(1)} key for tenant ${tenant}, ${expiresAt === null ? "never expires" : `expires ${dateOf(expiresAt)} UTC`}. Save it now, it is shown only once:`,
    );
    console.log(key);
    if (remote) console.error(MASTER_KEY_HINT);
  });

program
  .command("list")
  .description("list keys, without their secrets")
  .option("--tenant <name>", "list keys of this tenant only", tenantOf)
  .addOption(remote())
  .action(async ({ tenant, remote }: { tenant?: string; remote: boolean }) => {
    await ensureDatabase(remote);
    const rows = await runStatement(listKeys(tenant ?? null), remote);
    if (rows.length === 0) console.error("No keys.");
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
  .description("revoke a key; its open streams are closed within a minute")
  .argument("<id>", "the key's id", keyIdOf)
  .addOption(remote())
  .action(async (id: string, { remote }: { remote: boolean }) => {
    await ensureDatabase(remote);
    const rows = await runStatement(revokeKey(id, Date.now()), remote);
    if (rows.length === 0) throw new Error(`Key ${id} not found. \`list\` shows all keys.`);
    console.error(`Key ${id} revoked. Its open streams are closed within a minute.`);
  });

program
  .command("limit")
  .description("set limits of a tenant; omitted limits return to the defaults in wrangler.toml")
  .requiredOption("--tenant <name>", "tenant whose limits are set", tenantOf)
  .option("--turns <number>", "concurrent turns; 0: no limit", turnsOf)
  .option("--usd-per-day <number>", "US dollars per UTC day; 0: no limit", limitOf)
  .option("--stored-gb <number>", "stored gigabytes; 0: no limit", limitOf)
  .addOption(remote())
  .action(async ({ tenant, turns, usdPerDay, storedGb, remote }: LimitFlags) => {
    await ensureDatabase(remote);
    const storedBytes = storedGb === undefined ? null : Math.round(storedGb * 1_000_000_000);
    await runStatement(
      setLimits(tenant, { turns: turns ?? null, usdPerDay: usdPerDay ?? null, storedBytes }),
      remote,
    );
    console.error(`Limits of ${tenant} set. They apply within a minute.`);
  });

type LimitFlags = {
  tenant: string;
  turns?: number;
  usdPerDay?: number;
  storedGb?: number;
  remote: boolean;
};

const ensureDatabase = (remote: boolean): Promise<void> =>
  remote ? Promise.resolve() : ensureSetup((line) => console.error(line));

const dateOf = (time: unknown): string =>
  typeof time === "number" ? new Date(time).toISOString().slice(0, 16).replace("T", " ") : "";

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
