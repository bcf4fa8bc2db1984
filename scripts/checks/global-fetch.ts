import { type ESTree, Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

const SERVICE = /^(src|durable-objects|d1|r2-layout)\//;
/** The only file that may wrap the runtime's `fetch` in the guard. */
const GUARD = "durable-objects/shared/outgoing.ts";
const MESSAGE = `the runtime's \`fetch\` has no guard: only ${GUARD} may use it; take one as an argument`;
const RUNTIMES = new Set(["globalThis", "self"]);

/**
 * Uses of the runtime's `fetch` in the service's code. Requests go to addresses in configs, so each
 * must pass the address rules. A `fetch` that is a parameter or a member of an object
 * (`stub.fetch`) is not the runtime's.
 */
export function globalFetchProblems(sources: readonly Source[]): Problem[] {
  const ours = sources.filter(({ path }) => SERVICE.test(path) && path !== GUARD);
  return ours.flatMap((source) =>
    usesIn(source).map((offset) => ({
      path: source.path,
      line: lineAt(source.text, offset),
      message: MESSAGE,
    })),
  );
}

type Span = { start: number; end: number };

/**
 * Offsets of bare uses without a local declaration of that name, and of accesses through the
 * runtime's global object.
 */
function usesIn({ ast: { program } }: Source): number[] {
  const found = new Set<number>(); // both names of `{ fetch }` have the same offset
  const { given, fields } = othersIn(program);
  const isGiven = (offset: number) =>
    given.some(({ start, end }) => start <= offset && offset < end);
  new Visitor({
    Identifier: ({ name, start }) => {
      if (name === "fetch" && !fields.has(start) && !isGiven(start)) found.add(start);
    },
    MemberExpression: ({ object, property, start }) => {
      if (isRuntime(object) && isNamed(property)) found.add(start);
    },
    VariableDeclarator: ({ id, init, start }) => {
      if (init && isRuntime(init) && bindsFetch(id, "key")) found.add(start);
    },
  }).visit(program);
  return [...found].sort((one, other) => one - other);
}

/** Other meanings of the name: functions with a local `fetch`, fields, and types. */
function othersIn(program: ESTree.Program): { given: Span[]; fields: Set<number> } {
  const given: Span[] = [];
  const fields = new Set<number>();
  const functions: Span[] = [program];
  const enter = (node: Span & { params: readonly ESTree.ParamPattern[] }) => {
    functions.push(node);
    if (node.params.some((param) => bindsFetch(param))) given.push(node);
  };
  const leave = () => void functions.pop();
  const field = ({ key, computed }: { key: Span; computed: boolean }) => {
    if (!computed) fields.add(key.start);
  };
  const ofType = ({ start, end }: Span) => given.push({ start, end });
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    VariableDeclarator: ({ id }) => {
      const scope = functions.at(-1);
      if (scope && bindsFetch(id)) given.push(scope);
    },
    // In `{ fetch }` the name is both a field and a value.
    Property: (node) => void (node.shorthand || field(node)),
    MethodDefinition: field,
    PropertyDefinition: field,
    MemberExpression: ({ property, computed }) => field({ key: property, computed }),
    TSTypeAnnotation: ofType,
    TSTypeAliasDeclaration: ofType,
    TSInterfaceDeclaration: ofType,
    TSTypeParameterInstantiation: ofType,
  }).visit(program);
  return { given, fields };
}

/** Whether a pattern declares a name `fetch` (`key`: reads a field of that name). */
function bindsFetch(
  pattern: ESTree.ParamPattern | ESTree.BindingPattern,
  side: "key" | "value" = "value",
): boolean {
  switch (pattern.type) {
    case "Identifier":
      return side === "value" && pattern.name === "fetch";
    case "ObjectPattern":
      return pattern.properties.some((each) => {
        if (each.type === "RestElement") return bindsFetch(each.argument, side);
        return side === "key" ? isNamed(each.key) : bindsFetch(each.value);
      });
    case "ArrayPattern":
      return pattern.elements.some((each) => each !== null && bindsFetch(each, side));
    case "AssignmentPattern":
      return bindsFetch(pattern.left, side);
    case "RestElement":
      return bindsFetch(pattern.argument, side);
    case "TSParameterProperty":
      return bindsFetch(pattern.parameter, side);
  }
}

const isRuntime = ({ type, ...node }: ESTree.Node): boolean =>
  type === "Identifier" && "name" in node && RUNTIMES.has(String(node.name));

/** `fetch` or `"fetch"` as a field name. */
const isNamed = (key: ESTree.Node): boolean =>
  (key.type === "Identifier" && key.name === "fetch") ||
  (key.type === "Literal" && key.value === "fetch");
