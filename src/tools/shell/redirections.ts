import type { Bash } from "just-bash/browser";

type Transform = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Transform["transform"]>[0]["ast"];
type Command = Script["statements"][number]["pipelines"][number]["commands"][number];
type SimpleCommand = Extract<Command, { type: "SimpleCommand" }>;
type Redirection = SimpleCommand["redirections"][number];

/** A file descriptor that scripts do not use. */
const UNUSED_DESCRIPTOR = 255;

/**
 * Rewrites `command > file` as `command 255> file >&255`, which has the same effect. If this shell
 * cannot open a file for stdout or stderr, the whole script ends and its output is lost. If it
 * cannot open a file for another descriptor, only the command fails, as in bash. Redirections of
 * `exec` stay open after the command, so they are not rewritten.
 */
export const safeRedirections: Transform = {
  name: "opened-aside",
  transform({ ast }) {
    const pending: unknown[] = [ast];
    while (pending.length > 0) {
      const node = pending.pop();
      if (typeof node !== "object" || node === null) continue;
      if (hasRedirections(node) && !isExec(node))
        node.redirections = node.redirections.flatMap(splitRedirection);
      for (const part of Object.values(node)) pending.push(part);
    }
    return { ast };
  },
};

/** Splits the redirection of an output into two; returns any other redirection unchanged. */
function splitRedirection(redirection: Redirection): Redirection[] {
  const { fd, fdVariable, operator, target } = redirection;
  const isOutput =
    fdVariable === undefined && (fd === null || fd === 1 || fd === 2) && target.type === "Word";
  if (!isOutput) return [redirection];
  switch (operator) {
    case ">":
    case ">|":
    case ">>":
      return [{ ...redirection, fd: UNUSED_DESCRIPTOR }, duplicateUnused(fd ?? 1)];
    case "&>":
    case "&>>":
      return [
        { ...redirection, operator: operator === "&>" ? ">" : ">>", fd: UNUSED_DESCRIPTOR },
        duplicateUnused(1),
        duplicateUnused(2),
      ];
    default:
      return [redirection];
  }
}

/** The redirection that makes `fd` a copy of the unused descriptor. */
const duplicateUnused = (fd: number): Redirection => ({
  type: "Redirection",
  fd,
  operator: ">&",
  target: { type: "Word", parts: [{ type: "Literal", value: String(UNUSED_DESCRIPTOR) }] },
});

const hasRedirections = (node: object): node is { redirections: Redirection[] } =>
  "redirections" in node && Array.isArray(node.redirections);

const isSimple = (node: object): node is SimpleCommand =>
  "type" in node && node.type === "SimpleCommand";

function isExec(node: object): boolean {
  const firstPart = isSimple(node) ? node.name?.parts[0] : undefined;
  return firstPart?.type === "Literal" && firstPart.value === "exec";
}
