import { Command } from "commander";
import type { ContextEntry, ContextList } from "../../src/protocol/api/contexts";
import { eraseContext, listContexts } from "../contexts/context-client";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { formatTime, printTable } from "../terminal/output";
import { askYes } from "../terminal/prompts";
import { escapeJson } from "../terminal/sanitize";
import { toContextName } from "./arguments";
import { type Register, withConnection } from "./flags";

type ListFlags = ConnectionFlags & { json?: true };
type DeleteFlags = ConnectionFlags & { yes?: true };

/** `contexts`: lists and erases uploaded folders. */
export const registerContexts: Register = (program, { io, end }) => {
  const contexts = new Command("contexts").description("uploaded folders: list, delete");
  withConnection(contexts.command("list"))
    .description("list your contexts with their newest versions")
    .option("--json", "print the responses as JSON, a line for each page")
    .action(async (flags: ListFlags) => end(await list(flags, io)));
  withConnection(contexts.command("delete"))
    .description("erase a context with all its versions permanently; local files stay")
    .argument("<name>", "the context's name", toContextName)
    .option("--yes", "do not ask")
    .action(async (name: string, flags: DeleteFlags) => end(await remove(name, flags, io)));
  program.addCommand(contexts);
};

async function list({ json, ...flags }: ListFlags, io: Io): Promise<ExitCode> {
  const connection = await connect(flags, io);
  const entries: ContextEntry[] = [];
  for (let after: string | undefined; ; ) {
    const { data: page, raw } = await listContexts(after, connection);
    if (json) io.stdout.write(`${escapeJson(raw)}\n`);
    entries.push(...page.data);
    const next = nextAfter(page, after);
    if (next === undefined) break;
    after = next;
  }
  if (json) return EXIT.ok;
  if (entries.length === 0) io.stderr.write("No contexts yet.\n");
  else
    printTable(["context", "pushed", "files", "bytes", "version"], entries.map(rowOf), io.stdout);
  return EXIT.ok;
}

/** The last name of the page; `undefined` at the end of the list, or if a page repeats. */
function nextAfter({ data, has_more }: ContextList, after: string | undefined): string | undefined {
  const last = data.at(-1)?.name;
  return has_more && last !== after ? last : undefined;
}

const rowOf = ({ name, created_at, files, bytes, version }: ContextEntry): string[] => [
  name,
  formatTime(created_at * 1000),
  String(files),
  String(bytes),
  version,
];

async function remove(name: string, { yes, ...flags }: DeleteFlags, io: Io): Promise<ExitCode> {
  const connection = await connect(flags, io);
  if (yes === undefined) await confirm(name, connection, io);
  await eraseContext(name, connection);
  io.stdout.write(`The context ${name} is erased.\n`);
  return EXIT.ok;
}

async function confirm(name: string, { server }: Connection, io: Io): Promise<void> {
  if (!isInteractive(io))
    throw new CliError(EXIT.config, "No terminal to confirm at. Add --yes to erase the context.");
  const prompt = `Erase the context ${name} of ${server} with all its versions, permanently?`;
  if (!(await askYes(prompt, io))) throw new CliError(EXIT.interrupted, "Nothing was changed.");
}
