import { Command, InvalidArgumentError } from "commander";
import {
  isSecretName,
  type Secret,
  SECRET_METHODS,
  type SecretBinding,
  SecretListSchema,
  secretPath,
  SECRETS_PATH,
  SecretSchema,
} from "../../src/protocol/api/secrets";
import { readAll } from "../asking/question";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { callService, request } from "../service/call-service";
import { askSecret, askYes } from "../terminal/prompts";
import { escapeJson, toLine } from "../terminal/sanitize";
import { formatTime, printTable } from "../terminal/output";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { json?: true };
type SetFlags = Flags & { origin: string[]; path: string[]; method: string[] };

/**
 * `secrets`: manages the secrets for the tenant's tools and tool servers. Needs a key with the
 * scope admin.
 */
export const registerSecrets: Register = (program, { io, end }) => {
  const secrets = new Command("secrets").description(
    "secrets for tools: list, set, delete (needs the scope admin)",
  );
  withConnection(secrets.command("list"))
    .description("list the secrets by name, without their values")
    .option("--json", "print the response as JSON")
    .action(async (flags: Flags) => end(await list(flags, io)));
  withConnection(secrets.command("set"))
    .description("set a secret; the value is prompted for, or read from stdin")
    .argument("<name>", "name of the secret, which configs reference as ${NAME}", toName)
    .requiredOption("--origin <origin>", "origin it may be sent to; repeatable", collect)
    .option(
      "--path <path>",
      "only for this path and below, at each origin; repeatable",
      collect,
      [],
    )
    .option("--method <method>", "only with this HTTP method; repeatable", toMethods, [])
    .option("--json", "print the response as JSON")
    .action(async (name: string, flags: SetFlags) => end(await set(name, flags, io)));
  withConnection(secrets.command("delete"))
    .description("delete a secret; it is no longer sent with any request")
    .argument("<name>", "the secret's name", toName)
    .option("--yes", "do not ask")
    .action(async (name: string, flags: ConnectionFlags & { yes?: true }) =>
      end(await remove(name, flags, io)),
    );
  program.addCommand(secrets);
};

async function list(flags: Flags, io: Io): Promise<ExitCode> {
  const { data, raw } = await request(
    { method: "GET", path: SECRETS_PATH },
    SecretListSchema,
    await connect(flags, io),
  );
  if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
  else if (data.data.length === 0) io.stderr.write("No secrets yet.\n");
  else printTable(["name", "set", "sent to"], data.data.map(rowOf), io.stdout);
  return EXIT.ok;
}

const rowOf = ({ name, bindings, updated_at }: Secret): string[] => [
  name,
  formatTime(updated_at * 1000),
  bindings.map(describe).join(", "),
];

const describe = ({ origin, paths = [""], methods }: SecretBinding): string =>
  paths.map((path) => `${methods ? `${methods.join("+")} ` : ""}${origin}${path}`).join(", ");

async function set(name: string, flags: SetFlags, io: Io): Promise<ExitCode> {
  const context = await connect(flags, io);
  const bindings = flags.origin.map((origin) => ({
    origin,
    ...(flags.path.length > 0 && { paths: flags.path }),
    ...(flags.method.length > 0 && { methods: flags.method }),
  }));
  const value = isInteractive(io)
    ? await askSecret(`Value of ${name}`, io)
    : (await readAll(io.stdin)).trim();
  if (value === "")
    throw new CliError(EXIT.config, "No value given. Type it at a terminal, or pipe it in.");
  const { data, raw } = await request(
    { method: "PUT", path: secretPath(name), json: { value, bindings } },
    SecretSchema,
    context,
  );
  if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
  else
    io.stdout.write(
      `${toLine(data.name)} is set. It is sent to ${toLine(data.bindings.map(describe).join(", "))}.\n`,
    );
  return EXIT.ok;
}

async function remove(
  name: string,
  flags: ConnectionFlags & { yes?: true },
  io: Io,
): Promise<ExitCode> {
  const context = await connect(flags, io);
  if (flags.yes === undefined) {
    if (!isInteractive(io))
      throw new CliError(EXIT.config, "No terminal to confirm at. Add --yes to delete the secret.");
    if (
      !(await askYes(
        `Delete the secret ${name} of ${context.server}? Tools that name it stop working.`,
        io,
      ))
    )
      throw new CliError(EXIT.interrupted, "Nothing was changed.");
  }
  const path = secretPath(name);
  await callService(context, (client) => client.send({ method: "DELETE", path }));
  io.stdout.write(`The secret ${name} is deleted.\n`);
  return EXIT.ok;
}

const collect = (value: string, previous: readonly string[] = []): string[] => [...previous, value];

function toMethods(text: string, previous: readonly string[]): string[] {
  const method = text.toUpperCase();
  if (SECRET_METHODS.some((known) => known === method)) return [...previous, method];
  throw new InvalidArgumentError(`Give one of ${SECRET_METHODS.join(", ")}.`);
}

function toName(text: string): string {
  if (isSecretName(text)) return text;
  throw new InvalidArgumentError(
    "A name has letters, digits and underscores, and does not begin with a digit.",
  );
}
