import type { Bash } from "just-bash/browser";

type Transform = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Transform["transform"]>[0]["ast"];
type Command = Script["statements"][number]["pipelines"][number]["commands"][number];
type SimpleCommand = Extract<Command, { type: "SimpleCommand" }>;
type Redirection = SimpleCommand["redirections"][number];

/** A descriptor that scripts do not use. */
const SPARE = 255;

/**
 * Rewrites `command > file` as `command 255> file >&255`, which is equivalent. In this shell, a
 * failed open for an output ends the whole script and loses its output; for any other descriptor
 * only the command fails, as it should. `exec` keeps what it opens, so it is unchanged.
 */
export const openedAside: Transform = {
  name: "opened-aside",
  transform({ ast }) {
    const open: unknown[] = [ast];
    while (open.length > 0) {
      const node = open.pop();
      if (typeof node !== "object" || node === null) continue;
      if (hasRedirections(node) && !isExec(node))
        node.redirections = node.redirections.flatMap(aside);
      for (const part of Object.values(node)) open.push(part);
    }
    return { ast };
  },
};

function aside(redirection: Redirection): Redirection[] {
  const { fd, fdVariable, operator, target } = redirection;
  const isOutput =
    fdVariable === undefined && (fd === null || fd === 1 || fd === 2) && target.type === "Word";
  if (!isOutput) return [redirection];
  switch (operator) {
    case ">":
    case ">|":
    case ">>":
      return [{ ...redirection, fd: SPARE }, toSpare(fd ?? 1)];
    case "&>":
    case "&>>":
      return [
        { ...redirection, operator: operator === "&>" ? ">" : ">>", fd: SPARE },
        toSpare(1),
        toSpare(2),
      ];
    default:
      return [redirection];
  }
}

const toSpare = (fd: number): Redirection => ({
  type: "Redirection",
  fd,
  operator: ">&",
  target: { type: "Word", parts: [{ type: "Literal", value: String(SPARE) }] },
});

const hasRedirections = (node: object): node is { redirections: Redirection[] } =>
  "redirections" in node && Array.isArray(node.redirections);

const isSimple = (node: object): node is SimpleCommand =>
  "type" in node && node.type === "SimpleCommand";

function isExec(node: object): boolean {
  const first = isSimple(node) ? node.name?.parts[0] : undefined;
  return first?.type === "Literal" && first.value === "exec";
}
