/** A CPU profile of V8, as the inspector returns it. Times are in µs of the monotonic clock. */
export type CpuProfile = {
  nodes: readonly ProfileNode[];
  startTime: number;
  /** The node that ran at each sample. */
  samples: readonly number[];
  /** Time since the sample before. */
  timeDeltas: readonly number[];
};

type ProfileNode = {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: readonly number[] | undefined;
};

/** A part of the time, in µs of the monotonic clock. */
export type Span = { from: number; to: number };

/** A function with the time of itself and of everything that it called, in µs. */
export type Frame = { name: string; micros: number; children: Map<string, Frame> };

/** Names of V8 for time without work, and for work outside JavaScript. */
const IDLE = "(idle)";

/**
 * The calls of a profile as a tree. Only samples within `spans` count, and no idle time. Functions
 * with the same name under the same caller are one frame.
 */
export function callTree(profile: CpuProfile, spans: readonly Span[]): Frame {
  const pathTo = pathsOf(profile.nodes);
  const root: Frame = { name: "all", micros: 0, children: new Map() };
  let at = profile.startTime;
  for (const [nth, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[nth] ?? 0;
    at += micros;
    const path = pathTo(id);
    if (path[0] === IDLE || !spans.some(({ from, to }) => at >= from && at <= to)) continue;
    root.micros += micros;
    let frame = root;
    for (const name of path) {
      const child: Frame = frame.children.get(name) ?? { name, micros: 0, children: new Map() };
      frame.children.set(name, child);
      child.micros += micros;
      frame = child;
    }
  }
  return root;
}

/** The names of the functions that lead to a node, without the root. */
function pathsOf(nodes: readonly ProfileNode[]): (id: number) => readonly string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const known = new Map<number, readonly string[]>();
  const pathOf = (id: number): readonly string[] => {
    const path = known.get(id) ?? newPathOf(id);
    known.set(id, path);
    return path;
  };
  const newPathOf = (id: number): readonly string[] => {
    const parent = parents.get(id);
    const node = byId.get(id);
    return parent === undefined || !node ? [] : [...pathOf(parent), nameOf(node)];
  };
  return pathOf;
}

const nameOf = ({ callFrame: { functionName, lineNumber } }: ProfileNode): string =>
  functionName === "" ? `(anonymous, line ${lineNumber})` : functionName;
