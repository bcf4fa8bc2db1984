import type { Bash } from "just-bash/browser";

type Transform = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Transform["transform"]>[0]["ast"];
type Command = Script["statements"][number]["pipelines"][number]["commands"][number];
type SimpleCommand = Extract<Command, { type: "SimpleCommand" }>;
type Redirection = SimpleCommand["redirections"][number];

/** Of a descriptor that scripts do not use themselves. */
const SPARE = 255;

/**
 * Writes `command > file` as `command 255> file >&255`, which means the same. What keeps a file from being opened is the end of the
 * whole script and of its output in this shell, where an output is sent to it; for any other descriptor the command fails, as it
 * should. `exec` keeps what it opens, so it is left as it is.
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
