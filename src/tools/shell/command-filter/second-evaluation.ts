import { isNode, knownBeginning, listOf, type Pieces, wholeText } from "./text";

/**
 * Detects values that a shell evaluates a second time: variables in arithmetic, subscripts,
 * prompts. A value can contain a command (`a[$(rm x)]`) that the command line does not show.
 * Refused if commands are checked only before they run.
 */

const PLAIN_ARITHMETIC = new Set([
  "ArithNumber",
  "ArithBinary",
  "ArithUnary",
  "ArithTernary",
  "ArithGroup",
  "ArithmeticExpression",
]);
const WRAPPERS = new Set(["ArithmeticExpansion", "ArithmeticCommand"]);
const COMPARES_NUMBERS = /^-(eq|ne|lt|le|gt|ge)$/;
const SUBSCRIPT = /\[(?!(\d+|@|\*)\]$)/;

/** Why a node of the syntax tree is refused; `null` if it is not. */
export function secondEvaluation(node: Readonly<Record<string, unknown>>): string | null {
  const type = String(node["type"]);
  if (type.startsWith("Arith") && !WRAPPERS.has(type) && !PLAIN_ARITHMETIC.has(type))
    return "arithmetic with more than numbers";
  if (type === "Transform" && node["operator"] === "P") return "${name@P}";
  if (type === "Indirection") return "${!name}";
  if (type === "ParameterExpansion" && SUBSCRIPT.test(String(node["parameter"])))
    return "a subscript that is no number";
  if (type === "Assignment" && (SUBSCRIPT.test(String(node["name"])) || hasSubscripts(node)))
    return "a subscript that is no number";
  if (type === "CondUnary" && /^-[vR]$/.test(String(node["operator"])))
    return "a test of a variable's name";
  if (type === "CondBinary" && COMPARES_NUMBERS.test(String(node["operator"])))
    return "a comparison of numbers in [[ ]]";
  return null;
}

function hasSubscripts({ array }: Readonly<Record<string, unknown>>): boolean {
  return listOf(array).some((word) => {
    const [first] = isNode(word) ? listOf(word["parts"]) : [];
    return (
      isNode(first) &&
      `${String(first["value"] ?? "")}${String(first["pattern"] ?? "")}`.startsWith("[")
    );
  });
}

/** Built-ins that accept variable names with subscripts. */
const TAKE_NAMES = new Set(
  "test [ let unset read readarray mapfile declare typeset local export readonly getopts wait printf".split(
    " ",
  ),
);

/** Whether a built-in receives variable names that are unknown or have subscripts. */
export function takesUnknownNames(name: string, args: readonly Pieces[]): boolean {
  if (!TAKE_NAMES.has(name)) return false;
  if (name === "printf" && setsNoVariable(args)) return false;
  const words = name === "[" ? args.slice(0, -1) : args;
  const isTest = name === "test" || name === "[";
  const options = isTest ? [] : words.map(knownBeginning).filter((word) => /^[-+]/.test(word));
  if (options.some((option) => /[in]/.test(option)) && DECLARES.has(name)) return true;
  const evaluates = options.some((option) => /[aA]/.test(option));
  return words.some((word) => {
    if (EVALUATED_LIST.test(knownBeginning(word)) || mayBeList(name, word)) return true;
    if (/^\w+\+?=/.test(knownBeginning(word)) && !evaluates && !["let", "test", "["].includes(name))
      return false;
    const text = wholeText(word);
    return text === null || text.includes("[") || (name === "let" && /[A-Za-z_]/.test(text));
  });
}

/** A quoted list is evaluated when it is declared. */
const EVALUATED_LIST = /^\w+\+?=\([\s\S]*[$`[]/;

/**
 * For an existing array, they evaluate a value in parentheses, which may come from unknown text.
 */
const EVALUATES_LISTS = new Set("declare typeset local".split(" "));

function mayBeList(name: string, word: Pieces): boolean {
  if (wholeText(word) !== null) return false;
  return (EVALUATES_LISTS.has(name) ? /^\w+\+?=(\(|$)/ : /^\w+\+?=\(/).test(knownBeginning(word));
}

/** With `-i`, later values of a variable are arithmetic; with `-n`, they name another variable. */
const DECLARES = new Set("declare typeset local export readonly".split(" "));

const GUIDING =
  /^(PATH|BASH_ENV|ENV|PS[0-4]|PROMPT_COMMAND|IFS|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|LD_\w+|DYLD_\w+|GCONV_PATH|SHELL|PAGER|EDITOR|VISUAL)$/;

/** The shell evaluates their values as arithmetic, or stores command tables in them. */
const EVALUATED = /^(BASH\w*|S?RANDOM|SECONDS|OPTIND|HISTCMD|LINENO|EPOCH\w*|DIRSTACK|FUNCNEST)$/;

/**
 * Variables that select programs or change how the shell reads input. `checkedAgain`: whether
 * commands are checked at run time.
 */
export const guidesTheShell = (name: string, { checkedAgain }: Checks): boolean =>
  GUIDING.test(name) || (!checkedAgain && EVALUATED.test(name));
type Checks = { checkedAgain: boolean };

const SET = new Set(
  "export declare typeset local readonly read readarray mapfile getopts printf wait unset env sudo".split(
    " ",
  ),
);

/** The guiding variable that a command's arguments set or unset; `undefined` if none. */
export function guidingArgument(
  name: string,
  args: readonly Pieces[],
  checks: Checks,
): string | undefined {
  if (!SET.has(name) || (name === "printf" && setsNoVariable(args))) return undefined;
  return args
    .flatMap((word) => namesIn(knownBeginning(word)))
    .find((variable) => guidesTheShell(variable, checks));
}

const setsNoVariable = ([first = []]: readonly Pieces[]): boolean =>
  /^[^-]|^-[^v]/.test(knownBeginning(first));

/** The name in a word. After option letters it may start anywhere. */
function namesIn(word: string): string[] {
  if (!word.startsWith("-")) return [/^\w+/.exec(word)?.[0] ?? ""];
  const last = /\w*$/.exec(word)?.[0] ?? "";
  return Array.from(last, (_, nth) => last.slice(nth));
}

/** Options that make a shell read arguments as assignments, or expand history in lines. */
const REREADS = /^([-+]\w*[kH]\w*|keyword|history|histexpand)$/;

/** Whether the words contain such an option, or may. */
export const setsRereading = (words: readonly Pieces[]): boolean =>
  words.some((word) => REREADS.test(wholeText(word) ?? "history"));
