import { Command, InvalidArgumentError } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { createKey, listKeys, revokePath } from "../service/listings";
import { callService } from "../service/call-service";
import type { KeyList } from "../service/schema";
import { askYes } from "../terminal/prompts";
import { escapeJson, toLine } from "../terminal/sanitize";
import { formatTime, printTable } from "../terminal/output";
import { toLimit } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { json?: true };
type ListFlags = Flags & { limit: number; after?: string };
type CreateFlags = Flags & { scopes?: readonly string[]; days?: number };

const SCOPES = ["read", "run", "admin"];

/** `keys`: creates, lists and revokes API keys. Needs a key with the scope admin. */
export const registerKeys: Register = (program, { io, end }) => {
  const keys = new Command("keys").description(
    "API keys: create, list, revoke (needs the scope admin)",
  );
  withConnection(keys.command("create"))
    .description("make a key and print it on stdout; it is shown only once")
    .argument("<name>", "a name for people, such as the owner")
    .option(
      "--scopes <list>",
      "comma-separated: read, run, admin; each includes the scopes before it (default: run)",
      toScopes,
    )
    .option("--days <n>", "days until it expires (default: never)", toDays)
    .option("--json", "print the response as JSON")
    .action(async (name: string, flags: CreateFlags) => end(await create(name, flags, io)));
  withConnection(keys.command("list"))
    .description("list the keys, newest first, without their secrets")
    .option("--limit <n>", "how many, up to 100", toLimit, 20)
    .option("--after <id>", "list entries after this one", toKeyId)
    .option("--json", "print the response as JSON")
    .action(async (flags: ListFlags) => end(await list(flags, io)));
  withConnection(keys.command("revoke"))
    .description("revoke a key; its open streams are closed")
    .argument("<id>", "the key's id", toKeyId)
    .option("--yes", "do not ask")
    .action(async (id: string, flags: ConnectionFlags & { yes?: true }) =>
      end(await revoke(id, flags, io)),
    );
  program.addCommand(keys);
};

async function create(name: string, flags: CreateFlags, io: Io): Promise<ExitCode> {
  const days = flags.days === undefined ? {} : { expires_in_days: flags.days };
  const request = { name, scopes: flags.scopes ?? ["run"], ...days };
  const { data, raw } = await createKey(request, await connect(flags, io));
  if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
  else {
    io.stderr.write(
      `Key ${toLine(data.id)}, scopes ${data.scopes.map(toLine).join(", ")}. Save it now, it is shown only once:\n`,
    );
    io.stdout.write(`${toLine(data.key)}\n`);
  }
  return EXIT.ok;
}

async function list(flags: ListFlags, io: Io): Promise<ExitCode> {
  const { data, raw } = await listKeys(flags, await connect(flags, io));
  if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
  else if (data.data.length === 0) io.stderr.write("No keys yet.\n");
  else
    printTable(
      ["id", "state", "scopes", "made", "last used", "name"],
      data.data.map(keyRow),
      io.stdout,
    );
  return EXIT.ok;
}

function keyRow(key: KeyList["data"][number]): string[] {
  const time = (seconds: number | null | undefined) =>
    seconds ? formatTime(seconds * 1000) : "never";
  const expired = key.expires_at ? key.expires_at * 1000 < Date.now() : false;
  const state = key.revoked_at ? "revoked" : expired ? "expired" : "good";
  return [
    key.id,
    state,
    key.scopes.join(","),
    time(key.created_at),
    time(key.last_used_at),
    key.name ?? "",
  ];
}

async function revoke(
  id: string,
  flags: ConnectionFlags & { yes?: true },
  io: Io,
): Promise<ExitCode> {
  const context = await connect(flags, io);
  if (flags.yes === undefined) {
    if (!isInteractive(io))
      throw new CliError(EXIT.config, "No terminal to confirm at. Add --yes to revoke the key.");
    if (!(await askYes(`Revoke the key ${id} of ${context.server}?`, io)))
      throw new CliError(EXIT.interrupted, "Nothing was changed.");
  }
  const path = revokePath(id);
  await callService(context, (client) => client.send({ method: "DELETE", path }));
  io.stdout.write(`Key ${id} is revoked.\n`);
  return EXIT.ok;
}

function toScopes(text: string): readonly string[] {
  const scopes = text.split(",").map((scope) => scope.trim());
  if (scopes.some((scope) => !SCOPES.includes(scope)))
    throw new InvalidArgumentError("Give some of read, run, admin, like read,run.");
  return scopes;
}

function toDays(text: string): number {
  const days = Number(text);
  if (!(Number.isInteger(days) && days >= 1 && days <= 3_650))
    throw new InvalidArgumentError("Give whole days, from 1 to 3650.");
  return days;
}

function toKeyId(text: string): string {
  if (/^[0-9a-z]{26}$/.test(text)) return text;
  const isKey = /^[a-z]+_[0-9a-z]{26}_/.test(text);
  throw new InvalidArgumentError(
    isKey
      ? "This is a key. Its id is the part between the underscores."
      : "`keys list` shows the ids.",
  );
}
