import { isAlias, isMap, isScalar, isSeq, parseDocument, Scalar, visit } from "yaml";
import { CONTEXT_NAME } from "../../src/protocol/api/contexts";

/**
 * A path of this machine in `context_paths` of a config. `permission`: as the config states it.
 * `ranges`: the positions of the path in the text, because several agents may name it.
 */
export type HostPath = {
  path: string;
  permission: "read" | "write";
  ranges: [start: number, end: number][];
};

/** Styles of YAML texts on one line. Other styles are left to the service, which refuses them. */
const ON_ONE_LINE = new Set<unknown>([Scalar.PLAIN, Scalar.QUOTE_DOUBLE, Scalar.QUOTE_SINGLE]);

/**
 * The paths in `context_paths` that are not names of contexts. Empty for invalid YAML: the service
 * reports that error.
 */
export function hostPathsIn(yaml: string): HostPath[] {
  const found = new Map<string, HostPath>();
  const document = parseDocument(yaml, { logLevel: "silent" });
  const resolve = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  visit(document, {
    Pair(_, { key, value }) {
      const list = resolve(value);
      if (!isScalar(key) || key.value !== "context_paths" || !isSeq(list)) return;
      for (const item of list.items) {
        const entry = resolve(item);
        const node = isMap(entry) ? resolve(entry.get("path", true)) : entry;
        if (!isScalar(node) || !isHostPath(node.value) || !ON_ONE_LINE.has(node.type)) continue;
        const [start, end] = node.range ?? [0, 0];
        const permission = isMap(entry) ? resolve(entry.get("permission", true)) : null;
        const isWritable = isScalar(permission) && permission.value === "write";
        add(found, { path: node.value, isWritable, range: [start, end] });
      }
    },
  });
  return [...found.values()];
}

function add(
  found: Map<string, HostPath>,
  { path, isWritable, range }: { path: string; isWritable: boolean; range: [number, number] },
): void {
  const entry = found.get(path) ?? { path, permission: "read", ranges: [] };
  const isKnown = entry.ranges.some(([start]) => start === range[0]);
  found.set(path, {
    path,
    permission: isWritable ? "write" : entry.permission,
    ranges: isKnown ? entry.ranges : [...entry.ranges, range],
  });
}

/** `${NAME}` is a reference that only the service can resolve. */
const isHostPath = (value: unknown): value is string =>
  typeof value === "string" &&
  value.trim() !== "" &&
  !CONTEXT_NAME.test(value) &&
  !value.includes("${");

/** The config with the names of contexts instead of these paths. Lines keep their numbers. */
export function withContextNames(
  yaml: string,
  replacements: readonly { hostPath: HostPath; name: string }[],
): string {
  const edits = replacements
    .flatMap(({ hostPath, name }) => hostPath.ranges.map((range) => ({ range, name })))
    .sort((one, other) => other.range[0] - one.range[0]);
  let text = yaml;
  // quotes, because a name such as `123` is a number without them
  for (const { range, name } of edits)
    text = `${text.slice(0, range[0])}"${name}"${text.slice(range[1])}`;
  return text;
}
