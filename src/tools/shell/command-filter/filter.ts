import { PatternError, WorkBudget } from "../../../patterns";
import { FileError } from "../../../workspace/types";
import { type FoundCommand, commandsIn, type Parse, UncheckableError } from "./commands-in";
import { CommandPattern, type CommandPatterns } from "./patterns";
import { type Text, textOf } from "./text";

/**
 * Restricts the commands of an agent by patterns in its config. The whole line and each simple
 * command in it must match an allowed pattern, if there are any, and no blocked one. A line that
 * cannot be parsed, or that runs unknown commands, is refused.
 */
export class CommandFilter {
  readonly #allowed: readonly CommandPattern[];
  readonly #blocked: readonly CommandPattern[];

  /** Throws if a pattern is not valid RE2. */
  constructor({ allowed, blocked }: CommandPatterns) {
    this.#allowed = allowed.map((pattern) => new CommandPattern(pattern));
    this.#blocked = blocked.map((pattern) => new CommandPattern(pattern));
  }

  /** Sentences for the model, appended to the description of its shell. */
  get description(): string {
    const allowed =
      this.#allowed.length > 0
        ? ` Only commands that match one of these patterns from their beginning run: ${listed(this.#allowed)}.`
        : "";
    const blocked =
      this.#blocked.length > 0
        ? ` No command runs that matches one of these from its beginning: ${listed(this.#blocked)}.`
        : "";
    const parts =
      " This holds for the whole line and for each command in it, those in pipes, loops, substitutions and `bash -c` included.";
    return `${allowed}${blocked}${parts}`;
  }

  /**
   * Throws `FileError` `command_not_allowed` if a command line may not run. `checkedAgain` names
   * the commands for which `refusalOf` is called when they run; `null` if none are.
   */
  async check(line: string, options: CheckOptions): Promise<void> {
    const refusal = await this.#judged(() => this.#refusalOfLine(line, options));
    if (refusal !== null)
      throw new FileError("command_not_allowed", `The command was not run: ${refusal}`);
  }

  /**
   * Why a command with known words may not run; `null` if it may. `budget` is shared by all
   * commands of a line.
   */
  async refusalOf(words: readonly string[], budget: WorkBudget): Promise<string | null> {
    const command = { name: words[0] ?? "", words: words.map((word) => [word]) };
    return this.#judged(() => this.#refusalOfCommand(command, { budget, isLeft: false }));
  }

  async #judged(judge: () => Promise<string | null>): Promise<string | null> {
    try {
      return await judge();
    } catch (error) {
      if (!(error instanceof UncheckableError) && !(error instanceof PatternError)) throw error;
      return `${error.message.replace(/\.$/, "")}. Commands are restricted here, and what cannot be checked is refused.`;
    }
  }

  async #refusalOfLine(line: string, options: CheckOptions): Promise<string | null> {
    const budget = new WorkBudget();
    const whole = { known: line.trim(), isWhole: true };
    const refusal = await this.#refusal([whole, { known: line, isWhole: true }], whole, {
      budget,
      isLeft: false,
    });
    if (refusal !== null) return refusal;
    for (const command of commandsIn(line, options)) {
      const isLeft = options.checkedAgain?.has(baseOf(command.name)) ?? false;
      const found = await this.#refusalOfCommand(command, { budget, isLeft });
      if (found !== null) return found;
    }
    return null;
  }

  async #refusalOfCommand(
    { name, words }: FoundCommand,
    options: RefusalOptions,
  ): Promise<string | null> {
    const text = textOf(words);
    const base = textOf([[baseOf(name)], ...words.slice(1)]);
    if (this.#blocked.length > 0 && this.#allowed.length === 0 && runsOwnFile(name))
      return `\`${shown(text)}\` runs a file of which nobody knows what it does: name a program without its directory.`;
    return this.#refusal([text, base], text, options);
  }

  /**
   * `asBlocked`: all texts that a blocked pattern may match; `asAllowed`: the text that an allowed
   * pattern must match.
   */
  async #refusal(
    asBlocked: readonly Text[],
    asAllowed: Text,
    { budget, isLeft }: RefusalOptions,
  ): Promise<string | null> {
    const isLeftAside = (text: Text) => isLeft && !text.isWhole;
    for (const text of asBlocked) {
      if (isLeftAside(text)) continue;
      const pattern = await first(this.#blocked, (one) => one.mayMatch(text, budget), budget);
      const how = text.isWhole ? "matches" : "may match, with words known only when it runs,";
      if (pattern) return `\`${shown(text)}\` ${how} the blocked pattern \`${pattern.source}\`.`;
    }
    if (this.#allowed.length === 0 || isLeftAside(asAllowed)) return null;
    if (await first(this.#allowed, (one) => one.surelyMatches(asAllowed, budget), budget))
      return null;
    return `\`${shown(asAllowed)}\` matches none of the allowed patterns: ${listed(this.#allowed)}.`;
  }
}

/** The first pattern that satisfies the test; other work may run in between. */
async function first(
  patterns: readonly CommandPattern[],
  isOne: (pattern: CommandPattern) => boolean,
  budget: WorkBudget,
): Promise<CommandPattern | undefined> {
  for (const pattern of patterns) {
    if (isOne(pattern)) return pattern;
    if (budget.isPauseDue) await budget.pause();
  }
  return undefined;
}

type CheckOptions = { parse: Parse; checkedAgain: ReadonlySet<string> | null };
/** `isLeft`: whether a command with unknown words is left to the check at run time. */
type RefusalOptions = { budget: WorkBudget; isLeft: boolean };

const baseOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

const listed = (patterns: readonly CommandPattern[]): string =>
  patterns.map(({ source }) => `\`${source}\``).join(", ");

const SYSTEM = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;
/** Whether a command is a path outside the system's program directories. */
const runsOwnFile = (name: string): boolean => name.includes("/") && !SYSTEM.test(name);

const MOST_SHOWN = 120;
const shown = ({ known, isWhole }: Text): string => {
  const line = known.replaceAll(/\s+/g, " ");
  return `${line.slice(0, MOST_SHOWN)}${isWhole && line.length <= MOST_SHOWN ? "" : " …"}`;
};
