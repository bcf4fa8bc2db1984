import { innerCommands } from "./runners";
import {
  guidesTheShell,
  guidingArgument,
  secondEvaluation,
  setsRereading,
  takesUnknownNames,
} from "./second-evaluation";
import { evaluatedText, isShell, shellSource, type ShellSource, wordsOf } from "./shells";
import {
  endsEarlier,
  isNode,
  knownBeginning,
  listOf,
  type Pieces,
  wholeText,
  wordsIn,
} from "./text";

/** Parses a command line to the shell's syntax tree; throws if it is invalid. */
export type Parse = (script: string) => unknown;

/** A command line that cannot be checked; the message gives the reason as a clause. */
export class UncheckableError extends Error {
  override readonly name = "UncheckableError";
}

export type FoundCommand = { words: readonly Pieces[]; name: string };

type Options = {
  parse: Parse;
  /** Commands that are checked again when they run, with all words known; `null` if none are. */
  checkedAgain: ReadonlySet<string> | null;
};

const MOST_COMMANDS = 1_000;
const MOST_DEPTH = 8;
const MOST_CHARS = 128 * 1024;
const OPTIONED = /^(set|shopt)$/;
const SUBSTITUTION = /[`]|[$<>]\(/;

/**
 * All simple commands that a command line may run, including those in substitutions, functions and
 * other shells. Throws `UncheckableError`.
 */
export function commandsIn(script: string, options: Options): FoundCommand[] {
  const reader = new Reader(options);
  reader.script(script, 0);
  return reader.found;
}

class Reader {
  readonly found: FoundCommand[] = [];
  readonly #options: Options;
  readonly #checks: { checkedAgain: boolean };
  #chars = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#checks = { checkedAgain: options.checkedAgain !== null };
  }

  script(text: string, depth: number): void {
    this.#chars += text.length;
    if (depth > MOST_DEPTH || this.#chars > MOST_CHARS)
      throw new UncheckableError("it is too long, or holds too many shells in one another");
    if (text.includes("\0")) throw new UncheckableError("it holds a character that no shell takes");
    this.#walk(this.#parsed(text), depth);
  }

  #parsed(text: string): unknown {
    try {
      return this.#options.parse(text);
    } catch (error) {
      throw new UncheckableError(
        `it cannot be parsed (${error instanceof Error ? error.message : String(error)})`,
      );
    }
  }

  #walk(root: unknown, depth: number): void {
    const open: unknown[] = [root];
    while (open.length > 0) {
      const node = open.pop();
      if (!isNode(node)) continue;
      this.#check(node, depth);
      for (const part of Object.values(node)) open.push(part);
    }
  }

  #check(node: Readonly<Record<string, unknown>>, depth: number): void {
    if (isNode(node["deferredError"]))
      throw new UncheckableError(
        `it cannot be parsed (${String(node["deferredError"]["message"])})`,
      );
    this.#checkLaterEvaluation(node);
    this.#checkWords(node);
    switch (node["type"]) {
      case "SimpleCommand":
        return this.#command(wordsOf(node), listOf(node["redirections"]), depth);
      case "ArithCommandSubst":
        return this.script(String(node["command"]), depth + 1);
      case "BadSubstitution":
      case "LengthSliceError":
      case "ArithSyntaxError":
        throw new UncheckableError("it holds an expansion that cannot be parsed");
      case "Redirection":
        if (typeof node["fdVariable"] === "string") this.#variable(node["fdVariable"]);
        return this.#hereDocument(node["target"]);
      case "Assignment":
      case "For":
        return this.#variable(String(node["name"] ?? node["variable"]));
      case "ParameterExpansion":
        if (isNode(node["operation"]) && node["operation"]["type"] === "AssignDefault")
          this.#variable(String(node["parameter"]));
        return this.#unparsed(node["parameter"]);
      default:
        return this.#unparsed(node["type"] === "Glob" ? node["pattern"] : node["content"]);
    }
  }

  /** Our parser joins words within brackets where bash would end the command. */
  #checkWords(node: Readonly<Record<string, unknown>>): void {
    if (!this.#options.checkedAgain && wordsIn(node).some(endsEarlier))
      throw new UncheckableError(
        "it holds a bracket with a space or an operator behind it, or a list with more than plain words",
      );
  }

  /**
   * Shells agree on the end of a here-document only if its delimiter has no translations or
   * escapes.
   */
  #hereDocument(target: unknown): void {
    const delimiter =
      isNode(target) && target["type"] === "HereDoc" ? String(target["delimiter"]) : "";
    if (!this.#options.checkedAgain && delimiter.includes("$"))
      throw new UncheckableError(
        "a here-document of it ends where shells do not agree: end it with a plain word",
      );
  }

  /** A text that the parser does not parse. */
  #unparsed(text: unknown): void {
    if (typeof text === "string" && SUBSTITUTION.test(text))
      throw new UncheckableError(
        "it holds a substitution within a subscript, a pattern or an expression",
      );
  }

  #variable(name: string): void {
    if (guidesTheShell(name, this.#checks))
      throw new UncheckableError(`it sets ${name}, which says what commands mean`);
    this.#unparsed(name);
  }

  #checkLaterEvaluation(node: Readonly<Record<string, unknown>>): void {
    const reason = this.#options.checkedAgain ? null : secondEvaluation(node);
    if (reason !== null)
      throw new UncheckableError(`it holds ${reason}, where a shell evaluates values as commands`);
  }

  #command(words: readonly Pieces[], redirections: readonly unknown[], depth: number): void {
    const [first, ...args] = words;
    if (!first) return;
    const name = wholeText(first);
    if (name === null)
      throw new UncheckableError(
        "which command it runs is known only when it runs: write its name out",
      );
    // `time -p --` is a shell keyword and runs the words after it.
    if (name.startsWith("-")) throw new UncheckableError(`\`${name}\` is no command's name`);
    if (this.found.length >= MOST_COMMANDS)
      throw new UncheckableError(`it holds more than ${MOST_COMMANDS} commands`);
    this.found.push({ words, name });
    const base = name.slice(name.lastIndexOf("/") + 1);
    this.#checkVariables(base, args);
    if (OPTIONED.test(base) || isShell(base)) this.#checkOptions(base, args);
    if (isShell(base)) return this.#shell(base, shellSource(args, redirections), depth);
    if (base === "." || base === "source")
      return this.#shell(base, { kind: "unseen", what: "a script file" }, depth);
    if (base === "eval" || base === "trap") {
      const text = evaluatedText(base, args);
      if (text === null)
        throw new UncheckableError(`\`${base}\` gets a text that is known only when it runs`);
      return this.script(text, depth + 1);
    }
    const inner = innerCommands(base, args);
    if (inner.kind === "unknown")
      throw new UncheckableError(`what \`${base}\` runs here is not known beforehand`);
    if (inner.kind === "commands")
      for (const command of inner.commands) this.#command(command, redirections, depth);
  }

  #checkVariables(name: string, args: readonly Pieces[]): void {
    const variable = guidingArgument(name, args, this.#checks);
    if (variable !== undefined)
      throw new UncheckableError(`it sets ${variable}, which says what commands mean`);
    if (!this.#options.checkedAgain && takesUnknownNames(name, args))
      throw new UncheckableError(
        `\`${name}\` gets words that are known only when it runs, and may evaluate them: use [[ ]], name them, or assign in a command of its own (local a; a=$1)`,
      );
  }

  #checkOptions(name: string, args: readonly Pieces[]): void {
    if (!this.#options.checkedAgain && setsRereading(optionsOf(name, args)))
      throw new UncheckableError(
        `\`${name}\` gets an option with which words mean something else, or may`,
      );
  }

  #shell(name: string, source: ShellSource, depth: number): void {
    if (source.kind === "text") return this.script(source.text, depth + 1);
    if (!this.#options.checkedAgain)
      throw new UncheckableError(`\`${name}\` runs ${source.what}, which is not checked`);
  }
}

/** A shell's own options precede the text to run or the script's name. */
function optionsOf(name: string, args: readonly Pieces[]): readonly Pieces[] {
  const takesNext = (word: Pieces | undefined) =>
    isShell(name) && /^[-+]\w*[oO]$/.test(knownBeginning(word ?? []));
  const isLast = (word: Pieces, nth: number) =>
    wholeText(word) === "--" ||
    (isShell(name) && /^[^-+]/.test(knownBeginning(word)) && !takesNext(args[nth - 1]));
  const end = args.findIndex(isLast);
  return end < 0 ? args : args.slice(0, end);
}
