import type { Connection } from "../connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { plural } from "../format";
import type { Io } from "../io";
import { toLine } from "../sanitize";
import { applySteps } from "./apply";
import {
  type Fetching,
  fetchFromContext,
  fetchFromTurn,
  readChanges,
  readContext,
  readContextIfKept,
  sidesOf,
} from "./context-client";
import { patchOf } from "./patch";
import { inspect, readLink, writeLink } from "./places";
import { planSteps, type Side, type Step, type Triple } from "./three-way";

export type PullOptions = {
  name?: string;
  session?: string;
  turn?: number;
  apply?: true;
  patch?: true;
  dryRun?: true;
  skipConflicts?: true;
};
type World = Pick<Io, "stdout" | "stderr">;

/** Changes made elsewhere, against what they were made from. */
type Incoming = {
  what: string;
  changes: { path: string; base: Side; theirs: Side }[];
  theirs: Fetching;
  base: Fetching;
  /** What the directory is the same as once all has arrived; null: it is no version. */
  arrives: { name: string; version: string } | null;
  /** What has to be said of it beforehand. */
  note: string | null;
};

/** Brings changes made elsewhere into a directory, or shows them. Gives 1 where something was changed on both sides. Throws CliError. */
export async function pull(directory: string, options: PullOptions, connection: Connection, world: World): Promise<ExitCode> {
  const incoming = await incomingOf(directory, options, connection);
  if (incoming.note !== null) world.stderr.write(`${incoming.note}\n`);
  if (options.patch) return printPatch(incoming, world);
  const triples: Triple[] = [];
  for (const change of incoming.changes) triples.push({ ...change, here: await inspect(directory, change.path) });
  const steps = planSteps(triples);
  const conflicts = steps.filter((step) => step.action === "conflict");
  printSteps(steps, world);
  if (!options.apply) {
    world.stderr.write(
      `${incoming.what}: ${sumOf(steps)}. ${steps.length > conflicts.length ? "--apply does that." : ""}`.trimEnd().concat("\n"),
    );
    return conflicts.length > 0 ? EXIT.config : EXIT.ok;
  }
  if (conflicts.length > 0 && !options.skipConflicts) throw new CliError(EXIT.config, CONFLICTS);
  const done = await applySteps(directory, steps, incoming.theirs);
  if (incoming.arrives && conflicts.length === 0) await writeLink(directory, { server: connection.server, ...incoming.arrives });
  world.stderr.write(
    `${incoming.what}: ${done.written} written, ${done.deleted} deleted, ${plural(conflicts.length, "conflict")}.\n`,
  );
  return conflicts.length > 0 ? EXIT.config : EXIT.ok;
}

const FORGOTTEN =
  "The service no longer has the version that this folder was last the same as, so nobody knows who changed what: a file that differs is a conflict, and what was deleted there stays here.";
const CONFLICTS =
  "Nothing was written: what is marked `conflict` was changed on both sides. `--patch` prints the changes, for `git apply -3`; `--apply --skip-conflicts` takes all the others.";

const sumOf = (steps: readonly Step[]): string => {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  if (steps.length === 0) return "nothing to do";
  return `${count("write")} to write, ${count("delete")} to delete, ${plural(count("conflict"), "conflict")}`;
};

function incomingOf(directory: string, options: PullOptions, connection: Connection): Promise<Incoming> {
  return options.session === undefined
    ? fromContext(directory, options.name, connection)
    : fromTurn({ session: options.session, turn: options.turn ?? 1 }, options.name, connection);
}

async function fromContext(directory: string, asked: string | undefined, connection: Connection): Promise<Incoming> {
  const link = await readLink(directory);
  const name = asked ?? link?.name;
  if (name === undefined)
    throw new CliError(EXIT.config, "This folder was never pushed: name the context with --name, or a session with --session.");
  const isOwn = link?.server === connection.server && link.name === name;
  const newest = await readContext(name, null, connection);
  const base = isOwn ? await readContextIfKept(name, link.version, connection) : null;
  const [before, after] = [base ? sidesOf(base) : new Map<string, Side>(), sidesOf(newest)];
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return {
    what: `${name} ${newest.version}`,
    changes: paths.map((path) => ({ path, base: before.get(path) ?? null, theirs: after.get(path) ?? null })),
    theirs: fetchFromContext(name, newest.version, connection),
    base: fetchFromContext(name, base?.version ?? newest.version, connection),
    arrives: { name, version: newest.version },
    note: isOwn && base === null ? FORGOTTEN : null,
  };
}

async function fromTurn(
  { session, turn }: { session: string; turn: number },
  asked: string | undefined,
  connection: Connection,
): Promise<Incoming> {
  const { data } = await readChanges(session, turn, connection);
  const names = data.map(({ context }) => context);
  const found = asked === undefined && data.length === 1 ? data[0] : data.find(({ context }) => context === asked);
  if (!found) {
    const message =
      data.length === 0
        ? `Turn ${turn} changed no context. One that runs, failed or was cancelled has no changes.`
        : `Turn ${turn} changed ${names.join(", ")}: say which with --name.`;
    throw new CliError(EXIT.config, message);
  }
  const before = sidesOf(await readContext(found.context, found.base_version, connection));
  return {
    what: `${found.context}, turn ${turn} of ${session}`,
    changes: found.changes.map(({ path, hash, executable }) => ({
      path,
      base: before.get(path) ?? null,
      theirs: hash === null ? null : { hash, executable: executable ?? false },
    })),
    theirs: fetchFromTurn(session, turn, connection),
    base: fetchFromContext(found.context, found.base_version, connection),
    arrives: null,
    note: null,
  };
}

/** A line for each step: `write`, `delete` or `conflict`, the path, and why. */
function printSteps(steps: readonly Step[], { stdout }: World): void {
  for (const step of steps) {
    const why = step.action === "conflict" ? `\t${toLine(step.why)}` : "";
    stdout.write(`${step.action}\t${toLine(step.path)}${why}\n`);
  }
}

/** All changes, whatever lies here: whoever applies the patch sees to conflicts. */
async function printPatch({ changes, base, theirs, what }: Incoming, { stdout, stderr }: World): Promise<ExitCode> {
  const left: string[] = [];
  const contentsOf = async (path: string, side: Side, fetching: Fetching) =>
    side && { bytes: await fetching(path, side.hash), executable: side.executable };
  for (const change of changes) {
    if (change.base?.hash === change.theirs?.hash && change.base?.executable === change.theirs?.executable) continue;
    const before = await contentsOf(change.path, change.base, base);
    const patch = patchOf(change.path, before, await contentsOf(change.path, change.theirs, theirs));
    if (patch === null) left.push(change.path);
    else stdout.write(patch);
  }
  if (left.length > 0) stderr.write(`${what}: not in the patch, since it is no text: ${left.map(toLine).join(", ")}\n`);
  return EXIT.ok;
}
