import { innerCommands } from "./runners";
import {
  isControlVariable,
  controlVariableIn,
  secondEvaluation,
  changesParsing,
  receivesUnsafeNames,
} from "./second-evaluation";
import { evaluatedText, isShell, shellSource, type ShellSource, wordsOf } from "./shells";
import { mayBeSplit, isNode, knownPrefix, listOf, type Pieces, wholeText, wordsIn } from "./text";

/** Parses a command line to the shell's syntax tree. Throws if the command line is invalid. */
export type Parse = (script: string) => unknown;

/** A command line that cannot be checked; the message gives the reason as a clause. */
export class UncheckableError extends Error {
  override readonly name = "UncheckableError";
}

/** A simple command in a command line. `words` includes `name`, the command's name. */
export type FoundCommand = { words: readonly Pieces[]; name: string };

type Options = {
  parse: Parse;
  /**
   * Commands that are checked again when they run, when all their words are known. `null` if the
   * runner cannot check commands at run time.
   */
  checkedAtRunTime: ReadonlySet<string> | null;
};

const MAX_COMMANDS = 1_000;
/** Maximum depth of shells within shells. */
const MAX_DEPTH = 8;
/** Characters of the command line and of all command texts in it. */
const MAX_CHARS = 128 * 1024;
const COMMANDS_WITH_SHELL_OPTIONS = /^(set|shopt)$/;
const SUBSTITUTION = /[`]|[$<>]\(/;

/**
 * All simple commands that a command line may run, including commands in substitutions, functions
 * and other shells. Throws `UncheckableError`.
 */
export function commandsIn(script: string, options: Options): FoundCommand[] {
  const collector = new CommandCollector(options);
  collector.script(script, 0);
  return collector.found;
}

/** Collects the commands of a command line, and of the command texts in it. */
class CommandCollector {
  readonly found: FoundCommand[] = [];
  readonly #options: Options;
  readonly #checks: { checkedAtRunTime: boolean };
  #chars = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#checks = { checkedAtRunTime: options.checkedAtRunTime !== null };
  }

  /** Collects the commands of a text. `depth` counts the shells around this text. */
  script(text: string, depth: number): void {
    this.#chars += text.length;
    if (depth > MAX_DEPTH || this.#chars > MAX_CHARS)
      throw new UncheckableError("it is too long, or holds too many shells in one another");
    if (text.includes("\0")) throw new UncheckableError("it holds a character that no shell takes");
    this.#walk(this.#parse(text), depth);
  }

  #parse(text: string): unknown {
    try {
      return this.#options.parse(text);
    } catch (error) {
      throw new UncheckableError(
        `it cannot be parsed (${error instanceof Error ? error.message : String(error)})`,
      );
    }
  }

  #walk(root: unknown, depth: number): void {
    const pending: unknown[] = [root];
    while (pending.length > 0) {
      const node = pending.pop();
      if (!isNode(node)) continue;
      this.#check(node, depth);
      for (const part of Object.values(node)) pending.push(part);
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
        if (typeof node["fdVariable"] === "string") this.#checkVariable(node["fdVariable"]);
        return this.#checkHereDocument(node["target"]);
      case "Assignment":
      case "For":
        return this.#checkVariable(String(node["name"] ?? node["variable"]));
      case "ParameterExpansion":
        if (isNode(node["operation"]) && node["operation"]["type"] === "AssignDefault")
          this.#checkVariable(String(node["parameter"]));
        return this.#checkUnparsed(node["parameter"]);
      default:
        return this.#checkUnparsed(node["type"] === "Glob" ? node["pattern"] : node["content"]);
    }
  }

  /**
   * Refuses words that bash would split and our parser does not: a pattern with `[…]`, or a list
   * after `declare`, that contains a space or an operator.
   */
  #checkWords(node: Readonly<Record<string, unknown>>): void {
    if (!this.#options.checkedAtRunTime && wordsIn(node).some(mayBeSplit))
      throw new UncheckableError(
        "it holds a bracket with a space or an operator behind it, or a list with more than plain words",
      );
  }

  /**
   * Refuses a here-document whose delimiter contains `$`. Such a delimiter may be a translation or
   * an escape (`$"…"`, `$'…'`), and then shells find different ends of the here-document.
   */
  #checkHereDocument(target: unknown): void {
    const delimiter =
      isNode(target) && target["type"] === "HereDoc" ? String(target["delimiter"]) : "";
    if (!this.#options.checkedAtRunTime && delimiter.includes("$"))
      throw new UncheckableError(
        "a here-document of it ends where shells do not agree: end it with a plain word",
      );
  }

  /** Refuses substitutions in a text that the parser does not parse. */
  #checkUnparsed(text: unknown): void {
    if (typeof text === "string" && SUBSTITUTION.test(text))
      throw new UncheckableError(
        "it holds a substitution within a subscript, a pattern or an expression",
      );
  }

  /** Refuses an assignment to a variable that changes the meaning of commands. */
  #checkVariable(name: string): void {
    if (isControlVariable(name, this.#checks))
      throw new UncheckableError(`it sets ${name}, which says what commands mean`);
    this.#checkUnparsed(name);
  }

  /** Refuses values that the shell evaluates a second time. */
  #checkLaterEvaluation(node: Readonly<Record<string, unknown>>): void {
    const reason = this.#options.checkedAtRunTime ? null : secondEvaluation(node);
    if (reason !== null)
      throw new UncheckableError(`it holds ${reason}, where a shell evaluates values as commands`);
  }

  /** Adds a command, and the commands that it runs. */
  #command(words: readonly Pieces[], redirections: readonly unknown[], depth: number): void {
    const [first, ...args] = words;
    if (!first) return;
    const name = wholeText(first);
    if (name === null)
      throw new UncheckableError(
        "which command it runs is known only when it runs: write its name out",
      );
    // After the shell keyword `time -p`, the name may be `--`: then the shell runs the next words.
    if (name.startsWith("-")) throw new UncheckableError(`\`${name}\` is no command's name`);
    if (this.found.length >= MAX_COMMANDS)
      throw new UncheckableError(`it holds more than ${MAX_COMMANDS} commands`);
    this.found.push({ words, name });
    const baseName = name.slice(name.lastIndexOf("/") + 1);
    this.#checkVariables(baseName, args);
    if (COMMANDS_WITH_SHELL_OPTIONS.test(baseName) || isShell(baseName))
      this.#checkOptions(baseName, args);
    if (isShell(baseName)) return this.#shell(baseName, shellSource(args, redirections), depth);
    if (baseName === "." || baseName === "source")
      return this.#shell(baseName, { kind: "unseen", what: "a script file" }, depth);
    if (baseName === "eval" || baseName === "trap") {
      const text = evaluatedText(baseName, args);
      if (text === null)
        throw new UncheckableError(`\`${baseName}\` gets a text that is known only when it runs`);
      return this.script(text, depth + 1);
    }
    const innerResult = innerCommands(baseName, args);
    if (innerResult.kind === "unknown")
      throw new UncheckableError(`what \`${baseName}\` runs here is not known beforehand`);
    if (innerResult.kind === "commands")
      for (const command of innerResult.commands) this.#command(command, redirections, depth);
  }

  /** Refuses arguments that set or evaluate variables in an unsafe way. */
  #checkVariables(name: string, args: readonly Pieces[]): void {
    const variable = controlVariableIn(name, args, this.#checks);
    if (variable !== undefined)
      throw new UncheckableError(`it sets ${variable}, which says what commands mean`);
    if (!this.#options.checkedAtRunTime && receivesUnsafeNames(name, args))
      throw new UncheckableError(
        `\`${name}\` gets words that are known only when it runs, and may evaluate them: use [[ ]], name them, or assign in a command of its own (local a; a=$1)`,
      );
  }

  /** Refuses shell options that change how words are read. */
  #checkOptions(name: string, args: readonly Pieces[]): void {
    if (!this.#options.checkedAtRunTime && changesParsing(optionsOf(name, args)))
      throw new UncheckableError(
        `\`${name}\` gets an option with which words mean something else, or may`,
      );
  }

  /** Collects the commands of a shell that a command starts. */
  #shell(name: string, source: ShellSource, depth: number): void {
    if (source.kind === "text") return this.script(source.text, depth + 1);
    if (!this.#options.checkedAtRunTime)
      throw new UncheckableError(`\`${name}\` runs ${source.what}, which is not checked`);
  }
}

/**
 * The options among the arguments. A shell's options end before the command text or script name.
 */
function optionsOf(name: string, args: readonly Pieces[]): readonly Pieces[] {
  const takesNextWord = (word: Pieces | undefined) =>
    isShell(name) && /^[-+]\w*[oO]$/.test(knownPrefix(word ?? []));
  const isEndOfOptions = (word: Pieces, index: number) =>
    wholeText(word) === "--" ||
    (isShell(name) && /^[^-+]/.test(knownPrefix(word)) && !takesNextWord(args[index - 1]));
  const end = args.findIndex(isEndOfOptions);
  return end < 0 ? args : args.slice(0, end);
}
