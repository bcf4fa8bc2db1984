import type { Connection } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { plural } from "../display/format";
import type { Io } from "../io";
import { spellOut, toLine } from "../terminal/sanitize";
import { applySteps } from "./apply";
import { Arrivals } from "./arrivals";
import {
  type Fetching,
  fetchFromContext,
  fetchFromTurn,
  readChanges,
  readContext,
  readContextIfKept,
  sidesOf,
} from "./context-client";
import type { LeftOut } from "./left-out";
import { patchOf } from "./patch";
import { inspect, isOneFile, readLink, refusalOf, writeLink } from "./directory";
import { tellLeftOut, tellRunUnasked } from "./tell-left-out";
import { type Change, isChange, planSteps, type Side, type Step, type Triple } from "./three-way";
import { mergeTwins, type Twins, twinsAmong } from "./twins";

export type PullOptions = {
  name?: string;
  session?: string;
  turn?: number;
  include?: readonly string[];
  apply?: true;
  patch?: true;
  dryRun?: true;
  skipConflicts?: true;
};
type World = Pick<Io, "stdout" | "stderr">;

/** Changes made elsewhere, against what they were made from; what stays as it is stands among them. */
type Incoming = {
  what: string;
  changes: Change[];
  theirs: Fetching;
  base: Fetching;
  /** What the directory is the same as once all has arrived; null: it is no version. */
  arrives: { name: string; version: string } | null;
  /** What has to be said of it beforehand. */
  note: string | null;
};
/** `without`: the files that would have a step but for what is left out. */
type Plan = { steps: Step[]; leftOut: LeftOut[]; without: string[] };

/** Brings changes made elsewhere into a directory, or shows them. Gives 1 where something was changed on both sides. Throws CliError. */
export async function pull(
  directory: string,
  options: PullOptions,
  connection: Connection,
  world: World,
): Promise<ExitCode> {
  const incoming = await incomingOf(directory, options, connection);
  if (incoming.note !== null) world.stderr.write(`${incoming.note}\n`);
  const arrivals = new Arrivals(directory, options.include ?? []);
  if (options.patch) return printPatch(incoming, arrivals, world);
  const { steps, leftOut, without } = await planOf(directory, incoming, arrivals);
  const conflicts = steps.filter((step) => step.action === "conflict");
  printSteps(steps, world);
  tellStaying(leftOut, world);
  if (options.apply && conflicts.length > 0 && !options.skipConflicts)
    throw new CliError(EXIT.config, CONFLICTS);
  tellRunUnasked(arriving(steps), world); // before the first is written, so that a pull that breaks off has said it
  if (!options.apply) {
    world.stderr.write(
      `${incoming.what}: ${sumOf(steps)}. ${steps.length > conflicts.length ? "--apply does that." : ""}`
        .trimEnd()
        .concat("\n"),
    );
    return conflicts.length > 0 ? EXIT.config : EXIT.ok;
  }
  const done = await applySteps(directory, steps, incoming.theirs);
  if (incoming.arrives && conflicts.length === 0) {
    const link = { server: connection.server, ...incoming.arrives };
    await writeLink(directory, without.length > 0 ? { ...link, without } : link);
  }
  world.stderr.write(
    `${incoming.what}: ${done.written} written, ${done.renamed > 0 ? `${done.renamed} renamed, ` : ""}${done.deleted} deleted, ${plural(conflicts.length, "conflict")}.\n`,
  );
  return conflicts.length > 0 ? EXIT.config : EXIT.ok;
}

const FORGOTTEN =
  "The service no longer has the version that this folder was last the same as, so nobody knows who changed what: a file that differs is a conflict, and what was deleted there stays here.";

async function planOf(directory: string, { changes }: Incoming, arrivals: Arrivals): Promise<Plan> {
  const plan: Pick<Plan, "leftOut" | "without"> = { leftOut: [], without: [] };
  const coming: Triple[] = [];
  for (const change of mergeTwins(
    changes,
    await oneFileEach(directory, twinsAmong(changes)),
  ).filter(isChange)) {
    const triple = { ...change, here: await inspect(directory, change.path) };
    const isStep = planSteps([triple]).length > 0;
    const left =
      isStep && refusalOf(change.path) === null ? await arrivals.leftOut(change.path) : null;
    if (left === null) coming.push(triple);
    else {
      plan.leftOut.push(left);
      plan.without.push(change.path);
    }
  }
  return { ...plan, steps: planSteps(coming) };
}

async function oneFileEach(directory: string, twins: readonly Twins[]): Promise<Twins[]> {
  const found: Twins[] = [];
  for (const { gone, stays } of twins) {
    const mayBe = refusalOf(gone) === null && refusalOf(stays) === null;
    if (mayBe && (await isOneFile(directory, gone, stays))) found.push({ gone, stays });
  }
  return found;
}

/** The paths that something comes to. */
const arriving = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ action, path }) => (action === "write" || action === "rename" ? [path] : []));

function tellStaying(leftOut: readonly LeftOut[], world: World): void {
  tellLeftOut(leftOut, world);
  if (leftOut.length > 0)
    world.stderr.write("--include <pattern> takes what it names all the same.\n");
}

const CONFLICTS =
  "Nothing was written: what is marked `conflict` was changed on both sides. `--patch` prints the changes, for `git apply -3`; `--apply --skip-conflicts` takes all the others.";

const sumOf = (steps: readonly Step[]): string => {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  if (steps.length === 0) return "nothing to do";
  const renames = count("rename") > 0 ? `${count("rename")} to rename, ` : "";
  return `${count("write")} to write, ${renames}${count("delete")} to delete, ${plural(count("conflict"), "conflict")}`;
};

function incomingOf(
  directory: string,
  options: PullOptions,
  connection: Connection,
): Promise<Incoming> {
  return options.session === undefined
    ? fromContext(directory, options.name, connection)
    : fromTurn({ session: options.session, turn: options.turn ?? 1 }, options.name, connection);
}

async function fromContext(
  directory: string,
  asked: string | undefined,
  connection: Connection,
): Promise<Incoming> {
  const link = await readLink(directory);
  const name = asked ?? link?.name;
  if (name === undefined)
    throw new CliError(
      EXIT.config,
      "This folder was never pushed: name the context with --name, or a session with --session.",
    );
  const isOwn = link?.server === connection.server && link.name === name;
  const newest = await readContext(name, null, connection);
  const base = isOwn ? await readContextIfKept(name, link.version, connection) : null;
  const [before, after] = [base ? sidesOf(base) : new Map<string, Side>(), sidesOf(newest)];
  for (const path of isOwn ? (link.without ?? []) : []) before.delete(path); // it has never been here
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return {
    what: `${name} ${newest.version}`,
    changes: paths.map((path) => ({
      path,
      base: before.get(path) ?? null,
      theirs: after.get(path) ?? null,
    })),
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
  const found =
    asked === undefined && data.length === 1
      ? data[0]
      : data.find(({ context }) => context === asked);
  if (!found) {
    const message =
      data.length === 0
        ? `Turn ${turn} changed no context. One that runs, failed or was cancelled has no changes.`
        : `Turn ${turn} changed ${names.join(", ")}: say which with --name.`;
    throw new CliError(EXIT.config, message);
  }
  const before = sidesOf(await readContext(found.context, found.base_version, connection));
  const changes: Change[] = found.changes.map(({ path, hash, executable }) => ({
    path,
    base: before.get(path) ?? null,
    theirs: hash === null ? null : { hash, executable: executable ?? false },
  }));
  for (const { path } of changes) before.delete(path);
  return {
    what: `${found.context}, turn ${turn} of ${session}`,
    changes: [
      ...changes,
      ...[...before].map(([path, side]) => ({ path, base: side, theirs: side })),
    ],
    theirs: fetchFromTurn(session, turn, connection),
    base: fetchFromContext(found.context, found.base_version, connection),
    arrives: null,
    note: null,
  };
}

/** A line for each step: `write`, `rename`, `delete` or `conflict`, the path, and which name it had or why. */
function printSteps(steps: readonly Step[], { stdout }: World): void {
  for (const step of steps) {
    const more =
      step.action === "conflict" ? [step.why] : step.action === "rename" ? [`was ${step.was}`] : [];
    stdout.write(`${[step.action, ...[step.path, ...more].map(toLine)].join("\t")}\n`);
  }
}

/** All changes that may be written here, whatever lies here: whoever applies the patch sees to conflicts. Gives 1 if some may not. */
async function printPatch(
  { changes, base, theirs, what }: Incoming,
  arrivals: Arrivals,
  world: World,
): Promise<ExitCode> {
  const [noText, refused, hidden, leftOut]: [string[], string[], string[], LeftOut[]] = [
    [],
    [],
    [],
    [],
  ];
  const contentsOf = async (path: string, side: Side, fetching: Fetching) =>
    side && { bytes: await fetching(path, side.hash), executable: side.executable };
  for (const change of changes) {
    if (!isChange(change)) continue;
    const refusal = refusalOf(change.path);
    const left = refusal === null ? await arrivals.leftOut(change.path) : null;
    if (refusal !== null) refused.push(`${toLine(change.path)} ${refusal}`);
    if (left !== null) leftOut.push(left);
    if (refusal !== null || left !== null) continue;
    const before = await contentsOf(change.path, change.base, base);
    const patch = patchOf(
      change.path,
      before,
      await contentsOf(change.path, change.theirs, theirs),
    );
    if (patch === null) noText.push(change.path);
    else {
      // On a terminal escapes would act; git needs them as they are, from a file or a pipe.
      const spelled = spellOut(patch);
      if (spelled !== patch) hidden.push(toLine(change.path));
      world.stdout.write(world.stdout.isTTY ? spelled : patch);
    }
  }
  if (hidden.length > 0)
    world.stderr.write(
      `${what}: look before you apply it, these hold control characters or direction marks: ${hidden.join(", ")}\n`,
    );
  tellStaying(leftOut, world);
  if (noText.length > 0)
    world.stderr.write(
      `${what}: not in the patch, since it is no text: ${noText.map(toLine).join(", ")}\n`,
    );
  if (refused.length > 0)
    world.stderr.write(
      `${what}: not in the patch, since it may not be written here: ${refused.join(", ")}\n`,
    );
  return refused.length > 0 ? EXIT.config : EXIT.ok;
}
