import { isNode, knownPrefix, listOf, type Pieces, wholeText } from "./text";

/**
 * Detects values that a shell evaluates a second time: variables in arithmetic, subscripts,
 * prompts. Such a value can contain a command, such as `a[$(rm x)]`, that is not in the command
 * line. These values are refused if commands are checked only before they run.
 */

/** Node types of arithmetic that contains only numbers and operators. */
const NUMBER_ARITHMETIC = new Set([
  "ArithNumber",
  "ArithBinary",
  "ArithUnary",
  "ArithTernary",
  "ArithGroup",
  "ArithmeticExpression",
]);
const ARITHMETIC_WRAPPERS = new Set(["ArithmeticExpansion", "ArithmeticCommand"]);
const NUMBER_COMPARISON = /^-(eq|ne|lt|le|gt|ge)$/;
const NON_NUMBER_SUBSCRIPT = /\[(?!(\d+|@|\*)\]$)/;

/** Why a node of the syntax tree is refused; `null` if it is not refused. */
export function secondEvaluation(node: Readonly<Record<string, unknown>>): string | null {
  const type = String(node["type"]);
  if (type.startsWith("Arith") && !ARITHMETIC_WRAPPERS.has(type) && !NUMBER_ARITHMETIC.has(type))
    return "arithmetic with more than numbers";
  if (type === "Transform" && node["operator"] === "P") return "${name@P}";
  if (type === "Indirection") return "${!name}";
  if (type === "ParameterExpansion" && NON_NUMBER_SUBSCRIPT.test(String(node["parameter"])))
    return "a subscript that is no number";
  if (
    type === "Assignment" &&
    (NON_NUMBER_SUBSCRIPT.test(String(node["name"])) || hasSubscriptedItems(node))
  )
    return "a subscript that is no number";
  if (type === "CondUnary" && /^-[vR]$/.test(String(node["operator"])))
    return "a test of a variable's name";
  if (type === "CondBinary" && NUMBER_COMPARISON.test(String(node["operator"])))
    return "a comparison of numbers in [[ ]]";
  return null;
}

function hasSubscriptedItems({ array }: Readonly<Record<string, unknown>>): boolean {
  return listOf(array).some((word) => {
    const [first] = isNode(word) ? listOf(word["parts"]) : [];
    return (
      isNode(first) &&
      `${String(first["value"] ?? "")}${String(first["pattern"] ?? "")}`.startsWith("[")
    );
  });
}

/** Shell built-ins that accept variable names with subscripts. */
const NAME_BUILT_INS = new Set(
  "test [ let unset read readarray mapfile declare typeset local export readonly getopts wait printf".split(
    " ",
  ),
);

/** Whether a shell built-in receives variable names that are unknown or have subscripts. */
export function receivesUnsafeNames(name: string, args: readonly Pieces[]): boolean {
  if (!NAME_BUILT_INS.has(name)) return false;
  if (name === "printf" && isPlainPrintf(args)) return false;
  const words = name === "[" ? args.slice(0, -1) : args;
  const isTest = name === "test" || name === "[";
  const options = isTest ? [] : words.map(knownPrefix).filter((word) => /^[-+]/.test(word));
  if (options.some((option) => /[in]/.test(option)) && DECLARING_BUILT_INS.has(name)) return true;
  const declaresArray = options.some((option) => /[aA]/.test(option));
  return words.some((word) => {
    if (EVALUATED_LIST.test(knownPrefix(word)) || mayBeEvaluatedList(name, word)) return true;
    if (
      /^\w+\+?=/.test(knownPrefix(word)) &&
      !declaresArray &&
      !["let", "test", "["].includes(name)
    )
      return false;
    const text = wholeText(word);
    return text === null || text.includes("[") || (name === "let" && /[A-Za-z_]/.test(text));
  });
}

/**
 * A list with a substitution or subscript in quotes, such as `"a=($b)"`; `declare` evaluates it.
 */
const EVALUATED_LIST = /^\w+\+?=\([\s\S]*[$`[]/;

/**
 * Shell built-ins that evaluate a value in parentheses as a list if the variable is already an
 * array. The value may be an unknown text.
 */
const LIST_BUILT_INS = new Set("declare typeset local".split(" "));

function mayBeEvaluatedList(name: string, word: Pieces): boolean {
  if (wholeText(word) !== null) return false;
  return (LIST_BUILT_INS.has(name) ? /^\w+\+?=(\(|$)/ : /^\w+\+?=\(/).test(knownPrefix(word));
}

/**
 * Shell built-ins with the options `-i` and `-n`. After `-i`, values of the variable are evaluated
 * as arithmetic. After `-n`, the value is the name of another variable.
 */
const DECLARING_BUILT_INS = new Set("declare typeset local export readonly".split(" "));

/** Variables that select programs or change how the shell reads input. */
const CONTROL_VARIABLE =
  /^(PATH|BASH_ENV|ENV|PS[0-4]|PROMPT_COMMAND|IFS|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|LD_\w+|DYLD_\w+|GCONV_PATH|SHELL|PAGER|EDITOR|VISUAL)$/;

/** Variables whose values the shell evaluates as arithmetic, or uses as a table of commands. */
const EVALUATED_VARIABLE =
  /^(BASH\w*|S?RANDOM|SECONDS|OPTIND|HISTCMD|LINENO|EPOCH\w*|DIRSTACK|FUNCNEST)$/;

/**
 * Whether a command may not set this variable, because the variable changes the meaning of
 * commands. `checkedAtRunTime`: whether commands are checked again at run time.
 */
export const isControlVariable = (name: string, { checkedAtRunTime }: Checks): boolean =>
  CONTROL_VARIABLE.test(name) || (!checkedAtRunTime && EVALUATED_VARIABLE.test(name));
type Checks = { checkedAtRunTime: boolean };

/** Commands that set or unset variables named in their arguments. */
const SETTING_COMMANDS = new Set(
  "export declare typeset local readonly read readarray mapfile getopts printf wait unset env sudo".split(
    " ",
  ),
);

/** The control variable that a command's arguments set or unset; `undefined` if there is none. */
export function controlVariableIn(
  name: string,
  args: readonly Pieces[],
  checks: Checks,
): string | undefined {
  if (!SETTING_COMMANDS.has(name) || (name === "printf" && isPlainPrintf(args))) return undefined;
  return args
    .flatMap((word) => namesIn(knownPrefix(word)))
    .find((variable) => isControlVariable(variable, checks));
}

/** Whether `printf` prints its text and sets no variable (no option `-v`). */
const isPlainPrintf = ([first = []]: readonly Pieces[]): boolean =>
  /^[^-]|^-[^v]/.test(knownPrefix(first));

/** The names that a word may contain. After option letters, a name can start at any letter. */
function namesIn(word: string): string[] {
  if (!word.startsWith("-")) return [/^\w+/.exec(word)?.[0] ?? ""];
  const letters = /\w*$/.exec(word)?.[0] ?? "";
  return Array.from(letters, (_, index) => letters.slice(index));
}

/** Options that make a shell read arguments as assignments, or expand history in lines. */
const PARSING_OPTION = /^([-+]\w*[kH]\w*|keyword|history|histexpand)$/;

/** Whether the words contain such an option, or may contain one because a word is unknown. */
export const changesParsing = (words: readonly Pieces[]): boolean =>
  words.some((word) => PARSING_OPTION.test(wholeText(word) ?? "history"));
