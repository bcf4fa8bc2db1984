import { sha256 } from "../../sha256.ts";
import { type AnyNode, parse } from "acorn";
import {
  callsOf,
  functionAround,
  type FunctionNode,
  functionNamed,
  isFunction,
  methodNamed,
  walk,
} from "./syntax-tree.ts";

/**
 * Derives the service's shell from the bundle of `just-bash`. The copy uses the service's regular
 * expressions, which are charged to a budget, and its loops yield to other work. The package
 * supports neither. Pure. Throws for another version of the bundle.
 */

/**
 * SHA-256 of the supported bundle. For a new version of the package, review each edit, and then
 * update the hash.
 */
export const KNOWN_BUNDLE = "6390563a926e5018d5bc2e8b824ae1b13b87bdd3ed31857bacef31b3c100f224";

export const hashOfBundle = (bundle: string): string => sha256(bundle);

/** Replaces the text between two offsets of the bundle. */
type Edit = { start: number; end: number; text: string };

export function meteredBundle(bundle: string): string {
  const hash = hashOfBundle(bundle);
  if (hash !== KNOWN_BUNDLE)
    throw new Error(
      `just-bash is not the version whose shell is known (its bundle has SHA-256 ${hash}). Review local/bundle/shell/metered.ts against the new bundle, then set KNOWN_BUNDLE.`,
    );
  const tree = parse(bundle, { ecmaVersion: "latest", sourceType: "module" });
  const edits = [
    useServiceExpressions(tree, bundle),
    ...pauseAtStart(methodNamed(tree, "executeCommandInner")), // each command of a script
    ...pauseAtStart(functionNamed(tree, "ks")), // each statement of awk
    ...pauseAtStart(functionNamed(tree, "Ae")), // each expression of awk
    ...pauseBetweenLines(tree, "Es", bundle), // grep and rg: lines
    ...pauseInLoops(tree, "mu"), // sed: commands of a cycle
    sortInSteps(tree, bundle),
    ...makeByteStringsAtOnce(tree),
    ...splitByteStringsAtOnce(tree, bundle),
    ...md5InSteps(tree, bundle),
    // md5sum -c: lines of a list
    insertBetween(bundle, "let m of h.split(`\n`)){", "let g=m.match(/^([a-fA-F0-9]+)", PAUSE),
    refuseBareDollar(bundle),
  ];
  return applyEdits(bundle, edits) + HOST_EXPORT;
}

/** The copy's additional export. It sets the service's part before the first shell is created. */
const HOST_EXPORT = `
let $host=null;
export function provideHost(host){$host=host}
`;

/** Replaces the bundled copy of re2js. The shell uses only one class and one error of re2js. */
function useServiceExpressions(tree: AnyNode, bundle: string): Edit {
  const found: AnyNode[] = [];
  walk(tree, (node) => {
    const isModule = node.type === "VariableDeclarator" && node.init?.type === "CallExpression";
    if (isModule && bundle.slice(node.start, node.end).includes("static translateRegExp("))
      found.push(node);
  });
  const [module] = found;
  if (found.length !== 1 || module?.type !== "VariableDeclarator" || !module.init)
    throw new Error("The shell's re2js was not found at its known place.");
  return { start: module.init.start, end: module.init.end, text: SERVICE_EXPRESSIONS };
}

const SERVICE_EXPRESSIONS = `L(()=>{
it=class extends Error{};
Vr=class{
static CASE_INSENSITIVE=1;static DOTALL=2;static MULTILINE=4;
static translateRegExp(t){return $host.translate(t)}
static compile(t,n=0){try{return $host.compile(t,{ignoreCase:(n&1)!==0,dotAll:(n&2)!==0,multiline:(n&4)!==0})}catch(e){throw e.code==="pattern_invalid"?new it(e.message):e}}
}})`;

const PAUSE = "{let p=$host.breathe();p&&await p}";

function pauseAtStart(fn: FunctionNode): Edit[] {
  if (!fn.async || fn.body.type !== "BlockStatement")
    throw new Error("A function of the shell is no longer asynchronous.");
  return [{ start: fn.body.start + 1, end: fn.body.start + 1, text: PAUSE }];
}

/**
 * Makes a function asynchronous, adds pauses to its outermost loops, and makes its callers await
 * it.
 */
function pauseInLoops(
  tree: AnyNode,
  name: string,
  isWanted: (body: AnyNode) => boolean = () => true,
): Edit[] {
  const fn = functionNamed(tree, name);
  const bodies = outermostLoops(fn).filter(isWanted);
  if (bodies.length === 0) throw new Error(`The shell's function ${name} has no matching loop.`);
  return [
    { start: fn.start, end: fn.start, text: "async " },
    ...bodies.flatMap(inBlock),
    ...callsOf(tree, name).flatMap(({ call, caller }) => {
      if (caller !== fn && !caller.async)
        throw new Error(`The shell's function ${name} has a synchronous caller.`);
      return [
        { start: call.start, end: call.start, text: "(await " },
        { start: call.end, end: call.end, text: ")" },
      ];
    }),
  ];
}

/**
 * Adds pauses only to loops over lines: a regular expression that files share must keep its
 * position within a line, and during a pause another file could change that position.
 */
const pauseBetweenLines = (tree: AnyNode, name: string, bundle: string): Edit[] =>
  pauseInLoops(tree, name, (body) => /\.lastIndex=0,/.test(bundle.slice(body.start, body.end)));

/** Makes `sort` use a merge sort with pauses. */
function sortInSteps(tree: AnyNode, bundle: string): Edit {
  const before = "o.sort(a),n.unique&&(o=";
  const offset = bundle.indexOf(before);
  if (offset < 0 || bundle.indexOf(before, offset + 1) >= 0)
    throw new Error("The shell's sort was not found at its known place.");
  if (!functionAround(tree, offset).async)
    throw new Error("The shell's sort is no longer asynchronous.");
  return { start: offset, end: offset + "o.sort(a)".length, text: "o=await $host.sorted(o,a)" };
}

/**
 * Builds byte strings at once. The shell would build them character by character, ten times slower.
 */
const makeByteStringsAtOnce = (tree: AnyNode): Edit[] => [
  wholeFunction(
    tree,
    "Dn",
    'function Dn(e,t=Tc){if(!e)return e;let n=_(e);Rc(n,t,"UTF-8 encode");return n===e.length?e:$host.byteText(K3.encode(e))}',
  ),
  wholeFunction(
    tree,
    "Q3",
    'function Q3(e,t=Tc){Rc(e.byteLength,t,"byte-string conversion");return $host.byteText(e)}',
  ),
];

/** Converts byte strings to bytes at once. The shell would call a function for each character. */
function splitByteStringsAtOnce(tree: AnyNode, bundle: string): Edit[] {
  const edits: Edit[] = [];
  walk(tree, (node) => {
    if (
      node.type !== "CallExpression" ||
      bundle.slice(node.callee.start, node.callee.end) !== "Uint8Array.from"
    )
      return;
    const [text, each] = node.arguments;
    if (!text || !each || !/^(\w)=>\1\.charCodeAt\(0\)$/.test(bundle.slice(each.start, each.end)))
      return;
    edits.push(
      { start: node.callee.start, end: node.callee.end, text: "$host.textBytes" },
      { start: text.end, end: each.end, text: "" },
    );
  });
  if (edits.length === 0) throw new Error("The shell no longer splits text into bytes.");
  return edits;
}

/** Makes MD5 pause every 16 KiB. The shell computes MD5 itself, because the platform has no MD5. */
function md5InSteps(tree: AnyNode, bundle: string): Edit[] {
  const [, ...others] = pauseInLoops(tree, "EA");
  const inSteps = others.map((edit) =>
    edit.text === PAUSE ? { ...edit, text: `if((p&16383)===0)${PAUSE}` } : edit,
  );
  const { start } = functionNamed(tree, "EA");
  if (!bundle.slice(start).includes("for(let p=0;p<o.length;p+=64){"))
    throw new Error("The shell's MD5 has changed.");
  return [{ start, end: start, text: "async " }, ...inSteps];
}

/** Inserts text between `before` and `after`, which must be adjacent exactly once in the bundle. */
function insertBetween(bundle: string, before: string, after: string, text: string): Edit {
  const offset = bundle.indexOf(before + after);
  if (offset < 0 || bundle.indexOf(before + after, offset + 1) >= 0)
    throw new Error(`The shell no longer contains: ${before}`);
  return { start: offset + before.length, end: offset + before.length, text };
}

/**
 * Makes a `$` without a name an error in arithmetic. Otherwise the shell would read the `$` again
 * and again, until the memory is exhausted.
 */
function refuseBareDollar(bundle: string): Edit {
  const before = "=n7(e,t,s,!0);";
  const start = bundle.indexOf(`${before}i.push(a),s=l}`) + before.length;
  if (start < before.length || bundle.indexOf(before, start) >= 0)
    throw new Error("The shell's arithmetic was not found at its known place.");
  return { start, end: start, text: "if(l<=s)return bn(t.slice(s).trim(),s);" };
}

function wholeFunction(tree: AnyNode, name: string, text: string): Edit {
  const { start, end } = functionNamed(tree, name);
  return { start, end, text };
}

function inBlock(body: AnyNode): Edit[] {
  if (body.type === "BlockStatement")
    return [{ start: body.start + 1, end: body.start + 1, text: PAUSE }];
  return [
    { start: body.start, end: body.start, text: `{${PAUSE}` },
    { start: body.end, end: body.end, text: "}" },
  ];
}

function outermostLoops(fn: FunctionNode): AnyNode[] {
  const bodies: AnyNode[] = [];
  walk(fn.body, (node, parents) => {
    const isLoop =
      node.type === "ForStatement" ||
      node.type === "WhileStatement" ||
      node.type === "ForOfStatement";
    if (isLoop && !parents.some((parent) => isFunction(parent) || bodies.includes(parent)))
      bodies.push(node.body);
  });
  return bodies;
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  let [result, offset] = ["", 0];
  for (const { start, end, text: replacement } of ordered) {
    if (start < offset) throw new Error("Edits of the shell overlap.");
    result += text.slice(offset, start) + replacement;
    offset = end;
  }
  return result + text.slice(offset);
}
