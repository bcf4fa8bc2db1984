import { type ESTree, Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

const SERVICE = /^(src|durable-objects|d1|r2-layout)\//;
/** The only file that may use the runtime's `fetch`. */
const OWN_FETCH = "durable-objects/shared/own-fetch.ts";
const MESSAGE = `the runtime's \`fetch\` has no guard: only ${OWN_FETCH} may use it; take one as an argument`;
const GLOBAL_OBJECTS = new Set(["globalThis", "self"]);

/**
 * Reports uses of the runtime's `fetch` in the service's code. The service requests addresses from
 * configs, so each request must pass the address rules. A `fetch` that is a parameter or a member
 * of an object (`stub.fetch`) is not the runtime's.
 */
export function globalFetchProblems(sources: readonly Source[]): Problem[] {
  const serviceSources = sources.filter(({ path }) => SERVICE.test(path) && path !== OWN_FETCH);
  return serviceSources.flatMap((source) =>
    usesIn(source).map((offset) => ({
      path: source.path,
      line: lineAt(source.text, offset),
      message: MESSAGE,
    })),
  );
}

type Span = { start: number; end: number };

/**
 * Offsets of uses of the name `fetch` without a local declaration of the name, and of accesses
 * through the runtime's global object.
 */
function usesIn({ ast: { program } }: Source): number[] {
  const found = new Set<number>(); // a set, because both names of `{ fetch }` have the same offset
  const { otherSpans, fields } = otherMeaningsIn(program);
  const isOtherMeaning = (offset: number) =>
    otherSpans.some(({ start, end }) => start <= offset && offset < end);
  new Visitor({
    Identifier: ({ name, start }) => {
      if (name === "fetch" && !fields.has(start) && !isOtherMeaning(start)) found.add(start);
    },
    MemberExpression: ({ object, property, start }) => {
      if (isGlobalObject(object) && isFetchName(property)) found.add(start);
    },
    VariableDeclarator: ({ id, init, start }) => {
      if (init && isGlobalObject(init) && bindsFetch(id, "key")) found.add(start);
    },
  }).visit(program);
  return [...found].sort((one, other) => one - other);
}

/**
 * Other meanings of the name. `otherSpans`: functions with a local `fetch`, and types. `fields`:
 * offsets of fields with this name.
 */
function otherMeaningsIn(program: ESTree.Program): { otherSpans: Span[]; fields: Set<number> } {
  const otherSpans: Span[] = [];
  const fields = new Set<number>();
  const functions: Span[] = [program];
  const enterFunction = (node: Span & { params: readonly ESTree.ParamPattern[] }) => {
    functions.push(node);
    if (node.params.some((param) => bindsFetch(param))) otherSpans.push(node);
  };
  const leaveFunction = () => void functions.pop();
  const excludeField = ({ key, computed }: { key: Span; computed: boolean }) => {
    if (!computed) fields.add(key.start);
  };
  const excludeType = ({ start, end }: Span) => otherSpans.push({ start, end });
  new Visitor({
    FunctionDeclaration: enterFunction,
    "FunctionDeclaration:exit": leaveFunction,
    FunctionExpression: enterFunction,
    "FunctionExpression:exit": leaveFunction,
    ArrowFunctionExpression: enterFunction,
    "ArrowFunctionExpression:exit": leaveFunction,
    VariableDeclarator: ({ id }) => {
      const scope = functions.at(-1);
      if (scope && bindsFetch(id)) otherSpans.push(scope);
    },
    // In `{ fetch }` the name is both a field and a value.
    Property: (node) => void (node.shorthand || excludeField(node)),
    MethodDefinition: excludeField,
    PropertyDefinition: excludeField,
    MemberExpression: ({ property, computed }) => excludeField({ key: property, computed }),
    TSTypeAnnotation: excludeType,
    TSTypeAliasDeclaration: excludeType,
    TSInterfaceDeclaration: excludeType,
    TSTypeParameterInstantiation: excludeType,
  }).visit(program);
  return { otherSpans, fields };
}

/**
 * Whether a pattern declares the name `fetch`; with `key`, whether it reads a field of this name.
 */
function bindsFetch(
  pattern: ESTree.ParamPattern | ESTree.BindingPattern,
  side: "key" | "value" = "value",
): boolean {
  switch (pattern.type) {
    case "Identifier":
      return side === "value" && pattern.name === "fetch";
    case "ObjectPattern":
      return pattern.properties.some((element) => {
        if (element.type === "RestElement") return bindsFetch(element.argument, side);
        return side === "key" ? isFetchName(element.key) : bindsFetch(element.value);
      });
    case "ArrayPattern":
      return pattern.elements.some((element) => element !== null && bindsFetch(element, side));
    case "AssignmentPattern":
      return bindsFetch(pattern.left, side);
    case "RestElement":
      return bindsFetch(pattern.argument, side);
    case "TSParameterProperty":
      return bindsFetch(pattern.parameter, side);
  }
}

const isGlobalObject = ({ type, ...node }: ESTree.Node): boolean =>
  type === "Identifier" && "name" in node && GLOBAL_OBJECTS.has(String(node.name));

/** Whether the name of a field is `fetch` or `"fetch"`. */
const isFetchName = (key: ESTree.Node): boolean =>
  (key.type === "Identifier" && key.name === "fetch") ||
  (key.type === "Literal" && key.value === "fetch");
