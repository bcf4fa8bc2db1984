import { readFile } from "node:fs/promises";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { askChoice, type Choice } from "../terminal/prompts";
import { toLine } from "../terminal/sanitize";
import type { ContentFetcher } from "./context-client";
import { printPullExclusions, warnRunAutomatically } from "./exclusions";
import { hunksBetween, type Hunk, withHunks } from "./hunks";
import type { IncomingChanges } from "./incoming";
import { localPath } from "./local-names";
import { type Contents, textOf } from "./patch";
import type { Plan } from "./plan";
import { resultSummary, writtenPaths } from "./pull-lines";
import { applyAndNote, pathsOf } from "./pull-result";
import { printChange, printHunk } from "./review-lines";
import { hashOf } from "./scan";
import { planSteps, type Step } from "./three-way";

type World = Pick<Io, "stdout" | "stderr" | "stdin" | "screen" | "env">;
type Applicable = Exclude<Step, { action: "conflict" }>;

/** Throws CliError if there is no terminal for a review. */
export function requireTerminal(world: Pick<Io, "stdin" | "stderr">): void {
  if (!isInteractive(world))
    throw new CliError(
      EXIT.config,
      "No terminal to review at. Use --apply to write all changes, or --patch to print them.",
    );
}

/**
 * Shows each file with its diff, and asks which changes to take. Then applies them. Files in
 * conflict are shown and stay as they are. Throws CliError, also if the user cancels; then nothing
 * is changed.
 */
export async function review(
  { directory, incoming, plan }: { directory: string; incoming: IncomingChanges; plan: Plan },
  world: World,
): Promise<ExitCode> {
  printPullExclusions(plan.exclusions, world);
  const choices = await chooseAll({ directory, incoming, steps: plan.steps }, world);
  // A left deletion can block a file that was taken, so the chosen changes are planned again.
  const chosen = planSteps(plan.triples.filter((triple) => choices.taken.has(triple.path)));
  const conflicts = chosen.filter(({ action }) => action === "conflict");
  const steps = chosen.map((step) => withPartialContents(step, choices.parts));
  warnRunAutomatically(writtenPaths(steps), world);
  const fetch: ContentFetcher = async (file, hash) => {
    const part = choices.parts.get(file);
    return part?.hash === hash ? part.bytes : incoming.theirs(file, hash);
  };
  const applied = steps.filter(({ action }) => action !== "conflict");
  const left = plan.steps.filter((step) => !choices.taken.has(step.path));
  const result = {
    kept: pathsOf([...left, ...conflicts], plan.triples),
    excluded: plan.excludedPaths,
    taken: [...choices.parts].map(([file, { hash }]) => ({ path: file, sha256: hash })),
    changed: pathsOf(applied, plan.triples),
  };
  const counts = await applyAndNote({ directory, incoming }, { steps, result, fetch });
  const all = plan.steps.filter(({ action }) => action === "conflict").length + conflicts.length;
  const rest = left.length + conflicts.length - all;
  const summary = resultSummary(counts, all);
  const offers = rest + choices.parts.size;
  world.stderr.write(
    `${incoming.sourceName}: ${summary}${offers > 0 ? `, ${plural(offers, "file")} left or taken partly` : ""}.\n`,
  );
  return all > 0 ? EXIT.config : EXIT.ok;
}

/** Contents of a file of which single hunks are taken. */
type Part = { bytes: Uint8Array; hash: string };
/** The paths of the steps to apply, and the contents of partly taken files. */
type Choices = { taken: Set<string>; parts: Map<string, Part> };

const withPartialContents = (step: Step, parts: ReadonlyMap<string, Part>): Step => {
  const part = parts.get(step.path);
  return part && step.action === "write" ? { ...step, to: { ...step.to, hash: part.hash } } : step;
};

type ReviewInput = { directory: string; incoming: IncomingChanges; steps: readonly Step[] };

async function chooseAll(input: ReviewInput, world: World): Promise<Choices> {
  const choices: Choices = { taken: new Set(), parts: new Map() };
  let forRest: "all" | "none" | null = null;
  const steps = askedSteps(input.steps);
  for (const [index, step] of steps.entries()) {
    if (forRest === "none") break;
    if (forRest === "all") {
      if (step.action !== "conflict") choices.taken.add(step.path);
      continue;
    }
    const sides = await sidesOfStep(step, input);
    printChange(step, sides, { place: `${index + 1} of ${steps.length}`, world });
    if (step.action === "conflict") continue;
    const hunks = hunksOf(step, sides);
    const choice = await askChoice(question(step), optionsOf(hunks), world);
    if (choice === "all" || choice === "none") forRest = choice;
    if (choice === "take" || choice === "all") choices.taken.add(step.path);
    if (choice === "hunks" && hunks) {
      const part = await choosePart(sides, hunks, world);
      if (part !== "none") choices.taken.add(step.path);
      if (typeof part === "object") choices.parts.set(step.path, part);
    }
  }
  return choices;
}

/** The steps to ask about. A file that is renamed and written is one choice. */
function askedSteps(steps: readonly Step[]): Step[] {
  const written = new Set(steps.filter(({ action }) => action === "write").map(({ path }) => path));
  return steps.filter(({ action, path }) => action !== "rename" || !written.has(path));
}

const question = (step: Applicable): string => `${step.action} ${toLine(step.path)}?`;

const option = (value: string, label: string, hint = ""): Choice => ({ value, label, hint });

const optionsOf = (hunks: readonly Hunk[] | null): Choice[] => [
  option("take", "take it"),
  ...(hunks ? [option("hunks", "choose hunks", plural(hunks.length, "hunk"))] : []),
  option("leave", "leave it", "offered again by the next pull"),
  option("all", "take this and all others"),
  option("none", "leave this and all others"),
];

/** The local file and the new file of a step; `null` if the file does not exist. */
export type StepSides = { here: Contents; theirs: Contents };

async function sidesOfStep(step: Step, { directory, incoming }: ReviewInput): Promise<StepSides> {
  const change = incoming.changes.find(({ path: file }) => file === step.path);
  const theirs = change?.theirs ?? null;
  const localName = step.action === "rename" ? step.was : step.path;
  // A path in conflict may lead through a link, so its local contents are not read.
  const reads = step.action === "conflict" ? (change?.base ?? null) : "here";
  const here =
    reads === "here"
      ? await readFile(await localPath(directory, localName)).catch(() => null)
      : reads && (await incoming.base(step.path, reads.hash));
  return {
    here: here && { bytes: here, executable: isExecutable(step) },
    theirs: theirs && {
      bytes: await incoming.theirs(step.path, theirs.hash),
      executable: step.action === "write" ? step.to.executable : theirs.executable,
    },
  };
}

const isExecutable = (step: Step): boolean =>
  (step.action === "write" || step.action === "delete") && (step.from?.executable ?? false);

/** The hunks of a changed text file; `null` if the file can only be taken as a whole. */
function hunksOf(step: Step, { here, theirs }: StepSides): Hunk[] | null {
  if (step.action !== "write" || here === null || theirs === null) return null;
  const [before, after] = [textOf(here), textOf(theirs)];
  if (before === null || after === null || hashOf(here.bytes) !== step.from?.hash) return null;
  const hunks = hunksBetween(before, after);
  return hunks && hunks.length > 1 ? hunks : null;
}

/** Asks for each hunk. Returns `all` or `none` if the answers amount to that. */
async function choosePart(
  { here, theirs }: StepSides,
  hunks: readonly Hunk[],
  world: World,
): Promise<Part | "all" | "none"> {
  const isTaken: boolean[] = [];
  for (const [index, hunk] of hunks.entries()) {
    printHunk(hunk, world);
    const options = [option("take", "take it"), option("leave", "leave it")];
    const answer = await askChoice(`hunk ${index + 1} of ${hunks.length}?`, options, world);
    isTaken.push(answer === "take");
  }
  if (isTaken.every(Boolean)) return "all";
  if (!isTaken.some(Boolean)) return "none";
  const texts = { before: textOf(here) ?? "", after: textOf(theirs) ?? "" };
  const bytes = new TextEncoder().encode(withHunks(texts, hunks, isTaken));
  return { bytes, hash: hashOf(bytes) };
}
