import { PatternError, WorkBudget } from "../../../patterns";
import { FileError } from "../../../workspace/types";
import { type FoundCommand, commandsIn, type Parse, UncheckableError } from "./commands-in";
import { CommandPattern, type CommandPatterns } from "./patterns";
import { type KnownText, textOf } from "./text";

/**
 * Restricts the commands of an agent with the patterns in its config. If there are allowed
 * patterns, the whole line and each simple command in it must match one of them. The line and its
 * commands must not match a blocked pattern. A line that cannot be parsed, or that runs unknown
 * commands, is refused.
 */
export class CommandFilter {
  readonly #allowed: readonly CommandPattern[];
  readonly #blocked: readonly CommandPattern[];

  /** Throws if a pattern is not valid RE2. */
  constructor({ allowed, blocked }: CommandPatterns) {
    this.#allowed = allowed.map((pattern) => new CommandPattern(pattern));
    this.#blocked = blocked.map((pattern) => new CommandPattern(pattern));
  }

  /** Sentences for the model. They are added to the description of its shell. */
  get description(): string {
    const allowed =
      this.#allowed.length > 0
        ? ` Only commands that match one of these patterns from their beginning run: ${patternList(this.#allowed)}.`
        : "";
    const blocked =
      this.#blocked.length > 0
        ? ` No command runs that matches one of these from its beginning: ${patternList(this.#blocked)}.`
        : "";
    const scope =
      " This holds for the whole line and for each command in it, those in pipes, loops, substitutions and `bash -c` included.";
    return `${allowed}${blocked}${scope}`;
  }

  /**
   * Throws `FileError` `command_not_allowed` if a command line may not run. `checkedAtRunTime` are
   * the names of the commands for which `refusalOf` is called when they run. `null` if there are
   * none.
   */
  async check(line: string, options: CheckOptions): Promise<void> {
    const refusal = await this.#refusalOrReason(() => this.#refusalOfLine(line, options));
    if (refusal !== null)
      throw new FileError("command_not_allowed", `The command was not run: ${refusal}`);
  }

  /**
   * Why a command may not run; `null` if it may run. All its words are known. All commands of a
   * line share one `budget`.
   */
  async refusalOf(words: readonly string[], budget: WorkBudget): Promise<string | null> {
    const command = { name: words[0] ?? "", words: words.map((word) => [word]) };
    return this.#refusalOrReason(() =>
      this.#refusalOfCommand(command, { budget, isCheckedLater: false }),
    );
  }

  /** Calls `findRefusal`. An error that means "cannot be checked" becomes a refusal. */
  async #refusalOrReason(findRefusal: () => Promise<string | null>): Promise<string | null> {
    try {
      return await findRefusal();
    } catch (error) {
      if (!(error instanceof UncheckableError) && !(error instanceof PatternError)) throw error;
      return `${error.message.replace(/\.$/, "")}. Commands are restricted here, and what cannot be checked is refused.`;
    }
  }

  async #refusalOfLine(line: string, options: CheckOptions): Promise<string | null> {
    const budget = new WorkBudget();
    const trimmedLine = { known: line.trim(), isWhole: true };
    const refusal = await this.#refusal(
      [trimmedLine, { known: line, isWhole: true }],
      trimmedLine,
      {
        budget,
        isCheckedLater: false,
      },
    );
    if (refusal !== null) return refusal;
    for (const command of commandsIn(line, options)) {
      const isCheckedLater = options.checkedAtRunTime?.has(baseOf(command.name)) ?? false;
      const commandRefusal = await this.#refusalOfCommand(command, { budget, isCheckedLater });
      if (commandRefusal !== null) return commandRefusal;
    }
    return null;
  }

  async #refusalOfCommand(
    { name, words }: FoundCommand,
    options: RefusalOptions,
  ): Promise<string | null> {
    const text = textOf(words);
    const baseText = textOf([[baseOf(name)], ...words.slice(1)]);
    if (this.#blocked.length > 0 && this.#allowed.length === 0 && runsUnknownFile(name))
      return `\`${shownText(text)}\` runs a file of which nobody knows what it does: name a program without its directory.`;
    return this.#refusal([text, baseText], text, options);
  }

  /**
   * Why a line or command is refused; `null` if it is not. No blocked pattern may match one of
   * `blockedTexts`. If there are allowed patterns, one must match `allowedText`.
   */
  async #refusal(
    blockedTexts: readonly KnownText[],
    allowedText: KnownText,
    { budget, isCheckedLater }: RefusalOptions,
  ): Promise<string | null> {
    const isSkipped = (text: KnownText) => isCheckedLater && !text.isWhole;
    for (const text of blockedTexts) {
      if (isSkipped(text)) continue;
      const pattern = await firstPattern(
        this.#blocked,
        (one) => one.mayMatch(text, budget),
        budget,
      );
      const verb = text.isWhole ? "matches" : "may match, with words known only when it runs,";
      if (pattern)
        return `\`${shownText(text)}\` ${verb} the blocked pattern \`${pattern.source}\`.`;
    }
    if (this.#allowed.length === 0 || isSkipped(allowedText)) return null;
    if (
      await firstPattern(this.#allowed, (one) => one.certainlyMatches(allowedText, budget), budget)
    )
      return null;
    return `\`${shownText(allowedText)}\` matches none of the allowed patterns: ${patternList(this.#allowed)}.`;
  }
}

/** The first pattern that satisfies a condition. Other work can run between two patterns. */
async function firstPattern(
  patterns: readonly CommandPattern[],
  satisfies: (pattern: CommandPattern) => boolean,
  budget: WorkBudget,
): Promise<CommandPattern | undefined> {
  for (const pattern of patterns) {
    if (satisfies(pattern)) return pattern;
    if (budget.isPauseDue) await budget.pause();
  }
  return undefined;
}

type CheckOptions = { parse: Parse; checkedAtRunTime: ReadonlySet<string> | null };
/** `isCheckedLater`: whether a command with unknown words is checked again at run time. */
type RefusalOptions = { budget: WorkBudget; isCheckedLater: boolean };

const baseOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

const patternList = (patterns: readonly CommandPattern[]): string =>
  patterns.map(({ source }) => `\`${source}\``).join(", ");

const SYSTEM_PROGRAM = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;
/** Whether a command is a path outside the system's program directories. */
const runsUnknownFile = (name: string): boolean => name.includes("/") && !SYSTEM_PROGRAM.test(name);

/** Maximum length of a command in a message. */
const MAX_SHOWN_CHARS = 120;
const shownText = ({ known, isWhole }: KnownText): string => {
  const line = known.replaceAll(/\s+/g, " ");
  return `${line.slice(0, MAX_SHOWN_CHARS)}${isWhole && line.length <= MAX_SHOWN_CHARS ? "" : " …"}`;
};
