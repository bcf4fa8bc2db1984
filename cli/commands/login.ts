import { Command } from "commander";
import { readAll } from "../asking/question";
import { connect, type ConnectionFlags, requireSendable } from "../credentials/connection";
import { forgetKey, storeKey } from "../credentials/credentials";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { judgeAccess } from "../service/call-service";
import { askSecret } from "../terminal/prompts";
import { type Register, withConnection } from "./flags";

/** `login` and `logout`: store and delete the service and its key. */
export const registerLogin: Register = (program, { io, end }) => {
  program.addCommand(
    withConnection(new Command("login"))
      .description("store a service and its key; the key is prompted for, or read from stdin")
      .action(async (flags: ConnectionFlags) => end(await login(flags, io))),
  );
  program.addCommand(
    withConnection(new Command("logout"))
      .description("delete the stored key of the service")
      .action(async (flags: ConnectionFlags) => end(await logout(flags, io))),
  );
};

async function login(flags: ConnectionFlags, io: Io): Promise<ExitCode> {
  const { server } = await connect(
    { server: flags.server },
    { ...io, env: { ...io.env, MASSGEN_EDGE_KEY: undefined } },
  );
  const key = flags.key ?? (await readKey(server, io));
  requireSendable(key, server, flags.key === undefined ? "your input" : "--key");
  const access = await judgeAccess({ server, key });
  if (access.kind === "refused")
    throw new CliError(EXIT.refused, `${server} refused this key. Nothing was stored.`);
  const file = await storeKey(server, key, io);
  io.stdout.write(
    `${server} accepts the key${access.kind === "open" ? ", but needs none" : ""}. Stored in ${file}.\n`,
  );
  return EXIT.ok;
}

async function readKey(server: string, io: Io): Promise<string> {
  const key = isInteractive(io)
    ? await askSecret(`Key for ${server}`, io)
    : (await readAll(io.stdin)).trim();
  if (key === "")
    throw new CliError(EXIT.config, "No key given. Type it at a terminal, or pipe it in.");
  return key;
}

async function logout(flags: ConnectionFlags, io: Io): Promise<ExitCode> {
  const { server } = await connect(
    { server: flags.server },
    { ...io, env: { ...io.env, MASSGEN_EDGE_KEY: undefined } },
  );
  const wasStored = await forgetKey(server, io);
  io.stdout.write(
    wasStored
      ? `The key of ${server} was removed from this machine. It remains valid until it is revoked.\n`
      : `No key stored for ${server}.\n`,
  );
  return EXIT.ok;
}
